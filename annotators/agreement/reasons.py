"""Why a statistic is not defined, in words: the same ones in every table, JSON and report."""

from __future__ import annotations

import numpy as np

from annotators.agreement.catalogue import Entry
from annotators.agreement.patterns import Cells
from annotators.agreement.table import FloatArray, IntArray, Label, Ratings

NOTHING_LEFT = "observed and chance agreement leave nothing to measure (0/0)"
NO_VARIANCE = "the numbers do not vary enough between units and raters to tell the variances apart"
NO_PAIR_DEFINED = "Cohen's κ is undefined for every pair of raters"
NO_SPREAD = "one of the two raters gave one label throughout"
ALL_EMPTY = "every set is empty, so that there is nothing to find"


def too_few(ratings: Ratings) -> str | None:
    """Why no agreement at all can be measured, or None."""
    if not ratings.n_ratings:
        return "there are no ratings"
    if ratings.numbers_at(1)[1] == 1:
        return "only one rater has rated, and agreement needs two"
    if ratings.sizes.max() < 2:
        return "no unit was rated by two raters"
    return None


def misfit(ratings: Ratings, entry: Entry, *, any_scale: bool) -> str | None:
    """Why a statistic does not fit the labels, or None; `any_scale` takes labels in order, or by rank, on any scale."""
    if entry.needs == "sets":
        return None if ratings.scale == "set" else "the labels are not sets"
    if entry.needs == "texts":
        return None if ratings.scale == "text" else "the labels are not texts"
    if entry.needs == "nothing":
        return None
    if ratings.scale in ("set", "text"):
        return f"the labels are {ratings.scale}s, which have no order"
    if not any_scale:
        if ratings.scale == "nominal":
            return "the scale is nominal, and its labels have no order"
        if entry.needs in ("numbers", "ratio") and not ratings.numeric:
            return "the labels are not numbers"
    if entry.needs == "ratio" and ratings.numbers.min(initial=0.0) < 0:
        return f"a ratio scale starts at 0, and there is {ratings.numbers.min():g}"
    return None


def of_counts(ratings: Ratings, marginals: FloatArray, n_units: int, entry: Entry, *, any_scale: bool) -> str | None:
    """Why a coefficient of counts is undefined, or None, from the ratings that count in it."""
    reason = too_few(ratings) or misfit(ratings, entry, any_scale=any_scale)
    if reason:
        return reason
    used = np.flatnonzero(marginals)
    if entry.declared and len(ratings.labels) == 1:
        return f"{every(ratings.labels[0])}, and no other label is declared that could have been given"
    if not entry.estimated:
        return None
    if n_units == 1:
        return "only one unit was rated by two raters, so that chance agreement cannot be told from agreement"
    if len(used) == 1 and not entry.declared:
        return f"{every(ratings.labels[used[0]])}, so that agreement and chance agreement are both complete (0/0)"
    return None


def of_pair(ratings: Ratings, cells: Cells, shared: int, *, correlation: bool = False) -> str | None:
    """Why κ, π or (`correlation`) a correlation of one pair of raters is undefined, or None."""
    if shared == 0:
        return "the two raters share no unit"
    if shared == 1:
        return "the two raters share only one unit, so that chance agreement cannot be told from agreement"
    if len(cells.a) == 1 and cells.a[0] == cells.b[0]:
        return f"both raters gave {shown(ratings.labels[cells.a[0]])} to every unit that they share (0/0)"
    if correlation and 1 in (len(np.unique(cells.a)), len(np.unique(cells.b))):
        return NO_SPREAD
    return None


def defined_pairs(ratings: Ratings, cells: Cells) -> tuple[IntArray, int]:
    """The pairs whose κ is defined, by the rules of `of_pair`, and how many are not."""
    pairs, shared = cells.shared()
    first = np.searchsorted(cells.pair, pairs)
    one_cell = np.diff(np.r_[first, len(cells.pair)]) == 1
    constant = one_cell & (cells.a[first] == cells.b[first])
    defined = pairs[(shared > 1) & ~constant]
    return defined, len(ratings.raters) * (len(ratings.raters) - 1) // 2 - len(defined)


def unused(label: Label) -> str:
    """Why a label that nobody used has no agreement."""
    return f"nobody used the label {shown(label)} on a unit with two ratings"


def every(label: Label) -> str:
    """That all ratings are one label."""
    return f"every rating is {shown(label)}"


def shown(label: Label) -> str:
    """A label as words show it; a set by its elements."""
    if isinstance(label, frozenset):
        return "{" + ", ".join(sorted(str(element) for element in label)) + "}"
    return f'"{label}"'
