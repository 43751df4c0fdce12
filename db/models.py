"""The tables. Append-only ones say so; the database itself refuses to change their rows (`db/guards.py`).

"Current" is always a query: the version of an item with the highest number, the annotation that none supersedes, the
adjudication of the last round. Times are UTC. Persons appear as an opaque id; their name and login are in `account`,
the one table from which a person can be erased.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Index,
    Integer,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

Identifier = BigInteger().with_variant(Integer, "sqlite")
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class UtcTime(TypeDecorator[datetime]):
    """A point in time: aware in Python, always UTC in the database."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; SQLite keeps no zone."""
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Aware again."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


class Table(SQLModel, registry=registry()):
    """The root of all tables: a registry of its own, so that a reloaded module does not declare a table twice.

    Pydantic makes its validators when first asked for one, and nobody asks: SQLModel validates no table. They took a
    fifth of this module's time.
    """

    model_config = {"defer_build": True}
    append_only: ClassVar[bool] = False


def _id() -> Any:
    return Field(default=None, sa_column=Column(Identifier, primary_key=True, autoincrement=True))


def _ref(
    target: str, *, optional: bool = False, index: bool = False, primary_key: bool = False, unique: bool = False
) -> Any:
    options: dict[str, Any] = {"foreign_key": target, "sa_type": Identifier, "index": index, "primary_key": primary_key}
    options |= {"unique": True} if unique else {}
    return Field(default=None, nullable=True, **options) if optional else Field(**options)


def _json(factory: Any = dict, *, nullable: bool = False) -> Any:
    return Field(default_factory=factory, sa_column=Column(Json, nullable=nullable))


def _time(*, nullable: bool = False) -> Any:
    if nullable:
        return Field(default=None, sa_column=Column(UtcTime, nullable=True))
    return Field(default_factory=now, sa_column=Column(UtcTime, nullable=False))


# People ---------------------------------------------------------------------------------------------------------------


class PersonKind(StrEnum):
    """Who labels: a human, or a model (a judge)."""

    HUMAN = "human"
    MODEL = "model"


class Person(Table, table=True):
    """An opaque person: everything that is append-only points here, never at a name."""

    id: int | None = _id()
    kind: str = PersonKind.HUMAN
    is_admin: bool = False
    default_role: str | None = None
    created_at: datetime = _time()
    erased_at: datetime | None = _time(nullable=True)


class Account(Table, table=True):
    """Name and login of a person: the only place with personal data; `assay user erase` deletes the row."""

    person_id: int = _ref("person.id", primary_key=True)
    name: str = Field(unique=True)
    password_hash: str | None = None


class Preference(Table, table=True):
    """A setting of a person's own, such as keys that they changed; without a row the program's own value holds."""

    person_id: int = _ref("person.id", primary_key=True)
    name: str = Field(primary_key=True)
    value: Any = _json()
    updated_at: datetime = _time()


class UnsavedText(Table, table=True):
    """What a person writes on a page of a project and has not saved: one text for each thing that they write there.

    `page` is the page's name and `name` what is changed there, or `new`.
    """

    __tablename__ = "unsaved_text"
    person_id: int = _ref("person.id", primary_key=True)
    project_id: int = _ref("project.id", primary_key=True)
    page: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    text: str
    changed_at: datetime = _time()


class WebSession(Table, table=True):
    """A signed-in browser; the cookie's token is kept only as a hash. A one-time sign-in address is one as well."""

    __tablename__ = "web_session"
    token_hash: str = Field(primary_key=True)
    person_id: int = _ref("person.id", index=True)
    one_time: bool = False
    created_at: datetime = _time()
    expires_at: datetime = _time()
    revoked_at: datetime | None = _time(nullable=True)


class SignInFailure(Table, table=True):
    """How often a name, or an address, has failed to sign in lately: what makes guessing slow."""

    __tablename__ = "sign_in_failure"
    key: str = Field(primary_key=True)
    count: int = 0
    last_at: datetime = _time()


class Membership(Table, table=True):
    """A person's role in one project; it overrides the person's default role."""

    project_id: int = _ref("project.id", primary_key=True)
    person_id: int = _ref("person.id", primary_key=True)
    role: str


# Data -----------------------------------------------------------------------------------------------------------------


class Project(Table, table=True):
    """Container of documents, items and studies."""

    id: int | None = _id()
    name: str = Field(unique=True)
    created_by: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class Batch(Table, table=True):
    """One import. Append-only; a wrong one is withdrawn, not deleted."""

    append_only: ClassVar[bool] = True
    id: int | None = _id()
    project_id: int = _ref("project.id", index=True)
    format: str
    source: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class UnpublishedBatch(Table, table=True):
    """A batch that nobody sees: its import has not ended, or (`cleared_at`) was broken off and its rows are removed.

    An import writes its rows in many short transactions; the last one takes this row away (`db/items/unpublished.py`).
    """

    __tablename__ = "unpublished_batch"
    batch_id: int = _ref("batch.id", primary_key=True)
    cleared_at: datetime | None = _time(nullable=True)


