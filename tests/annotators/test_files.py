"""Files that several processes share: one lock at a time, whole or not at all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from annotators.files import PART, UNDER_WAY, remove_left, store, sync, taken, under_way, written_aside


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


# What is under way ----------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from annotators.files import written_aside
with written_aside(Path(sys.argv[1])) as made:
    made.write_bytes(b"half")
    print("half", flush=True)
    sys.stdin.read()
"""


def test_a_file_that_is_written_aside_is_there_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "b.db"
    with written_aside(target) as made:
        made.write_bytes(b"whole")
        assert not target.exists()
        assert made.parent.parent == target.parent, "on the same disk"
    assert target.read_bytes() == b"whole"
    assert [path.name for path in target.parent.iterdir()] == ["b.db"]


def test_nothing_stays_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), written_aside(tmp_path / "b.db") as made:
        made.write_bytes(b"half")
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_had_under_way_goes_with_the_next_and_what_lives_stays(tmp_path: Path) -> None:
    target = tmp_path / "b.db"
    command = [sys.executable, "-c", KILLED, str(target)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": Path(__file__).parents[2], "text": True}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "half\n"
        [there] = tmp_path.iterdir()
        assert remove_left(tmp_path) == []
        assert (there / "b.db").read_bytes() == b"half", "it is being written"
        process.kill()
        process.communicate()
    assert there.is_dir()
    (tmp_path / "others").mkdir()
    with written_aside(target) as made:
        assert not there.exists()
        made.write_bytes(b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"b.db", "others"}


def test_a_link_with_the_name_of_such_a_folder_leads_nowhere(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / f"{UNDER_WAY}x").symlink_to(kept)
    with under_way(tmp_path / "place"):
        pass
    assert (kept / "file").read_text() == "x"
