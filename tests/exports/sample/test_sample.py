"""The sample project is complete, truthful about its own pages, and the same every time."""

import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from annotators.errors import InvalidInput
from exports.sample import ANNOTATORS, simulated_labels, write_sample
from exports.sample.documents import draw_document, draw_documents
from exports.sample.flow import Flow

SCANS = {("tern-sound-inquiry-7-2023.pdf", 5), ("mossgate-peatland-2021-2023.pdf", 6)}
SYSTEMS = {"harbour-rag", "lantern-rag"}
SCALES = {
    "self_contained": {"true", "false"},
    "human_like": {"true", "false"},
    "question_factual": {"factual", "not_factual"},
    "answer_factual": {"factual", "not_factual"},
    "complete": {"complete", "incomplete"},
    "grounding": {"required", "not_required"},
}

Row = dict[str, Any]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


@pytest.fixture(scope="module")
def items(sample: Path) -> list[Row]:
    return lines(sample / "items.jsonl")


@pytest.fixture(scope="module")
def documents(sample: Path) -> Iterator[dict[str, pymupdf.Document]]:
    opened = {row["key"]: pymupdf.open(sample / row["path"]) for row in lines(sample / "documents.jsonl")}
    yield opened
    for document in opened.values():
        document.close()


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def squeezed(text: str) -> str:
    return "".join(text.split())


def units(items: list[Row], *kinds: str) -> list[Row]:
    """Evidence units of these kinds, each place once, however many systems share it."""
    found = {}
    for item in items:
        for unit in item["evidence"]:
            if unit["kind"] in kinds:
                found[item["question_key"], unit["key"]] = unit
    return list(found.values())


def text_inside(documents: dict[str, pymupdf.Document], unit: Row) -> str:
    page = documents[unit["document"]][unit["pages"][0] - 1]
    return squeezed(page.get_text(clip=grown(in_points(page, unit["box"]), 1), flags=0))


def in_points(page: pymupdf.Page, box: list[float]) -> pymupdf.Rect:
    width, height = page.rect.width, page.rect.height
    return pymupdf.Rect(box[0] * width, box[1] * height, box[2] * width, box[3] * height)


def grown(box: pymupdf.Rect, by: float) -> pymupdf.Rect:
    return pymupdf.Rect(box.x0 - by, box.y0 - by, box.x1 + by, box.y1 + by)


def is_scanned(unit: Row) -> bool:
    return (unit["document"], unit["pages"][0]) in SCANS


