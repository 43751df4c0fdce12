"""Environments of their own for programs that ours are tried against: each is built once a machine and kept."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.conftest import IN_CI

KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay-tests" / "environments"
"""The folder of all environments, which clones and worktrees share, as they hold nothing of ours and eight of them take
minutes; `make clean` removes it."""

_BUILT = "built"
_SECONDS = 1_200


class _CannotBeBuilt(Exception):
    """Why not, in a line or a few."""


def environment_python(name: str, requirements: Sequence[str], *, torch: bool = False) -> Path:
    """The python of an environment with these requirements (as pip takes them) and nothing of ours.

    It is built the first time anybody asks, while other workers wait, and is another one for other requirements. Its
    programs lie beside its python (`program`). With `torch` the build of torch that we run is put in first, so that
    nobody draws the CUDA packages of the default one. Where it cannot be built the test is skipped with the reason; in
    CI it fails.
    """
    built = _built(name, tuple(requirements), torch)
    if isinstance(built, Path):
        return built
    message = f"The environment {name} ({', '.join(requirements)}) cannot be built here: {built}"
    if IN_CI:
        pytest.fail(message)
    pytest.skip(message)


def program(python: Path, name: str) -> Path:
    """A program that the environment's packages brought."""
    found = python.parent / name
    assert found.exists(), f"{name} is none of {sorted(path.name for path in python.parent.iterdir())}"
    return found


@functools.cache
def _built(name: str, requirements: tuple[str, ...], torch: bool) -> Path | str:
    """The python, or why there is none; asked once a process."""
    if torch:
        requirements = (f"torch=={version('torch')}", *requirements)
    try:
        KEPT.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"{KEPT} cannot be made: {error.strerror}. Name another folder as XDG_CACHE_HOME."
    folder = KEPT / f"{name}-{_key(requirements)}"
    python = folder / "bin" / "python"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / _BUILT).exists():
            return python
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _build(folder, python, requirements, torch)
        except _CannotBeBuilt as error:
            shutil.rmtree(folder, ignore_errors=True)
            return str(error)
        (folder / _BUILT).write_text("\n".join(requirements))
    return python


def _key(requirements: Sequence[str]) -> str:
    """Of what it depends on: the requirements and the interpreter."""
    said = json.dumps([sys.version_info[:3], sys.base_prefix, *requirements])
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _build(folder: Path, python: Path, requirements: Sequence[str], torch: bool) -> None:
    uv = _uv()
    _run([sys.executable, "-m", "venv", *(["--without-pip"] if uv else []), str(folder)], {})
    if uv is None:
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements], {})
        return
    install, settings = [uv, "pip", "install", "--quiet", "--python", str(python)], _uv_settings()
    if torch:
        first, *requirements = requirements
        try:
            _run([*install, first], settings)
        except _CannotBeBuilt:
            _run([*install, "--torch-backend", "cpu", "torch"], settings)
    _run([*install, *requirements], settings)


def _uv() -> str | None:
    """The path of uv, which takes a tenth of pip's time; None where only pip is there."""
    beside = Path(sys.executable).parent / "uv"
    return shutil.which("uv") or (str(beside) if beside.exists() else None)


def _uv_settings() -> dict[str, str]:
    """What pip was told of indexes: uv reads none of its settings (the same names as in the Makefile)."""
    names = {
        "UV_FIND_LINKS": "PIP_FIND_LINKS",
        "UV_EXTRA_INDEX_URL": "PIP_EXTRA_INDEX_URL",
        "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
        "SSL_CERT_FILE": "PIP_CERT",
    }
    return {
        ours: os.environ[theirs] for ours, theirs in names.items() if ours not in os.environ and theirs in os.environ
    }


def _run(command: Sequence[str], settings: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False, env={**os.environ, **settings}
        )
    except subprocess.TimeoutExpired:
        raise _CannotBeBuilt(f"it took longer than {_SECONDS // 60} minutes") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise _CannotBeBuilt("\n".join(said[-5:]) or f"{command[0]} ended with {done.returncode}")
