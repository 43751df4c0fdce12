"""What models propose: before, after or never, on the wire, in what is stored as shown, and from every source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from annotators.protocols.evidence_pages import evidence_pages
from db.annotating.annotations import reopen, submit, work
from db.annotating.committing import GivenLabel, StepSubmission
from db.annotating.previews import preview
from db.designing.making import create_study, plan_study
from db.engine import Database
from db.models import Annotation, StoredLabel, Submission
from db.permissions import Actor
from db.scores.write import run_scorer
from db.studies.design import study_facts
from tests.app.cli.command_line import write_items
from tests.exports.formats.places import Place
from tests.exports.results.test_evidence_pages import LONG, long_question
from tests.makers import make_item, make_member, make_person, make_project, tiny_protocol

YES_NO = [Label(value="yes"), Label(value="no")]


class Asked:
    """A project with a study of one annotator, and what the wire has carried."""

    def __init__(
        self, db: Database, project_id: int, admin: Actor, protocol: Protocol, when: str | None, *, name: str = "study"
    ) -> None:
        self.db, self.admin = db, admin
        self.ada = make_person(db)
        make_member(db, project_id, self.ada, "annotator")
        design = StudyDesign(name=name, annotators=(self.ada.name,), overlap=1, order="given", suggestions=when)
        self.study = create_study(db, admin, project_id, protocol=protocol, design=design).study_id
        self.wire = ""

    def item(self) -> dict[str, Any]:
        everything = work(self.db, self.ada, self.study)
        self.wire += json.dumps(everything["items"])
        return dict(everything["items"][0])

    def give(self, item: dict[str, Any], value: Any) -> dict[str, Any] | None:
        """Give every unit of the step this label; what comes of the same item next."""
        labels = tuple(
            GivenLabel(criterion, target, value(criterion, target) if callable(value) else value)
            for criterion, targets in item["units"].items()
            for target in targets
        )
        at = (item["assignment"], item["sitting"], item["step"])
        step = StepSubmission("-".join(map(str, at)), *at, labels, seconds=2.0)
        answer = submit(self.db, self.ada, self.study, step=step)
        self.wire += json.dumps([answer.item, answer.items])
        return answer.item

    def shown(self) -> list[list[Any]]:
        with self.db.read() as session:
            return list(session.exec(select(Submission.shown).order_by(col(Submission.id))).all())


def of_pages(db: Database, folder: Path, when: str | None, protocol: Protocol = evidence_pages) -> Asked:
    place = Place(db, folder / "home")
    place.take(long_question(folder / "in", bytes_too=False))
    return Asked(db, place.project, place.actor, protocol, when)


def values(item: dict[str, Any]) -> dict[str, Any]:
    """Target → the label that is suggested."""
    return {row["target"]: row["value"] for row in item["suggestions"]}


def test_before_they_come_with_what_is_asked_and_stand_in_what_was_shown(database: Database, tmp_path: Path) -> None:
    asked = of_pages(database, tmp_path, "before")
    item = asked.item()
    suggested = values(item)
    assert set(suggested) == set(item["units"]["evidence_page"])
    evidence = [f"page:ferrand.pdf:{page}|hop:{hop}" for hop, pages in LONG.items() for page in pages]
    assert sorted(target for target, value in suggested.items() if value == "evidence") == sorted(evidence)
    assert {row["source"] for row in item["suggestions"]} == {"page_labels"}
    assert "suggestions" in item["shown"]
    assert "evidence" not in item
    assert "SECRET" not in asked.wire
    assert item["previous"] == [], "nothing is given until it is confirmed"
    assert asked.give(item, "not_evidence") is None
    assert asked.shown() == [["documents", "hops", "question", "suggestions"]]
    assert study_facts(database, asked.admin, asked.study).settings["suggestions"] == "before"


def showing() -> Protocol:
    """Evidence pages, with suggestions among what its step shows."""
    [step] = evidence_pages.steps
    return evidence_pages.model_copy(
        update={"steps": [step.model_copy(update={"shows": [*step.shows, Material.SUGGESTIONS]})]}
    )


@pytest.mark.parametrize(("when", "comes"), [(None, True), ("before", True), ("after", False), ("never", False)])
def test_a_protocol_that_shows_them_shows_them_before_unless_the_study_says_otherwise(
    sqlite_database: Database, tmp_path: Path, when: str | None, comes: bool
) -> None:
    asked = of_pages(sqlite_database, tmp_path, when, showing())
    item = asked.item()
    assert ("suggestions" in item) is comes
    assert ("suggest" in asked.wire) is comes
    project = study_facts(sqlite_database, asked.admin, asked.study).project_id
    plain = Asked(sqlite_database, project, asked.admin, evidence_pages, None, name="plain")
    for name in ("units", "documents", "question", "hops"):
        assert plain.item()[name] == item[name]


def test_never_puts_nothing_on_the_wire_and_says_so_in_what_was_shown(
    sqlite_database: Database, tmp_path: Path
) -> None:
    never = of_pages(sqlite_database, tmp_path, "never", showing())
    assert never.give(never.item(), "not_evidence") is None
    reopened = reopen(sqlite_database, never.ada, never.study)
    assert "suggest" not in never.wire + json.dumps(reopened)
    assert never.shown() == [["documents", "hops", "question"]]
    assert "suggestions" not in study_facts(sqlite_database, never.admin, never.study).settings


def test_after_ones_own_labels_they_are_shown_once_and_both_are_kept(database: Database, tmp_path: Path) -> None:
    asked = of_pages(database, tmp_path, "after")
    item = asked.item()
    assert "suggest" not in asked.wire
    again = asked.give(item, "not_evidence")
    assert again is not None
    assert (again["assignment"], again["sitting"], again["step"]) == (item["assignment"], 2, 0)
    assert {label["value"] for label in again["previous"]} == {"not_evidence"}
    suggested = values(again)
    assert list(suggested.values()).count("evidence") == 5
    assert asked.give(again, lambda _, target: suggested[target]) is None, "they are shown once"
    assert asked.shown() == [
        ["documents", "hops", "question"],
        ["documents", "hops", "question", "suggestions"],
    ]
    with database.read() as session:
        first, second = session.exec(select(Annotation).order_by(col(Annotation.id))).all()
        labels = session.exec(select(StoredLabel)).all()
    assert second.supersedes_id == first.id
    assert [sum(label.value == "evidence" for label in labels if label.sitting == sitting) for sitting in (1, 2)] == [
        0,
        5,
    ]
    assert work(database, asked.ada, asked.study)["finished"]
    assert "suggestions" in reopen(database, asked.ada, asked.study)


def test_they_do_not_come_in_a_step_before_that_of_the_protocol(sqlite_database: Database, tmp_path: Path) -> None:
    [pages] = evidence_pages.criteria
    shown = [Material.QUESTION, Material.HOPS, Material.DOCUMENTS]
    explicit = {"name": "again", "derived": [], "positive": "evidence", "suggested_by": "page_labels"}
    protocol = tiny_protocol(
        name="two_steps",
        criteria=[pages, pages.model_copy(update=explicit)],
        steps=[
            Step(name="alone", title="Alone", shows=shown, criteria=["evidence_page"]),
            Step(name="shown", title="Shown", shows=[Material.SUGGESTIONS], criteria=["again"]),
        ],
    )
    asked = of_pages(sqlite_database, tmp_path, None, protocol)
    item = asked.item()
    assert "suggest" not in asked.wire
    after = asked.give(item, "not_evidence")
    assert after is not None
    assert {row["criterion"] for row in after["suggestions"]} == {"again"}
    assert [sorted(set(shown) & {"suggestions"}) for shown in asked.shown()] == [[]]


def imported(db: Database, folder: Path, **row: Any) -> Place:
    """A project with one item."""
    place = Place(db, folder / "home")
    place.take(write_items(folder / "in", {"id": "one", "question": "What failed?", "question_key": "q", **row}))
    return place


def test_used_flags_are_suggestions_under_neutral_names(sqlite_database: Database, tmp_path: Path) -> None:
    units = [
        {"key": "gold-1", "kind": "passage", "text": "One.", "role": "gold", "used": True},
        {"key": "dis-2", "kind": "passage", "text": "Two.", "role": "distractor", "used": False},
        {"key": "ret-3", "kind": "passage", "text": "Three.", "role": "retrieved"},
    ]
    place = imported(sqlite_database, tmp_path, answer="The pump failed at six.", evidence=units)
    asked = Asked(sqlite_database, place.project, place.actor, PROTOCOLS.get("grounding"), "before")
    item = asked.item()
    texts = {f"evidence:{unit['key']}": unit["text"] for unit in item["evidence"]}
    found = {texts[target]: value for target, value in values(item).items()}
    assert found == {"One.": "required", "Two.": "not_required"}
    for hidden in ("gold", "distractor", "dis-2", '"used":'):
        assert hidden not in asked.wire


def test_a_judges_verdicts_are_suggested_and_peoples_are_not(sqlite_database: Database, tmp_path: Path) -> None:
    said = (("c1", "entailment", "judge"), ("c2", "contradiction", "people"))
    place = imported(
        sqlite_database,
        tmp_path,
        answer="It failed. It was mended.",
        references=["It failed."],
        claims=[{"key": "c1", "text": "It failed."}, {"key": "c2", "text": "It was mended."}],
        metadata={
            "verdicts": [
                {"claim": claim, "against": "reference", "label": label, "source": source}
                for claim, label, source in said
            ]
        },
    )
    protocol = PROTOCOLS.get("claim_correctness")
    item = Asked(sqlite_database, place.project, place.actor, protocol, "before").item()
    assert values(item) == {"claim:C1|reference": "entailment"}
    steps = preview(sqlite_database, place.actor, place.project, protocol=protocol, external_id="one")
    assert "suggest" not in str(steps)


def test_a_scorers_verdict_is_frozen_with_the_study(sqlite_database: Database) -> None:
    db, admin = sqlite_database, make_person(sqlite_database, admin=True)
    project = make_project(db)
    for answer in ("copper", "tin"):
        make_item(db, project, answer=answer, references=[["copper"]])
    protocol = tiny_protocol(
        name="found",
        criteria=[
            Choice(name="right", title="Right", labels=YES_NO, positive="yes", suggested_by="correctness"),
            Choice(name="nice", title="Nice", labels=YES_NO),
        ],
        steps=[
            Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["right", "nice"]),
        ],
    )
    with pytest.raises(InvalidInput, match="suggested by the score 'correctness', which the project does not have"):
        Asked(db, project, admin, protocol, "before")
    run_scorer(db, admin, project, scorer="phrase_recall")
    asked = Asked(db, project, admin, protocol, "before")
    first, second = (item for item in work(db, asked.ada, asked.study)["items"])
    assert {item["answer"]: values(item) for item in (first, second)} == {
        "copper": {"item": "yes"},
        "tin": {"item": "no"},
    }
    assert "scores" not in first
    assert "phrase_recall" not in json.dumps([first, second])


def test_the_plan_counts_the_items_for_which_nothing_is_suggested(sqlite_database: Database, tmp_path: Path) -> None:
    asked = of_pages(sqlite_database, tmp_path, "before")
    project = study_facts(sqlite_database, asked.admin, asked.study).project_id
    design = StudyDesign(name="next", annotators=(asked.ada.name,), overlap=1, suggestions="after")

    def notes(when: str = "after") -> list[str]:
        wanted = design.model_copy(update={"suggestions": when})
        plan = plan_study(sqlite_database, asked.admin, project, protocol=evidence_pages, design=wanted)
        return [note for note in plan.notes if "suggest" in note]

    assert notes() == []
    make_item(sqlite_database, project, external_id="bare", n_evidence=1, roles=("distractor",))
    [note] = notes()
    assert note.startswith("1 item has nothing that is suggested (")
    assert "bare" in note
    assert notes("never") == []


def test_of_scores_the_plan_counts_the_items_without_a_value(sqlite_database: Database) -> None:
    db, admin = sqlite_database, make_person(sqlite_database, admin=True)
    project = make_project(db)
    make_item(db, project, answer="copper", references=[["copper"]])
    criterion = Choice(name="right", title="Right", labels=YES_NO, positive="yes", suggested_by="correctness")
    protocol = tiny_protocol(
        name="found",
        criteria=[criterion],
        steps=[Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["right"])],
    )
    run_scorer(db, admin, project, scorer="phrase_recall")
    make_item(db, project, answer="tin", references=[["tin"]])
    design = StudyDesign(name="study", annotators=(admin.name,), overlap=1, suggestions="before")
    plan = plan_study(db, admin, project, protocol=protocol, design=design, people=False)
    assert any(note.startswith("1 item has nothing that is suggested") for note in plan.notes), plan.notes


@pytest.mark.parametrize(
    ("protocol", "when", "words"),
    [
        (PROTOCOLS.get("self_contained"), "before", "Nothing proposes labels for the protocol 'self_contained'"),
        (
            PROTOCOLS.get("ambiguity"),
            "later",
            "'later' says not when suggestions are shown. Known: before, after, never",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_in_the_plan_too(
    sqlite_database: Database, protocol: Protocol, when: str, words: str
) -> None:
    admin, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    make_item(sqlite_database, project)
    design = StudyDesign(name="study", annotators=(admin.name,), overlap=1, suggestions=when)
    for make in (plan_study, create_study):
        with pytest.raises(InvalidInput, match=words):
            make(sqlite_database, admin, project, protocol=protocol, design=design)
    fine = design.model_copy(update={"suggestions": "never"})
    assert plan_study(sqlite_database, admin, project, protocol=protocol, design=fine).n_items == 1


@pytest.mark.parametrize(
    ("target", "source", "words"),
    [
        (TargetKind.ITEM, "page_labels", "say nothing of the target item"),
        (TargetKind.EVIDENCE, "correctness", "scores are about items"),
    ],
)
def test_a_source_that_says_nothing_of_the_target_is_refused_with_the_remedy(
    target: TargetKind, source: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        tiny_protocol(
            criteria=[Choice(name="right", title="R", labels=YES_NO, target=target, suggested_by=source)],
            steps=[Step(name="all", title="A", shows=[Material.QUESTION, Material.EVIDENCE], criteria=["right"])],
        )
