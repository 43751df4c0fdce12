"""What the tests of the formats share."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.engine import Database
from tests.exports.formats.places import Place


@pytest.fixture
def place(sqlite_database: Database, tmp_path: Path) -> Place:
    return Place(sqlite_database, tmp_path / "home")
