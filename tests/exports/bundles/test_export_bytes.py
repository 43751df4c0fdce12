"""The files of an export, byte for byte: what anybody has checked the hashes of stays the same."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlmodel import col

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.several import Several
from annotators.criteria.text import Text
from annotators.protocols import Material, Protocol, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.elsewhere.labels import ForeignLabel, import_labels
from db.engine import Database
from db.models import StudyItem
from db.query import pick
from exports.bundles.bundle import export_project
from tests.makers import StudyInUse, tiny_protocol

AT = datetime(2026, 3, 2, 9, 30, 1, 500, tzinfo=UTC)

EXPECTED = Path(__file__).parents[2] / "data/export"


def judging() -> Protocol:
    """A word, a number, a set and a text: each is written in its own way."""
    return tiny_protocol(
        criteria=[
            Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")]),
            Grade(name="clarity", title="Clarity", labels=[Label(value=n) for n in range(-1, 3)]),
            Several(name="faults", title="Faults", labels=[Label(value="old"), Label(value="vague")]),
            Text(name="why", title="Why"),
        ],
        steps=[Step(name="all", title="All", shows=[Material.ANSWER], criteria=["right", "clarity", "faults", "why"])],
    )


def test_the_tables_of_an_export_stay_as_they_are_byte_for_byte(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2, protocol=judging(), n_evidence=1, rule="majority")
    given = [
        ("i00001", "ada", "right", "yes", None),
        ("i00001", "ada", "clarity", "-1", 'he said "no", twice'),
        ("i00001", "ada", "faults", '["old", "vague"]', None),
        ("i00001", "ada", "why", "It says “4,100”,\nwhich is right.", None),
        ("i00001", "@ben", "right", "yes", "=1+1"),
        ("i00001", "@ben", "clarity", "2", None),
        ("i00002", "ada", "right", "yes", None),
        ("i00002", "@ben", "right", "no", None),
        ("i00003", "ada", "right", "no", None),
    ]
    rows = [
        ForeignLabel(line, item, who, criterion, "item", value, AT, comment)
        for line, (item, who, criterion, value, comment) in enumerate(given, 2)
    ]
    made = import_labels(database, study.researcher, study.study_id, rows=rows, source="t.csv")
    second = study_items(database, study)[1]
    decisions = [UnitDecision("right", "item", "no")]
    adjudicate(database, study.researcher, second, decisions=decisions, reason="page 3; =says so", uid="a" * 8)
    to = tmp_path / "out"
    export_project(database, study.researcher, study.project_id, to=to, study_id=study.study_id, names=True)
    for path in ("labels.csv", "adjudicated.csv", "native/items.jsonl"):
        written = (to / path).read_bytes().replace(f",import-{made.batch}-".encode(), b",import-1-")
        assert written == (EXPECTED / path).read_bytes(), path


def study_items(database: Database, study: StudyInUse) -> list[int]:
    """The ids of the items of a study, in its order."""
    with database.read() as session:
        query = pick(StudyItem.id).where(col(StudyItem.study_id) == study.study_id).order_by(col(StudyItem.position))
        return list(session.execute(query).scalars())
