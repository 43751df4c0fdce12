"""Designs of equal cost: how many items, how many raters an item, how many items rated by several, with which widths.

From a pilot come three variances: of what raters say of an item on average (B, between items), of what the predictions
leave of that (R), and of one label about it (σ², within items). A mean from n of N items with m_i labels each has the
variance

    R (1/n - 1/N) + b B / N + σ² mean(1/m_i) / n,

with b the share of the population that is not among the items, and B for R where predictions are not used (two-stage
sampling: Cochran 1977, Sampling Techniques, chapter 10; the gain of R over B is the difference estimator's). At equal
labels one rater an item is never worse than several (the same chapter, on the optimum size of a subsample: with labels
of one price and items that cost nothing it is 1). What it cannot give is the agreement: that needs items which several
rated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from annotators.arrays import np, stats
from annotators.estimates.means import CLASSICAL, POWERED, Mean, mean_of
from annotators.estimates.planning import FEWEST, check_width
from annotators.estimates.sample import Units

FEWEST_SEVERAL = 5
"""Items of a pilot that several rated from which one can say what raters differ by."""
FEWEST_FOR_AGREEMENT = 10
"""Items that several rate from which on a design is said to measure agreement."""


@dataclass(frozen=True)
class Components:
    """The variances of a pilot's labels: `between` items, the `residual` of predictions, `within` items; and its size.

    `stretch` and `stretch_predicted` are how many times the variance of the mean is what these say, as items of one
    cluster are alike or were drawn unevenly.
    """

    between: float
    residual: float
    within: float
    items: int
    several: int
    stretch: float
    stretch_predicted: float

    @property
    def icc(self) -> float | None:
        """The share of one label's variance that is the items': the intraclass correlation of single labels."""
        whole = self.between + self.within
        return self.between / whole if whole > 0 else None

    @property
    def r2(self) -> float | None:
        """The share of one label's variance that the predictions explain."""
        whole = self.between + self.within
        return (self.between - self.residual) / whole if whole > 0 else None


@dataclass(frozen=True)
class Design:
    """`raters` an item, and `several` instead for a `part` (0..1) of the items, drawn at random."""

    raters: int
    part: float = 0.0
    several: int = 0

    @property
    def per_item(self) -> float:
        """How many labels an item takes."""
        return self.raters + self.part * max(0, self.several - self.raters)

    @property
    def noise(self) -> float:
        """The mean of one over the labels of an item: what is left of σ²."""
        return (1 - self.part) / self.raters + (self.part / self.several if self.part else 0.0)

    def rated_by_several(self, items: int) -> tuple[int, int]:
        """How many of so many items have several labels, and how many these have."""
        if self.part:
            return math.ceil(self.part * items - 1e-9), self.several
        return (items, self.raters) if self.raters > 1 else (0, 0)

    def measures_agreement(self, items: int) -> bool:
        """Whether so many items leave enough that several rate to measure agreement on."""
        return self.rated_by_several(items)[0] >= FEWEST_FOR_AGREEMENT

    @property
    def in_words(self) -> str:
        """ "1 rater, a drawn 10 % with 3"."""
        base = f"{self.raters} rater{'s' * (self.raters != 1)}"
        return f"{base}, a drawn {100 * self.part:g} % with {self.several}" if self.part else base


DESIGNS = (Design(3), Design(2), Design(1, 0.2, 2), Design(1, 0.1, 3), Design(1, 0.1, 2), Design(1))
"""What is compared: as reviewers ask for it, and with less and less spent on the same item twice."""


@dataclass(frozen=True)
class PlannedDesign:
    """One design with so many labels: `items`, the widths of the mean's interval, and what agreement is known to.

    `width` is of labels alone, `width_predicted` with predictions (None without any). `several` items have labels of
    several, by which the intraclass correlation is known in an interval `agreement_width` wide. `items_needed` and
    `labels_needed` are for the wanted width, `…_predicted` with predictions; None where not all items would do.
    """

    design: Design
    labels: int
    items: int
    width: float | None
    width_predicted: float | None
    several: int
    agreement_width: float | None
    items_needed: int | None = None
    labels_needed: int | None = None
    items_needed_predicted: int | None = None
    labels_needed_predicted: int | None = None

    @property
    def fewest(self) -> int | None:
        """The fewest labels that give the wanted width, with predictions or without."""
        known = [n for n in (self.labels_needed, self.labels_needed_predicted) if n is not None]
        return min(known) if known else None

    @property
    def items_of_fewest(self) -> int | None:
        """How many items these are."""
        if self.fewest is None:
            return None
        return self.items_needed_predicted if self.fewest == self.labels_needed_predicted else self.items_needed

    def to_json(self) -> dict[str, Any]:
        """As `assay estimate --json` has it."""
        return {
            "raters": self.design.raters,
            "part": self.design.part or None,
            "part_overlap": self.design.several or None,
            "items": self.items,
            "labels": self.labels,
            "width": self.width,
            "width_predicted": self.width_predicted,
            "items_by_several": self.several,
            "agreement_width": self.agreement_width,
            "items_needed": self.items_needed,
            "labels_needed": self.labels_needed,
            "items_needed_predicted": self.items_needed_predicted,
            "labels_needed_predicted": self.labels_needed_predicted,
        }


