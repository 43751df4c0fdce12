"""The tables of an export: their columns, of what kind each is, and what it means; also as a data dictionary."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotators.asking.asides import ASIDES
from annotators.items.item import ItemContent, fields_of
from exports.cells import safe


class ColumnKind(StrEnum):
    """What the cells of a column are, where a file has types. An empty cell is no value in every kind."""

    TEXT = "text"
    CATEGORY = "category"
    """A text of which there are few."""
    WHOLE = "whole number"
    NUMBER = "number"
    TRUTH = "true or false"
    TIME = "time (UTC)"
    WORDS = "list of words"
    """In CSV with blanks between them."""
    JSON = "JSON"


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, what its cells are, and what it means, in a sentence without a full stop."""

    name: str
    kind: ColumnKind
    meaning: str


_TEXT, _CATEGORY, _WHOLE = ColumnKind.TEXT, ColumnKind.CATEGORY, ColumnKind.WHOLE
_NUMBER, _TRUTH, _TIME, _JSON = ColumnKind.NUMBER, ColumnKind.TRUTH, ColumnKind.TIME, ColumnKind.JSON

_ITEM = Column("item", _TEXT, "id of the item")
_VERSION = Column("item_version", _WHOLE, "version of the item that the row is about")
_QUESTION = Column("question", _TEXT, "key of the item's question: items that share it answer the same question")
_SYSTEM = Column("system", _CATEGORY, "who wrote the answer; reference when it is the benchmark's own")
_ANNOTATOR = Column("annotator", _CATEGORY, "who labelled: a pseudonym (A people, M models), or a name where asked for")
_CRITERION = Column("criterion", _CATEGORY, "what was asked")
_TARGET = Column("target", _TEXT, "the part of the item that the label is about; item for the whole")
_LABEL = "a word, a number, or a JSON array of a set, a ranking or stretches"
_TIME_OF_STEP = Column("time", _TIME, "when it was committed")

_FIGURES = (
    Column("value", _NUMBER, "the figure; empty where it is not defined"),
    Column("low", _NUMBER, "lower end of its interval"),
    Column("high", _NUMBER, "upper end of its interval"),
    Column("method", _TEXT, "how both were made"),
)
_UNDEFINED = Column("reason", _TEXT, "why it is not defined")

_PAIRS = (
    Column("other_item", _TEXT, "id of the pair's second item"),
    Column("other_system", _CATEGORY, "who wrote the second item's answer"),
    Column("other_version", _WHOLE, "version of the second item that the row is about"),
    Column("left", _CATEGORY, "which of the two stood left: item or other_item"),
)

_SAID_OF_ASIDES = {
    "confidence": Column("confidence", _CATEGORY, "how sure the annotator was: low, medium or high"),
    "same": Column("same", _WHOLE, "of 10 other annotators how many would say the same, as this one believes"),
}

