"""No file takes the machine: each kind of bomb is refused in words, and what reading it takes is held."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from annotators.apart.process import Apart
from annotators.asking.protocol_files import protocol_from_yaml
from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.parsed import ParsedItem, Rejected
from db.engine import Database
from db.items.imports import HEAVIEST_BLOCK
from db.items.imports import _light_blocks as light_blocks
from exports.agreement.own_weights import read_weights
from exports.columns.columns import raw_table
from exports.importing import apart
from exports.importing.apart import file_apart, read_apart
from exports.importing.items import import_paths
from exports.reading.item_lists import listed_items
from exports.reading.unit_tables import decided_units, right_units
from exports.reading.uploaded import uploaded
from tests.bombs import BOMBS, MB, jsonl_large_lines
from tests.conftest import ROOT
from tests.makers import first_administrator, make_project

MOST = 300
"""MB above what a process has when it waits for a file."""

PROC = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not say what a peak was")


def _mb(pid: int | str, of: str) -> int:
    found = re.search(rf"{of}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) >> 10 if found else 0


@dataclass
class Peaks:
    """How much above its size when it was ready the process went that read last."""

    above: int = 0
    idle: dict[int, int] = field(default_factory=dict)

    def watch(self, process: Apart, ended: threading.Event) -> None:
        pid = process.process.pid
        while not ended.wait(0.002):
            self.above = max(self.above, _mb(pid, "VmHWM") - self.idle[pid])


@pytest.fixture
def peaks(monkeypatch: pytest.MonkeyPatch) -> Peaks:
    """What the process that reads comes to."""
    seen, lend = Peaks(), apart._READERS.one

    @contextmanager
    def watched() -> Iterator[Apart]:
        with lend() as process:
            seen.idle.setdefault(process.process.pid, _mb(process.process.pid, "VmRSS"))
            ended = threading.Event()
            watcher = threading.Thread(target=seen.watch, args=(process, ended))
            watcher.start()
            try:
                yield process
            finally:
                ended.set()
                watcher.join()

    monkeypatch.setattr(apart._READERS, "one", watched)
    return seen


@PROC
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_words_and_its_memory_is_held(tmp_path: Path, name: str, peaks: Peaks) -> None:
    bomb, folder = tmp_path / name, tmp_path / "apart"
    folder.mkdir()
    BOMBS[name](bomb)
    Path("/proc/self/clear_refs").write_text("5")
    before = _mb("self", "VmRSS")
    said = []
    try:
        for row in read_apart([bomb], folder).items():
            said += [row.reason] if isinstance(row, Rejected) else []
    except InvalidInput as error:
        said.append(str(error))
    own = _mb("self", "VmHWM") - before
    assert said
    assert re.search(r"\. [A-Z]", said[-1]), said
    assert peaks.above < MOST
    assert own < MOST
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 100 * MB


@PROC
def test_many_large_items_are_in_memory_a_few_at_a_time(tmp_path: Path, database: Database) -> None:
    project, admin = make_project(database), first_administrator(database)
    jsonl_large_lines(path := tmp_path / "large.jsonl")
    Path("/proc/self/clear_refs").write_text("5")
    before = _mb("self", "VmRSS")
    report = import_paths(database, admin, project, paths=[path], dry_run=True)
    assert (report.added, report.rejected) == (12, [])
    assert _mb("self", "VmHWM") - before < MOST


def test_blocks_of_items_are_as_light_as_they_are_short() -> None:
    def items(n: int, size: int) -> Iterator[ParsedItem]:
        return (ParsedItem("f", line, ItemContent(f"i{line}", "q", "x" * size)) for line in range(n))

    assert [len(block) for block in light_blocks(items(4_500, 100))] == [2_000, 2_000, 500]
    assert [len(block) for block in light_blocks(items(7, HEAVIEST_BLOCK // 3 + 1))] == [3, 3, 1]


def test_an_upload_is_read_as_a_command_reads_it(tmp_path: Path) -> None:
    """Texts, numbers, labels, bad rows and documents come over whole."""
    from exports.formats.base import read_sources
    from exports.reading.sources import open_sources

    lines = [
        b'{"question": "What?", "answer": "a \\ud83d\\ude00", "claims": [{"text": "c"}], "metadata": {"n": 1.5}}',
        b'{"question": 7}',
        b'{"question": "Half \\ud83d?"}',
        b'{"question": "Scored?", "scores": [{"name": "s", "value": 1}], "evidence": [{"text": "t", "hop": 2}]}',
    ]
    (path := tmp_path / "items.jsonl").write_bytes(b"\n".join(lines))
    (folder := tmp_path / "apart").mkdir()
    reading = read_apart([path], folder)
    with open_sources([path]) as sources:
        plain = read_sources(sources, None)
        assert list(reading.items()) == list(plain.items())
        assert list(reading.items()) == list(plain.items())  # once more from the beginning
        assert (reading.format, list(reading.notes())) == (plain.format, list(plain.notes()))


def test_a_file_that_takes_too_long_ends_with_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "items.jsonl").write_text('{"question": "What?"}\n')
    monkeypatch.setattr(apart, "seconds_for", lambda _size: 0.0)
    with pytest.raises(InvalidInput, match="takes longer to read than 0 s"):
        read_apart([path], tmp_path)
    monkeypatch.undo()
    assert len(list(read_apart([path], tmp_path).items())) == 1


def asked(reader: Callable[[Path], Any], path: Path) -> Any:
    """What a reader says of an upload, as the pages ask it: the path that it gets is of no file."""
    (folder := path.parent / "apart").mkdir(exist_ok=True)
    with uploaded({(stands := folder / "upload" / path.name): file_apart(path, folder)}):
        return reader(stands)


@dataclass(frozen=True)
class Read:
    """A reader of single uploads: a file as it should be, a bomb, and what is said of that (None: it is read)."""

    reader: Callable[[Path], Any]
    text: str
    bomb: Callable[[], bytes]
    said: str | None = None


def numbered(row: bytes, n: int) -> bytes:
    return b"".join(row % number for number in range(n))


LABELS = "item,annotator,criterion,value,target,time,seconds,comment\n"
UNITS = "item,criterion,value,reason\n"
TOO_MUCH = "says too much|240 MB of memory"
READERS = {
    "tables": Read(
        raw_table,
        f"{LABELS}i1,ann,right,yes,item,2026-01-02T03:04:05Z,4.5,'=é\ni1,ann,right,no\n,ann,right,no\n",
        lambda: LABELS.encode() + b"x\n" * (4 * MB),
        TOO_MUCH,
    ),
    "gold": Read(right_units, f"{UNITS}i1,right,yes\ni2,,no\n", lambda: UNITS.encode() + b",a\n" * (4 * MB)),
    "decisions": Read(
        decided_units,
        f"{UNITS}i1,right,yes,so\n",
        lambda: UNITS.encode() + numbered(b"%d,r,v," + b"x" * 100 + b"\n", 250_000),
        TOO_MUCH,
    ),
    "items": Read(listed_items, "item\ni2\ni1\n", lambda: numbered(b"%d\n", 3_000_000), TOO_MUCH),
    "weights": Read(
        read_weights, "l,a,b\na,1,0.5\nb,0.5,1\n", lambda: b"l,a\n" + b"a,1\n" * (2 * MB), f"{TOO_MUCH}|is there twice"
    ),
}
"""All of them."""


def test_every_reader_of_uploads_is_tried() -> None:
    """Those that the files of the project enter, so that nobody forgets a new one."""
    entered = {
        f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}:{name}"
        for path in ROOT.glob("exports/**/*.py")
        for name in re.findall(r"@reads_uploads\ndef (\w+)", path.read_text())
    }
    assert entered == {f"{of.reader.__module__}:{of.reader.__name__}" for of in READERS.values()}


@pytest.mark.parametrize("name", READERS)
def test_an_upload_says_what_the_file_says(tmp_path: Path, name: str) -> None:
    of = READERS[name]
    (path := tmp_path / "upload.csv").write_text(of.text)
    assert asked(of.reader, path) == of.reader(path)


@PROC
@pytest.mark.parametrize("name", READERS)
def test_a_bomb_for_a_reader_takes_neither_process(tmp_path: Path, name: str, peaks: Peaks) -> None:
    of = READERS[name]
    (path := tmp_path / "upload.csv").write_bytes(of.bomb())
    Path("/proc/self/clear_refs").write_text("5")
    before = _mb("self", "VmRSS")
    with nullcontext() if of.said is None else pytest.raises(InvalidInput, match=of.said):
        asked(of.reader, path)
    assert peaks.above < MOST
    assert _mb("self", "VmHWM") - before < MOST


def test_what_a_file_is_refused_for_is_said_of_the_upload(tmp_path: Path) -> None:
    BOMBS["one-text-150-times.parquet"](bomb := tmp_path / "gold.parquet")
    with pytest.raises(InvalidInput, match=r"gold.parquet, line 1: the column 'item' is missing."):
        asked(right_units, bomb)


def test_yaml_that_names_itself_again_and_again_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(InvalidInput, match="line 1"):
        protocol_from_yaml("\n".join(lines), "laughs.yaml")


def test_millions_of_bad_rows_fill_no_disk(tmp_path: Path) -> None:
    (path := tmp_path / "items.jsonl").write_bytes(b'{"question": "q"}\n' + b"x\n" * 80_000)
    (folder := tmp_path / "apart").mkdir()
    reading = read_apart([path], folder)
    assert sum(1 for _ in reading.items()) < 60_000
