"""The statistics of alignment: one file each, with its name, its title, its formula and its interval (`base.py`)."""
