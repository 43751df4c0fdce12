"""FATHOMS: a file of questions with phrase sets, and result files of one system each (`responses`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from annotators.errors import AssayError, InvalidInput
from db.normal import DEFAULT_SYSTEM, Normal, normal_item, question_key
from db.parsed import ParsedDocument, ParsedItem, Rejected
from exports.formats.base import FORMATS, FileReading
from exports.reading import Meter, element_lines, json_file
from exports.sources import SourceFile, Sources

SCORER = "imported:fathoms"
_HALLUCINATION = ("suspected_hallucination", "hallucinating")
_CONTEXT = re.compile(r"\AFile: (?P<file>[^\n]+)\nContent: (?P<text>.*)\Z", re.DOTALL)
_NEEDED = ("question", "category", "ground_truth", "pred_answer")
_FIELDS = frozenset((*_NEEDED, *_HALLUCINATION, "required_files", "rag_context", "correctness_score"))
_QUESTION_FIELDS = frozenset(("question", "files", "answers"))


class Fathoms:
    """A file of questions gives items of the system `reference`; a result file gives one system's items.

    A question's key comes from its text and category, so that the items of all systems share it. A system is its group,
    which is the folder a result file lies in, and its `model`. PDFs in a folder are the bytes of the documents of their
    names.
    """

    name = "fathoms"
    title = "FATHOMS questions and results"
    help = "a file of questions, result files (a folder a group), and a folder of papers as PDF, in any combination"

    def claims(self, file: SourceFile) -> bool:
        """A JSON file whose beginning has `responses`, or lists of questions with `files` and `answers`."""
        if not file.basename.endswith(".json"):
            return False
        head = file.head()
        if re.search(rb'"(?:responses"\s*:\s*\[|pred_answer"\s*:)', head):
            return re.search(rb'"(?:model|pred_answer)"\s*:', head) is not None
        return all(re.search(rb'"' + name + rb'"\s*:', head) for name in (b"question", b"files", b"answers"))

    def read(self, sources: Sources) -> FileReading:
        """The JSON and PDF files of the sources."""
        files = [file for file in sources.files if file.basename.endswith(".json")]
        if not files and not any(sources.loose_documents()):
            raise InvalidInput(
                f"{sources.description}: there is no .json file and no PDF. Name FATHOMS' files or folder."
            )
        return _Reading(sources, files)


@dataclass(frozen=True)
class _Reading:
    """The files of one FATHOMS source."""

    sources: Sources
    files: list[SourceFile]
    format: str = Fathoms.name
    meter: Meter = field(default_factory=Meter)

    @property
    def source(self) -> str:
        """The paths as they were given."""
        return self.sources.description

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """The papers that are supplied."""
        for key, file in self.sources.loose_documents():
            yield ParsedDocument(file.name, 1, PurePosixPath(key).name, path=file.path)

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items of every file that is one of FATHOMS'; a file that only lies beside them is passed over."""
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        for file in self.files:
            data = json_file(file)
            self.meter.done += file.size
            if isinstance(data, Rejected):
                yield data
            elif isinstance(data, dict) and "responses" in data:
                yield from _results(file, data)
            elif _is_questions(data):
                yield from _questions(file, data)
            elif file.given or (isinstance(data, dict) and "model" in data):
                yield Rejected(
                    file.name, 1,
                    "this is neither a file of questions (category → list of question, files, answers) nor a result "
                    "file (`model`, `responses`). Leave it out, or choose another format.",
                )  # fmt: skip


def _is_questions(data: Any) -> bool:
    if not isinstance(data, dict) or not data:
        return False
    rows = [row for value in data.values() if isinstance(value, list) for row in value]
    return bool(rows) and all(isinstance(row, dict) for row in rows) and any("question" in row for row in rows)


def _questions(file: SourceFile, data: dict[str, Any]) -> Iterator[ParsedItem | Rejected]:
    def item(row: dict[str, Any], category: str) -> Normal:
        _need(row, ("question", "answers"))
        phrases = row["answers"]
        first = phrases[0] if isinstance(phrases, list) and phrases else []
        answer = ", ".join(first) if isinstance(first, list) and all(isinstance(p, str) for p in first) else str(first)
        return {
            "question_key": _question_key(row, category),
            "question": row["question"],
            "answer": answer,
            "system": DEFAULT_SYSTEM,
            "category": category,
            "references": phrases,
            "documents": row.get("files"),
            "metadata": {name: value for name, value in row.items() if name not in _QUESTION_FIELDS},
        }

    for category, rows in data.items():
        yield from _parsed(file, category, rows, lambda row, category=category: item(row, category))


