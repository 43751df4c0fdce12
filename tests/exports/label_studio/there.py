"""A study that is labelled in Label Studio, as exports of it say: what is pulled of them, and what stands here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.protocols import Protocol
from app.cli import main
from db.batches import withdraw_batch
from db.engine import Database
from db.models import Account, Annotation, Assignment
from db.studies.tallies import counts
from exports.label_studio.files import push_to_files
from exports.label_studio.pull import pull_from_files
from tests.databases import put_database
from tests.db.studies.recount import recount
from tests.exports.label_studio.studies import Project
from tests.makers import tiny_protocol

ADA, BEN = {"id": 2, "email": "ada@example.org"}, {"id": 5, "email": "ben@example.org"}
IS_ADA = {"ada@example.org": "ada"}


class There:
    """A study that is labelled in Label Studio by ada, and how often something is said of it here."""

    def __init__(self, folder: Path, protocol: Protocol | None = None) -> None:
        put_database(folder / "assay.db")
        self.project = Project(Database(f"sqlite:///{folder / 'assay.db'}"), folder)
        self.db, self.admin = self.project.db, self.project.admin
        self.study = self.project.study("there", protocol or tiny_protocol())
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

    def pull(self, people: dict[str, str] | None = None, **said: bool) -> dict[str, Any]:
        self.path.write_bytes(orjson.dumps(self.tasks))
        found = pull_from_files(self.db, self.admin, self.study, paths=[self.path], people=people or {}, **said)
        return found.to_json()

    def change(self, number: int, value: str, made: str = "2026-11-26T02:00:00.5Z") -> None:
        """Have the first annotation of a task say something else since."""
        one = self.tasks[number]["annotations"][0]
        one |= {"updated_at": made, "was_cancelled": False}
        one["result"][0]["value"]["choices"] = [value]

    def skip(self, *numbers: int) -> None:
        """Have the first annotation of these tasks be a skip."""
        for number in numbers:
            self.tasks[number]["annotations"][0]["was_cancelled"] = True

    def withdraw(self, batch: int, *, reinstates: bool = False) -> None:
        withdraw_batch(self.db, self.admin, self.project.id, batch, reason="wrong", reinstates=reinstates)

    def tallies(self) -> dict[str, int]:
        """The kept counts of the study, which are what the rows say."""
        with self.db.read() as session:
            kept = {state: n for state, n in counts(session, self.study).items() if n}
            rows = {state: n for state, n in recount(session, self.study).items() if n}
        assert kept == rows
        return {state: n for state, n in kept.items() if state in ("submitted", "skipped")}

    def status(self, capsys: pytest.CaptureFixture[str]) -> str:
        """What `assay status` prints of the study."""
        capsys.readouterr()
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["--home", str(self.path.parent), "status", "zeta project", "there"])
        return capsys.readouterr().out

    def skippers(self) -> list[str]:
        """By whom the imported skips are."""
        with self.db.read() as session:
            query = (
                select(Account.name)
                .join(Assignment, Assignment.person_id == Account.person_id)  # type: ignore[arg-type]
                .where(Assignment.study_id == self.study, Assignment.state == "skipped")
            )
            return sorted(session.exec(query).all())

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
