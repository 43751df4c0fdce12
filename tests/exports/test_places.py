"""Places of images from the annotator's page to the tables: given, settled, compared, exported and read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotators.asking.submissions import GivenLabel
from annotators.criteria.place import Place
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.protocols import Material, Protocol, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.engine import Database
from db.models import SettlementState
from db.permissions import Actor
from db.studies.settlements import stream_settled
from exports.agreement.study import agreement_report
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from tests.makers import make_member, make_person, make_project

IMAGES = ("zz", "aa", "mm")
ITEM = {
    "id": "walk",
    "question": "What is on the way?",
    "answer": "The pier is old.\n\nThe mill turns.\n\nThe dam holds.",
    "images": [{"key": key, "document": "a.pdf", "page": 1, "caption": f"Figure {key}"} for key in IMAGES],
}
PROTOCOL = Protocol(
    name="placing",
    title="Placing",
    guidelines="Where does each image belong?",
    criteria=[Place(name="place", title="Its place")],
    steps=[Step(name="one", title="One", shows=[Material.ANSWER, Material.IMAGES], criteria=["place"])],
    overlap=2,
)


class Placing:
    """A study of one item with three images, and its two annotators."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.folder = db, folder
        self.project_id = make_project(db)
        self.researcher = make_person(db)
        make_member(db, self.project_id, self.researcher, "researcher")
        (folder / "in").mkdir()
        (folder / "in/items.jsonl").write_text(json.dumps(ITEM) + "\n")
        (folder / "in/documents.jsonl").write_text(json.dumps({"key": "a.pdf", "title": "A"}) + "\n")
        import_paths(
            db,
            self.researcher,
            self.project_id,
            paths=[folder / "in"],
            format_name="native",
            data_folder=folder / "documents",
        )
        self.people = [make_person(db) for _ in range(2)]
        for actor in self.people:
            make_member(db, self.project_id, actor, "annotator")
        self.study_id = self.study("places")

    def study(self, name: str) -> int:
        design = StudyDesign(name=name, annotators=tuple(actor.name for actor in self.people), overlap=2, order="given")
        return create_study(self.db, self.researcher, self.project_id, protocol=PROTOCOL, design=design).study_id

    def say(self, who: int, places: dict[str, str]) -> None:
        """One annotator's places, by the images' names in the browser."""
        item = self.item(who)
        labels = tuple(GivenLabel("place", target, place) for target, place in places.items())
        step = StepSubmission(f"{who}", item["assignment"], item["sitting"], 0, labels, seconds=2.0)
        submit(self.db, self.people[who], self.study_id, step=step)

    def item(self, who: int) -> dict[str, Any]:
        found: dict[str, Any] = work(self.db, self.people[who], self.study_id)["items"][0]
        return found

    def final(self) -> list[tuple[str, str, Any]]:
        with self.db.read() as session:
            return [(unit.target, unit.state, unit.value) for unit in stream_settled(session, self.study_id)]

    def adjudicator(self) -> Actor:
        actor = make_person(self.db)
        make_member(self.db, self.project_id, actor, "adjudicator")
        return actor


@pytest.fixture
def placing(database: Database, tmp_path: Path) -> Placing:
    return Placing(database, tmp_path)


def test_the_browser_gets_what_places_are_given_by(placing: Placing) -> None:
    found = work(placing.db, placing.people[0], placing.study_id)
    assert found["study"]["protocol"]["criteria"] == [
        {
            "kind": "place", "name": "place", "title": "Its place", "help": "", "target": "image", "required": True,
            "per_hop": False, "when": None, "scale": "nominal", "labels": [],
        }
    ]  # fmt: skip
    assert found["items"][0]["units"] == {"place": ["image:I1", "image:I2", "image:I3"]}
    assert found["items"][0]["answer"] == ITEM["answer"]


def test_a_place_that_the_answer_does_not_have_is_refused_and_nothing_is_stored(placing: Placing) -> None:
    with pytest.raises(InvalidInput, match="'Its place' for I3: the answer has 3 paragraphs"):
        placing.say(0, {"image:I1": "block:1", "image:I2": "nowhere", "image:I3": "block:4"})
    assert placing.item(0)["step"] == 0
    assert placing.final() == []


def test_places_settle_are_adjudicated_compared_exported_and_read_back(placing: Placing) -> None:
    placing.say(0, {"image:I1": "block:1", "image:I2": "nowhere", "image:I3": "block:2"})
    placing.say(1, {"image:I1": "block:1", "image:I2": "nowhere", "image:I3": "nowhere"})
    assert placing.final() == [
        ("image:aa", "unanimous", "nowhere"), ("image:mm", "open", None), ("image:zz", "unanimous", "block:1"),
    ]  # fmt: skip

    # Two of three units agree. Krippendorff's nominal alpha by hand: the values are 2 block:1, 3 nowhere, 1 block:2;
    # observed disagreement 2/6, expected (36 - 4 - 9 - 1) / (6 · 5) = 22/30, alpha = 1 - (1/3) / (22/30) = 6/11.
    report = agreement_report(placing.db, placing.researcher, placing.study_id, resamples=50)
    [found] = report.criteria
    values = {statistic.name: statistic.value for statistic in found.statistics}
    assert values["percent_agreement"] == pytest.approx(2 / 3)
    assert values["krippendorff_alpha_nominal"] == pytest.approx(6 / 11)
    assert found.shares == pytest.approx({"nowhere": 3 / 6, "block:1": 2 / 6, "block:2": 1 / 6})

    actor = placing.adjudicator()
    [waiting] = disputes(placing.db, actor, placing.study_id)
    seen = disputed_item(placing.db, actor, waiting.study_item_id)
    assert [(unit.target, unit.counts) for unit in seen.units if unit.needs_decision] == [
        ("image:I3", {"block:2": 1, "nowhere": 1})
    ]
    for value, words in (("block:4", "Its place: the answer has 3 paragraphs"), ("somewhere", "not a label")):
        with pytest.raises(InvalidInput, match=words):
            decision = UnitDecision("place", "image:I3", value)
            adjudicate(placing.db, actor, waiting.study_item_id, uid=value, decisions=[decision], from_browser=True)
    decision = UnitDecision("place", "image:I3", "block:3")  # which nobody gave, and the answer has
    adjudicate(placing.db, actor, waiting.study_item_id, uid="u", decisions=[decision], from_browser=True)
    assert placing.final()[1] == ("image:mm", SettlementState.ADJUDICATED, "block:3")

    export_project(
        placing.db, placing.researcher, placing.project_id, to=placing.folder / "out", study_id=placing.study_id
    )
    with (placing.folder / "out/labels.csv").open() as file:
        written = [(row["annotator"], row["target"], row["value"]) for row in csv.DictReader(file)]
    assert written == [
        ("A1", "image:zz", "block:1"), ("A1", "image:aa", "nowhere"), ("A1", "image:mm", "block:2"),
        ("A2", "image:zz", "block:1"), ("A2", "image:aa", "nowhere"), ("A2", "image:mm", "nowhere"),
    ]  # fmt: skip
    placing.study("again")
    done = import_label_table(
        placing.db, placing.researcher, placing.project_id, study="again", path=placing.folder / "out/labels.csv"
    )
    assert done.labels.labels == 6
    again = agreement_report(placing.db, placing.researcher, done.study_id, resamples=50)
    assert again.criteria[0].shares == found.shares
    assert {statistic.name: statistic.value for statistic in again.criteria[0].statistics} == pytest.approx(values)
