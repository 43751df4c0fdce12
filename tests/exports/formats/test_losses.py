"""What a format writes it reads again as it was, but for what it says that it loses."""

from __future__ import annotations

import tempfile
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings

from annotators.errors import InvalidInput
from annotators.items.normal import Normal
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats._losing import WORDS, carried_by, declared, losses_of
from exports.formats._writing import Writer
from tests.exports.formats.any_items import ITEMS
from tests.exports.formats.test_writing import SAID

WRITERS = [format_.name for format_ in FORMATS if isinstance(format_, Writer)]


@pytest.mark.parametrize("name", WRITERS)
def test_only_what_a_format_says_that_it_loses_is_lost(name: str) -> None:
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

    holds()


@pytest.mark.parametrize("name", WRITERS)
def test_a_format_names_fields_that_there_are(name: str) -> None:
    format_ = FORMATS.get(name)
    assert set(losses_of(format_)) <= set(WORDS)
    assert set(carried_by(format_)) <= set(WORDS.values())


def test_native_and_tables_lose_nothing() -> None:
    assert losses_of(FORMATS.get("native")) == losses_of(FORMATS.get("table")) == {}
