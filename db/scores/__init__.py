"""Scores: computed, summed up, and the training sets of classifiers."""