TABLES: dict[str, tuple[Column, ...]] = {
    "labels": (
        _ITEM, _VERSION, _QUESTION, _SYSTEM, _ANNOTATOR, _CRITERION, _TARGET,
        Column("value", _TEXT, f"the label: {_LABEL}; empty where it cannot be judged"),
        Column("cannot_judge", _TRUTH, "whether the annotator said that it cannot be judged"),
        Column("reason", _TEXT, "why it cannot be judged"),
        Column("comment", _TEXT, "what was said about the label"),
        Column("rationale", _JSON, "boxes that were marked for the label"),
        _TIME_OF_STEP,
        Column("seconds", _NUMBER, "seconds that the step was before the annotator's eyes"),
        Column("protocol", _CATEGORY, "protocol of the study"),
        Column("protocol_version", _WHOLE, "its version"),
        Column("kind", _CATEGORY, "how the annotation counts: regular, imported, surplus, left_out, …; empty while "
               "incomplete"),
        Column("current", _TRUTH, "false for a label that a correction superseded or whose import was withdrawn"),
        Column("complete", _TRUTH, "false for a label of a step whose annotation was never finished"),
        Column("shown", ColumnKind.WORDS, "what was before the annotator at that step"),
        Column("step", _WHOLE, "the step, from 1"),
        Column("submission", _TEXT, "id of the submission"),
        Column("submission_comment", _TEXT, "what was said about the item"),
        Column("flag", _TEXT, "why the item was flagged; flagged where no reason was given"),
    ),
    "derived": (
        _ITEM, _VERSION, _QUESTION, _SYSTEM, _ANNOTATOR,
        Column("criterion", _CATEGORY, "name of the derived unit"),
        _TARGET,
        Column("value", _TEXT, "what the annotator's labels amount to; empty where it does not follow"),
        Column("made_from", _CATEGORY, "the criterion that was asked"),
        Column("how", _CATEGORY, "how it is made of that"),
    ),
    "adjudicated": (
        _ITEM, _VERSION, _QUESTION, _SYSTEM, _CRITERION, _TARGET,
        Column("label", _TEXT, f"the final label: {_LABEL}; empty while it is open"),
        Column("how", _CATEGORY, "how it was reached: unanimous, majority, adjudicated, open"),
        Column("votes", _JSON, "label and how often it was given: a soft label"),
        Column("n", _WHOLE, "votes"),
        Column("reason", _TEXT, "the adjudicator's reason; a release has none"),
    ),
    "questionnaires": (
        Column("annotator", _CATEGORY, "who answered, by a pseudonym always; P1, P2, … have submitted no label"),
        Column("phase", _CATEGORY, "consent, before or after"),
        Column("question", _CATEGORY, "name of the question"),
        Column("title", _TEXT, "the question in words"),
        Column("answer", _TEXT, "the answer; sets are JSON arrays"),
        Column("time", _TIME, "when it was given"),
    ),
    "known": (
        Column("annotator", _CATEGORY, "who labelled, by a pseudonym always"),
        Column("kind", _CATEGORY, "gold or qualification"),
        Column("try", _WHOLE, "which try of the qualification"),
        _ITEM, _VERSION, _CRITERION, _TARGET,
        Column("value", _TEXT, "the label that was given"),
        Column("cannot_judge", _TRUTH, "whether the annotator said that it cannot be judged"),
        Column("right_value", _TEXT, "the label that is known to be right"),
        Column("is_right", _TRUTH, "whether the two are the same"),
        Column("current", _TRUTH, "false where the annotator corrected it later"),
        _TIME_OF_STEP,
    ),
    "sampling": (
        Column("position", _WHOLE, "place of the item in the order, from 1"),
        _ITEM, _VERSION,
        Column("weight", _NUMBER, "what the probability of its label goes by: among the first n items it was with "
               "min(1, weight / key of item n + 1)"),
        Column("key", _NUMBER, "the number by which it has its place: weight / a random number in (0, 1]"),
    ),
    "agreement": (
        _CRITERION,
        Column("about", _CATEGORY, "what the criterion is about: item, evidence, claim, …"),
        Column("scale", _CATEGORY, "the criterion's scale"),
        Column("statistic", _CATEGORY, "the coefficient or share"),
        Column("label", _TEXT, "the label that it is of, where it is of one"),
        Column("raters", _TEXT, "the two annotators that it is of, where it is of a pair"),
        *_FIGURES,
        Column("n_units", _WHOLE, "units that it rests on"),
        Column("n_raters", _WHOLE, "annotators that it rests on"),
        Column("n_ratings", _WHOLE, "labels that it rests on"),
        _UNDEFINED,
        Column("level", _NUMBER, "level of the interval"),
        Column("seed", _WHOLE, "seed of the resamples"),
        Column("resamples", _WHOLE, "how many resamples were asked for"),
    ),
    "alignment": (
        Column("metric", _CATEGORY, "the metric or judge that is held against people"),
        _CRITERION,
        Column("by", _CATEGORY, "what groups are: system, category, …"),
        Column("group", _TEXT, "the group that it is of; empty for all"),
        Column("against", _TEXT, "the metric, study or annotator that it is compared with"),
        Column("statistic", _CATEGORY, "the correlation, share or test"),
        *_FIGURES,
        Column("n", _WHOLE, "how many units (or what the method says) it rests on"),
        Column("p_value", _NUMBER, "p value, where there is one"),
        Column("n_effective", _NUMBER, "how many labels alone would give as short an interval"),
        _UNDEFINED,
    ),
    "versions": (
        _ITEM,
        Column("item_version", _WHOLE, "version of the item that the files of items have"),
        Column("latest_version", _WHOLE, "the newest version that there was when the export was made"),
    ),
    "revisions": (
        _ITEM,
        Column("from_version", _WHOLE, "the version before"),
        Column("to_version", _WHOLE, "the version that it made"),
        Column("changed", ColumnKind.WORDS, "the fields that differ"),
        Column("study", _CATEGORY, "the study that it came from, where it came from one"),
        Column("person", _CATEGORY, "who revised: a pseudonym (P1, P2, …), or a name where asked for"),
        Column("time", _TIME, "when"),
        Column("reason", _TEXT, "why"),
        Column("invalidates", _JSON, "which earlier labels fall"),
    ),
    "events": (
        Column("event", _WHOLE, "number of the event"),
        Column("time", _TIME, "when"),
        Column("person", _CATEGORY, "who did it: a pseudonym (P1, P2, …), or a name where asked for"),
        Column("via", _CATEGORY, "from where: web, cli, …"),
        Column("kind", _CATEGORY, "what was done"),
        Column("thing", _CATEGORY, "to what kind of thing"),
        Column("thing_id", _TEXT, "its number; of a person the pseudonym or name"),
        Column("details", _JSON, "what else is known of it"),
    ),
    "scores": (
        _ITEM, _VERSION, _SYSTEM,
        Column("category", _CATEGORY, "category of the item"),
        Column("scorer", _CATEGORY, "the metric that gave the score"),
        Column("scorer_version", _CATEGORY, "its version"),
        Column("parameters", _JSON, "its parameters"),
        Column("score", _CATEGORY, "name of the value, as a metric may give several"),
        _TARGET,
        Column("value", _NUMBER, "the score; empty where it is unscored"),
        Column("reason", _TEXT, "why it is unscored"),
        Column("run", _WHOLE, "number of the run that gave it"),
    ),
    "numbers": (
        Column("name", _TEXT, "what the number is of, with dots between"),
        Column("value", _NUMBER, "the number; empty where it is not defined"),
    ),
}  # fmt: skip
"""Table → the columns that it always has, in their order."""

