"""MRAG-Suite: questions with a short and a long answer and evidence in pictures and texts, in a retrieval mode.

The five fields are those that its paper brings all sources to: question, short_answer, long_answer, evidence_imgs,
evidence_txts (section 3.3); the modes are those of its section 4.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from annotators.errors import AssayError, InvalidInput
from annotators.figures import count
from annotators.items.checks import called, document_key
from annotators.items.item import DEFAULT_SYSTEM, EVIDENCE_ROLES
from annotators.items.normal import Normal, question_key
from annotators.items.parsed import ParsedItem, Rejected
from exports.formats._files import FilesReading
from exports.formats._losing import usual
from exports.formats._records import (
    JSON_ENDING,
    LINES_ENDING,
    Record,
    is_records,
    items_of,
    items_of_lines,
    lacking,
    list_of,
    names_in,
    need,
    rest_of,
    text_of,
)
from exports.formats._writing import Files, Items, Written, beside, given, metadata_of, parts_of, without
from exports.formats.base import FORMATS, FileReading, Misnamed
from exports.reading.json_files import json_file
from exports.reading.sources import SourceFile, Sources

SCORER = "imported:mrag_suite"
MODES = {"gt_only": "gold", "gt_plus_distractors": "retrieved", "distractors_only": "distractor"}
"""What a system was given: each mode with the role of a unit that says none itself."""

_SHORT = {
    "go": "gt_only",
    "gold_only": "gt_only",
    "gpd": "gt_plus_distractors",
    "gold_plus_distractors": "gt_plus_distractors",
    "do": "distractors_only",
}
_ANSWERS = ("short_answer", "long_answer")
_EVIDENCE = ("evidence_imgs", "evidence_txts")
_TAKEN = ("id", "question", *_ANSWERS, *_EVIDENCE, "retrieval_mode", "dataset", "system")
_PICTURE = ("path", "caption", "role")
_TEXT = ("text", "role")
OBJECT = "object"
"""How a unit was written that is an object with nothing else to keep: its `form`."""


class MRAGSuite:
    """One item a record and retrieval mode. The long answer is judged, the short one is its reference.

    `system` says who wrote the long answer, else it is the benchmark's own; `dataset` is the category. The mode is the
    record's `retrieval_mode`, else what the file is called after; without one the evidence is gold.
    """

    name = "mrag_suite"
    title = "MRAG-Suite records"
    help = "JSON or JSONL files of records with question, short_answer, long_answer, evidence_imgs and evidence_txts"
    loses = usual(
        "language",
        "claims",
        "images",
        "hops",
        "scores",
        "evidence.key",
        "evidence.pages",
        "evidence.box",
        items="items with pages or tables as evidence",
        id="ids of items",
        question_key="keys of questions without a dataset",
        references="reference answers after the first",
        documents="documents but pictures",
        evidence__document="documents of passages",
        evidence__rank="ranks of pictures",
        evidence__hop="steps that pictures belong to",
        evidence__used="whether pictures were used",
        evidence__metadata="metadata of evidence called as a field of a unit is",
        evidence__role="roles of evidence that the mode says otherwise",
        metadata=f"metadata called as a field of MRAG-Suite is, and retrieval modes but {', '.join(MODES)}",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes JSON lists and lines whose records have the question, both answers and the evidence."""
        if not file.basename.endswith((JSON_ENDING, LINES_ENDING)):
            return Misnamed(f"it does not end with {JSON_ENDING} or {LINES_ENDING}")
        beginning = file.beginning()
        if file.basename.endswith(JSON_ENDING) and not beginning.startswith(b"["):
            return "it does not begin with a list […]"
        names = names_in(beginning if file.basename.endswith(JSON_ENDING) else beginning.split(b"\n", 1)[0])
        return lacking(names, ("question", *_ANSWERS, *_EVIDENCE))

    def read(self, sources: Sources) -> FileReading:
        """The JSON and JSONL files of the sources."""
        files = [file for file in sources.files if file.basename.endswith((JSON_ENDING, LINES_ENDING))]
        if not files and not any(sources.loose_documents()):
            raise InvalidInput(
                f"{sources.description}: there is no {JSON_ENDING} or {LINES_ENDING} file in it. Name the files or "
                "their folder."
            )
        return _MRAGSuiteReading(sources, files)

    def write(self, items: Items, files: Files) -> Written:
        """Write `records.jsonl` of the items whose evidence is no page of a document."""
        return Written.records(items, files, _record, lambda item: "records.jsonl")


