"""What a cell says, whatever file it came in: the one reading of values of all tables.

- Space around a text is none of it.
- Empty cells and the words of `MISSING`, whatever their case, say nothing; how many of which there are is said.
- A text that is a number is that number: `1`, `1.0` and `1e0` are one value.
- Where every text of a column is a number as people write it elsewhere (`0,5`, `1.200,5`, `12 %`), it is that number,
  and that is said; where two readings are possible (`1,200`), both are said and neither is taken.
- `true` and `false`, whatever their case, are the words true and false. Where yes and no are written in several ways
  (yes, y, true, t, 1) and nothing else stands there, they are one way of it, and that is said.
- An empty cell says what `empty` is, where that is given: of a column that has nothing but x, say, no.
- Labels that differ only in case, in spaces or in Unicode form are told, and one label with `fold_case`.
- With a `delimiter` a text is a set of what stands between; where texts look like it, that is offered.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from annotators.errors import shown
from annotators.figures import count

MISSING = (
    "na", "n/a", "n.a.", "nan", "nat", "none", "null", "nil", "#n/a", "#na", "<na>", "\\n", ".", "-", "--", "---", "–",
    "—", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!",
)  # fmt: skip
"""Words that stand for no value, in lower case."""

_MAY_BE_MISSING = frozenset(
    ("?", "missing", "not applicable", "not available", "no answer", "unanswered", "skip", "skipped", "k.a.",
     "keine angabe", "n.v.t.", "s.o.", "empty", "blank", "(blank)", "(empty)", "undefined", "n a", "#error!")
)  # fmt: skip
"""Words that are labels here, and stand for no value in many tables: said where there are some."""

_SENTINELS = frozenset((-1, -9, -88, -99, -999, -9999, 88, 99, 999, 9999))
"""Numbers that many programs write for no value."""

DELIMITERS = (";", "|", ",", "/", "\n")
_EMPTY = "(empty)"
_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060"
"""Signs without width, which stand at the ends of texts that were copied from pages."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII).fullmatch
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII).fullmatch
_PERCENT = re.compile(r"(.*\d)\s*%").fullmatch
_GROUPED = re.compile(
    r"[+-]?[1-9]\d{0,2}(?P<sign>[.,'’ \u00a0\u202f])\d{3}(?:(?P=sign)\d{3})*(?P<rest>[.,]\d+)?", re.ASCII
).fullmatch
_DECIMAL = re.compile(r"[+-]?\d+,\d+", re.ASCII).fullmatch
_OF_SCALE = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*(?:[-–—.:=)/(]\s*\S.*|\s\D.*)").fullmatch
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(\.\d*?)?0*", re.ASCII).fullmatch
_LARGEST = 1 << 53
_SHOWN = 4

Value = Any
"""A number, a text, a list (of a set), or None where nothing is said."""


@dataclass(frozen=True)
class ValueRule:
    """How values are read where it is to be otherwise: the words for missing ones, and what is joined or parted.

    `missing` None: those of `MISSING`. A word that is declared as a label is one. `empty` is what an empty cell says.
    """

    missing: tuple[str, ...] | None = None
    fold_case: bool = False
    delimiter: str | None = None
    empty: str | None = None

    def is_missing(self, text: str) -> bool:
        """Whether a text without space around it says nothing."""
        words = MISSING if self.missing is None else self.missing
        return not text or text.lower() in words

    @classmethod
    def of(
        cls,
        missing: str | None = None,
        *,
        fold_case: bool = False,
        delimiter: str | None = None,
        empty: str | None = None,
    ) -> ValueRule:
        """From what a command was given: words with commas between them."""
        words = None if missing is None else tuple(word.strip().lower() for word in missing.split(",") if word.strip())
        names = {"newline": "\n", "\\n": "\n", "tab": "\t", "\\t": "\t"}
        return cls(
            words, fold_case, names.get(delimiter, delimiter) if delimiter else None, (empty or "").strip() or None
        )


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
    """The number that a text without space around it is, a whole one as such; None where it is none.

    Digits of any script are digits, a minus sign is one, and so is what a spreadsheet marks as a text by an apostrophe.
    """
    if not _NUMBER(text):
        text = _plain_digits(text)
        if not _NUMBER(text):
            return None
    if _WHOLE(text) and len(text) < 400:
        return int(text)
    return as_number(float(text))


