"""What is asked only under a condition: units it was not asked of count nowhere, in a protocol of one's own."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from annotators.agreement.measure import measure
from annotators.asking.protocol_files import protocol_from_yaml
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.engine import Database
from db.models import StudyItem
from db.studies.library import add_protocol, named_protocol
from db.studies.ratings import ratings
from db.studies.settlements import stream_settled
from exports.agreement.study import unmeasured
from exports.bundles.bundle import export_project
from exports.results.document import Results
from tests.makers import StudyInUse, make_member, make_person

OWN = """
name: tone_check
title: Tone
guidelines: Judge the tone.
criteria:
  - name: problem
    title: What is wrong
    when: {criterion: tone, values: [rude]}
    labels: [{value: shouts}, {value: blames}]
    accept: [blames]
  - name: how_bad
    kind: grade
    title: How bad
    when: {criterion: problem, values: [shouts]}
    labels: [{value: 1}, {value: 2}]
  - {name: tone, title: Tone, labels: [{value: kind}, {value: rude}], accept: [kind]}
steps:
  - {name: all, title: All, shows: [question, answer], criteria: [tone, problem, how_bad]}
overlap: 3
"""
KIND: dict[str, Any] = {"tone": "kind"}
BLAMES = {"tone": "rude", "problem": "blames"}
SHOUTS = {"tone": "rude", "problem": "shouts", "how_bad": 2}


class Labelled(StudyInUse):
    """A study of a project's own protocol: of each item what each annotator said."""

    def __init__(self, db: Database, *items: list[dict[str, Any]], rule: str = "majority") -> None:
        super().__init__(db, items=1, annotators=1, overlap=1)
        add_protocol(db, self.researcher, self.project_id, protocol=protocol_from_yaml(OWN))
        own = named_protocol(db, self.researcher, self.project_id, name="tone_check")
        StudyInUse.__init__(self, db, items=len(items), protocol=own, rule=rule)
        for who in range(3):
            for said in items:
                [item, *_] = self.work(who)["items"]
                self.submit(who, item, said[who])

    def settled(self) -> dict[tuple[str, str], tuple[str, Any]]:
        with self.db.read() as session:
            units = list(stream_settled(session, self.study_id))
        return {(unit.external_id, unit.criterion): (unit.state, unit.value) for unit in units}

    def figures(self, whose: str) -> dict[tuple[str, str | None], Any]:
        results = Results.of_study(self.db, self.researcher, self.study_id)
        return {
            (figure.criterion or "", figure.label): figure
            for figure in results.figures
            if figure.name == "share" and figure.by is None and figure.labels == whose
        }


@pytest.fixture
def labelled(sqlite_database: Database) -> Labelled:
    return Labelled(
        sqlite_database,
        [KIND, KIND, KIND],
        [KIND, KIND, SHOUTS],  # one was asked more, for a label that does not become the final one
        [BLAMES, BLAMES, KIND],
        [SHOUTS, SHOUTS, BLAMES],  # the second condition holds for two of three
    )


def test_what_the_final_labels_leave_nothing_to_ask_of_is_neither_settled_nor_open(labelled: Labelled) -> None:
    assert labelled.settled() == {
        ("i00001", "tone"): ("unanimous", "kind"),
        ("i00002", "tone"): ("majority", "kind"),
        ("i00003", "tone"): ("majority", "rude"),
        ("i00003", "problem"): ("unanimous", "blames"),
        ("i00004", "tone"): ("unanimous", "rude"),
        ("i00004", "problem"): ("majority", "shouts"),
        ("i00004", "how_bad"): ("unanimous", 2),
    }


def test_shares_are_of_the_units_that_were_asked(labelled: Labelled) -> None:
    figures = labelled.figures("settled")
    ns = {criterion: figure.n for (criterion, _), figure in figures.items()}
    assert ns == {"tone": 4, "problem": 2, "how_bad": 1}
    each = labelled.figures("each")
    assert (each["problem", "blames"].n, each["problem", "blames"].value) == (6, pytest.approx(3 / 6))


def test_agreement_pairs_only_those_who_were_asked(labelled: Labelled) -> None:
    found = ratings(labelled.db, labelled.researcher, labelled.study_id)
    tables = {name: unmeasured(found, name).ratings for name in ("tone", "problem")}
    assert tables["tone"] is not None
    assert tables["problem"] is not None
    [tone] = measure(tables["tone"], ["percent_agreement"], 0)
    [problem] = measure(tables["problem"], ["percent_agreement"], 0)
    # Of one item two were asked, who agree; of one three, of whom one pair in three agrees; of one a single person.
    assert (tone.n_units, problem.n_units, problem.n_ratings) == (4, 2, 5)
    assert problem.value == pytest.approx((1 + 1 / 3) / 2)


def test_an_adjudicated_condition_takes_what_it_asked_with_it(sqlite_database: Database, tmp_path: Path) -> None:
    labelled = Labelled(sqlite_database, [SHOUTS, SHOUTS, SHOUTS], rule="unanimous")
    with sqlite_database.read() as session:
        [study_item] = session.exec(select(StudyItem.id).where(StudyItem.study_id == labelled.study_id)).all()
    judge = make_person(sqlite_database)
    make_member(sqlite_database, labelled.project_id, judge, "adjudicator")
    decisions = [UnitDecision("tone", "item", "kind", "It is a quotation.")]
    adjudicate(sqlite_database, judge, study_item, uid="u", decisions=decisions)
    assert labelled.settled() == {("i00001", "tone"): ("adjudicated", "kind")}
    to = tmp_path / "out"
    export_project(
        sqlite_database, labelled.researcher, labelled.project_id, to=to, study_id=labelled.study_id,
        formats=("labels", "adjudicated"),
    )  # fmt: skip
    tables = {}
    for name in ("labels", "adjudicated"):
        [path] = to.rglob(f"{name}.csv")
        with path.open(encoding="utf-8", newline="") as file:
            tables[name] = [row["criterion"] for row in csv.DictReader(file)]
    assert tables["adjudicated"] == ["tone"]
    assert sorted(set(tables["labels"])) == ["how_bad", "problem", "tone"], "what people said is all there"


def test_what_is_open_leaves_what_depends_on_it_open(sqlite_database: Database) -> None:
    labelled = Labelled(sqlite_database, [KIND, SHOUTS, SHOUTS], rule="unanimous")
    states = {criterion: state for (_, criterion), (state, _) in labelled.settled().items()}
    assert states == {"tone": "open", "problem": "unanimous", "how_bad": "unanimous"}
