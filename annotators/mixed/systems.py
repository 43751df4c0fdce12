"""Systems compared by people's labels: their means, every difference, and what else labels differ by."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from annotators.arrays import BoolArray, FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.figures import count, number
from annotators.intervals.equivalence import check_margin, tested, with_verdicts
from annotators.intervals.multiplicity import adjusted
from annotators.intervals.result import FIXED_RATERS, RANDOM_RATERS, Aligned, Interval, Raters
from annotators.intervals.shares import FEW_DIFFER, wilson_ends
from annotators.mixed.linear import LinearFit, Terms, fit_linear

MEAN, DIFFERENCE, EQUIVALENCE = "system_mean", "system_difference", "system_equivalence"
MIXED = "mixed model"
FEW_RATERS = 5
"""Below so many raters little is known of how raters differ: docs/statistics.md."""
LEAST_QUESTIONS = 10
"""Of fewer questions there is no interval: the simulations begin at 20."""
MOST_SYSTEMS = 20
"""Of more systems there are 190 differences, which nobody reads."""
TITLES = {
    "question": "question",
    "answer": "answer (question × system)",
    "rater": "rater",
    "rater × system": "rater × system",
    "error": "error",
}
"""What labels differ by → how tables call it."""


@dataclass(frozen=True, eq=False)
class SystemLabels:
    """n labels in columns of codes from 0: which system's answer, to which question, by whom; with the names of both.

    `answer` is what was judged: a system's answer to a question. `scale` has the ends of the labels, None for numbers
    without any.
    """

    value: FloatArray
    system: IntArray
    question: IntArray
    answer: IntArray
    rater: IntArray
    systems: tuple[str, ...]
    scale: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        systems: Sequence[str],
        questions: Sequence[Hashable],
        raters: Sequence[Hashable],
        *,
        answers: Sequence[Hashable] | None = None,
        scale: tuple[float, float] | None = None,
    ) -> SystemLabels:
        """Of columns with one entry a label. Without `answers` a system has one answer to a question."""
        names = tuple(sorted(set(systems)))
        place = {name: at for at, name in enumerate(names)}
        owners = list(zip(questions, systems, strict=True))
        return cls(
            np.asarray(values, dtype=np.float64),
            np.array([place[name] for name in systems], dtype=np.int64),
            _codes(questions),
            # An answer belongs to one question and system, whatever it is called.
            _codes(owners if answers is None else list(zip(owners, answers, strict=True))),
            _codes(raters),
            names,
            scale,
        )

    @property
    def n_raters(self) -> int:
        """How many people gave a label."""
        return len(np.unique(self.rater))

    def chosen(self, rows: BoolArray) -> SystemLabels:
        """Only these labels, the codes of questions, answers and raters numbered anew."""
        anew = [np.unique(codes[rows], return_inverse=True)[1] for codes in (self.question, self.answer, self.rater)]
        question, answer, rater = (codes.astype(np.int64) for codes in anew)
        return replace(
            self, value=self.value[rows], system=self.system[rows], question=question, answer=answer, rater=rater
        )


def _codes(keys: Sequence[Hashable]) -> IntArray:
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(key, len(place)) for key in keys], dtype=np.int64)


def about_raters(raters: Raters, n: int) -> str:
    """Which raters figures by so many are about; one rater says nothing of others."""
    if n == 1:
        return "this rater"
    return RANDOM_RATERS if raters == "random" else FIXED_RATERS


@dataclass(frozen=True)
class Component:
    """What labels differ by: the variance of one source, its share of all, and its interval or why there is none."""

    name: str
    variance: float
    share: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The source as `assay systems --json` has it."""
        return {
            "name": self.name,
            "variance": self.variance,
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class SystemComparison:
    """What people's labels of one criterion say of systems; `reason` where they say nothing.

    `means` has one entry a system (`group`), the best first; `differences` one a pair (`group` less `against`) with p
    adjusted by Holm; `equivalences` tests of a margin, where one was given.
    """

    criterion: str
    raters: Raters
    n: int
    n_raters: int
    means: Sequence[Aligned] = ()
    differences: Sequence[Aligned] = ()
    equivalences: Sequence[Aligned] = ()
    components: Sequence[Component] = ()
    warnings: Sequence[str] = ()
    reason: str | None = None
    notes: Sequence[str] = field(default=())

    @property
    def about(self) -> str:
        """Which raters the intervals are about."""
        return about_raters(self.raters, self.n_raters)

    def to_json(self) -> dict[str, Any]:
        """As `assay systems --json` has it."""
        return {
            "criterion": self.criterion,
            "raters": self.raters,
            "n": self.n,
            "n_raters": self.n_raters,
            "reason": self.reason,
            "statistics": [entry.to_json() for entry in (*self.means, *self.differences, *self.equivalences)],
            "variances": [component.to_json() for component in self.components],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


def compare_systems(
    labels: SystemLabels,
    *,
    criterion: str = "value",
    raters: Raters = "random",
    level: float = 0.95,
    margin: float | None = None,
) -> SystemComparison:
    """Means of systems and every difference, by linear mixed models of people's labels.

    A label is the system's mean, plus what its question, the answer itself, its rater, and this rater with this system
    differ by, plus error. Each difference is of a model of these two systems alone, and each mean of one of that system
    alone: systems differ in how far their labels vary (a share of .02 and one of .5), and one variance for all would
    make some intervals too short. Labels of few values, yes and no among them, go by their value, so that a difference
    is one of shares or of mean grades.

    `raters` "random" is about raters like these: raters and their views of systems are random effects, and t has
    Satterthwaite's degrees of freedom. "fixed" is about these raters, each counting alike. Without the effect of rater
    × system intervals covered in 63 to 87 % where raters differed in how they saw the two systems. The interval of a
    mean within a scale has Wilson's form, so that it does not leave the scale. docs/statistics.md has how often they
    cover. `margin` also tests each difference for equivalence. Raises InvalidInput for a margin that is none.
    """
    if margin is not None:
        check_margin(margin)
    if not 0 < level < 1:
        raise InvalidInput(f"level {level} is not between 0 and 1: give a share such as 0.95")
    found = SystemComparison(criterion, raters, len(labels.value), labels.n_raters)
    if len(labels.systems) < 2:
        named = f"only {labels.systems[0]!r} is" if labels.systems else "no system is"
        return replace(found, reason=f"{named} named, and a comparison needs two systems")
    if len(labels.systems) > MOST_SYSTEMS:
        return replace(
            found, reason=f"{len(labels.systems)} systems are more than {MOST_SYSTEMS}: compare some of them"
        )
    if float(np.ptp(labels.value)) == 0:
        return replace(found, reason=f"every label is {number(float(labels.value[0]), 2)}: nothing differs")
    about: dict[str, Any] = {"criterion": criterion, "by": "system"}
    parts = [labels.chosen(labels.system == place) for place in range(len(labels.systems))]
    means = [_mean(part, raters, level, group=name, **about) for name, part in zip(labels.systems, parts, strict=True)]
    means.sort(key=lambda entry: (-(entry.value or 0.0), entry.group or ""))
    order = [labels.systems.index(entry.group or "") for entry in means]
    differences, singular = [], 0
    for first, other in combinations(order, 2):
        pair = labels.chosen((labels.system == first) | (labels.system == other))
        entry, fit = _difference(
            pair, first, raters, level, group=labels.systems[first], against=labels.systems[other], **about
        )
        differences.append(entry)
        singular += fit is not None and bool({"rater", "rater × system"} & set(fit.none))
    differences = adjusted(differences, (DIFFERENCE,))
    equivalences = [] if margin is None else _equivalences(differences, margin)
    return replace(
        found,
        means=means,
        differences=differences,
        equivalences=equivalences,
        components=_components(labels, level),
        warnings=_warnings(labels, parts, raters, singular, len(differences)),
        notes=_notes(labels, raters),
    )


def _equivalences(differences: Sequence[Aligned], margin: float) -> list[Aligned]:
    return with_verdicts([tested(entry, margin, EQUIVALENCE) for entry in differences if entry.value is not None])


# Models ---------------------------------------------------------------------------------------------------------------


def _terms(labels: SystemLabels, fixed: FloatArray, raters: Raters, *, by_system: bool) -> Terms:
    """The effects that these labels can tell from error, beside the fixed columns."""
    n = len(labels.value)
    n_answers, n_questions = len(np.unique(labels.answer)), len(np.unique(labels.question))
    answer = labels.answer if n_answers < n else None
    question = labels.question if n_questions < n_answers else None
    crossed: dict[str, IntArray] = {}
    if raters == "random" and 1 < labels.n_raters < n:
        crossed["rater"] = labels.rater
        each = np.unique(labels.rater * (int(labels.system.max()) + 1) + labels.system, return_inverse=True)[1]
        if by_system and labels.n_raters < int(each.max()) + 1 < n:
            crossed["rater × system"] = each.astype(np.int64)
    if raters == "fixed" and labels.n_raters > 1:
        # Each rater less the last one's negative sum, so that the other columns are about the mean of the raters.
        dummies = np.eye(labels.n_raters)[labels.rater]
        fixed = np.column_stack([fixed, dummies[:, :-1] - dummies[:, -1:]])
    return Terms(labels.value, fixed, answer, question, crossed)


def _mean(labels: SystemLabels, raters: Raters, level: float, **about: Any) -> Aligned:
    """The mean of one system's labels."""
    n = len(labels.value)
    entry = Aligned(name=MEAN, n=n, **about)
    n_answers = len(np.unique(labels.answer))
    fit = fit_linear(_terms(labels, np.ones((n, 1)), raters, by_system=False))
    alike = float(np.ptp(labels.value)) == 0 if n else False
    if isinstance(fit, str) and not alike:
        return entry.undefined(fit)
    if isinstance(fit, str):
        value, error, freedom = float(labels.value[0]), 0.0, float(n_answers - 1)
    else:
        if not fit.converged:
            return entry.undefined(NOT_CONVERGED)
        value, error, freedom = fit.contrast(np.r_[1.0, np.zeros(len(fit.beta) - 1)])
    made = _mean_interval(labels.scale, (value, error, freedom), n_answers, level, _about(labels, raters))
    return entry.measured(value, [made])


NOT_CONVERGED = "the model did not converge, so that there is no figure to trust"


def _about(labels: SystemLabels, raters: Raters) -> str:
    """Which raters an interval is about."""
    return about_raters(raters, labels.n_raters)


def _mean_interval(
    scale: tuple[float, float] | None, found: tuple[float, float, float], n_answers: int, level: float, about: str
) -> Interval:
    """± t errors or, within a scale, Wilson's ends with as many labels as have that error; `found` as of `contrast`."""
    value, error, freedom = found
    if n_answers < LEAST_QUESTIONS:
        why = f"{count(n_answers, 'answer')} are too few, at least {LEAST_QUESTIONS} are needed"
        return Interval(None, None, MIXED, level, note=why)
    if freedom < 1:
        return Interval(None, None, MIXED, level, note=LESS_THAN_ONE)
    reach = float(special.stdtrit(freedom, (1 + level) / 2))
    if scale is None:
        if error <= 0:
            return Interval(None, None, MIXED, level, note="all labels are alike, which says nothing of others")
        low, high = value - reach * error, value + reach * error
    else:
        start, size = scale[0], scale[1] - scale[0]
        mean = min(max((value - start) / size, 0.0), 1.0)
        bound = mean * (1 - mean)
        n = bound / (error / size) ** 2 if error > 0 and bound > 0 else float(n_answers)
        low, high = (start + size * end for end in wilson_ends(mean, n, reach))
    return Interval(low, high, MIXED, level, error=error, freedom=freedom, raters=about)


LESS_THAN_ONE = "the raters leave less than one degree of freedom"


def _difference(
    labels: SystemLabels, first: int, raters: Raters, level: float, **about: Any
) -> tuple[Aligned, LinearFit | None]:
    """The mean of the first system less that of the other, of the labels of both."""
    here = (labels.system == first).astype(np.float64)
    n_answers = len(np.unique(labels.answer))
    entry = Aligned(name=DIFFERENCE, n=len(here), **about)
    fit = fit_linear(_terms(labels, np.column_stack([here, 1 - here]), raters, by_system=True))
    if isinstance(fit, str):
        return entry.undefined(fit), None
    if not fit.converged:
        return entry.undefined(NOT_CONVERGED), fit
    value, error, freedom = fit.contrast(np.r_[1.0, -1.0, np.zeros(len(fit.beta) - 2)])
    if n_answers < 2 * LEAST_QUESTIONS:
        why = f"{count(n_answers, 'answer')} of two systems are too few, at least {2 * LEAST_QUESTIONS} are needed"
        return entry.measured(value, [Interval(None, None, MIXED, level, note=why)]), fit
    if freedom < 1:
        return entry.measured(value, [Interval(None, None, MIXED, level, note=LESS_THAN_ONE)]), fit
    reach = float(special.stdtrit(freedom, (1 + level) / 2)) * error
    made = Interval(
        value - reach, value + reach, MIXED, level, error=error, freedom=freedom, raters=_about(labels, raters)
    )
    p = 2 * float(special.stdtr(freedom, -abs(value) / error))
    return replace(entry.measured(value, [made]), p_value=p), fit


# What is said besides -------------------------------------------------------------------------------------------------


def _components(labels: SystemLabels, level: float) -> list[Component]:
    """The variances of a model of all systems, raters random: what labels differ by beside the systems."""
    fixed = np.eye(len(labels.systems))[labels.system]
    fit = fit_linear(_terms(labels, fixed, "random", by_system=True))
    if isinstance(fit, str) or not fit.converged:
        return []
    variances = {**fit.variances, "error": fit.error}
    total = sum(variances.values())
    found = []
    for name, variance in variances.items():
        ends = fit.variance_interval(name, level) if variance > 0 else None
        reason = None
        if variance <= 0:
            reason = "none is seen"
            if name.startswith("rater"):
                reason += f", which of {labels.n_raters} raters does not say that there is none"
        elif name.startswith("rater") and labels.n_raters < FEW_RATERS:
            ends, reason = None, f"{labels.n_raters} raters say hardly anything of it"
        elif ends is None:
            reason = "it is not known to one degree of freedom"
        low, high = ends or (None, None)
        found.append(Component(name, variance, variance / total, low, high, reason))
    return found


def _warnings(
    labels: SystemLabels, parts: Sequence[SystemLabels], raters: Raters, singular: int, pairs: int
) -> list[str]:
    """What limits the figures, in words."""
    found = []
    n_raters = labels.n_raters
    if raters == "random" and n_raters == 1:
        found.append("there is one rater: the figures are about that one, and say nothing of others")
    elif raters == "random" and n_raters < FEW_RATERS:
        found.append(
            f"{n_raters} raters are few: how raters differ is known to few degrees of freedom, so that intervals are "
            "wide, and where raters see systems differently they still cover less often than they say"
        )
    if raters == "random" and n_raters > 1 and singular:
        found.append(
            f"in {singular} of {count(pairs, 'difference')} no variance of raters, or of how raters see systems, is "
            "seen (a singular fit): the interval then rests on the labels alone"
        )
    shared = [
        np.intersect1d(labels.question[labels.system == a], labels.question[labels.system == b]).size
        for a, b in combinations(range(len(labels.systems)), 2)
    ]
    if not all(shared):
        found.append(
            f"{sum(not n for n in shared)} of {count(pairs, 'pair')} of systems have no question in common: what "
            "their questions differ by is in the difference"
        )
    values, counts = np.unique(labels.value, return_counts=True)
    if len(values) == 2:
        rare = float(values[counts.argmin()])
        thin = [
            name
            for name, part in zip(labels.systems, parts, strict=True)
            if len(np.unique(part.answer[part.value == rare])) <= FEW_DIFFER
        ]
        if thin:
            found.append(
                f"{', '.join(thin)}: at most {FEW_DIFFER} answers have the rarer label, so that differences are known "
                "less well than their intervals say"
            )
    return found


def _notes(labels: SystemLabels, raters: Raters) -> list[str]:
    found = []
    if len(np.unique(labels.answer)) == len(labels.value):
        found.append("each answer has one label, so that what answers differ by is part of the error")
    if raters == "fixed" and labels.n_raters > 1:
        found.append("each rater counts alike, however many labels they gave")
    return found