def _plain_digits(text: str) -> str:
    """A text with the digits and signs of ASCII, where that is all that may make a number of it."""
    if text[:1] in "'’" and len(text) < 40:
        text = text[1:]
    if text.isascii() or len(text) > 40:
        return text
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-").replace("\u066b", ".")
    return "".join(str(unicodedata.digit(sign)) if sign.isdigit() else sign for sign in text)


def as_number(number: float) -> int | float | None:
    """A number as all files have it: whole where it is, None where it is none."""
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN is not itself
        return None
    return int(number) if number.is_integer() and abs(number) < _LARGEST else number


def moment_of(text: str) -> str:
    """A text, but a moment as all files have it, and a midnight as its day: tables save them in several ways."""
    found = _MOMENT(text)
    if not found:
        return text
    day, time, rest = found[1], found[2] if len(found[2]) > 5 else f"{found[2]}:00", (found[3] or "").rstrip(".")
    return day if time == "00:00:00" and not rest else f"{day} {time}{rest}"


def read_value(cell: object, rule: ValueRule = USUAL, *, declared: Collection[str] = ()) -> Value:
    """What one cell says; lists stay as they are, and true and false are words."""
    if cell is None:
        return _empty_value(rule)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return _number_value(as_number(cell) if isinstance(cell, float) else cell, rule, declared)
    if not isinstance(cell, str):
        return cell
    text = trimmed(cell)
    if not text:
        return _empty_value(rule)
    if text not in declared and rule.is_missing(text):
        return None
    number = number_in(text)
    if number is not None:
        return _number_value(number, rule, declared)
    lower = text.lower()
    return lower if lower in ("true", "false") else moment_of(text)


def _empty_value(rule: ValueRule) -> Value:
    """What an empty cell says: nothing, but where a rule says otherwise."""
    return None if rule.empty is None else read_value(rule.empty)


def _number_value(number: float | None, rule: ValueRule, declared: Collection[str]) -> Value:
    """A number, but none that stands for no value, however it is written."""
    if rule.missing and str(number) in rule.missing and str(number) not in declared:
        return None
    return number


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
    _read_numbers(found, given, rule, of, declared)
    _read_truths(found, of, declared)
    if rule.delimiter is not None:
        found.values = [_parted(value, rule, declared) for value in found.values]
    else:
        _offer_sets(found, of)
    _say_what_may_mislead(found, rule, of, declared)
    _fold(found, rule, of, declared)
    return found


def _hashable(cell: object) -> bool:
    return isinstance(cell, str | int | float | bool | None)


def _texts(found: ReadValues) -> Counter[str]:
    return Counter(value for value in found.values if isinstance(value, str))


def _read_numbers(
    found: ReadValues, given: Sequence[object], rule: ValueRule, of: str, declared: Collection[str]
) -> None:
    """Numbers as they are written elsewhere: a comma for the point, groups of digits, percentages.

    They are read where every text of the column is one, and one reading is possible.
    """
    texts = _texts(found)
    if not texts or any(text in declared for text in texts) or not all(any(map(str.isdigit, text)) for text in texts):
        return
    percent = {text: match[1] for text in texts if (match := _PERCENT(text))}
    if percent and len(percent) < len(texts):
        return
    numbers = {value for value in found.values if isinstance(value, int | float)}
    if percent and any(abs(number) > 1 for number in numbers):
        found.cautions.append(
            f"{of}{shown(next(iter(percent)))} is a percentage and {max(numbers, key=abs)} is none, so that they count "
            "as two labels. Write all of them in one way."
        )
        return
    bare = dict(percent) if percent else {text: text for text in texts}
    # What else is a number may have a point between its groups, beside a comma that is the decimal one.
    written = {value: _number_text(cell) for value, cell in zip(found.values, given, strict=True) if value in numbers}
    decimal = _decimal_sign(list(bare.values()), [text for text in written.values() if text], rule)
    if decimal is None:
        return
    if decimal == "?":
        text = next(text for text in bare.values() if "," in text)
        both = sorted({_number_in(text, ","), _number_in(text, ".,")} - {None}, key=str)
        words = " or ".join(map(str, both)) or "a number"
        found.cautions.append(f"{of}{shown(text)} may be {words}, and is read as a text. Write it without the comma.")
        return
    read: dict[Any, int | float] = {}
    for text, plain in bare.items():
        number = _number_in(plain, decimal)
        if number is None:
            return
        read[text] = _hundredth(number) if percent else number
    for number, text in written.items():
        if decimal == "," and text and (again := _number_in(text, ",")) is not None:
            read[number] = again
    found.values = [read.get(value, value) if isinstance(value, str | int | float) else value for value in found.values]
    such = ", ".join(shown(text) for text in list(texts)[:_SHOWN])
    if percent:
        found.notes.append(f"{of}a percentage is read as a fraction of one ({such}).")
    if decimal == ",":
        found.notes.append(f"{of}a comma is read as the decimal point ({such}).")
    elif any(_GROUPED(text) for text in bare.values()):
        found.notes.append(f"{of}signs between groups of three digits are left out ({such}).")


