"""What annotators gave, counted: labels by annotator, confusion of two, and the units behind a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from annotators.agreement.statistics.reasons import shown
from annotators.agreement.tables.ratings import COMPOSED, Label, Ratings
from annotators.arrays import IntArray
from annotators.figures import held_in_words
from exports.agreement.study import CriterionReport

Counts = dict[tuple[str, str], int]
"""(label of the first, label of the second) → how many units."""


def word(label: Label) -> str:
    """A label as tables show it."""
    return shown(label) if isinstance(label, frozenset) else str(label)


def shares_by_rater(ratings: Ratings) -> dict[str, dict[str, float]]:
    """Annotator → label → its share of the annotator's labels; annotators without a label are left out."""
    labels = [word(label) for label in ratings.labels]
    cells = np.bincount(ratings.rater * len(labels) + ratings.code, minlength=len(ratings.raters) * len(labels))
    found = {}
    for rater, row in zip(ratings.raters, cells.reshape(-1, max(1, len(labels))), strict=False):
        if row.sum():
            found[str(rater)] = dict(zip(labels, (row / row.sum()).tolist(), strict=True))
    return found


def titled(report: CriterionReport, label: str) -> str:
    """A label with its title where it has another: `1 Strongly disagree`."""
    for known in report.criterion.label_list():
        if report.criterion.vote(known.value) == label and known.title and known.title != label:
            return f"{label} {known.title}"
    return label


def labels_by_part(report: CriterionReport, by: Literal["category", "system"]) -> dict[str, dict[str, int]]:
    """Category or system of the item → label with its title → how often it was given."""
    column = report.column
    parts = getattr(report.found.items, by)
    names = [titled(report, report.criterion.vote(value)) for value in column.distinct]
    found: dict[str, dict[str, int]] = {}
    for item, code in zip(column.item[column.unit].tolist(), column.value.tolist(), strict=True):
        given = found.setdefault(parts[item] or f"no {by}", {})
        given[names[code]] = given.get(names[code], 0) + 1
    return dict(sorted(found.items()))


