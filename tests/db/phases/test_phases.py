"""Consent, and questions before and after the items: in their order, once each, apart from labels."""

from __future__ import annotations

import csv
import uuid
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.designing.files import design_from_yaml, design_to_yaml
from annotators.designing.phases import Phases, phases_of
from annotators.errors import Conflict, InvalidInput, NotFound
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.annotating.annotations import answer_phase, reopen, save_draft
from db.annotating.assignments import skip
from db.annotating.guidelines import guidelines_read
from db.annotating.status import study_status
from db.designing.written import written_design
from db.engine import Database
from db.inviting.invitations import InvitationTerms, invite
from db.inviting.joining import how_far, join, leave
from db.models import Event, PhaseAnswer, Study, StudyMember, StudyState
from db.people.sign_in import session_actor
from db.upkeep.maintenance import redact_text
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from tests.db.quality.test_qualification import qualify, try_with
from tests.db.studies.recount import recount
from tests.makers import StudyInUse

PHASES = Phases.model_validate(
    {
        "consent": "# You take part\n\nWhat you say is kept.",
        "before": [
            {"name": "years", "title": "Years of work", "kind": "number", "maximum": 60},
            {"name": "why", "title": "Why?", "kind": "text", "required": False},
        ],
        "after": [{"name": "hard", "title": "It was hard", "kind": "grade",
                   "labels": [{"value": 1}, {"value": 2}, {"value": 3}]}],
    }
)  # fmt: skip


def study_with(db: Database, phases: Phases = PHASES, **changes: Any) -> StudyInUse:
    return StudyInUse(db, **{"items": 2, "annotators": 2, "overlap": 1, "phases": phases, **changes})


def answer(study: StudyInUse, phase: str, answers: dict[str, Any], who: int = 0, uid: str = "") -> dict[str, Any]:
    given: dict[str, Any] = answer_phase(
        study.db, study.annotators[who], study.study_id, uid=uid or uuid.uuid4().hex, phase=phase, answers=answers
    )
    return given


def phase_of(study: StudyInUse, who: int = 0) -> str | None:
    phase = study.work(who)["phase"]
    return None if phase is None else str(phase["phase"])


def begin(study: StudyInUse, who: int = 0) -> None:
    answer(study, "consent", {"consent": "agreed"}, who)
    answer(study, "before", {"years": 3}, who)


def told(study: StudyInUse) -> list[str]:
    return [row["phase"] for row in study_status(study.db, study.researcher, study.study_id)["annotators"]]


def test_phases_come_in_their_order_and_items_only_between_them(database: Database) -> None:
    study = study_with(database, annotators=1)
    first = study.work(0)
    assert (first["items"], first["finished"], first["halted"]) == ([], False, None)
    assert first["phase"] == {"phase": "consent", "text": PHASES.consent}
    with pytest.raises(Conflict, match="'consent' comes first"):
        answer(study, "before", {"years": 3})
    with pytest.raises(Conflict, match="consent of this study comes first"):
        guidelines_read(database, study.annotators[0], study.study_id, protocol_hash=study.made.protocol_hash)
    after = answer(study, "consent", {"consent": "agreed"})
    assert (after["status"], after["items"], after["phase"]["phase"]) == ("done", [], "before")
    assert [asked["name"] for asked in after["phase"]["protocol"]["criteria"]] == ["years", "why"]
    guidelines_read(database, study.annotators[0], study.study_id, protocol_hash=study.made.protocol_hash)
    with pytest.raises(Conflict, match="'before' comes first"):
        answer(study, "after", {"hard": 1})
    after = answer(study, "before", {"years": 3, "why": " To help. "})
    assert after["phase"] is None and len(after["items"]) > 0
    with pytest.raises(Conflict, match="opens once your last item"):
        answer(study, "after", {"hard": 1})
    assert told(study) == ["items"]
    study.label_all(0)
    last = study.work(0)
    assert (last["phase"]["phase"], last["finished"], told(study)) == ("after", False, ["after"])
    done = answer(study, "after", {"hard": 2})
    assert (done["phase"], done["finished"], told(study)) == (None, True, ["done"])
    with database.read() as session:
        rows = session.exec(select(PhaseAnswer).order_by(PhaseAnswer.id)).all()  # type: ignore[arg-type]
        assert [row.answers for row in rows] == [
            [{"question": "consent", "value": "agreed"}],
            [{"question": "years", "value": 3}, {"question": "why", "value": "To help."}],
            [{"question": "hard", "value": 2}],
        ]
        events = session.exec(select(Event).where(Event.kind == "phase answered")).all()
        assert [event.details for event in events] == [
            {"phase": "consent", "answer": "agreed"}, {"phase": "before"}, {"phase": "after"},
        ]  # fmt: skip


