"""Folders that are made whole or not at all, and what is said where a disk does not take them."""

import errno
import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotators.errors import Conflict, refusal_of
from exports.drawing.report_files import Section, write_report
from exports.sinks import whole_folder

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
TOO_LARGE = "Name a place on a disk that takes larger files, or raise the limit of their size (ulimit -f)."


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files of this process may have so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write_to_a_full_disk(to: Path) -> OSError:
    with pytest.raises(OSError, match="space") as refused, whole_folder(to), FULL.open("wb", buffering=0) as full:
        full.write(b"more")
    return refused.value


@needs_full
def test_a_full_disk_is_named_by_the_folder_that_was_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    to = tmp_path / "out"
    assert refusal_of(write_to_a_full_disk(to)) == (
        f"No space left on device: {to}. Free some space, or check who may write there."
    )
    assert list(tmp_path.iterdir()) == []


@needs_full
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a disk without room")
def test_the_folder_of_temporary_files_is_named_where_its_disk_is_the_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc")
    assert "No space left on device: /proc." in (refusal_of(write_to_a_full_disk(tmp_path / "out")) or "")


@pytest.mark.parametrize("writer", ["Python", "Arrow"])
def test_a_file_that_is_too_large_is_told_in_words(tmp_path: Path, writer: str) -> None:
    to = tmp_path / "out"
    with pytest.raises(OSError, match="large") as refused, largest_file(4096), whole_folder(to) as made:
        if writer == "Python":
            (made / "x").write_bytes(bytes(5000))
        else:
            pq.write_table(pa.table({"x": [os.urandom(100_000)]}), made / "x.parquet")
    assert refusal_of(refused.value) == f"File too large: {to}. {TOO_LARGE}"
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_is_told_in_words() -> None:
    failed = OSError(errno.EIO, os.strerror(errno.EIO), "/mnt/x")
    said = "Input/output error: /mnt/x. Check that the disk is sound, or name another place."
    assert refusal_of(failed) == said


def test_a_folder_that_cannot_give_way_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with whole_folder(Path()) as made:
        (made / "a").mkdir()
        (made / "a" / "b").write_text("said")
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == ["a", "a/b"]
    with pytest.raises(Conflict, match="got something in it"), whole_folder(Path()) as made:
        (made / "c").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_an_empty_folder_is_filled_where_nobody_may_write_beside_it(tmp_path: Path) -> None:
    to = tmp_path / "given" / "out"
    to.mkdir(parents=True)
    to.parent.chmod(0o555)
    with whole_folder(to) as made:
        (made / "a").touch()
    to.parent.chmod(0o755)
    assert [path.name for path in to.iterdir()] == ["a"]


class Report:
    title = "A report"
    facts = (("Items", "3"),)
    notes = ("n" * 5000,)

    def sections(self) -> list[Section]:
        return [Section("One")]


def test_a_report_that_a_disk_does_not_take_is_named(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    with pytest.raises(OSError, match="large") as refused, largest_file(4096):
        write_report(Report(), path)
    assert refusal_of(refused.value) == f"File too large: {path}. {TOO_LARGE}"