def confusion(ratings: Ratings, first: int, second: int) -> Counts:
    """How often each pair of labels was given by two raters (their places) to a unit; empty when they share none."""
    a, b = ratings.by_rater(first), ratings.by_rater(second)
    _, at_a, at_b = np.intersect1d(ratings.unit[a], ratings.unit[b], assume_unique=True, return_indices=True)
    k = len(ratings.labels)
    cells = np.bincount(ratings.code[a[at_a]] * k + ratings.code[b[at_b]], minlength=0)
    return {
        (word(ratings.labels[cell // k]), word(ratings.labels[cell % k])): int(cells[cell])
        for cell in np.flatnonzero(cells).tolist()
    }


def held_by(ratings: Ratings, between: tuple[str, str]) -> str:
    """How many units the confusion of two raters (by their names) holds, of how many, and who labelled the rest."""
    first, second = (set(ratings.unit[ratings.by_rater(ratings.raters.index(name))].tolist()) for name in between)
    labelled = len(np.unique(ratings.unit))
    rest = {
        f"that only {between[0]} has labelled": len(first - second),
        f"that only {between[1]} has labelled": len(second - first),
        "that neither has": labelled - len(first | second),
    }
    return held_in_words(len(first & second), rest)


def confusions(ratings: Ratings) -> Iterator[tuple[tuple[str, str], Counts]]:
    """Each pair of annotators who share units, and how often each pair of labels was given."""
    for first, second in combinations(range(len(ratings.raters)), 2):
        counts = confusion(ratings, first, second)
        if counts:
            yield (str(ratings.raters[first]), str(ratings.raters[second])), counts


@dataclass(frozen=True)
class LabelCounts:
    """What annotators gave on one criterion: the share of each label by annotator, and the confusion of each pair.

    `held` says of each pair how many units its confusion holds (`held_by`).
    """

    shares: dict[str, dict[str, float]]
    confusions: dict[tuple[str, str], Counts]
    held: dict[tuple[str, str], str]


def label_counts(ratings: Ratings) -> LabelCounts:
    """What annotators gave, of all and of each pair."""
    pairs = dict(confusions(ratings))
    return LabelCounts(shares_by_rater(ratings), pairs, {pair: held_by(ratings, pair) for pair in pairs})


def confusion_of(ratings: Ratings, between: tuple[str, str]) -> Counts:
    """How often each pair of labels was given by two raters, by their names; of sets and texts there is none."""
    if ratings.scale in COMPOSED:
        return {}
    return confusion(ratings, *(ratings.raters.index(name) for name in between))


# Units ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """Which units: those on which people differ (`differing`), all that a pair labelled, with these labels, and so on.

    `between` names two annotators, `gave` what each of them gave; without them `label` is one that somebody gave.
    `category` and `system` are those of the item; "" is an item without a category.
    """

    differing: bool = True
    between: tuple[str, str] | None = None
    gave: tuple[str, str] | None = None
    label: str | None = None
    category: str | None = None
    system: str | None = None


@dataclass(frozen=True)
class UnitLabels:
    """One unit that was labelled, and what each rater gave."""

    item_id: int
    item: str
    target: str
    labels: dict[str, str]


@dataclass(frozen=True)
class UnitRows:
    """The first units of those that were asked for, and how many there are."""

    total: int
    units: list[UnitLabels]


def units_behind(report: CriterionReport, wanted: Wanted, most: int = 200) -> UnitRows:
    """The units of a criterion that a number rests on, in the order of the sample."""
    column = report.column
    written = [report.criterion.vote(value) for value in column.distinct]
    words = sorted(set(written))
    of_word = {word: place for place, word in enumerate(words)}
    code = np.array([of_word[word] for word in written], dtype=np.int64)[column.value]
    if not len(code):
        return UnitRows(0, [])
    starts = np.searchsorted(column.unit, np.arange(column.n_units))
    if wanted.between is not None:
        chosen = _between(report, wanted, code, of_word)
    else:
        chosen = np.ones(len(starts), dtype=bool)
        if wanted.differing:
            chosen = np.minimum.reduceat(code, starts) < np.maximum.reduceat(code, starts)
        if wanted.label is not None:
            chosen &= np.maximum.reduceat((code == of_word.get(wanted.label, -1)).astype(np.int64), starts) > 0
    for asked, given in (
        (wanted.category, report.found.items.category),
        (wanted.system, report.found.items.system),
    ):
        if asked is not None:
            of_item = np.array([(part or "") == asked for part in given], dtype=bool)
            chosen &= of_item[column.item]
    places = np.flatnonzero(chosen)
    stops = np.append(starts[1:], len(code))
    return UnitRows(
        len(places), [_unit(report, place, starts[place], stops[place]) for place in places[:most].tolist()]
    )


def _between(report: CriterionReport, wanted: Wanted, code: IntArray, of_word: dict[str, int]) -> npt.NDArray[np.bool_]:
    """Which units two annotators labelled, as it is wanted."""
    column = report.column
    sides = []
    for name in wanted.between or ():
        person = next((place for place, rater in enumerate(column.people) if report.found.names[rater] == name), -1)
        rows = np.flatnonzero(column.rater == person)
        given = np.full(column.n_units, -1, dtype=np.int64)
        given[column.unit[rows]] = code[rows]
        sides.append(given)
    a, b = sides
    if wanted.gave is not None:
        first, second = (of_word.get(word, -2) for word in wanted.gave)
        cell: npt.NDArray[np.bool_] = np.logical_and(a == first, b == second)
        return cell
    both: npt.NDArray[np.bool_] = np.logical_and(a >= 0, b >= 0)
    return both & (a != b) if wanted.differing else both


def _unit(report: CriterionReport, place: int, start: int, stop: int) -> UnitLabels:
    column, items = report.column, report.found.items
    item = int(column.item[place])
    labels = {
        report.found.names[column.people[column.rater[row]]]: report.criterion.vote(column.distinct[column.value[row]])
        for row in range(start, stop)
    }
    return UnitLabels(int(items.item[item]), items.external_id[item], column.target_of(place), labels)
