"""A project that files of a format are imported into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from sqlmodel import select

from annotators.items.item import ItemContent
from annotators.items.normal import Normal
from annotators.protocols import Protocol
from db.engine import Database
from db.items.imports import ImportReport
from db.items.read import current_versions
from db.items.rows import items_as_json, read_items
from db.models import Study
from db.studies.design import protocol_of
from exports.importing.items import import_paths
from tests.makers import make_person, make_project


class Place:
    """A project, its administrator, and a home for documents."""

    def __init__(self, db: Database, home: Path) -> None:
        self.db, self.home = db, home
        self.actor, self.project = make_person(db, admin=True), make_project(db)

    def take(self, *paths: Path, **options: Any) -> ImportReport:
        return import_paths(self.db, self.actor, self.project, paths=paths, data_folder=self.home, **options)

    def items(self) -> list[ItemContent]:
        with self.db.read() as session:
            ids = [version.version_id for version in current_versions(session, self.project)]
            items = read_items(session, ids)
            return [items[version_id].content for version_id in ids]

    def protocol(self, study: str) -> Protocol:
        """What a study of the project asks."""
        with self.db.read() as session:
            return protocol_of(session.exec(select(Study).where(Study.name == study)).one())


def as_json(place: Place) -> dict[str, Normal]:
    """The items by their id, as they are exported; scores in no order."""
    with place.db.read() as session:
        ids = [version.version_id for version in current_versions(session, place.project)]
        items = [orjson.loads(orjson.dumps(item)) for item in items_as_json(session, ids).values()]
    for item in items:
        item["scores"] = sorted(item.get("scores", []), key=lambda score: (score["scorer"], score["name"]))
    return {item["id"]: item for item in items}


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    return path
