"""What came out of a study: one file a report, each for the protocols that ask what it is about. `REPORTS` has all."""
