"""The command line on a home folder of its own, empty or begun."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.app.cli.command_line import CommandLine


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line on a home folder that does not exist yet."""
    without_settings(monkeypatch)
    return CommandLine(tmp_path / "home")


@pytest.fixture
def begun(assay: CommandLine, begun_home: Path) -> CommandLine:
    """The command line on a home folder with three annotators and a project `finance`."""
    shutil.copytree(begun_home, assay.home)
    return assay


@pytest.fixture(scope="session")
def begun_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder that `begun` copies."""
    with pytest.MonkeyPatch.context() as patch:
        without_settings(patch)
        return CommandLine(tmp_path_factory.mktemp("begun") / "home").begun().home


def without_settings(patch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ASSAY_")]:
        patch.delenv(name)
