"""What waits for a study's researcher: each kind is there from the moment it begins, and gone once it was ended."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event
from sqlmodel import select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from db.adjudicating.adjudications import adjudicate, disputes
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.annotating.assignments import return_to_annotator, skip
from db.annotating.status import study_status
from db.designing.making import create_study
from db.engine import Database
from db.inviting.invitations import InvitationTerms, invite
from db.models import Assignment, AssignmentState, Membership, Study, StudyMember, StudyState, now
from db.needs.base import Act, Need
from db.needs.of_studies import KINDS, my_needs, needs_of
from db.permissions import Actor
from db.quality.omissions import leave_out, restore
from db.quality.qualification import let_in
from db.releasing.recheck import send_to_recheck
from db.releasing.states import keep_failing
from db.studies.revisions import revise_item
from tests.conftest import ROOT
from tests.db.adjudicating.test_double import say
from tests.db.quality.test_qualification import qualify, try_with
from tests.makers import StudyInUse, make_item, make_member, make_person, tiny_protocol


def needs(study: StudyInUse) -> dict[str, Need]:
    """What waits for the researcher, by kind; Home is told the same."""
    found = needs_of(study.db, study.researcher, study.study_id)
    assert my_needs(study.db, study.researcher).get(study.study_id, []) == found
    return {need.kind: need for need in found}


def amend(study: StudyInUse, **change: Any) -> None:
    amend_study(study.db, study.researcher, study.study_id, change=StudyChange(**change), reason="as it is")


def names(study: StudyInUse, *who: int) -> tuple[str, ...]:
    return tuple(sorted(study.annotators[one].name for one in who))


def test_of_a_study_that_goes_on_nothing_waits(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    assert needs(study) == {}
    study.label_all(0)
    assert needs(study) == {}
    study.label_all(1)
    assert needs(study) == {}


def test_all_who_failed_are_named_and_so_are_the_items_that_nobody_is_left_for(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=3, overlap=3)
    qualify(study, n=2, tries=1)
    try_with(study, "no", "no", who=0)
    found = needs(study)
    assert set(found) == {"failed"}
    assert (found["failed"].n, found["failed"].people, found["failed"].act) == (1, names(study, 0), Act.LET_IN)
    for who in (1, 2):
        try_with(study, "no", "no", who=who)
    found = needs(study)
    assert set(found) == {"failed", "nobody"}
    assert found["failed"].people == names(study, 0, 1, 2)
    assert (found["nobody"].n, found["nobody"].act) == (2, Act.AMEND)
    assert study_status(database, study.researcher, study.study_id)["stuck"] == 2
    [first, *rest] = study.annotators
    let_in(database, study.researcher, study.study_id, annotator=first.name, reason="they asked")
    assert set(needs(study)) == {"failed"}, "one of them may annotate both items"
    study.label_all(0)
    assert needs(study)["nobody"].n == 2, "they have had both, and two more labels are wanted of each"
    for actor in rest:
        let_in(database, study.researcher, study.study_id, annotator=actor.name, reason="they asked")
    assert needs(study) == {}


def test_who_failed_and_was_taken_out_of_the_study_waits_no_more(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=2, overlap=1)
    qualify(study, n=1, tries=1)
    try_with(study, "no")
    assert set(needs(study)) == {"failed"}
    amend(study, remove=names(study, 0))
    assert needs(study) == {}


def test_who_is_paused_waits_until_they_are_let_go_on(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=1)
    with database.write() as session:
        member = session.get_one(StudyMember, (study.study_id, study.annotators[0].person_id))
        member.paused_at = now()
        session.add(member)
    found = needs(study)
    assert set(found) == {"paused"}
    assert (found["paused"].people, found["paused"].act) == (names(study, 0), Act.LET_GO_ON)
    amend(study, add=names(study, 0))
    assert needs(study) == {}


def test_whose_labels_are_left_out_waits_until_they_are_restored(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    study.label_all(0)
    [name] = names(study, 0)
    since = now() - timedelta(hours=1)
    leave_out(database, study.researcher, study.study_id, annotator=name, since=since, reason="at random")
    found = needs(study)
    assert set(found) == {"left_out"}
    assert (found["left_out"].people, found["left_out"].act) == ((name,), Act.RESTORE)
    study.label_all(1)
    assert set(needs(study)) == {"left_out", "nobody"}, "nobody else may give what was left out"
    restore(database, study.researcher, study.study_id, annotator=name, reason="the clock was wrong")
    assert needs(study) == {}


def test_what_is_allotted_to_who_gets_nothing_waits_until_it_is_handed_on(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=2, overlap=1, queue="balanced")
    assert study.work(0)["items"]
    with database.write() as session:
        member = session.get_one(StudyMember, (study.study_id, study.annotators[0].person_id))
        member.failed_at = now()
        session.add(member)
    found = needs(study)
    assert (found["allotted"].n, found["allotted"].people) == (2, names(study, 0)), "what is at hand is theirs, too"
    amend(study, hand_on=names(study, 0))
    assert set(needs(study)) == {"failed"}


def test_what_was_returned_to_who_left_waits(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    study.label_all(0)
    with database.read() as session:
        of = session.exec(select(Assignment.id).where(Assignment.state == AssignmentState.SUBMITTED)).one()
    amend(study, remove=names(study, 0))
    assert needs(study) == {}
    return_to_annotator(database, study.researcher, of or 0, reason="page 3 says otherwise")
    found = needs(study)
    assert (found["returned"].n, found["returned"].people) == (1, names(study, 0))
    amend(study, add=names(study, 0))
    assert needs(study) == {}


def test_what_everybody_skipped_or_has_no_quota_for_waits(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=1, overlap=1, quota=3)
    first = study.work(0)["items"][0]
    skip(database, study.annotators[0], study.study_id, assignment_id=first["assignment"], reason="unreadable")
    assert needs(study)["nobody"].n == 1
    amend(study, add=(_another(study),))
    assert needs(study) == {}
    assert [study.label_all(who) for who in (0, 1)] == [2, 1]
    assert needs(study) == {}, "all is labelled"


def test_what_those_who_are_left_have_no_quota_for_waits(database: Database) -> None:
    """The first two people take both slots of one item, the third has one of the other."""
    study = StudyInUse(database, items=2, annotators=3, overlap=2, quota=2)
    a, b, _ = (actor.name for actor in study.annotators)
    amend(study, quotas={a: 1, b: 1})
    for who in (0, 1, 2):
        study.label_all(who)
    assert needs(study)["nobody"].n == 1
    amend(study, quotas={a: 2})
    assert needs(study) == {}


def _give(study: StudyInUse, actor: Actor, role: str) -> None:
    """Another role than they have."""
    with study.db.write() as session:
        row = session.get_one(Membership, (study.project_id, actor.person_id))
        row.role = role
        session.add(row)


def _another(study: StudyInUse) -> str:
    actor = make_person(study.db)
    make_member(study.db, study.project_id, actor, "annotator")
    study.annotators.append(actor)
    return actor.name


def test_while_an_invitation_is_open_somebody_may_come(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=0, overlap=1, outside=2)
    found = needs(study)["nobody"]
    assert (found.n, found.act) == (1, Act.INVITE)
    invite(database, study.researcher, study.study_id, terms=InvitationTerms(uses=1))
    assert needs(study) == {}


def test_a_deadline_that_passed_and_a_pause_wait_as_long_as_labels_are_wanted(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    amend(study, deadline=now() + timedelta(days=1))
    assert needs(study) == {}
    _set_deadline(study)
    found = needs(study)
    assert set(found) == {"deadline"}
    assert (found["deadline"].n, found["deadline"].act) == (2, Act.AMEND)
    amend(study, no_deadline=True)
    set_state(database, study.researcher, study.study_id, state=StudyState.PAUSED, reason="new guidelines come")
    found = needs(study)
    assert set(found) == {"study_paused"}
    assert (found["study_paused"].n, found["study_paused"].act) == (2, Act.START)
    assert found["study_paused"].words.endswith("paused: new guidelines come")
    set_state(database, study.researcher, study.study_id, state=StudyState.RUNNING, reason="here they are")
    study.label_all(0)
    _set_deadline(study)
    assert needs(study) == {}, "nothing is wanted after it"


def _set_deadline(study: StudyInUse) -> None:
    with study.db.write() as session:
        row = session.get_one(Study, study.study_id)
        row.deadline, row.amended = now() - timedelta(minutes=1), row.amended + 1
        session.add(row)


def test_of_a_closed_study_nobody_waits(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    qualify(study, n=1, tries=1)
    try_with(study, "no")
    set_state(database, study.researcher, study.study_id, state=StudyState.CLOSED, reason="enough")
    assert needs(study) == {}


def test_disputed_items_that_every_adjudicator_annotated_wait_for_another_one(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    _give(study, study.annotators[0], "adjudicator")
    study_id = create_study(
        database,
        study.researcher,
        study.project_id,
        protocol=tiny_protocol(),
        design=StudyDesign(name="both", annotators=(study.researcher.name, study.annotators[0].name), overlap=2),
    ).study_id
    study.study_id, study.annotators = study_id, [study.annotators[0], study.researcher]
    study.label_all(0, "yes")
    study.label_all(1, "no")
    found = needs(study)
    assert (found["undecidable"].n, found["undecidable"].act) == (2, Act.ADD_PEOPLE)
    make_member(database, study.project_id, make_person(database), "adjudicator")
    assert needs(study) == {}


def test_double_waits_for_a_second_person(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, adjudication="double")
    study.label_all(0, "yes")
    study.label_all(1, "no")
    assert needs(study) == {}, "one may begin"
    [item] = disputes(database, study.researcher, study.study_id)
    adjudicate(database, study.researcher, item.study_item_id, uid="first", decisions=say("yes"))
    assert needs(study)["undecidable"].n == 1, "nobody else may give the second decision"
    make_member(database, study.project_id, make_person(database), "adjudicator")
    assert needs(study) == {}


def _failing(database: Database, **design: Any) -> StudyInUse:
    """A study of which one annotator has said of both items what the protocol does not accept."""
    labels = [Label(value="yes"), Label(value="no")]
    criteria = [Choice(name="right", title="Right", labels=labels, accept=["yes"])]
    protocol = tiny_protocol(criteria=criteria, invalidates={"answer": ["right"]})
    study = StudyInUse(database, items=2, annotators=2, overlap=1, protocol=protocol, **design)
    study.label_all(0, "no")
    keep_failing(database, study.researcher, study.study_id)
    return study


def test_items_in_revision_wait_to_be_revised_and_then_to_be_sent_back(database: Database) -> None:
    study = _failing(database)
    found = needs(study)
    assert set(found) == {"revision"}
    assert (found["revision"].n, found["revision"].act) == (2, Act.REVISE)
    revise_item(
        database,
        study.researcher,
        study.project_id,
        external_id="i00001",
        fields={"answer": "Another."},
        reason="wrong",
    )
    found = needs(study)
    assert {kind: need.n for kind, need in found.items()} == {"revision": 1, "fell": 1}
    assert found["fell"].act is Act.SEND_BACK
    send_to_recheck(database, study.researcher, study.study_id, overlap=1, reason="it is another answer")
    assert set(needs(study)) == {"revision"}


def test_who_failed_has_no_fresh_eyes_and_more_annotators_are_asked_for(database: Database) -> None:
    study = _failing(database)
    about = (database, study.researcher, study.project_id)
    revise_item(*about, external_id="i00001", fields={"answer": "Another."}, reason="wrong")
    assert needs(study)["fell"].act is Act.SEND_BACK
    with database.write() as session:
        member = session.get_one(StudyMember, (study.study_id, study.annotators[1].person_id))
        member.failed_at = now()
        session.add(member)
    assert needs(study)["fell"].act is Act.AMEND
    with pytest.raises(InvalidInput, match="0 of the annotators do not know an earlier version"):
        send_to_recheck(database, study.researcher, study.study_id, overlap=1, reason="it is another answer")


def test_items_that_every_researcher_judged_or_wrote_wait_for_another_one(database: Database) -> None:
    study = _failing(database, separate_revisers=True)
    assert set(needs(study)) == {"revision"}
    _give(study, study.annotators[0], "researcher")
    assert set(needs(study)) == {"revision"}, "the other researcher has judged nothing"
    _give(study, study.researcher, "viewer")
    found = {need.kind: need for need in needs_of(database, study.annotators[0], study.study_id)}
    assert (found["no_reviser"].n, found["no_reviser"].act) == (2, Act.ADD_PEOPLE)


def test_only_researchers_are_told(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    qualify(study, n=1, tries=1)
    try_with(study, "no")
    for role in ("viewer", "adjudicator"):
        actor = make_person(database)
        make_member(database, study.project_id, actor, role)
        assert needs_of(database, actor, study.study_id) == []
        assert my_needs(database, actor) == {}
    assert my_needs(database, study.annotators[0]) == {}
    assert set(my_needs(database, make_person(database, admin=True))) == {study.study_id}


def test_a_kind_that_is_not_asked_for_is_not_looked_for(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    qualify(study, n=1, tries=1)
    try_with(study, "no")
    found = my_needs(database, study.researcher, besides=("failed",))
    assert [need.kind for need in found[study.study_id]] == ["nobody"]


def test_commands_name_project_and_study_as_a_shell_takes_them(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    make_item(sqlite_database, study.project_id, "more")
    design = StudyDesign(name="two words", annotators=names(study, 0), overlap=1)
    made = create_study(sqlite_database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)
    set_state(sqlite_database, study.researcher, made.study_id, state=StudyState.PAUSED, reason="x")
    [need] = needs_of(sqlite_database, study.researcher, made.study_id)
    assert re.fullmatch(r"assay study start \S+ 'two words' --reason TEXT", need.command)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_is_documented(kind: Any) -> None:
    assert f"| {kind.about}" in (ROOT / "docs/studies.md").read_text()


def test_a_study_of_which_nothing_waits_costs_home_one_statement(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=3, annotators=2, overlap=2)
    study.label_all(0)
    statements: list[str] = []

    def note(*given: Any) -> None:
        statements.append(given[2])

    def asked() -> int:
        statements.clear()
        event.listen(sqlite_database.engine, "before_cursor_execute", note)
        try:
            assert my_needs(sqlite_database, study.researcher, besides=("revision",)) == {}
        finally:
            event.remove(sqlite_database.engine, "before_cursor_execute", note)
        return len(statements)

    one = asked()
    for number in range(5):
        design = StudyDesign(name=f"more {number}", annotators=names(study, 0, 1), overlap=1)
        create_study(sqlite_database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)
    assert asked() - one <= 5
