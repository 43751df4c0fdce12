"""Reports about judges: whether one may be trusted, and panels of several."""
