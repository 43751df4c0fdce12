"""Whose annotations of Label Studio are here, however an export calls who made them: each is stored once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.errors import InvalidInput
from db.batches import withdraw_batch
from db.engine import Database
from db.models import Account, Annotation
from db.people.accounts import erase_person
from exports.label_studio.files import push_to_files
from exports.label_studio.pull import pull_from_files
from tests.databases import put_database
from tests.exports.label_studio.studies import Project
from tests.makers import tiny_protocol

ADA, BEN = {"id": 2, "email": "ada@example.org"}, {"id": 5, "email": "ben@example.org"}
IS_ADA = {"ada@example.org": "ada"}


class There:
    """A study that is labelled in Label Studio by ada, and how often something is said of it here."""

    def __init__(self, folder: Path) -> None:
        put_database(folder / "assay.db")
        self.project = Project(Database(f"sqlite:///{folder / 'assay.db'}"), folder)
        self.db, self.admin = self.project.db, self.project.admin
        self.study = self.project.study("there", tiny_protocol())
        push_to_files(self.db, self.admin, self.study, folder=folder / "out")
        self.tasks = orjson.loads((folder / "out" / "tasks.json").read_bytes())
        self.path = folder / "export.json"
        for number, task in enumerate(self.tasks):
            task |= {"id": 100 + number, "annotations": []}

    def annotate(self, who: Any, *, first: int, value: str = "yes", made: str = "2026-11-25T02:00:00.123456Z") -> None:
        """Have whoever is called so annotate all tasks, in annotations that are numbered from `first`."""
        for number, task in enumerate(self.tasks):
            result = {
                "from_name": "right",
                "to_name": "shown-question",
                "type": "choices",
                "value": {"choices": [value]},
            }
            task["annotations"].append(
                {"id": first + number, "completed_by": who, "result": [result], "created_at": made, "updated_at": made}
            )

    def call(self, change: Callable[[Any], Any]) -> None:
        """Call who annotated otherwise."""
        for task in self.tasks:
            for one in task["annotations"]:
                one["completed_by"] = change(one["completed_by"])

    def pull(self, people: dict[str, str] | None = None) -> dict[str, Any]:
        self.path.write_bytes(orjson.dumps(self.tasks))
        return pull_from_files(self.db, self.admin, self.study, paths=[self.path], people=people or {}).to_json()

    def by(self) -> dict[str, int]:
        """Annotator → how many annotations that are not superseded."""
        with self.db.read() as session:
            over = select(Annotation.supersedes_id).where(Annotation.supersedes_id.is_not(None))  # type: ignore[union-attr]
            names = session.exec(
                select(Account.name)
                .join(Annotation, Annotation.person_id == Account.person_id)  # type: ignore[arg-type]
                .where(Annotation.study_id == self.study, Annotation.id.not_in(over))  # type: ignore[union-attr]
            ).all()
        return {name: names.count(name) for name in sorted(set(names))}


@pytest.fixture
def there(tmp_path: Path) -> There:
    return There(tmp_path)


def test_an_annotation_is_known_again_however_its_annotator_is_called(there: There) -> None:
    there.annotate(ADA, first=10)
    n = len(there.tasks)
    assert there.pull(IS_ADA)["new"] == n
    there.call(lambda who: who["id"])
    assert (again := there.pull())["unchanged"] == n
    assert (again["new"], again["gone"], again["left"]) == (0, [], [])
    there.annotate(2, first=50, value="no", made="2026-11-26T02:00:00.5Z")
    assert there.pull()["changed"] == n, "who is known by an earlier annotation is known by the number alone"
    assert there.by() == {"ada": n}


def test_a_number_is_somebody_else_on_a_server_that_began_anew(there: There) -> None:
    there.annotate(ADA, first=10)
    there.pull()
    for task in there.tasks:
        task["annotations"] = []
    there.annotate(BEN, first=10, made="2026-11-27T09:00:00.25Z")
    assert there.pull()["new"] == len(there.tasks)
    assert set(there.by()) == {"ada@example.org", "ben@example.org"}


def test_who_was_named_wrongly_stays_until_the_batch_is_withdrawn(there: There) -> None:
    there.annotate(ADA, first=10)
    n, first = len(there.tasks), there.pull()
    again = there.pull(IS_ADA)
    assert (again["new"], again["unchanged"]) == (0, n)
    [line] = again["left"]
    assert line.startswith(f"{n} annotations of 'ada' came in as those of 'ada@example.org' before, and stay so")
    withdraw_batch(there.db, there.admin, there.project.id, first["batch"], reason="whose they are")
    assert there.pull(IS_ADA)["new"] == n
    assert there.pull()["unchanged"] == n


def test_a_person_who_fits_nobody_is_named_and_nothing_is_stored_under_numbers(there: There) -> None:
    there.annotate(2, first=10)
    with pytest.raises(
        InvalidInput, match=r"--person ada@example\.org=ada fits nobody there, and no --person fits 2\."
    ):
        there.pull(IS_ADA)
    assert there.by() == {}
    assert there.pull({"2": "ada", "zoe@example.org": "zoe"})["left"] == [
        "--person zoe@example.org=zoe fits nobody who has annotated."
    ]
    assert set(there.by()) == {"ada"}


def test_what_is_not_there_any_more_is_named_and_still_counts(there: There) -> None:
    there.annotate(ADA, first=10)
    there.annotate(BEN, first=50)
    n = len(there.tasks)
    assert there.pull()["gone"] == []
    del there.tasks[0]["annotations"][0], there.tasks[1]
    gone = {(one["item"], one["annotator"]) for one in there.pull()["gone"]}
    items = ["hidden-item/0/zeta-system", "hidden-item/0/zeta-system-b"]
    assert gone == {(items[0], "ada@example.org"), (items[1], "ada@example.org"), (items[1], "ben@example.org")}
    assert there.by() == {"ada@example.org": n, "ben@example.org": n}


def test_what_was_taken_in_of_somebody_who_was_erased_is_not_taken_in_anew(there: There) -> None:
    there.annotate(ADA, first=10)
    there.pull()
    erase_person(there.db, there.admin, "ada@example.org")
    again = there.pull()
    assert (again["new"], again["new_people"]) == (0, [])
    assert [one["what"] for one in again["lost"]] == [
        "Annotations of people who were erased here: what they said stays as it is"
    ]
