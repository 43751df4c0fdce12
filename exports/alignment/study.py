"""The alignment report of a study, or of a table: every metric against people, the same for page, command and files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from annotators.alignment import (
    TESTS,
    Pairs,
    alternative_annotator_test,
    anchoring_effect,
    association,
    calibration,
    compare,
    human_ceiling,
    mean_agreement,
    on_one_scale,
    prediction_powered_mean,
    preferred_alike,
    small_sample_warnings,
    system_ranking,
    tie_calibrated_accuracy,
    yielding,
)
from annotators.alignment.statistics.alternative_annotator import ADVANTAGE, WINNING_RATE, on_their_scale
from annotators.alignment.statistics.coefficients import SPEARMAN
from annotators.alignment.tables.labels import Labels as PeopleLabels
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.figures import held_in_words
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.multiplicity import adjusted
from annotators.intervals.remarks import TAKEN_AS_RIGHT
from annotators.intervals.result import Aligned
from annotators.progress import Progress
from db.designing.by_score import NOT_ALIKE
from db.engine import Database
from db.models import Study
from db.people.pseudonyms import pseudonyms
from db.permissions import Actor
from exports.alignment.arms import Arms, other_arm
from exports.alignment.data import NOTHING, Human, StudyData, UnitFacts, study_data
from exports.alignment.scores import Metric, ProjectItem, metrics_about, project_items, study_item_of
from exports.growing import whole

T = TypeVar("T")
Labels = Literal["item", "each", "settled"]
APART = "set against the preference is the score of the second answer of a pair less that of the first"
MOST_COMPARED = 8
"""Up to so many metrics every two of them are compared."""


@dataclass(frozen=True)
class AlignmentReport:
    """All statistics of a study with what they were made from.

    `notes` say what was left out or assumed, and `warnings` what limits the figures.
    """

    study: str
    protocol: str
    labels: Labels
    asked: Resampling
    statistics: Sequence[Aligned]
    notes: Sequence[str]
    data: StudyData
    warnings: Sequence[str] = ()

    def find(self, name: str, **about: Any) -> Aligned | None:
        """The first statistic of this name that is about this; what is not said must be None."""
        wanted = {"metric": None, "criterion": None, "group": None, "against": None, **about}
        for statistic in self.statistics:
            if statistic.name == name and all(getattr(statistic, key) == value for key, value in wanted.items()):
                return statistic
        return None

    def under_pseudonyms(self, db: Database) -> AlignmentReport:
        """The same report with annotators under their pseudonyms, as it is for whoever is told no names."""
        with db.read() as session:
            others = pseudonyms(session, self.data.study.id or 0)
        now = {name: others[person] for person, name in self.data.called.items()}
        return replace(
            self,
            statistics=[
                replace(found, against=now.get(found.against or "")) if found.name == ADVANTAGE.name else found
                for found in self.statistics
            ],
        )

    def to_json(self) -> dict[str, Any]:
        """As `assay alignment --json` prints it."""
        return {
            "study": self.study,
            "protocol": self.protocol,
            "labels": self.labels,
            "seed": self.asked.seed,
            "resamples": self.asked.resamples,
            "level": self.asked.level,
            "statistics": [statistic.to_json() for statistic in self.statistics],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def alignment_in_parts(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    scorers: Sequence[str] = (),
    labels: Labels = "item",
    by: str | None = None,
    asked: Resampling | None = None,
    epsilon: float = 0.2,
    named: bool = True,
    progress: Progress | None = None,
) -> Iterator[AlignmentReport]:
    """Everything that is measured of a study's labels against scores and judges, as it grows.

    First nothing is measured, then what the first tables show; statistics are in the order of the whole report always.

    `labels`: "item" takes one value a unit (the mean of numbers, the majority of two labels), "each" every label as a
    row of its own, "settled" the settled labels. Groups are systems, categories and, when given, `by` (a field of the
    items' metadata). Criteria about scores get mean agreement, others every metric that has values of the same targets.
    Intervals go by question where several rows belong to one. `scorers` limits the metrics; NotFound for one without
    scores. ε is that of the alternative annotator test. Preferences between two answers are set against the differences
    of their scores.
    """
    asked = asked or Resampling()
    if labels not in get_args(Labels):
        raise InvalidInput(f"{labels!r} are no labels to compare. Known: {', '.join(get_args(Labels))}.")
    # What is settled takes long to find out, and only labels that are settled need it.
    settled = labels == "settled"
    data = study_data(db, actor, study_id, scorers=scorers, named=named, by=by, settled=settled)
    if by is not None and data.items and all(item.groups[by] == NOTHING for item in data.items.values()):
        raise InvalidInput(f"No item of the study has {by!r} in its metadata, to be grouped by.")
    report = AlignmentReport(
        study=data.study.name,
        protocol=data.protocol.title,
        labels=labels,
        asked=asked,
        statistics=(),
        notes=(),
        data=data,
    )
    yield report
    arms = other_arm(db, actor, data)
    population = _once(lambda: project_items(db, data.study.project_id, data.metrics))
    plans = [_OfCriterion(data, human, labels, asked, by, epsilon, population) for human in data.humans]
    sections = [
        section
        for of_study in plans
        for section in (of_study.about_score(arms) if of_study.human.about_score else of_study.against_metrics())
    ]
    made: dict[int, list[Aligned]] = {}
    order = sorted(range(len(sections)), key=lambda place: sections[place].turn)
    for done, place in enumerate(order):
        if progress is not None:
            progress(done, len(order))
        made[place] = list(sections[place].make())
        report = replace(report, statistics=[entry for at in sorted(made) for entry in made[at]])
        if done + 1 < len(order):
            yield report
    notes = [note for of_study in plans for note in of_study.notes(report.statistics)]
    for metric in data.metrics:
        for reason, n in metric.unscored.items():
            notes.append(f"{metric.name}: {n:,} unscored and left out ({reason})")
    statistics = adjusted(report.statistics, TESTS)
    yield replace(
        report,
        statistics=statistics,
        notes=notes,
        warnings=[words for of_study in plans for words in of_study.warnings()],
    )


alignment_report = whole(alignment_in_parts)
"""The report when all is measured."""


@dataclass(frozen=True)
class _Section:
    """A part of the report: when it is measured (those that the first tables show: 0), and what measures it."""

    turn: int
    make: Callable[[], Iterable[Aligned]]


def _once(make: Callable[[], T]) -> Callable[[], T]:
    """What `make` gives, made when it is first asked for, and kept."""
    kept: list[T] = []

    def give() -> T:
        if not kept:
            kept.append(make())
        return kept[0]

    return give


def rows_of(data: StudyData, human: Human, labels: Labels) -> tuple[list[tuple[str, float]], int]:
    """(unit, human value) of every row, in order, and how many units a tie of their majority leaves out."""
    if labels == "settled":
        return sorted(human.settled.items()), 0
    if labels == "each":
        return sorted((unit, value) for given in human.people.values() for unit, value in given.items()), 0
    found, ties = human.one_each()
    return sorted(found.items()), ties


@dataclass(frozen=True, eq=False)
class HumanRows:
    """What people said on one criterion, one row a unit or label: the columns that every metric is set against."""

    data: StudyData
    human: Human
    rows: Sequence[tuple[str, float]]
    ties: int
    noun: str = "unit"
    _pairs: dict[str, tuple[IntArray, Pairs]] = field(default_factory=dict)
    _scores: dict[str, FloatArray] = field(default_factory=dict)
    _grouped: dict[str, tuple[IntArray, list[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, data: StudyData, human: Human, labels: Labels) -> HumanRows:
        """The rows in their order."""
        return cls(data, human, *rows_of(data, human, labels), noun="label" if labels == "each" else "unit")

    @cached_property
    def facts(self) -> list[UnitFacts]:
        """What is known of the unit of each row."""
        return [self.data.units[unit] for unit, _ in self.rows]

    @cached_property
    def _question(self) -> IntArray:
        return np.array([fact.question for fact in self.facts], dtype=np.int64)

    @cached_property
    def _values(self) -> FloatArray:
        return np.array([value for _, value in self.rows], dtype=np.float64)

    @property
    def without_metric(self) -> Pairs:
        """The rows alone, as if some metric gave all of them the same."""
        nothing = np.zeros(len(self.rows))
        return Pairs.of(self._values, nothing, clusters=self._question, binary=self.human.binary)

    def pairs(self, metric: Metric, by: str | None = "system") -> Pairs:
        """The rows with what the metric gave them, by question, grouped by `by`."""
        if metric.name not in self._pairs:
            made = Pairs.of(self._values, self.scores(metric), clusters=self._question, binary=self.human.binary)
            rows = np.array(made.units, dtype=np.int64)
            self._pairs[metric.name] = rows, replace(made, units=tuple(self.rows[row][0] for row in rows.tolist()))
        rows, found = self._pairs[metric.name]
        if by is None:
            return found
        codes, names = self._groups(by)
        return found.grouped(codes[rows], names)

    def held(self, metric: Metric) -> str:
        """How many rows have a value of people and one of the metric, of how many, and why the rest has not."""
        unscored = int(np.isnan(self.scores(metric)).sum())
        rest = {f"that {metric.name} has not scored": unscored, "on which people tie": self.ties}
        return held_in_words(len(self.rows) - unscored, rest, self.noun)

    def compared(self, first: Metric, second: Metric) -> tuple[Pairs, FloatArray]:
        """The rows of one metric, and what another one gave them (NaN: nothing)."""
        found = self.pairs(first)
        return found, self.scores(second)[self._pairs[first.name][0]]

    def scores(self, metric: Metric) -> FloatArray:
        """What a metric gave each row; NaN: nothing."""
        if metric.name not in self._scores:
            given = [metric.values.get(unit, np.nan) for unit, _ in self.rows]
            self._scores[metric.name] = np.array(given, dtype=np.float64)
        return self._scores[metric.name]

    def _groups(self, by: str) -> tuple[IntArray, list[str]]:
        """The group of each row as a place among the sorted names, -1 for none; and the names."""
        if by not in self._grouped:
            given = [fact.groups.get(by) for fact in self.facts]
            names = sorted({name for name in given if name is not None})
            place: dict[str | None, int] = {name: number for number, name in enumerate(names)}
            self._grouped[by] = np.array([place.get(name, -1) for name in given], dtype=np.int64), names
        return self._grouped[by]


def mean_agreements(table: HumanRows, groupings: Sequence[str], asked: Resampling) -> list[Aligned]:
    """Mean agreement with the score that a criterion is about: of all rows, then of the groups of each grouping."""
    found: list[Aligned] = []
    for place, by in enumerate(groupings):
        made = mean_agreement(
            [value for _, value in table.rows],
            [fact.groups[by] for fact in table.facts],
            asked,
            clusters=[fact.question for fact in table.facts],
            scale=table.human.scale,
            by=by,
            criterion=table.human.criterion.name,
            metric=table.human.about_score,
        )
        found += made if place == 0 else made[1:]
    return found


def pairs_of(
    data: StudyData, human: Human, metric: Metric, labels: Labels = "item", by: str | None = "system"
) -> Pairs:
    """The rows that one criterion and one metric are compared on, by question, grouped by `by`."""
    return HumanRows.of(data, human, labels).pairs(metric, by)


def metrics_of(data: StudyData, human: Human) -> list[Metric]:
    """The metrics that a criterion can be set against: those of the score it is about, else all comparable ones."""
    if human.about_score is not None:
        return metrics_about(data.metrics, human.about_score)
    return [] if human.reason is not None else comparable(human, data.metrics)


def comparable(human: Human, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that have values of this criterion's targets; a judge only of the criterion it filled in."""
    units = set(human.settled) | {unit for given in human.people.values() for unit in given}
    return [
        metric
        for metric in metrics
        if not units.isdisjoint(metric.values) and (not metric.judge or metric.value == human.criterion.name)
    ]


@dataclass(frozen=True, eq=False)
class _OfCriterion:
    """One criterion of a study, and how it is to be measured."""

    data: StudyData
    human: Human
    labels: Labels
    asked: Resampling
    by: str | None
    epsilon: float
    population: Callable[[], Sequence[ProjectItem]]

    @property
    def groupings(self) -> list[str]:
        """What rows are grouped by: system, category, and what was asked for."""
        return list(dict.fromkeys(["system", "category", *([self.by] if self.by else [])]))

    @property
    def name(self) -> str:
        return self.human.criterion.name

    def warnings(self) -> list[str]:
        """What limits the figures of this criterion, where it has any: few rows, questions, or of the rarer label."""
        human = self.human
        if human.reason or (human.about_score is None and not self.metrics):
            return []
        found = small_sample_warnings(self.table.without_metric, self.asked.over)
        if drawn_with(self.data.study):
            found.append(
                "the items were drawn by an advice, hard ones more often. The means over all items weigh each label by "
                "one over the probability of its item; the other figures are about the items as they were drawn."
            )
        beginning = self.data.beginning
        if beginning is not None and beginning.n < beginning.n_items:
            found.append(f"{NOT_ALIKE} Estimates are of {beginning.in_words}.")
        return [f"{self.name}: {words}" for words in found]

    @cached_property
    def clusters(self) -> IntArray:
        """The question of each unit of `given`."""
        return np.array([self.data.units[str(unit)].question for unit in self.given.units], dtype=np.int64)

    # Agreement with scores ------------------------------------------------------------------------------------------

    def about_score(self, arms: Arms | None) -> list[_Section]:
        """Mean agreement overall and by group, and what anchoring does."""
        return [_Section(0, lambda: self._of_score(arms))]

    def _of_score(self, arms: Arms | None) -> list[Aligned]:
        about: dict[str, Any] = {"criterion": self.name, "metric": self.human.about_score}
        found = mean_agreements(self.table, self.groupings, self.asked)
        if arms is not None and (pair := arms.grades(self.human)) is not None:
            seen, blind, clusters = pair
            effect = anchoring_effect(seen, blind, self.asked, clusters=clusters, against=arms.name, **about)
            found.append(effect)
        return [*found, *self._yielding()]

    def _yielding(self) -> list[Aligned]:
        """Blind judgement, score and grade of the same person, where the study asked for all three."""
        name = self.data.protocol.judged_blind.get(self.human.criterion.name)
        metric = next(iter(metrics_about(self.data.metrics, self.human.about_score)), None)
        if name is None or metric is None:
            return []
        blind = self.data.human(name)
        if blind.scale is None or blind.scale == (0.0, 0.0):
            return []
        low, high = blind.scale
        judged, scored, graded = {}, {}, {}
        clusters: dict[Hashable, Hashable] = {}
        for person, given in blind.people.items():
            for unit, value in given.items():
                key = (person, unit)
                judged[key] = (value - low) / (high - low)
                clusters[key] = self.data.units[unit].question
                if unit in metric.values:
                    scored[key] = metric.values[unit]
                if unit in self.human.people.get(person, {}):
                    graded[key] = self.human.people[person][unit]
        return yielding(
            judged, scored, graded, self.asked, clusters=clusters, criterion=self.name, metric=self.human.about_score
        )

    # Metrics --------------------------------------------------------------------------------------------------------

    def against_metrics(self) -> list[_Section]:
        """Every metric, every two of them, and the human ceiling."""
        human = self.human
        if human.reason:
            why = SPEARMAN.without_value(human.reason, 0, criterion=self.name)
            return [_Section(0, lambda: [why])]
        n_rows, metrics = len(self.table.rows), self.metrics
        if not n_rows or not metrics:
            reason = "nobody has labelled it yet" if not n_rows else "no metric or judge has values of these targets"
            why = SPEARMAN.without_value(reason, n_rows, criterion=self.name)
            return [_Section(0, lambda: [why])]
        found: list[_Section] = []
        for metric in metrics:
            found += [
                _Section(0, partial(self._association, metric)),
                _Section(2, partial(self._of_metric, metric)),
                _Section(3, partial(self._of_groups, metric)),
                _Section(2, partial(self._beside_annotators, metric)),
            ]
        found.append(_Section(1, partial(self._ceiling, metrics)))
        found += [
            _Section(4, partial(self._compared, first, second))
            for first, second in combinations(metrics[:MOST_COMPARED], 2)
        ]
        return found

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that this criterion is set against."""
        return comparable(self.human, self.data.metrics)

    @cached_property
    def one_each(self) -> Sequence[tuple[str, float]]:
        """One value a unit, settled or not."""
        if self.labels != "each":
            return self.table.rows
        return rows_of(self.data, self.human, "item")[0]

    @cached_property
    def given(self) -> PeopleLabels:
        """Everybody's labels as columns."""
        return PeopleLabels.of(self.human.people)

    @cached_property
    def table(self) -> HumanRows:
        """What people said, one row a unit or label, with the facts of its unit."""
        return HumanRows.of(self.data, self.human, self.labels)

    def notes(self, statistics: Sequence[Aligned]) -> list[str]:
        """What was left out or assumed, in the order of the statistics."""
        human = self.human
        if human.about_score is not None or human.reason:
            return []
        found = []
        if human.about_pairs and any(not metric.judge for metric in self.metrics):
            found.append(f"{self.name}: {APART}")
        if human.positive is not None:
            found.append(f'{self.name}: "{human.positive}" counts as 1, any other label as 0')
        if self.labels != "each" and human.binary and self.table.rows:
            found.append(f"{self.name}: {TAKEN_AS_RIGHT}")
        if self.table.ties:
            found.append(f"{self.name}: {self.table.ties:,} units on which people split evenly left out")
        mine = [
            statistic for statistic in statistics if statistic.criterion == self.name and statistic.name == "spearman"
        ]
        found += [
            f"{self.name}: {entry.metric} goes the other way; its decisions are read as they stand"
            for entry in mine
            if entry.group is None and entry.against is None and entry.high is not None and entry.high < 0
        ]
        if len(self.metrics) > MOST_COMPARED and self.table.rows:
            n = len(self.metrics)
            found.append(f"{self.name}: of {n} metrics the first {MOST_COMPARED} are compared in pairs")
        return found

    def _about(self, metric: Metric) -> dict[str, Any]:
        return {"criterion": self.name, "metric": metric.name}

    def _association(self, metric: Metric) -> list[Aligned]:
        return self._associated(self.table.pairs(metric), metric)

    def _associated(self, pairs: Pairs, metric: Metric, **group: Any) -> list[Aligned]:
        """All coefficients of one metric on these rows; of preferences also in how many pairs it has their sign."""
        about = {**self._about(metric), **group}
        found = association(pairs, self.asked, threshold=metric.threshold, **about)
        return [*found, preferred_alike(pairs, self.asked, **about)] if self.human.preferences else found

    def _of_metric(self, metric: Metric) -> Iterator[Aligned]:
        pairs, about = self.table.pairs(metric), self._about(metric)
        if self.human.calibrated_on is not None:
            yield calibration(pairs, self.asked, scale=self.human.calibrated_on, **about)[0]
        if not self.human.about_pairs:  # whose groups are pairs of systems, and have no ranking
            yield from system_ranking(pairs, self.asked, **about)
            yield from on_one_scale(pairs, self.asked, scale=self.human.scale, **about)
            if pairs.clustered and self.labels != "each":
                yield tie_calibrated_accuracy(pairs, self.asked, **about)

    def _of_groups(self, metric: Metric) -> Iterator[Aligned]:
        for by in self.groupings:
            grouped = self.table.pairs(metric, by)
            if len(grouped.groups) > 1:
                for group in grouped.groups:
                    yield from self._associated(grouped.of_group(group), metric, group=group, by=by)

    def _beside_annotators(self, metric: Metric) -> Iterator[Aligned]:
        yield from self._alternative(metric)
        yield from self._powered(metric)

    def _compared(self, first: Metric, second: Metric) -> list[Aligned]:
        pairs, other = self.table.compared(first, second)
        return compare(pairs, other, self.asked, criterion=self.name, metric=first.name, against=second.name)

    def _alternative(self, metric: Metric) -> list[Aligned]:
        """May the metric or judge replace an annotator: only where it can speak on the people's own scale."""
        human = self.human
        about: dict[str, Any] = {"criterion": self.name, "metric": metric.name}
        if human.scale is None or metric.scale is None or metric.threshold is None:
            reason = "the metric has no known scale that could be put on the people's"
            return [WINNING_RATE.without_value(reason, 0, **about)]
        if human.binary:
            judge = {unit: float(value >= metric.threshold) for unit, value in metric.values.items()}
        else:
            judge = on_their_scale(metric.values, metric.scale, human.scale)
        nominal = human.criterion.scale == "nominal"
        return alternative_annotator_test(
            self.given,
            judge,
            closeness="equal" if nominal else "distance",
            epsilon=self.epsilon,
            asked=self.asked,
            clusters=self.clusters,
            **about,
        )

    def _powered(self, metric: Metric) -> list[Aligned]:
        """The human mean over all that the metric has values of.

        A score of whole items: all current items of the project. A judge, or parts of items: all units of the study;
        so in a study ordered by a score, of which only labels of its judged beginning count. Labels that were drawn
        count by the probability with which their item was.
        """
        values = self.one_each
        said = dict(values)
        per = str(self.data.study.settings.get("per") or "")
        parts = [part for part in per.split(",") if part]
        about: dict[str, Any] = {"criterion": self.name, "metric": metric.name, "scale": self.human.scale}
        drawn = drawn_with(self.data.study)
        beginning = self.data.beginning
        if metric.judge or self.human.criterion.target != "item" or beginning is not None:
            units = [unit for unit in self.data.units if unit in metric.values]
            chances = None
            if beginning is not None:
                of_units = [beginning.chance.get(study_item_of(unit), np.nan) for unit in units]
                chances, parts = np.array(of_units, dtype=np.float64), []
                said = {unit: said[unit] for unit, p in zip(units, of_units, strict=True) if unit in said and p > 0}
            facts = [self.data.units[unit] for unit in units]
            if not units or (not self.data.strata and any(part not in facts[0].groups for part in parts)):
                parts = []
            return prediction_powered_mean(
                np.array([said.get(unit, np.nan) for unit in units], dtype=np.float64),
                np.array([metric.values[unit] for unit in units], dtype=np.float64),
                self.asked,
                clusters=[fact.question for fact in facts],
                strata=[self._stratum(fact.version_id, fact.groups, parts) for fact in facts] if parts else None,
                probabilities=chances,
                **about,
            )
        of_version = {self.data.units[unit].version_id: value for unit, value in values}
        before = set(self.data.study.settings.get("not_drawn_from") or ())
        items = [item for item in self.population() if metric.name in item.scores and item.item not in before]
        probabilities = None
        if drawn:
            probabilities = np.array([drawn.get(item.item, 0.0) for item in items], dtype=np.float64)
            of_version = {item.version_id: of_version[item.version_id] for item in items
                          if item.version_id in of_version and item.item in drawn}  # fmt: skip
            parts = []
        return prediction_powered_mean(
            np.array([of_version.get(item.version_id, np.nan) for item in items], dtype=np.float64),
            np.array([item.scores[metric.name] for item in items], dtype=np.float64),
            self.asked,
            clusters=np.array([item.question for item in items], dtype=np.int64),
            strata=[
                self._stratum(item.version_id, {"system": item.system, "category": item.category}, parts)
                for item in items
            ]
            if parts
            else None,
            probabilities=probabilities,
            **about,
        )

    def _stratum(self, version_id: int, groups: Mapping[str, str], parts: Sequence[str]) -> Hashable:
        """The stratum that the sample was drawn from which has this item."""
        strata = self.data.strata
        return strata.get(version_id, "") if strata else tuple(groups[part] for part in parts)

    def _ceiling(self, metrics: Sequence[Metric]) -> Iterator[Aligned]:
        human = self.human

        def scored(metric: Metric) -> npt.NDArray[np.bool_]:
            """Which of the labelled units the metric has scored."""
            return ~np.isnan(self.given.of_units(metric.values))

        for place, metric in enumerate(metrics):
            made = human_ceiling(
                self.given,
                metric.values,
                self.asked,
                binary=human.binary,
                threshold=metric.threshold,
                clusters=self.clusters,
                criterion=self.name,
                metric_name=metric.name,
            )
            # The ceiling of the units that the metric has scored; where all have scored all, it is one and the same.
            for entry in made:
                if entry.metric is not None:
                    yield entry
                elif place == 0 or (scored(metrics[0]) != scored(metric)).any():
                    yield entry if place == 0 else replace(entry, against=metric.name)


def drawn_with(study: Study) -> dict[str, float]:
    """Item → the probability with which an advice drew it into the study; empty where none did."""
    found = study.settings.get("drawn_with") or {}
    return {str(item): float(probability) for item, probability in found.items()}