BESIDES: dict[str, tuple[Column, ...]] = {
    "labels": (
        *_PAIRS,
        *(_SAID_OF_ASIDES[name] for name in ASIDES),
        Column("fell", _TRUTH, "true for a label of an earlier version that says nothing of the item's latest one"),
        Column("added", _TRUTH, "true for a label that was asked for because people disagreed about its item"),
    ),
    "adjudicated": (
        *_PAIRS,
        Column("soft_label", _JSON, "label and its share of the votes"),
        Column(
            "posterior", _JSON, "label and how probable it is by Dawid and Skene's model; empty where there is none"
        ),
        Column("fell", _TRUTH, "true for a unit of an earlier version that says nothing of the item's latest one"),
        Column("study", _CATEGORY, "whose label it is, in a release"),
        Column("label_version", _WHOLE, "version of the item that the label was given for, in a release"),
        Column("other_label_version", _WHOLE, "the same of a pair's second item"),
    ),
}
"""Table → the columns that it has besides where a study is of pairs, asks beside labels or has items that were revised,
and in a release."""


def names_of(table: str) -> tuple[str, ...]:
    """The names of the columns that a table always has."""
    return tuple(column.name for column in TABLES[table])


def columns_of(table: str, names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of these names, in their order."""
    known = {column.name: column for column in (*TABLES[table], *BESIDES.get(table, ()))}
    return tuple(known[name] for name in names)


ITEMS = "items"
_OF_ITEMS = {
    "id": "id of the item",
    "question_key": "key of its question: items that share it answer the same question",
    "question": "the question",
    "answer": "the answer under judgement",
    "system": "who wrote the answer; reference when it is the benchmark's own",
    "category": "category of the item",
    "language": "its language",
    "references": "reference answers: each a text, or a list of required phrases",
    "documents": "keys of its documents",
    "evidence": "units of evidence, each an object",
    "claims": "claims of the answer and of the reference, each an object",
    "images": "images, each an object",
    "hops": "steps of a question of several hops, each an object",
    "scores": "scores that came with it or were given since, each an object",
    "metadata": "what else is kept of it, an object",
}
"""Field of an item → what its column means in a table of items (`exports.formats.table`)."""


def columns_of_items(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of a table of items, by their names; those that are no field are of the metadata."""
    return tuple(
        Column(
            name,
            _JSON if name in fields_with_several() else _CATEGORY if name == "system" else _TEXT,
            _OF_ITEMS.get(name, "kept in the item's metadata"),
        )
        for name in names
    )


def fields_with_several() -> frozenset[str]:
    """The fields of an item that a cell has as JSON."""
    return frozenset(field.name for field in fields_of(ItemContent) if field.many or field.name == "metadata")


def data_dictionary(tables: Iterable[tuple[str, Sequence[Column]]]) -> bytes:
    """A CSV file with a row a column of these tables: table, column, kind, meaning."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("table", "column", "kind", "meaning"))
    for table, columns in tables:
        writer.writerows((table, safe(column.name), column.kind.value, column.meaning) for column in columns)
    return out.getvalue().encode()
