"""Judges: their requests and replies, their runs over the items of a study, and panels of them."""
