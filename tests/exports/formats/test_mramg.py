"""MRAMG-Bench: answers with pictures among the text, their documents, and what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.annotators.pages.makers import picture
from tests.exports.formats.places import Place


def question(**changes: Any) -> dict[str, Any]:
    return {
        "id": "recipe_7",
        "question": "How is the loaf scored?",
        "ground_truth": "Cut it thus. <PIC> Then bake. <PIC>",
        "images_list": ["loaf-1", "loaf-2"],
        "provenance": [7],
        "level": 3,
        **changes,
    }


def lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


DOCUMENT = [7, "Mix. <PIC> Cut. <PIC> Bake.", ["loaf-1", "loaf-2"]]


@pytest.mark.parametrize("as_object", [False, True])
def test_questions_with_their_documents(place: Place, tmp_path: Path, as_object: bool) -> None:
    folder = tmp_path / "set"
    lines(folder / "recipe_mqa.jsonl", question())
    lines(folder / "doc_recipe.jsonl", {str(n): cell for n, cell in enumerate(DOCUMENT)} if as_object else DOCUMENT)
    (folder / "images").mkdir()
    (folder / "images/loaf-1.png").write_bytes(picture("PNG"))
    report = place.take(folder)
    assert (report.format, report.added, report.rejected, report.supplied) == ("mramg", 1, [], 1)
    assert report.notes == ["The answers have 2 images by name."]
    [item] = place.items()
    assert (item.question_key, item.category, item.system) == ("recipe/recipe_7", "recipe", "reference")
    assert item.answer == "Cut it thus. <PIC> Then bake. <PIC>"
    assert [(image.key, image.document) for image in item.images] == [("loaf-1", "loaf-1"), ("loaf-2", "loaf-2")]
    [unit] = item.evidence
    assert (unit.key, unit.role, unit.document, unit.text) == ("doc-7", "gold", "recipe/7", DOCUMENT[1])
    assert dict(unit.metadata) == {"images": ["loaf-1", "loaf-2"]}
    assert item.metadata == {"level": 3, "provenance": [7]}


def test_questions_alone_say_what_is_missing(place: Place, tmp_path: Path) -> None:
    rows = [question(), question(id=8, ground_truth="No picture. <PIC>", images_list=[], provenance="d 1")]
    report = place.take(lines(tmp_path / "recipe_mqa.jsonl", *rows, question(id="9", images_list=["a b", "a b"])))
    assert report.rejected == []
    assert report.notes == [
        "The answers have 4 images by name.",
        "3 evidence documents came without a text. Import doc_SUBSET.jsonl together with the questions to have them.",
        "1 answer has another number of places (<PIC>) than of pictures: recipe/8. The nth place shows the nth "
        "picture.",
    ]
    assert [image.key for image in place.items()[2].images] == ["image-1", "image-2"]


def test_documents_without_questions_are_refused(place: Place, tmp_path: Path) -> None:
    [bad] = place.take(lines(tmp_path / "doc_wit.jsonl", DOCUMENT)).rejected
    assert "there are documents but no questions" in bad.reason


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        ("recipe_mqa.jsonl", question(ground_truth=None), "`ground_truth` is missing"),
        ("recipe_mqa.jsonl", question(images_list=[3]), "`images_list` holds 3, not the name of a picture"),
        ("recipe_mqa.jsonl", question(provenance=[{}]), "`provenance` is {}, not a number or a text"),
        ("recipe_mqa.jsonl", question(id=True), "`id` is True"),
        ("recipe_mqa.jsonl", [1], "the line is not an object"),
        ("doc_recipe.jsonl", [7], "the line is [7], not [id, text, pictures]"),
        ("doc_recipe.jsonl", [7, "Other."], "the document 7 stands on line 1 with another text"),
        ("doc_recipe.jsonl", [8, "x", 3], "the pictures of the document are 3, not a list of names"),
    ],
)
def test_a_bad_line_is_named(place: Place, tmp_path: Path, name: str, row: Any, words: str) -> None:
    folder = tmp_path / "set"
    good = {"recipe_mqa.jsonl": question(id="1"), "doc_recipe.jsonl": DOCUMENT}
    for file, one in good.items():
        lines(folder / file, one, *([row] if file == name else []))
    [bad] = place.take(folder).rejected
    assert (bad.file, bad.line) == (f"set/{name}", 2)
    assert words in bad.reason
    assert place.items() == []
