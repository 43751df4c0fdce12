"""Labels that notebooks keep in files: never others than the database has, and nothing in them outlives a redaction."""

from __future__ import annotations

import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import event, text

from annotators.errors import AssayError, NotFound
from annotators.items.parsed import ForeignLabel
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.annotating.amendments import StudyChange, amend_study
from db.annotating.annotations import reopen
from db.batches import withdraw_batch
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Account
from db.people.accounts import erase_person
from db.quality.omissions import leave_out, restore
from db.studies.revisions import revise_item
from db.upkeep.backups import back_up
from db.upkeep.backups import restore as put_back
from db.upkeep.maintenance import delete_project, redact_text
from exports.bundles.labels.kept import KeptTables, forget_frames
from exports.bundles.labels.stamp import DEPENDS_ON
from exports.notebook import open_home
from exports.notebook.frames import frame_of, labels_frame
from tests.app.cli.command_line import CommandLine
from tests.databases import put_database
from tests.exports.judging.makers import judge_labels
from tests.makers import StudyInUse, first_administrator, make_project

STEP_1 = {"self_contained": "true", "human_like": "true"}


class Reading:
    """A study that is labelled, and a notebook that reads its labels."""

    def __init__(self, db: Database, folder: Path, **study: Any) -> None:
        self.db = db
        self.study = StudyInUse(db, **study)
        self.kept = KeptTables(folder / "frames")
        self.admin = first_administrator(db)

    @property
    def files(self) -> list[Path]:
        folder = self.kept._folder
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def fresh(self) -> pd.DataFrame:
        return frame_of(self.db, self.admin, self.study.project_id, self.study.study_id, "labels")

    def read(self) -> pd.DataFrame:
        """The labels; they are what the database has, to the types."""
        found = labels_frame(self.db, self.admin, self.study.project_id, self.study.study_id, self.kept)
        pd.testing.assert_frame_equal(found, self.fresh())
        return found

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """What is asked of the database meanwhile."""
        said: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            said.append(statement)

        event.listen(self.db.engine, "before_cursor_execute", note)
        try:
            yield said
        finally:
            event.remove(self.db.engine, "before_cursor_execute", note)

    def is_read_again(self) -> bool:
        """Whether the labels are taken from the database, rather than from the file."""
        with self.statements() as said:
            labels_frame(self.db, self.admin, self.study.project_id, self.study.study_id, self.kept)
        return any("FROM label " in statement for statement in said)


@pytest.fixture
def reading(database: Database, tmp_path: Path) -> Reading:
    made = Reading(database, tmp_path, items=4, annotators=3, overlap=2)
    for who, value in enumerate(("yes", "no")):
        for item in ("Jo Field says so", None):
            made.study.submit(who, made.study.work(who)["items"][0], {"right": value}, comment=item)
    return made


def test_the_second_time_no_label_is_read_from_the_database(reading: Reading) -> None:
    first = reading.read()
    assert len(first) == 4
    assert not reading.is_read_again()
    pd.testing.assert_frame_equal(reading.read(), first)
    [file] = reading.files
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_every_table_that_labels_are_read_from_is_one_whose_changes_are_noticed(reading: Reading) -> None:
    with reading.statements() as said, reading.db.read() as session:
        from db.models import Study
        from exports.bundles.labels.table import write_labels
        from exports.bundles.typed import Batches
        from exports.sinks import Out

        study = session.get_one(Study, reading.study.study_id)
        write_labels(session, study, Out(None, typed=Batches("labels"), lines=False), names=False)
    read = {name for statement in said for name in re.findall(r'\b(?:FROM|JOIN) "?([a-z_]+)', statement)}
    assert read - {"json_each"} == DEPENDS_ON


def _submit(there: Reading) -> None:
    there.study.submit(2, there.study.work(2)["items"][0], {"right": "no"})


def _correct(there: Reading) -> None:
    again = reopen(there.db, there.study.annotators[0], there.study.study_id)
    there.study.submit(0, again, {"right": "no"})


def _leave_out(there: Reading) -> None:
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    name = there.study.annotators[0].name
    leave_out(there.db, there.study.researcher, there.study.study_id, annotator=name, since=moment, reason="careless")


def _restore(there: Reading) -> None:
    _leave_out(there)
    there.read()
    name = there.study.annotators[0].name
    restore(there.db, there.study.researcher, there.study.study_id, annotator=name, reason="was careful")


def _redact(there: Reading) -> None:
    redact_text(there.db, there.study.researcher, there.study.study_id, containing="Jo Field", reason="a name")


