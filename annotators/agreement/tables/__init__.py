"""The table of ratings and what coefficients read of it: columns of files, patterns of units, pairs, distances."""