class Withdrawal(Table, table=True):
    """Takes a batch out of every current query, or (`reinstates`) puts it back. Append-only."""

    append_only: ClassVar[bool] = True
    id: int | None = _id()
    batch_id: int = _ref("batch.id", index=True)
    reinstates: bool = False
    reason: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class Document(Table, table=True):
    """One source, known by its key. Its bytes may be attached later and are stored once by SHA-256."""

    __table_args__ = (UniqueConstraint("project_id", "key"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    key: str
    title: str = ""
    sha256: str | None = Field(default=None, index=True)
    media_type: str | None = None
    n_pages: int | None = None
    page_sizes: list[Any] | None = _json(lambda: None, nullable=True)
    extra: dict[str, Any] = _json()
    batch_id: int | None = _ref("batch.id", optional=True)
    created_at: datetime = _time()


class Question(Table, table=True):
    """The question put to the systems; the items of several systems share it."""

    __table_args__ = (UniqueConstraint("project_id", "key"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    key: str


class Item(Table, table=True):
    """The unit that is judged, by its external id. What it says is in its versions."""

    __table_args__ = (UniqueConstraint("project_id", "external_id"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    external_id: str
    question_id: int = _ref("question.id", index=True)
    system: str = "reference"
    batch_id: int | None = _ref("batch.id", optional=True)


_LATER = text("number > 1")


class ItemVersion(Table, table=True):
    """What an item says at one time. Append-only; the current version has the highest number.

    `references` are reference answers: a text, or a list of required phrases each. `hops` are the steps of a
    multi-hop question: key, question, answer.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "item_version"
    __table_args__ = (
        UniqueConstraint("item_id", "number"),
        Index("ix_item_version_later", "item_id", sqlite_where=_LATER, postgresql_where=_LATER),
    )
    id: int | None = _id()
    item_id: int = _ref("item.id")
    number: int = 1
    question: str
    answer: str = ""
    category: str | None = None
    language: str | None = None
    references: list[Any] = _json(list)
    hops: list[Any] = _json(list)
    extra: dict[str, Any] = _json()
    content_hash: str
    batch_id: int | None = _ref("batch.id", optional=True)
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class ItemDocument(Table, table=True):
    """A document that an item version is about, whether or not a piece of evidence points at it. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "item_document"
    __table_args__ = (Index("ix_item_document_document", "document_id"),)
    item_version_id: int = _ref("item_version.id", primary_key=True)
    document_id: int = _ref("document.id", primary_key=True)


class Evidence(Table, table=True):
    """One unit shown with an item: passage, table, figure or page. Append-only.

    `pages` counts from 1; `box` is [x0, y0, x1, y1] in fractions of the first page as displayed, from its top left.
    """

    append_only: ClassVar[bool] = True
    __table_args__ = (UniqueConstraint("item_version_id", "key"), Index("ix_evidence_document", "document_id"))
    id: int | None = _id()
    item_version_id: int = _ref("item_version.id")
    key: str
    position: int
    kind: str = "passage"
    role: str | None = None
    document_id: int | None = _ref("document.id", optional=True)
    pages: list[Any] = _json(list)
    box: list[Any] | None = _json(lambda: None, nullable=True)
    text: str | None = None
    used: bool | None = None
    hop: int | None = None
    rank: int | None = None
    extra: dict[str, Any] = _json()


class Claim(Table, table=True):
    """One atomic statement of an answer (`of` = answer) or of a reference answer (`of` = reference). Append-only."""

    append_only: ClassVar[bool] = True
    __table_args__ = (UniqueConstraint("item_version_id", "key"),)
    id: int | None = _id()
    item_version_id: int = _ref("item_version.id")
    key: str
    position: int
    of: str = "answer"
    text: str
    extra: dict[str, Any] = _json()


class Image(Table, table=True):
    """One image interleaved in an answer: a document of its own, or a box on a page. Append-only."""

    append_only: ClassVar[bool] = True
    __table_args__ = (UniqueConstraint("item_version_id", "key"), Index("ix_image_document", "document_id"))
    id: int | None = _id()
    item_version_id: int = _ref("item_version.id")
    key: str
    position: int
    document_id: int | None = _ref("document.id", optional=True)
    page: int = 1
    box: list[Any] | None = _json(lambda: None, nullable=True)
    caption: str = ""
    extra: dict[str, Any] = _json()


class Revision(Table, table=True):
    """A new version of an item: what changed, by whom, why, and which earlier labels it invalidates. Append-only."""

    append_only: ClassVar[bool] = True
    id: int | None = _id()
    item_id: int = _ref("item.id", index=True)
    from_version_id: int = _ref("item_version.id")
    to_version_id: int = _ref("item_version.id")
    study_id: int | None = _ref("study.id", optional=True)
    invalidates: list[Any] = _json(list)
    reason: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class ProposedRevision(Table, table=True):
    """What a file says otherwise of an item that was there when it was imported: fields with their values. Append-only.

    The same content is proposed for an item once. `batch_id` is the import's, if it added anything.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "proposed_revision"
    __table_args__ = (UniqueConstraint("item_id", "content_hash"), Index("ix_proposed_revision", "project_id", "id"))
    id: int | None = _id()
    project_id: int = _ref("project.id")
    item_id: int = _ref("item.id")
    batch_id: int | None = _ref("batch.id", optional=True)
    source: str
    line: int
    fields: dict[str, Any] = _json()
    content_hash: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class ProposalAnswer(Table, table=True):
    """Who accepted a proposed revision (with the revision it became) or declined it, and why. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "proposal_answer"
    proposal_id: int = _ref("proposed_revision.id", primary_key=True)
    revision_id: int | None = _ref("revision.id", optional=True)
    reason: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


# Studies --------------------------------------------------------------------------------------------------------------


class ProtocolVersion(Table, table=True):
    """One version of a protocol that a project has of its own. Append-only.

    The version with the highest number is the newest. Studies keep a snapshot of their own and do not point here.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "protocol_version"
    __table_args__ = (UniqueConstraint("project_id", "name", "version"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    name: str
    version: int
    protocol: dict[str, Any] = _json()
    protocol_hash: str
    person_id: int = _ref("person.id")
    created_at: datetime = _time()


class PromptVersion(Table, table=True):
    """One version of a prompt that a project has of its own. Append-only.

    The version with the highest number is the newest. Judges keep a copy of their own and do not point here.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "prompt_version"
    __table_args__ = (UniqueConstraint("project_id", "name", "version"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    name: str
    version: int
    prompt: dict[str, Any] = _json()
    prompt_hash: str
    person_id: int = _ref("person.id")
    created_at: datetime = _time()


class KeptMapping(Table, table=True):
    """Which column of a table is which field, under a name of the project; it can be changed and deleted.

    `mapping` is what `TableMapping.to_json` gives. What came in by it does not point here.
    """

    __tablename__ = "kept_mapping"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    name: str
    mapping: dict[str, Any] = _json()
    changed_by: int | None = _ref("person.id", optional=True)
    changed_at: datetime = _time()


class StudyDraft(Table, table=True):
    """A design that is no study yet: it can be changed and deleted, and starting it makes the study and ends it.

    `design` is without its annotators, who are person ids in `team`, and has the quotas of single ones by these.
    """

    __tablename__ = "study_draft"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    name: str
    protocol: dict[str, Any] = _json()
    design: dict[str, Any] = _json()
    team: list[Any] = _json(list)
    changed_by: int | None = _ref("person.id", optional=True)
    changed_at: datetime = _time()


class StudyState(StrEnum):
    """Whether annotators get items: yes; not for now; not any more."""

    RUNNING = "running"
    PAUSED = "paused"
    CLOSED = "closed"


class Study(Table, table=True):
    """Protocol × sample of items × annotators × overlap × order × what is hidden.

    `protocol` is the frozen snapshot and `protocol_hash` its digest; `sample_hash` covers the item versions in order.
    `next_queue` is the number that the next freed slot gets (see `Assignment.queue`). `state`, `overlap` and `deadline`
    are what they are now: amendments change them, and `amended` counts how often. Nobody gets items after the deadline.
    `secret` leaves the database in no form: what annotators are called beside an item is drawn with it.
    """

    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    name: str
    protocol_name: str
    protocol_version: int
    protocol: dict[str, Any] = _json()
    protocol_hash: str
    sample_hash: str
    overlap: int
    item_order: str = "shuffled"
    seed: int = 0
    rule: str = "unanimous"
    lease_minutes: int = 60
    show_scores: list[Any] = _json(list)
    settings: dict[str, Any] = _json()
    n_items: int
    evidence_step: int | None = None
    documents_step: int | None = None
    images_step: int | None = None
    next_queue: int = Field(sa_column=Column(BigInteger, nullable=False))
    state: str = StudyState.RUNNING
    deadline: datetime | None = _time(nullable=True)
    amended: int = 0
    secret: str = Field(default_factory=partial(secrets.token_hex, 16))
    created_by: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class Amendment(Table, table=True):
    """A change of a running study: what (`state`, `overlap`, `deadline`, `annotators`), from what, to what, and why.

    Append-only: what the study was frozen with can be worked out from them. Annotators are person ids.
    """

    append_only: ClassVar[bool] = True
    id: int | None = _id()
    study_id: int = _ref("study.id", index=True)
    what: str
    before: Any = _json(lambda: None, nullable=True)
    after: Any = _json(lambda: None, nullable=True)
    reason: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class Purpose(StrEnum):
    """What an item is in a study for.

    The sample is what the study is about; its items stand at the positions below `Study.n_items`, all others behind.
    Gold items have right labels that are known, and so have those for qualification, which come before the work. A
    recheck is a new version of an item, asked what fell with the change.
    """

    SAMPLE = "sample"
    GOLD = "gold"
    QUALIFICATION = "qualification"
    RECHECK = "recheck"


BESIDE = "purpose <> 'sample'"
"""The condition on study items that stand beside the sample; a query for few of many says it, as an index does."""

_BESIDE = text(BESIDE)


class StudyItem(Table, table=True):
    """One item of a study, or a pair of two of one question, as the study is frozen on them. Append-only.

    The second item of a pair is `other_version_id`; `other_left` says that it stands left before the annotators. An
    item by itself is there once, in pairs as often as it has partners. `overlap` is its own (None: the study's), and
    `criteria` are those that it asks (None: all of the protocol's). `earlier_id`: the study item that it rechecks.
    In a study ordered by a score it has a `sampling_weight` and a `sampling_key` (annotators/items/prioritised.py).
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "study_item"
    __table_args__ = (
        UniqueConstraint("study_id", "position"),
        UniqueConstraint("study_id", "item_version_id", "other_version_id"),
        Index(
            "ux_study_item_alone",
            "study_id",
            "item_version_id",
            unique=True,
            sqlite_where=text("other_version_id IS NULL"),
            postgresql_where=text("other_version_id IS NULL"),
        ),
        Index("ix_study_item_beside", "study_id", "purpose", sqlite_where=_BESIDE, postgresql_where=_BESIDE),
    )
    id: int | None = _id()
    study_id: int = _ref("study.id")
    item_version_id: int = _ref("item_version.id", index=True)
    position: int
    other_version_id: int | None = _ref("item_version.id", optional=True, index=True)
    other_left: bool = False
    purpose: str = Purpose.SAMPLE
    overlap: int | None = None
    criteria: list[Any] | None = _json(lambda: None, nullable=True)
    earlier_id: int | None = _ref("study_item.id", optional=True, index=True)
    sampling_weight: float | None = None
    sampling_key: float | None = None


class GoldLabel(Table, table=True):
    """The right label of one unit of a gold item, and in words why, if said. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "gold_label"
    __table_args__ = (UniqueConstraint("study_item_id", "criterion", "target"),)
    id: int | None = _id()
    study_item_id: int = _ref("study_item.id")
    criterion: str
    target: str = "item"
    value: Any = _json(lambda: None, nullable=True)
    explanation: str | None = None


class StudyScore(Table, table=True):
    """A score row that a study about scores was frozen with. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "study_score"
    study_item_id: int = _ref("study_item.id", primary_key=True)
    score_id: int = _ref("score.id", primary_key=True)


class StudyMember(Table, table=True):
    """An annotator of a study, and how far down the queue of slots they have come.

    `cursor`: every slot up to this queue number has been offered, or, in a study in which everybody has an order of
    their own, the number of their last turn. `exhausted_at`: the study's `next_queue` when a
    search of all slots found nothing for this person; until a slot is freed there is no use in searching again.
    `left_at`: they were taken out of the study; they get nothing more, and what they submitted stands.
    `left_out_from`: what they submitted since is left out (`Omission`); they get nothing while that holds. `given`
    counts the slots that they were given, by which gold items and repeats come in at their rates. `paused_at`: too many
    of their labels of gold items were wrong; they get nothing until an amendment lets them go on.
    They are given at most `quota` items.
    `qualified_at`: they have passed the study's qualification, or were let in; `failed_at`: not even in their last try.
    """

    __tablename__ = "study_member"
    study_id: int = _ref("study.id", primary_key=True)
    person_id: int = _ref("person.id", primary_key=True)
    cursor: int = Field(default=-1, sa_column=Column(BigInteger, nullable=False))
    exhausted_at: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    left_at: datetime | None = _time(nullable=True)
    left_out_from: datetime | None = _time(nullable=True)
    given: int = 0
    quota: int | None = None
    paused_at: datetime | None = _time(nullable=True)
    qualified_at: datetime | None = _time(nullable=True)
    failed_at: datetime | None = _time(nullable=True)


class PhaseAnswer(Table, table=True):
    """What somebody said in a phase around a study's work: to the consent, or to a questionnaire. Append-only.

    `phase` is one of annotators/designing/phases.py; `answers` are {"question", "value"}, in their order.
    Kept apart from labels: nothing that is measured reads it.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "phase_answer"
    __table_args__ = (UniqueConstraint("study_id", "person_id", "phase"),)
    id: int | None = _id()
    uid: str = Field(unique=True)
    study_id: int = _ref("study.id")
    person_id: int = _ref("person.id", index=True)
    phase: str
    answers: list[Any] = _json(list)
    seconds: float | None = None
    created_at: datetime = _time()


class Invitation(Table, table=True):
    """A link by which people from outside join a study as annotators: how many, until when, and with what they end.

    Only the hash of its token is kept. `quota` is how many items each of them is given at most. `parameter` names the
    part of the address that brings a recruiter's id. `code` is for who has done all, `code_else` for everybody else.
    """

    id: int | None = _id()
    study_id: int = _ref("study.id", index=True)
    token_hash: str = Field(unique=True)
    uses: int = 1
    used: int = 0
    quota: int | None = None
    parameter: str | None = None
    code: str | None = None
    code_else: str | None = None
    return_url: str | None = None
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()
    expires_at: datetime = _time()
    revoked_at: datetime | None = _time(nullable=True)


class OutsideAnnotator(Table, table=True):
    """Somebody who came by an invitation, and the id that a recruiter knows them by: it stands nowhere else.

    `outcome` says how they ended: `done`, `failed` (the study gives them nothing any more), `declined` (to take
    part) or `stopped`.
    """

    __tablename__ = "outside_annotator"
    __table_args__ = (UniqueConstraint("invitation_id", "recruiter_id"),)
    person_id: int = _ref("person.id", primary_key=True)
    invitation_id: int = _ref("invitation.id")
    recruiter_id: str | None = None
    joined_at: datetime = _time()
    ended_at: datetime | None = _time(nullable=True)
    outcome: str | None = None


class Tally(Table, table=True):
    """Counts that pages show, kept as they change: assignments of a study by state, for a person or (0) for all."""

    study_id: int = _ref("study.id", primary_key=True)
    person_id: int = Field(primary_key=True, sa_type=Identifier)
    state: str = Field(primary_key=True)
    n: int = 0
    seconds: float = 0


class AssignmentState(StrEnum):
    """Where a slot stands."""

    OPEN = "open"
    LEASED = "leased"
    SUBMITTED = "submitted"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    RETURNED = "returned"
    SURPLUS = "surplus"
    LEFT_OUT = "left_out"


class Assignment(Table, table=True):
    """One of an item's k slots in a study (kind `slot`), or a row of its own for labels that use no slot.

    Those are a judgement of a gold item, or of an item that the person has judged before (kinds `gold`, `repeat`); or
    none at all: somebody who knows an earlier version of an item is never given its recheck (kind and state `barred`).

    Open, leased, returned and submitted slots of an item are always k together; a skip or an expired lease leaves its
    row and puts a new open one at the end of the queue. `queue` is the order in which slots are offered: a freed slot
    gets a number after all others, so that an annotator who has passed the item meets it again.
    `steps_done` is the number of committed steps of the current sitting. `left_out_as` is the state that it had before
    its labels were left out. `allotted_to` is whose an open slot is, where slots are allotted to people.
    """

    __table_args__ = (
        Index("ix_assignment_queue", "study_id", "state", "queue"),
        Index("ix_assignment_person", "person_id", "state", "study_id"),
        Index("ix_assignment_item", "study_item_id", "person_id"),
        Index(
            "ix_assignment_allotted",
            "study_id",
            "allotted_to",
            "queue",
            sqlite_where=text("state = 'open' AND allotted_to IS NOT NULL"),
            postgresql_where=text("state = 'open' AND allotted_to IS NOT NULL"),
        ),
        Index(
            "ux_assignment_live",
            "study_item_id",
            "person_id",
            unique=True,
            sqlite_where=text("kind = 'slot' AND state IN ('leased', 'submitted', 'returned')"),
            postgresql_where=text("kind = 'slot' AND state IN ('leased', 'submitted', 'returned')"),
        ),
    )
    id: int | None = _id()
    study_id: int = _ref("study.id")
    study_item_id: int = _ref("study_item.id")
    person_id: int | None = _ref("person.id", optional=True)
    kind: str = "slot"
    state: str = AssignmentState.OPEN
    queue: int = Field(sa_column=Column(BigInteger, nullable=False))
    sitting: int = 1
    steps_done: int = 0
    leased_at: datetime | None = _time(nullable=True)
    lease_until: datetime | None = _time(nullable=True)
    ended_at: datetime | None = _time(nullable=True)
    reason: str | None = None
    left_out_as: str | None = None
    allotted_to: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))


class SettlementState(StrEnum):
    """Where an item of a study stands on its way to final labels."""

    PENDING = "pending"
    AGREED = "agreed"
    DISPUTED = "disputed"
    ADJUDICATED = "adjudicated"


_FAILING = text("failing <> '[]'")
_UNREAD = text("failing IS NULL AND state IN ('agreed', 'adjudicated')")


class Settlement(Table, table=True):
    """Where each item of a study stands, kept as annotations and adjudications come in: what queues are read from.

    It can be derived again from the append-only tables. `dispute` orders the queue: the sum over disputed units of the
    share of votes against the most frequent label. `wanted`: how many annotations the item needs where that is neither
    its own overlap nor the study's, as its annotators disagreed. `failing`: the criteria whose final labels the
    protocol does not accept, once that was asked for; it is forgotten with every change (`db/releasing/states.py`).
    `stage`: which decision a disputed item waits for (`annotators/asking/rounds.py`); where one adjudicator decides, it
    is the first. `uncertainty` (bits) orders the queue where that was asked for (db/adjudicating/uncertainty.py).
    """

    __table_args__ = (
        Index("ix_settlement_queue", "study_id", "state", "dispute"),
        Index(
            "ix_settlement_uncertainty",
            "study_id",
            "uncertainty",
            sqlite_where=text("uncertainty IS NOT NULL"),
            postgresql_where=text("uncertainty IS NOT NULL"),
        ),
        Index("ix_settlement_failing", "study_id", "state", sqlite_where=_FAILING, postgresql_where=_FAILING),
        Index("ix_settlement_unread", "study_id", "study_item_id", sqlite_where=_UNREAD, postgresql_where=_UNREAD),
    )
    study_item_id: int = _ref("study_item.id", primary_key=True)
    study_id: int = _ref("study.id")
    state: str = SettlementState.PENDING
    n_annotations: int = 0
    n_disputed: int = 0
    dispute: float = 0
    wanted: int | None = None
    failing: list[Any] | None = _json(lambda: None, nullable=True)
    stage: str = "first"
    uncertainty: float | None = None


class AdjudicationLease(Table, table=True):
    """Who has an item of a study before them to decide, and until when they keep it without doing anything."""

    __tablename__ = "adjudication_lease"
    study_item_id: int = _ref("study_item.id", primary_key=True)
    stage: str = Field(default="first", primary_key=True)
    study_id: int = _ref("study.id", index=True)
    person_id: int = _ref("person.id")
    lease_until: datetime = _time()


class RevisionLease(Table, table=True):
    """Who has an item before them to revise, and until when they keep it without doing anything."""

    __tablename__ = "revision_lease"
    item_id: int = _ref("item.id", primary_key=True)
    person_id: int = _ref("person.id")
    lease_until: datetime = _time()


class Draft(Table, table=True):
    """What an annotator has entered but not committed: the one thing about a judgement that changes."""

    assignment_id: int = _ref("assignment.id", primary_key=True)
    step: int = Field(primary_key=True)
    content: dict[str, Any] = _json()
    seconds: float = 0
    saved_at: datetime = _time()


# Judgements -----------------------------------------------------------------------------------------------------------


class Submission(Table, table=True):
    """One committed step, with the id that the browser gave it: the same id twice is stored once. Append-only.

    `shown` records the materials that were before the annotator; `seconds` is the time on the step while the page was
    visible.
    """

    append_only: ClassVar[bool] = True
    __table_args__ = (
        UniqueConstraint("assignment_id", "sitting", "step"),
        Index("ix_submission_person", "person_id", "created_at"),
    )
    id: int | None = _id()
    uid: str = Field(unique=True)
    assignment_id: int = _ref("assignment.id")
    sitting: int = 1
    step: int = 0
    person_id: int = _ref("person.id")
    shown: list[Any] = _json(list)
    comment: str | None = None
    flag: str | None = None
    seconds: float | None = None
    created_at: datetime = _time()


class AnnotationKind(StrEnum):
    """How an annotation counts. Statistics take `regular` and `imported` unless told otherwise.

    `surplus` never counts: it came to a closed study, or from somebody whose labels may not. What only found no slot is
    `regular`, and set aside until its item wants it (`SetAside`).
    """

    REGULAR = "regular"
    SURPLUS = "surplus"
    IMPORTED = "imported"
    REPEAT = "repeat"
    GOLD = "gold"
    QUALIFICATION = "qualification"
    MODEL = "model"


BARRED = "barred"
"""Kind and state of a row that keeps an item from a person."""

IMPORTED = "imported"
"""The kind of an assignment that no slot was given out for: of labels, or a skip, that came in from elsewhere."""

PLANTED_KINDS = (AnnotationKind.GOLD, AnnotationKind.REPEAT)
"""What stands unannounced among what annotators are given, and uses no slot: the kinds of assignments as well."""

SLOTLESS_KINDS = (*PLANTED_KINDS, AnnotationKind.QUALIFICATION)
"""What is judged without using a slot: the kinds of assignments as well."""


class Annotation(Table, table=True):
    """A completed judgement of one item by one rater. Append-only: a correction is a new row that supersedes it."""

    append_only: ClassVar[bool] = True
    __table_args__ = (
        UniqueConstraint("assignment_id", "sitting"),
        Index("ix_annotation_study", "study_id", "study_item_id"),
        Index("ix_annotation_supersedes", "supersedes_id"),
        Index("ix_annotation_person", "study_id", "person_id"),
    )
    id: int | None = _id()
    study_id: int = _ref("study.id")
    study_item_id: int = _ref("study_item.id")
    assignment_id: int = _ref("assignment.id")
    sitting: int = 1
    person_id: int = _ref("person.id")
    kind: str = AnnotationKind.REGULAR
    supersedes_id: int | None = _ref("annotation.id", optional=True)
    run_id: int | None = _ref("run.id", optional=True)
    batch_id: int | None = _ref("batch.id", optional=True)
    seconds: float | None = None
    created_at: datetime = _time()


class KnownElsewhere(Table, table=True):
    """An annotation that was made in another program: what it is known as there, and whose it is here. Append-only.

    Of several rows of one mark the last one holds whose batch is not withdrawn; a skip has no batch.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "known_elsewhere"
    __table_args__ = (Index("ix_known_elsewhere_study", "study_id"),)
    id: int | None = _id()
    study_id: int = _ref("study.id")
    study_item_id: int = _ref("study_item.id")
    mark: str
    person_id: int = _ref("person.id")
    batch_id: int | None = _ref("batch.id", optional=True)


class Omission(Table, table=True):
    """A decision on one annotator's labels in a study: those since a moment are left out, or none. Append-only.

    The latest one of an annotator holds. `since` is None where it restores what was left out before.
    """

    append_only: ClassVar[bool] = True
    __table_args__ = (Index("ix_omission_annotator", "study_id", "annotator_id"),)
    id: int | None = _id()
    study_id: int = _ref("study.id")
    annotator_id: int = _ref("person.id")
    since: datetime | None = _time(nullable=True)
    reason: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class OmissionSurplus(Table, table=True):
    """An annotation that did not count under a decision, as its slot was taken while it was left out. Append-only.

    Decisions of before revision 0016 have such rows; since then `Surplus` says it.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "omission_surplus"
    omission_id: int = _ref("omission.id", primary_key=True)
    annotation_id: int = _ref("annotation.id", primary_key=True, index=True)


class Surplus(Table, table=True):
    """That an annotation does not count, as its item has all that are planned, or `counts` since. Append-only.

    The latest row of an annotation holds.
    """

    append_only: ClassVar[bool] = True
    id: int | None = _id()
    study_id: int = _ref("study.id", index=True)
    annotation_id: int = _ref("annotation.id", index=True)
    counts: bool
    created_at: datetime = _time()


class SetAside(Table, table=True):
    """An annotation that does not count whatever its kind says: `left_out`, or `surplus` while its item has enough.

    It follows from `Omission`, `Surplus`, `OmissionSurplus` and the time of the annotation, and is kept for queries.
    """

    __tablename__ = "set_aside"
    annotation_id: int = _ref("annotation.id", primary_key=True)
    study_id: int = _ref("study.id", index=True)
    kind: str


class StoredLabel(Table, table=True):
    """One value for one criterion and target, committed with a step. Append-only.

    It belongs to the annotation of the same (assignment, sitting), if that was ever completed. `value` is None exactly
    when `cannot_judge` holds, with the reason in `reason`. `confidence` and `same` are there where the study asks
    for them (annotators/asking/asides.py).
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "label"
    __table_args__ = (UniqueConstraint("assignment_id", "sitting", "criterion", "target"),)
    id: int | None = _id()
    submission_id: int = _ref("submission.id", index=True)
    assignment_id: int = _ref("assignment.id")
    sitting: int = 1
    criterion: str
    target: str = "item"
    value: Any = _json(lambda: None, nullable=True)
    cannot_judge: bool = False
    reason: str | None = None
    comment: str | None = None
    rationale: list[Any] | None = _json(lambda: None, nullable=True)
    confidence: str | None = None
    same: int | None = None


class Adjudication(Table, table=True):
    """The settling of one disputed item in one round, by whom and why. Append-only.

    `stage`: `first` and `second` are the rounds of double adjudication that are blind to each other: what both decide
    alike is final. `final` is a decision that stands by itself.
    """

    append_only: ClassVar[bool] = True
    __table_args__ = (Index("ix_adjudication_item", "study_item_id", "round"),)
    id: int | None = _id()
    uid: str = Field(unique=True)
    study_id: int = _ref("study.id", index=True)
    study_item_id: int = _ref("study_item.id")
    round: int = 1
    stage: str = "final"
    person_id: int = _ref("person.id")
    reason: str | None = None
    created_at: datetime = _time()


class Message(Table, table=True):
    """What one annotator of an item said to the others who labelled it, once all had. Append-only."""

    append_only: ClassVar[bool] = True
    id: int | None = _id()
    uid: str = Field(unique=True)
    study_id: int = _ref("study.id", index=True)
    study_item_id: int = _ref("study_item.id", index=True)
    person_id: int = _ref("person.id")
    text: str
    created_at: datetime = _time()


class AdjudicatedLabel(Table, table=True):
    """The final value of one criterion and target. Append-only. `overrules`: it goes against a majority.

    Where the adjudicator said so: `cause` of the disagreement, `confidence`, and a `note` of what the guidelines should
    say.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "adjudicated_label"
    adjudication_id: int = _ref("adjudication.id", primary_key=True)
    criterion: str = Field(primary_key=True)
    target: str = Field(default="item", primary_key=True)
    value: Any = _json(lambda: None, nullable=True)
    overrules: bool = False
    reason: str | None = None
    cause: str | None = None
    confidence: str | None = None
    note: str | None = None


# Ends and releases ----------------------------------------------------------------------------------------------------


class ItemEnding(Table, table=True):
    """How somebody ended an item by hand (accepted, rejected or withdrawn), or took that back (None). Append-only.

    The latest one of an item holds; an acceptance holds for the version that it was given for.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "item_ending"
    id: int | None = _id()
    item_id: int = _ref("item.id", index=True)
    item_version_id: int = _ref("item_version.id")
    state: str | None = None
    reason: str
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class Release(Table, table=True):
    """The accepted items of a project, or of one study, with their final labels at one moment. Append-only.

    `sha256` follows from what is in it alone (`db/releasing/releases.py`); `event_id` is the last event that it
    knows of, and `states` counts all items by where they stood then. `holds` names the items that lack something, and
    those that were left out for it; releases from before it was looked at have none.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "item_release"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    name: str
    study_id: int | None = _ref("study.id", optional=True)
    sha256: str
    n_items: int
    n_labels: int
    n_pairs: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    states: dict[str, Any] = _json()
    holds: dict[str, Any] | None = _json(lambda: None, nullable=True)
    event_id: int = Field(sa_column=Column(BigInteger, nullable=False))
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class ReleaseItem(Table, table=True):
    """An item version that is in a release. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "release_item"
    release_id: int = _ref("item_release.id", primary_key=True)
    item_version_id: int = _ref("item_version.id", primary_key=True)


class ReleaseLabel(Table, table=True):
    """A final label in a release: how it was reached, by which votes, and for which version number. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "release_label"
    release_id: int = _ref("item_release.id", primary_key=True)
    item_version_id: int = _ref("item_version.id", primary_key=True)
    study_id: int = _ref("study.id", primary_key=True)
    criterion: str = Field(primary_key=True)
    target: str = Field(default="item", primary_key=True)
    value: Any = _json(lambda: None, nullable=True)
    how: str
    votes: dict[str, Any] = _json()
    version: int


class ReleasePair(Table, table=True):
    """Two item versions that a study compares, in a release, and which of them stood left. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "release_pair"
    release_id: int = _ref("item_release.id", primary_key=True)
    study_id: int = _ref("study.id", primary_key=True)
    item_version_id: int = _ref("item_version.id", primary_key=True)
    other_version_id: int = _ref("item_version.id", primary_key=True)
    other_left: bool = False


class ReleasePairLabel(Table, table=True):
    """A final label of a pair in a release, and for which version numbers it was given. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "release_pair_label"
    release_id: int = _ref("item_release.id", primary_key=True)
    study_id: int = _ref("study.id", primary_key=True)
    item_version_id: int = _ref("item_version.id", primary_key=True)
    other_version_id: int = _ref("item_version.id", primary_key=True)
    criterion: str = Field(primary_key=True)
    target: str = Field(default="pair", primary_key=True)
    value: Any = _json(lambda: None, nullable=True)
    how: str
    votes: dict[str, Any] = _json()
    version: int
    other_version: int


# Scores, jobs, events -------------------------------------------------------------------------------------------------


class Run(Table, table=True):
    """One run of a scorer or judge, or the scores of one import: name, version, parameters. Append-only."""

    append_only: ClassVar[bool] = True
    id: int | None = _id()
    project_id: int = _ref("project.id", index=True)
    kind: str = "scorer"
    name: str
    version: str
    parameters: dict[str, Any] = _json()
    parameters_hash: str
    person_id: int | None = _ref("person.id", optional=True)
    batch_id: int | None = _ref("batch.id", optional=True)
    created_at: datetime = _time()


class Score(Table, table=True):
    """One value given by a scorer to one target of an item version, or unscored with the reason. Append-only.

    `name` tells apart the values of one run (`correctness`, `hallucination`); flags are 0 and 1.
    """

    append_only: ClassVar[bool] = True
    __table_args__ = (
        UniqueConstraint("run_id", "item_version_id", "name", "target"),
        Index("ix_score_item_version", "item_version_id"),
    )
    id: int | None = _id()
    run_id: int = _ref("run.id")
    item_version_id: int = _ref("item_version.id")
    name: str
    target: str = "item"
    value: float | None = None
    reason: str | None = None
    details: dict[str, Any] | None = _json(lambda: None, nullable=True)


class Judge(Table, table=True):
    """A language model with a prompt, as the rater of kind model that its labels are by. Append-only.

    `server` is its base URL without credentials, `settings` what the labels depend on besides: the whole prompt,
    temperature, seed, samples. Judges of a project that agree in all of these are one (`settings_hash`).
    """

    append_only: ClassVar[bool] = True
    __table_args__ = (UniqueConstraint("project_id", "settings_hash"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    person_id: int = _ref("person.id", unique=True)
    model: str
    server: str
    prompt: str
    settings: dict[str, Any] = _json()
    settings_hash: str
    created_at: datetime = _time()


class JudgeCall(Table, table=True):
    """A request to a judge's server, entered before it is sent with the most that it can cost. Append-only.

    `key` is the SHA-256 of all that the reply depends on, and `sample` counts requests for the same. A call without a
    reply was under way when its process ended: it may have been paid.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "judge_call"
    __table_args__ = (Index("ix_judge_call_key", "key", "sample"),)
    id: int | None = _id()
    project_id: int = _ref("project.id", index=True)
    job_id: int | None = _ref("job.id", optional=True, index=True)
    key: str
    sample: int = 0
    tokens: int
    cost: float | None = None
    created_at: datetime = _time()


class JudgeReply(Table, table=True):
    """What came back of a call, kept the moment it is there: nothing is paid twice. Append-only.

    `ending` says whether it is whole (annotators/judges/base.py). `tokens_in` and `tokens_out` are as the server counts
    them, `cost` in the currency of the prices file.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "judge_reply"
    call_id: int = _ref("judge_call.id", primary_key=True)
    ending: str
    text: str
    said: str | None = None
    model: str = ""
    fingerprint: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    retries: int = 0
    chances: dict[str, Any] = _json()
    created_at: datetime = _time()


class JudgedItem(Table, table=True):
    """What a run of a judge made of one item: its annotation, and what it left unscored. Append-only.

    `unscored` lists {"criterion", "targets", "reason", "said"}; `shares` has, where the judge was asked several times,
    criterion → target → label → share of the samples, and `chances`, where the server gave them, the same of the
    labels' probabilities.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "judged_item"
    run_id: int = _ref("run.id", primary_key=True)
    study_item_id: int = _ref("study_item.id", primary_key=True)
    annotation_id: int | None = _ref("annotation.id", index=True, optional=True)
    unscored: list[Any] = _json(list)
    shares: dict[str, Any] | None = _json(lambda: None, nullable=True)
    chances: dict[str, Any] | None = _json(lambda: None, nullable=True)


class DataMark(Table, table=True):
    """The secret that a project's data is marked by where judges are sent it, so that no text can end the mark."""

    __tablename__ = "data_mark"
    project_id: int = _ref("project.id", primary_key=True)
    secret: str


class KeptDocument(Table, table=True):
    """A document, by its key, that must never leave this machine: no judge elsewhere is sent anything of it."""

    __tablename__ = "kept_document"
    project_id: int = _ref("project.id", primary_key=True)
    key: str = Field(primary_key=True)
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class JobState(StrEnum):
    """Where long work stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED = (JobState.WAITING, JobState.RUNNING)
"""States in which a job is still to be done."""


class Job(Table, table=True):
    """Long work: what it is, how far it is, what went wrong.

    While it runs, `worker` is the process that has it and `heartbeat_at` when that process last said so; `attempts`
    counts how often it was taken up without getting any further. `rate` is in units of `done` a second. `run_id` is
    the run whose scores it writes, so that the work goes on in the same run when it is taken up again.
    """

    __table_args__ = (Index("ix_job_state", "state", "id"),)
    id: int | None = _id()
    project_id: int | None = _ref("project.id", optional=True, index=True)
    kind: str
    parameters: dict[str, Any] = _json()
    state: str = JobState.WAITING
    done: int = 0
    total: int | None = None
    message: str | None = None
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()
    started_at: datetime | None = _time(nullable=True)
    ended_at: datetime | None = _time(nullable=True)
    worker: str | None = None
    heartbeat_at: datetime | None = _time(nullable=True)
    attempts: int = 0
    cancel_requested: bool = False
    rate: float | None = None
    run_id: int | None = _ref("run.id", optional=True)
    result: dict[str, Any] | None = _json(lambda: None, nullable=True)


class TrainingSetVersion(Table, table=True):
    """One version of the labelled texts that a classifier of a project compares with. Append-only.

    The version with the highest number is the current one. `report` holds what was shown before it was accepted: the
    accuracy before and after, the confusion, and how many flags change.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "training_set"
    __table_args__ = (UniqueConstraint("project_id", "name", "number"),)
    id: int | None = _id()
    project_id: int = _ref("project.id")
    name: str
    number: int = 1
    content_hash: str
    report: dict[str, Any] = _json()
    reason: str = ""
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class TrainingExample(Table, table=True):
    """One labelled text of one version of a training set. Append-only; each version has all of its examples.

    `origin` says where it comes from in words; `item_version_id` is the item whose answer people labelled, if any.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "training_example"
    training_set_id: int = _ref("training_set.id", primary_key=True)
    position: int = Field(primary_key=True)
    text: str
    label: str
    origin: str = ""
    item_version_id: int | None = _ref("item_version.id", optional=True)


class Event(Table, table=True):
    """One row of the audit log: who did what to which thing, when, and from where. Append-only."""

    append_only: ClassVar[bool] = True
    __table_args__ = (
        Index("ix_event_project", "project_id", "id"),
        Index("ix_event_thing", "thing", "thing_id", "kind"),
    )
    id: int | None = _id()
    at: datetime = _time()
    person_id: int | None = _ref("person.id", optional=True)
    via: str = "web"
    project_id: int | None = _ref("project.id", optional=True)
    kind: str
    thing: str
    thing_id: int | None = Field(default=None, sa_type=Identifier)
    details: dict[str, Any] = _json()


def tables() -> list[type[Table]]:
    """Every table class, in the order of their definition."""
    return [cls for cls in Table.__subclasses__() if hasattr(cls, "__table__")]


def append_only_tables() -> list[str]:
    """The names of the tables whose rows are never changed or deleted."""
    return [cls.__table__.name for cls in tables() if cls.append_only]  # type: ignore[attr-defined]


# Draws of what to label next ------------------------------------------------------------------------------------------


class LabelDraw(Table, table=True):
    """Items of a study drawn to be labelled next, by the expected error of predictions of a criterion. Append-only.

    `predictions` names the scores and judges that it went by.
    """

    append_only: ClassVar[bool] = True
    __tablename__ = "label_draw"
    id: int | None = _id()
    study_id: int = _ref("study.id", index=True)
    criterion: str
    seed: int = Field(sa_column=Column(BigInteger, nullable=False))
    predictions: list[Any] = _json(list)
    person_id: int | None = _ref("person.id", optional=True)
    created_at: datetime = _time()


class DrawnItem(Table, table=True):
    """An item of a draw, its place in it, and the probability (0..1) with which it was drawn. Append-only."""

    append_only: ClassVar[bool] = True
    __tablename__ = "drawn_item"
    study_item_id: int = _ref("study_item.id", primary_key=True)
    draw_id: int = _ref("label_draw.id", index=True)
    place: int
    probability: float