def _results(file: SourceFile, data: dict[str, Any]) -> Iterator[ParsedItem | Rejected]:
    rows, model = data["responses"], data.get("model")
    if not isinstance(model, str) or not model.strip():
        yield Rejected(file.name, 1, "`model` is missing. A result file names its model; add it.")
        return
    if not isinstance(rows, list):
        yield Rejected(file.name, 1, "`responses` is not a list. Supply the result file again.")
        return
    group = file.folder
    of_file = {name: value for name, value in data.items() if name != "responses"}
    system = f"{group}/{model.strip()}" if group else model.strip()

    def item(row: dict[str, Any]) -> Normal:
        _need(row, _NEEDED)
        unknown = {name: value for name, value in row.items() if name not in _FIELDS}
        own = {"group": group, "file": of_file}
        metadata = {**own, "response": unknown} if unknown.keys() & own.keys() else {**own, **unknown}
        return {
            "question_key": _question_key(row, row["category"]),
            "question": row["question"],
            "answer": row["pred_answer"],
            "system": system,
            "category": row["category"],
            "references": row["ground_truth"],
            "documents": row.get("required_files"),
            "evidence": list(_evidence(row.get("rag_context") or [])),
            "scores": list(_scores(row)),
            "metadata": metadata,
        }

    yield from _parsed(file, "responses", rows, item)


def _parsed(file: SourceFile, field: str, rows: Iterable[Any], item: Any) -> Iterator[ParsedItem | Rejected]:
    for index, (row, line) in enumerate(zip(rows, element_lines(file, field), strict=False)):
        try:
            if not isinstance(row, dict):
                raise InvalidInput("it is not an object")
            yield ParsedItem(file.name, line, normal_item(item(row), scorer=SCORER))
        except AssayError as error:
            yield Rejected(file.name, line, f"entry {index + 1} of `{field}`: {error}")


def _need(row: dict[str, Any], fields: Iterable[str]) -> None:
    for name in fields:
        if row.get(name) is None:
            raise InvalidInput(f"`{name}` is missing. Add it, or leave the entry out.")


def _question_key(row: dict[str, Any], category: Any) -> str:
    if not isinstance(row["question"], str) or not isinstance(category, str):
        raise InvalidInput("`question` and the category are texts. Put them in quotes.")
    return question_key(row["question"], category)


def _evidence(contexts: Any) -> Iterator[Normal]:
    """Retrieved contexts in their order of rank: objects, or texts that begin with `File: … Content: …`."""
    if not isinstance(contexts, list):
        raise InvalidInput("`rag_context` is not a list. Write [] where nothing was retrieved.")
    for rank, context in enumerate(contexts, 1):
        unit: Normal = {"key": f"e{rank}", "kind": "passage", "role": "retrieved", "rank": rank}
        if isinstance(context, str):
            found = _CONTEXT.match(context)
            unit |= {"document": found["file"], "text": found["text"]} if found else {"text": context}
        elif isinstance(context, dict):
            rest = dict(context)
            unit |= {"document": rest.pop("file_name", None), "text": rest.pop("content", "")}
            page = rest.get("page_number")
            if isinstance(page, int) and page >= 1:
                unit["pages"] = [rest.pop("page_number")]
            unit["metadata"] = rest
        else:
            raise InvalidInput(f"`rag_context` holds {context!r:.60}. Each context is a text or an object.")
        yield unit


def _scores(row: dict[str, Any]) -> Iterator[Normal]:
    if row.get("correctness_score") is not None:
        yield {"name": "correctness", "value": row["correctness_score"]}
    for name in _HALLUCINATION:
        if row.get(name) is not None:
            if not isinstance(row[name], bool):
                raise InvalidInput(f"`{name}` is {row[name]!r:.60}. Write true or false.")
            yield {"name": "hallucination", "value": row[name]}
            return


FORMATS.register(Fathoms())
