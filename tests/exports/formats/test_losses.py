"""What a format writes it reads again as it was, but for what it says that it loses."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings

from annotators.errors import InvalidInput
from annotators.items.normal import Normal, content_hash, to_json
from annotators.items.parsed import ForeignLabel, ParsedItem
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats._losing import WORDS, carried_by, declared, losses_of
from exports.formats._lost_labels import lost_labels, plain_by
from exports.formats._writing import Writer
from exports.reading.sources import open_sources
from tests.conftest import ROOT
from tests.exports.formats.any_items import ITEMS
from tests.exports.formats.test_writing import SAID

WRITERS = [format_.name for format_ in FORMATS if isinstance(format_, Writer)]


@pytest.mark.parametrize("name", WRITERS)
def test_only_what_a_format_says_that_it_loses_is_lost_and_nothing_comes_along(name: str) -> None:
    format_ = FORMATS.get(name)

    @settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(ITEMS)
    def holds(items: list[Normal]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "items.jsonl"
            path.write_bytes(b"\n".join(map(orjson.dumps, items)))
            try:
                done = convert_files([path], into=name, output=Path(folder) / "out", format_name="native", options=SAID)
            except InvalidInput as error:
                assert "can hold none of the" in str(error)
                assert "items" in losses_of(format_)
                return
            assert [lost for lost in done.lost if not declared(format_, lost.path)] == []
            if not done.lost:
                with open_sources([Path(folder) / "out"]) as sources:
                    rows = [row for row in format_.read(sources).items() if isinstance(row, ParsedItem)]
                assert {row.item.id: content_hash(to_json(row.item)) for row in rows} == {
                    item["id"]: content_hash(item) for item in items
                }

    holds()


@pytest.mark.parametrize("name", WRITERS)
def test_a_format_names_fields_that_there_are(name: str) -> None:
    format_ = FORMATS.get(name)
    assert set(losses_of(format_)) <= set(WORDS)
    assert set(carried_by(format_)) <= set(WORDS.values())


def test_native_and_tables_lose_nothing() -> None:
    assert losses_of(FORMATS.get("native")) == losses_of(FORMATS.get("table")) == {}


def test_the_docs_name_the_formats_that_lose_ids() -> None:
    docs = (ROOT / "docs/exporting.md").read_text()
    found = re.search(r"Formats that lose ids \(([^)]*)\)", docs)
    assert found is not None
    losing = [format_.name for format_ in FORMATS if isinstance(format_, Writer) and "id" in losses_of(format_)]
    assert re.findall(r"`(\w+)`", found[1]) == losing


def label(item: str, annotator: str, value: str, **more: Any) -> ForeignLabel:
    return ForeignLabel(1, item, annotator, "fair", "item", value)._replace(**more)


def test_labels_that_do_not_come_back_or_otherwise_are_counted() -> None:
    at = datetime(2026, 11, 25, tzinfo=UTC)
    before = [
        label("a", "ada", "1", time=at, comment="Hm."), label("a", "ben", "2"), label("b", "ada", "[1, 2]"),
        label("b", "ben", "2", rationale=[{"page": 1}]), label("c", "ada", "1"), label("c", "ben", "1", seconds=2.5),
    ]  # fmt: skip
    after = [
        label("a", "ada", "1.0", comment="Hm."), label("a", "ben", "3"), label("b", "ada", "[1,2]"),
        label("b", "people", "2", rationale=[{"page": 1}]), label("c", "ben", "1", seconds=2.5),
    ]  # fmt: skip
    assert {lost.path: (lost.n, lost.of) for lost in lost_labels(before, after, plain_by({}))} == {
        "labels": (1, 6), "labels.annotator": (1, 6), "labels.value": (1, 6), "labels.time": (1, 1),
    }  # fmt: skip
    assert lost_labels(before, before, plain_by({})) == []
