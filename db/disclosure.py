"""What may be shown to whom: the check behind every page image, every search on pages, and every phrase found there."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session, col, select

from annotators.errors import NotFound
from annotators.protocols import Material, Protocol
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
from db.permissions import EVERYBODY, READERS, Actor, On, operation, role_in
from db.presentations import Parts, Wire, load_parts, next_step
from db.studies import protocol_of

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


@dataclass(frozen=True)
class VisibleDocument:
    """A document and the pages of it (from 1) that the person may see now, in order."""

    source: PageSource
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Passage:
    """The text of a unit of evidence, under the neutral name that the browser knows it by, and the pages it cites."""

    evidence: str
    text: str
    document_id: int | None
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Reading:
    """What an assignment puts before its annotator at its present step, as far as it can be looked for on pages.

    answer is empty and references, documents or passages are, when the step does not show them. A reference is a text
    or a list of required phrases.
    """

    answer: str
    references: tuple[str | list[str], ...]
    documents: tuple[VisibleDocument, ...]
    passages: tuple[Passage, ...]


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
        # What is at hand is a handful of rows and answers nearly every request; the past is asked only after it.
        if not _sees_by_role(session, actor, document) and not any(
            (seen := _disclosed(session, actor.person_id, document_id, states)) is None or page in seen
            for states in (_AT_HAND, _HAD)
        ):
            raise refused
        return _source(document)


@operation(On.APP, anyone_signed_in=True)
def visible_document(db: Database, actor: Actor, *, document_id: int) -> VisibleDocument:
    """The pages of a document that this person may see now, as `may_see_page` decides; NotFound when there are none."""
    with db.read() as session:
        document = session.get(Document, document_id)
        refused = NotFound(f"There is no document {document_id} that {actor.name!r} may see now.")
        if document is None:
            raise refused
        if _sees_by_role(session, actor, document):
            return VisibleDocument(_source(document), _all_pages(document))
        pages: set[int] = set()
        for states in (_AT_HAND, _HAD):
            seen = _disclosed(session, actor.person_id, document_id, states)
            if seen is None:
                return VisibleDocument(_source(document), _all_pages(document))
            pages |= seen
        if not pages:
            raise refused
        return VisibleDocument(_source(document), tuple(sorted(pages)))


@operation(On.STUDY, EVERYBODY)
def reading(db: Database, actor: Actor, study_id: int, *, assignment_id: int) -> Reading:
    """What the present step of an assignment shows; NotFound unless it is the actor's own or the role shows all pages.

    One's own assignment shows what its step shows, whatever one's role: nobody is told before they have judged. To
    those who may see every page by their role, somebody else's shows what its last step does.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        assignment = session.get(Assignment, assignment_id)
        refused = NotFound(f"There is no assignment {assignment_id} of this study that {actor.name!r} may see now.")
        if assignment is None or assignment.study_id != study_id:
            raise refused
        protocol = protocol_of(study)
        if assignment.person_id == actor.person_id:
            if assignment.state not in (*_AT_HAND, *_HAD):
                raise refused
            _, step = next_step(assignment, len(protocol.steps))
        else:
            person = session.get_one(Person, actor.person_id)
            role = role_in(session, actor.person_id, person.default_role, study.project_id)
            if not person.is_admin and role not in READERS:
                raise refused
            step = len(protocol.steps) - 1
        # Everything is loaded, as the names of evidence follow from all of it; `_reading` takes what the step shows.
        everything = protocol.shown_at(len(protocol.steps) - 1)
        parts = load_parts(session, [assignment.study_item_id], everything)[assignment.study_item_id]
        return _reading(protocol, parts, step)


def _reading(protocol: Protocol, parts: Parts, step: int) -> Reading:
    shows = protocol.shown_at(step)
    cited: dict[int | None, set[int]] = {}
    passages = []
    if Material.EVIDENCE in shows:
        units = {unit.key: unit for unit in parts.evidence}
        wire = Wire(parts, roles_shown=Material.ROLES in shows)
        for number, unit in enumerate((units[key] for key in wire.evidence), 1):
            cited.setdefault(unit.document_id, set()).update(unit.pages)
            if unit.text:
                passages.append(Passage(f"E{number}", unit.text, unit.document_id, tuple(unit.pages)))
    if Material.IMAGES in shows:
        for image in parts.images:
            cited.setdefault(image.document_id, set()).add(image.page)
    documents = []
    for document in parts.documents:
        whole = Material.DOCUMENTS in shows
        pages = _all_pages(document) if whole else tuple(sorted(cited.get(document.id, ())))
        if pages:
            documents.append(VisibleDocument(_source(document), pages))
    return Reading(
        parts.version.answer if Material.ANSWER in shows else "",
        tuple(parts.version.references) if Material.REFERENCES in shows else (),
        tuple(documents),
        tuple(passages),
    )


def _source(document: Document) -> PageSource:
    assert document.id is not None
    return PageSource(document.id, document.sha256, document.media_type, document.n_pages, document.key)


def _all_pages(document: Document) -> tuple[int, ...]:
    return tuple(range(1, (document.n_pages or 0) + 1))


def _sees_by_role(session: Session, actor: Actor, document: Document) -> bool:
    person = session.get_one(Person, actor.person_id)
    role = role_in(session, actor.person_id, person.default_role, document.project_id)
    return person.is_admin or role in READERS


def _disclosed(
    session: Session, person_id: int, document_id: int, states: tuple[AssignmentState, ...]
) -> set[int] | None:
    """The pages that the person's assignments in these states disclose; None for the whole document."""
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
        return None
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
    seen: set[int] = set()
    for pages, documents_step, steps_done, sitting in session.execute(cited):
        if documents_step is not None and (documents_step <= steps_done or sitting > 1):
            return None
        seen |= set(pages)
    pictured = (
        select(Image.page)
        .select_from(Assignment)
        .join(StudyItem, col(StudyItem.id) == Assignment.study_item_id)
        .join(Study, col(Study.id) == Assignment.study_id)
        .join(Image, col(Image.item_version_id) == StudyItem.item_version_id)
        .where(
            Assignment.person_id == person_id,
            col(Assignment.state).in_(states),
            Image.document_id == document_id,
            images,
        )
        .distinct()
    )
    return seen | set(session.exec(pictured))
