"""What the format of somebody's own package gives is held to what a format gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.items.normal import read_item
from annotators.items.parsed import ParsedDocument, ParsedItem, Rejected
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats._files import FilesReading
from exports.formats.base import FileReading
from exports.reading.sources import SourceFile, Sources
from exports.scoring.files import score_files
from tests.exports.formats.places import Place

ITEM = read_item({"id": "a", "question": "Q?"})


class Faulty:
    """A format whose files say nothing: what it gives is set by the test."""

    name = "faulty"
    title = "Faulty"
    help = "files that end with .faulty"

    def __init__(self, items: Any, documents: Any = ()) -> None:
        self._given = (items, documents)

    def refusal(self, file: SourceFile) -> str | None:
        return None if file.basename.endswith(".faulty") else "it does not end with .faulty"

    def read(self, sources: Sources) -> FileReading:
        return _Reading(sources, self._given)


class _Reading(FilesReading):
    format = "faulty"

    def __init__(self, sources: Sources, given: tuple[Any, Any]) -> None:
        super().__init__(sources, list(sources.files))
        self._given = given

    def items(self) -> Iterator[Any]:
        given: Iterator[Any] = self._given[0]
        return given

    def documents(self) -> Iterator[Any]:
        given: Iterator[Any] = self._given[1]
        return given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([ITEM], ()), "among its items, where ParsedItem or Rejected is expected"),
        (
            ([{"question": "Q?"}], ()),
            "gave {'question': 'Q?'} among its items, where ParsedItem or Rejected is expected",
        ),
        ((None, ()), "gave None for its items, where Iterable is expected"),
        (([ParsedItem("f", 1, {"question": "Q?"})], ()), "as the item of a ParsedItem, where ItemContent is expected"),  # type: ignore[arg-type]
        (([ParsedItem("f", 1, ITEM, ["yes"])], ()), "gave ['yes'] as the labels of a ParsedItem, where tuple"),  # type: ignore[arg-type]
        (([ParsedItem("f", 1, ITEM, ("yes",))], ()), "gave 'yes' among the labels of a ParsedItem, where ForeignLabel"),  # type: ignore[arg-type]
        (([ParsedItem("f", 1, ITEM)], ["d.pdf"]), "gave 'd.pdf' among its documents, where ParsedDocument or Rejected"),
        (([ParsedItem("f", 1, ITEM)], None), "gave None for its documents, where Iterable is expected"),
    ],
)
def test_what_is_no_item_or_document_is_refused_by_the_name_of_its_format(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[Any, Any], words: str
) -> None:
    path = tmp_path / "x.faulty"
    path.write_text("something")
    monkeypatch.setitem(FORMATS._things, "faulty", Faulty(*given))
    told: list[int] = []
    for options in ({"dry_run": True}, {}, {"skip_bad": True}, {"progress": lambda done, of: told.append(done)}):
        with pytest.raises(InvalidInput, match=rf"Format 'faulty' gave .*{re.escape(words.removeprefix('gave '))}"):
            place.take(path, **options)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        convert_files([path], into="native", output=tmp_path / "out")
    assert (place.items(), (tmp_path / "out").exists()) == ([], False)


def test_what_is_as_expected_comes_in(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.faulty"
    path.write_text("something")
    monkeypatch.setitem(
        FORMATS._things, "faulty", Faulty([ParsedItem("f", 1, ITEM)], [ParsedDocument("f", 1, "d.pdf")])
    )
    report = place.take(path)
    assert (report.added, report.documents) == (1, 1)


def test_what_is_no_item_is_scored_by_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.faulty"
    path.write_text("something")
    monkeypatch.setitem(FORMATS._things, "faulty", Faulty([ITEM]))
    with pytest.raises(InvalidInput, match=r"Format 'faulty' gave .* among its items"):
        score_files([path], tmp_path / "scores.jsonl", scorer="phrase_recall")


@pytest.mark.parametrize(
    "row",
    [
        {"metadata": {"x": "a\ud800"}},
        {"metadata": {"x": "a\ud800", "n": 1}},
        {"question": "Q\ud800?"},
        {"question": "Q\ud800?", "question_key": "q"},
        {"answer": "\ud800"},
        {"id": "a\ud800"},
        {"scores": [{"name": "s", "value": None, "reason": "\ud800"}]},
        {"scores": [{"name": "s", "value": 1, "parameters": {"x": "\ud800"}}]},
    ],
)
def test_half_a_character_is_a_bad_row(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: dict[str, Any]
) -> None:
    def items() -> Iterator[ParsedItem | Rejected]:
        try:
            yield ParsedItem("f", 1, read_item({"id": "a", "question": "Q?", **row}))
        except InvalidInput as error:
            yield Rejected("f", 1, str(error))

    path = tmp_path / "x.faulty"
    path.write_text("something")
    for options in ({"dry_run": True}, {}):
        monkeypatch.setitem(FORMATS._things, "faulty", Faulty(items()))
        [bad] = place.take(path, **options).rejected
        assert re.search("surrogates|half a|one line without|stored", bad.reason)
    monkeypatch.setitem(FORMATS._things, "faulty", Faulty(list(items())))
    with pytest.raises(InvalidInput):
        convert_files([path], into="native", output=tmp_path / "out")
    assert place.items() == []
