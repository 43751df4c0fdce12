"""BEIR and TREC: a corpus, queries and relevance judgements; out come the evidence that people verified.

The grade of a page is what its final label stands for; `agreed.tsv` says how many said so, of how many.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from annotators.errors import AssayError, InvalidInput
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ParsedItem, Rejected
from exports.formats._files import FilesReading
from exports.formats._losing import usual
from exports.formats._records import LINES_ENDING, lacking, names_in
from exports.formats._writing import Files, Items, Judged, SettledOut, Unit, Written, metadata_of, parts_of
from exports.formats.base import FORMATS, FileReading, Misnamed
from exports.naming import distinct
from exports.reading.json_files import json_lines
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    from annotators.criteria import Criterion
    from annotators.protocols import Protocol

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
QRELS, TREC, AGREED = "qrels/{split}.tsv", "qrels.trec", "agreed.tsv"
SPLIT = "test"
"""The split of judgements that name none: what people verified is what systems are tried on."""

DIFFERING = "differing"
"""How a page is called that is settled otherwise for one answer to a question than for another."""

_GRADE_FORM = re.compile(r"-?\d{1,6}").fullmatch
_SPLIT_FORM = re.compile(r"\w[\w.-]{0,59}").fullmatch
SCORER = "imported:qrels"
_OF_TREC = (".qrels", ".qrel", ".trec")
_ENDINGS = (".tsv", ".txt", *_OF_TREC)
_FOLDER = "qrels"
_HEADING = ("query-id", "corpus-id", "score")
_MOST_LINE = 1 << 20


class Qrels:
    """A query is an item of the system `reference`; what was judged relevant is gold, what was not a distractor.

    The grade is kept in the unit's metadata. Judgements without a corpus or queries are read as well: ids stand for
    texts then.
    """

    name = "qrels"
    title = "BEIR and TREC relevance judgements"
    help = "corpus.jsonl, queries.jsonl and qrels (TSV with query-id, corpus-id, score; or TREC's four columns)"
    loses = usual(
        "answer",
        "system",
        "category",
        "language",
        "references",
        "documents",
        "claims",
        "images",
        "hops",
        "scores",
        "evidence.key",
        "evidence.kind",
        "evidence.box",
        "evidence.used",
        "evidence.hop",
        "evidence.rank",
        items="further answers to a question; questions without evidence that is judged or a text",
        id="ids of items",
        question_key="spaces in keys of questions",
        evidence="evidence that has no role, document, page and text, or is judged otherwise for other answers",
        evidence__role="the role retrieved",
        evidence__document="documents of evidence, which are part of the ids",
        evidence__pages="pages of evidence, which are part of the ids",
        evidence__text="the second text of the same page",
        evidence__metadata="metadata of evidence but relevance, title, a split but test, and that of its document",
        labels="labels but the grade of pages and evidence, and who gave it; those that differ between answers",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes corpus.jsonl and queries.jsonl, and judgements in columns."""
        if file.basename in (CORPUS, QUERIES):
            return lacking(names_in(file.beginning().split(b"\n", 1)[0]), ("_id", "text"))
        if not file.basename.endswith(_ENDINGS):
            return Misnamed(f"it is not called {CORPUS} or {QUERIES}, and does not end as judgements do")
        first = file.beginning().split(b"\n", 1)[0].decode(errors="replace").rstrip("\r")
        if not first.strip():
            return "it is empty"
        if _columns(first) is not None or _trec(first) is not None:
            return None
        return "its first line has neither query-id, corpus-id, score nor three columns of such, nor the four of TREC"

    def read(self, sources: Sources) -> FileReading:
        """The judgements of the sources, with the texts of what they name."""
        files = [file for file in sources.files if self.refusal(file) is None]
        if not files:
            raise InvalidInput(f"{sources.description}: there are no queries or judgements in it. {self.help}.")
        return _QrelsReading(sources, files, [*self._not_read(sources)])

    def _not_read(self, sources: Sources) -> Iterator[str]:
        """A sentence on each file that is called or lies as judgements do, and cannot be read as such."""
        for file in sources.files:
            endings = _ENDINGS if file.folder == _FOLDER and file.basename != AGREED else _OF_TREC
            if file.basename.endswith(endings) and (why := self.refusal(file)):
                yield f"{file.name} is not read as judgements: {why}."

    def write(self, items: Items, files: Files) -> Written:
        """Write corpus, queries and judgements by the roles that evidence has."""
        return self._written((Judged(item, (), ()) for item in items()), {}, files)

    def write_settled(self, settled: SettledOut, files: Files) -> Written:
        """Write corpus, queries and judgements by the final labels of pages and evidence.

        By the roles that evidence has where no study asks about either.
        """
        grades = {
            (study, name): grade
            for study, protocol in settled.protocols.items()
            for name, grade in _grades_by(protocol).items()
        }
        return self._written(settled.judged(), grades, files)

    def takes(self, unit: Unit, asked: Protocol) -> bool:
        """Whether a final label is a judgement: one of a page or unit of evidence that has a grade."""
        grade = _grades_by(asked).get(unit.criterion)
        return grade is not None and grade(unit.label) is not None

    def _written(self, judged: Iterable[Judged], grades: _GradesOf, files: Files) -> Written:
        n = left_out = 0
        queries: dict[str, dict[str, _Judgement]] = {}
        documents: set[str] = set()
        ids = _Ids()
        for row in judged:
            key = ids.query(row.item)
            found = _verified(row, grades, ids) if grades else _by_role(row.item, ids)
            # A further answer to a question is no query of its own; what was judged for it is judged for the question,
            # so that what counts of a document is known when all of them were read.
            if key in queries or not found:
                left_out += files.leave_out(row.item)
            else:
                n += 1
                extra = metadata_of(row.item)
                files.add(QUERIES, {"_id": key, "text": row.item["question"], **({"metadata": extra} if extra else {})})
            for one in found:
                if one.document not in documents:
                    documents.add(one.document)
                    about = {"metadata": one.metadata} if one.metadata else {}
                    files.add(CORPUS, {"_id": one.document, "title": one.title, "text": one.text, **about})
                of_query = queries.setdefault(key, {})
                before = of_query.get(one.document)
                of_query[one.document] = one.judgement if before is None else _together(before, one.judgement)
        for key, of_query in queries.items():
            for document, judgement in of_query.items():
                _lines(files, key, document, judgement)
        return Written(n, left_out)