def _import(there: Reading) -> int:
    rows = [ForeignLabel(2, "i00001", "elsewhere", "right", "item", "no")]
    return import_labels(there.db, there.study.researcher, there.study.study_id, rows=rows, source="x.csv").batch


def _withdraw(there: Reading) -> None:
    batch = _import(there)
    there.read()
    withdraw_batch(there.db, there.study.researcher, there.study.project_id, batch, reason="wrong file")


def _reinstate(there: Reading) -> None:
    batch = _import(there)
    for reinstates in (False, True):
        there.read()
        withdraw_batch(
            there.db, there.study.researcher, there.study.project_id, batch, reason="why", reinstates=reinstates
        )


def _judge(there: Reading) -> None:
    judge_labels(there.db, there.study.study_id, "some-model", lambda _: {"right": "yes"})


def _revise(there: Reading) -> None:
    about = there.db, there.study.researcher, there.study.project_id
    revise_item(*about, external_id="i00001", fields={"answer": "Another answer."}, reason="wrong")


CHANGES: list[Callable[[Reading], object]] = [
    _submit, _correct, _leave_out, _restore, _redact, _import, _withdraw, _reinstate, _judge, _revise,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_what_changes_labels_is_noticed(reading: Reading, change: Callable[[Reading], object]) -> None:
    before = reading.read()
    change(reading)
    after = reading.read()
    assert not before.equals(after) or change is _restore, "the operation is no example"
    assert not reading.is_read_again()


def test_a_step_that_is_committed_before_the_annotation_is_complete_is_noticed(
    database: Database, tmp_path: Path
) -> None:
    there = Reading(database, tmp_path, items=1, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    assert there.read().empty
    item = there.study.work(0)["items"][0]
    following = there.study.submit(0, item, STEP_1).item
    assert following is not None, "the protocol has a second step"
    found = there.read()
    assert len(found) == len(STEP_1)
    assert not found["complete"].any()


def test_what_changes_no_label_leaves_the_file_as_it_is(reading: Reading) -> None:
    reading.read()
    study, researcher = reading.study, reading.study.researcher
    with reading.db.read() as session:
        [first, *_] = session.execute(text("SELECT study_item_id FROM settlement WHERE state = 'disputed'")).scalars()
    decision = UnitDecision("right", "item", "yes", reason="it says so")
    adjudicate(reading.db, researcher, first, uid="one", decisions=[decision])
    amend_study(reading.db, researcher, study.study_id, change=StudyChange(overlap=3), reason="more votes")
    with reading.db.write() as session:
        session.get_one(Account, study.annotators[1].person_id).name = "renamed"
    erase_person(reading.db, reading.admin, study.annotators[0].name)
    other = StudyInUse(reading.db, items=1, annotators=1, overlap=1)
    other.label_all(0)
    assert not reading.is_read_again()
    assert study.annotators[0].name not in reading.read().to_csv()


def test_other_labels_after_a_backup_was_put_back_are_noticed(sqlite_database: Database, tmp_path: Path) -> None:
    there = Reading(sqlite_database, tmp_path, items=4, annotators=2, overlap=2)
    copy = back_up(there.db, there.admin, target=tmp_path / "copy.db")
    there.study.submit(0, there.study.work(0)["items"][0], {"right": "yes"}, uid="once")
    there.read()
    earlier = _stored(there)
    put_back(there.db, there.admin, source=copy, backups=tmp_path / "backups")
    assert there.read().empty
    there.kept.store(f"labels-{there.study.study_id}", *earlier)
    there.study.submit(0, there.study.work(0)["items"][0], {"right": "no"}, uid="once")
    assert list(there.read()["value"]) == ["no"]


def _stored(there: Reading) -> tuple[str, Any]:
    """The stamp and table of the file that is there."""
    [file] = there.files
    stamp = file.read_bytes()[4:68].decode()
    table = there.kept.read(file.stem, stamp)
    assert table is not None
    return stamp, table


def test_a_damaged_file_counts_as_absent(reading: Reading) -> None:
    reading.read()
    [file] = reading.files
    whole = file.read_bytes()
    for n in (0, 1, 40, 71, 72, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:n])
        reading.read()
    for place in (*range(0, 72, 7), 72, len(whole) // 3, len(whole) // 2, len(whole) - 9):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert reading.is_read_again()
        assert file.read_bytes() == whole


def test_a_place_that_takes_no_files_costs_time_only(reading: Reading, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    reading.kept = KeptTables(tmp_path / "file" / "frames")
    assert len(reading.read()) == len(reading.read()) == 4
    assert reading.files == []


def test_the_folder_is_bounded_and_what_was_read_last_stays(reading: Reading, tmp_path: Path) -> None:
    reading.read()
    stamp, table = _stored(reading)
    size = reading.files[0].stat().st_size
    bounded = KeptTables(tmp_path / "bounded", most_bytes=3 * size)
    for number in range(8):
        bounded.store(f"labels-{number}", stamp, table)
        assert bounded.read(f"labels-{number}", stamp) is not None
    assert 1 <= len(list((tmp_path / "bounded").iterdir())) <= 3


def test_a_redaction_while_labels_are_read_leaves_no_file(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    store = KeptTables.store

    def redacted_first(kept: KeptTables, *given: Any) -> None:
        _redact(reading)
        forget_frames(kept._folder)
        store(kept, *given)

    monkeypatch.setattr(KeptTables, "store", redacted_first)
    labels_frame(reading.db, reading.admin, reading.study.project_id, reading.study.study_id, reading.kept)
    assert reading.files == []


def test_readers_beside_writers_see_labels_of_one_moment(reading: Reading) -> None:
    seen: list[list[int]] = [[], []]
    over = threading.Event()
    about = reading.admin, reading.study.project_id, reading.study.study_id, reading.kept

    def read(into: list[int]) -> None:
        db = Database(reading.db.url.render_as_string(hide_password=False))
        while not over.is_set():
            into.append(len(labels_frame(db, *about)))
        db.dispose()

    readers = [threading.Thread(target=read, args=(into,)) for into in seen]
    for reader in readers:
        reader.start()
    while items := reading.study.work(2)["items"]:
        reading.study.submit(2, items[0], {"right": "yes"})
    over.set()
    for reader in readers:
        reader.join()
    assert all(numbers == sorted(numbers) for numbers in seen)
    assert len(reading.read()) == len(reading.fresh()) > 4


def test_a_study_of_another_project_is_not_found_though_its_labels_are_kept(reading: Reading) -> None:
    reading.read()
    other = make_project(reading.db, "other")
    with pytest.raises(NotFound, match="no study"):
        labels_frame(reading.db, reading.admin, other, reading.study.study_id, reading.kept)


def test_a_redaction_and_a_deletion_by_the_command_line_leave_no_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    put_database(home / "assay.db")
    db = Database(f"sqlite:///{home}/assay.db")
    study = StudyInUse(db, items=2, annotators=1, overlap=1)
    first_administrator(db)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"}, comment="Jo Field says so")
    with db.read() as session:
        project = session.execute(text("SELECT name FROM project")).scalar_one()
    frames, assay = home / "data" / "frames", CommandLine(home)

    def read() -> pd.DataFrame:
        there = open_home(home)
        found = there.project(project).study("study").labels()
        there.close()
        return found

    assert "Jo Field" in read().to_csv()
    assert b"Jo Field" in b"".join(path.read_bytes() for path in frames.iterdir())
    packed = home / "data/downloads/1-1-a/study.zip"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(b"Jo Field")
    assay("redact", project, "study", "--containing", "Jo Field", "--reason", "a name")
    assert (frames.exists(), packed.exists()) == (False, False)
    assert "Jo Field" not in read().to_csv()
    assay("project", "delete", project, "--confirm", project)
    assert not frames.exists()
    db.dispose()


def test_a_database_by_its_address_is_kept_only_in_a_folder_that_is_named(tmp_path: Path) -> None:
    put_database(tmp_path / "assay.db")
    address = f"sqlite:///{tmp_path}/assay.db"
    db = Database(address)
    study = StudyInUse(db, items=1, annotators=1, overlap=1)
    first_administrator(db)
    study.label_all(0)
    with db.read() as session:
        project = session.execute(text("SELECT name FROM project")).scalar_one()
    before = set(tmp_path.rglob("*"))
    open_home(address).project(project).study("study").labels()
    assert {path for path in set(tmp_path.rglob("*")) - before if not path.name.startswith("assay.db")} == set()
    for _ in range(2):
        assert len(open_home(address, keep=tmp_path / "mine").project(project).study("study").labels()) == 1
    assert len(list((tmp_path / "mine").glob("*/labels-*.frame"))) == 1
    delete_project(db, first_administrator(db), study.project_id, name=project)
    with pytest.raises(AssayError):
        open_home(address, keep=tmp_path / "mine").project(project)
    db.dispose()
