"""Revisions: an item in a new version, by whom and why, and which labels of its studies fall with the edit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func
from sqlmodel import Session, col

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from annotators.figures import count
from annotators.items.item import ItemContent
from annotators.items.normal import item_hash
from annotators.items.revising import edited, fallen_verdicts, revised
from db.engine import Database
from db.items.current import is_set_aside, item_is_current
from db.items.rows import insert_items, read_items, rows_of
from db.models import Adjudication, Annotation, Document, Item, ItemVersion, Revision, Study, StudyItem, now
from db.people.accounts import who_may_revise
from db.permissions import RESEARCHERS, Actor, On, Role, operation, record, role_in
from db.query import database_time, fresh_ids, pick
from db.studies.design import protocol_of
from db.studies.settlements import COUNTING


@dataclass(frozen=True)
class StudyEffect:
    """What an edit means for a study that has the item: the criteria whose labels fall, and the others.

    `annotations` counts the people who have judged it; in a study where nobody has yet, what they say of the version
    that the study has falls all the same.
    """

    study_id: int
    study: str
    annotations: int
    falls: list[str]
    stays: list[str]


@dataclass(frozen=True)
class ItemRevision:
    """An item before and after an edit. `version` is the number of the new one; `edited` the fields, with `roles`.

    `verdicts` is how many verdicts that came with the item fall, as they are on what is edited.
    """

    item: str
    before: ItemContent
    after: ItemContent
    from_version: int
    version: int
    edited: tuple[str, ...]
    effects: list[StudyEffect]
    verdicts: int = 0

    @property
    def labelled(self) -> list[StudyEffect]:
        """The studies in which somebody has judged the item."""
        return [effect for effect in self.effects if effect.annotations]

    def to_json(self) -> dict[str, Any]:
        """As `assay revise --json` prints it."""
        return {
            "item": self.item,
            "from": self.from_version,
            "to": self.version,
            "changed": list(self.edited),
            "invalidated": [
                {"study": effect.study, "annotations": effect.annotations, "criteria": effect.falls}
                for effect in self.labelled
                if effect.falls
            ],
            "kept": [
                {"study": effect.study, "annotations": effect.annotations, "criteria": effect.stays}
                for effect in self.labelled
                if effect.stays
            ],
            "fallen_verdicts": self.verdicts,
        }


@operation(On.PROJECT, RESEARCHERS)
def plan_revision(
    db: Database, actor: Actor, project_id: int, *, external_id: str, fields: Mapping[str, Any]
) -> ItemRevision:
    """What `revise_item` would do; it raises what that would raise, and nothing is stored."""
    with db.read() as session:
        return _planned(session, actor, project_id, external_id, fields)[0]


@operation(On.PROJECT, RESEARCHERS)
def why_not_revise(db: Database, actor: Actor, project_id: int, *, external_id: str) -> str | None:
    """Why this person may not revise an item, in words; None: they may. NotFound for an item that is not there."""
    with db.read() as session:
        return why_not_in(session, actor, project_id, _item_id(session, project_id, external_id))


@operation(On.PROJECT, RESEARCHERS)
def revise_item(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    external_id: str,
    fields: Mapping[str, Any],
    reason: str,
    from_version: int | None = None,
    proposed: Mapping[str, Any] | None = None,
) -> ItemRevision:
    """Store the item in a new version, with other values for these fields of its normal form.

    Earlier versions stay, and so does everything about them: studies are frozen with the version they were made with,
    and scores are of the version that was scored. New studies and runs take the new one. The reason is kept, and with
    it which criteria of which studies have labels that fall (`Protocol.invalidates`); verdicts that came with the item
    fall as `annotators.items.revising.revised` says. `proposed` says which of the
    fields a model has drafted (`db.judging.drafting.drafts_taken`); it stands in the event.

    Raises NotFound for an item that the project does not have now, InvalidInput for fields that `revised` refuses, an
    empty reason, and documents or pages that are not there, Conflict where the item is not in `from_version` any more.
    """
    with db.write() as session:
        return revise_in(
            session, actor, project_id,
            external_id=external_id, fields=fields, reason=reason, from_version=from_version, proposed=proposed,
        )[0]  # fmt: skip


def planned_in(
    session: Session,
    actor: Actor,
    project_id: int,
    *,
    external_id: str,
    fields: Mapping[str, Any],
    own_verdicts: bool = False,
) -> ItemRevision:
    """As `plan_revision`, as this session sees the database; `own_verdicts` as of `revised`."""
    return _planned(session, actor, project_id, external_id, fields, own_verdicts=own_verdicts)[0]


def revise_in(
    session: Session,
    actor: Actor,
    project_id: int,
    *,
    external_id: str,
    fields: Mapping[str, Any],
    reason: str,
    from_version: int | None = None,
    proposed: Mapping[str, Any] | None = None,
    own_verdicts: bool = False,
) -> tuple[ItemRevision, int]:
    """As `revise_item`, in the caller's transaction, whose actor may do it; with the id of the revision.

    `own_verdicts` as of `annotators.items.revising.revised`.
    """
    why = reason.strip()
    if not why:
        raise InvalidInput("Say why the item is revised: the reason is kept with the new version.")
    plan, item_id, before_id = _planned(
        session, actor, project_id, external_id, fields, own_verdicts=own_verdicts, lock=True
    )
    if from_version is not None and plan.from_version != from_version:
        raise Conflict(
            f"Somebody else has revised the item meanwhile: it is in version {plan.from_version}, and you began "
            f"from version {from_version}. Look at it again."
        )
    [version_id] = fresh_ids(session, "item_version", 1)
    at, rows = now(), rows_of(plan.after)
    own = (
        version_id, item_id, plan.version, item_hash(plan.after), None, actor.person_id, database_time(session, at),
    )  # fmt: skip
    insert_items(session, [(own, rows)], _documents(session, project_id, plan.after, rows.cited))
    row = Revision(
        item_id=item_id,
        from_version_id=before_id,
        to_version_id=version_id,
        invalidates=[{"study": effect.study_id, "criteria": effect.falls} for effect in plan.effects if effect.falls],
        reason=why,
        person_id=actor.person_id,
        created_at=at,
    )
    session.add(row)
    session.flush()
    assert row.id is not None
    details = {"from": plan.from_version, "to": plan.version, "changed": list(plan.edited), "reason": why}
    if proposed:
        details["proposed"] = dict(proposed)
    record(session, actor, "item revised", "item", item_id, project_id=project_id, details=details)
    return plan, row.id


def _planned(
    session: Session,
    actor: Actor,
    project_id: int,
    external_id: str,
    fields: Mapping[str, Any],
    *,
    own_verdicts: bool = False,
    lock: bool = False,
) -> tuple[ItemRevision, int, int]:
    """The revision, the item's id, and the id of its latest version."""
    item_id = _item_id(session, project_id, external_id, lock=lock)
    if (why_not := why_not_in(session, actor, project_id, item_id)) is not None:
        raise NotAllowed(why_not)
    latest = pick(ItemVersion.id).where(col(ItemVersion.item_id) == item_id).order_by(col(ItemVersion.number).desc())
    before_id = session.execute(latest.limit(1)).scalar_one()
    stored = read_items(session, [before_id])[before_id]
    after = revised(stored.content, fields, own_verdicts=own_verdicts)
    _documents(session, project_id, after, rows_of(after).cited)
    touched = edited(stored.content, after)
    effects, fallen = _effects(session, item_id, touched, stored.content, after), fallen_verdicts(stored.content, after)
    return (
        ItemRevision(external_id, stored.content, after, stored.number, stored.number + 1, touched, effects, fallen),
        item_id,
        before_id,
    )