FORMATS.register(Qrels())


class _Judgement(NamedTuple):
    """The grade of a document for a question, None where its answers differ; and who gave it, where people did."""

    grade: int | None
    agreed: int | None = None
    of: int | None = None
    how: str = ""
    split: str = SPLIT


class _Relevance(NamedTuple):
    """A document of the corpus, and what an item says of it."""

    document: str
    title: str
    text: str
    judgement: _Judgement
    metadata: Normal = {}  # noqa: RUF012 - of a document, and never changed


# Reading --------------------------------------------------------------------------------------------------------------


def _trec(line: str) -> tuple[str, str, int] | None:
    """Query, document and grade of a line of TREC's qrels; None where it is none."""
    parts = line.split()
    if len(parts) != 4 or not _GRADE_FORM(parts[3]):
        return None
    return parts[0], parts[2], int(parts[3])


_Columns = tuple[int, int, int]
"""Where query, document and grade stand in the lines of BEIR's judgements."""

_IN_ORDER: _Columns = (0, 1, 2)


def _beir(line: str, columns: _Columns) -> tuple[str, str, int] | None:
    """Query, document and grade of a line of BEIR's judgements; None where it is none."""
    parts = line.split("\t")
    if len(parts) != len(columns):
        return None
    query, document, grade = (parts[place] for place in columns)
    return (query, document, int(grade)) if _GRADE_FORM(grade.strip()) else None


def _is_heading(line: str) -> bool:
    return sorted(line.split("\t")) == sorted(_HEADING)


def _columns(first: str) -> _Columns | None:
    """The columns of judgements whose first line is BEIR's, by their heading, which some leave out; else None."""
    if _is_heading(first):
        query, document, grade = map(first.split("\t").index, _HEADING)
        return query, document, grade
    return _IN_ORDER if _beir(first, _IN_ORDER) is not None else None


