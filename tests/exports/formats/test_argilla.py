"""Datasets of Argilla as its SDK writes them: where the settings lie, what was marked, what cannot be taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from db.models import Account, Annotation, StoredLabel
from exports.converting import convert_files
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
