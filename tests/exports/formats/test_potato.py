"""Potato's projects: what schemes ask, what users' states say, what cannot be said, and our own way there and back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from sqlmodel import select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.order import Order
from annotators.criteria.several import Several
from annotators.criteria.spans import Spans
from annotators.criteria.text import Text
from annotators.designing.design import StudyDesign
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from annotators.items.targets import TargetKind
from annotators.protocols import Material, Step
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.judging.items import read_to_judge
from db.models import StoredLabel, Study
from exports.bundles.bundle import export_project
from exports.formats import FORMATS
from exports.formats._potato_schemes import _of_option
from exports.formats.base import protocol_of_labels
from exports.formats.potato import _yaml
from exports.reading.sources import open_sources
from tests.exports.formats.places import Place, write_json
from tests.exports.formats.test_labels_in_files import every_label, stored
from tests.exports.formats.test_peers import labels_of
from tests.makers import tiny_protocol

CONFIG: dict[str, Any] = {
    "annotation_task_name": "Answers",
    "task_dir": ".",
    "output_annotation_dir": "annotation_output/",
    "data_files": ["data/items.jsonl"],
    "item_properties": {"id_key": "id", "text_key": "response"},
    "annotation_instructions": "Read both.",
    "annotation_schemes": [
        {"annotation_type": "radio", "name": "Right", "description": "Is it right?", "labels": ["yes", {"name": "no"}]},
        {"annotation_type": "multiselect", "name": "why", "description": "Why?", "labels": ["old", "vague"],
         "display_logic": {"show_when": [{"schema": "Right", "operator": "equals", "value": "no"}]}},
        {"annotation_type": "likert", "name": "clear", "description": "Clear?", "size": 5, "min_label": "not at all",
         "max_label": "very"},
        {"annotation_type": "slider", "name": "sure", "description": "Sure?", "min_value": 0, "max_value": 100,
         "starting_value": 50},
        {"annotation_type": "text", "name": "note", "description": "A note"},
        {"annotation_type": "span", "name": "wrong", "description": "What is wrong?", "labels": ["fact", "name"]},
        {"annotation_type": "audio_annotation", "name": "sounds", "description": "S", "labels": ["x"]},
        {"annotation_type": "number", "name": "count", "description": "How many?", "min": 0, "max": 9, "step": 1},
    ],
}  # fmt: skip


_NAMES = "instance_id_to_label_to_value"


def entry(schema: str, name: str, value: Any) -> list[Any]:
    return [{"schema": schema, "name": name}, value]


def marked(schema: str, name: str, start: int, end: int, **more: Any) -> list[Any]:
    return [{"schema": schema, "name": name, "title": name, "start": start, "end": end, **more}, "1"]


def project(folder: Path, config: dict[str, Any] = CONFIG, **states: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    (folder / "data").mkdir(exist_ok=True)
    rows = [{"id": "q1", "question": "Who?", "response": "Ada, in 1843.", "page": 3}, {"id": 2, "question": "When?"}]
    (folder / "data" / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    for user, state in states.items():
        write_json(folder / "annotation_output" / user / "user_state.json", {"user_id": user, **state})
    return folder


ADA = {
    "instance_id_to_label_to_value": {
        "q1": [
            entry("Right", "no", "no"), entry("why", "old", "old"), entry("why", "vague", "vague"),
            entry("clear", "4", "4"), entry("sure", "slider", "75"), entry("note", "text_box", "Hm."),
            entry("sounds", "_data", "[]"),
        ],
        "gone": [entry("Right", "yes", "yes")],
    },
    "instance_id_to_span_to_value": {"q1": [marked("wrong", "fact", 8, 12), marked("wrong", "name", 0, 3)]},
    "instance_id_to_behavioral_data": {"q1": {"session_end": 1_790_000_000.5, "total_time_ms": 9_500}},
}  # fmt: skip


def test_a_project_gives_items_labels_and_what_was_asked(place: Place, tmp_path: Path) -> None:
    machine = {"origin": {"kind": "llm"}, "instance_id_to_label_to_value": {"q1": [entry("Right", "yes", "yes")]}}
    report = place.take(project(tmp_path / "set", ada=ADA, judge=machine), labels_into="potato")
    assert (report.format, report.added, report.rejected) == ("potato", 2, [])
    with place.db.read() as session:
        said = labels_of(session, session.execute(select(Study)).scalar_one())
    assert said == [
        ("q1", "clear", "4"), ("q1", "note", "Hm."), ("q1", "right", "no"), ("q1", "sure", "75"),
        ("q1", "why", "['old', 'vague']"),
        ("q1", "wrong", "[{'start': 0, 'end': 3, 'label': 'name', 'text': 'Ada'}, "
         "{'start': 8, 'end': 12, 'label': 'fact', 'text': '1843'}]"),
    ]  # fmt: skip
    first = next(item for item in place.items() if item.id == "q1")
    assert (first.question, first.answer, first.metadata) == ("Who?", "Ada, in 1843.", {"page": 3})
    assert any("1 state of machines (judge)" in note for note in report.notes)
    assert any("1 labelled instance is not in the data" in note for note in report.notes)
    assert "Lost: audio_annotation 'sounds': nothing here is like it." in report.notes


def test_what_schemes_ask_becomes_criteria(tmp_path: Path) -> None:
    with open_sources([project(tmp_path / "set")]) as sources:
        protocol = protocol_of_labels(FORMATS.get("potato").read(sources))
    assert protocol is not None
    kinds = {criterion.name: criterion.kind for criterion in protocol.criteria}
    assert kinds == {
        "right": "choice", "why": "several", "clear": "grade", "sure": "number", "note": "text", "wrong": "spans",
        "count": "number",
    }  # fmt: skip
    why = protocol.criterion("why").when
    assert why is not None
    assert (why.criterion, why.values) == ("right", ["no"])
    assert protocol.guidelines == "Read both."


def test_schemes_about_each_of_several_options_ask_of_each(place: Place, tmp_path: Path) -> None:

    def about() -> dict[str, Any]:
        return {"description": "D", "labels": ["a", {"name": "b"}]}

    schemes = [
        {"annotation_type": "ranking", "name": "order", **about()},
        {"annotation_type": "soft_label", "name": "soft", **about()},
        {"annotation_type": "constant_sum", "name": "sum", "total_points": 10, **about()},
        {"annotation_type": "semantic_differential", "name": "feel", "description": "F", "pairs": [["cold", "warm"]],
         "scale_points": 5},
        {"annotation_type": "triage", "name": "keep", "description": "Keep?", "reject_label": "Away"},
        {"annotation_type": "range_slider", "name": "between", "description": "B", "min_value": 0, "max_value": 10},
    ]  # fmt: skip
    said = {
        "instance_id_to_label_to_value": {
            "q1": [
                entry("order", "rank_order", "b,a"), entry("soft", "a", "70"), entry("soft", "b", "30"),
                entry("sum", "a", "4"), entry("feel", "cold__warm", "2"), entry("keep", "decision", "reject"),
                entry("between", "range_low", "2"), entry("between", "range_high", "7"),
            ]
        }
    }  # fmt: skip
    report = place.take(project(tmp_path / "set", {**CONFIG, "annotation_schemes": schemes}, ada=said), labels_into="p")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    with place.db.read() as session:
        found = labels_of(session, session.execute(select(Study)).scalar_one())
    assert [(name, value) for _, name, value in found] == [
        ("between_high", "7"), ("between_low", "2"), ("feel_cold", "2"), ("keep", "reject"),
        ("order_a", "2"), ("order_b", "1"), ("soft_a", "70"), ("soft_b", "30"), ("sum_a", "4"),
    ]  # fmt: skip
    low = "Lost: range_slider 'between': that its low end is below its high one is not checked here."
    assert low in report.notes


def test_two_texts_that_are_compared_become_a_pair(place: Place, tmp_path: Path) -> None:
    scheme = {"annotation_type": "pairwise", "name": "better", "description": "Which?", "items_key": "texts",
              "allow_tie": True}  # fmt: skip
    config = {**CONFIG, "data_files": ["d.json"], "annotation_schemes": [scheme]}
    said = {
        "instance_id_to_label_to_value": {
            "1": [entry("better", "selection", "B")],
            "2": [entry("better", "selection", "tie")],
        }
    }
    folder = project(tmp_path / "set", config, ada=said)
    rows = [{"id": n, "question": "Who?", "texts": ["Ada", f"Ben {n}"]} for n in (1, 2)]
    write_json(folder / "d.json", rows)
    report = place.take(folder, labels_into="pairs")
    assert (report.added, report.rejected, report.labels.obstacles) == (4, [], [])
    assert stored(place) == {("ada", "better", "pair", 1), ("ada", "better", "pair", 0)}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [("ada", "wrong"), ("ben", "wrong")]),
        ({"label_requirement": {"required": True}}, [("ada", "wrong")]),
        (
            {"display_logic": {"show_when": [{"schema": "Right", "operator": "equals", "value": "no"}]}},
            [("ada", "wrong")],
        ),
    ],
)
def test_who_answered_and_marked_nothing_found_no_stretch(
    tmp_path: Path, more: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    right, wrong = CONFIG["annotation_schemes"][0], CONFIG["annotation_schemes"][5]
    config = {**CONFIG, "annotation_schemes": [right, {**wrong, **more}]}
    said = {_NAMES: {"q1": [entry("Right", "yes", "yes")]}}
    spans = {"instance_id_to_span_to_value": {"q1": [marked("wrong", "fact", 8, 12)]}}
    nothing = {"instance_id_to_behavioral_data": {"q1": {"total_time_ms": 900}}}  # looked, and answered nothing
    folder = project(tmp_path / "set", config, ada={**said, **spans}, ben=said, chloe=nothing)
    with open_sources([folder]) as sources:
        rows = [row for row in FORMATS.get("potato").read(sources).items() if isinstance(row, ParsedItem)]
    found = {
        (one.annotator, one.criterion): one.value for row in rows for one in row.labels if one.criterion == "wrong"
    }
    assert sorted(found) == expected
    assert found.get(("ben", "wrong"), "[]") == "[]"


def test_places_in_what_potato_shows_are_places_in_the_answer(tmp_path: Path) -> None:
    spans = {"annotation_type": "span", "name": "wrong", "description": "Wrong?", "labels": ["fact"]}
    config = {**CONFIG, "data_files": ["d.json"], "annotation_schemes": [spans]}
    places = [(0, 4), (5, 7), (8, 12), (40, 50)]
    said = {"instance_id_to_span_to_value": {"1": [marked("wrong", "fact", *place) for place in places]}}
    folder = project(tmp_path / "set", config, ada=said)
    write_json(folder / "d.json", [{"id": 1, "question": "Who?", "response": "  Ada,   in\t 1843. "}])
    with open_sources([folder]) as sources:
        reading = FORMATS.get("potato").read(sources)
        [row] = list(reading.items())
        assert isinstance(row, ParsedItem)
        [label] = row.labels
        assert orjson.loads(label.value) == [
            {"start": 2, "end": 6, "label": "fact", "text": "Ada,"},
            {"start": 9, "end": 11, "label": "fact", "text": "in"},
            {"start": 13, "end": 17, "label": "fact", "text": "1843"},
        ]
        assert list(reading.items()) == [row]
        assert reading.notes() == ["Lost: Stretches that end beyond the answer."]


def taken(folder: Path) -> tuple[list[ParsedItem], list[str]]:
    """The items of a project and what is said of them."""
    with open_sources([folder]) as sources:
        reading = FORMATS.get("potato").read(sources)
        rows = list(reading.items())
        return [row for row in rows if isinstance(row, ParsedItem)], [*reading.notes()]


@pytest.mark.parametrize("display", [{}, {"instance_display": {"fields": [{"key": "response", "span_target": True}]}}])
def test_a_label_of_which_no_stretch_is_left_is_not_that_nothing_is_marked(
    tmp_path: Path, display: dict[str, Any]
) -> None:
    right, wrong = CONFIG["annotation_schemes"][0], CONFIG["annotation_schemes"][5]
    config = {**CONFIG, "annotation_schemes": [right, wrong], **display}
    said = {_NAMES: {"q1": [entry("Right", "yes", "yes")]}}
    marks = {
        "ada": [marked("wrong", "fact", 8, 99)],
        "ben": [marked("wrong", "fact", 0, 3, target_field="question"), marked("wrong", "name", 5, 2)],
        "chloe": [marked("wrong", "name", 0, 3), marked("wrong", "fact", 8, 99)],
    }
    states = {user: {**said, "instance_id_to_span_to_value": {"q1": given}} for user, given in marks.items()}
    items, notes = taken(project(tmp_path / "set", config, **states, dora=said))
    found = {one.annotator: one.value for row in items for one in row.labels if one.criterion == "wrong"}
    assert {user: len(orjson.loads(value)) for user, value in found.items()} == {"chloe": 1, "dora": 0}
    assert notes == [
        "Lost: Stretches that end beyond the answer (3 times).",
        "Lost: Labels of which no stretch is left, as nothing marked would be another label (2 times).",
        "Lost: Stretches of another text than the answer.",
    ]


def test_a_text_of_nothing_but_spaces_is_no_answer(tmp_path: Path) -> None:
    said = {_NAMES: {"q1": [entry("note", "text_box", " \n"), entry("Right", "yes", "yes")]}}
    config = {**CONFIG, "annotation_schemes": [CONFIG["annotation_schemes"][0], CONFIG["annotation_schemes"][4]]}
    items, _ = taken(project(tmp_path / "set", config, ada=said))
    assert [(one.criterion, one.value) for row in items for one in row.labels] == [("right", "yes")]


DISPLAYED = {"fields": [{"key": "question", "span_target": True}, {"key": "text", "span_target": True}]}


@pytest.mark.parametrize(
    ("changed", "record", "expected"),
    [
        ({"instance_display": DISPLAYED}, {"text": "T", "question": "Q?"}, ("Q?", "T", {})),
        ({"instance_display": DISPLAYED}, {"text": "T", "question": "Q?", "answer": "A"}, ("Q?", "T", {"answer": "A"})),
        ({"instance_display": {"fields": [*DISPLAYED["fields"], {"key": "answer", "span_target": True}]}},
         {"text": "T", "question": "Q?", "answer": "A"}, ("Q?", "A", {"text": "T"})),
        ({"annotation_schemes": CONFIG["annotation_schemes"][:1]}, {"text": "T", "question": "Q?", "answer": "A"},
         ("Q?", "A", {"text": "T"})),
        ({"annotation_schemes": CONFIG["annotation_schemes"][:1]}, {"text": "T", "question": "Q?"}, ("Q?", "T", {})),
        ({"annotation_schemes": CONFIG["annotation_schemes"][:1]}, {"text": "T", "answer": "A"}, ("T", "A", {})),
        ({"item_properties": {"id_key": "id", "text_key": "answer"}}, {"answer": "A"}, ("Answers", "A", {})),
        ({"item_properties": {"id_key": "id", "text_key": "question"}}, {"question": "Q?", "note": "N"},
         ("Q?", "", {"note": "N"})),
    ],
)  # fmt: skip
def test_fields_that_are_called_question_and_answer_are_these(
    tmp_path: Path, changed: dict[str, Any], record: dict[str, str], expected: tuple[str, str, dict[str, str]]
) -> None:
    config = {**CONFIG, "data_files": ["d.json"], "item_properties": {"id_key": "id", "text_key": "text"}, **changed}
    folder = project(tmp_path / "set", config)
    write_json(folder / "d.json", [{"id": 1, **record}])
    [row], _ = taken(folder)
    assert (row.item.question, row.item.answer, row.item.metadata) == expected


def test_stretches_of_the_question_alone_are_lost_with_their_scheme(tmp_path: Path) -> None:
    right, wrong = CONFIG["annotation_schemes"][0], CONFIG["annotation_schemes"][5]
    of_text = {**wrong, "name": "of_text", "labels": ["fact"], "target_field": "text"}
    of_question = {**wrong, "name": "of_question", "target_field": "question"}
    state = {
        _NAMES: {"1": [entry("Right", "yes", "yes")]},
        "instance_id_to_span_to_value": {
            "1": [marked("of_text", "fact", 0, 1, target_field="text"),
                  marked("of_question", "fact", 0, 1, target_field="question")]
        },
    }  # fmt: skip
    for schemes, kept in (([right, of_question], ["right"]), ([right, of_text, of_question], ["of_text", "right"])):
        config = {**CONFIG, "data_files": ["d.json"], "annotation_schemes": schemes}
        folder = project(tmp_path / f"set{len(schemes)}", config, ada=state)
        write_json(folder / "d.json", [{"id": 1, "text": "T", "question": "Q?"}])
        [row], notes = taken(folder)
        assert sorted(one.criterion for one in row.labels) == kept
        assert notes == ["Lost: span 'of_question': it marks another text than the answer."]


def shape(kind: str, label: str, coordinates: Any) -> dict[str, Any]:
    return {"type": kind, "label": label, "color": "#fff", "coordinates": coordinates}


SHAPES = [
    shape("bbox", "figure", {"x": 0.1, "y": 0.2, "width": 0.3, "height": 0.25}),
    shape("bbox", "figure", {"x": -0.1, "y": 0.9, "width": 0.3, "height": 0.3}),
    shape("polygon", "table", [{"x": 0.5, "y": 0.5}, {"x": 0.75, "y": 0.6}, {"x": 0.6, "y": 0.9}]),
    shape("ellipse", "table", {"cx": 0.5, "cy": 0.5, "rx": 0.1, "ry": 0.2, "angle": 30}),
    shape("landmark", "dot", {"x": 0.5, "y": 0.5}),
    shape("bbox", "figure", {"x": 1.5, "y": 1.5, "width": 0.1, "height": 0.1}),
    {"type": "mask", "label": "dot", "rle": {"counts": [4, 2], "size": [2, 3]}},
]


def test_regions_of_images_are_labels_with_boxes_on_a_page(place: Place, tmp_path: Path) -> None:
    schemes = [
        {"annotation_type": "image_annotation", "name": "what", "description": "What is there?", "tools": ["bbox"],
         "labels": ["figure", {"name": "table"}, "dot"], "source_field": "scan"},
        {"annotation_type": "image_annotation", "name": "stamps", "description": "Stamps?", "tools": ["bbox"],
         "labels": ["stamp"], "source_field": "scan"},
    ]  # fmt: skip
    config = {**CONFIG, "data_files": ["d.json"], "annotation_schemes": schemes}
    drawn = {"q1": [entry("what", "_data", orjson.dumps(SHAPES).decode()), entry("stamps", "_data", "[]")],
             "q3": [entry("what", "_data", orjson.dumps(SHAPES[:1]).decode())]}  # fmt: skip
    broken = {"q1": [entry("what", "_data", '[{"type": "bbox"}]')]}
    folder = project(tmp_path / "set", config, ada={_NAMES: drawn}, ben={_NAMES: broken})
    rows = [{"id": "q1", "question": "Who?", "scan": "https://example.org/media/p1.png?x=1"},
            {"id": "q3", "question": "When?"}]  # fmt: skip
    write_json(folder / "d.json", rows)
    with open_sources([folder]) as sources:
        reading = FORMATS.get("potato").read(sources)
        bad = [row for row in reading.items() if isinstance(row, Rejected)]
        assert [row.reason for row in bad] == [
            "ben gave 'what' of q1: the regions of an image are "
            '\'[{"type": "bbox"}]\', not a list of shapes with a label each'
        ]
    (folder / "annotation_output" / "ben" / "user_state.json").unlink()
    report = place.take(folder, labels_into="regions")
    assert (report.added, report.rejected, report.labels.obstacles) == (2, [], [])
    first = next(item for item in place.items() if item.id == "q1")
    [page] = first.evidence
    assert (page.document, page.pages) == ("example.org/media/p1.png?x=1", (1,))
    assert first.metadata["scan"] == rows[0]["scan"]
    with place.db.read() as session:
        labels = session.execute(select(StoredLabel.target, StoredLabel.value, StoredLabel.rationale)).all()
    assert sorted((value, len(places or [])) for _, value, places in labels) == [
        ([], 0), (["figure"], 0), (["figure", "table", "dot"], 3),
    ]  # fmt: skip
    [places] = [places for _, _, places in labels if places]
    assert {one["document"] for one in places} == {page.document}
    assert [(one["text"], one["box"]) for one in places] == [
        ("figure", [0.1, 0.2, 0.4, 0.45]), ("figure", [0.0, 0.9, 0.2, 1.0]), ("table", [0.5, 0.5, 0.75, 0.9]),
    ]  # fmt: skip
    assert [note for note in report.notes if note.startswith("Lost")] == [
        "Lost: Outlines of regions (polygon): the box around each is kept.",
        "Lost: Regions that are no box (ellipse): their labels are kept.",
        "Lost: Regions that are no box (landmark): their labels are kept.",
        "Lost: Regions without an area on the image: their labels are kept.",
        "Lost: Regions that are no box (mask): their labels are kept.",
        "Lost: Regions of an image that the data do not name: their labels are kept.",
    ]


BEST = {"annotation_type": "bws", "name": "good", "description": "Good?", "tuple_size": 3,
        "best_description": "The best?"}  # fmt: skip


def test_the_best_and_the_worst_of_tuples_that_potato_draws(place: Place, tmp_path: Path) -> None:
    config = {**CONFIG, "data_files": ["d.json"], "annotation_schemes": [BEST], "bws_config": {"tuple_size": 3}}
    said = {_NAMES: {"bws_tuple_0002": [entry("good", "best", "B"), entry("good", "worst", "A")],
                     "bws_tuple_9999": [entry("good", "best", "B")]}}  # fmt: skip
    folder = project(tmp_path / "set", config, ada=said)
    write_json(folder / "d.json", [{"id": n, "response": f"Text {n}"} for n in range(1, 6)])
    report = place.take(folder, labels_into="best")
    assert (report.added, report.rejected, report.labels.obstacles) == (10, [], [])
    assert stored(place) == {("ada", "good_best", "item", "B"), ("ada", "good_worst", "item", "A")}
    second = next(item for item in place.items() if item.id == "bws_tuple_0002")
    assert second.answer == "\n\n".join(f"{name}. Text {n}" for name, n in second.metadata["positions"].items())
    assert "1 labelled instance is not in the data: left out." in report.notes
    write_json(folder / "d.json", [{"id": 1, "response": "Text"}])
    with open_sources([folder]) as sources:
        [row] = FORMATS.get("potato").read(sources).items()
    assert isinstance(row, Rejected)
    assert row.reason == "`bws_config` asks for tuples of 3, and the data have 1 items."


def test_tuples_of_rounds_are_lost_in_words(tmp_path: Path) -> None:
    config = {**CONFIG, "annotation_schemes": [BEST, CONFIG["annotation_schemes"][0]], "ibws_config": {}}
    with open_sources([project(tmp_path / "set", config)]) as sources:
        reading = FORMATS.get("potato").read(sources)
        assert len([row for row in reading.items() if isinstance(row, ParsedItem)]) == 2
        assert reading.notes() == ["Lost: bws 'good': its tuples are made while people answer, and are in no file."]


BAD = {
    "up": ({"data_files": ["../secret.json"]}, "outside of the folder"),
    "absolute": ({"data_files": ["/etc/passwd"]}, "outside of the folder"),
    "address": ({"data_files": ["https://example.org/x.json"]}, "outside of the folder"),
    "missing": ({"data_files": ["nowhere.json"]}, "is not there"),
    "none": ({"data_files": []}, "names no `data_files`"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_no_file_outside_of_the_folder_is_read(tmp_path: Path, name: str) -> None:
    changed, reason = BAD[name]
    (tmp_path / "secret.json").write_text('[{"id": 1, "text": "secret"}]')
    with open_sources([project(tmp_path / "set", {**CONFIG, **changed})]) as sources:
        found = list(FORMATS.get("potato").read(sources).items())
    assert [type(row) for row in found] == [Rejected]
    [row] = found
    assert isinstance(row, Rejected)
    assert row.file == "set/config.yaml"
    assert reason in row.reason


def marked_study(place: Place, folder: Path) -> int:
    """A study of two people who mark an answer and judge its evidence; its items hide who wrote them."""
    rows = [
        {"id": f"q{n}:secret-system", "question": f"Question {n}?", "answer": "Ada wrote it, in 1843.",
         "system": "secret-system", "scores": [{"name": "secret_score", "value": 0.125}],
         "evidence": [{"key": "e1", "text": f"Note {n}", "role": "distractor"}, {"key": "e2", "text": "Letter"}]}
        for n in (1, 2)
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    place.take(folder / "items.jsonl")
    helps = [Label(value="yes", definition="It says so."), Label(value="no")]
    shows = [Material.QUESTION, Material.ANSWER, Material.EVIDENCE]
    protocol = tiny_protocol(
        name="marks",
        title="Marks",
        criteria=[
            Spans(name="wrong", title="What is wrong?", labels=[Label(value="fact"), Label(value="name")]),
            Several(name="why", title="Why?", labels=[Label(value="old"), Label(value="vague")]),
            Choice(name="helps", title="Does it help?", target=TargetKind.EVIDENCE, labels=helps),
        ],
        steps=[Step(name="s", title="S", shows=shows, criteria=["wrong", "why", "helps"])],
    )
    design = StudyDesign(name="marks", annotators=(place.actor.name,), overlap=1, order="given")
    study = create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id
    stretch = orjson.dumps([{"start": 17, "end": 21, "label": "fact"}]).decode()
    given = [
        (row["id"], who, name, target, value)
        for row in rows
        for who, name, target, value in [
            ("ada", "wrong", "item", stretch), ("ada", "why", "item", '["old"]'), ("ada", "helps", "evidence:e1", "no"),
            ("ada", "helps", "evidence:e2", "yes"), ("ben", "wrong", "item", "[]"), ("ben", "why", "item", "[]"),
            ("ben", "helps", "evidence:e1", "yes"), ("ben", "helps", "evidence:e2", "yes"),
        ]
        if who == "ada" or row is rows[0]
    ]  # fmt: skip
    at = datetime(2026, 5, 4, 9, tzinfo=UTC)
    labels = [ForeignLabel(line, *about, time=at) for line, about in enumerate(given, 2)]
    import_labels(place.db, place.actor, study, rows=labels, source="t.csv")
    return study


@pytest.mark.parametrize("name", ["potato", "argilla"])
def test_what_may_be_handed_on_says_nothing_that_the_study_hides(place: Place, tmp_path: Path, name: str) -> None:
    study = marked_study(place, tmp_path / "in")
    to = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study, formats=[name])
    handed_on = [path for path in (to / name).rglob("*") if path.is_file() and "key" not in path.parts]
    said = b"".join(path.read_bytes() for path in handed_on)
    assert b"Note 1" in said
    for hidden in (b"secret", b"distractor", b"0.125", b"chloe"):
        assert hidden not in said
    assert b"secret-system" in (to / name / "key" / "items.json").read_bytes()
    again = Place(place.db, tmp_path / "again")
    report = again.take(to / name, labels_into="again")
    assert (report.rejected, report.labels.obstacles, report.added) == ([], [], 2)
    with place.db.read() as session:
        before, after = (labels_of(session, one) for one in session.execute(select(Study).order_by(Study.id)).scalars())
    assert after == before
    assert len(after) == 12


def parts_study(place: Place, folder: Path) -> int:
    """A study of units, claims and images by ada, whose keys and whose order would say what they are."""
    rows = [
        {"id": f"q{n}", "question": f"Question {n}?", "answer": "Red. Blue.",
         "evidence": [{"key": "gold-1", "text": f"Right {n}", "role": "gold"},
                      {"key": "distractor-2", "role": "distractor"},
                      {"key": "distractor-3", "text": f"Wrong {n}", "role": "distractor"}],
         "claims": [{"key": "of-reference", "text": "Green", "of": "reference"},
                    {"key": "hallucinated-1", "text": "Red"}, {"key": "true-2", "text": "Blue"}],
         "hops": [{"key": "h1", "question": "Which pier?", "answer": "The north one"}],
         "images": [{"key": "original-2"}, {"key": "swapped-1", "caption": "A pier"}]}
        for n in range(12)
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    place.take(folder / "items.jsonl")
    yes_no = [Label(value="yes"), Label(value="no")]
    shows = [Material.QUESTION, Material.HOPS, Material.ANSWER, Material.EVIDENCE, Material.CLAIMS, Material.IMAGES]
    criteria = [
        Choice(name="helps", title="Does it help?", target=TargetKind.EVIDENCE, labels=yes_no),
        Choice(name="holds", title="Does it hold?", target=TargetKind.CLAIM_EVIDENCE, labels=yes_no),
        Text(name="seen", title="What is there?", target=TargetKind.IMAGE),
        Order(name="order", title="Which comes first?"),
    ]
    steps = [Step(name="s", title="S", shows=shows, criteria=[one.name for one in criteria])]
    protocol = tiny_protocol(name="parts", criteria=criteria, steps=steps)
    design = StudyDesign(name="parts", annotators=(place.actor.name,), overlap=1, order="given")
    study = create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id
    given = [
        (row["id"], "ada", name, target, value)
        for row in rows
        for name, target, value in [
            ("helps", "evidence:gold-1", "yes"), ("helps", "evidence:distractor-2", "no"),
            ("holds", "claim:true-2|evidence:gold-1", "yes"), ("holds", "claim:hallucinated-1|evidence:gold-1", "no"),
            ("seen", "image:swapped-1", "swapped"), ("order", "item", '["swapped-1","original-2"]'),
        ]
    ]  # fmt: skip
    labels = [ForeignLabel(line, *about) for line, about in enumerate(given, 2)]
    import_labels(place.db, place.actor, study, rows=labels, source="t.csv")
    return study


@pytest.mark.parametrize("name", ["potato", "argilla"])
def test_a_task_has_a_text_for_whatever_the_protocol_shows(place: Place, tmp_path: Path, name: str) -> None:
    study, to = parts_study(place, tmp_path / "in"), tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study, formats=[name])
    folder = to / name / "item"
    if name == "argilla":
        first = orjson.loads((folder / "records.json").read_bytes())[0]["fields"]
        shown = [field["name"] for field in orjson.loads((folder / "settings.json").read_bytes())["fields"]]
    else:
        first = orjson.loads((folder / "data.json").read_bytes())[0]
        config = yaml.safe_load((folder / "config.yaml").read_text())
        shown = [field["key"] for field in config["instance_display"]["fields"]]
    assert shown == ["question", "hops", "answer", "claims", "evidence", "images"]
    assert sorted(part.partition(" ")[0] for part in first["evidence"].split("\n\n")) == ["[E1]", "[E2]", "[E3]"]
    assert {field: first[field] for field in shown if field != "evidence"} == {
        "question": "Question 0?", "hops": "Which pier? → The north one", "answer": "Red. Blue.",
        "claims": "[C1] Red\n\n[C2] Blue", "images": "[I1]\n\n[I2] A pier",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["potato", "argilla"])
def test_parts_are_called_and_stand_as_our_annotators_have_them_and_come_back_as_they_were(
    place: Place, tmp_path: Path, name: str
) -> None:
    study, to = parts_study(place, tmp_path / "in"), tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study, formats=[name])
    handed_on = [path for path in (to / name).rglob("*") if path.is_file() and "key" not in path.parts]
    said = b"".join(path.read_bytes() for path in handed_on)
    for hidden in (b"gold", b"distractor", b"hallucinated", b"true-2", b"original", b"swapped-1", b"Green"):
        assert hidden not in said
    records = orjson.loads(
        (to / name / "evidence" / ("records.json" if name == "argilla" else "data.json")).read_bytes()
    )
    units = [(record["fields"] if name == "argilla" else record)["unit"] for record in records]
    with place.db.read() as session:
        here = [item.steps[0].material["evidence"] for item in read_to_judge(session, session.get_one(Study, study))]
    assert units == [unit["text"] or unit["key"] for item in here for unit in item]
    assert {units.index(f"Right {n}") % 3 for n in range(12)} == {0, 1, 2}
    before = [label[1:] for label in every_label(place)]
    report = Place(place.db, tmp_path / "again").take(to / name, labels_into="again")
    assert (report.rejected, report.labels.obstacles, report.added) == ([], [], 12)
    assert sorted(label[1:] for label in every_label(place)) == sorted(before * 2)
    assert ("q0", "order", "item", ["swapped-1", "original-2"]) in before


@pytest.mark.parametrize("name", ["potato", "argilla"])
def test_labels_of_items_that_the_key_does_not_have_are_counted(place: Place, tmp_path: Path, name: str) -> None:
    study, to = marked_study(place, tmp_path / "in"), tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study, formats=[name])
    key = to / name / "key" / "items.json"
    key.write_bytes(orjson.dumps(orjson.loads(key.read_bytes())[:1]))
    with open_sources([to / name]) as sources:
        reading = FORMATS.get(name).read(sources)
        [row] = reading.items()
        assert isinstance(row, ParsedItem)
        assert len(row.labels) == 8
        assert reading.notes() == ["4 labels are of items that the key does not have: left out."]


def test_what_is_lost_of_labels_is_counted_before_anything_is_written(place: Place, tmp_path: Path) -> None:
    study, to = marked_study(place, tmp_path / "in"), tmp_path / "out"
    formats = ["potato", "huggingface", "argilla"]
    made = export_project(
        place.db, place.actor, place.project, to=to, study_id=study, formats=formats, dry_run=True,
        options={"licence": "cc-by-4.0"},
    )  # fmt: skip
    lost = {name: [(one.what, one.n, one.of) for one in some] for name, some in made.lost.items()}
    of_labels = {name: [one for one in some if "label" in one[0]] for name, some in lost.items()}
    assert of_labels["potato"] == [("times of labels", 12, 12)]
    assert of_labels["huggingface"] == []


def test_without_the_key_the_labels_are_of_records(place: Place, tmp_path: Path) -> None:
    study = marked_study(place, tmp_path / "in")
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", study_id=study, formats=["potato"])
    with open_sources([tmp_path / "out" / "potato" / "evidence"]) as sources:
        rows = list(FORMATS.get("potato").read(sources).items())
    items = [row for row in rows if isinstance(row, ParsedItem)]
    assert len(items) == len(rows) == 4
    assert sorted(label.value for row in items for label in row.labels) == ["no"] * 2 + ["yes"] * 4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            entry("sent", "pos", "pos"),
            "ada gave 'sent' of q1: the scheme has no label 'pos' (it has bad, good). Add it",
        ),
        (
            entry("agree", "7", "7"),
            "ada gave 'agree' of q1: the scheme has no label '7' (it has 1, 2, 3, 4, 5). Add it",
        ),
        (entry("top", "zzz", "zzz"), "ada gave 'top' of q1: the scheme has no label 'zzz' (it has x, y). Add it"),
        (entry("num", "number", "3,5"), "ada gave 'num' of q1: '3,5' is no number. Write one like 3.5"),
        (entry("num", "number", {}), "ada gave 'num' of q1: {} is no number. Write one like 3.5"),
    ],
)
def test_an_answer_that_the_config_does_not_have_is_named_and_no_other_label_made_of_it(
    tmp_path: Path, given: Any, words: str
) -> None:
    schemes = [
        {"annotation_type": "radio", "name": "sent", "description": "S", "labels": ["good", "bad"]},
        {"annotation_type": "likert", "name": "agree", "description": "A", "size": 5},
        {"annotation_type": "multiselect", "name": "top", "description": "T", "labels": ["x", "y"]},
        {"annotation_type": "number", "name": "num", "description": "N"},
    ]
    said = [entry("sent", "good", "good"), entry("top", "x", "x"), entry("gone", "q", "q")]
    config = {**CONFIG, "data_files": ["d.json"], "annotation_schemes": schemes}
    folder = project(tmp_path / "set", config, ada={_NAMES: {"q1": [*said, given], "q2": said}})
    write_json(folder / "d.json", [{"id": "q1", "question": "Who?"}, {"id": "q2", "question": "When?"}])
    with open_sources([folder]) as sources:
        reading = FORMATS.get("potato").read(sources)
        bad, item = reading.items()
        assert isinstance(bad, Rejected)
        assert bad.reason.startswith(words)
        assert isinstance(item, ParsedItem)
        assert [(one.criterion, one.value) for one in item.labels] == [("sent", "good"), ("top", '["x"]')]
        assert "Lost: What was given to the scheme 'gone', which the config does not have (2 times)." in reading.notes()


def test_a_scheme_without_a_description_is_called_by_its_name() -> None:
    one = {"value": 2, "title": "two"}
    assert _of_option({"name": "n", "description": "How many?"}, one) == ("n_2", {"title": "How many?: two"})
    assert _of_option({"name": "n"}, one) == _of_option({"name": "n", "description": ""}, one)
    assert _of_option({"name": "n"}, one) == ("n_2", {"title": "n: two"})
    assert len(_of_option({"name": "n" * 400}, one)[1]["title"]) == 300


def test_a_config_stands_in_the_order_in_which_people_read_it() -> None:
    assert _yaml({"task": "é", "data": [1], "annotation": {"b": 1, "a": 2}}).decode() == (
        "task: é\ndata:\n- 1\nannotation:\n  b: 1\n  a: 2\n"
    )
