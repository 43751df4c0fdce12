"""A field that is declared is carried everywhere: read, stored, read again, exported, hashed, shown and documented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.items.item import DESCRIBED, ItemContent, fields_of
from annotators.items.normal import content_hash, read_item, to_json
from app.widgets import blocks, item_view
from db.engine import Database
from db.items import rows
from db.items.read import current_versions
from db.items.rows import StoredItem, items_as_json, read_items
from db.models import ItemVersion
from db.query import table_of
from exports.scoring.output import COLUMNS
from tests.db.items.test_imports import Place
from tests.exports.sources import full_item

DOCS = (Path(__file__).parents[3] / "docs/importing.md").read_text()


def every_field() -> dict[str, Any]:
    """A row with a value for every field that is declared; short texts that no test knows yet are made up."""
    described = {name: f"some {name}" for name, _ in DESCRIBED}
    parts = {
        "claims": [{"key": "c9", "text": "They came by boat.", "of": "reference", "metadata": {"sure": True}}],
        "images": [{"document": "a.pdf", "page": 3, "box": [0, 0, 1, 1], "caption": "The pier", "colour": "red"}],
        "hops": [{"question": "Which museum?", "answer": "The harbour museum", "metadata": {"b": 1, "a": 2}}],
        "scores": [
            {"name": "correctness", "value": 0.5, "target": "claim:c9", "parameters": {"k": 2}, "scorer": "other"},
            {"name": "faithfulness", "reason": "no contexts"},
        ],
    }
    return full_item(**described, **parts)


def fields_at_their_default(declared: Any, contents: tuple[Any, ...]) -> list[str]:
    """The fields of a type that have no other value than their default in any of these."""
    fields = fields_of(declared)
    own = [field.name for field in fields if all(getattr(content, field.name) == field.default for content in contents)]
    for field in fields:
        if field.part:
            parts = tuple(part for content in contents for part in getattr(content, field.name))
            own += [f"{field.name}.{name}" for name in fields_at_their_default(field.part, parts)]
    return own


def stored(database: Database, row: dict[str, Any]) -> tuple[StoredItem, bytes]:
    """An item that was imported, as it is read and as it is exported."""
    place = Place(database)
    place.take(row)
    with database.read() as session:
        [version] = current_versions(session, place.project)
        item = read_items(session, [version.version_id])[version.version_id]
        return item, orjson.dumps(items_as_json(session, [version.version_id])[version.version_id])


def test_every_field_goes_in_and_comes_out_again(database: Database) -> None:
    item = read_item(every_field())
    assert fields_at_their_default(ItemContent, (item,)) == []
    found, exported = stored(database, every_field())
    assert found.content._replace(version_id=0, scores=item.scores) == item
    assert exported == orjson.dumps(to_json(item))
    assert found.content_hash == content_hash(to_json(item))


def test_an_item_of_nothing_but_defaults_comes_out_again(database: Database) -> None:
    row = {"question": "Who?", "evidence": [{}], "claims": [{"text": "He."}], "images": [{}], "hops": [{}]}
    item = read_item(row)
    found, exported = stored(database, row)
    assert found.content._replace(version_id=0) == item
    assert exported == orjson.dumps(to_json(item))


def test_every_field_but_the_id_and_the_scores_is_part_of_the_hash() -> None:
    item = read_item(every_field())
    digest = content_hash(to_json(item))
    unsaid = [
        field.name
        for field in fields_of(ItemContent)
        if content_hash(to_json(item._replace(**{field.name: field.default}))) == digest
    ]
    assert unsaid == ["id", "scores"]


def test_a_part_may_be_left_out_when_items_are_read(database: Database) -> None:
    place = Place(database)
    place.take(every_field())
    with database.read() as session:
        ids = [version.version_id for version in current_versions(session, place.project)]
        [whole], [bare], [some] = (
            [item.content for item in read_items(session, ids, parts).values()]
            for parts in (rows.PARTS, (), ("claims", "metadata"))
        )
    assert bare == whole._replace(**{name: ItemContent._field_defaults[name] for name in rows.PARTS})
    assert some == bare._replace(claims=whole.claims, metadata=whole.metadata)


def test_a_column_of_a_version_holds_a_field_or_what_the_database_adds() -> None:
    columns = set(table_of(ItemVersion).c.keys())
    assert columns == {*rows._VERSION.written, *rows.VERSION}


def test_a_field_without_a_column_is_an_error_at_once() -> None:
    with pytest.raises(TypeError, match="Field 'kind' has no column in the table image"):
        rows._Columns(rows.ItemEvidence, table_of(rows.Image))


def test_short_texts_that_describe_an_item_are_shown_on_its_page(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, object]] = []
    monkeypatch.setattr(blocks, "facts", shown.extend)
    found, _ = stored(sqlite_database, every_field())
    item_view.statement(found)
    assert shown[: len(DESCRIBED)] == [(title, f"some {name}") for name, title in DESCRIBED]
    assert {name for name, _ in DESCRIBED} <= set(COLUMNS)


def test_every_field_is_documented() -> None:
    kinds = [ItemContent, *(field.part for field in fields_of(ItemContent) if field.part)]
    assert [field.name for kind in kinds for field in fields_of(kind) if f"`{field.name}`" not in DOCS] == []