def _item_id(session: Session, project_id: int, external_id: str, *, lock: bool = False) -> int:
    query = pick(Item.id).where(
        col(Item.project_id) == project_id, col(Item.external_id) == external_id, item_is_current()
    )
    item_id: int | None = session.execute(query.with_for_update() if lock else query).scalar_one_or_none()
    if item_id is None:
        raise NotFound(f"The project has no item {external_id!r}. Look the id up in the list of items.")
    return item_id


_NAMED = 5


def why_not_in(session: Session, actor: Actor, project_id: int, item_id: int) -> str | None:
    """Why somebody may not revise an item, where a study of it asks for others than who judged or wrote it.

    A reviser never revises what they judged or wrote. Who imported it has not written it: that is the benchmark's
    author, or a system.
    """
    only_revises = role_in(session, actor.person_id, project_id) is Role.REVISER
    version = pick(ItemVersion.id).where(col(ItemVersion.item_id) == item_id)
    places = session.execute(
        pick(StudyItem.id, Study)
        .join(Study, col(Study.id) == StudyItem.study_id)
        .where(col(StudyItem.item_version_id).in_(version) | col(StudyItem.other_version_id).in_(version))
    ).all()
    strict = {place: study.name for place, study in places if only_revises or study.settings.get("separate_revisers")}
    if not strict and not only_revises:
        return None
    did: dict[int, str] = {}
    for table, word in ((Annotation, "judged"), (Adjudication, "decided")):
        given = pick(table.person_id, table.study_item_id).where(col(table.study_item_id).in_(strict))
        for person_id, place in session.execute(given):
            did.setdefault(person_id, f"{word} it in the study {strict[place]!r}")
    for person_id in session.execute(pick(Revision.person_id).where(col(Revision.item_id) == item_id)).scalars():
        did.setdefault(person_id, "revised it before")
    if actor.person_id not in did:
        return None
    others = [name for person_id, name in who_may_revise(session, project_id).items() if person_id not in did]
    ask = f"Ask one of those who may: {', '.join(others[:_NAMED])}." if others else (
        "Nobody who may revise has not: make somebody else a reviser of the project."
    )  # fmt: skip
    if only_revises:
        return f"You {did[actor.person_id]}, and a reviser revises what others judged and wrote. {ask}"
    [study, *_] = sorted(set(strict.values()))
    return (
        f"You {did[actor.person_id]}, and the study {study!r} wants items revised by others than who judged, decided "
        f"or revised them. {ask}"
    )


