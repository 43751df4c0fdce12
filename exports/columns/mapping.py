"""Which column of a table is which field, how it is opened, how its values are read: one description for every way in.

A field has one column. `annotators`, `criteria` and `items` have many, each of which is one rater, criterion or item:
that is how a table with a row a unit, a row a rating or a row a person becomes one row a label.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from annotators.errors import InvalidInput, NotFound
from annotators.figures import count
from exports.columns.columns import Columns, read_columns
from exports.columns.values import USUAL as USUAL_VALUES
from exports.columns.values import ValueRule, written_alike
from exports.reading.records import is_path
from exports.reading.tables import USUAL, Opening

MANY = {"annotators": "annotator", "criteria": "criterion", "items": "item"}
"""Fields of which each column is one → the field that the name of the column is then a value of."""

OF_RATINGS = (
    "item", "annotator", "criterion", "value", "target", "question", "time", "comment", "other_item", "seconds",
    "rationale", "step",
)  # fmt: skip
"""Fields of a rating."""

_KNOWN = {
    "item": (
        "item", "item_id", "itemid", "unit", "unit_id", "hitid", "hit_id", "input.id", "input.item", "task_id",
        "taskid", "example_id", "sample_id", "instance_id", "doc_id", "document_id", "question_id", "qid", "q_id",
        "row_id", "source_id", "sid", "subject", "id",
    ),
    "annotator": (
        "annotator", "annotator_id", "annotatorid", "rater", "rater_id", "worker", "worker_id", "workerid", "coder",
        "prolific_pid", "participant_id", "participant", "assessor", "evaluator", "labeler", "labeller", "judge",
        "user", "user_id", "username", "completed_by", "email_address", "email", "responseid", "response_id",
    ),
    "value": ("value", "label", "rating", "score", "judgement", "judgment", "grade", "verdict", "vote", "annotation"),
    "criterion": ("criterion", "dimension", "aspect", "attribute", "quality"),
    "target": ("target",),
    "question": ("question", "question_key", "query_id"),
    "time": ("time",),
    "comment": ("comment",),
    "other_item": ("other_item",),
    "seconds": ("seconds",),
    "rationale": ("rationale",),
    "step": ("step",),
}  # fmt: skip
"""What else the columns of these fields are called, in lower case with _ for spaces; the first that is there counts."""

_NO_RATER = frozenset(
    (*_KNOWN["criterion"], "time", "timestamp", "comment", "comments", "question", "questions", "query", "text",
     "answer", "response", "context", "category", "system", "model", "document", "target", "note", "notes", "source",
     "split", "reference", "url", "date", "created_at", "index", "title", "topic", "group", "language", "prompt",
     "mean", "average", "avg", "median", "sum", "total", "count", "majority",
     "majority_vote", "consensus", "final", "final_label", "gold", "gold_label", "adjudicated", "agreed", "agreement",
     "agree", "difference", "diff", "alpha", "kappa")
)  # fmt: skip
"""Columns of a table with a column a rater that are none, by what they are called."""

_LEFT_OUT = {
    "assignmentstatus": ("rejected",),  # Mechanical Turk
    "status": ("survey preview", "spam", "returned", "rejected", "timed-out", "timed out"),  # Qualtrics, Prolific
}
"""Columns of platforms → what stands there where the platform or its requester has turned a row down."""

_OF_PLATFORMS = frozenset(("workerid", "responseid", "prolific_pid", "participant_id"))


def is_no_judgement(name: str) -> bool:
    """Whether a column is known by its name to say something of a unit, or of a row of a platform."""
    return plain(name) in _LEFT_OUT or plain(name) in ("system", "model", "category", "split", "language")


def plain(name: str) -> str:
    """The name of a column as it is looked up: in lower case, with _ for spaces."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())