class _MRAGSuiteReading(FilesReading):
    """The files of one MRAG-Suite source. `_modes` counts items by mode."""

    format = MRAGSuite.name

    def items(self) -> Iterator[ParsedItem | Rejected]:
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self._modes: Counter[str] = Counter()
        for file in self.files:
            item = self._reader(_mode_of(file))
            if file.basename.endswith(LINES_ENDING):
                yield from items_of_lines(file, self.meter, item, SCORER)
                continue
            data = json_file(file)
            self.meter.done += file.size
            if isinstance(data, Rejected):
                yield data
            elif is_records(data, "question", *_EVIDENCE[:1]) or is_records(data, "question", *_EVIDENCE[1:]):
                yield from items_of(file, None, data, item, SCORER)
            elif file.given:
                yield Rejected(
                    file.name, 1,
                    "this is no list of MRAG-Suite records (question, short_answer, long_answer, evidence_imgs, "
                    "evidence_txts). Leave it out, or choose another format.",
                )  # fmt: skip

    def notes(self) -> Sequence[str]:
        if not self._modes:
            return ()
        modes = ", ".join(f"{mode} {n:,}" for mode, n in self._modes.most_common())
        unsaid = " The evidence of those without a mode comes in as gold." if "without" in self._modes else ""
        return (f"{count(self._modes.total(), 'item')} by retrieval mode: {modes}.{unsaid}",)

    def _reader(self, of_file: str | None) -> Callable[[Record], Normal]:
        def item(record: Record) -> Normal:
            need(record, "question")
            question, dataset = text_of(record, "question"), record.get("dataset")
            given = record.get("retrieval_mode")
            mode = _mode(given) if given is not None else of_file
            short, metadata = record.get("short_answer"), rest_of(record, *_TAKEN)
            references = _references(short)
            long = text_of(record, "long_answer") if record.get("long_answer") is not None else None
            if long is None:
                if not references or not isinstance(references[0], str):
                    raise InvalidInput("it has neither a `long_answer` nor a `short_answer`. Add one of them.")
                metadata["long_answer"] = None
            if short is not None and not (isinstance(short, str) and short):
                metadata["short_answer"] = short
            if mode:
                metadata["retrieval_mode"] = mode
            key, system = _key(record, question, dataset), record.get("system") or DEFAULT_SYSTEM
            pictures = [_picture(n, picture, mode) for n, picture in enumerate(list_of(record, _EVIDENCE[0]), 1)]
            texts = [_passage(n, passage, mode) for n, passage in enumerate(list_of(record, _EVIDENCE[1]), 1)]
            self._modes[mode or "without"] += 1
            return {
                **({"id": f"{key}:{system}:{mode}"} if mode else {}),
                "question_key": key,
                "question": question,
                "answer": references[0] if long is None else long,
                "system": system,
                "category": dataset,
                "references": references,
                "documents": [unit["document"] for unit in pictures if unit["document"]],
                "evidence": [*pictures, *texts],
                "metadata": metadata,
            }

        return item


def _references(short: Any) -> list[Any]:
    """The references that a short answer is: one, or the list of them."""
    return [reference for reference in (short if isinstance(short, list) else [short]) if reference not in (None, "")]


def _mode(given: Any) -> str:
    mode = given.strip().lower().replace("-", "_") if isinstance(given, str) else ""
    mode = _SHORT.get(mode, mode)
    if mode not in MODES:
        raise InvalidInput(f"`retrieval_mode` is {called(given)}. Allowed: {', '.join(MODES)}.")
    return mode


def _mode_of(file: SourceFile) -> str | None:
    """The mode that a file is called after, such as `webqa_gt_only.json`."""
    name = file.basename.replace("-", "_")
    return next((mode for mode in MODES if mode in name), None)


def _key(record: Record, question: str, dataset: Any) -> str:
    """What a question is known by: its id counts within its dataset; without one it is made from the text."""
    identity = record.get("id")
    if identity is None:
        return question_key(question, dataset if isinstance(dataset, str) else None)
    if not isinstance(identity, str | int) or isinstance(identity, bool):
        raise InvalidInput(f"`id` is {called(identity)}, not a text.")
    return f"{dataset}/{identity}" if dataset else str(identity)


def _role(unit: Record, mode: str | None) -> str:
    role = unit.get("role") or (MODES[mode] if mode else "gold")
    if role not in EVIDENCE_ROLES:
        raise InvalidInput(f"`role` is {called(role)}. Allowed: {', '.join(EVIDENCE_ROLES)}.")
    return str(role)