def test_every_way_to_an_item_is_closed_until_its_phase(database: Database) -> None:
    study, other = study_with(database), StudyInUse(database, items=1, annotators=1, overlap=1)
    item, actor = other.work(0)["items"][0], study.annotators[0]
    place = {"assignment_id": item["assignment"]}
    for phase in ("consent", "before"):
        with pytest.raises(Conflict, match=f"phase '{phase}'"):
            study.submit(0, item, {"right": "yes"})
        with pytest.raises(Conflict, match=f"phase '{phase}'"):
            save_draft(database, actor, study.study_id, **place, sitting=1, step=0, content={})
        with pytest.raises(Conflict, match=f"phase '{phase}'"):
            skip(database, actor, study.study_id, **place, reason="no")
        with pytest.raises(Conflict, match=f"phase '{phase}'"):
            reopen(database, actor, study.study_id, **place)
        answer(study, phase, {"consent": "agreed"} if phase == "consent" else {"years": 1})
    assert phase_of(study) is None


def test_who_declines_is_not_asked_again_and_holds_nothing(database: Database) -> None:
    study = study_with(database)
    done = answer(study, "consent", {"consent": "declined"})
    assert (done["items"], done["phase"], done["finished"]) == ([], None, False)
    assert "You declined to take part" in done["halted"]
    assert study.work(0)["halted"] == done["halted"]
    assert told(study) == ["declined", "consent"]
    with pytest.raises(Conflict, match="You declined"):
        answer(study, "consent", {"consent": "agreed"})
    change = StudyChange(add=(study.annotators[0].name,))
    with pytest.raises(Conflict, match="declined to take part, and is not asked again"):
        amend_study(database, study.researcher, study.study_id, change=change, reason="to try")
    begin(study, 1)
    assert study.label_all(1) == 2
    with database.read() as session:
        recount(session, study.study_id)


def test_the_same_answer_twice_is_stored_once_and_another_is_refused(database: Database) -> None:
    study = study_with(database)
    answer(study, "consent", {"consent": "agreed"}, uid="once")
    assert answer(study, "consent", {"consent": "agreed"}, uid="once")["status"] == "duplicate"
    with pytest.raises(Conflict, match="used for something else"):
        answer(study, "before", {"years": 1}, uid="once")
    with pytest.raises(Conflict, match="answered already"):
        answer(study, "consent", {"consent": "declined"})
    with database.read() as session:
        assert len(session.exec(select(PhaseAnswer)).all()) == 1


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, "'Years of work' has no answer"),
        ({"years": 99}, "'Years of work'"),
        ({"years": 3, "age": 4}, "There is no question 'age'"),
        ({"years": 3, "why": "a\x00b"}, "cannot be stored"),
    ],
)
def test_answers_that_do_not_fit_are_refused_with_the_question(
    database: Database, answers: dict[str, Any], said: str
) -> None:
    study = study_with(database)
    answer(study, "consent", {"consent": "agreed"})
    with pytest.raises(InvalidInput, match=said):
        answer(study, "before", answers)
    with pytest.raises(InvalidInput, match="'between' is no phase"):
        answer(study, "between", {})
    assert phase_of(study) == "before"


def test_a_paused_study_asks_nothing_and_the_qualification_follows_the_questions(database: Database) -> None:
    study = study_with(database, annotators=1)
    qualify(study, 1, mark=1.0)
    set_state(database, study.researcher, study.study_id, state=StudyState.PAUSED, reason="Lunch.")
    assert (study.work(0)["phase"], study.work(0)["halted"]) == (None, "It is paused: Lunch.")
    with pytest.raises(Conflict, match="paused"):
        answer(study, "consent", {"consent": "agreed"})
    set_state(database, study.researcher, study.study_id, state=StudyState.RUNNING, reason="Back.")
    begin(study)
    assert "qualifying" in study.work(0)["items"][0] and told(study) == ["qualification"]
    try_with(study, "yes")
    assert "qualifying" not in study.work(0)["items"][0] and told(study) == ["items"]


def test_who_did_nothing_is_not_asked_afterwards(database: Database) -> None:
    study = study_with(database)
    begin(study, 0)
    begin(study, 1)
    study.label_all(0)
    assert (phase_of(study, 0), phase_of(study, 1)) == ("after", None)
    assert study.work(1)["finished"]


