"""A real Label Studio, and a project here, for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db.engine import Database
from tests.databases import put_database
from tests.exports.label_studio.running import LabelStudio, lend_sdk, start
from tests.exports.label_studio.studies import Project


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    running = start(tmp_path_factory.mktemp("there"))
    lend_sdk(running.python)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    put_database(folder / "assay.db")
    return folder


@pytest.fixture(scope="module")
def project(home: Path) -> Project:
    return Project(Database(f"sqlite:///{home / 'assay.db'}"), home, n=2)
