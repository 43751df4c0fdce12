"""FATHOMS: a file of questions with phrase sets, and result files of one system each (`responses`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.items.checks import called
from annotators.items.item import DEFAULT_SYSTEM
from annotators.items.normal import Normal, question_key
from annotators.items.parsed import ParsedDocument, ParsedItem, Rejected
from exports.formats._described import described
from exports.formats._losing import usual
from exports.formats._records import Said, items_of, need
from exports.formats._writing import (
    LABELS,
    Files,
    FinalLabels,
    Items,
    Written,
    beside,
    given,
    metadata_of,
    parts_of,
    without,
)
from exports.formats.base import FORMATS, NAME_A_STUDY, FileReading, Misnamed
from exports.reading.json_files import Meter, json_file
from exports.reading.sources import SourceFile, Sources
from exports.sinks import plain_name

if TYPE_CHECKING:
    from annotators.protocols import Protocol

SCORER = "imported:fathoms"
HUMAN_LABELS = "human_labels"
"""Beside the scores of an answer: how far people agree with them, as the criteria of metric agreement are called."""

RATER = "fathoms-verified"
"""The annotator of these labels, whom the files do not name."""

_CRITERIA = ("correctness_agreement", "hallucination_agreement")
_HALLUCINATION = ("suspected_hallucination", "hallucinating")
_CONTEXT = re.compile(r"\AFile: (?P<file>[^\n]+)\nContent: (?P<text>.*)\Z", re.DOTALL)
_NEEDED = ("question", "category", "ground_truth", "pred_answer")
_FIELDS = frozenset((*_NEEDED, *_HALLUCINATION, "required_files", "rag_context", "correctness_score", HUMAN_LABELS))
_QUESTION_FIELDS = frozenset(("question", "files", "answers"))
RESULTS = "results"
QUESTIONS = "questions_answers.json"
_NAMED = 5
_ALIKE = 60
"""Questions that differ which are named, and how alike (0 to 100) two wordings are that are shown side by side."""


class Fathoms:
    """A file of questions gives items of the system `reference`; a result file gives one system's items.

    A question's key comes from its text and category, so that the items of all systems share it. A system is its group,
    which is the folder a result file lies in, and its `model`. PDFs in a folder are the bytes of the documents of their
    names. `human_labels` beside an answer's scores, which an export of a study writes, is what people said: it can
    become labels of a study, and is no part of the item.
    """

    name = "fathoms"
    title = "FATHOMS questions and results"
    help = "a file of questions, result files (a folder a group), and a folder of papers as PDF, in any combination"
    loses = usual(
        "language",
        "claims",
        "images",
        "hops",
        id="ids of items",
        question_key="keys of questions",
        answer="answers of the benchmark itself beside its references",
        system="slashes within the names of systems",
        documents="documents of more than one group",
        evidence="evidence of the benchmark itself; kinds, roles, boxes, ranks and use of any",
        evidence__metadata="metadata of evidence called as a field of a context is",
        scores="scores but correctness and hallucination",
        metadata="metadata called as a field of FATHOMS is",
        labels="final labels of the benchmark's own answers",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSON file whose beginning has `responses`, or lists of questions with `files` and `answers`."""
        if not file.basename.endswith(".json"):
            return Misnamed("it does not end with .json")
        head = file.head()
        if re.search(rb'"(?:responses"\s*:\s*\[|pred_answer"\s*:)', head):
            found = re.search(rb'"(?:model|pred_answer)"\s*:', head) is not None
            return None if found else "it has `responses` but no `model`"
        there = {found.decode() for found in re.findall(rb'"(question|files|answers)"\s*:', head)}
        missing = [name for name in ("question", "files", "answers") if name not in there]
        if not missing:
            return None
        names = ", ".join(f"`{name}`" for name in missing)
        return f"it has no `responses` as a result file has, and as a file of questions it lacks {names}"

    def read(self, sources: Sources) -> FileReading:
        """The JSON and PDF files of the sources."""
        files = [file for file in sources.files if file.basename.endswith(".json")]
        if not files and not any(sources.loose_documents()):
            raise InvalidInput(
                f"{sources.description}: there is no .json file and no PDF. Name FATHOMS' files or folder."
            )
        return _FathomsReading(sources, files)

    def label_protocol(self) -> Protocol:
        """What a study of `human_labels` asks: metric agreement."""
        from annotators.protocols import PROTOCOLS  # noqa: PLC0415 - most imports have no labels

        return PROTOCOLS.get("metric_agreement")

    def with_labels(self, item: Normal, labels: FinalLabels) -> Normal:
        """The item with the final labels of a study as its `human_labels`."""
        found = {name: labels[name, "item"] for name in _CRITERIA if (name, "item") in labels}
        return {**item, LABELS: {HUMAN_LABELS: found}} if found else item

    def write(self, items: Items, files: Files) -> Written:
        """Write `questions_answers.json` of the system `reference`, and a result file of each other system."""
        n = 0
        questions: dict[str, list[Normal]] = {}
        for item in items():
            n += 1
            if item["system"] == DEFAULT_SYSTEM:
                questions.setdefault(item.get("category", ""), []).append(_question_row(item))
                continue
            metadata = metadata_of(item)
            group, slash, model = item["system"].rpartition("/")
            name = files.named("results", item["system"], ".json")
            path = f"{plain_name(group) if slash else RESULTS}/{name}"
            of_file = metadata.get("file")
            head = orjson.dumps({**without(of_file if isinstance(of_file, dict) else {}, "responses"), "model": model})
            files.begin(path, head[:-1] + b',"responses":[\n', b"\n]}\n")
            files.add(path, _response_row(item))
        if questions:
            files.begin(QUESTIONS, b"", orjson.dumps(questions, option=orjson.OPT_INDENT_2)).rows = n
        return Written(n, 0)


