"""Who is no more than a reviser: offered what fails and they neither judged nor wrote, and shown nothing besides."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlmodel import select

from annotators.errors import NotAllowed, NotFound
from db.annotating.disclosure import may_see_page, visible_document
from db.engine import Database
from db.models import Document, Item, RevisionLease, Study, now
from db.people.accounts import set_member
from db.permissions import Actor, Role
from db.releasing.endings import end_item
from db.releasing.revising import (
    count_to_revise,
    item_to_revise,
    leave_to_others,
    n_without_reviser,
    plan_written,
    revise_written,
    revision_queue,
    sentences_to_claim,
    take_to_revise,
)
from db.studies.design import list_studies, my_studies
from db.studies.remarks import item_labels, item_place
from db.studies.revisions import revise_item, why_not_revise
from tests.db.releasing.test_states import accepting, decide, label
from tests.makers import StudyInUse, make_member, make_person


@pytest.fixture
def study(database: Database) -> StudyInUse:
    """Three items that fail, of which the first was disputed, and one that does not."""
    study = StudyInUse(database, items=4, annotators=2, overlap=2, protocol=accepting(), n_evidence=1)
    label(study, "ny", "nn", "nn", "yy")
    decide(study, "i00001", "no")
    return study


def reviser(study: StudyInUse, name: str = "rita") -> Actor:
    actor = make_person(study.db, name)
    make_member(study.db, study.project_id, actor, "reviser")
    return actor


def waiting(study: StudyInUse, actor: Actor) -> list[str]:
    found = [row.item for row in revision_queue(study.db, actor, study.project_id).waiting]
    assert count_to_revise(study.db, actor, study.project_id) == len(found)
    return found


def ids(study: StudyInUse) -> tuple[list[int], list[int]]:
    """The items and their documents, in order."""
    with study.db.read() as session:
        items = session.exec(select(Item.id).where(Item.project_id == study.project_id).order_by(Item.external_id))
        documents = session.exec(
            select(Document.id).where(Document.project_id == study.project_id).order_by(Document.key)
        )
        return [key or 0 for key in items], [key or 0 for key in documents]


def test_a_reviser_revises_what_waits_and_it_waits_for_them_no_more(study: StudyInUse) -> None:
    rita, about = reviser(study), (study.db, study.project_id)
    assert waiting(study, rita) == ["i00001", "i00002", "i00003"]
    found = item_to_revise(about[0], rita, about[1], external_id="i00002")
    assert (found.only_revises, found.why_not, found.written["question"]) == (True, None, "Question of i00002?")
    assert [unit.votes for unit in found.studies[0].failing] == [[("no", 2, True)]]
    given = {"external_id": "i00002", "given": {"answer": "Better."}}
    plan = plan_written(about[0], rita, about[1], **given)
    assert plan is not None and plan.edited == ("answer",)
    assert sentences_to_claim(about[0], rita, about[1], external_id="i00002", answer="One. Two.") == ["One.", "Two."]
    done = revise_written(about[0], rita, about[1], **given, reason="wrong", from_version=1)
    assert done.version == 2
    assert waiting(study, rita) == ["i00001", "i00003"]
    # What falls by no edit fails still, and waits: for others than who wrote it.
    sorted_in = {"external_id": "i00003", "given": {"question": "Which?"}}
    revise_written(about[0], rita, about[1], **sorted_in, reason="clearer", from_version=1)
    assert waiting(study, rita) == ["i00001"]
    assert waiting(study, reviser(study, "ron")) == ["i00001", "i00003"]


def test_what_a_reviser_judged_decided_or_wrote_is_not_theirs_in_whatever_study(study: StudyInUse) -> None:
    def made_reviser(actor: Actor) -> None:
        admin = make_person(study.db, admin=True)
        set_member(study.db, admin, study.project_id, name=actor.name, role=Role.REVISER)

    judged = study.annotators[0]
    made_reviser(judged)
    assert waiting(study, judged) == []
    for ask in asking(study, judged, "i00002"):
        with pytest.raises(NotAllowed, match=r"You judged it in the study .*a reviser revises what others"):
            ask()
    made_reviser(study.researcher)
    assert waiting(study, study.researcher) == ["i00002", "i00003"], "they decided the first"
    other = reviser(study)
    given = {"external_id": "i00003", "given": {"question": "Which?"}}
    revise_written(study.db, other, study.project_id, **given, reason="x", from_version=1)
    with pytest.raises(NotAllowed, match="You revised it before"):
        item_to_revise(study.db, other, study.project_id, external_id="i00003")


def asking(study: StudyInUse, actor: Actor, item: str) -> list[Callable[[], object]]:
    """All that a reviser can ask of an item."""
    db, project = study.db, study.project_id
    number = ids(study)[0][int(item[-1]) - 1]
    return [
        lambda: item_to_revise(db, actor, project, external_id=item),
        lambda: plan_written(db, actor, project, external_id=item, given={"answer": "x"}),
        lambda: revise_written(db, actor, project, external_id=item, given={"answer": "x"}, reason="x", from_version=1),
        lambda: sentences_to_claim(db, actor, project, external_id=item, answer="x"),
        lambda: take_to_revise(db, actor, project, item_id=number),
    ]


def test_a_reviser_is_shown_nothing_of_what_does_not_wait(study: StudyInUse) -> None:
    rita = reviser(study)
    for ask in asking(study, rita, "i00004"):
        with pytest.raises(NotFound, match="does not wait to be revised"):
            ask()
    end_item(study.db, study.researcher, study.project_id, external_id="i00002", state="rejected", reason="no")
    for ask in asking(study, rita, "i00002"):
        with pytest.raises(NotFound, match="does not wait to be revised"):
            ask()
    assert my_studies(study.db, rita) == []
    assert item_place(study.db, rita, item_id=ids(study)[0][0]).external_id == "i00001"
    about = (study.db, rita, study.project_id)
    refused: list[Callable[[], object]] = [
        lambda: list_studies(*about),
        lambda: item_labels(*about, external_id="i00001"),
        lambda: why_not_revise(*about, external_id="i00001"),
        lambda: revise_item(*about, external_id="i00001", fields={"answer": "x"}, reason="x"),
        lambda: end_item(*about, external_id="i00001", state="accepted", reason="x"),
        lambda: revise_written(
            *about, external_id="i00001", given={"answer": "x"}, reason="x", from_version=1, drafts={"answer": 1}
        ),
    ]
    for ask in refused:
        with pytest.raises(NotAllowed, match="is reviser here and may not"):
            ask()


def test_a_reviser_sees_the_pages_of_the_item_before_them_until_it_is_not(study: StudyInUse) -> None:
    rita, documents = reviser(study), ids(study)[1]

    def seen() -> list[int]:
        found = []
        for place, document in enumerate(documents, 1):
            try:
                may_see_page(study.db, rita, document_id=document, page=5)
                assert visible_document(study.db, rita, document_id=document).pages == (1, 2, 3, 4, 5)
                found.append(place)
            except NotFound:
                with pytest.raises(NotFound):
                    visible_document(study.db, rita, document_id=document)
        return found

    assert seen() == []
    item_to_revise(study.db, rita, study.project_id, external_id="i00002")
    assert seen() == [2]
    leave_to_others(study.db, rita, study.project_id, item_id=ids(study)[0][1])
    assert seen() == []
    item_to_revise(study.db, rita, study.project_id, external_id="i00002")
    with study.db.write() as session:  # the lease has run out, and somebody else takes it
        session.get_one(RevisionLease, ids(study)[0][1]).lease_until = now()
    assert seen() == [2]
    other = reviser(study, "ron")
    assert take_to_revise(study.db, other, study.project_id, item_id=ids(study)[0][1]).mine
    assert seen() == []
    item_to_revise(study.db, rita, study.project_id, external_id="i00003")
    revise_written(
        study.db, rita, study.project_id, external_id="i00003", given={"answer": "x"}, reason="x", from_version=1
    )
    assert seen() == []


def test_who_may_revise_instead_is_named_and_revisers_are_among_them(study: StudyInUse) -> None:
    rita, judged = reviser(study), study.annotators[0]
    set_member(study.db, study.researcher, study.project_id, name=judged.name, role=Role.REVISER)
    with pytest.raises(NotAllowed, match=f"Ask one of those who may: {rita.name}"):
        item_to_revise(study.db, judged, study.project_id, external_id="i00001")
    with study.db.read() as session:
        row = session.get_one(Study, study.study_id)
        assert n_without_reviser(session, row, {study.study_id}) == 0