@dataclass(frozen=True)
class TableMapping:
    """Field → its columns (several of an item: their names are joined); how the table is opened and its values read;
    which rows are left out.

    `left_out` is column → values (in lower case) whose rows are left out; no value: rows are kept, whatever the column
    says.
    """

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    opening: Opening = USUAL
    rule: ValueRule = USUAL_VALUES
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        fields: Sequence[str] = (),
        *,
        opening: Opening = USUAL,
        rule: ValueRule = USUAL_VALUES,
        left_out: Sequence[str] = (),
    ) -> TableMapping:
        """From texts `FIELD=COLUMN` and `COLUMN=VALUE`, each of which may come again."""
        found = {name: tuple(columns) for name, columns in columns_of(fields).items()}
        return cls(
            found, opening, rule, {name: tuple(v.lower() for v in v_) for name, v_ in columns_of(left_out).items()}
        )

    def __or__(self, given: TableMapping) -> TableMapping:
        """This one, with what is said in another in the place of it."""
        return TableMapping(
            {**self.fields, **given.fields},
            self.opening if given.opening == USUAL else given.opening,
            self.rule if given.rule == USUAL_VALUES else given.rule,
            {**self.left_out, **given.left_out},
        )

    @property
    def wanted(self) -> Opening:
        """How the table is opened, with columns for the nested fields that are named."""
        paths = tuple(path for columns in self.fields.values() for path in columns if is_path(path))
        return replace(self.opening, paths=paths)

    def to_json(self) -> dict[str, Any]:
        """As it is kept; what is as usual is left out."""
        said: dict[str, Any] = {"fields": {name: list(columns) for name, columns in self.fields.items()}}
        for name in ("encoding", "sheet", "records", "each"):
            if value := getattr(self.opening, name):
                said[name] = list(value) if isinstance(value, tuple) else value
        if self.rule.missing is not None:
            said["missing"] = list(self.rule.missing)
        if self.rule.fold_case:
            said["fold_case"] = True
        if self.rule.delimiter is not None:
            said["delimiter"] = self.rule.delimiter
        if self.rule.empty is not None:
            said["empty"] = self.rule.empty
        if self.left_out:
            said["left_out"] = {name: list(values) for name, values in self.left_out.items()}
        return said

    def in_words(self) -> list[str]:
        """What it says, a line each, as options of a command say it."""
        lines = [f"--map {shlex.quote(f'{name}={column}')}" for name, columns in self.fields.items()
                 for column in columns or ("",)]  # fmt: skip
        said = self.to_json()
        for name in ("encoding", "sheet", "records", "delimiter", "empty"):
            lines += [f"--{name} {shlex.quote(str(said[name]))}"] if name in said else []
        lines += [f"--each {shlex.quote(name)}" for name in said.get("each", ())]
        lines += [f"--missing {shlex.quote(','.join(said['missing']))}"] if "missing" in said else []
        lines += ["--fold-case"] if self.rule.fold_case else []
        lines += [f"--leave-out {shlex.quote(f'{name}={value}')}" for name, values in self.left_out.items()
                  for value in values or ("",)]  # fmt: skip
        return lines

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> TableMapping:
        """From what `to_json` gave."""
        missing = said.get("missing")
        return cls(
            {str(name): tuple(map(str, columns)) for name, columns in said.get("fields", {}).items()},
            Opening(said.get("encoding"), said.get("sheet"), said.get("records"), tuple(said.get("each", ()))),
            ValueRule(
                None if missing is None else tuple(missing),
                bool(said.get("fold_case")),
                said.get("delimiter"),
                said.get("empty"),
            ),
            {str(name): tuple(map(str, values)) for name, values in said.get("left_out", {}).items()},
        )


AS_IT_IS = TableMapping()


def check_fits(name: str, mapping: TableMapping, file: str, names: Sequence[str], given: Collection[str] = ()) -> None:
    """NotFound for the first column of a mapping of this name that a file has not, but of fields that are `given`."""
    for of_field, columns in mapping.fields.items():
        for text in () if of_field in given else columns:
            try:
                columns_named(names, text, many=of_field in MANY)
            except NotFound:
                there = ", ".join(names)[:500] or "none"
                raise NotFound(
                    f"The mapping {name!r} does not fit {file}: it has no column {text!r}, which is the {of_field} "
                    f"there. It has: {there}. Name the right one with --map {of_field}=COLUMN."
                ) from None
    for column in mapping.left_out:
        if column not in names:
            raise NotFound(
                f"The mapping {name!r} does not fit {file}: it leaves rows out by the column {column!r}, which is not "
                f"there. It has: {', '.join(names)[:500] or 'none'}."
            )


def columns_of(given: Sequence[str]) -> dict[str, list[str]]:
    """The mapping that texts `FIELD=COLUMN` say; InvalidInput for one that says none."""
    mapping: dict[str, list[str]] = {}
    for text in given:
        name, equals, column = text.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(
                f"{text!r} maps nothing. Write FIELD=COLUMN, such as question=Frage, or the name of one mapping that a "
                "project keeps."
            )
        mapping.setdefault(name.strip(), []).extend([column.strip()] if column.strip() else [])
    return mapping


@dataclass(frozen=True)
class Found:
    """Field → its columns in a table, and why each is taken."""

    columns: dict[str, tuple[str, ...]]
    why: dict[str, str]

    def said(self) -> list[str]:
        """A sentence that says which column is what, and why."""
        parts = [f"{name} = {', '.join(columns[:12])}{' …' if len(columns) > 12 else ''} ({self.why[name]})"
                 for name, columns in self.columns.items()]  # fmt: skip
        return [f"Columns: {'; '.join(parts)}."] if parts else []


