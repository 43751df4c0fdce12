"""What a cell says, whatever file it came in: the one reading of values of all tables.

- Space around a text is none of it.
- Empty cells and the words of `MISSING`, whatever their case, say nothing; how many of which there are is said.
- A text that is a number is that number: `1`, `1.0` and `1e0` are one value.
- `true` and `false`, whatever their case, are the words true and false; beside values of which all numbers are 0 and 1
  they are 1 and 0, as pandas writes yes and no in a column where some are missing.
- Labels that differ only in case, in spaces or in Unicode form are told, and one label with `fold_case`.
- With a `delimiter` a text is a set of what stands between; where texts look like it, that is offered.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotators.errors import listed, shown
from annotators.figures import count

MISSING = ("na", "n/a", "nan", "none", "null", "#n/a", "#na", "<na>", "-", "–", "—")
"""Words that stand for no value, in lower case."""

DELIMITERS = (";", "|", ",", "/", "\n")
_EMPTY = "(empty)"
_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060"
"""Signs without width, which stand at the ends of texts that were copied from pages."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII).fullmatch
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII).fullmatch
_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII).fullmatch
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?", re.ASCII).fullmatch
_LARGEST = 1 << 53
_SHOWN = 4

Value = Any
"""A number, a text, a list (of a set), or None where nothing is said."""


@dataclass(frozen=True)
class ValueRule:
    """How values are read where it is to be otherwise: the words for missing ones, and what is joined or parted.

    `missing` None: those of `MISSING`. A word that is declared as a label is one.
    """

    missing: tuple[str, ...] | None = None
    fold_case: bool = False
    delimiter: str | None = None

    def is_missing(self, text: str) -> bool:
        """Whether a text without space around it says nothing."""
        words = MISSING if self.missing is None else self.missing
        return not text or text.lower() in words

    @classmethod
    def of(cls, missing: str | None = None, *, fold_case: bool = False, delimiter: str | None = None) -> ValueRule:
        """From what a command was given: words with commas between them."""
        words = None if missing is None else tuple(word.strip().lower() for word in missing.split(",") if word.strip())
        names = {"newline": "\n", "\\n": "\n", "tab": "\t", "\\t": "\t"}
        return cls(words, fold_case, names.get(delimiter, delimiter) if delimiter else None)


USUAL = ValueRule()


@dataclass
class ReadValues:
    """Values as they were read, how many say nothing by what stands there, and what is to be said of them.

    `cautions` are what may make figures wrong.
    """

    values: list[Value]
    missing: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)


def trimmed(text: str) -> str:
    """A text without space, and without signs that have no width, at its ends."""
    return text.strip().strip(_UNSEEN).strip()


def number_in(text: str) -> int | float | None:
    """The number that a text without space around it is, a whole one as such; None where it is none."""
    if not _NUMBER(text):
        return None
    if _WHOLE(text) and len(text) < 400:
        return int(text)
    return as_number(float(text))


def as_number(number: float) -> int | float | None:
    """A number as all files have it: whole where it is, None where it is none."""
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN is not itself
        return None
    return int(number) if number.is_integer() and abs(number) < _LARGEST else number


def day_of(text: str) -> str:
    """A text, but a midnight as its day: tables of days are saved as either."""
    found = _MIDNIGHT(text)
    return found[1] if found else text