@dataclass(frozen=True)
class DesignPlan:
    """Designs at equal labels, from a pilot; without its components the `reason` says what it lacks.

    `labels` is how many each design may spend, `width` the wanted width of the interval (high less low).
    """

    labels: int
    width: float | None
    level: float
    components: Components | None
    rows: Sequence[PlannedDesign]
    reason: str | None = None

    @cached_property
    def cheapest(self) -> PlannedDesign | None:
        """The design with the fewest labels for the wanted width; of several, that which measures agreement best."""
        return self._cheapest(self.rows)

    @cached_property
    def cheapest_with_agreement(self) -> PlannedDesign | None:
        """The same among the designs of which so many labels leave agreement to be measured."""
        return self._cheapest([row for row in self.rows if row.design.measures_agreement(row.items_of_fewest or 0)])

    @staticmethod
    def _cheapest(rows: Sequence[PlannedDesign]) -> PlannedDesign | None:
        fit = [row for row in rows if row.fewest is not None]
        return min(fit, key=lambda row: (row.fewest or 0, row.agreement_width or math.inf), default=None)

    @cached_property
    def best_with_agreement(self) -> PlannedDesign | None:
        """The design with the shortest interval at equal labels among those that measure agreement."""
        fit = [row for row in self.rows if row.agreement_width is not None and _narrowest(row) is not None]
        return min(fit, key=lambda row: _narrowest(row) or math.inf, default=None)

    def to_json(self) -> dict[str, Any]:
        """As `assay estimate --json` has it."""
        known = self.components
        return {
            "labels": self.labels,
            "width": self.width,
            "reason": self.reason,
            "icc": None if known is None else known.icc,
            "between": None if known is None else known.between,
            "within": None if known is None else known.within,
            "residual": None if known is None else known.residual,
            "items_by_several": None if known is None else known.several,
            "rows": [row.to_json() for row in self.rows],
            "cheapest": None if self.cheapest is None else self.cheapest.to_json(),
            "cheapest_with_agreement": (
                None if self.cheapest_with_agreement is None else self.cheapest_with_agreement.to_json()
            ),
        }


def _narrowest(row: PlannedDesign) -> float | None:
    known = [width for width in (row.width, row.width_predicted) if width is not None]
    return min(known) if known else None


def components_of(units: Units) -> Components | str:
    """The variances of a pilot, or what it lacks."""
    made = mean_of(units)
    if made.reason is not None:
        return made.reason
    if units.n_labelled < FEWEST:
        return f"a pilot of {units.n_labelled} labelled items says too little: label at least {FEWEST}"
    if units.noise is None or units.n_several < FEWEST_SEVERAL:
        return (
            f"{units.n_several} item{'s' * (units.n_several != 1)} of the pilot "
            f"{'have' if units.n_several != 1 else 'has'} labels of several raters; {FEWEST_SEVERAL} are needed to say "
            "what raters differ by"
        )
    assert made.limits is not None
    parts = made.limits.parts
    share = np.abs(parts.own) / np.abs(parts.own).sum()
    counts = np.maximum(units.labels.counts(units.n), 1) if units.labels is not None else np.ones(units.n)
    of_raters = float(share @ (units.noise.variance / counts))
    # What predictions are worth to a study of which not every item is labelled, also where all of the pilot's are.
    factors = np.zeros(parts.n_strata)
    if units.predicted.fitted and not made.limits.few_of_a_label:
        factors = replace(parts, open=np.ones(units.n)).tuned()
    predicted = factors[parts.stratum] * parts.metric
    between = max(0.0, parts.variance(parts.human) - of_raters)
    residual = min(between, max(0.0, parts.variance(parts.human - predicted) - of_raters))
    found = Components(between, residual, units.noise.variance, units.n_labelled, units.n_several, 1.0, 1.0)
    noise = float(share @ (1 / counts))
    return replace(
        found,
        stretch=_stretch(found, made, units, noise, predicted=False),
        stretch_predicted=_stretch(found, made, units, noise, predicted=True),
    )


