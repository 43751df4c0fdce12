"""The version of Assay that runs."""

from __future__ import annotations

import tomllib
from pathlib import Path


def program_version() -> str:
    """The version of Assay that runs: that of the checkout, else of the installed package."""
    project = Path(__file__).parent.parent / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    from importlib.metadata import version  # noqa: PLC0415 - a tenth of a second that a checkout need not wait for

    return version("assay")
