"""Environments of peer programs: built once, another one for other requirements, and a reason where there is none."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import environments


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "KEPT", tmp_path / "kept")
    environments._built.cache_clear()


def _imports(python: Path, name: str) -> bool:
    return subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def test_two_workers_that_ask_at_once_build_it_once_and_it_has_nothing_of_ours() -> None:
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda _: environments._built.__wrapped__("small", ("tabulate",), False), range(2))
    assert one == two
    assert isinstance(one, Path)
    assert _imports(one, "tabulate")
    assert not _imports(one, "numpy")
    assert len([path for path in environments.KEPT.iterdir() if path.is_dir()]) == 1
    made = (one.parent.parent / "built").stat().st_mtime_ns
    environments._built.cache_clear()
    assert environments.environment_python("small", ["tabulate"]) == one
    assert (one.parent.parent / "built").stat().st_mtime_ns == made
    assert environments._key(["tabulate"]) != environments._key(["tabulate<1"])


@pytest.mark.parametrize(("in_ci", "raised"), [(False, pytest.skip.Exception), (True, pytest.fail.Exception)])
def test_one_that_cannot_be_built_is_a_reason_here_and_a_failure_in_ci(
    monkeypatch: pytest.MonkeyPatch, in_ci: bool, raised: type[BaseException]
) -> None:
    monkeypatch.setattr(environments, "IN_CI", in_ci)
    with pytest.raises(raised, match="cannot be built here"):
        environments.environment_python("none", ["./no-such-folder-of-a-package"])
    assert not [path for path in environments.KEPT.iterdir() if path.is_dir()]


def test_a_folder_that_cannot_be_made_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(environments, "KEPT", tmp_path / "file" / "kept")
    assert str(environments._built("small", ("tabulate",), False)).endswith("Name another folder as XDG_CACHE_HOME.")
