"""The reviser's queue and desk: who gets which item, why it is there, and that nobody works on one unknowingly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event
from sqlmodel import select

from annotators.errors import Conflict, NotAllowed, NotFound
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.engine import Database
from db.models import RevisionLease, Study, StudyState
from db.people.accounts import set_member
from db.permissions import Actor, Role
from db.quality.omissions import leave_out, restore
from db.releasing.endings import end_item
from db.releasing.recheck import send_to_recheck
from db.releasing.revising import (
    LEASE,
    count_to_revise,
    item_to_revise,
    leave_to_others,
    plan_written,
    revise_written,
    revision_queue,
    take_to_revise,
)
from db.releasing.states import State
from db.studies.revisions import revise_item
from tests.db.releasing.test_states import decide, label, two_by
from tests.makers import StudyInUse, make_member, make_person, read_guidelines


def reviser(study: StudyInUse, name: str) -> Actor:
    actor = make_person(study.db, name)
    make_member(study.db, study.project_id, actor, "researcher")
    return actor


def join(study: StudyInUse, *actors: Actor) -> None:
    """These annotate in the study as well."""
    change = StudyChange(add=tuple(actor.name for actor in actors))
    amend_study(study.db, study.researcher, study.study_id, change=change, reason="fresh eyes")
    study.annotators += actors
    read_guidelines(study.db, study.study_id)


def queue(study: StudyInUse, actor: Actor) -> list[str]:
    found = revision_queue(study.db, actor, study.project_id)
    assert count_to_revise(study.db, actor, study.project_id) == len(found.waiting)
    return [row.item for row in found.waiting]


def test_what_fails_waits_until_it_is_revised_or_ended_and_waits_again_when_it_fails_again(database: Database) -> None:
    study = two_by(database, 6)
    label(study, "nn", "yy", "ny", "nn", "nn", "nn")
    about = (database, study.researcher, study.project_id)
    assert queue(study, study.researcher) == ["i00001", "i00004", "i00005", "i00006"]
    waiting = revision_queue(*about).waiting
    assert all(": " in fails for row in waiting for fails in row.fails)  # the label that fails, beside its criterion
    decide(study, "i00003", "no")
    revise_item(*about, external_id="i00001", fields={"answer": "Better."}, reason="wrong")
    revise_item(*about, external_id="i00004", fields={"category": "a"}, reason="sorted")
    end_item(*about, external_id="i00005", state="rejected", reason="no")
    # What fails still, as its label stands, is still there; what fell waits for a recheck.
    assert queue(study, study.researcher) == ["i00003", "i00004", "i00006"]
    fresh = [make_person(database, name) for name in ("carl", "cora")]
    for actor in fresh:
        make_member(database, study.project_id, actor, "annotator")
    join(study, *fresh)
    send_to_recheck(database, study.researcher, study.study_id, items=["i00001"], reason="again")
    for person in (2, 3):
        study.submit(person, study.work(person)["items"][0], {"right": "no"})
    assert queue(study, study.researcher) == ["i00001", "i00003", "i00004", "i00006"]
    end_item(*about, external_id="i00003", state="withdrawn", reason="no")
    assert queue(study, study.researcher) == ["i00001", "i00004", "i00006"]


def test_what_waits_is_worked_out_when_something_has_changed_and_kept_until_then(database: Database) -> None:
    study = two_by(database, 4)
    about = (database, study.researcher, study.project_id)
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    def is_worked_out() -> bool:
        """Whether a look works out which items wait, beside looking whether something has changed."""
        asked.clear()
        event.listen(database.engine, "before_cursor_execute", note)
        try:
            n = count_to_revise(*about)
        finally:
            event.remove(database.engine, "before_cursor_execute", note)
        worked_out = any("GROUP BY v.item_id" in statement for statement in asked)
        assert n == len(revision_queue(*about).waiting)
        return worked_out

    label(study, "nn", "nn", "ny", "yy")
    assert is_worked_out() and not is_worked_out() and not is_worked_out()
    name = study.annotators[0].name
    of_study = (database, study.researcher, study.study_id)
    began = study_began(study)
    for act in (
        lambda: decide(study, "i00003", "no"),
        lambda: end_item(*about, external_id="i00001", state="rejected", reason="no"),
        lambda: revise_item(*about, external_id="i00002", fields={"answer": "Better."}, reason="wrong"),
        lambda: leave_out(*of_study, annotator=name, since=began, reason="careless"),
        lambda: restore(*of_study, annotator=name, reason="they were right"),
        lambda: set_state(*of_study, state=StudyState.CLOSED, reason="enough"),
    ):
        act()
        assert is_worked_out() and not is_worked_out()


def study_began(study: StudyInUse) -> datetime:
    with study.db.read() as session:
        return session.get_one(Study, study.study_id).created_at


def test_who_judged_or_revised_is_not_offered_what_a_study_keeps_from_them(database: Database) -> None:
    study = two_by(database, 3, separate_revisers=True)
    label(study, "nn", "nn", "ny")
    decide(study, "i00003", "no")
    other = reviser(study, "rita")
    for person in (0, 1):
        name = study.annotators[person].name
        set_member(database, study.researcher, study.project_id, name=name, role=Role.RESEARCHER)
    assert queue(study, study.annotators[0]) == []
    assert queue(study, study.researcher) == ["i00001", "i00002"]  # they decided the third
    assert queue(study, other) == ["i00001", "i00002", "i00003"]
    revise_item(database, other, study.project_id, external_id="i00001", fields={"category": "a"}, reason="sorted")
    assert queue(study, other) == ["i00002", "i00003"]
    judged = item_to_revise(database, study.annotators[0], study.project_id, external_id="i00001")
    assert "judged it" in (judged.why_not or "")
    with pytest.raises(NotAllowed, match="judged it"):
        plan_written(database, study.annotators[0], study.project_id, external_id="i00001", given={"answer": "Mine."})


def test_an_item_says_why_it_is_there_and_what_saving_does(database: Database) -> None:
    study = two_by(database, 2)
    label(study, "nn", "ny")
    decide(study, "i00002", "no")
    about = (database, study.researcher, study.project_id)
    found = item_to_revise(*about, external_id="i00002")
    assert (found.version, found.state, found.why_not, found.roles) == (
        1, "in_revision", None, ("gold", "retrieved", "distractor"),
    )  # fmt: skip
    [why] = found.studies
    [unit] = why.failing
    assert (unit.title, unit.final, unit.decided) == ("Right", "no", "so it is")
    assert sorted(unit.votes) == [("no", 1, True), ("yes", 1, False)]
    assert (why.fresh, why.team, why.titles) == (0, 2, {"right": "Right", "clear": "Clear"})
    assert (found.protocol or {})["title"] == why.protocol

    plan = plan_written(*about, external_id="i00002", given={"answer": "Better."})
    assert plan is not None
    assert [(effect.falls, effect.stays, effect.annotations) for effect in plan.effects] == [(["right"], ["clear"], 2)]
    assert plan_written(*about, external_id="i00002", given={"answer": found.written["answer"]}) is None
    done = revise_written(
        *about, external_id="i00002", given={"answer": "Better."}, reason="as decided", from_version=1
    )
    assert (done.version, done.after.answer) == (2, "Better.")
    with pytest.raises(Conflict, match="version 2, and you began from version 1"):
        revise_written(*about, external_id="i00002", given={"answer": "Best."}, reason="as decided", from_version=1)
    with pytest.raises(NotFound):
        item_to_revise(*about, external_id="i00009")


def test_labels_of_an_item_that_the_reviser_is_to_judge_are_not_told(database: Database) -> None:
    study = two_by(database, 1)
    label(study, "nn")
    late = reviser(study, "rita")
    join(study, late)
    found = item_to_revise(database, late, study.project_id, external_id="i00001")
    assert [(why.hidden, why.failing, why.remarks) for why in found.studies] == [(True, [], [])]


def test_two_revisers_never_have_one_item_unknowingly(database: Database) -> None:
    study = two_by(database, 2)
    label(study, "nn", "nn")
    rita, ruth = reviser(study, "rita"), reviser(study, "ruth")
    [first, second] = [row.item_id for row in revision_queue(database, rita, study.project_id).waiting]
    mine = take_to_revise(database, rita, study.project_id, item_id=first)
    refused = take_to_revise(database, ruth, study.project_id, item_id=first)
    assert (mine.mine, refused.mine, refused.by, refused.until) == (True, False, "rita", mine.until)
    held = revision_queue(database, ruth, study.project_id).held
    assert [(lease.item_id, lease.by) for lease in held] == [(first, "rita")]
    assert [count_to_revise(database, actor, study.project_id) for actor in (rita, ruth)] == [2, 1]
    assert revision_queue(database, rita, study.project_id).held == []
    leave_to_others(database, ruth, study.project_id, item_id=first)  # of another's lease nothing changes
    assert not take_to_revise(database, ruth, study.project_id, item_id=first).mine
    with study.db.write() as session:
        for row in session.exec(select(RevisionLease)):
            row.lease_until -= LEASE + timedelta(seconds=1)
            session.add(row)
    assert take_to_revise(database, ruth, study.project_id, item_id=first).mine
    leave_to_others(database, ruth, study.project_id, item_id=first)
    with pytest.raises(NotFound):
        take_to_revise(database, ruth, study.project_id, item_id=999)
    taken = take_to_revise(database, ruth, study.project_id, item_id=second)
    assert (taken.mine, taken.state) == (True, State.IN_REVISION)
    about = (database, ruth, study.project_id)
    revise_written(*about, external_id="i00002", given={"answer": "Better."}, reason="it was bad", from_version=1)
    late = take_to_revise(database, rita, study.project_id, item_id=second)  # as who fetched it ahead
    assert (late.mine, late.state) == (True, State.IN_RECHECK)


def test_of_many_who_take_an_item_at_once_one_has_it(database: Database) -> None:
    study = two_by(database, 1)
    label(study, "nn")
    people = [reviser(study, f"r{n}") for n in range(6)]
    [row] = revision_queue(database, people[0], study.project_id).waiting
    with ThreadPoolExecutor(6) as pool:
        leases = list(
            pool.map(lambda actor: take_to_revise(database, actor, study.project_id, item_id=row.item_id), people)
        )
    assert sum(lease.mine for lease in leases) == 1
    assert len({lease.by for lease in leases}) == 1