def test_writing_the_sample_again_gives_the_same_bytes(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.sample.draw_documents", draw_documents)  # for the other tests, they are drawn once
    write_sample(tmp_path)
    names = sorted(path.relative_to(sample) for path in sample.rglob("*") if path.is_file())
    assert len(names) == 7
    for name in names:
        assert (tmp_path / name).read_bytes() == (sample / name).read_bytes(), name


def test_each_document_has_four_to_eight_pages_of_words(documents: dict[str, pymupdf.Document]) -> None:
    assert len(documents) >= 4
    for key, document in documents.items():
        assert 4 <= document.page_count <= 8, key
        for page in document:
            words = len(page.get_text("words"))
            assert words == 0 if (key, page.number + 1) in SCANS else words > 60, (key, page.number + 1)


def test_a_scanned_page_is_one_picture_of_the_whole_page(documents: dict[str, pymupdf.Document]) -> None:
    for key, number in SCANS:
        page = documents[key][number - 1]
        (picture,) = page.get_image_info()
        assert pymupdf.Rect(picture["bbox"]).contains(grown(page.rect, -1))


def test_every_page_but_covers_and_scans_shows_its_number(documents: dict[str, pymupdf.Document]) -> None:
    for key, document in documents.items():
        for page in document:
            number = page.number + 1
            if number > 1 and (key, number) not in SCANS:
                foot = page.get_text(clip=pymupdf.Rect(0, 780, 595, 842), flags=0)
                assert "".join(c for c in foot if c.isdigit()) == str(number), (key, number)


def test_no_text_layer_has_ligatures_or_shaped_letters(documents: dict[str, pymupdf.Document]) -> None:
    for key, document in documents.items():
        text = "".join(page.get_text() for page in document)
        shaped = {
            c for c in text if unicodedata.decomposition(c).startswith(("<compat> 0066", "<initial>", "<medial>"))
        }
        shaped |= {c for c in text if unicodedata.decomposition(c).startswith(("<final>", "<isolated>"))}
        assert not shaped, key
        assert "\ufffd" not in text, key


def test_a_word_is_found_on_a_page_in_either_script(documents: dict[str, pymupdf.Document]) -> None:
    assert documents["ain-rayhan-2024.pdf"][3].search_for("المياه الجوفية")
    assert documents["harrow-bay-2024.pdf"][3].search_for("efficiency")


def test_every_box_lies_within_its_page(items: list[Row]) -> None:
    for unit in units(items, "passage", "table", "figure"):
        x0, y0, x1, y1 = unit["box"]
        assert 0 <= x0 < x1 <= 1, unit
        assert 0 <= y0 < y1 <= 1, unit


def test_every_passage_stands_inside_its_box(items: list[Row], documents: dict[str, pymupdf.Document]) -> None:
    passages = units(items, "passage")
    assert len(passages) > 30
    for unit in passages:
        assert squeezed(unit["text"]) in text_inside(documents, unit), unit["text"]


def test_a_box_of_a_passage_is_no_larger_than_its_lines(
    items: list[Row], documents: dict[str, pymupdf.Document]
) -> None:
    for unit in units(items, "passage"):
        inside = text_inside(documents, unit)
        # At most the rest of its first and of its last line stands in the box as well.
        assert len(inside) <= len(squeezed(unit["text"])) + 2 * 95, unit["text"]


def test_every_table_box_holds_the_caption_and_every_cell(
    items: list[Row], documents: dict[str, pymupdf.Document]
) -> None:
    tables = [unit for unit in units(items, "table") if not is_scanned(unit)]
    assert len(tables) > 8
    for unit in tables:
        caption, *rows = unit["text"].splitlines()
        inside = text_inside(documents, unit)
        assert squeezed(caption) in inside
        for cell in (cell for row in rows for cell in row.split(" | ")):
            assert squeezed(cell) in inside, (caption, cell)


def test_every_figure_box_holds_the_caption_and_the_drawing(
    items: list[Row], documents: dict[str, pymupdf.Document]
) -> None:
    figures = units(items, "figure")
    assert len(figures) > 5
    for unit in figures:
        assert squeezed(unit["text"]) in text_inside(documents, unit)
        page = documents[unit["document"]][unit["pages"][0] - 1]
        box = in_points(page, unit["box"])
        drawn = pymupdf.Rect()
        for drawing in page.get_drawings():
            if box.contains(drawing["rect"]):
                drawn |= drawing["rect"]
        assert drawn.get_area() > 0.5 * box.get_area(), unit["text"]


def test_the_box_of_a_scanned_table_follows_its_outer_rules(
    items: list[Row], documents: dict[str, pymupdf.Document]
) -> None:
    scanned = [unit for unit in units(items, "table") if is_scanned(unit)]
    assert {(unit["document"], unit["pages"][0]) for unit in scanned} == SCANS
    for unit in scanned:
        page = documents[unit["document"]][unit["pages"][0] - 1]
        pixels = page.get_pixmap(dpi=110, colorspace=pymupdf.csGRAY)
        dark = np.frombuffer(pixels.samples, np.uint8).reshape(pixels.height, pixels.width) < 170
        x0, y0, x1, y1 = (round(edge * 110 / 72) for edge in in_points(page, unit["box"]))
        middle = slice(y0 + 40, y1 - 40)  # a tilted rule touches the box in one corner only
        for inside, outside in (
            (dark[middle, x0 : x0 + 20], dark[middle, x0 - 20 : x0]),
            (dark[middle, x1 - 20 : x1], dark[middle, x1 : x1 + 20]),
        ):
            assert inside.mean() > 0.03, unit["document"]
            assert outside.mean() < 0.005, unit["document"]


def test_page_units_name_pages_that_exist(items: list[Row], documents: dict[str, pymupdf.Document]) -> None:
    pages = units(items, "page")
    assert pages
    for unit in pages:
        assert 1 <= unit["pages"][0] <= documents[unit["document"]].page_count


def test_each_question_has_an_answer_by_each_system(items: list[Row]) -> None:
    answers = defaultdict(dict)
    for item in items:
        answers[item["question_key"]][item["system"]] = item["answer"]
    assert len(items) >= 30
    for key, by_system in answers.items():
        assert set(by_system) >= SYSTEMS, key
        assert len(set(by_system.values())) == len(by_system), key
    assert sum("reference" in by_system for by_system in answers.values()) >= 3


def test_items_are_varied(items: list[Row], documents: dict[str, pymupdf.Document]) -> None:
    assert len({item["id"] for item in items}) == len(items)
    assert {"Text", "Tables", "Figures", "Multi-document"} <= {item["category"] for item in items}
    assert {item["language"] for item in items} == {"en", "ar"}
    assert {key for item in items for key in item["documents"]} == set(documents)
    assert {unit["role"] for unit in units(items, "passage", "table")} == {"gold", "retrieved", "distractor"}
    assert sum(bool(item["claims"]) for item in items) >= 8
    assert sum(bool(item["hops"]) for item in items) >= 6


def test_items_are_in_the_native_format(items: list[Row], documents: dict[str, pymupdf.Document]) -> None:
    for item in items:
        assert item["id"] == f"{item['question_key']}:{item['system']}"
        assert [unit["key"] for unit in item["evidence"]] == [f"e{n}" for n in range(1, len(item["evidence"]) + 1)]
        assert all(unit["document"] in documents for unit in item["evidence"])
        claims = [claim["key"] for claim in item["claims"]]
        assert len(set(claims)) == len(claims)
        for reference in item["references"]:
            phrases = [reference] if isinstance(reference, str) else reference
            assert phrases
            assert all(isinstance(phrase, str) and phrase for phrase in phrases)


def test_a_hop_of_an_evidence_unit_is_one_of_the_question(items: list[Row]) -> None:
    for item in items:
        hops = {unit["hop"] for unit in item["evidence"] if unit["hop"] is not None}
        assert hops <= set(range(1, len(item["hops"]) + 1)), item["id"]
        assert bool(hops) == bool(item["hops"]), item["id"]


def test_ranks_of_a_system_run_from_one_and_a_reference_retrieves_nothing(items: list[Row]) -> None:
    for item in items:
        ranks = sorted(unit["rank"] for unit in item["evidence"] if unit["rank"] is not None)
        assert ranks == list(range(1, len(ranks) + 1)), item["id"]
        used = {unit["used"] for unit in item["evidence"]}
        assert used == {None} if item["system"] == "reference" else used <= {True, False}, item["id"]
        assert bool(ranks) == (item["system"] != "reference"), item["id"]


def test_each_annotator_labels_every_criterion_and_every_evidence_unit(items: list[Row]) -> None:
    evidence = {item["id"]: {f"evidence:{unit['key']}" for unit in item["evidence"]} for item in items}
    targets = defaultdict(set)
    for row in simulated_labels():
        assert row["value"] in SCALES[row["criterion"]]
        targets[row["item"], row["annotator"], row["criterion"]].add(row["target"])
    judged = {item for item, _, _ in targets}
    assert 10 <= len(judged) <= 15
    for item in judged:
        for annotator in ANNOTATORS:
            for criterion in SCALES:
                expected = evidence[item] if criterion == "grounding" else {"item"}
                assert targets[item, annotator, criterion] == expected, (item, annotator, criterion)


def test_about_a_third_of_the_items_are_disputed_and_the_disputes_are_explained() -> None:
    rows = defaultdict(list)
    for row in simulated_labels():
        rows[row["item"], row["criterion"], row["target"]].append(row)
    disputed = {unit for unit, labels in rows.items() if len({label["value"] for label in labels}) > 1}
    share = len({item for item, _, _ in disputed}) / len({item for item, _, _ in rows})
    assert 0.25 <= share <= 0.45
    for unit, labels in rows.items():
        sides = {label["value"] for label in labels if "comment" in label}
        assert sides == ({label["value"] for label in labels} if unit in disputed else set()), unit


def test_simulated_labels_are_the_same_every_time() -> None:
    assert simulated_labels() == simulated_labels()


def test_a_quote_that_is_not_on_the_pages_is_refused() -> None:
    drawn = draw_document("harrow-bay")
    with pytest.raises(InvalidInput, match="0 places"):
        drawn.find("We delivered 70 GWh")
    with pytest.raises(InvalidInput, match="stands there once"):
        drawn.find("Station B")


def test_a_text_longer_than_a_page_is_refused() -> None:
    style = {"accent": "#000000", "face": "serif", "label_face": "serif", "size": 10, "leading": 1.4}
    style |= {"align": "left", "margin": 60}
    content = {"key": "long.pdf", "language": "en", "header": "", "footer": "", "style": style}
    flow = Flow(content | {"blocks": [{"page": None}, {"p": "No end in sight. " * 2000}]})
    with pytest.raises(InvalidInput, match="longer than a column"):
        flow.run()