def found_columns(
    names: Sequence[str], mapping: TableMapping, *, needed: Sequence[str] = (), options: Mapping[str, str] | None = None
) -> Found:
    """The columns of ratings in a table with these: those that the mapping names, and those known by their names.

    `needed` fields that have none are NotFound, as are columns that are not there; `options` says with which option
    each field is named (else `--map FIELD=COLUMN`).
    """
    how = dict(options or {})
    columns: dict[str, tuple[str, ...]] = {}
    why: dict[str, str] = {}
    for name, given in mapping.fields.items():
        if name not in OF_RATINGS and name not in MANY:
            raise InvalidInput(f"A rating has no field {name!r}. It has: {', '.join((*OF_RATINGS, *MANY))}.")
        try:
            there = tuple(
                dict.fromkeys(column for text in given for column in columns_named(names, text, many=name in MANY))
            )
        except NotFound as error:
            option = how.get(name, f"--map {name}=COLUMN")
            raise NotFound(f"{error} Name the right one with {option}.") from None
        if len(there) > 1 and name not in (*MANY, "item"):
            raise InvalidInput(f"`{name}` is read from one column, not from {' and '.join(map(repr, there))}.")
        if there:
            columns[name], why[name] = there, "as named"
    several = [name for name in columns if name in MANY]
    if len(several) > 1:
        raise InvalidInput(f"Columns are {' and '.join(several)} at once. Name many columns for one of them.")
    instead = {MANY[name] for name in several}
    taken = {column for of_field in columns.values() for column in of_field}
    by_plain = {plain(name): name for name in reversed(names)}
    for name, aliases in _KNOWN.items():
        if name in mapping.fields or name in instead or (several and name == "value"):
            continue
        known = next((by_plain[alias] for alias in aliases if by_plain.get(alias, "") not in ("", *taken)), None)
        known = name if name in names and name not in taken else known  # not `Item` beside `item`
        if known is not None:
            usual = plain(known) == name
            columns[name], why[name] = (known,), "its name" if usual else "as such columns are called"
            taken.add(known)
    missing = [
        name for name in needed if name not in columns and name not in instead and not (several and name == "value")
    ]
    if missing:
        option = how.get(missing[0], f"--map {missing[0]}=COLUMN")
        raise NotFound(
            f"no column {missing[0]!r}. It has: {', '.join(names) or 'none'}. Name the right one with {option}."
        )
    ordered = [name for name in (*OF_RATINGS, *MANY) if name in columns]
    return Found({name: columns[name] for name in ordered}, {name: why[name] for name in ordered})


def columns_named(names: Sequence[str], text: str, *, many: bool) -> list[str]:
    """The columns that a text names: itself, those of a pattern, or several with commas between them."""
    if text in names or (is_path(text) and re.split(r"[.\[]", text)[0] in names):
        return [text]
    if many:
        found = [name for name in names if fnmatchcase(name, text)]
        if found:
            return found
        parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), []) if part.strip()]
        if len(parts) > 1:
            return [column for part in parts for column in columns_named(names, part, many=True)]
    raise NotFound(f"no column {text!r}. It has: {', '.join(names) or 'none'}.")


def raters_among(names: Sequence[str], unit: str | None) -> list[str]:
    """The columns of raters of a table with a column a rater: all but the unit's and those known as something else."""
    return [name for name in names if name != unit and plain(name) not in _NO_RATER and not _OF_INDEX.fullmatch(name)]


_OF_INDEX = re.compile(r"(Unnamed: \d+)?")
"""What pandas calls the column of its index: nothing, or so when it was read again. It numbers rows and is no rater."""


def shared_beginning(columns: Sequence[str]) -> str:
    """What the names of several columns have in common up to a point or space, as `Answer.` of MTurk's."""
    if len(columns) < 2:
        return "Answer." if columns and columns[0].startswith("Answer.") else ""
    first, last = min(columns), max(columns)
    n = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    found = re.match(r".*[.:/]", first[:n])
    return found[0] if found else ""


@dataclass(frozen=True)
class Melted:
    """A table as one row a rating, each list with an entry a rating; `places` says which row of the table it is of."""

    found: Found
    items: Sequence[str | int | None]
    annotators: list[str | None]
    criteria: list[str | None] | None
    values: list[Any]
    places: list[int]
    left_out: dict[str, int]