def _number_text(cell: object) -> str:
    return trimmed(cell) if isinstance(cell, str) else ""


def _decimal_sign(texts: Sequence[str], beside: Sequence[str], rule: ValueRule) -> str | None:
    """Which sign stands before decimals in texts that are numbers: `,`, or `.`; `?` where either may; None: no numbers.

    `beside` are texts of the column that are numbers as they stand.
    """
    comma, point, either, others = False, False, False, False
    for text in texts:
        grouped, plain = _GROUPED(text), _DECIMAL(text)
        if grouped and grouped["rest"]:
            comma, point = comma or grouped["rest"][0] == ",", point or grouped["rest"][0] == "."
        elif grouped and grouped["sign"] == "," and text.count(",") == 1:
            either = True
        elif grouped:
            comma, point = comma or grouped["sign"] == ".", point or grouped["sign"] == ","
            others = True
        elif plain:
            comma = True
        elif number_in(text) is None:
            return None
    if (comma or either) and rule.delimiter == ",":
        return None
    if either and not comma:
        # A point elsewhere is the decimal one, and so large a number beside is none that a comma makes smaller.
        point = point or any("." in text or len(text.lstrip("+-")) >= 3 for text in (*beside, *texts) if _NUMBER(text))
        if not point:
            return "?"
    if comma and point:
        return None
    return "," if comma else "." if point or others or all(number_in(text) is not None for text in texts) else None


def _number_in(text: str, decimal: str) -> int | float | None:
    """The number that a text is where this sign (the last of several) stands before decimals."""
    if decimal == ".,":
        return number_in(text.replace(",", "."))
    if (number := number_in(text)) is not None and not (decimal == "," and _GROUPED(text)):
        return number
    if grouped := _GROUPED(text):
        if grouped["sign"] == decimal:
            return number_in(text.replace(decimal, "."))
        if grouped["rest"] and grouped["rest"][0] != decimal:
            return None
        whole = text.replace(grouped["sign"], "")
        return number_in(whole.replace(decimal, "."))
    return number_in(text.replace(",", ".")) if decimal == "," and _DECIMAL(text) else None


def _hundredth(number: float) -> int | float:
    """A percentage as a fraction, in the digits that it has."""
    return as_number(float(Decimal(str(number)).scaleb(-2))) or 0


_TRUTHS = {
    "1": ("1", True), "0": ("1", False), "true": ("true", True), "false": ("true", False),
    "t": ("t", True), "f": ("t", False), "yes": ("yes", True), "no": ("yes", False), "y": ("y", True),
    "n": ("y", False),
}  # fmt: skip
"""Words of yes and no, in lower case → which pair of words they are of, and which of the two."""

TRUTHS = {word: is_yes for word, (_, is_yes) in _TRUTHS.items()}
"""Words of yes and no, in lower case → whether they say yes."""


