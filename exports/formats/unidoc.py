"""UniDoc-Bench: records of a question, its complete answer, and the chunks, figures and tables it was made from.

Where a unit stands is in the name of its source: `4751111_id_4_pg5_pg6.txt` are pages 5 and 6 of the document 4751111,
`…/finance_figures/4751111/figure-5-2.jpg` is the second figure, on page 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.items.checks import LONGEST_KEY, called
from annotators.items.item import DEFAULT_SYSTEM
from annotators.items.normal import Normal
from annotators.items.parsed import ParsedItem, Rejected
from exports.formats._losing import usual
from exports.formats._records import (
    Record,
    RecordReading,
    Said,
    is_records,
    items_of,
    json_files,
    need,
    refusal_of_list,
    rest_of,
    text_of,
)
from exports.formats._writing import LABELS, Files, FinalLabels, Items, Written, beside, metadata_of, parts_of
from exports.formats.base import FORMATS, NAME_A_STUDY, FileReading
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    from annotators.protocols import Protocol

SCORER = "imported:unidoc"
VERIFIED = "verified_used"
"""Beside a unit's `used`, which is the pipeline's: whether people found that the answer uses or needs the unit."""

RATER = "unidoc-verified"
"""The annotator of what is verified, whom the files do not name."""

_GROUNDING = "grounding"
_REQUIRED = {True: "required", False: "not_required"}
_NEEDED = ("rewritten_question_obscured", "complete_answer", "chunk_used")
_OF_A_UNIT = ("used", VERIFIED, "metadata")
_KINDS = {"chunk": "passage", "img": "figure", "tab": "table"}
_PREFIXES = {kind: prefix for prefix, kind in _KINDS.items()}
_PASSAGE = re.compile(r"(?P<document>.+)_id_\d+(?P<pages>(?:_pg\d{1,6})+)\.txt")
_PICTURE = re.compile(r"(?P<noun>figure|table)-(?P<page>\d{1,6})-(?P<number>\d{1,6})\.\w+")
_DOMAIN = re.compile(r"(?P<domain>.+)_(?:database|figures)")


class UniDoc:
    """One item a record, of the system `reference`, with the units it was made from as evidence.

    A document's key is its number with `.pdf`, so that PDFs beside the records are its bytes. The category is the
    domain, as the paths of the sources name it. The pipeline's `used` is kept; what it says was used is gold, the other
    units that were offered to it are distractors. `verified_used` beside it, which an export of a study writes, is what
    people said: it can become labels of a study, and is no part of the item.
    """

    name = "unidoc"
    title = "UniDoc-Bench records"
    help = "JSON files of records with chunk_used, and the PDFs of the documents where they are at hand"
    loses = usual(
        "category",
        "language",
        "references",
        "documents",
        "claims",
        "images",
        "hops",
        "scores",
        "evidence.text",
        "evidence.box",
        "evidence.hop",
        "evidence.rank",
        items="answers of systems; items with a page as evidence",
        id="ids of items",
        question_key="keys of questions",
        evidence__key="keys of evidence that do not say its kind",
        evidence__document="documents of evidence whose name says otherwise in a source",
        evidence__role="the role retrieved",
        evidence__used="whether evidence was used, where its role says it",
        evidence__pages="pages of evidence without a document",
        evidence__metadata="metadata of evidence called as a field of a unit is, and sources that say another place",
        metadata="metadata called as a field of UniDoc-Bench is",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSON list whose records have `chunk_used`, the question and the complete answer."""
        return refusal_of_list(file, _NEEDED)

    def read(self, sources: Sources) -> FileReading:
        """The JSON and PDF files of the sources."""
        return _UniDocReading(sources, json_files(sources))

    def label_protocol(self) -> Protocol:
        """What a study of what is verified asks: grounding."""
        from annotators.protocols import PROTOCOLS  # noqa: PLC0415 - most imports have no labels

        return PROTOCOLS.get(_GROUNDING)

    def with_labels(self, item: Normal, labels: FinalLabels) -> Normal:
        """The item with the final labels of a study as `verified_used` of its units."""
        said = {label: flag for flag, label in _REQUIRED.items()}
        units = [
            {**unit, LABELS: {VERIFIED: said[label]}} if label in said else unit
            for unit in parts_of(item, "evidence")
            for label in [labels.get((_GROUNDING, f"evidence:{unit['key']}"))]
        ]
        return {**item, "evidence": units} if units else item

    def write(self, items: Items, files: Files) -> Written:
        """Write `DOMAIN.json` of the items of the system `reference` whose evidence is no page."""
        return Written.records(
            items, files, _record, lambda item: files.named("records", item.get("category") or "records", ".json")
        )


