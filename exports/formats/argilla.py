"""Argilla 2: records with suggestions and responses, and the settings that ask for them.

What is written is a folder for each kind of target: `records.json` and `settings.json`, as the SDK reads them. Beside
them lies a folder `key` for our reader alone: it says which items the records are, and holds what the study hides.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import AssayError, InvalidInput
from annotators.figures import count
from annotators.items.checks import called
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from exports.formats._fields import item_of_fields
from exports.formats._key import Key, KeyReading
from exports.formats._losing import usual
from exports.formats._records import (
    JSON_ENDING,
    Record,
    RecordReading,
    json_files,
    lacking,
    list_of,
    names_in,
    text_of,
)
from exports.formats._shown import (
    ALONE,
    PAIR,
    PairTask,
    PairTasks,
    ShownItem,
    Together,
    asked_together,
    content_of,
    fields_of_tasks,
)
from exports.formats._stretches import Apart, in_answer
from exports.formats._writing import Files, Given, Items, StudyOut, Written, cell_of
from exports.formats.base import FORMATS, LOST, FileReading, Misnamed
from exports.formats.table import guessed
from exports.reading.json_files import element_lines, json_file
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    from annotators.criteria import Criterion
    from annotators.protocols import Protocol

RECORDS, SETTINGS = "records.json", "settings.json"
_OF_DISK = ".argilla"
"""The folder in which `Dataset.to_disk` keeps what is no record."""

SCORER = "imported:argilla"
_SPACE = uuid.UUID("5a1d6b0c-3f0e-4c1f-9a43-0a55a7000000")
"""From which the ids of annotators are made: the same person has the same id in every export."""

_MOST_RATING = 10
_SUBMITTED = "submitted"


class Argilla:
    """A record is an item, or a unit of one; responses become labels, suggestions are no person's and left out."""

    name = "argilla"
    title = "Argilla 2 records and settings"
    help = (
        "records.json with fields, responses and suggestions (`records.to_json`, `to_disk`), and perhaps settings.json"
    )
    takes_pairs = True
    loses = usual(
        "labels.time",
        "labels.seconds",
        "labels.comment",
        "labels.rationale",
        labels="labels that say that it cannot be judged",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSON list of records, and the settings of a dataset."""
        if not file.basename.endswith(JSON_ENDING):
            return Misnamed(f"it does not end with {JSON_ENDING}")
        there = names_in(file.head())
        if file.basename == SETTINGS:
            return lacking(there, ("questions", "fields"))
        return lacking(there, ("fields", "responses", "suggestions"))

    def read(self, sources: Sources) -> FileReading:
        """The records of the sources, with what their settings say was asked."""
        files = [one for one in json_files(sources) if one.basename == SETTINGS or _folder_of(one) == _beside(one)]
        return _ArgillaReading(sources, files)

    def label_protocol(self) -> Protocol | None:
        """The settings say what was asked."""
        return None

    def write(self, items: Items, files: Files) -> Written:
        """Write records without questions but one: a dataset needs some."""
        n, key = 0, Key(files)
        files.begin(SETTINGS, orjson.dumps(_settings("", ["question", "answer"], [_NOTE], [])), b"\n")
        for item in items():
            key.add(item, item["id"])
            texts = {"question": item["question"], **({"answer": item["answer"]} if item["answer"] else {})}
            files.add(RECORDS, _record(item["id"], texts, item["id"], ALONE, {}))
            n += 1
        key.close({})
        return Written(n, 0)

    def write_study(self, study: StudyOut, files: Files) -> Written:
        """Write a dataset for each kind of target, and for what is asked beside scores that were hidden before.

        Everybody's labels are responses.
        """
        protocol, n, key = study.protocol, 0, Key(files, study.protocol)
        folders = asked_together(protocol)
        for asked in folders:
            fields = _fields_of(asked.kind, fields_of_tasks(protocol, scores=asked.scores))
            questions = [_question(criterion, fields) for criterion in asked.criteria]
            settings = _settings(protocol.guidelines, fields, questions, ["target"])
            files.begin(f"{asked.folder}/{SETTINGS}", orjson.dumps(settings, option=orjson.OPT_INDENT_2), b"\n")
            files.begin(f"{asked.folder}/{RECORDS}")
        people: dict[str, str] = {}
        pairs = PairTasks(study)
        for judged in study.judged():
            known_as = study.known_as(judged.item["id"])
            people |= {str(user_id(label.annotator)): label.annotator for label in judged.labels}
            n += 1
            if protocol.about_pairs:
                key.add(judged.item, known_as)
                for task in pairs.with_item(judged):
                    files.add(f"{PAIR}/{RECORDS}", _record_of_pair(task, protocol.criteria, study.known_as))
                continue
            shown = ShownItem(content_of(judged), protocol, judged.pages, judged.scores)
            key.add(judged.item, known_as, shown.parts)
            for asked in folders:
                for record in _records_of(shown, judged.labels, asked, known_as):
                    files.add(f"{asked.folder}/{RECORDS}", record)
        key.close(people)
        return Written(n, 0)


FORMATS.register(Argilla())


_SIDES = ("left", "right")
"""The fields of the two answers of a pair."""


def _fields_of(kind: str, names: Sequence[str]) -> list[str]:
    """The fields of the records of one kind."""
    if kind == PAIR:
        return [*(name for name in names if name != "answer"), *_SIDES]
    return [*names] if kind == ALONE else [*names, "unit"]


def user_id(annotator: str) -> uuid.UUID:
    """The id that an annotator has in Argilla."""
    return uuid.uuid5(_SPACE, annotator)


def _beside(file: SourceFile) -> PurePosixPath:
    return PurePosixPath(file.name).parent


def _folder_of(file: SourceFile) -> PurePosixPath:
    """The folder of the records that a file is of: `to_disk` puts settings into one of their own beside them."""
    folder = _beside(file)
    return folder.parent if folder.name == _OF_DISK else folder


# Reading --------------------------------------------------------------------------------------------------------------


class _ArgillaReading(RecordReading):
    """The records of one source. Where our items lie beside them, these are the items, and records give labels."""

    format = Argilla.name

    def __init__(self, sources: Sources, files: list[SourceFile]) -> None:
        super().__init__(sources, files)
        self._key = KeyReading(sources)
        self._settings: dict[PurePosixPath, _Settings] = {}
        self._bad_settings: list[Rejected] = []
        for file in files:
            found = json_file(file) if file.basename == SETTINGS else None
            if isinstance(found, dict):
                try:
                    self._settings[_folder_of(file)] = _Settings(found)
                except InvalidInput as error:
                    self._bad_settings.append(Rejected(file.name, 1, str(error)))
        self.begin()

    def begin(self) -> None:
        self._spans: set[str] = set()
        self._suggested = self._unsubmitted = self._unsaid = self._vectors = self._ranked = self._elsewhere = 0
        self._empty = self._overlapping = 0

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items of the key, else a record each."""
        yield from self._bad_settings
        if not self._key.there:
            yield from super().items()
            return
        self.begin()
        said: dict[str, list[ForeignLabel]] = {}
        for file in self.files:
            listed = json_file(file) if file.basename == RECORDS else None
            for number, record in enumerate(listed if isinstance(listed, list) else (), 1):
                try:
                    for label in self._labels(record, file, number) if isinstance(record, dict) else ():
                        said.setdefault(label.item, []).append(label)
                except InvalidInput as error:
                    yield Rejected(file.name, number, str(error))
        yield from self._key.items(said, self._spans)

    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        if file.basename == SETTINGS:
            return iter(())
        return self._items(file, data) if isinstance(data, list) else None

    def _items(self, file: SourceFile, records: Sequence[Any]) -> Iterator[ParsedItem | Rejected]:
        for record, line in zip(records, element_lines(file, None, len(records)), strict=True):
            try:
                if not isinstance(record, dict) or not isinstance(record.get("fields"), dict):
                    raise InvalidInput("it is no record with `fields`. Export the records of a dataset.")
                row = self._row(record, file)
                item = read_item(row, scorer=SCORER)
                labels = [
                    in_answer(label._replace(item=item.id), item.answer, self._spans)
                    for label in self._labels(record, file, line)
                ]
                yield ParsedItem(file.name, line, item, tuple(labels))
            except AssayError as error:
                yield Rejected(file.name, line, str(error))

    def _row(self, record: Record, file: SourceFile) -> Normal:
        fields = [name for name, value in record["fields"].items() if value is not None]
        settings = self._settings.get(_folder_of(file), _NO_SETTINGS)
        said = {"answer": settings.marked} if settings.marked is not None and settings.marked in fields else {}
        if "question" not in guessed([name for name in fields if name not in said.values()]):
            names = [name for name in (*settings.fields, *fields) if name in fields and name not in said.values()]
            said["question"] = next(iter(names), "")
        row = item_of_fields(record["fields"], record.get("metadata"), said)
        identity = record.get("id")
        if isinstance(identity, str | int) and not isinstance(identity, bool):
            row["id"] = str(identity)
        return row

    def _labels(self, record: Record, file: SourceFile, line: int) -> Iterator[ForeignLabel]:
        metadata = record.get("metadata")
        about: Record = metadata if isinstance(metadata, dict) else {}
        target = str(about.get("target") or ALONE) if self._key.there else ALONE
        item = self._key.item_of(str(about.get("item") or record.get("id")))
        other = self._key.item_of(str(about["other"])) if self._key.there and about.get("other") else None
        suggestions, responses = record.get("suggestions"), record.get("responses")
        self._suggested += len(suggestions) if isinstance(suggestions, dict) else 0
        self._vectors += bool(record.get("vectors"))
        settings = self._settings.get(_folder_of(file), _NO_SETTINGS)
        for name, given in responses.items() if isinstance(responses, dict) else ():
            for response in given if isinstance(given, list) else ():
                value = response.get("value") if isinstance(response, dict) else None
                if value is None or response.get("status", _SUBMITTED) != _SUBMITTED:
                    self._unsubmitted += value is not None
                    continue
                if name in settings.rankings or _is_ranking(value):
                    self._ranked += 1
                    continue
                if name in settings.of_another_text:
                    self._elsewhere += 1
                    continue
                if isinstance(value, str) and not value.strip():
                    self._empty += 1
                    continue
                self._unsaid += "status" not in response
                user = str(response.get("user_id") or "unknown")
                who, criterion = self._key.person(user), _name(name)
                if _marks(value) or name in settings.spans:
                    self._spans.add(criterion)
                if _marks(value):
                    value = [*self._apart(value)]
                said = cell_of(value)
                of = self._key.target_of(criterion, target) if other else target
                label = ForeignLabel(line, item, who, criterion, of, said, None, None, other, file.name)
                yield self._key.by_own_names(label)

    def _apart(self, stretches: Iterable[Record]) -> Iterator[Record]:
        """The stretches without those that overlap an earlier one, each with its place and its label alone."""
        apart = Apart()
        for one in stretches:
            start, end = one.get("start"), one.get("end")
            if isinstance(start, int) and isinstance(end, int) and not apart.takes(start, end):
                self._overlapping += 1
                continue
            yield {name: one[name] for name in ("start", "end", "label") if name in one}

    def not_ours(self) -> str:
        return "this is no list of Argilla records (fields, responses, suggestions). Leave it out, or name the format."

    def notes(self) -> Sequence[str]:
        found = self._key.notes()
        if self._suggested:
            found.append(f"{count(self._suggested, 'suggestion')} of models: no person's labels, so they are left out.")
        if self._unsubmitted:
            found.append(f"{count(self._unsubmitted, 'response')} that nobody submitted (drafts, discarded): left out.")
        if self._unsaid:
            found.append(
                f"{count(self._unsaid, 'response does', 'responses do')} not say whether they were submitted, as the "
                "SDK leaves that out of its files: drafts and discarded ones, if there are any, count."
            )
        if self._empty:
            found.append(f"{count(self._empty, 'response is', 'responses are')} empty: no answer, so left out.")
        if self._overlapping:
            found.append(f"{LOST}{count(self._overlapping, 'stretch', 'stretches')} over others: the first is kept.")
        if self._ranked:
            found.append(f"{LOST}{count(self._ranked, 'ranking')} of values: nothing here is like them.")
        if self._elsewhere:
            found.append(
                f"{LOST}stretches of another text than the answer, of {count(self._elsewhere, 'response')}: only one "
                "text can be marked here."
            )
        if self._vectors:
            found.append(f"{LOST}vectors of {count(self._vectors, 'record')}.")
        return found

    def label_protocol(self) -> Protocol | None:
        """What the protocol in the key says was asked, else the settings."""
        if self._key.protocol is not None:
            return self._key.protocol
        return _protocol_of(next(iter(self._settings.values()), _NO_SETTINGS))


def _objects(record: Record, name: str) -> list[Record]:
    """The objects of the list in a field; InvalidInput where it is none of them."""
    found = list_of(record, name)
    for one in found:
        if not isinstance(one, dict):
            raise InvalidInput(f"`{name}` holds {called(one)}, not an object. Take the file as it was written.")
    return found


class _Question:
    """What settings say of one question; `asked` is None where they do not say what it asks."""

    def __init__(self, said: Record) -> None:
        self.said, self.name = said, text_of(said, "name")
        self.asked: Record | None = said.get("settings")
        if self.asked is not None and not isinstance(self.asked, dict):
            raise InvalidInput(f"`settings` is {called(self.asked)}, not an object. Take the file as it was written.")
        asked = self.asked or {}
        self.kind = text_of(asked, "type") if asked.get("type") is not None else ""
        self.options = [one for one in _objects(asked, "options") if one.get("value") is not None]


class _Settings:
    """What the settings of a dataset say: its fields, its questions, and which text is marked.

    `marked` is the field that is the answer as stretches of it are marked; `of_another_text` are questions whose
    stretches are of a field that is the question here, or of a second one, `spans` all others that ask for some.
    `rankings` are questions that ask for an order, whose answers the SDK writes as it writes several labels.
    InvalidInput where they are no settings.
    """

    def __init__(self, settings: Record) -> None:
        self.guidelines = settings.get("guidelines")
        self.fields = [text_of(one, "name") for one in _objects(settings, "fields")]
        self.questions: list[_Question] = []
        for number, one in enumerate(_objects(settings, "questions"), 1):
            try:
                self.questions.append(_Question(one))
            except InvalidInput as error:
                raise InvalidInput(f"question {number}: {error}") from None
        marks = {one.name: str((one.asked or {}).get("field")) for one in self.questions if one.kind == "span"}
        self.rankings = frozenset(one.name for one in self.questions if one.kind == "ranking")
        asked = guessed(self.fields).get("question", [])
        self.marked = next((name for name in marks.values() if name not in asked), None)
        self.of_another_text = frozenset(name for name, of in marks.items() if of != self.marked)
        self.spans = marks.keys() - self.of_another_text


_NO_SETTINGS = _Settings({})


def _is_ranking(value: Any) -> bool:
    """Whether a response is an order as the server has it: each value with its place."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "rank" in one for one in value)


def _marks(value: Any) -> bool:
    """Whether a response is stretches of a text, which have scores beside their places."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "start" in one for one in value)


def _name(question: str) -> str:
    from annotators.asking.inferred_protocols import criterion_name  # noqa: PLC0415 - loads pydantic

    return criterion_name(question)


def _protocol_of(of: _Settings) -> Protocol | None:
    """What the questions of a dataset ask, as a protocol; None where they cannot be said."""
    from annotators.protocols import ALL_FALLS  # noqa: PLC0415
    from annotators.protocols import Protocol as Asked  # noqa: PLC0415

    criteria = []
    for question in of.questions:
        if question.asked is None:
            return None
        labels = [{"value": one["value"], "title": str(one.get("text") or one["value"])} for one in question.options]
        kind = {
            "label_selection": "choice",
            "multi_label_selection": "several",
            "rating": "grade",
            "text": "text",
            "span": "spans",
        }.get(question.kind)
        if kind is None or question.name in of.of_another_text:
            continue
        about: Record = {
            "kind": kind,
            "name": _name(question.name),
            "title": str(question.said.get("title") or question.name),
            "help": str(question.said.get("description") or ""),
            "required": bool(question.said.get("required", True)),
        }
        criteria.append(about if kind == "text" else {**about, "labels": labels})
    if not criteria:
        return None
    names = [one["name"] for one in criteria]
    step = {"name": "labels", "title": "Labels", "shows": ["question", "answer"], "criteria": names}
    try:
        return Asked.model_validate(
            {
                "name": "argilla_dataset",
                "title": "Argilla dataset",
                "summary": "The questions of an Argilla dataset.",
                "guidelines": str(of.guidelines or "There were no guidelines."),
                "criteria": criteria,
                "steps": [step],
                "invalidates": ALL_FALLS,
            }
        )
    except ValueError:
        return None


# Writing --------------------------------------------------------------------------------------------------------------


def _settings(guidelines: str, fields: Iterable[str], questions: list[Record], metadata: Iterable[str]) -> Record:
    def field(name: str) -> Record:
        title = f"Answer on the {name}" if name in _SIDES else name.capitalize()
        asked = {"type": "text", "use_markdown": name in ("answer", "evidence", *_SIDES)}
        return {"name": name, "title": title, "required": name == "question", "type": "text", "settings": asked}

    return {
        "guidelines": guidelines,
        "fields": [field(name) for name in fields],
        "questions": questions,
        "metadata": [
            {
                "name": name,
                "title": name,
                "type": "terms",
                "visible_for_annotators": False,
                "settings": {"type": "terms", "visible_for_annotators": False, "values": None},
            }
            for name in metadata
        ],
        "vectors": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


_NOTE: Record = {
    "name": "note", "title": "Note", "description": None, "required": True, "type": "text",
    "settings": {"type": "text", "use_markdown": False},
}  # fmt: skip


def _question(criterion: Criterion, fields: Sequence[str]) -> Record:
    """A criterion as a question; what Argilla has no question for is asked as a text."""
    labels = criterion.label_list()
    options = [{"value": str(label.value), "text": label.title} for label in labels]
    numbers = [label.value for label in labels if isinstance(label.value, int)]
    settings: Record = {"type": "text", "use_markdown": False}
    if criterion.scale == "spans" and "answer" in fields:
        settings = {
            "type": "span", "field": "answer", "options": options, "visible_options": None, "allow_overlapping": False
        }  # fmt: skip
    elif criterion.scale == "set" and labels:
        settings = {
            "type": "multi_label_selection", "options": options, "visible_options": None, "options_order": "natural"
        }  # fmt: skip
    elif _is_rating(criterion, numbers):
        settings = {"type": "rating", "options": [{"value": number} for number in numbers]}
    elif criterion.scale in ("nominal", "ordinal") and labels:
        settings = {"type": "label_selection", "options": options, "visible_options": None}
    definitions = [f"{label.title}: {label.definition}" for label in labels if label.definition]
    described = re.sub(r"\s+", " ", " ".join([criterion.help, *definitions])).strip()
    return {
        "name": criterion.name,
        "title": criterion.title,
        "description": described or None,
        "required": criterion.required and criterion.when is None,
        "type": settings["type"],
        "settings": settings,
    }


def _is_rating(criterion: Criterion, numbers: Sequence[int]) -> bool:
    every = bool(numbers) and len(numbers) == len(criterion.label_list())
    return criterion.scale == "ordinal" and every and min(numbers) >= 0 and max(numbers) <= _MOST_RATING


def _records_of(shown: ShownItem, labels: Sequence[Given], asked: Together, name: str) -> Iterator[Record]:
    types = {criterion.name: _question(criterion, ["answer"])["type"] for criterion in asked.criteria}
    said: dict[str, dict[str, list[Record]]] = {}
    for label in shown.said(labels, asked.criteria):
        value = _value(label.value, types[label.criterion])
        response = {"value": value, "user_id": str(user_id(label.annotator)), "status": _SUBMITTED}
        said.setdefault(label.target, {}).setdefault(label.criterion, []).append(response)
    for task in shown.tasks(asked, said):
        fields = task.texts if asked.kind == ALONE else {**task.texts, "unit": task.unit}
        record_id = asked.task_id(name, task.target)
        yield _record(record_id, fields, name, task.target, said.get(task.target, {}))


def _record_of_pair(task: PairTask, criteria: Sequence[Criterion], known_as: Callable[[str], str]) -> Record:
    asked = {criterion.name: _question(criterion, ())["type"] for criterion in criteria}
    said: dict[str, list[Record]] = {}
    for label in task.said:
        value = _value(label.value, asked[label.criterion])
        response = {"value": value, "user_id": str(user_id(label.annotator)), "status": _SUBMITTED}
        said.setdefault(label.criterion, []).append(response)
    left, right = known_as(task.left), known_as(task.right)
    texts = {**task.texts, **{name: text for name, text in zip(_SIDES, task.answers, strict=True) if text}}
    record = _record(f"{left}|{right}", texts, left, PAIR, said)
    record["metadata"]["other"] = right
    return record


def _value(value: Any, asked: str) -> Any:
    if asked == "label_selection":
        return cell_of(value)
    if asked == "multi_label_selection":
        return [str(one) for one in value]
    if asked == "span":
        return [{"start": one["start"], "end": one["end"], "label": str(one["label"])} for one in value]
    return value if asked == "rating" else cell_of(value)


def _record(
    record_id: str, texts: Mapping[str, str], item: str, target: str, responses: Mapping[str, list[Record]]
) -> Record:
    return {
        "id": record_id,
        "fields": dict(texts),
        "metadata": {"item": item, "target": target},
        "suggestions": {},
        "responses": dict(responses),
        "vectors": {},
        "status": "completed" if responses else "pending",
    }
