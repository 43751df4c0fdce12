"""What tests of the app share: a running server for the tests of one module, and pages without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.pages import Pages, installation
from tests.servers import RunningServer, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with an administrator `admin` and a person `ana` without any role."""
    with running_server(tmp_path_factory.mktemp("home")) as running:
        running.person("ana")
        yield running


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    """A new installation whose pages can be opened."""
    with installation(tmp_path / "home", monkeypatch) as opened:
        yield opened