def _picture(number: int, given: Any, mode: str | None) -> Normal:
    """A picture: its path, or an object with its `path` and perhaps a `caption` and `role`. A page of its own."""
    unit = {"path": given} if isinstance(given, str) else given
    if not isinstance(unit, dict):
        raise InvalidInput(f"`evidence_imgs` holds {called(given)}. Write the path of a picture, or an object with it.")
    path = text_of(unit, "path")
    document = _document_of(path)
    return {
        "key": f"img-{number}",
        "kind": "figure",
        "role": _role(unit, mode),
        "document": document,
        "pages": [1] if document else [],
        "text": unit.get("caption"),
        "metadata": {"path": path, **_kept(given, unit, _PICTURE, mode)},
    }


def _document_of(path: str) -> str | None:
    """The document that a picture with this path is; None where its name cannot be a key."""
    try:
        return document_key(PurePosixPath(path.replace("\\", "/")).name, "path")
    except AssayError:
        return None


def _passage(number: int, given: Any, mode: str | None) -> Normal:
    unit = {"text": given} if isinstance(given, str) else given
    if not isinstance(unit, dict):
        raise InvalidInput(f"`evidence_txts` holds {called(given)}. Write a text, or an object with a `text`.")
    return {
        "key": f"txt-{number}",
        "kind": "passage",
        "role": _role(unit, mode),
        "text": text_of(unit, "text"),
        "metadata": _kept(given, unit, _TEXT, mode),
    }


def _kept(given: Any, unit: Record, taken: Sequence[str], mode: str | None) -> Normal:
    """What else an object says of a unit, and that it was one where nothing else tells."""
    if isinstance(given, str):
        return {}
    told = unit.get("caption") is not None or (unit.get("role") or _role({}, mode)) != _role({}, mode)
    return rest_of(unit, *taken) or ({} if told else {"form": OBJECT})


# Writing --------------------------------------------------------------------------------------------------------------


def _record(item: Normal) -> Record | None:
    """An item as a record; None where evidence is a page or table of a document, which the format does not have."""
    metadata, units = metadata_of(item), parts_of(item, "evidence")
    pictures = [unit for unit in units if unit["kind"] == "figure"]
    texts = [unit for unit in units if unit["kind"] == "passage" and unit.get("text") is not None]
    if len(pictures) + len(texts) < len(units):
        return None
    kept, dataset = metadata.get("retrieval_mode"), item.get("category")
    mode = kept if isinstance(kept, str) and kept in MODES else None
    key, references = item["question_key"], item.get("references", [])
    own = question_key(item["question"], dataset)
    short = metadata.get("short_answer")
    as_it_was = isinstance(short, str | list) and _references(short) == references
    bare = metadata.get("long_answer", "") is None and references[:1] == [item["answer"]]
    record = {
        **({} if key == own else {"id": key.removeprefix(f"{dataset}/") if dataset else key}),
        **given(dataset=dataset, system=item["system"], retrieval_mode=mode),
        "question": item["question"],
        "short_answer": short if as_it_was else references[0] if references else None,
        "long_answer": None if bare else item["answer"],
        _EVIDENCE[0]: [_as_picture(unit, mode) for unit in pictures],
        _EVIDENCE[1]: [_as_text(unit, mode) for unit in texts],
    }
    return beside(record, metadata, _TAKEN)


def _as_picture(unit: Normal, mode: str | None) -> Any:
    kept, own = metadata_of(unit).get("path"), unit.get("document")
    path = kept if isinstance(kept, str) and _document_of(kept) == own else own or unit["key"]
    return _as_given(unit, {"path": path, **given(caption=unit.get("text"))}, mode, _PICTURE)


def _as_text(unit: Normal, mode: str | None) -> Any:
    return _as_given(unit, {"text": unit["text"]}, mode, _TEXT)


def _as_given(unit: Normal, said: Record, mode: str | None, taken: Sequence[str]) -> Any:
    """A unit as a text where nothing else is said of it, else as an object."""
    own, usual = unit.get("role"), _role({}, mode)
    metadata = metadata_of(unit)
    as_object = metadata.get("form") == OBJECT
    said |= given(role=own if own != usual else None)
    found = beside(said, without(metadata, "form") if as_object else metadata, taken)
    return found if len(found) > 1 or as_object else next(iter(found.values()))


FORMATS.register(MRAGSuite())
