"""Where the elements of a list stand in a JSON file, however it is laid out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exports.reading.json_files import element_lines
from exports.reading.sources import open_sources

OBJECTS = [{"a": [1, {"b": "}, {"}], "c": "[\\n  {"}, {}, {"a": {"b": [[]]}}, {"d": ""}]


def lines(folder: Path, text: str, field: str | None, elements: list[Any]) -> list[int]:
    """The lines that are found, of a file with this text."""
    (folder / "a.json").write_text(text, "utf-8")
    with open_sources([folder]) as sources:
        return list(element_lines(sources.files[0], field, len(elements)))


@pytest.mark.parametrize("indent", [1, 2, "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("elements", [OBJECTS, [*OBJECTS, [], "text", [{}]]])
def test_a_printed_list(tmp_path: Path, elements: list[Any], indent: int | str, line_end: str) -> None:
    text = json.dumps({"results": elements, "after": [{"x": 1}]}, indent=indent)
    began = [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if len(line) - len(line.lstrip()) == 2 * (1 if indent == "\t" else indent) and line.strip()[0] not in "]}"
    ][: len(elements)]
    assert lines(tmp_path, text.replace("\n", line_end), "results", elements) == began


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"a": 1}, {"b": 2}]', [1, 1]),
        ('[{"a": 1},\n{"b": 2}]', [1, 2]),
        ('[\n  {"a":\n  1}, {"b": 2}\n]', [2, 3]),
        ('[\n  {\n  "a": 1},\n    {"b": 2}\n]', [2, 4]),
        ('\ufeff\n[\n\n {"a": 1}\n,\n {"b": 2}]', [4, 6]),
        ("[]", []),
    ],
)
def test_any_other_layout_is_read_through(tmp_path: Path, text: str, expected: list[int]) -> None:
    assert lines(tmp_path, text, None, json.loads(text.removeprefix("\ufeff"))) == expected
