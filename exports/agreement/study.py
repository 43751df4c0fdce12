"""The agreement report of a study: every criterion's statistics, the same for the page, the command line and files."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from annotators.agreement.remarks import added_where_disputed
from annotators.agreement.report import CriterionAgreement, criterion_agreement, share_clusters
from annotators.agreement.statistics.base import LEAST_SHARED
from annotators.agreement.statistics.percent import PERCENT
from annotators.agreement.tables.columns import CriterionTable
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.ratings import Ratings, Scale
from annotators.arrays import BoolArray, FloatArray, IntArray
from annotators.criteria import Criterion
from annotators.errors import InvalidInput, NotFound
from annotators.figures import numbers_apart
from annotators.intervals.result import IntervalKind, Raters, Statistic
from db.designing.by_score import NOT_ALIKE, not_alike
from db.engine import Database
from db.permissions import Actor
from db.studies.ratings import CriterionRatings, StudyRatings, ratings
from exports.agreement.own_weights import weights_for
from exports.growing import whole

Grouping = Literal["category", "system"]
GROUPINGS: tuple[Grouping, ...] = ("category", "system")


@dataclass(frozen=True, eq=False)
class CriterionReport:
    """One criterion of a study: its labels, and what was measured on them (None: nothing can be).

    The units of `ratings` are called by their places in `column`, which has also the labels that were asked for where
    people disagreed; `ratings` has not. With `clustered` questions are resampled, where some
    question has several units. `annotation` has, for each entry of `ratings`, the
    place of its annotation in `found.annotations`.
    """

    found: StudyRatings
    column: CriterionRatings
    ratings: Ratings | None
    annotation: IntArray
    measured: CriterionAgreement | None
    clustered: bool = True

    @property
    def criterion(self) -> Criterion:
        """What was asked."""
        return self.column.criterion

    @property
    def title(self) -> str:
        """The criterion's title."""
        return self.criterion.title

    @property
    def n_units(self) -> int:
        """How many units have a label."""
        return self.column.n_units

    @property
    def n_raters(self) -> int:
        """How many people gave a label."""
        return len(self.column.people)

    @property
    def n_ratings(self) -> int:
        """How many labels there are."""
        return len(self.column.unit)

    @cached_property
    def shares(self) -> dict[str, float]:
        """The share of each label that was given: in the order of the scale; without one, the most frequent first."""
        counts = np.bincount(self.column.value, minlength=len(self.column.distinct))
        found: dict[str, int] = {}
        for value, n in zip(self.column.distinct, counts.tolist(), strict=True):
            label = self.criterion.vote(value)
            found[label] = found.get(label, 0) + n
        often = sorted(found, key=lambda label: (-found[label], label))
        return {label: found[label] / self.n_ratings for label in self.criterion.in_order(often)}

    def most_given(self, most: int) -> list[tuple[str, float]]:
        """(label, share) of the labels given most often, so many at most, in the order of `shares`."""
        least = sorted(self.shares.items(), key=lambda part: -part[1])[:most]
        kept = {label for label, _ in least}
        return [part for part in self.shares.items() if part[0] in kept]

    @cached_property
    def all_ratings(self) -> Ratings | None:
        """The table of all labels that count, those as well that were asked for where people disagreed."""
        if self.ratings is None or not self.found.added.any():
            return self.ratings
        return rating_table(self.column, self.found.names, self.ratings.scale)[0]

    def unit_names(self) -> dict[Hashable, str]:
        """What each unit of `ratings` is called: its item, and the target where it is not the item itself."""
        names: dict[Hashable, str] = {}
        for unit, item in enumerate(self.column.item.tolist()):
            target = self.column.target_of(unit)
            about = self.found.items.external_id[item]
            names[unit] = about if target == "item" else f"{about} {target}"
        return names

    @property
    def statistics(self) -> list[Statistic]:
        """What was measured; for a kind whose values are not, one entry that says so."""
        if self.measured is not None:
            return self.measured.statistics
        reason = f"no coefficient is measured for criteria of the kind {self.criterion.kind}"
        return [
            Statistic(
                name=PERCENT.name,
                reason=reason,
                n_units=self.n_units,
                n_raters=self.n_raters,
                n_ratings=self.n_ratings,
            )
        ]

    @property
    def sentence(self) -> str | None:
        """What a paper says about it."""
        return self.measured.sentence if self.measured else None

    @property
    def warnings(self) -> list[str]:
        """What limits the figures."""
        return self.measured.warnings if self.measured and self.n_ratings else []

    def find(self, name: str, **about: Any) -> Statistic | None:
        """The first statistic of this name (and label, or raters)."""
        return self.measured.find(name, **about) if self.measured else None

    @property
    def headline(self) -> Statistic | None:
        """The coefficient that stands for agreement on this criterion's scale."""
        return self.measured.headline if self.measured else None

    # What is behind the figures

    def groups(self, by: Grouping) -> dict[Hashable, str | None]:
        """The category, or the system, of each unit's item."""
        of = self.found.items.category if by == "category" else self.found.items.system
        return {unit: of[place] for unit, place in enumerate(self.column.item.tolist())}

    def questions(self) -> dict[Hashable, Hashable]:
        """The question of each unit's item."""
        return dict(enumerate(self.found.items.question[self.column.item].tolist()))

    def clusters(self) -> dict[Hashable, Hashable] | None:
        """The question of each unit where questions are resampled, else None."""
        questions = self.questions()
        return questions if self.clustered and share_clusters(questions) else None

    def items(self) -> tuple[Hashable, ...]:
        """The item (its id in the project, the same in every study) of each unit."""
        return tuple(self.found.items.item[self.column.item].tolist())

    @property
    def times(self) -> FloatArray:
        """When each entry of `ratings` was given, in seconds since 1970."""
        return self.found.annotations.time[self.annotation]

    def table(self) -> CriterionTable | None:
        """The criterion's ratings with their items and questions, for comparisons across criteria."""
        if self.ratings is None:
            return None
        about = (self.criterion.name, self.criterion.target.value)
        return CriterionTable(*about, self.ratings, self.items(), self.questions())

    def to_json(self) -> dict[str, Any]:
        """As the `agreement` JSON has it."""
        found = {
            "criterion": self.criterion.name,
            "target": self.criterion.target.value,
            "scale": self.criterion.scale,
            "labels": [label.value for label in self.criterion.label_list()],
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "cannot_judge": self.column.cannot_judge,
            "statistics": [statistic.to_json() for statistic in self.statistics],
            "warnings": self.warnings,
        }
        if self.measured is not None:
            found |= {name: value for name, value in self.measured.to_json().items() if name in ("shares", "weights")}
        return found