class _UniDocReading(RecordReading):
    """The files of one UniDoc-Bench source.

    `_placeless` counts the units whose source names no document or no page, `_structured` the answers that are objects.
    """

    format = UniDoc.name

    def begin(self) -> None:
        self._placeless = self._structured = self._verified = 0

    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        return items_of(file, None, data, self._item, SCORER, said=_SAID) if is_records(data, "chunk_used") else None

    def not_ours(self) -> str:
        return (
            "this is no list of UniDoc-Bench records (rewritten_question_obscured, complete_answer, chunk_used). Leave "
            "it out, or choose another format."
        )

    def notes(self) -> Sequence[str]:
        found = []
        if self._placeless:
            found.append(
                f"The source of {count(self._placeless, 'unit')} names no document or no page as 4751111_id_4_pg5.txt "
                "and 4751111/figure-5-2.jpg do. Such units come in without them; their source is kept."
            )
        if self._structured:
            found.append(
                f"{count(self._structured, 'complete answer is', 'complete answers are')} an object or a list, not a "
                "text. Such an answer comes in as its JSON, and as it was in the metadata."
            )
        if self._verified:
            found.append(f"People verified {count(self._verified, 'unit')} (`{VERIFIED}`). {NAME_A_STUDY}")
        return found

    def _item(self, record: Record) -> Normal:
        need(record, *_NEEDED)
        chunks = record["chunk_used"]
        if not isinstance(chunks, dict):
            raise InvalidInput(f"`chunk_used` is {called(chunks)}, not an object of units by name.")
        units = [self._unit(key, unit) for key, unit in chunks.items()]
        answer, metadata = record["complete_answer"], rest_of(record, *_NEEDED)
        if not isinstance(answer, str):
            self._structured += 1
            metadata["complete_answer"] = answer
            answer = _as_text(answer)
        return {
            "question": text_of(record, "rewritten_question_obscured"),
            "answer": answer,
            "system": DEFAULT_SYSTEM,
            "category": next(filter(None, (_domain(unit["source"]) for unit in units)), None),
            "documents": [unit["document"] for unit in units if unit["document"]],
            "evidence": units,
            "metadata": metadata,
        }

    def _unit(self, key: str, unit: Any) -> Normal:
        kind = _KINDS.get(key.partition("_")[0])
        if kind is None:
            raise InvalidInput(f"`chunk_used` has a unit {called(key)}. Units are called chunk_N, img_N or tab_N.")
        if not isinstance(unit, dict):
            raise InvalidInput(f"`chunk_used` {key}: {called(unit)} is not an object with `used` and `metadata`.")
        used = unit.get("used")
        if used is not None and not isinstance(used, bool):
            raise InvalidInput(f"`chunk_used` {key}: `used` is {called(used)}. Write true, false or null.")
        verified = unit.get(VERIFIED)
        if verified is not None and not isinstance(verified, bool):
            raise InvalidInput(f"`chunk_used` {key}: `{VERIFIED}` is {called(verified)}. Write true or false.")
        self._verified += verified is not None
        source, own = _source(key, unit.get("metadata"))
        place = _place(source)
        self._placeless += not place.get("pages")
        return {
            "key": key,
            "kind": kind,
            "role": None if used is None else "gold" if used else "distractor",
            "document": place.get("document"),
            "pages": place.get("pages"),
            "used": used,
            "source": source,
            **{name: place[name] for name in ("figure", "table") if name in place},
            "metadata": {**rest_of(unit, *_OF_A_UNIT), **own},
        }


