"""Labels of every kind of annotation in a study, written and read: what counts comes back, and nothing else."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlmodel import col, select

from annotators.items.parsed import ForeignLabel
from db.annotating.annotations import reopen
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Annotation, AnnotationKind, AssignmentState
from db.quality.omissions import leave_out, restore
from db.studies.ratings import ratings
from exports.bundles.bundle import export_project
from exports.formats.labels import not_counting, read_labels
from tests.db.quality.test_gold import gold
from tests.db.quality.test_qualification import qualify, try_with
from tests.makers import StudyInUse

COUNTING = {AnnotationKind.REGULAR, AnnotationKind.IMPORTED}
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("kind", [*(kind.value for kind in AnnotationKind), AssignmentState.LEFT_OUT.value])
def test_the_kinds_that_count_are_regular_and_imported(kind: str) -> None:
    row = {"current": "true", "complete": "true", "cannot_judge": "false", "kind": kind}
    assert (not_counting(row) is None) == (kind in COUNTING)
    assert not_counting({**row, "kind": kind.upper()}) == not_counting(row)
    for flag, value in (("current", "false"), ("complete", "false"), ("cannot_judge", "true")):
        assert not_counting({**row, flag: value}) is not None
    assert not_counting({}) is None and not_counting({"kind": "my own word"}) is None


def test_what_counts_of_every_kind_comes_back_and_nothing_else(sqlite_database: Database, tmp_path: Path) -> None:
    study = StudyInUse(sqlite_database, items=12, annotators=4, overlap=3)
    qualify(study, 1, mark=0.0)
    gold(study, 4, gold_rate=0.3, repeat_rate=0.2, repeat_after=2)
    for who in range(4):
        try_with(study, "no", who=who)
    for who, value in ((0, "yes"), (1, "no"), (2, "yes")):
        study.label_all(who, value)
    first = study.work(0)["last"]
    study.submit(0, reopen(study.db, study.annotators[0], study.study_id, assignment_id=first), {"right": "no"})
    # The second's are left out and others have their slots: restored, they are surplus. Of the third's the later ones
    # stay left out, in the place of which some of the second's count again.
    about = (study.db, study.researcher, study.study_id)
    leave_out(*about, annotator=study.annotators[1].name, since=EPOCH, reason="careless")
    study.label_all(3)
    restore(*about, annotator=study.annotators[1].name, reason="were right")
    with study.db.read() as session:
        theirs = select(Annotation.created_at).where(Annotation.person_id == study.annotators[2].person_id)
        half = session.exec(theirs.order_by(col(Annotation.id))).all()[9]
    leave_out(*about, annotator=study.annotators[2].name, since=half, reason="careless")
    rows = [ForeignLabel(n, f"i{n:05}", "zoe", "right", "item", "no", None, None) for n in range(1, 4)]
    import_labels(study.db, study.researcher, study.study_id, rows=rows, source="theirs.csv")
    out = tmp_path / "out"
    export_project(study.db, study.researcher, study.project_id, to=out, study_id=study.study_id,
                   formats=("labels", "known"))  # fmt: skip
    told = list(csv.DictReader((out / "labels.csv").open()))
    kinds = Counter(row["kind"] for row in told)
    assert {"regular", "imported", "surplus", "left_out", "repeat"} <= set(kinds), kinds
    known = Counter(row["kind"] for row in csv.DictReader((out / "known.csv").open()))
    assert known["qualification"] == 4 and known["gold"] > 0
    found = read_labels(out / "labels.csv")
    counted = ratings(study.db, study.researcher, study.study_id)
    assert len(found.checked()) == len(counted.annotations.person)
    assert Counter(row.annotator for row in found.rows) == Counter(
        row["annotator"] for row in told if row["kind"] in COUNTING and row["current"] == "true"
    )
    again = {(row["item"], row["annotator"], row["value"]) for row in told
             if row["kind"] in COUNTING and row["current"] == "true"}  # fmt: skip
    assert {(row.item, row.annotator, row.value) for row in found.rows} == again
    assert found.left_out.total() == len(told) - len(found.rows)
    # What the table says of itself is what an import of it into another study stores.
    other = StudyInUse(sqlite_database, items=12, annotators=1, overlap=1)
    done = import_labels(sqlite_database, other.researcher, other.study_id, rows=found.checked(), source="labels.csv")
    assert done.labels == len(found.rows)