def _split_of(file: SourceFile, *, beir: bool) -> str:
    """The split of a file's judgements: what a BEIR file is called; what a TREC file's name has of known splits."""
    if beir:
        return PurePosixPath(file.name).stem
    return next((part for part in re.split(r"[._-]", file.basename) if part in _SPLITS), "")


_SPLITS = ("train", "dev", "test", "val", "valid", "validation")

_Judged = tuple[int, str]
"""The grade of a document for a query, and the split that its judgement stands in, where that is said."""


class _Text(NamedTuple):
    """A document of the corpus."""

    title: str
    text: str
    metadata: Normal


class _QrelsReading(FilesReading):
    format = Qrels.name

    def __init__(self, sources: Sources, files: list[SourceFile], not_read: list[str]) -> None:
        super().__init__(sources, files)
        self._not_read = not_read
        self._without = 0

    def items(self) -> Iterator[ParsedItem | Rejected]:
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self._without = 0
        judged: dict[str, dict[str, _Judged]] = {}
        bad: list[Rejected] = []
        where: dict[str, tuple[str, int]] = {}
        for file in self.files:
            if not file.basename.endswith(LINES_ENDING):
                self._judgements(file, judged, where, bad)
        yield from bad
        needed = {document for grades in judged.values() for document in grades}
        corpus: dict[str, _Text] = {}
        for row in self._rows(CORPUS):
            if isinstance(row, Rejected):
                yield row
            elif (key := str(row[2].get("_id"))) in needed:
                told = row[2].get("metadata")
                title, text = (str(row[2].get(name) or "") for name in ("title", "text"))
                found = _Text(title, text, told if isinstance(told, dict) else {})
                if corpus.setdefault(key, found) != found:
                    reason = f"{key!r} stands in the corpus before, with other content. Leave one of the two."
                    yield Rejected(row[0], row[1], reason)
        seen: set[str] = set()
        for row in self._rows(QUERIES):
            if isinstance(row, Rejected):
                yield row
                continue
            name, line, query = row
            key = str(query.get("_id"))
            seen.add(key)
            made = self._row(key, query, judged.get(key, {}), corpus)
            yield _parsed(name, line, made)
        for key, grades in judged.items():
            if key not in seen:
                self._without += 1
                yield _parsed(*where[key], self._row(key, {}, grades, corpus))

    def _judgements(
        self,
        file: SourceFile,
        judged: dict[str, dict[str, _Judged]],
        where: dict[str, tuple[str, int]],
        bad: list[Rejected],
    ) -> None:
        with file.path.open("rb") as stream:
            begun, columns = False, None
            for number in range(1, 1 << 62):
                data = stream.readline(_MOST_LINE)
                if not data:
                    return
                line = data.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace").rstrip("\r\n")
                if not line.strip():
                    continue
                if not begun:
                    begun, columns = True, _columns(line)
                    if _is_heading(line):
                        continue
                found = _beir(line, columns) if columns else _trec(line)
                if found is None or "�" in line or "\x00" in line:
                    bad.append(
                        Rejected(file.name, number, "this is no judgement: query, document and a whole number. Fix it.")
                    )
                    continue
                of_query, made = judged.setdefault(found[0], {}), (found[2], _split_of(file, beir=columns is not None))
                before = of_query.get(found[1], made)
                of_query[found[1]] = made if not before[1] else before
                if before[0] != found[2]:
                    of_query[found[1]] = before
                    reason = (
                        f"{found[1]!r} is judged again for {found[0]!r}: {found[2]} here and {before[0]} before. Leave "
                        "one of the two."
                    )
                    bad.append(Rejected(file.name, number, reason))
                    continue
                where.setdefault(found[0], (file.name, number))

    def _rows(self, called: str) -> Iterator[tuple[str, int, dict[str, Any]] | Rejected]:
        for file in self.files:
            if file.basename == called:
                for row in json_lines(file, self.meter):
                    if isinstance(row, Rejected):
                        yield row
                    elif isinstance(row[1], dict) and isinstance(row[1].get("_id"), str | int):
                        yield file.name, row[0], row[1]
                    else:
                        yield Rejected(file.name, row[0], "the line has no `_id`. Write one {…} with _id and text.")

    def _row(self, key: str, query: Normal, judged: Mapping[str, _Judged], corpus: Mapping[str, _Text]) -> Normal:
        evidence = []
        for document, (grade, split) in judged.items():
            found = corpus.get(document)
            title, text, told = found or _Text("", "", {})
            of, _, page = document.rpartition("#")
            pages = {"pages": [int(page)]} if of and page.isdecimal() and 0 < len(page) < 7 and int(page) else {}
            evidence.append(
                {
                    "kind": "page" if pages and not text else "passage",
                    "role": "gold" if grade > 0 else "distractor",
                    "document": of if pages else document,
                    **pages,
                    **({"text": text} if text else {}),
                    "metadata": {
                        "relevance": grade,
                        **({"title": title} if found is not None and title != (of if pages else document) else {}),
                        **({"corpus": told} if told else {}),
                        **({"split": split} if split not in ("", SPLIT) else {}),
                    },
                }
            )
        kept = query.get("metadata")
        metadata = kept if isinstance(kept, dict) else {}
        question = str(query.get("text") or key)
        return {"question_key": key, "question": question, "evidence": evidence, "metadata": metadata}

    def notes(self) -> Sequence[str]:
        if not self._without:
            return self._not_read
        without = f"{self._without:,} judged queries are not in {QUERIES}: their ids stand for their texts."
        return [*self._not_read, without]


