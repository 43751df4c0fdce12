"""Figures of all items from few human labels and many predictions: means, differences, coefficients, when to stop."""