def _read_truths(found: ReadValues, of: str, declared: Collection[str]) -> None:
    """Yes and no as one pair of words where they are written in several, and nothing else stands there.

    They become the words that are declared, else 1 and 0 where some are numbers, else the most frequent words.
    """
    texts = _texts(found)
    values = {value for value in found.values if isinstance(value, str | int | float)}
    known = {value: _TRUTHS.get(str(value).lower()) for value in values}
    if not texts or any(truth is None for truth in known.values()):
        return
    pairs = {truth[0] for truth in known.values() if truth}
    of_declared = {bool(_TRUTHS[text.lower()][1]): text for text in declared if text.lower() in _TRUTHS}
    if len(declared) == len(of_declared) == 2 and not set(map(str, values)) <= set(declared):
        words: dict[bool, Any] = {is_yes: read_value(text, declared=declared) for is_yes, text in of_declared.items()}
    elif len(pairs) < 2:
        return
    elif "1" in pairs:
        words = {True: 1, False: 0}
    else:
        pair = Counter(truth[0] for value in found.values if isinstance(value, str) and (truth := known[value]))
        best = pair.most_common(1)[0][0]
        often = [text for text, _ in texts.most_common() if _TRUTHS[text.lower()][0] == best]
        usual = {is_yes: word for word, (name, is_yes) in _TRUTHS.items() if name == best}
        words = {is_yes: next((text for text in often if _TRUTHS[text.lower()][1] is is_yes), usual[is_yes])
                 for is_yes in (True, False)}  # fmt: skip
    made = {value: words[truth[1]] for value, truth in known.items() if truth}
    joined: dict[bool, list[str]] = {True: [], False: []}
    for value, truth in known.items():
        if truth and str(value) not in joined[truth[1]]:
            joined[truth[1]].append(str(value))
    joined = {is_yes: sorted(several) for is_yes, several in joined.items()}
    found.values = [made.get(value, value) if isinstance(value, str | int | float) else value for value in found.values]
    said = " and ".join(
        f"{', '.join(several)} {'counts' if len(several) == 1 else 'count'} as {words[is_yes]}"
        for is_yes, several in joined.items()
        if several
    )
    found.notes.append(f"{of}{said}, as nothing but yes and no stands there.")


def _say_what_may_mislead(found: ReadValues, rule: ValueRule, of: str, declared: Collection[str]) -> None:
    """Cautions about values that many tables have for no value, for no, or for a grade that also stands otherwise."""
    counted = Counter(value for value in found.values if isinstance(value, str | int | float))
    texts = [value for value in counted if isinstance(value, str)]
    numbers = [value for value in counted if not isinstance(value, str)]
    words = [text for text in texts if text not in declared and (
        text.lower() in _MAY_BE_MISSING or (rule.missing and text.lower() in MISSING)
    )]  # fmt: skip
    if words:
        said = ", ".join(f"{shown(word)} ({counted[word]:,})" for word in words[:_SHOWN])
        found.cautions.append(
            f"{of}{said} {'counts as a label' if len(words) == 1 else 'count as labels'}. Where that means a missing "
            f"value, say so with --missing {shlex.quote(','.join(words))}."
        )
    odd = [number for number in numbers if number in _SENTINELS and str(number) not in declared]
    usual = [number for number in numbers if number not in odd]
    apart = len(odd) == 1 and len(usual) >= 2 and min(usual) >= 0 and max(usual) <= 20 and not texts
    if apart and (odd[0] != -1 or max(usual) >= 3):  # from -1 to 1 or 2 is a scale
        found.cautions.append(
            f"{of}{odd[0]} ({counted[odd[0]]:,}) stands beside values from {min(usual)} to {max(usual)}. If it means "
            f"a missing value, say so with --missing={odd[0]}."
        )
    empty = found.missing.get(_EMPTY, 0)
    if len(counted) == 1 and empty and counted.total() > 1 and rule.empty is None and not declared:
        only = next(iter(counted))
        found.cautions.append(
            f"{of}every value is {shown(only)}, and {count(empty, 'cell is empty', 'cells are empty')}, which count as "
            "missing. If an empty cell means no, say so with --empty no."
        )
    if texts and numbers:
        graded = {text: number_in(match[1]) for text in texts if (match := _OF_SCALE(text))}
        alike = next((text for text, number in graded.items() if number in counted), None)
        if alike is not None:
            found.cautions.append(
                f"{of}{shown(alike)} and {graded[alike]} may be one label, and count as different. Write both alike."
            )


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
    return moment_of(trimmed(str(cell))) or None


def said_of_missing(missing: Counter[str]) -> str | None:
    """How many values are missing, and what stands in their place; None where none is."""
    if not missing:
        return None
    words = ", ".join(f"{word} {n:,}" for word, n in missing.most_common(12))
    return f"{count(sum(missing.values()), 'value is missing', 'values are missing')}: {words}."