class _Asked:
    """Which questions the files of questions hold and which the result files, to name those that differ.

    Items of one question stand beside each other because its text is the same; one letter more and an answer stands
    alone.
    """

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str], None] = {}
        self._results: dict[tuple[str, str], list[str]] = {}

    def forget(self) -> None:
        """Begin anew, as the stream does."""
        self._questions.clear()
        self._results.clear()

    def watched(
        self, file: SourceFile, items: Iterable[ParsedItem | Rejected], *, by_systems: bool
    ) -> Iterator[ParsedItem | Rejected]:
        """The items of a file, whose questions are remembered."""
        for item in items:
            if isinstance(item, ParsedItem):
                key = (item.item.category or "", item.item.question)
                if not by_systems:
                    self._questions[key] = None
                elif file.name not in (files := self._results.setdefault(key, [])):
                    files.append(file.name)
            yield item

    def differences(self) -> list[str]:
        """One line with how many differ, then the first few with both wordings; nothing where one kind is missing."""
        unknown = [key for key in self._results if key not in self._questions] if self._questions else []
        if not unknown:
            return []
        noun = "question of the result files is" if len(unknown) == 1 else "questions of the result files are"
        lines = [
            f"{len(unknown):,} {noun} not worded as in the file of questions; the answers to them will stand alone, "
            "under questions of their own. Correct the wording in one of the files to bring them together."
        ]
        for category, question in unknown[:_NAMED]:
            where = self._results[category, question]
            files = where[0] + (f" and {len(where) - 1:,} more" if len(where) > 1 else "")
            lines.append(f"{files} asks “{question}”; {self._nearest(category, question)}")
        if len(unknown) > _NAMED:
            lines.append(f"… and {len(unknown) - _NAMED:,} more questions that differ")
        return lines

    def _nearest(self, category: str, question: str) -> str:
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - only where questions differ

        of_category = [text for known, text in self._questions if known == category]
        best = process.extractOne(question, of_category, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        if best is not None:
            return f"the file of questions: “{best[0]}”."
        elsewhere = [known for known, text in self._questions if text == question]
        if elsewhere:
            return f"the file of questions has it in the category {elsewhere[0]!r}, not {category!r}."
        return f"the file of questions has nothing like it in the category {category!r}."


@dataclass(frozen=True)
class _FathomsReading:
    """The files of one FATHOMS source."""

    sources: Sources
    files: list[SourceFile]
    format: str = Fathoms.name
    meter: Meter = field(default_factory=Meter)
    asked: _Asked = field(default_factory=_Asked)
    labelled: set[str] = field(default_factory=set)

    @property
    def source(self) -> str:
        """What was given, by its name."""
        return self.sources.named

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """The papers that are supplied, and those that are said to stay where they are."""
        said = described(self.sources, elsewhere=True)
        yield from said.told_elsewhere()
        for key, file in self.sources.loose_documents():
            own = PurePosixPath(key).name
            yield ParsedDocument(file.name, 1, own, path=file.path, kept=said.stays(file.path, key, own))

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items of every file that is one of FATHOMS'; a file that only lies beside them is passed over."""
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self.asked.forget()
        self.labelled.clear()
        for file in self.files:
            data = json_file(file)
            self.meter.done += file.size
            if isinstance(data, Rejected):
                yield data
            elif isinstance(data, dict) and "responses" in data:
                for found in self.asked.watched(file, _results(file, data), by_systems=True):
                    if isinstance(found, ParsedItem) and found.labels:
                        self.labelled.add(found.item.id)
                    yield found
            elif _is_questions(data):
                yield from self.asked.watched(file, _questions(file, data), by_systems=False)
            elif file.given or (isinstance(data, dict) and "model" in data):
                yield Rejected(
                    file.name, 1,
                    "this is neither a file of questions (category → list of question, files, answers) nor a result "
                    "file (`model`, `responses`). Leave it out, or choose another format.",
                )  # fmt: skip

    def notes(self) -> Sequence[str]:
        """Questions of result files that no file of questions has word for word, and how many answers have labels."""
        said = f"People labelled {count(len(self.labelled), 'answer')} (`{HUMAN_LABELS}`). {NAME_A_STUDY}"
        return [*self.asked.differences(), *([said] if self.labelled else [])]


def _is_questions(data: Any) -> bool:
    if not isinstance(data, dict) or not data:
        return False
    rows = [row for value in data.values() if isinstance(value, list) for row in value]
    return bool(rows) and all(isinstance(row, dict) for row in rows) and any("question" in row for row in rows)


def _questions(file: SourceFile, data: dict[str, Any]) -> Iterator[ParsedItem | Rejected]:
    def item(row: dict[str, Any], category: str) -> Normal:
        need(row, "question", "answers")
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
        yield from items_of(file, category, rows, partial(item, category=category), SCORER)


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
        need(row, *_NEEDED)
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

    yield from items_of(file, "responses", rows, item, SCORER, said=Said(RATER, _labels))


def _labels(row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    grades = row.get(HUMAN_LABELS) or {}
    if not isinstance(grades, dict):
        raise InvalidInput(f"`{HUMAN_LABELS}` is {called(grades)}, not an object of grades by name.")
    for name, grade in grades.items():
        if name not in _CRITERIA:
            raise InvalidInput(f"`{HUMAN_LABELS}` has {called(name)}. Known: {', '.join(_CRITERIA)}.")
        yield name, "item", str(grade)


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
            if _is_page(rest.get("page_number")):
                unit["pages"] = [rest.pop("page_number")]
            unit["metadata"] = rest
        else:
            raise InvalidInput(f"`rag_context` holds {context!r:.60}. Each context is a text or an object.")
        yield unit


def _is_page(value: Any) -> bool:
    """Whether a page number says a page; what does not stays in the metadata."""
    return isinstance(value, int) and value >= 1


def _scores(row: dict[str, Any]) -> Iterator[Normal]:
    if row.get("correctness_score") is not None:
        yield {"name": "correctness", "value": row["correctness_score"]}
    for name in _HALLUCINATION:
        if row.get(name) is not None:
            if not isinstance(row[name], bool):
                raise InvalidInput(f"`{name}` is {row[name]!r:.60}. Write true or false.")
            yield {"name": "hallucination", "value": row[name]}
            return


# Writing --------------------------------------------------------------------------------------------------------------


def _question_row(item: Normal) -> Normal:
    row = {
        "question": item["question"],
        "files": item.get("documents", []),
        "answers": item.get("references") or [[item["answer"]]],
    }
    return beside(row, metadata_of(item), (HUMAN_LABELS,))


def _response_row(item: Normal) -> Normal:
    metadata = without(metadata_of(item), "group", "file")
    hidden = metadata.get("response")
    if isinstance(hidden, dict) and hidden.keys() & {"group", "file"}:
        metadata = {**without(metadata, "response"), **hidden}
    scores = {score["name"]: score.get("value") for score in parts_of(item, "scores") if score["scorer"] == SCORER}
    row = {
        "category": item.get("category", ""),
        "question": item["question"],
        "required_files": item.get("documents", []),
        "rag_context": [_context(unit) for unit in parts_of(item, "evidence")],
        "pred_answer": item["answer"],
        "ground_truth": item.get("references", []),
    }
    if scores.get("correctness") is not None:
        row["correctness_score"] = scores["correctness"]
    if scores.get("hallucination") is not None:
        row[_HALLUCINATION[0]] = bool(scores["hallucination"])
    return beside({**row, **item.get(LABELS, {})}, metadata, _FIELDS)


def _context(unit: Normal) -> Any:
    """A retrieved context: a text where it has no document and nothing else, else an object."""
    metadata, pages = metadata_of(unit), unit.get("pages", [])
    text = unit.get("text", "")
    if not metadata and not pages and "document" not in unit and not _CONTEXT.match(text):
        return text
    taken = {"page_number"} if _is_page(metadata.get("page_number")) else ()
    page = given(page_number=pages[0] if pages else None)
    return beside({"file_name": unit.get("document"), "content": text, **page}, metadata, taken)


FORMATS.register(Fathoms())
