"""What may be shown to whom: the check behind every page image."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session, col, select

from annotators.errors import NotFound
from db.engine import Database
from db.models import (
    Assignment,
    AssignmentState,
    Document,
    Evidence,
    Image,
    ItemDocument,
    Person,
    Study,
    StudyItem,
)
from db.permissions import READERS, Actor, On, operation, role_in

_AT_HAND = (AssignmentState.LEASED, AssignmentState.RETURNED)
_HAD = (AssignmentState.SUBMITTED, AssignmentState.SURPLUS, AssignmentState.EXPIRED)


@dataclass(frozen=True)
class PageSource:
    """A document's bytes: where they are known by their SHA-256, and of what type."""

    document_id: int
    sha256: str | None
    media_type: str | None
    n_pages: int | None
    key: str


@operation(On.APP, anyone_signed_in=True)
def may_see_page(db: Database, actor: Actor, *, document_id: int, page: int) -> PageSource:
    """The source of a page image, if this person may see that page now; NotFound otherwise.

    By role in the document's project; or by an assignment whose item is about the document, once the step that shows
    it has been reached. A person who may not see it is told no more than that it is not there.
    """
    with db.read() as session:
        document = session.get(Document, document_id)
        refused = NotFound(f"There is no page {page} of document {document_id} that {actor.name!r} may see now.")
        if document is None:
            raise refused
        person = session.get_one(Person, actor.person_id)
        role = role_in(session, actor.person_id, person.default_role, document.project_id)
        by_role = person.is_admin or role in READERS
        if not by_role and not any(
            _by_assignment(session, actor.person_id, document_id, page, states) for states in (_AT_HAND, _HAD)
        ):
            raise refused
        return PageSource(document_id, document.sha256, document.media_type, document.n_pages, document.key)


def _by_assignment(
    session: Session, person_id: int, document_id: int, page: int, states: tuple[AssignmentState, ...]
) -> bool:
    """Whether one of the person's assignments in these states discloses the page.

    What is at hand is a handful of rows and answers nearly every request; the person's past is asked only after it.
    """
    reached = (
        select(Assignment.id)
        .join(StudyItem, col(StudyItem.id) == Assignment.study_item_id)
        .join(Study, col(Study.id) == Assignment.study_id)
        .where(Assignment.person_id == person_id, col(Assignment.state).in_(states))
    )
    earlier = col(Assignment.sitting) > 1
    documents = (col(Study.documents_step) <= col(Assignment.steps_done)) | (
        earlier & col(Study.documents_step).is_not(None)
    )
    evidence = (col(Study.evidence_step) <= col(Assignment.steps_done)) | (
        earlier & col(Study.evidence_step).is_not(None)
    )
    images = (col(Study.images_step) <= col(Assignment.steps_done)) | (earlier & col(Study.images_step).is_not(None))
    about = reached.join(ItemDocument, col(ItemDocument.item_version_id) == StudyItem.item_version_id).where(
        ItemDocument.document_id == document_id, documents
    )
    if session.exec(about.limit(1)).first() is not None:
        return True
    cited = (
        select(Evidence.pages, Study.documents_step, Assignment.steps_done, Assignment.sitting)
        .select_from(Assignment)
        .join(StudyItem, col(StudyItem.id) == Assignment.study_item_id)
        .join(Study, col(Study.id) == Assignment.study_id)
        .join(Evidence, col(Evidence.item_version_id) == StudyItem.item_version_id)
        .where(
            Assignment.person_id == person_id,
            col(Assignment.state).in_(states),
            Evidence.document_id == document_id,
            evidence,
        )
    )
    for pages, documents_step, steps_done, sitting in session.execute(cited):
        whole = documents_step is not None and (documents_step <= steps_done or sitting > 1)
        if whole or page in pages:
            return True
    pictured = reached.join(Image, col(Image.item_version_id) == StudyItem.item_version_id).where(
        Image.document_id == document_id, Image.page == page, images
    )
    return session.exec(pictured.limit(1)).first() is not None
