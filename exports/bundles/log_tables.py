"""`versions.csv`, `revisions.csv`, `events.csv`: what became of a project's items, and who did what when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from db.items.current import is_published
from db.items.rows import items_as_json
from db.models import Account, Event, Item, ItemVersion, Revision, Study
from db.people.named import AMENDED, numbers_in, with_names
from db.people.pseudonyms import told_apart
from db.query import pick
from exports.bundles.columns import names_of
from exports.cells import safe
from exports.csv_file import CsvFile
from exports.sinks import Out

AT_ONCE = 500
_ABOUT_PEOPLE = (AMENDED, "labels left out", "labels restored", "annotator let in")
"""Kinds of events whose details are about somebody."""


class RevisedItem(NamedTuple):
    """One version of an item (its id outside) that has several, and the number of its newest one."""

    item: str
    version: int
    latest: int


def revised_versions(session: Session, project_id: int) -> dict[int, RevisedItem]:
    """Every version (its id) of the project's items that have more than one: what it costs goes by these alone."""
    later = aliased(ItemVersion)
    latest = (
        pick(later.item_id, func.max(later.number).label("number"))
        .join(Item, col(Item.id) == later.item_id)
        .where(col(later.number) > 1, col(Item.project_id) == project_id, is_published(later.batch_id))
        .group_by(col(later.item_id))
        .subquery()
    )
    rows = session.execute(
        pick(ItemVersion.id, Item.external_id, ItemVersion.number, latest.c.number)
        .select_from(latest)
        .join(ItemVersion, col(ItemVersion.item_id) == latest.c.item_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
    )
    return {version_id: RevisedItem(*about) for version_id, *about in rows}


def write_versions(items: Sequence[RevisedItem], out: Out) -> int:
    """Write these items, in their order; how many."""
    table = CsvFile(out, names_of("versions"))
    table.add(((safe(row.item), row.version, row.latest) for row in items), len(items))
    return len(items)


def write_revisions(session: Session, project_id: int, out: Out, *, names: bool) -> int:
    """Write one row a revision of an item of the project, in the order of time; how many rows."""
    table = CsvFile(out, names_of("revisions"))
    people = _people(session, project_id, names=names)
    after = n = 0
    query = (
        pick(
            Revision.id, Item.external_id, Revision.from_version_id, Revision.to_version_id, Study.name,
            Revision.person_id, Revision.created_at, Revision.reason, Revision.invalidates,
        )
        .select_from(Revision)
        .join(Item, col(Item.id) == Revision.item_id)
        .join(Study, col(Study.id) == Revision.study_id, isouter=True)
        .where(col(Item.project_id) == project_id)
        .order_by(col(Revision.id))
    )  # fmt: skip
    while rows := session.execute(query.where(col(Revision.id) > after).limit(AT_ONCE)).all():
        versions = [version for row in rows for version in row[2:4]]
        contents = {version: orjson.loads(orjson.dumps(item)) for version, item in _contents(session, versions).items()}
        numbered = pick(ItemVersion.id, ItemVersion.number).where(col(ItemVersion.id).in_(versions))
        numbers = {row[0]: row[1] for row in session.execute(numbered)}
        cells = [
            (
                *(safe(item), numbers[first], numbers[second], _changed(contents[first], contents[second])),
                *(safe(study or ""), people.get(person, ""), _time(at), safe(reason), _json(invalidates)),
            )
            for _, item, first, second, study, person, at, reason, invalidates in rows
        ]
        table.add(cells, len(cells))
        n += len(cells)
        after = rows[-1][0]
    return n


def _contents(session: Session, versions: list[int]) -> Mapping[int, Any]:
    return items_as_json(session, list(dict.fromkeys(versions)))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The fields that differ; scores are no part of what an item says."""
    names = dict.fromkeys([*before, *after])
    return " ".join(name for name in names if name != "scores" and before.get(name) != after.get(name))


def write_events(session: Session, project_id: int, out: Out, *, names: bool) -> int:
    """Write one row an event of the project, in the order of time; how many rows.

    People are P1, P2, … in the order of their first event unless `names`; where an event's details are about somebody
    they are called so there, too. A name that stands in details of earlier versions is `somebody`.
    """
    table = CsvFile(out, names_of("events"))
    people = _people(session, project_id, names=names)

    def called(who: int | str) -> str:
        if isinstance(who, int):
            return people.get(who, "somebody")
        return who if names else "somebody"

    after = n = 0
    query = pick(Event).where(col(Event.project_id) == project_id).order_by(col(Event.id))
    while rows := list(session.execute(query.where(col(Event.id) > after).limit(AT_ONCE)).scalars()):
        cells = [
            (
                *(event.id, _time(event.at), people.get(event.person_id, ""), event.via, event.kind, event.thing),
                people.get(event.thing_id, "") if event.thing == "person" else event.thing_id,
                _json(with_names(event.kind, event.details, called)),
            )
            for event in rows
        ]
        table.add(cells, len(cells))
        n += len(cells)
        after = rows[-1].id or 0
        for event in rows:
            session.expunge(event)
    return n


def _people(session: Session, project_id: int, *, names: bool) -> dict[int, str]:
    """Who did something in the project, or something was done to, as the tables call them."""
    acted: dict[int, None] = {}
    events = pick(Event.person_id, Event.thing, Event.thing_id).where(col(Event.project_id) == project_id)
    for person, thing, thing_id in session.execute(events.order_by(col(Event.id))):
        for found in (person, thing_id if thing == "person" else None):
            if found is not None:
                acted.setdefault(found)
    about = pick(Event.kind, Event.details).where(
        col(Event.project_id) == project_id, col(Event.kind).in_(_ABOUT_PEOPLE)
    )
    for kind, details in session.execute(about.order_by(col(Event.id))):
        for number in numbers_in(kind, details):
            acted.setdefault(number)
    called = {person: f"P{number}" for number, person in enumerate(acted, 1)}
    if not names:
        return called
    query = pick(Account.person_id, Account.name).where(col(Account.person_id).in_(acted))
    known = {row[0]: safe(row[1]) for row in session.execute(query)}
    return told_apart(called, known)


def _time(at: Any) -> str:
    return str(at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


def _json(value: Any) -> str:
    return safe(orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())
