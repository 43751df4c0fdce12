"""Where the elements of a list stand in a JSON file, however it is laid out; and what is no number of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotators.items.parsed import Rejected
from exports.reading.json_files import element_lines, json_file, json_lines
from exports.reading.sources import SourceFile, open_sources

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
        ('[{"é": "é\u2028é"},\n{"ü": "𝄞"}, {"b":\n2},\n{}]', [1, 2, 2, 4]),
        ("[]", []),
    ],
)
def test_any_other_layout_is_read_through(tmp_path: Path, text: str, expected: list[int]) -> None:
    assert lines(tmp_path, text, None, json.loads(text.removeprefix("\ufeff"))) == expected


@pytest.mark.parametrize("number", ["123456789012345678901234567890", "18446744073709551616", "-9223372036854775809"])
def test_a_whole_number_beyond_64_bits_is_refused_and_not_rounded(tmp_path: Path, number: str) -> None:
    said = f"the whole number {number} is longer than 64 bits. Put it in quotes, or leave it out."
    (tmp_path / "a.jsonl").write_text(f'{{"x": 1}}\n{{"\\"x": [{number}]}}\n{{"x": 2}}\n')
    (tmp_path / "b.json").write_text(f'[\n{{"x": 1}},\n{{"x": -1, "y":{number}}}\n]')
    with open_sources([tmp_path]) as sources:
        of_lines, of_list = sources.files
        assert list(json_lines(of_lines)) == [(1, {"x": 1}), Rejected(of_lines.name, 2, said), (3, {"x": 2})]
        assert json_file(of_list) == Rejected(of_list.name, 3, said)


def test_numbers_of_64_bits_fractions_and_digits_in_texts_are_as_they_stand(tmp_path: Path) -> None:
    text = (
        "[18446744073709551615, -9223372036854775808, 0.12345678901234567890, 12345678901234567890.5,"
        ' 1e-00000000000000000005, 1234567890123456789012E2, "123456789012345678901234567890",'
        ' "\\\\\\"123456789012345678901234567890"]'
    )
    (tmp_path / "a.json").write_text(text)
    with open_sources([tmp_path]) as sources:
        assert json_file(sources.files[0]) == json.loads(text)


@pytest.mark.parametrize(
    ("value", "word"), [(float("nan"), "NaN"), (float("inf"), "Infinity"), (-float("inf"), "Infinity")]
)
def test_what_python_writes_for_numbers_that_json_lacks_is_named_with_the_remedy(
    tmp_path: Path, value: float, word: str
) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"question": "é", "x": value}], ensure_ascii=False))
    with open_sources([tmp_path]) as sources:
        found = json_file(sources.files[0])
    assert f"not JSON: {word} at column" in found.reason
    assert "Write null" in found.reason


def read_as(folder: Path, text: str, read: Callable[[SourceFile], Any]) -> Any:
    (folder / "a.json").write_text(text, "utf-8")
    with open_sources([folder]) as sources:
        return read(sources.files[0])


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('{"id": "a", "question": "q", "question": "r"}', 1, "question"),
        ('{"a": {"b": 1},\n "c": [{"b": 1,\n  "\\u0062" : 2}]}', 3, "b"),
        ('{"a": "{\\"a\\": 1", "c":\n [{"é": "\\\\"}, {"é": 1, "é"\t: []}]}', 2, "é"),
        ('{"a":' * 500 + '{"z": 1, "z": 2}' + "}" * 500, 1, "z"),
    ],
)
def test_a_key_that_stands_twice_in_one_object_is_named(tmp_path: Path, text: str, line: int, key: str) -> None:
    found = read_as(tmp_path, text, json_file)
    said = f"the key {key!r} stands twice in one object. Rename one of the two, or take it out."
    assert (found.line, found.reason) == (line, said)
    [found] = read_as(tmp_path, text.replace("\n", " "), lambda file: list(json_lines(file)))
    assert found.reason == said


@pytest.mark.parametrize(
    "text", ['{"a": {"a": 1}, "b": [{"a": "a"}, {"a": "\\"a\\":"}]}', '["\\u0022", "{", "\\"a\\": \\"a\\":"]', "7"]
)
def test_keys_of_different_objects_may_be_called_the_same(tmp_path: Path, text: str) -> None:
    assert read_as(tmp_path, text, json_file) == json.loads(text)