def _parsed(file: str, line: int, row: Normal) -> ParsedItem | Rejected:
    try:
        return ParsedItem(file, line, read_item(row, scorer=SCORER))
    except AssayError as error:
        return Rejected(file, line, str(error))


# Writing --------------------------------------------------------------------------------------------------------------


class _Ids:
    """Ids as the files of TREC have them: without spaces, and with a number behind where that leaves two alike."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, Hashable], str] = {}
        self._taken: defaultdict[str, set[str]] = defaultdict(set)

    def _own(self, kind: str, thing: Hashable, called: str) -> str:
        """The id of one thing among those of its kind, made of what it is called."""
        if (kind, thing) not in self._ids:
            found = distinct("_".join(called.split()) or "_", self._taken[kind])
            self._taken[kind].add(found)
            self._ids[kind, thing] = found
        return self._ids[kind, thing]

    def query(self, item: Normal) -> str:
        """The id of the question of an item."""
        return self._own("query", item["question_key"], item["question_key"])

    def in_corpus(self, item: Normal, unit: Normal) -> Iterator[tuple[str, str]]:
        """Id and text in the corpus of each page of a unit; without pages of its document, else of its place."""
        document, pages, text = unit.get("document"), unit.get("pages", []), unit.get("text") or ""
        if not document:
            # Another answer to the question may have another text under the same key.
            place = (item["question_key"], unit["key"], hash(text))
            yield self._own("corpus", place, f"{self.query(item)}/{unit['key']}"), text
            return
        name = self._own("document", document, document)
        if not pages:
            yield self._own("corpus", document, name), text
        for page in pages:
            yield self._own("corpus", (document, page), f"{name}#{page}"), text or _text_of(item, document, page)


def _text_of(item: Normal, document: str, page: int) -> str:
    """The first text that evidence of an item has of a page."""
    texts = (
        unit["text"]
        for unit in parts_of(item, "evidence")
        if unit.get("document") == document and page in unit.get("pages", []) and unit.get("text")
    )
    return next(texts, "")


def _grades_by(protocol: Protocol) -> dict[str, Callable[[Any], int | None]]:
    """Name of a criterion about pages or evidence → the grade of its labels."""
    return {
        criterion.name: _grades(criterion)
        for criterion in protocol.criteria
        if str(criterion.target) in ("page", "evidence") and criterion.label_list()
    }


def _grades(criterion: Criterion) -> Callable[[Any], int | None]:
    """The grade that a label stands for: its number; of two labels 1 for the one that passes; else its place from 0.

    Labels are listed as the protocol has them, the best first where they are words.
    """
    positive = getattr(criterion, "positive", None)
    labels = [label.value for label in criterion.label_list()]
    words = {str(label): len(labels) - 1 - place for place, label in enumerate(labels)}

    def grade(value: Any) -> int | None:
        if isinstance(value, int | float):
            return round(value)
        if positive is not None:
            return int(str(value) == str(positive))
        return words.get(str(value))

    return grade


_GradesOf = Mapping[tuple[str, str], Callable[[Any], int | None]]
"""Study and criterion (their names) → the grade of a label."""


def _verified(row: Judged, grades: _GradesOf, ids: _Ids) -> list[_Relevance]:
    units = {f"evidence:{unit['key']}": unit for unit in parts_of(row.item, "evidence")}
    found: dict[str, _Relevance] = {}
    for settled in row.settled.values():
        grade_of = grades.get((settled.study, settled.criterion))
        grade = grade_of(settled.label) if grade_of is not None else None
        if grade is None:
            continue
        if settled.target.startswith("page:"):
            document, _, page = settled.target.removeprefix("page:").partition("|")[0].rpartition(":")
            unit = {"document": document, "pages": [int(page)]}
        elif settled.target in units:
            unit = units[settled.target]
        else:
            continue
        for made in _relevance(row.item, unit, grade, settled, ids):
            _add_best(found, made)
    return list(found.values())


def _add_best(found: dict[str, _Relevance], made: _Relevance) -> None:
    """Of the steps and units of one item that are about a document the highest grade counts."""
    before = found.get(made.document)
    if before is None or (made.judgement.grade or 0) > (before.judgement.grade or 0):
        found[made.document] = made


def _relevance(item: Normal, unit: Normal, grade: int, settled: Unit, ids: _Ids) -> Iterator[_Relevance]:
    from annotators.criteria.base import written  # noqa: PLC0415 - loads pydantic

    label = settled.label if isinstance(settled.label, str) else written(settled.label)
    judgement = _Judgement(grade, settled.votes.get(label, 0), sum(settled.votes.values()), settled.how)
    for document, text in ids.in_corpus(item, unit):
        yield _Relevance(document, unit.get("document", ""), text, judgement)


def _together(before: _Judgement, other: _Judgement) -> _Judgement:
    """What two answers to a question say of a document: their votes together, and no grade where they differ."""
    if before.grade is None or before.grade != other.grade:
        of = None if before.of is None else before.of + (other.of or 0)
        return before._replace(grade=None, agreed=None, of=of, how=DIFFERING)
    if before.of is None:
        return before
    from annotators.asking.settling import SUREST_FIRST  # noqa: PLC0415 - loads pydantic

    agreed, of = (before.agreed or 0) + (other.agreed or 0), before.of + (other.of or 0)
    return before._replace(agreed=agreed, of=of, how=max(before.how, other.how, key=SUREST_FIRST.index))


def _by_role(item: Normal, ids: _Ids) -> list[_Relevance]:
    found: dict[str, _Relevance] = {}
    for unit in parts_of(item, "evidence"):
        if unit.get("role") not in ("gold", "distractor"):
            continue
        said = metadata_of(unit).get("relevance")
        grade = said if isinstance(said, int) and not isinstance(said, bool) else int(unit["role"] == "gold")
        told = metadata_of(unit)
        title, about = str(told.get("title", unit.get("document", ""))), told.get("corpus")
        split = str(told.get("split") or SPLIT)
        for document, text in ids.in_corpus(item, unit):
            judgement = _Judgement(grade, split=split if _SPLIT_FORM(split) else SPLIT)
            _add_best(found, _Relevance(document, title, text, judgement, about if isinstance(about, dict) else {}))
    return list(found.values())


def _lines(files: Files, key: str, document: str, judgement: _Judgement) -> None:
    grade, agreed, of, how, split = judgement
    if grade is not None:
        out = files.begin(QRELS.format(split=split))
        if not out.rows:
            out.write_text("\t".join(_HEADING) + "\n")
        out.write_text(f"{key}\t{document}\t{grade}\n")
        out.rows = (out.rows or 0) + 1
        trec = files.begin(TREC)
        trec.write_text(f"{key} 0 {document} {grade}\n")
        trec.rows = (trec.rows or 0) + 1
    if of is not None:
        out = files.begin(AGREED)
        if not out.rows:
            out.write_text("query-id\tcorpus-id\tscore\tagreed\tof\thow\n")
        cells = ("" if cell is None else str(cell) for cell in (grade, agreed))
        out.write_text("\t".join([key, document, *cells, str(of), how]) + "\n")
        out.rows = (out.rows or 0) + 1