def test_somebody_from_outside_ends_once_they_have_answered_or_declined(database: Database) -> None:
    study = study_with(database, annotators=0, outside=2)
    terms = InvitationTerms(uses=2, code="DONE", code_else="ELSE", quota=1)
    token = invite(database, study.researcher, study.study_id, terms=terms)
    for _ in range(2):
        actor = session_actor(database, join(database, token)[0])
        assert actor is not None
        study.annotators.append(actor)
    first, second = study.annotators
    assert how_far(database, first, study.study_id).outcome is None
    answer(study, "consent", {"consent": "declined"})
    ended = how_far(database, first, study.study_id)
    assert leave(database, first, study.study_id) == ended
    assert (ended.outcome, ended.code) == ("declined", "ELSE")
    begin(study, 1)
    study.submit(1, study.work(1)["items"][0], {"right": "yes"})
    assert phase_of(study, 1) == "after"
    assert not how_far(database, second, study.study_id).complete
    answer(study, "after", {"hard": 3}, who=1)
    assert how_far(database, second, study.study_id).complete
    ended = leave(database, second, study.study_id)
    assert (ended.outcome, ended.code) == ("done", "DONE")


def test_phases_are_in_the_design_and_frozen_with_the_study(database: Database) -> None:
    study = study_with(database)
    design = written_design(database, study.researcher, study.study_id).design
    assert design.phases == PHASES
    said = design_to_yaml(StudyDesign(protocol="factuality", annotators=("ada",), overlap=1, phases=PHASES))
    assert design_from_yaml(said).design.phases == PHASES
    with database.read() as session:
        assert phases_of(session.get_one(Study, study.study_id).settings) == PHASES


def test_answers_are_no_labels_and_leave_only_when_asked_for(database: Database, tmp_path: Path) -> None:
    study = study_with(database, items=6)
    for who in (0, 1):
        begin(study, who)
    study.submit(1, study.work(1)["items"][0], {"right": "yes"})
    export_project(database, study.researcher, study.project_id, to=tmp_path / "usual", study_id=study.study_id)
    assert not list((tmp_path / "usual").rglob("questionnaires.csv"))
    asked, formats = tmp_path / "asked", ("labels", "questionnaires")
    manifest = export_project(
        database, study.researcher, study.project_id, to=asked, study_id=study.study_id, formats=formats, names=True
    )
    assert manifest.counts == {"labels": 1, "questionnaires": 4}
    rows = list(csv.DictReader((asked / "questionnaires.csv").open()))
    assert [(row["annotator"], row["phase"], row["question"], row["answer"]) for row in rows] == [
        ("P1", "consent", "consent", "agreed"), ("P1", "before", "years", "3"),
        ("A1", "consent", "consent", "agreed"), ("A1", "before", "years", "3"),
    ]  # fmt: skip
    study.label_all(1)
    study.label_all(0)
    answer(study, "after", {"hard": 1}, who=1)
    report = verify_against(database, study.researcher, asked)
    assert report.ok, report


def test_words_of_an_answer_can_be_redacted(database: Database) -> None:
    study = study_with(database)
    answer(study, "consent", {"consent": "agreed"})
    answer(study, "before", {"years": 3, "why": "Ask Jane Roe."})
    assert redact_text(database, study.researcher, study.study_id, containing="Jane Roe", reason="a name").texts == 1
    with database.read() as session:
        stored = session.exec(select(PhaseAnswer).where(PhaseAnswer.phase == "before")).one()
        assert stored.answers[1]["value"].startswith("[redacted, SHA-256 ")
        assert session.exec(select(StudyMember)).all()
    with pytest.raises(NotFound):
        redact_text(database, study.researcher, study.study_id, containing="Jane Roe", reason="a name")


def test_only_an_annotator_of_the_study_answers_and_one_without_phases_has_none(database: Database) -> None:
    study, plain = study_with(database), StudyInUse(database, items=1, annotators=1, overlap=1)
    assert plain.work(0)["phase"] is None
    with pytest.raises(Conflict, match="has no phase 'consent'"):
        answer(plain, "consent", {"consent": "agreed"})
    with pytest.raises(NotFound):
        answer_phase(
            database, plain.annotators[0], study.study_id, uid="u", phase="consent", answers={"consent": "agreed"}
        )


def test_what_was_allotted_to_who_declines_goes_to_the_others(database: Database) -> None:
    study = study_with(database, items=6, queue="balanced")
    answer(study, "consent", {"consent": "declined"})
    begin(study, 1)
    assert study.label_all(1) == 6
