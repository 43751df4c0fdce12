"""MMDocRAG: answers that interleave text and images, the grades a judge gave them, and the questions they answer.

Images stand in the answers as `![words](image3)`; a file of questions says what `image3` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from annotators.errors import AssayError, InvalidInput
from annotators.figures import count
from annotators.items.checks import LONGEST_KEY, called
from annotators.items.item import DEFAULT_SYSTEM
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ParsedItem, Rejected
from exports.formats._files import FilesReading
from exports.formats._losing import usual
from exports.formats._records import Record, lacking, list_of, names_in, rest_of, text_of
from exports.formats._writing import Files, Items, Written, beside, given, metadata_of, parts_of, without
from exports.formats.base import FORMATS, FileReading, Misnamed
from exports.reading.json_files import json_lines
from exports.reading.sources import SourceFile, Sources

SCORER = "imported:mmdocrag"
GRADES = ("Fluency", "Citation Quality", "Text-Image Coherence", "Reasoning Logic", "Factuality")
"""What the judge grades from 0 to 5."""

_HIGHEST = 5
_ENDING = ".jsonl"
_ANSWERS, _JUDGED = "_response", "_llm-judge"
_SETTING = re.compile(r"_(?P<mode>[^_]+)(?:_response)?_quotes(?P<quotes>\d+)")
_IMAGE = re.compile(r"!\[(?P<words>[^\]]{0,2000})\]\((?P<name>[^)\s]{1,500})\)")
_QUESTION = ("q_id", "question", "doc_name", "domain", "text_quotes", "img_quotes", "gold_quotes", "answer_short")
_TAKEN_OF_QUESTION = (*_QUESTION, "answer_interleaved")
_TAKEN_OF_ANSWER = ("q_id", "model", "response")
_QUOTES = ("text_quotes", "img_quotes")
"""What tells a file of questions."""

QUESTIONS = "questions.jsonl"
_NAMED = 5


class MMDocRAG:
    """One item an answer; a file of questions gives items of the system `reference` and fills in the others.

    A system is its `model` in the setting that the file's name says, such as `multimodal_quotes15/gpt-4.1`. Grades in
    `…_llm-judge.jsonl` are scores of the answers in `…_response.jsonl` of the same beginning. Without its question an
    item is bare: its text is the question's id, and images are known by name alone.
    """

    name = "mmdocrag"
    title = "MMDocRAG answers, grades and questions"
    help = "…_response.jsonl, the judge's …_llm-judge.jsonl, and the file of questions, in any combination with answers"
    loses = usual(
        "language",
        "claims",
        "hops",
        "evidence.box",
        "evidence.hop",
        "evidence.pages",
        "evidence.rank",
        "evidence.used",
        items="items of the system reference that have no document",
        id="ids of items",
        question_key="keys of questions",
        question="questions of systems' answers that are there without the question's own item",
        category="categories of such answers",
        documents="documents after the first, and those of such answers",
        evidence="evidence of such answers",
        evidence__kind="kinds of evidence but passage and figure",
        evidence__role="the role retrieved",
        evidence__document="documents of evidence but pictures",
        evidence__metadata="metadata of evidence called as a field of a quote is, and the paths of other pictures",
        references="reference answers after the first, and those of such answers",
        images="images that the answer does not name",
        scores="scores but a judge's grades",
        metadata="metadata called as a field of MMDocRAG is",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSONL file whose first line has `q_id`, and a `response` or a question with its quotes."""
        if not file.basename.endswith(_ENDING):
            return Misnamed(f"it does not end with {_ENDING}")
        names = names_in(file.beginning().split(b"\n", 1)[0])
        if "q_id" in names and "question" in names and not names.isdisjoint(_QUOTES):
            return None
        return lacking(names, _TAKEN_OF_ANSWER)

    def read(self, sources: Sources) -> FileReading:
        """The JSONL files of the sources."""
        files = [file for file in sources.files if file.basename.endswith(_ENDING)]
        if not files and not any(sources.loose_documents()):
            raise InvalidInput(
                f"{sources.description}: there is no {_ENDING} file in it. Name the files or their folder."
            )
        return _MMDocRAGReading(sources, files)

    def write(self, items: Items, files: Files) -> Written:
        """Write `questions.jsonl` of the system `reference`, and answers and grades of every other one."""
        n = left_out = 0
        of_questions: dict[str, frozenset[str]] = {}
        for item in items():
            if item["system"] == DEFAULT_SYSTEM:
                if not item.get("documents"):
                    left_out += files.leave_out(item)
                    continue
                of_questions[item["question_key"]] = frozenset(metadata_of(item))
                files.add(QUESTIONS, _question_row(item))
                n += 1
        for item in items():
            if item["system"] == DEFAULT_SYSTEM:
                continue
            setting, slash, model = item["system"].partition("/")
            if not slash or not _SETTING.fullmatch(f"_{setting}"):
                setting, model = "", item["system"]
            about = f"{model}_{setting}" if setting else model
            asked = of_questions.get(item["question_key"], frozenset())
            row = {"q_id": _q_id(item), "model": model, "response": item["answer"]}
            rest = without(metadata_of(item), *asked)
            files.add(files.named("answers", about, f"{_ANSWERS}{_ENDING}"), beside(row, rest, _QUOTES))
            for judge, grades in _grades_of(item).items():
                record = {"q_id": row["q_id"], "model": judge, "response": grades}
                files.add(files.named("grades", about, f"{_JUDGED}{_ENDING}"), record)
            n += 1
        return Written(n, left_out)


