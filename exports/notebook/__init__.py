"""Notebooks: a home folder opened from Python, with frames, figures that show themselves, and the same operations."""

from exports.notebook.home import Home, Project, Study, open_home
from exports.notebook.measured import Measured
from exports.notebook.tables import agreement

__all__ = ["Home", "Measured", "Project", "Study", "agreement", "open_home"]
