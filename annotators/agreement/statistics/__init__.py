"""The coefficients of agreement: one file a family, each a set of objects that register themselves (`base.py`)."""
