"""Figures with their intervals: one result, one bootstrap and the analytic intervals of agreement and alignment."""