@dataclass
class _Graded:
    """The grades of one judge file, by question, each with its line; `used` are those with an answer."""

    file: str
    grades: dict[str, tuple[int, list[Normal]]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


class _MMDocRAGReading(FilesReading):
    """The files of one MMDocRAG source.

    Before the answers, grades and questions are read: `_graded` by the beginning of their file's name, `_questions` by
    id. `_bare` are the ids of answers without a question.
    """

    format = MMDocRAG.name

    def __init__(self, sources: Sources, files: list[SourceFile]) -> None:
        super().__init__(sources, files)
        self._forget()

    def _forget(self) -> None:
        self._graded: dict[str, _Graded] = {}
        self._questions: dict[str, Record] = {}
        self._bare: list[str] = []
        self._n_images = self._foreign = self._ungraded = 0

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The questions, then every answer, then the grades that belong to no answer."""
        self._forget()
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        answers: list[SourceFile] = []
        for file in self.files:
            kind = _kind_of(file)
            if kind == "answers":
                answers.append(file)
            elif kind == "grades":
                yield from self._read_grades(file)
            elif kind == "questions":
                yield from self._read_questions(file)
            elif file.given:
                yield Rejected(
                    file.name, 1,
                    "this is neither a file of answers or grades (q_id, model, response) nor one of questions (q_id, "
                    "question, text_quotes, img_quotes). Leave it out, or choose another format.",
                )  # fmt: skip
        for file in answers:
            yield from self._read_answers(file)
        for name, graded in self._graded.items():
            alone = [(line, q_id) for q_id, (line, _) in graded.grades.items() if q_id not in graded.used]
            there = f"{name}{_ANSWERS}{_ENDING}"
            for line, q_id in alone[:1] if len(alone) == len(graded.grades) else alone:
                yield Rejected(
                    graded.file, line,
                    f"the grades of question {q_id} have no answer. Import {there}, which has the answers, together "
                    "with them, or leave the grades out.",
                )  # fmt: skip

    def notes(self) -> Sequence[str]:
        """What is missing beside the answers, and how many images they hold."""
        found = []
        if self._bare:
            missing = f"{count(len(self._bare), 'answer comes', 'answers come')} without the file of questions"
            if self._questions:
                more = "" if len(self._bare) <= _NAMED else f" and {len(self._bare) - _NAMED:,} more"
                missing = (
                    f"{count(len(self._bare), 'answer is', 'answers are')} to a question that the file of questions "
                    f"lacks (q_id {', '.join(self._bare[:_NAMED])}{more})"
                )
            found.append(
                f"{missing}. Such an item is bare: it has the question's id for its text, no evidence and no reference "
                "answer, and knows its images by name alone."
            )
        if self._n_images:
            foreign = f", {self._foreign:,} of them by an address, which is never fetched" if self._foreign else ""
            found.append(f"The answers have {count(self._n_images, 'image')} by name{foreign}.")
        if self._ungraded:
            found.append(
                f"{count(self._ungraded, 'grade is', 'grades are')} missing in the judge's lines: unscored, with the "
                "reason."
            )
        return found

    # Grades and questions ---------------------------------------------------------------------------------------------

    def _read_grades(self, file: SourceFile) -> Iterator[Rejected]:
        graded = self._graded.setdefault(_beginning(file)[0], _Graded(file.name))
        for line, row in self._rows(file):
            if isinstance(row, Rejected):
                yield row
                continue
            try:
                q_id, judge, grades = _id(row), text_of(row, "model"), row.get("response")
                if not isinstance(grades, dict):
                    raise InvalidInput(f"`response` is {called(grades)}, not an object of grades by name.")
                scores = list(_scores(grades, judge))
                if q_id in graded.grades:
                    raise InvalidInput(f"question {q_id} is graded again, after line {graded.grades[q_id][0]}.")
            except InvalidInput as error:
                yield Rejected(file.name, line, f"{error} Correct the line, or leave it out.")
                continue
            graded.grades[q_id] = (line, scores)

    def _read_questions(self, file: SourceFile) -> Iterator[ParsedItem | Rejected]:
        for line, row in self._rows(file):
            if isinstance(row, Rejected):
                yield row
                continue
            try:
                q_id = _id(row)
                asked = _asked(row)
                answer = text_of(row, "answer_interleaved" if row.get("answer_interleaved") else "answer_short")
                item = {
                    "question_key": _key(q_id),
                    **asked,
                    "answer": answer,
                    "system": DEFAULT_SYSTEM,
                    "images": _images(answer, asked["metadata"]),
                }
                yield ParsedItem(file.name, line, read_item(item, scorer=SCORER))
            except AssayError as error:
                yield Rejected(file.name, line, str(error))
                continue
            self._questions[q_id] = row

    # Answers ----------------------------------------------------------------------------------------------------------

    def _read_answers(self, file: SourceFile) -> Iterator[ParsedItem | Rejected]:
        name, setting = _beginning(file)
        graded = self._graded.get(name)
        for line, row in self._rows(file):
            if isinstance(row, Rejected):
                yield row
                continue
            try:
                item = self._item(row, setting)
                q_id = _id(row)
                if graded is not None and q_id in graded.grades:
                    graded.used.add(q_id)
                    item["scores"] = graded.grades[q_id][1]
                    self._ungraded += sum(score["value"] is None for score in item["scores"])
                yield ParsedItem(file.name, line, read_item(item, scorer=SCORER))
            except AssayError as error:
                yield Rejected(file.name, line, str(error))

    def _item(self, row: Record, setting: str) -> Normal:
        q_id, model = _id(row), text_of(row, "model")
        answer = row.get("response")
        if answer is not None and not isinstance(answer, str):
            raise InvalidInput(f"`response` is {called(answer)}, not a text. Put it in quotes.")
        question = self._questions.get(q_id)
        asked: Normal = {"question": _key(q_id), "metadata": {}} if question is None else _asked(question)
        reference = question.get("answer_interleaved") if question else None
        images = _images(answer or "", asked["metadata"])
        if question is None:
            self._bare.append(q_id)
        self._n_images += len(images)
        self._foreign += sum("://" in image["key"] for image in images)
        of_reference = _images(reference, asked["metadata"], "reference") if isinstance(reference, str) else []
        return {
            "question_key": _key(q_id),
            **asked,
            "answer": answer or "",
            "system": f"{setting}/{model}" if setting else model,
            "images": [*images, *of_reference],
            "metadata": {**asked["metadata"], **rest_of(row, *_TAKEN_OF_ANSWER)},
        }

    def _rows(self, file: SourceFile) -> Iterator[tuple[int, Any]]:
        """Each line of a file with what is wrong with it, or with its object, which has a `q_id`."""
        for read in json_lines(file, self.meter):
            if isinstance(read, Rejected):
                yield read.line, read
                continue
            line, row = read
            if not isinstance(row, dict):
                yield line, Rejected(file.name, line, "the line is not an object. Write one {…} a line.")
            elif row.get("q_id") is None:
                yield line, Rejected(file.name, line, "`q_id` is missing. Add it, or leave the line out.")
            else:
                yield line, row


def _kind_of(file: SourceFile) -> str | None:
    """What a file has: answers, grades or questions, by the first of its lines that says so."""
    for line in json_lines(file):
        if isinstance(line, Rejected) or not isinstance(line[1], dict):
            continue
        row = line[1]
        if not row.keys().isdisjoint(_QUOTES):
            return "questions"
        if "q_id" in row and "response" in row:
            return "grades" if isinstance(row["response"], dict) else "answers"
    return None


def _beginning(file: SourceFile) -> tuple[str, str]:
    """What the names of a file of answers and of its grades begin with, and the setting that it says, "" for none.

    `gpt_multimodal_quotes15_response.jsonl` and `…_llm-judge.jsonl`; earlier `gpt_multimodal_response_quotes15.jsonl`.
    """
    name = file.path.name[: -len(_ENDING)]
    found = _SETTING.search(name)
    if found:
        setting = f"{found['mode']}_quotes{found['quotes']}"
        return f"{name[: found.start()]}_{setting}", setting
    return name.removesuffix(_ANSWERS).removesuffix(_JUDGED), ""


def _id(row: Record) -> str:
    value = row["q_id"]
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InvalidInput(f"`q_id` is {called(value)}, not a number or a text.")
    return str(value)


def _key(q_id: str) -> str:
    return f"mmdocrag-{q_id}"


def _scores(grades: Record, judge: str) -> Iterator[Normal]:
    """A judge's grades as scores; one that is missing is unscored. Some keys come in quotes or with a space."""
    given = {name.strip().strip("'\"").strip(): grade for name, grade in grades.items()}
    for name in dict.fromkeys((*GRADES, *given)):
        grade = given.get(name)
        if grade is not None and (type(grade) not in (int, float) or not 0 <= grade <= _HIGHEST):
            raise InvalidInput(f"the grade {name!r} is {called(grade)}. Grades are numbers from 0 to {_HIGHEST}.")
        reason = None if grade is not None else "the judge gave no grade"
        plain = re.sub(r"[\s-]+", "_", name.lower())
        yield {"name": plain, "value": grade, "reason": reason, "parameters": {"judge": judge}}


def _asked(row: Record) -> Normal:
    """What a question says of an item: its text, documents, quotes as evidence, and short answer as reference.

    A picture is a document of its own, known by the name of its file. The base of `page_id` is not said, so that a
    quote's page stays in its metadata.
    """
    document, gold = text_of(row, "doc_name"), list_of(row, "gold_quotes")
    evidence, pictures = [], {}
    for name, kind in (("text_quotes", "passage"), ("img_quotes", "figure")):
        for quote in list_of(row, name):
            if not isinstance(quote, dict):
                raise InvalidInput(f"`{name}` holds {called(quote)}, not an object with a quote_id.")
            key = text_of(quote, "quote_id")
            role = "gold" if key in gold else "distractor"
            unit: Normal = {"key": key, "kind": kind, "role": role, "document": document}
            if kind == "passage":
                unit |= {"text": quote.get("text"), "metadata": rest_of(quote, "quote_id", "type", "text")}
            else:
                path = text_of(quote, "img_path")
                pictures[key] = path
                unit |= {
                    "document": PurePosixPath(path).name, "pages": [1], "text": quote.get("img_description"),
                    "metadata": {"of_document": document, **rest_of(quote, "quote_id", "type", "img_description")},
                }  # fmt: skip
            evidence.append(unit)
    return {
        "question": text_of(row, "question"),
        "category": row.get("domain"),
        "references": [text_of(row, "answer_short")],
        "documents": [document],
        "evidence": evidence,
        "metadata": {**rest_of(row, *_TAKEN_OF_QUESTION), **({"pictures": pictures} if pictures else {})},
    }


def _pictures_of(metadata: Normal) -> dict[str, str]:
    """The paths of an item's pictures by the keys of their quotes; a record may have something else of that name."""
    kept = metadata.get("pictures")
    found = kept if isinstance(kept, dict) else {}
    return {key: path for key, path in found.items() if isinstance(path, str)}


def _images(answer: str, metadata: Normal, of: str | None = None) -> list[Normal]:
    """The images of an answer in their order, each time they stand there; their name is the key of the first one."""
    pictures = _pictures_of(metadata)
    images: list[Normal] = []
    taken: set[str] = set()
    for found in _IMAGE.finditer(answer):
        name = found["name"]
        plain = "|" not in name and not name.startswith(":") and len(name) < LONGEST_KEY - 20
        first = (f"{of}-{name}" if of else name) if plain else f"image-at-{found.start()}"
        key, number = first, 1
        while key in taken:
            number += 1
            key = f"{first}-{number}"
        taken.add(key)
        image: Normal = {"key": key, "caption": found["words"]}
        if name in pictures:
            image["document"] = PurePosixPath(pictures[name]).name
        image["metadata"] = {**({"of": of} if of else {}), **({"name": name} if key != name else {})}
        images.append(image)
    return images


# Writing --------------------------------------------------------------------------------------------------------------


def _q_id(item: Normal) -> int | str:
    """A question's id as the files have it: most are numbers."""
    key: str = item["question_key"].removeprefix("mmdocrag-")
    return int(key) if key.isdecimal() and str(int(key)) == key else key


def _grades_of(item: Normal) -> dict[str, Normal]:
    """Judge → the grades it gave, by the names of the files. One that is missing stays missing."""
    titles: dict[str, str] = {re.sub(r"[\s-]+", "_", title.lower()): title for title in GRADES}
    grades: dict[str, Normal] = {}
    for score in parts_of(item, "scores"):
        if score["scorer"] == SCORER and "judge" in score.get("parameters", {}):
            of_judge = grades.setdefault(str(score["parameters"]["judge"]), {})
            if score.get("value") is not None:
                of_judge[titles.get(str(score["name"]), str(score["name"]))] = score["value"]
    return grades


def _question_row(item: Normal) -> Normal:
    references, metadata, units = item.get("references", []), metadata_of(item), parts_of(item, "evidence")
    short = references[0] if references and isinstance(references[0], str) else item["answer"]
    pictures = _pictures_of(metadata)
    row = {
        "q_id": _q_id(item),
        "question": item["question"],
        "doc_name": item["documents"][0],
        **given(domain=item.get("category")),
        "text_quotes": [
            _quote(unit, {"type": "text", **given(text=unit.get("text"))}, ("text",))
            for unit in units
            if unit["kind"] != "figure"
        ],
        "img_quotes": [_img_quote(unit, pictures) for unit in units if unit["kind"] == "figure"],
        "gold_quotes": [unit["key"] for unit in units if unit.get("role") == "gold"],
        "answer_short": short,
        **({"answer_interleaved": item["answer"]} if item["answer"] != short else {}),
    }
    return beside(row, without(metadata, "pictures"), _TAKEN_OF_QUESTION)


def _quote(unit: Normal, said: Normal, taken: Sequence[str]) -> Normal:
    return beside({"quote_id": unit["key"], **said}, metadata_of(unit), taken)


def _img_quote(unit: Normal, pictures: dict[str, str]) -> Normal:
    """A picture under the path that it came with, unless that is of another document."""
    document = unit.get("document") or unit["key"]
    kept = pictures.get(unit["key"], metadata_of(unit).get("img_path"))
    path = kept if isinstance(kept, str) and PurePosixPath(kept).name == document else document
    said = {"type": "image", "img_path": path, **given(img_description=unit.get("text"))}
    return _quote(unit, said, ("img_description", "of_document"))


FORMATS.register(MMDocRAG())
