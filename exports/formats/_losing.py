"""What a format cannot carry: which fields of items it has no place for, in words, and how much of it was lost.

A format declares it (`loses`: path of a field → words), for the list of formats and for previews. What a conversion
lost is measured: what the items said is held against what the format's own reader makes of the files it wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from annotators.items.item import ItemContent, fields_of
from annotators.items.normal import Normal

Losses = Mapping[str, str]
"""Path of a field (`claims`, `evidence.text`; `items` for those that are left out) → what is lost, in words.

A field that is lost whatever it holds has its usual words (`WORDS`), one that is lost at times the words say when.
"""

WORDS: dict[str, str] = {
    "items": "items",
    "id": "ids of items",
    "question_key": "keys of questions",
    "question": "questions",
    "answer": "answers",
    "system": "systems",
    "category": "categories",
    "language": "languages",
    "references": "reference answers",
    "documents": "documents of items",
    "evidence": "evidence",
    "evidence.key": "keys of evidence",
    "evidence.kind": "kinds of evidence",
    "evidence.role": "roles of evidence",
    "evidence.document": "documents of evidence",
    "evidence.pages": "pages of evidence",
    "evidence.box": "boxes of evidence",
    "evidence.text": "texts of evidence",
    "evidence.used": "whether evidence was used",
    "evidence.hop": "steps that evidence belongs to",
    "evidence.rank": "ranks of evidence",
    "evidence.metadata": "metadata of evidence",
    "claims": "claims",
    "claims.key": "keys of claims",
    "claims.text": "texts of claims",
    "claims.of": "whose claims they are",
    "claims.metadata": "metadata of claims",
    "images": "images",
    "images.key": "keys of images",
    "images.document": "documents of images",
    "images.page": "pages of images",
    "images.box": "boxes of images",
    "images.caption": "captions of images",
    "images.metadata": "metadata of images",
    "hops": "steps of questions",
    "hops.key": "keys of steps",
    "hops.question": "questions of steps",
    "hops.answer": "answers of steps",
    "hops.metadata": "metadata of steps",
    "scores": "scores",
    "scores.parameters": "parameters of scores",
    "scores.reason": "why items are unscored",
    "metadata": "metadata",
    "files": "files of documents",
    "titles": "titles and metadata of documents",
    "labels": "labels of people",
    "labels.annotator": "who gave a label",
    "labels.value": "values of labels, which come back otherwise",
    "labels.time": "times of labels",
    "labels.seconds": "seconds that labels took",
    "labels.comment": "remarks beside labels",
    "labels.rationale": "places that support labels",
    "labels.verdicts": "verdicts of studies whose list is not whole",
    "labels.fell": "labels that fell when their items were revised",
}
"""Path → what is lost, where all of it is."""

_PARTS = tuple(field.name for field in fields_of(ItemContent) if field.part and field.name != "scores")
_FIELDS = tuple(name for name in WORDS if "." not in name and name not in ("items", "files", "titles", "labels"))


def usual(*paths: str, **at_times: str) -> dict[str, str]:
    """Losses: of these paths all, of the others what their words say (a path's full stop is written as __)."""
    return {path: WORDS[path] for path in paths} | {name.replace("__", "."): said for name, said in at_times.items()}


UNSAID = {"items": "what it does not say: assay convert counts it"}
"""What a format of a package loses that does not say (`loses`)."""


def losses_of(format_: object) -> Losses:
    """What a format declares that it loses; of ours nothing where it does not say."""
    ours = type(format_).__module__.startswith("exports.formats.")
    found: Losses = getattr(format_, "loses", {} if ours else UNSAID)
    return found


def declared(format_: object, path: str) -> bool:
    """Whether a format says that it loses the field of this path, or the part that it is of."""
    lost = losses_of(format_)
    return path in lost or path.partition(".")[0] in lost


def carried_by(format_: object) -> list[str]:
    """The fields of items that a format carries, some of them perhaps in part."""
    lost = losses_of(format_)
    if lost is UNSAID:
        return []
    return [WORDS[name] for name in _FIELDS if lost.get(name) != WORDS[name]]


class Lost(NamedTuple):
    """What was lost, in words, how often, and of how many there were."""

    path: str
    what: str
    n: int
    of: int

    def to_json(self) -> dict[str, Any]:
        """As `assay convert --json` has it."""
        return {"what": self.what, "n": self.n, "of": self.of}


Statements = Counter[tuple[str, int]]
"""Of some items: (path, value) → how often it is said. Values are known by their hash, which differs between runs."""


def statements(items: Iterable[Normal]) -> Statements:
    """Everything that some items say, field by field."""
    found: Statements = Counter()
    for item in items:
        found.update(_said(item))
    return found


def _said(item: Normal) -> Iterator[tuple[str, int]]:
    for name, value in item.items():
        if name in _PARTS:
            for part in value:
                yield from _of_part(name, part)
        elif name == "scores":
            for score in value:
                about = [score["scorer"], score["name"], score.get("value"), score.get("target", "item")]
                yield "scores", _known(about)
                for field in ("parameters", "reason"):
                    if score.get(field):
                        yield f"scores.{field}", _known(score[field])
        elif name == "metadata":
            for key, kept in value.items():
                yield f"metadata.{key}", _known(kept)
        else:
            yield name, _known(value)


def _of_part(name: str, part: Normal) -> Iterator[tuple[str, int]]:
    yield name, 0
    for field, value in part.items():
        if field != "metadata":
            yield f"{name}.{field}", _known(value)
    for key, kept in part.get("metadata", {}).items():
        yield f"{name}.metadata", _known([key, kept])


def _known(value: Any) -> int:
    return hash(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


def lost_between(before: Statements, after: Statements) -> list[Lost]:
    """What the items said before and do not say after, field by field in the order of an item.

    A part that is gone counts once, not for each of its fields.
    """
    gone: Counter[str] = Counter()
    there_were: Counter[str] = Counter()
    for (path, value), n in before.items():
        there_were[path] += n
        missing = n - after.get((path, value), 0)
        if missing > 0:
            gone[path] += missing
    there = {path for path, _ in after}
    for part in (*_PARTS, "scores"):
        for path in [path for path in gone if path.startswith(f"{part}.")]:
            gone[path] = gone[path] - gone[part] if part in there else 0
    known = list(WORDS)

    def place(path: str) -> tuple[int, str]:
        return (known.index(path) if path in WORDS else known.index("metadata"), path)

    return [
        Lost(path, _words(path), gone[path], there_were[path]) for path in sorted(gone, key=place) if gone[path] > 0
    ]


def _words(path: str) -> str:
    return WORDS.get(path) or f"metadata {path.partition('.')[2]}"