@dataclass(frozen=True, eq=False)
class AgreementReport:
    """All criteria of a study, with what the report was made from."""

    found: StudyRatings
    seed: int
    resamples: int
    clustered: bool
    criteria: list[CriterionReport]
    raters: list[str]
    level: float = 0.95

    @property
    def study(self) -> str:
        """The study's name."""
        return self.found.study.name

    @property
    def protocol(self) -> str:
        """The title of the study's protocol."""
        return self.found.protocol.title

    @property
    def n_items(self) -> int:
        """How many items the study has."""
        return self.found.study.n_items

    def with_criterion(self, place: int, measured: CriterionAgreement | None) -> AgreementReport:
        """The report with what was measured on the criterion at this place."""
        criteria = list(self.criteria)
        criteria[place] = replace(criteria[place], measured=measured)
        return replace(self, criteria=criteria)

    def to_json(self) -> dict[str, Any]:
        """As `assay agreement --json` prints it."""
        return {
            "study": self.study,
            "protocol": self.protocol,
            "seed": self.seed,
            "resamples": self.resamples,
            "level": self.level,
            "criteria": [criterion.to_json() for criterion in self.criteria],
        }


def agreement_in_parts(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    seed: int = 0,
    resamples: int = 1000,
    named: bool = True,
    judges: Sequence[str] = (),
    statistics: Sequence[str] | str = "default",
    clustered: bool = True,
    weights: Mapping[str, OwnWeights] | None = None,
    level: float = 0.95,
    kind: IntervalKind = "BCa",
    raters: Raters = "fixed",
    least_shared: int = LEAST_SHARED,
    among: Sequence[int] | None = None,
) -> Iterator[AgreementReport]:
    """Agreement on every criterion of a study, over the annotations that count, as it grows.

    First nothing is measured, then one more criterion each time. `judges` (by name; NotFound for one without labels
    there) are raters beside the people.

    `cannot judge` is counted and left out. `statistics` are names of annotators.agreement, "default" (those of the
    scale) or "all". `clustered` resamples questions instead of units where some question has several: answers of
    several systems to one question are not independent, nor are the parts of one item. `level`, `kind`, `raters` and
    `least_shared` are as of annotators.agreement.measure. `weights` are own weights by criterion, as `weights_for`
    takes them. `among`: only of these study items. Annotations that were asked for where people disagreed do not count
    here, and the warnings say so.
    """
    found = ratings(db, actor, study_id, judges=judges, named=named, among=among)
    asked = {
        "seed": seed,
        "resamples": resamples,
        "statistics": statistics,
        "level": level,
        "kind": kind,
        "raters": raters,
        "least_shared": least_shared,
    }
    labelled = [_labels_of(criterion, found) for criterion in found.criteria]
    counting = set(found.annotations.person.tolist())
    own = weights_for(weights or {}, [(column.criterion.name, column.ratings) for column in labelled])
    report = AgreementReport(
        found=found,
        seed=seed,
        resamples=resamples,
        clustered=clustered,
        criteria=[replace(criterion, clustered=clustered) for criterion in labelled],
        raters=sorted((name for person, name in found.names.items() if person in counting), key=numbers_apart),
        level=level,
    )
    yield report
    for place, column in enumerate(report.criteria):
        weighted = {**asked, "own_weights": own.get(column.criterion.name)}
        report = report.with_criterion(place, _measured(column, weighted).measured)
        yield report


