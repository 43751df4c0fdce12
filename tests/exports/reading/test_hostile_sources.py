"""Sources from strangers: damaged files, archives that climb, links, bombs. Each is named, and nothing changes."""

from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import func, select

from annotators.errors import InvalidInput, NotFound
from db.engine import Database
from db.items.imports import ImportReport
from db.models import Batch, Document, Event, Item
from exports.importing.items import import_paths
from exports.reading import archives
from exports.reading import json_files as reading
from exports.reading.sources import open_sources
from exports.reading.tables import open_table
from tests.exports.sources import write_jsonl, write_pdf
from tests.makers import make_person, make_project

GOOD = b'{"question": "Good?"}\n'


@pytest.fixture
def take(sqlite_database: Database, tmp_path: Path) -> Callable[..., ImportReport]:
    """Import paths into a fresh project."""
    db = sqlite_database
    actor, project = make_person(db, admin=True), make_project(db)

    def run(*paths: Path, **options: object) -> ImportReport:
        return import_paths(db, actor, project, paths=paths, data_folder=tmp_path / "home", **options)  # type: ignore[arg-type]

    return run


def is_empty(db: Database) -> bool:
    with db.read() as session:
        return not any(
            session.exec(select(func.count()).select_from(table)).one() for table in (Batch, Item, Document, Event)
        )


# Damaged files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", (1, "the file is empty")),
        (b"\n  \n", (1, "the file is empty")),
        (GOOD + b'{"question": "Cut', (2, "It seems cut off: supply it again")),
        (GOOD + b"\n\n" + b'{"answer": "x"}\n', (4, "`question` is missing")),
        (GOOD + b'{"question": "Q?", }\n', (2, "Correct it")),
        (b'{"question": "\xe9"}\n' + '{"question": "Où ça?"}\n'.encode(), (1, "Save it as UTF-8")),
        (b"[1, 2]\n", (1, "not an object")),
        (GOOD + b'{"question": "Q?", "answer": NaN}\n', (2, "not JSON")),
        (GOOD + b'{"question": "Q\\u0000?"}\n', (2, "NUL")),
        (b'{"question": "Q?", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}\n", (1, "not JSON")),
        (
            b'{"id": "a", "question": "Q?"}\n{"id": "b", "question": "Q?"}\n{"id": "a", "question": "R?"}\n',
            (3, "line 1"),
        ),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_nothing_is_imported(
    take: Callable[..., ImportReport],
    sqlite_database: Database,
    tmp_path: Path,
    content: bytes,
    expected: tuple[int, str],
) -> None:
    line, words = expected
    path = tmp_path / "items.jsonl"
    path.write_bytes(content)
    report = take(path)
    assert [(row.file, row.line) for row in report.rejected] == [("items.jsonl", line)]
    assert words in report.rejected[0].reason
    assert (report.batch, report.added) == (None, 0)
    assert is_empty(sqlite_database)


def test_the_good_rows_come_in_when_bad_ones_are_skipped(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_bytes(b"{\n" + GOOD + b"3\n")
    report = take(tmp_path / "items.jsonl", skip_bad=True)
    assert (report.added, [row.line for row in report.rejected]) == (1, [1, 3])
    assert report.batch is not None


def test_a_dry_run_lists_bad_rows_and_writes_nothing(
    take: Callable[..., ImportReport], sqlite_database: Database, tmp_path: Path
) -> None:
    (tmp_path / "items.jsonl").write_bytes(b"{\n" + GOOD)
    report = take(tmp_path / "items.jsonl", dry_run=True)
    assert (report.preview, report.added, len(report.rejected)) == (True, 1, 1)
    assert report.examples[0].question == "Good?"
    assert is_empty(sqlite_database)


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    with path.open("wb") as file:
        file.write(GOOD + b'{"question": "')
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + GOOD)
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from exports.reading.json_files import json_lines; from exports.reading.sources import open_sources\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "with open_sources([Path(sys.argv[1])]) as sources: found = list(json_lines(sources.files[0]))\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
        "for path in found: print(path)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    megabytes, first, middle, last = done.stdout.splitlines()
    assert int(megabytes) < 80
    assert "line=2" in middle and "longer than 16 MB" in middle
    assert (first, last) == ("(1, {'question': 'Good?'})", "(3, {'question': 'Good?'})")


def test_a_json_file_too_large_to_read_whole_is_refused(
    take: Callable[..., ImportReport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST_FILE", 100)
    (tmp_path / "results.json").write_text('{"model": "m", "responses": [' + " " * 100 + "]}")
    [bad] = take(tmp_path / "results.json", format_name="fathoms").rejected
    assert "Split it" in bad.reason


# Documents ------------------------------------------------------------------------------------------------------------


def test_a_pdf_that_is_none_is_named_and_nothing_is_imported(
    take: Callable[..., ImportReport], sqlite_database: Database, tmp_path: Path
) -> None:
    write_jsonl(tmp_path / "in/items.jsonl", [{"question": "Q?"}])
    write_pdf(tmp_path / "in/documents/good.pdf")
    (tmp_path / "in/documents/bad.pdf").write_bytes(b"<html>Not found</html>")
    report = take(tmp_path / "in")
    assert [row.file for row in report.rejected] == ["in/documents/bad.pdf"]
    assert "is not a PDF" in report.rejected[0].reason
    assert is_empty(sqlite_database)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"title": "A"}, "A document's key"),
        ({"key": "a.pdf", "path": "../secret.pdf"}, "leads out of the folder"),
        ({"key": "a.pdf", "path": "/etc/passwd"}, "leads out of the folder"),
        ({"key": "a.pdf", "path": "documents/a.pdf"}, "leave `path` out"),
        ({"key": "a.pdf", "metadata": 3}, "`metadata` an object"),
        ({"key": "a|b"}, "without |"),
        ("a.pdf", "not an object"),
    ],
)
def test_a_bad_row_of_documents_is_named(
    take: Callable[..., ImportReport], tmp_path: Path, row: object, words: str
) -> None:
    write_pdf(tmp_path / "secret.pdf")
    write_jsonl(tmp_path / "in/items.jsonl", [{"question": "Q?"}])
    write_jsonl(tmp_path / "in/documents.jsonl", [{"key": "fine"}, row])
    [bad] = take(tmp_path / "in").rejected
    assert (bad.file, bad.line) == ("in/documents.jsonl", 2)
    assert words in bad.reason


