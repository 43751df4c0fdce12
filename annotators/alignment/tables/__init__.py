"""The table of pairs that alignment reads, labels beside the labels of others, and samples of rows."""