def _stretch(found: Components, made: Mean, units: Units, noise: float, *, predicted: bool) -> float:
    """How many times the variance of the pilot's own mean is what the components say of it."""
    powered = predicted and bool((made.factors > 0).any())
    kind = POWERED if powered else CLASSICAL
    said = _variance(found, units, units.n_labelled, noise, predicted=powered)
    return made.error(kind) ** 2 / said if said > 0 else 1.0


def _variance(found: Components, units: Units, items: int, noise: float, *, predicted: bool) -> float:
    left = found.residual if predicted else found.between
    size = max(units.n, items)
    return left * (1 / items - 1 / size) + units.beyond * found.between / size + found.within * noise / items


def planned_designs(
    units: Units,
    *,
    labels: int | None = None,
    width: float | None = None,
    level: float = 0.95,
    designs: Sequence[Design] = DESIGNS,
) -> DesignPlan:
    """Each design with so many labels, and how many it takes for a wanted width.

    `labels` None: as many as the pilot has, but no more than one for each of these units, which is all that one rater
    can give.

    The interval reaches t standard errors to either side with one degree of freedom less than items. What agreement is
    known to is the width of the F interval of the intraclass correlation of single labels, ICC(1), at the pilot's value
    (Shrout & Fleiss 1979, Psychological Bulletin 86, 420-428); Krippendorff's α of numbers, and of yes and no, is as
    wide (it differs from ICC(1) by less than one over the number of labels).
    """
    if width is not None:
        check_width(width)
    spent = min(units.n_ratings, units.n) if labels is None else labels
    found = components_of(units)
    if isinstance(found, str):
        return DesignPlan(spent, width, level, None, (), found)
    helps = found.residual < found.between
    rows = []
    for design in designs:
        items = min(units.n, int(spent / design.per_item + 1e-9))
        several, each = design.rated_by_several(items)
        row = PlannedDesign(
            design,
            round(items * design.per_item),
            items,
            _width(found, units, items, design, level, predicted=False),
            _width(found, units, items, design, level, predicted=True) if helps else None,
            several,
            agreement_width(found.icc, several, each, level),
        )
        if width is not None:
            alone = _items_for(found, units, design, width, level, predicted=False)
            powered = _items_for(found, units, design, width, level, predicted=True) if helps else None
            row = replace(
                row,
                items_needed=alone,
                labels_needed=None if alone is None else math.ceil(alone * design.per_item - 1e-9),
                items_needed_predicted=powered,
                labels_needed_predicted=None if powered is None else math.ceil(powered * design.per_item - 1e-9),
            )
        rows.append(row)
    return DesignPlan(spent, width, level, found, tuple(rows))


def _width(
    found: Components, units: Units, items: int, design: Design, level: float, *, predicted: bool
) -> float | None:
    """The width that the interval of the mean is to have; None for fewer than two items."""
    if items < 2:
        return None
    stretch = found.stretch_predicted if predicted else found.stretch
    variance = stretch * _variance(found, units, items, design.noise, predicted=predicted)
    return 2 * float(stats.t.ppf((1 + level) / 2, items - 1)) * math.sqrt(variance)


def _items_for(
    found: Components, units: Units, design: Design, width: float, level: float, *, predicted: bool
) -> int | None:
    """The fewest items that give this width; None where all would not do."""

    def fits(items: int) -> bool:
        reached = _width(found, units, items, design, level, predicted=predicted)
        return reached is not None and reached <= width

    low, high = 2, units.n
    if not fits(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return high


def agreement_width(icc: float | None, items: int, raters: int, level: float = 0.95) -> float | None:
    """How wide the F interval of ICC(1) is to be, at this value of it; None with fewer than ten items by several."""
    if icc is None or raters < 2 or items < FEWEST_FOR_AGREEMENT:
        return None
    inside = min(icc, 0.999)
    ratio = (1 + (raters - 1) * inside) / (1 - inside)
    above, below = items - 1, items * (raters - 1)
    low = ratio / float(stats.f.ppf((1 + level) / 2, above, below))
    high = ratio * float(stats.f.ppf((1 + level) / 2, below, above))
    ends = [(value - 1) / (value + raters - 1) for value in (low, high)]
    return ends[1] - max(ends[0], -1 / (raters - 1))
