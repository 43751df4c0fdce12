"""The page labels of the import: on the wire from the step that shows them on, and not in a byte before."""

from __future__ import annotations

import json
from pathlib import Path

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.protocols import Material, Step
from annotators.protocols.evidence_pages import evidence_pages
from db.annotating.annotations import submit, work
from db.annotating.committing import GivenLabel, StepSubmission
from db.designing.making import create_study
from db.engine import Database
from tests.exports.formats.places import Place
from tests.exports.results.test_evidence_pages import long_question
from tests.makers import make_member, make_person, tiny_protocol

COMPARED = tiny_protocol(
    name="compared",
    criteria=[
        *evidence_pages.criteria,
        Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")]),
    ],
    steps=[
        Step(
            name="pages",
            title="Pages",
            shows=[Material.QUESTION, Material.HOPS, Material.DOCUMENTS],
            criteria=["evidence_page"],
        ),
        Step(name="compare", title="Compare", shows=[Material.PAGE_LABELS], criteria=["right"]),
    ],
)


def test_they_come_with_the_step_that_shows_them(database: Database, tmp_path: Path) -> None:
    place = Place(database, tmp_path / "home")
    place.take(long_question(tmp_path / "in", bytes_too=False))
    ada = make_person(database, "ada")
    make_member(database, place.project, ada, "annotator")
    design = StudyDesign(name="study", annotators=("ada",), overlap=1, order="given")
    study = create_study(database, place.actor, place.project, protocol=COMPARED, design=design).study_id
    everything = work(database, ada, study)
    (item,) = everything["items"]
    assert "page_labels" not in item
    assert "gold" not in json.dumps(everything["items"])
    labels = tuple(GivenLabel("evidence_page", target, "not_evidence") for target in item["units"]["evidence_page"])
    step = StepSubmission("u1", item["assignment"], item["sitting"], 0, labels, seconds=2.0)
    after = submit(database, ada, study, step=step).item
    assert after is not None
    page = "page:ferrand.pdf:{}|hop:{}".format
    assert after["page_labels"] == [
        page(9, "h1"), page(10, "h1"), page(14, "h2"), page(30, "h3"), page(41, "h3"),
    ]  # fmt: skip
    assert "evidence" not in after
    assert "SECRET" not in json.dumps(after)