def _documents(session: Session, project_id: int, item: ItemContent, keys: Collection[str]) -> dict[str, int]:
    """Key → id of the documents that the item points at; InvalidInput for one, or a page of one, that is not there."""
    query = pick(Document.key, Document.id, Document.n_pages)
    rows = session.execute(query.where(col(Document.project_id) == project_id, col(Document.key).in_(keys))).all()
    n_pages = {key: n for key, _, n in rows}
    if missing := sorted(set(keys) - n_pages.keys()):
        raise InvalidInput(
            f"The project has no document {missing[0]!r}. Import it first, or correct the key; more of them: "
            f"{len(missing) - 1}."
        )
    for about, document, page in item.pages_named():
        n = n_pages.get(document)
        if n is not None and page > n:
            raise InvalidInput(
                f"{about}: document {document!r} has {count(n, 'page')}, so that there is no page {page}."
            )
    return {key: document_id for key, document_id, _ in rows}


def _effects(
    session: Session, item_id: int, touched: Sequence[str], before: ItemContent, after: ItemContent
) -> list[StudyEffect]:
    """The studies that have any version of the item."""
    was, is_now = before.units(), after.units()
    rows = session.execute(
        pick(Study, func.count(func.distinct(Annotation.person_id)))
        .join(StudyItem, col(StudyItem.study_id) == Study.id)
        .join(ItemVersion, col(ItemVersion.id).in_([col(StudyItem.item_version_id), col(StudyItem.other_version_id)]))
        .join(
            Annotation,
            and_(
                col(Annotation.study_item_id) == StudyItem.id,
                col(Annotation.kind).in_(COUNTING),
                ~is_set_aside(col(Annotation.id)),
            ),
            isouter=True,
        )
        .where(col(ItemVersion.item_id) == item_id)
        .group_by(col(Study.id))
        .order_by(col(Study.id))
    ).all()
    effects = []
    for study, n in rows:
        protocol = protocol_of(study)
        falls = protocol.fallen(touched, was, is_now)
        stays = [criterion.name for criterion in protocol.criteria if criterion.name not in falls]
        effects.append(StudyEffect(study.id, study.name, n, falls, stays))
    return effects