def _labels(record: Record) -> Iterator[tuple[str, str, str]]:
    for key, unit in record["chunk_used"].items():
        if unit.get(VERIFIED) is not None:
            yield _GROUNDING, f"evidence:{key}", _REQUIRED[unit[VERIFIED]]


_SAID = Said(RATER, _labels)


def _as_text(answer: Any) -> str:
    """The JSON of an answer that is no text."""
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()


def _source(key: str, metadata: Any) -> tuple[str, Record]:
    """Where a unit comes from, and what else its metadata says: a text is the source, an object has one."""
    if isinstance(metadata, str):
        return metadata, {}
    source = metadata.get("source") if isinstance(metadata, dict) else None
    if not isinstance(source, str):
        raise InvalidInput(
            f"`chunk_used` {key}: `metadata` is {called(metadata)}. Write the name of the source, or an object with "
            "`source`."
        )
    return source, rest_of(metadata, "source")


def _place(source: str) -> Normal:
    """The document, pages and number of figure or table that a source's name says; nothing where it does not."""
    if len(source) > LONGEST_KEY:
        return {}
    folders, _, name = source.replace("\\", "/").rpartition("/")
    passage = _PASSAGE.fullmatch(name)
    if passage:
        pages = [int(page) for page in passage["pages"].split("_pg")[1:]]
        return {"document": f"{passage['document']}.pdf", "pages": [page for page in pages if page >= 1]}
    picture = _PICTURE.fullmatch(name)
    folder = folders.rpartition("/")[-1]
    if picture and folder:
        page = int(picture["page"])
        pages = [page] if page >= 1 else []
        return {"document": f"{folder}.pdf", "pages": pages, picture["noun"]: int(picture["number"])}
    return {}


def _domain(source: str) -> str | None:
    """The domain that a folder on the way to a source is called after, the innermost one."""
    folders = source[:LONGEST_KEY].replace("\\", "/").split("/")[:-1]
    return next((found["domain"] for folder in reversed(folders) if (found := _DOMAIN.fullmatch(folder))), None)


# Writing --------------------------------------------------------------------------------------------------------------


def _record(item: Normal) -> Record | None:
    """An item as a record; None for one of another system, and for evidence that is a page as such."""
    units = parts_of(item, "evidence")
    if item["system"] != DEFAULT_SYSTEM or any(unit["kind"] not in _PREFIXES for unit in units):
        return None
    metadata = metadata_of(item)
    structured = metadata.get("complete_answer")
    same = not isinstance(structured, str | None) and _as_text(structured) == item["answer"]
    chunks: Record = {}
    for number, unit in enumerate(units):
        prefix = _PREFIXES[unit["kind"]]
        own = unit["key"].partition("_")[0] == prefix
        chunks[unit["key"] if own else f"{prefix}_{number}"] = _chunk(number, unit)
    record = {
        "rewritten_question_obscured": item["question"],
        "complete_answer": structured if same else item["answer"],
        "chunk_used": chunks,
    }
    return beside(record, metadata)


def _chunk(number: int, unit: Normal) -> Record:
    metadata = metadata_of(unit)
    used = unit.get("used", None if "role" not in unit else unit["role"] == "gold")
    kept = metadata.get("source")
    source = kept if isinstance(kept, str) and _is_there(_place(kept), unit) else _source_of(number, unit)
    said = {"source": source} if unit["kind"] == "passage" else source
    chunk = {"used": used, "metadata": said, **unit.get(LABELS, {})}
    return beside(chunk, metadata, {"source", VERIFIED} | ({"figure", "table"} & _place(source).keys()))


def _is_there(place: Normal, unit: Normal) -> bool:
    return place.get("document") == unit.get("document") and place.get("pages", []) == unit.get("pages", [])


def _source_of(number: int, unit: Normal) -> str:
    """A source that says where a unit stands, for one that came without."""
    document = unit.get("document", "document").removesuffix(".pdf")
    pages = unit.get("pages", [1])
    if unit["kind"] == "passage":
        return f"{document}_id_{number}" + "".join(f"_pg{page}" for page in pages) + ".txt"
    return f"{document}/{unit['kind']}-{pages[0]}-{number + 1}.jpg"


FORMATS.register(UniDoc())
