"""Datasets of Argilla as its SDK writes them: where the settings lie, what was marked, what cannot be taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.errors import InvalidInput
from annotators.items.parsed import Rejected
from db.models import Account, Annotation, StoredLabel
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats.base import protocol_of_labels
from exports.reading.sources import open_sources
from tests.exports.formats.places import Place, write_json

ADA, BEN = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))


def question(name: str, kind: str, **settings: Any) -> dict[str, Any]:
    return {"name": name, "title": name.title(), "required": True, "type": kind, "settings": {"type": kind, **settings}}


def settings(*questions: dict[str, Any], fields: tuple[str, ...] = ("prompt", "response")) -> dict[str, Any]:
    return {"guidelines": "Read.", "questions": [*questions], "fields": [{"name": name} for name in fields]}


def record(number: int, responses: dict[str, Any], **more: Any) -> dict[str, Any]:
    said = {name: [{"value": value, "user_id": ADA}] for name, value in responses.items()}
    fields = {"prompt": "Pinky?", "response": "hello world", **more.pop("fields", {})}
    return {"id": f"r{number}", "fields": fields, "metadata": {}, "suggestions": {}, "responses": said, **more}


OPTIONS = {"options": [{"text": "Yes", "value": "y"}, {"text": "No", "value": "n"}]}
RATING = question("grade", "rating", options=[{"value": number} for number in range(4)])
SPANS = {"options": [{"text": "Bad", "value": "bad"}]}


def stored(place: Place) -> list[tuple[str, Any]]:
    with place.db.read() as session:
        found = session.exec(select(StoredLabel)).all()
        return sorted((one.criterion, one.value) for one in found)


@pytest.mark.parametrize("where", ["settings.json", ".argilla/settings.json"])
def test_the_settings_are_found_beside_the_records_and_where_to_disk_puts_them(
    place: Place, tmp_path: Path, where: str
) -> None:
    folder = tmp_path / "set"
    (folder / where).parent.mkdir(parents=True)
    write_json(folder / where, settings(RATING, question("ok", "label_selection", **OPTIONS)))
    if where.startswith("."):
        write_json(folder / ".argilla" / "dataset.json", {"name": "set", "id": "1"})
    write_json(folder / "records.json", [record(1, {"grade": 2, "ok": "y"}), record(2, {"grade": 0, "ok": "n"})])
    report = place.take(folder, labels_into="set")
    assert (report.format, report.added, report.rejected, report.labels.obstacles) == ("argilla", 2, [], [])
    protocol = place.protocol("set")
    assert {one.name: one.kind for one in protocol.criteria} == {"grade": "grade", "ok": "choice"}
    assert [one.title for one in protocol.criterion("ok").label_list()] == ["Yes", "No"]
    assert stored(place) == [("grade", 0), ("grade", 2), ("ok", "n"), ("ok", "y")]


def test_stretches_of_the_question_are_no_stretches_of_the_answer(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    asked = settings(
        question("ok", "label_selection", **OPTIONS),
        question("of_prompt", "span", field="prompt", **SPANS),
        question("of_response", "span", field="response", **SPANS),
    )
    write_json(folder / "settings.json", asked)
    marked = [{"start": 0, "end": 5, "label": "bad"}]
    write_json(folder / "records.json", [record(1, {"ok": "y", "of_prompt": marked, "of_response": marked})])
    report = place.take(folder, labels_into="set")
    assert "Lost: stretches of another text than the answer, of 1 response: only one text can be marked here." in (
        report.notes
    )
    [(name, [stretch]), ok] = stored(place)
    assert (name, stretch["text"], ok) == ("of_response", "hello", ("ok", "y"))


def test_the_text_that_is_marked_is_the_answer_however_it_is_called(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    write_json(folder / "settings.json", settings(question("m", "span", field="note", **SPANS), fields=("note", "ask")))
    fields = {"note": "Some words.", "ask": "Which?"}
    [one] = [record(1, {"m": [{"start": 5, "end": 10, "label": "bad"}]})]
    write_json(folder / "records.json", [{**one, "fields": fields}])
    assert place.take(folder, labels_into="set").rejected == []
    [item] = place.items()
    assert (item.question, item.answer) == ("Which?", "Some words.")
    assert stored(place)[0][1][0]["text"] == "words"


def test_rankings_and_vectors_are_left_out_and_counted_and_missing_states_are_said(
    place: Place, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    ranked = [{"value": "a", "rank": 1}, {"value": "b", "rank": 2}]
    asked = settings(question("ok", "label_selection", **OPTIONS), question("rank", "ranking", options=[]))
    write_json(folder / "settings.json", asked)
    draft = {"ok": [{"value": "n", "user_id": BEN, "status": "draft"}, {"value": "y", "user_id": ADA}]}
    by_sdk = {"rank": [{"value": ["b", "a"], "user_id": BEN}]}
    rows = [
        record(1, {"ok": "y", "rank": ranked}, vectors={"v": [0.5]}),
        {**record(2, {}), "responses": {**draft, **by_sdk}},
    ]
    (folder / "records.json").write_bytes(orjson.dumps(rows))
    report = place.take(folder, labels_into="set")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    assert stored(place) == [("ok", "y"), ("ok", "y")]
    assert [note for note in report.notes if "response" in note or note.startswith("Lost")] == [
        "1 response that nobody submitted (drafts, discarded): left out.",
        "2 responses do not say whether they were submitted, as the SDK leaves that out of its files: drafts and "
        "discarded ones, if there are any, count.",
        "Lost: 2 rankings of values: nothing here is like them.",
        "Lost: vectors of 1 record.",
    ]
    assert "Lost: 2 rankings of values: nothing here is like them." in (
        convert_files([folder], into="native", output=tmp_path / "out").notes
    )
    with place.db.read() as session:
        names = session.exec(
            select(Account.name).join(Annotation, Annotation.person_id == Account.person_id)  # type: ignore[arg-type]
        ).all()
    assert set(names) == {ADA}


def dataset(folder: Path, asked: Any, *records: Any) -> Path:
    """A folder as the SDK writes it: settings (None: without) and records."""
    if asked is not None:
        write_json(folder / "settings.json", asked)
    write_json(folder / "records.json", [*records])
    return folder


def reasons(folder: Path) -> list[tuple[str, str]]:
    """File and reason of everything that is refused of a dataset."""
    with open_sources([folder]) as sources:
        rows = list(FORMATS.get("argilla").read(sources).items())
    return [(row.file, row.reason) for row in rows if isinstance(row, Rejected)]


def test_of_stretches_over_each_other_the_first_is_kept(place: Place, tmp_path: Path) -> None:
    asked = settings(question("m", "span", field="response", allow_overlapping=True, **SPANS))
    marked = [{"start": start, "end": end, "label": "bad"} for start, end in ((6, 11), (0, 7), (0, 5), (2, 4))]
    report = place.take(dataset(tmp_path / "set", asked, record(1, {"m": marked})), labels_into="set")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    [(_, value)] = stored(place)
    assert [one["text"] for one in value] == ["hello", "world"]
    assert "Lost: 2 stretches over others: the first is kept." in report.notes


def test_an_empty_text_is_no_answer(place: Place, tmp_path: Path) -> None:
    asked = settings(question("why", "text"), question("ok", "label_selection", **OPTIONS))
    rows = [record(1, {"why": " ", "ok": "y"}), record(2, {"why": " so ", "ok": ""})]
    report = place.take(dataset(tmp_path / "set", asked, *rows), labels_into="set")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    assert stored(place) == [("ok", "y"), ("why", "so")]
    assert "2 responses are empty: no answer, so left out." in report.notes


def test_a_response_that_does_not_fit_is_named_with_its_record_and_its_person(place: Place, tmp_path: Path) -> None:
    asked = settings(question("ok", "label_selection", **OPTIONS))
    folder = dataset(tmp_path / "set", asked, record(1, {"ok": "y"}), record(2, {"ok": "zzz"}))
    with pytest.raises(InvalidInput, match=f"records.json, line .*: {ADA} gave 'ok' of r2: .*'zzz'"):
        place.take(folder, labels_into="set")


@pytest.mark.parametrize("with_settings", [True, False])
@pytest.mark.parametrize("value", ["x", True, [[]], [{"start": 0, "end": 2}, 5], {"start": 0}, [{"start": "0"}]])
def test_what_is_no_stretch_is_named_with_its_record_and_its_person(
    tmp_path: Path, value: Any, *, with_settings: bool
) -> None:
    asked = settings(question("m", "span", field="response", **SPANS)) if with_settings else None
    well = record(1, {"m": [{"start": 0, "end": 2, "label": "bad"}]})
    [(file, reason)] = reasons(dataset(tmp_path / "set", asked, well, record(2, {"m": value})))
    assert file == "set/records.json"
    assert reason.startswith(f"{ADA} marked 'm' of r2 at ")
    assert reason.endswith("A stretch has a start and an end: whole numbers.")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"questions": 5}, "`questions` is 5, not a list. Write […]"),
        ({"questions": ["x"]}, "`questions` holds 'x', not an object. Take the file as it was written."),
        ({"questions": [{"name": ["a"], "settings": {}}]}, "question 1: `name` is ['a'], not a text."),
        ({"questions": [{"name": "a", "settings": 5}]}, "question 1: `settings` is 5, not an object."),
        ({"questions": [{"name": "a", "settings": {"type": ["span"]}}]}, "question 1: `type` is ['span'], not a text."),
        ({"questions": [question("a", "label_selection", options=5)]}, "question 1: `options` is 5, not a list."),
        ({"fields": 5}, "`fields` is 5, not a list."),
        ({"fields": [{"name": ["a"]}]}, "`name` is ['a'], not a text."),
    ],
)
def test_settings_that_are_none_are_named(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    folder = dataset(tmp_path / "set", {**settings(), **changed}, record(1, {"ok": "y"}))
    [(file, reason)] = reasons(folder)
    assert file == "set/settings.json"
    assert reason.startswith(words)
    with open_sources([folder]) as sources:
        assert protocol_of_labels(FORMATS.get("argilla").read(sources)) is None