agreement_report = whole(agreement_in_parts)
"""The report when every criterion is measured."""


def unmeasured(found: StudyRatings, criterion: str) -> CriterionReport:
    """One criterion's labels with nothing measured on them, for comparisons. Raises NotFound when there is none."""
    column = next((ratings for ratings in found.criteria if ratings.criterion.name == criterion), None)
    if column is None:
        names = ", ".join(criterion.criterion.name for criterion in found.criteria)
        raise NotFound(f"Study {found.study.name!r} has no criterion {criterion!r}. It has: {names}.")
    return _labels_of(column, found)


def _labels_of(column: CriterionRatings, found: StudyRatings) -> CriterionReport:
    scale = column.criterion.measured_scale
    if scale is None:
        return CriterionReport(found, column, None, column.annotation, None)
    table, annotation = rating_table(column, found.names, scale, left_out=found.added)
    return CriterionReport(found, column, table, annotation, None)


def _measured(report: CriterionReport, asked: dict[str, Any]) -> CriterionReport:
    criterion = report.criterion
    if report.ratings is None:
        return report
    measured = criterion_agreement(
        criterion.name,
        criterion.target.value,
        report.ratings,
        title=criterion.title,
        units="items" if criterion.target in ("item", "pair") else "units",
        clusters=report.clusters(),
        over="questions",
        **asked,
    )
    if not_alike(report.found.study, len(np.unique(report.found.annotations.item))):
        measured = replace(measured, warnings=[*measured.warnings, NOT_ALIKE])
    if added := int(report.found.added[np.unique(report.column.annotation)].sum()):
        measured = replace(measured, warnings=[*measured.warnings, added_where_disputed(added)])
    return replace(report, measured=measured)


def rating_table(
    column: CriterionRatings, names: dict[int, str], scale: Scale, *, left_out: BoolArray | None = None
) -> tuple[Ratings, IntArray]:
    """The table of ratings of a column, and the annotation of each of its entries; raters are called by their names.

    `left_out` has True for each annotation of the study whose labels are not to be in it; units and raters stay.
    Raises InvalidInput when somebody has two counting annotations of one item.
    """
    criterion = column.criterion
    # As they are stored: a nominal label that the protocol writes as a number is a word in the data.
    labels = criterion.stored_labels() or None
    each = range(len(column.distinct))
    words = Ratings.from_triples(each, [0] * len(each), column.distinct, labels, scale)
    code_of = np.full(len(each), -1, dtype=np.int64)
    code_of[np.array(words.units, dtype=np.int64)[words.unit]] = words.code
    raters = sorted(names[person] for person in column.people)
    place = {name: number for number, name in enumerate(raters)}
    rater = np.array([place[names[person]] for person in column.people], dtype=np.int64)[column.rater]
    order = np.lexsort((rater, column.unit))
    order = order[code_of[column.value[order]] >= 0]
    if left_out is not None:
        order = order[~left_out[column.annotation[order]]]
    unit, rater = column.unit[order], rater[order]
    twice = np.flatnonzero((unit[1:] == unit[:-1]) & (rater[1:] == rater[:-1]))
    if len(twice):
        who, what = raters[rater[twice[0]]], column.items.external_id[column.item[unit[twice[0]]]]
        raise InvalidInput(
            f"{who!r} has two annotations that count of the item {what!r}. "
            "Withdraw the import that brought the second one."
        )
    table = Ratings(
        units=tuple(range(column.n_units)),
        raters=tuple(raters),
        labels=words.labels,
        scale=scale,
        unit=unit,
        rater=rater,
        code=code_of[column.value[order]],
        numbers=words.numbers,
        numeric=words.numeric,
        lengths=column.items.answer_length[column.item] if scale == "spans" else None,
    )
    return table, column.annotation[order]
