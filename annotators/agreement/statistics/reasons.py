"""Why a statistic is not defined, in words: the same ones in every table, JSON and report."""

from __future__ import annotations

from annotators.agreement.tables.patterns import Cells
from annotators.agreement.tables.ratings import COMPOSED, Label, Ratings
from annotators.arrays import FloatArray, np

NOTHING_LEFT = "observed and chance agreement leave nothing to measure (0/0)"
NO_VARIANCE = "the numbers do not vary enough between units and raters to tell the variances apart"
NO_ERROR = (
    "beside what units and raters differ by there is no error at all, which says nothing of how much there may be"
)
NOT_APART = "too few units have raters in common to tell differences between raters from error: read ICC(1,1)"
NO_SPREAD = "one of the two raters gave one label throughout"
ALL_EMPTY = "every set is empty, so that there is nothing to find"
NOTHING_MARKED = "nobody marked anything, so that there is nothing to find"
ALL_MARKED_ALIKE = "nothing is marked, or all of it with one label, so that chance agreement is complete (0/0)"
NO_LENGTHS = "the lengths of the texts are not known: they are where the labels belong to a study"
NOTHING_ORDERED = "no unit has two things that could be ordered in two ways"
NO_UNIT_SHARED = "the two raters share no unit"
BOXES_DIFFER = "boxes are never drawn alike to the last digit: read the F1 between raters"
NO_OWN_WEIGHTS = "it needs own weights for this criterion (--weights): a row and a column a label"
BOTH_COMPLETE = "agreement and chance agreement are both complete (0/0)"
NO_VARIANCE_TO_SHARE = "there is no variance to share out (0/0)"
"""What follows from one label throughout."""


def too_few(ratings: Ratings) -> str | None:
    """Why no agreement at all can be measured, or None."""
    if not ratings.n_ratings:
        return "there are no ratings"
    if ratings.numbers_at(1)[1] == 1:
        return "only one rater has rated, and agreement needs two"
    if ratings.sizes.max() < 2:
        return "no unit was rated by two raters"
    return None


def misfit(ratings: Ratings, needs: str, *, any_scale: bool) -> str | None:
    """Why the labels are not what a coefficient needs, or None; `any_scale`: see `Coefficient.misfit`."""
    if needs == "sets":
        return None if ratings.scale == "set" else "the labels are not sets"
    if needs == "texts":
        return None if ratings.scale == "text" else "the labels are not texts"
    if needs == "rankings":
        return None if ratings.scale == "ranking" else "the labels are not rankings"
    if needs == "spans":
        return None if ratings.scale == "spans" else "the labels are not stretches of a text"
    if needs == "nothing":
        return None
    if ratings.scale in COMPOSED:
        return f"the labels are {ratings.scale.removesuffix('s')}s, which have no order"
    if not any_scale:
        if ratings.scale == "nominal":
            return "the scale is nominal, and its labels have no order"
        if needs in ("numbers", "ratio") and not ratings.numeric:
            return "the labels are not numbers"
    if needs == "ratio" and ratings.numbers.min(initial=0.0) < 0:
        return f"a ratio scale starts at 0, and there is {ratings.numbers.min():g}"
    return None


def of_counts(
    ratings: Ratings,
    marginals: FloatArray,
    n_units: int,
    *,
    misfit: str | None,
    declared: bool = False,
    estimated: bool = True,
    constant: str = BOTH_COMPLETE,
) -> str | None:
    """Why a coefficient of counts is undefined, or None, from the use of the labels and the units that count in it.

    `misfit` is why it does not fit the labels, `declared` and `estimated` are those of the coefficient, and `constant`
    is what follows for it from one label throughout.
    """
    reason = too_few(ratings) or misfit
    if reason:
        return reason
    used = np.flatnonzero(marginals)
    if declared and len(ratings.labels) == 1:
        return f"{every(ratings.labels[0])}, and no other label is declared that could have been given"
    if not estimated:
        return None
    if n_units == 1 and not declared:
        return "only one unit was rated by two raters, so that chance agreement cannot be told from agreement"
    if len(used) == 1 and not declared:
        return f"{every(ratings.labels[used[0]])}, so that {constant}"
    return None


def of_pair(
    ratings: Ratings, cells: Cells, shared: int, *, correlation: bool = False, least_shared: int = 2
) -> str | None:
    """Why κ, π or (`correlation`) a correlation of one pair of raters is undefined, or None."""
    if shared == 0:
        return NO_UNIT_SHARED
    if shared < least_shared and ratings.numbers_at(2)[1] > 2 and not ratings.is_complete:
        units = "only one unit" if shared == 1 else f"only {shared:,} units"
        return f"the two raters share {units}, and a κ of one pair of several needs {least_shared:,}"
    if shared == 1:
        return "the two raters share only one unit, so that chance agreement cannot be told from agreement"
    if len(cells.a) == 1 and cells.a[0] == cells.b[0]:
        return f"both raters gave {shown(ratings.labels[cells.a[0]])} to every unit that they share (0/0)"
    if correlation and 1 in (len(np.unique(cells.a)), len(np.unique(cells.b))):
        return NO_SPREAD
    return None


def pairs_without_kappa(ratings: Ratings, cells: Cells, least_shared: int) -> str | None:
    """Why not every pair of raters has a κ, by the rules of `of_pair`, or None when all have one.

    A mean over the pairs that have one would be a mean over the pairs that happened to disagree: κ is 0/0 exactly where
    both gave one label throughout, and in a sparse crowd that is most of the pairs that agree.
    """
    n = ratings.numbers_at(2)[1]
    every_pair = n * (n - 1) // 2
    pairs, shared = cells.shared()
    first = np.searchsorted(cells.pair, pairs)
    one_cell = np.diff(np.r_[first, len(cells.pair)]) == 1
    enough = shared >= (2 if n == 2 or ratings.is_complete else least_shared)
    constant = int((enough & one_cell & (cells.a[first] == cells.b[first])).sum())
    few = every_pair - int(enough.sum())
    if not few + constant:
        return None
    why = [f"{few:,} share fewer than {least_shared:,} units"] * bool(few)
    why += [f"{constant:,} gave one label throughout (0/0)"] * bool(constant)
    return (
        f"of {every_pair:,} pairs of raters {few + constant:,} {'has' if few + constant == 1 else 'have'} no κ "
        f"({', '.join(why)}), and a mean of the others would leave out agreement: read α, which takes gaps"
    )


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


def too_many_labels(ratings: Ratings, name: str) -> str:
    """Why "all" does not list what has one entry a label."""
    return f"there are {len(ratings.labels):,} labels: ask for {name} by name to list them all"


def too_many_pairs(pairs: int, name: str) -> str:
    """Why "all" does not list what has one entry a pair of raters."""
    return f"there are {pairs:,} pairs of raters: ask for {name} by name to list them all"
