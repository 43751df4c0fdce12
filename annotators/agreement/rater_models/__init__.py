"""Models of raters: how good each one is and what the true labels are, found together from the ratings alone."""
