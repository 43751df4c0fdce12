"""The table of labels: read in columns, a block of items at a time, and said as lines of CSV or as typed columns."""