def test_one_document_with_two_contents_is_refused(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    write_pdf(tmp_path / "one/a.pdf", "one")
    write_pdf(tmp_path / "two/a.pdf", "two")
    report = take(tmp_path / "one", tmp_path / "two", format_name="native")
    assert [(row.file, "one/a.pdf" in row.reason) for row in report.rejected] == [("two/a.pdf", True)]


# Folders and archives -------------------------------------------------------------------------------------------------


def test_a_path_that_is_not_there_is_named(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        take(tmp_path / "nowhere")


def test_a_link_in_a_folder_is_refused(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in/items.jsonl", [{"question": "Q?"}])
    (tmp_path / "in/documents").symlink_to("/etc")
    with pytest.raises(InvalidInput, match="in/documents is a link"):
        take(tmp_path / "in")


def zipped(path: Path, *names: str, mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, GOOD)
    return path


def tarred(path: Path, **fields: object) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("items.jsonl")
        info.size = len(GOOD)
        for name, value in fields.items():
            setattr(info, name, value)
        archive.addfile(info, io.BytesIO(GOOD) if info.isreg() else None)
    return path


CLIMBING = ["../items.jsonl", "/tmp/items.jsonl", "a/../../items.jsonl", "..\\items.jsonl", "C:\\items.jsonl"]


@pytest.mark.parametrize("name", CLIMBING)
@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_an_archive_that_climbs_is_refused(
    take: Callable[..., ImportReport], sqlite_database: Database, tmp_path: Path, name: str, ending: str
) -> None:
    path = tmp_path / f"in.{ending}"
    made = zipped(path, "ok/items.jsonl", name) if ending == "zip" else tarred(path, name=name)
    with pytest.raises(InvalidInput, match=r"leads out of the archive\. Pack it again") as raised:
        take(made)
    assert repr(name) in str(raised.value)
    assert is_empty(sqlite_database)
    assert not (tmp_path / "items.jsonl").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_link_or_device_in_a_tar_archive_is_refused(
    take: Callable[..., ImportReport], tmp_path: Path, kind: bytes
) -> None:
    path = tarred(tmp_path / "in.tar.gz", type=kind, linkname="/etc/passwd", size=0)
    with pytest.raises(InvalidInput, match=r"'items\.jsonl' is a link or no plain file"):
        take(path)


def test_a_link_in_a_zip_archive_is_refused(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'items\.jsonl' is a link"):
        take(zipped(tmp_path / "in.zip", "items.jsonl", mode=stat.S_IFLNK | 0o777))


def test_a_bomb_is_refused_before_it_is_unpacked(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("items.jsonl", b" " * (64 << 20))
    assert (tmp_path / "in.zip").stat().st_size < 100_000
    with pytest.raises(InvalidInput, match=r"more than 200 times its size \(at the member 'items\.jsonl'\)"):
        take(tmp_path / "in.zip")


def test_a_tar_header_that_claims_gigabytes_is_refused(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
    with gzip.open(tmp_path / "in.tar.gz", "wb") as file:
        file.write(info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(64):
            file.write(b"a" * (1 << 20))
    with pytest.raises(InvalidInput, match="more than 200 times its size"):
        take(tmp_path / "in.tar.gz")


def test_too_many_members_are_refused(
    take: Callable[..., ImportReport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 10)
    with pytest.raises(InvalidInput, match="more than 10 files"):
        take(zipped(tmp_path / "in.zip", *(f"{number}.jsonl" for number in range(11))))


def test_a_member_that_comes_twice_is_refused(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = zipped(tmp_path / "in.zip", "items.jsonl", "items.jsonl")
    with pytest.raises(InvalidInput, match=r"'items\.jsonl' twice"):
        take(path)


def test_a_file_may_lie_in_a_hundred_folders_and_no_more(tmp_path: Path) -> None:
    within = tmp_path.joinpath("in", *["d"] * 100)
    within.mkdir(parents=True)
    (within / "items.jsonl").write_bytes(GOOD)
    zipped(tmp_path / "in.zip", "d/" * 100 + "items.jsonl")
    for path in (tmp_path / "in", tmp_path / "in.zip"):
        with open_sources([path]) as sources:
            assert [file.basename for file in sources.files] == ["items.jsonl"]
    (within / "d").mkdir()
    zipped(tmp_path / "deep.zip", "d/" * 101 + "items.jsonl")
    tarred(tmp_path / "deep.tar.gz", name="d/" * 3000 + "items.jsonl")
    for name in ("in", "deep.zip", "deep.tar.gz"):
        expected = rf"^'{name}(/d)+/?… lies more than 100 folders deep\. Move it further up, or remove it\.$"
        with pytest.raises(InvalidInput, match=expected) as raised, open_sources([tmp_path / name]):
            pass
        assert len(str(raised.value)) < 200


def test_a_member_of_a_long_name_is_named_by_its_beginning(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"the member 'ddd+… leads out of the archive") as raised:
        take(zipped(tmp_path / "in.zip", "d" * 5000 + "/../../items.jsonl"))
    assert len(str(raised.value)) < 250


def test_names_that_are_not_utf8_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "n\udcff.jsonl").write_bytes(GOOD)
    tarred(tmp_path / "in.tar.gz", name="n\udcff.jsonl")
    odd = tmp_path / "o\udcff"
    odd.mkdir()
    (odd / "items.jsonl").write_bytes(GOOD)
    for path, said in [
        (folder, "in/n?.jsonl"),
        (folder / "n\udcff.jsonl", "n?.jsonl"),
        (tmp_path / "in.tar.gz", "in.tar.gz/n?.jsonl"),
        (odd, "o?"),
        (odd / "items.jsonl", "o?"),  # the folder of a file is kept of it too
    ]:
        with pytest.raises(InvalidInput) as raised, open_sources([path]):
            pass
        assert str(raised.value).startswith(f"The name '{said}' is not UTF-8. Rename the file")
    (folder / "n\udcff.jsonl").rename(folder / ".n\udcff.jsonl")  # a hidden one is not read, and in nobody's way
    with open_sources([folder]) as sources:
        assert sources.files == []


@pytest.mark.parametrize("ending", ["zip", "xlsx"])
def test_a_zip_with_a_name_that_is_not_utf8_is_refused(tmp_path: Path, ending: str) -> None:
    made = zipped(tmp_path / "in.zip", "é.jsonl").read_bytes().replace("é".encode(), b"\xff\xfe")
    path = tmp_path / f"odd.{ending}"
    path.write_bytes(made)
    with pytest.raises(InvalidInput, match="the name of a member is not UTF-8"):
        if ending == "zip":
            with open_sources([path]):
                pass
        else:
            open_table(path)


@pytest.mark.parametrize("ending", ["zip", "tar.gz", "tgz", "tar"])
def test_a_damaged_archive_is_refused(take: Callable[..., ImportReport], tmp_path: Path, ending: str) -> None:
    (tmp_path / f"in.{ending}").write_bytes(os.urandom(2000))
    with pytest.raises(InvalidInput, match=r"is damaged or no archive"):
        take(tmp_path / f"in.{ending}")


def test_a_truncated_archive_is_refused(take: Callable[..., ImportReport], tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "whole.tar.gz", "w:gz") as archive:
        data = os.urandom(100_000)
        info = tarfile.TarInfo("items.jsonl")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    (tmp_path / "in.tar.gz").write_bytes((tmp_path / "whole.tar.gz").read_bytes()[:50_000])
    with pytest.raises(InvalidInput, match="is damaged"):
        take(tmp_path / "in.tar.gz")


def test_a_folder_that_cannot_be_read_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("shut", ".hidden"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        write_jsonl(tmp_path / "in" / folder / "items.jsonl", {"question": "?"})
    there = os.scandir

    def scandir(path: Any) -> Any:  # root reads every folder
        if isinstance(path, str) and Path(path).name in {"shut", ".hidden"}:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return there(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(PermissionError, match="shut"), open_sources([tmp_path / "in"]):
        pass
    shutil.rmtree(tmp_path / "in" / "shut")
    with open_sources([tmp_path / "in"]) as sources:
        assert sources.files == []


def test_hidden_files_and_leftovers_of_other_systems_are_passed_over(tmp_path: Path) -> None:
    for name in (".git/items.jsonl", "__MACOSX/items.jsonl", "items.jsonl", "a/.DS_Store", "a/b.jsonl"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(GOOD)
    with open_sources([tmp_path / "in"]) as sources:
        assert [(file.name, file.folder) for file in sources.files] == [("in/items.jsonl", "in"), ("in/a/b.jsonl", "a")]
