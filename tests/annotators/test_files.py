"""Files that several processes share: one lock at a time, whole or not at all."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from annotators.files import PART, store, sync, taken


def test_a_file_is_locked_by_one_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "place"
    with path.open("ab") as first:
        assert taken(first.fileno())
        with path.open("ab") as second:
            assert not taken(second.fileno())
    with path.open("ab") as third:
        assert taken(third.fileno())


def test_what_is_stored_is_read_whole_by_whoever_reads_meanwhile(tmp_path: Path) -> None:
    path, seen, over = tmp_path / "deep" / "one", set(), threading.Event()
    store(path, b"a" * 100_000)

    def read() -> None:
        while not over.is_set():
            found = path.read_bytes()
            seen.add((len(found), found[:1], found[-1:]))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        store(path, (b"b" if number % 2 else b"a") * 100_000)
    over.set()
    reader.join()
    assert seen <= {(100_000, b"a", b"a"), (100_000, b"b", b"b")}
    assert [file.name for file in path.parent.iterdir()] == ["one"]
    sync(path)
    sync(path.parent)


def test_what_cannot_be_stored_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError):
        store(tmp_path / "taken", b"a file cannot take a folder's place")
    assert not list(tmp_path.glob(f"{PART}*"))
    (tmp_path / "in the way").write_text("a file")
    with pytest.raises(OSError):
        store(tmp_path / "in the way" / "one", b"a")


def test_a_folder_that_somebody_empties_is_made_again(tmp_path: Path) -> None:
    store(tmp_path / "cache" / "one", b"a")
    shutil.rmtree(tmp_path / "cache")
    store(tmp_path / "cache" / "one", b"b")
    assert (tmp_path / "cache" / "one").read_bytes() == b"b"
