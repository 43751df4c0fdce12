"""Bytes of documents on the disk: each whole or not at all, and there for good when the import says so."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from annotators.errors import InvalidInput
from db.items.documents import Bytes, document_file, store, store_all


def written(folder: Path, n: int) -> list[Bytes]:
    """n small documents, looked at."""
    folder.mkdir()
    found = []
    for number in range(n):
        path = folder / f"{number}.txt"
        path.write_text(f"Document {number}", encoding="utf-8")
        found.append(Bytes(path, hashlib.sha256(path.read_bytes()).hexdigest(), "text/plain", 1))
    return found


def unfinished(folder: Path) -> list[Path]:
    return list(folder.rglob(".new-*"))


class Disk:
    """What the disk has been waited for: the numbers of files and folders, and what lay there at the first time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.synced: set[int] = set()
        self.unfinished_at_first = -1
        real = os.fsync

        def fsync(handle: int) -> None:
            if self.unfinished_at_first < 0:
                self.unfinished_at_first = len(unfinished(folder))
            real(handle)
            self.synced.add(os.fstat(handle).st_ino)

        monkeypatch.setattr(os, "fsync", fsync)


def test_the_disk_has_every_file_and_its_name_when_all_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, folder = written(tmp_path / "given", 300), tmp_path / "documents"
    disk = Disk(monkeypatch, folder)
    new = list(store_all(folder, found))
    assert [path.name for path in new] == [document.sha256 for document in found]
    for document in found:
        target = document_file(folder, document.sha256)
        assert target.read_bytes() == document.path.read_bytes()
        assert {target.stat().st_ino, target.parent.stat().st_ino, folder.stat().st_ino} <= disk.synced
    assert unfinished(folder) == []


def test_many_files_are_written_before_the_disk_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, folder = written(tmp_path / "given", 300), tmp_path / "documents"
    disk = Disk(monkeypatch, folder)
    list(store_all(folder, found))
    assert disk.unfinished_at_first >= 100


def test_one_document_is_on_the_disk_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [document], folder = written(tmp_path / "given", 1), tmp_path / "documents"
    disk = Disk(monkeypatch, folder)
    target = store(folder, document)
    assert target == document_file(folder, document.sha256)
    assert {target.stat().st_ino, target.parent.stat().st_ino} <= disk.synced
    assert store(folder, document) is None


def test_bytes_that_change_meanwhile_are_refused_and_nothing_half_done_is_left(tmp_path: Path) -> None:
    found, folder = written(tmp_path / "given", 20), tmp_path / "documents"
    found[12].path.write_text("Something else", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"12\.txt changed while it was read"):
        list(store_all(folder, found))
    assert unfinished(folder) == []
    assert [document for document in found if document_file(folder, document.sha256).exists()] == []


def test_a_file_that_a_disk_has_spoilt_is_replaced(tmp_path: Path) -> None:
    [document], folder = written(tmp_path / "given", 1), tmp_path / "documents"
    target = store(folder, document)
    assert target is not None
    target.write_bytes(b"rot")
    assert store(folder, document) is None
    assert target.read_bytes() == document.path.read_bytes()