def read_value(cell: object, rule: ValueRule = USUAL, *, declared: Collection[str] = ()) -> Value:
    """What one cell says; lists stay as they are, and true and false are words."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return cell
    if isinstance(cell, float):
        return as_number(cell)
    if not isinstance(cell, str):
        return cell
    text = trimmed(cell)
    if text not in declared and rule.is_missing(text):
        return None
    number = number_in(text)
    if number is not None:
        return number
    lower = text.lower()
    return lower if lower in ("true", "false") else day_of(text)


def read_values(
    cells: Iterable[object], rule: ValueRule = USUAL, *, declared: Collection[str] = (), about: str = ""
) -> ReadValues:
    """The values of a column, or of a criterion in it, read together. `about` is what they are called in notes."""
    given = list(cells)
    found = ReadValues([])
    known: dict[object, Value] = {}
    for cell in given:
        key = (type(cell), cell) if _hashable(cell) else None
        if key is None or key not in known:
            value = read_value(cell, rule, declared=declared)
            if key is not None:
                known[key] = value
        else:
            value = known[key]
        if value is None:
            word = trimmed(cell) if isinstance(cell, str) else ""
            found.missing[word or _EMPTY] += 1
        found.values.append(value)
    of = f"{about}: " if about else ""
    _read_commas(found, of)
    _read_booleans(found, of)
    if rule.delimiter is not None:
        found.values = [_parted(value, rule, declared) for value in found.values]
    else:
        _offer_sets(found, of)
    _fold(found, rule, of, declared)
    return found


def _hashable(cell: object) -> bool:
    return isinstance(cell, str | int | float | bool | None)


def _texts(found: ReadValues) -> Counter[str]:
    return Counter(value for value in found.values if isinstance(value, str))


def _read_commas(found: ReadValues, of: str) -> None:
    """Numbers with a comma for the point, where nothing else is there: programs of half of Europe write them so."""
    texts = _texts(found)
    if not texts or not all(_COMMA(text) for text in texts) or all(len(t.rpartition(",")[2]) == 3 for t in texts):
        return
    found.values = [number_in(value.replace(",", ".")) if isinstance(value, str) else value for value in found.values]
    found.notes.append(f"{of}a comma is read as the decimal point ({listed(list(texts)[:_SHOWN])}).")


def _read_booleans(found: ReadValues, of: str) -> None:
    """True as 1 and false as 0 beside values of which all numbers are 1 and 0."""
    texts = _texts(found)
    if not ("true" in texts or "false" in texts):
        return
    numbers = {value for value in found.values if isinstance(value, int | float)}
    if numbers and numbers <= {0, 1}:
        found.values = [
            int(value == "true") if isinstance(value, str) and value in ("true", "false") else value
            for value in found.values
        ]
        found.notes.append(f"{of}true counts as 1 and false as 0, as the other values are 0 and 1.")


def _parted(value: Value, rule: ValueRule, declared: Collection[str]) -> Value:
    """A text as the list of what stands between delimiters, each once; a number is a set of one."""
    if value is None or isinstance(value, list | tuple) or (isinstance(value, str) and value.startswith("[")):
        return value
    parts = str(value).split(rule.delimiter) if isinstance(value, str) else [value]
    read = (read_value(part, rule, declared=declared) for part in parts)
    return list(dict.fromkeys(part for part in read if part is not None))


def _offer_sets(found: ReadValues, of: str) -> None:
    """Say that texts look like sets with a delimiter: two of them are one set, or few parts make many texts."""
    texts = [text for text in _texts(found) if not text.startswith(("[", "{"))]
    for delimiter in DELIMITERS:
        several = [text for text in texts if delimiter in text]
        if not several:
            continue
        parts = {text: tuple(trimmed(part) for part in text.split(delimiter)) for text in several}
        if any(not part or len(part) > 60 for of_text in parts.values() for part in of_text):
            continue
        same: dict[frozenset[str], list[str]] = {}
        for text, of_text in parts.items():
            same.setdefault(frozenset(of_text), []).append(text)
        twice = next((alike for alike in same.values() if len(alike) > 1), None)
        option = f"--delimiter {'newline' if delimiter == chr(10) else repr(delimiter)}"
        if twice:
            found.cautions.append(
                f"{of}{shown(twice[0])} and {shown(twice[1])} are two labels, and would be one set: {option} reads "
                "them as sets."
            )
            return
        often = Counter(part for of_text in parts.values() for part in of_text)
        singles = {text for text in texts if delimiter not in text}
        again = sum(n > 1 or part in singles for part, n in often.items())
        if delimiter in ";|\n" and 2 * again >= len(often):
            such = f"{count(len(several), 'label')} such as {shown(several[0])}"
            found.cautions.append(f"{of}{such} look like sets: {option} reads them so.")
            return


def folded(text: str) -> str:
    """A text by which those are one that differ only in case, in spaces or in Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def written_alike(texts: Iterable[str]) -> list[list[str]]:
    """The groups of texts that differ only in case, in spaces or in Unicode form, the most frequent of each first."""
    groups: dict[str, list[str]] = {}
    for text, _ in Counter(texts).most_common():
        groups.setdefault(folded(text), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _fold(found: ReadValues, rule: ValueRule, of: str, declared: Collection[str]) -> None:
    elements = [
        part
        for value in found.values
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, str) and not part.startswith(("[", "{"))
    ]
    groups = written_alike(elements)
    if not groups:
        return
    counted = Counter(elements)
    chosen = {text: next((one for one in group if one in declared), group[0]) for group in groups for text in group}
    said = "; ".join(
        ", ".join(f"{_visible(text)} ({counted[text]:,})" for text in group[:6]) for group in groups[:_SHOWN]
    )
    if rule.fold_case:
        found.values = [
            [chosen.get(part, part) if isinstance(part, str) else part for part in value]
            if isinstance(value, list)
            else chosen.get(value, value)
            if isinstance(value, str)
            else value
            for value in found.values
        ]
        found.notes.append(f"{of}labels that differ only in case or Unicode form are joined: {said}.")
    else:
        found.cautions.append(
            f"{of}labels differ only in case or Unicode form, and count as different: {said}. --fold-case joins them."
        )


def _visible(text: str) -> str:
    """A label in quotes, with its code points where another looks the same."""
    plain = unicodedata.normalize("NFC", text)
    return shown(text) if plain == text else f"{shown(text)} [{' '.join(f'U+{ord(sign):04X}' for sign in text)[:60]}]"


# Names ----------------------------------------------------------------------------------------------------------------

_AS_FLOAT = re.compile(r"([+-]?\d+)\.0+", re.ASCII).fullmatch


def read_names(cells: Sequence[object]) -> list[str | None]:
    """What a column of names says (units, raters, criteria): texts, whole numbers without a fraction, None where empty.

    `3.0` is the name 3 where every name is a number: pandas makes fractions of whole numbers where some are missing.
    Raises TypeError, with the place, for a cell that is no name.
    """
    made: list[str | None] = []
    for place, cell in enumerate(cells):
        if isinstance(cell, list | dict | set | tuple):
            raise TypeError(place)
        made.append(name_of(cell))
    kinds = {name for name in made if name is not None}
    if kinds and any(_AS_FLOAT(name) for name in kinds) and all(_NUMBER(name) for name in kinds):
        known = {name: _AS_FLOAT(name) for name in kinds}
        return [(found[1] if (found := known[name]) else name) if name is not None else None for name in made]
    return made


def name_of(cell: object) -> str | None:
    """One name; None where there is none."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        number = as_number(cell)
        return None if number is None else str(number)
    return day_of(trimmed(str(cell))) or None


def said_of_missing(missing: Counter[str]) -> str | None:
    """How many values are missing, and what stands in their place; None where none is."""
    if not missing:
        return None
    words = ", ".join(f"{word} {n:,}" for word, n in missing.most_common(12))
    return f"{count(sum(missing.values()), 'value is missing', 'values are missing')}: {words}."
