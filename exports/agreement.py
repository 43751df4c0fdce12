"""The agreement report of a study: every criterion's statistics, the same for the page, the command line and files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from annotators.agreement import Ratings, Scale, Statistic, headline, measure, prevalence_warning, sentence
from annotators.criteria import Criterion
from annotators.errors import AssayError
from annotators.settling import vote
from db.engine import Database
from db.labels import CriterionRatings, StudyRatings, ratings
from db.permissions import Actor


def measured_scale(criterion: Criterion) -> Scale | None:
    """The scale whose coefficients are measured for this criterion, or None for sets, rankings and texts."""
    return criterion.scale if criterion.scale in ("nominal", "ordinal", "interval") else None


@dataclass(frozen=True)
class UnitLabels:
    """One unit that was labelled, and what each rater gave: what is behind a number."""

    study_item_id: int
    item_id: int
    item: str
    target: str
    labels: dict[str, str]


@dataclass(frozen=True)
class CriterionReport:
    """One criterion: its ratings in numbers, its statistics, and the words for them."""

    criterion: Criterion
    n_units: int
    n_raters: int
    n_ratings: int
    cannot_judge: int
    shares: dict[str, float]
    statistics: list[Statistic]
    sentence: str | None
    warning: str | None
    pairs: dict[tuple[str, str], Counter[tuple[str, str]]]
    units: list[UnitLabels]

    def find(self, name: str, **about: Any) -> Statistic | None:
        """The first statistic of this name (and label, or raters)."""
        for statistic in self.statistics:
            if statistic.name == name and all(getattr(statistic, key) == value for key, value in about.items()):
                return statistic
        return None

    @property
    def headline(self) -> Statistic | None:
        """The coefficient that stands for agreement on this criterion's scale."""
        scale = measured_scale(self.criterion)
        return self.find(headline(scale)) if scale else None

    def to_json(self) -> dict[str, Any]:
        """As the `agreement` JSON has it."""
        return {
            "criterion": self.criterion.name,
            "target": self.criterion.target.value,
            "scale": self.criterion.scale,
            "labels": [label.value for label in self.criterion.label_list()],
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "cannot_judge": self.cannot_judge,
            "statistics": [statistic.to_json() for statistic in self.statistics],
        }


@dataclass(frozen=True)
class AgreementReport:
    """All criteria of a study, with what the report was made from."""

    study: str
    protocol: str
    n_items: int
    seed: int
    resamples: int
    criteria: list[CriterionReport]
    raters: list[str]

    def to_json(self) -> dict[str, Any]:
        """As `assay agreement --json` prints it."""
        return {
            "study": self.study,
            "protocol": self.protocol,
            "seed": self.seed,
            "resamples": self.resamples,
            "criteria": [criterion.to_json() for criterion in self.criteria],
        }


def agreement_report(
    db: Database, actor: Actor | None, study_id: int, *, seed: int = 0, resamples: int = 1000, named: bool = True
) -> AgreementReport:
    """Agreement on every criterion of a study, over the annotations that count.

    `cannot judge` is counted and left out. Criteria whose scale has no coefficient yet (sets, rankings, texts) are
    listed with their numbers and a reason.
    """
    found = ratings(db, actor, study_id, named=named)
    return AgreementReport(
        study=found.study.name,
        protocol=found.protocol.title,
        n_items=found.study.n_items,
        seed=seed,
        resamples=resamples,
        criteria=[_criterion_report(one, found, seed, resamples) for one in found.criteria],
        raters=[found.names[person] for person in sorted(found.names)],
    )


def _criterion_report(column: CriterionRatings, found: StudyRatings, seed: int, resamples: int) -> CriterionReport:
    criterion, names = column.criterion, found.names
    raters = [names[person] for person in column.raters]
    shares = Counter(str(value) for value in column.values)
    n_units, n_raters, n_ratings = len(set(column.units)), len(set(raters)), len(column.values)
    statistics: list[Statistic] = []
    words = warning = None
    scale = measured_scale(criterion)
    if scale is not None:
        # As they are stored: a nominal label that the protocol writes as a number is a word in the data.
        stored = [criterion.check(label.value) for label in criterion.label_list()]
        labels = [value for value in stored if isinstance(value, str | int | float)] or None
        table = Ratings.from_triples(column.units, raters, column.values, labels, scale)
        statistics = measure(table, seed=seed, resamples=resamples)
        units = "items" if criterion.target in ("item", "pair") else "units"
        try:
            words = sentence(statistics, scale=scale, criterion=criterion.title, units=units)
        except AssayError:
            words = None
        warning = prevalence_warning(table, statistics)
    else:
        statistics = [_no_coefficient(criterion, n_units, n_raters, n_ratings)]
    return CriterionReport(
        criterion=criterion,
        n_units=n_units,
        n_raters=n_raters,
        n_ratings=n_ratings,
        cannot_judge=column.cannot_judge,
        shares={label: n / n_ratings for label, n in shares.most_common()},
        statistics=statistics,
        sentence=words,
        warning=warning,
        pairs=_pairs(column, names) if criterion.label_list() else {},
        units=_units(column, found),
    )


def _no_coefficient(criterion: Criterion, n_units: int, n_raters: int, n_ratings: int) -> Statistic:
    reason = f"no coefficient is measured for labels of the scale {criterion.scale} in this version"
    return Statistic("percent_agreement", None, None, None, None, reason, n_units, n_raters, n_ratings)


def _units(column: CriterionRatings, found: StudyRatings) -> list[UnitLabels]:
    """The units in the order of their items, each with what the raters gave."""
    given: dict[str, dict[str, str]] = {}
    for unit, person, value in zip(column.units, column.raters, column.values, strict=True):
        given.setdefault(unit, {})[found.names[person]] = vote(value)
    units = []
    for unit, labels in given.items():
        place, _, target = unit.partition("|")
        item_id, name = found.items[int(place)]
        units.append(UnitLabels(int(place), item_id, name, target or "item", labels))
    return sorted(units, key=lambda one: (one.study_item_id, one.target))


def _pairs(column: CriterionRatings, names: dict[int, str]) -> dict[tuple[str, str], Counter[tuple[str, str]]]:
    """(rater, rater) → how often each pair of labels was given: the confusion table of two raters, names sorted."""
    by_unit: dict[str, list[tuple[str, str]]] = {}
    for unit, person, value in zip(column.units, column.raters, column.values, strict=True):
        by_unit.setdefault(unit, []).append((names[person], str(value)))
    found: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for given in by_unit.values():
        given.sort()
        for place, (first, first_value) in enumerate(given):
            for second, second_value in given[place + 1 :]:
                found.setdefault((first, second), Counter())[first_value, second_value] += 1
    return found
