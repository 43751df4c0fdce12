"""Projects of Label Studio that are not ours: fetched, and read for what they show and what they ask."""