def melted(columns: Columns, mapping: TableMapping, found: Found, rows: Sequence[int] | None = None) -> Melted:
    """The ratings of a table, whichever of rater, criterion and item has many columns; of these rows alone.

    Rows that a platform or its requester has turned down are left out and counted.
    """
    kept, left_out = _kept(columns, mapping, range(len(columns.lines)) if rows is None else rows)
    of_names = ("item", "annotator", "criterion")
    named = {name: _named(columns, of_field) for name, of_field in found.columns.items() if name in of_names}
    many = next((name for name in found.columns if name in MANY), None)
    if many is None:
        value = columns[found.columns["value"][0]]
        return Melted(
            found, [named["item"][row] for row in kept], [named["annotator"][row] for row in kept],
            [named["criterion"][row] for row in kept] if "criterion" in named else None,
            [value[row] for row in kept], kept, left_out,
        )  # fmt: skip
    of = MANY[many]
    begun = len(shared_beginning(found.columns[many])) if many == "criteria" else 0
    cells = {column: columns[column] for column in found.columns[many]}
    places = [row for row in kept for _ in cells]
    names = [column[begun:] or column for _ in kept for column in cells]

    def by(name: str) -> list[str | None] | None:
        if of == name:
            return list(names)
        return [named[name][row] for row in places] if name in named else None

    unit = by("item")
    return Melted(
        found,
        [row + 1 for row in places] if unit is None else unit,
        by("annotator") or [None] * len(places),
        by("criterion"),
        [cells[column][row] for row in kept for column in cells],
        places,
        left_out,
    )


def _named(columns: Columns, of_field: Sequence[str]) -> list[str | None]:
    """The names in a column, or of several (an item is a question and a system, say) with colons between them."""
    several = [columns.named(column) for column in of_field]
    if len(several) == 1:
        return several[0]
    return [None if None in names else ":".join(map(str, names)) for names in zip(*several, strict=True)]


def _kept(columns: Columns, mapping: TableMapping, rows: Iterable[int]) -> tuple[list[int], dict[str, int]]:
    """The rows that are not left out, and how many are for which reason."""
    rules: dict[str, tuple[str, ...]] = {}
    plain_names = {plain(name): name for name in columns.cells}
    if _OF_PLATFORMS & set(plain_names):
        rules |= {plain_names[name]: values for name, values in _LEFT_OUT.items() if name in plain_names}
    for name, values in mapping.left_out.items():
        columns[name]  # NotFound says which columns there are
        rules[name] = values
    kept, left_out = [], Counter[str]()
    words = {name: columns.named(name) for name, values in rules.items() if values}
    for row in rows:
        reason = next(
            (f"{name} is {said[row]}" for name, said in words.items() if (said[row] or "").lower() in rules[name]), None
        )
        if reason is None:
            kept.append(row)
        else:
            left_out[reason] += 1
    return kept, dict(left_out)


def said_of_columns(named: Mapping[str, object]) -> str:
    """A sentence that says which column is what, of columns that were all named."""
    parts = [
        f"{name} = {', '.join(column) if isinstance(column, list | tuple) else column}"
        for name, column in named.items()
        if column
    ]
    return f"Columns: {'; '.join(parts)}."


def read_mapped(path: Path, mapping: TableMapping) -> Columns:
    """A table as columns, without the rows that are left out, which is said."""
    columns = read_columns(path, mapping.rule, mapping.opening)
    kept, left_out = _kept(columns, mapping, range(len(columns.lines)))
    if not left_out:
        return columns
    cells = {name: [column[row] for row in kept] for name, column in columns.cells.items()}
    said = [*columns.said, *said_of_left_out(left_out)]
    return replace(columns, cells=cells, lines=[columns.lines[row] for row in kept], said=said)


def said_of_left_out(left_out: Mapping[str, int]) -> list[str]:
    """How many rows were left out, a sentence a reason."""
    return [f"Left out: {count(n, 'row')} ({reason})." for reason, n in left_out.items()]


def names_alike(names: Iterable[object], what: str) -> list[str]:
    """Cautions for names that differ only in case or Unicode form, which count as two people, or two units, and for
    units that are called as rows of sums are."""
    given = [name for name in names if isinstance(name, str)]
    groups = written_alike(given)
    said = "; ".join(", ".join(map(repr, group[:4])) for group in groups[:4])
    cautions = [f"{what} differ only in case or Unicode form, and count as different: {said}."] if groups else []
    sums = list(dict.fromkeys(name for name in given if plain(name) in _SUMS))
    if sums and what in ("Units", "Items"):
        one = repr(sums[0])
        cautions.append(
            f"{one} counts as {'a unit' if what == 'Units' else 'an item'}. If that row sums the others up, leave it "
            f"out with --leave-out COLUMN={sums[0]}."
        )
    return cautions


_SUMS = frozenset(("total", "totals", "sum", "summe", "mean", "average", "avg", "mittelwert", "gesamt", "agreement"))
"""What a row below a table is called that sums it up, in lower case."""
