"""Alignment of a table that stands alone: one column of human values, one or more of metrics, no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from annotators.alignment import (
    TESTS,
    Pairs,
    alternative_annotator_test,
    association,
    calibration,
    compare,
    human_ceiling,
    mean_agreement,
    on_one_scale,
    prediction_powered_mean,
    small_sample_warnings,
    system_ranking,
    tie_calibrated_accuracy,
)
from annotators.alignment.statistics.alternative_annotator import WINNING_RATE, on_their_scale
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.multiplicity import adjusted
from annotators.intervals.result import Aligned
from exports.columns.columns import Columns
from exports.columns.mapping import AS_IT_IS, TableMapping, read_mapped, said_of_columns
from exports.columns.together import rows_together


@dataclass(frozen=True)
class MetricColumns:
    """Which columns of a table are what; `unit` and `rater` say whose judgement of what a row is."""

    human: str
    metrics: tuple[str, ...]
    group: str | None = None
    cluster: str | None = None
    unit: str | None = None
    rater: str | None = None

    def said(self) -> str:
        """A sentence that says which column is what."""
        return said_of_columns(vars(self))


@dataclass(frozen=True)
class TableAlignment:
    """All statistics of a table, with what they were made from; `pairs` holds the rows of each metric."""

    table: str
    n_rows: int
    asked: Resampling
    statistics: Sequence[Aligned]
    notes: Sequence[str]
    pairs: dict[str, Pairs]
    warnings: Sequence[str] = ()
    read: Sequence[str] = ()
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As `assay alignment --table … --json` prints it."""
        return {
            "table": self.table,
            "rows": self.n_rows,
            "seed": self.asked.seed,
            "resamples": self.asked.resamples,
            "level": self.asked.level,
            "statistics": [statistic.to_json() for statistic in self.statistics],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "read": list(self.read),
            "missing": {name: dict(counted) for name, counted in self.missing.items()},
        }


def align_table(
    path: Path,
    named: MetricColumns,
    asked: Resampling | None = None,
    *,
    threshold: float | None = None,
    positive: str | None = None,
    epsilon: float = 0.2,
    scale: tuple[float, float] | None = None,
    mapping: TableMapping = AS_IT_IS,
) -> TableAlignment:
    """Every statistic of the metrics' columns against the human one, over all rows and by group.

    Human values are numbers, or two words of which `positive` (default: yes, true, correct, …) counts as 1. Rows of one
    `cluster` are resampled together; a row without one stands alone. With `unit` and `rater` also the human ceiling and
    the alternative annotator test; rows of one unit are then a cluster, unless a cluster is named. `scale` has the ends
    of the people's scale; without it two labels go from 0 to 1 and numbers from the lowest to the highest that there
    is, which a note says. `mapping` says how the table is opened and its values are read.
    Raises InvalidInput naming file, line and column for a value that is no number or not on the
    scale, and NotFound for a column that is not there.
    """
    table = read_mapped(path, mapping)
    if not named.metrics:
        raise InvalidInput("No column of a metric is named. Name at least one with --metric.")
    if (named.unit is None) != (named.rater is None):
        raise InvalidInput("A unit and a rater go together: name both columns, or neither.")
    human, word = table.judgements(named.human, positive)
    notes = [f'{named.human}: "{word}" counts as 1, any other value as 0'] if word else []
    ends, where = _human_scale(table, named.human, human, scale)
    notes += [where] if where else []
    work = _Measuring(
        table=table,
        named=named,
        asked=asked or Resampling(),
        human=human,
        threshold=threshold,
        epsilon=epsilon,
        scale=ends,
    )
    found = mean_agreement(
        human, work.groups, work.asked, clusters=work.clusters, by=named.group, scale=ends, **work.about
    )
    if work.together is not None:
        notes.append(work.together.in_words("--cluster"))
    pairs = {name: work.pairs(name) for name in named.metrics}
    for name in named.metrics:
        found += work.of_metric(name, pairs[name])
    for first, second in combinations(named.metrics, 2):
        found += work.compared(first, second)
    everything = Pairs.of(human, np.zeros(len(human)), clusters=work.clusters)
    warnings = small_sample_warnings(everything, work.asked.over)
    warnings = [*(f"Caution: {caution}" for caution in table.cautions), *warnings]
    read = [named.said(), *table.what_was_read()]
    found = adjusted(found, TESTS)
    return TableAlignment(table.name, len(table.lines), work.asked, found, notes, pairs, warnings, read, table.missing)


def _human_scale(
    table: Columns, column: str, human: Sequence[float | None], given: tuple[float, float] | None
) -> tuple[tuple[float, float] | None, str]:
    """The ends of the people's scale, None where all values are one, and what is to be said of them."""
    if given is not None:
        for value, line in zip(human, table.lines, strict=True):
            if value is not None and not given[0] <= value <= given[1]:
                raise InvalidInput(
                    f"{table.name}, line {line}: {column!r} is {value:g}, outside the scale {given[0]:g} to "
                    f"{given[1]:g}. Correct the value or --human-scale."
                )
        return given, f"{column}: the scale goes from {given[0]:g} to {given[1]:g}"
    said = {value for value in human if value is not None}
    if said <= {0.0, 1.0}:
        return (0.0, 1.0), ""
    low, high = min(said), max(said)
    where = "the lowest and highest value there is; --human-scale says others"
    return ((low, high) if low < high else None), f"{column}: the scale goes from {low:g} to {high:g}, {where}"


class _Measuring:
    """A table being measured."""

    def __init__(
        self,
        *,
        table: Columns,
        named: MetricColumns,
        asked: Resampling,
        human: list[float | None],
        threshold: float | None,
        epsilon: float,
        scale: tuple[float, float] | None,
    ) -> None:
        self.table, self.named, self.human = table, named, human
        self.threshold, self.epsilon, self.scale = threshold, epsilon, scale
        self.about: dict[str, Any] = {"criterion": named.human}
        self.groups = table.keys(named.group)
        self.clusters, self.together = rows_together(table, named.cluster, named.unit)
        owner = named.cluster or (self.together.column if self.together else named.unit)
        self.asked = asked if owner is None else replace(asked, over=f"clusters by {owner}")

    @property
    def _by_rater(self) -> bool:
        """Whether rows are judgements of several raters of one unit, which are no two answers."""
        return self.named.rater is not None

    def pairs(self, name: str) -> Pairs:
        """The rows of one metric."""
        rows = list(range(len(self.human)))
        return Pairs.of(self.human, self.table.numbers(name), clusters=self.clusters, groups=self.groups, units=rows)

    def of_metric(self, name: str, pairs: Pairs) -> list[Aligned]:
        """One metric over all rows and by group, and beside people where the table says who judged what."""
        about: dict[str, Any] = {**self.about, "metric": name}
        found = association(pairs, self.asked, threshold=self.threshold, **about)
        if self.scale is not None:
            found.append(calibration(pairs, self.asked, scale=self.scale, **about)[0])
        found += on_one_scale(pairs, self.asked, scale=self.scale, **about)
        if pairs.clustered and not self._by_rater:
            found.append(tie_calibrated_accuracy(pairs, self.asked, **about))
        found += self._powered(name)
        if self.groups is not None:
            found += system_ranking(pairs, self.asked, **about)
        for group in pairs.groups:
            part = pairs.of_group(group)
            by = self.named.group
            found += association(part, self.asked, threshold=self.threshold, group=group, by=by, **about)
        if self.named.unit is not None and self.named.rater is not None:
            found += self._beside_people(name, self.named.unit, self.named.rater)
        return found

    def _powered(self, name: str) -> list[Aligned]:
        """The human mean of all rows with a score (or of all units, where there are some), of which few were judged."""
        scores = self.table.numbers(name)
        units = self.table.keys(self.named.unit)
        rows: dict[Any, list[int]] = {}
        for row in range(len(scores)):
            rows.setdefault(row if units is None or units[row] is None else (units[row],), []).append(row)
        said, scored, clusters = [], [], []
        for members in rows.values():
            given = [value for row in members if (value := self.human[row]) is not None]
            found = [value for row in members if (value := scores[row]) is not None]
            said.append(float(np.mean(given)) if given else np.nan)
            scored.append(float(np.mean(found)) if found else np.nan)
            clusters.append(members[0] if self.clusters is None else self.clusters[members[0]])
        if not any(np.isnan(human) and not np.isnan(score) for human, score in zip(said, scored, strict=True)):
            return []  # every row was judged: the mean is in the table of means
        return prediction_powered_mean(
            np.array(said), np.array(scored), self.asked, clusters=clusters, scale=self.scale, metric=name, **self.about
        )

    def compared(self, first: str, second: str) -> list[Aligned]:
        """Two metrics on the same rows."""
        pairs = self.pairs(first)
        scores = self.table.numbers(second)
        other = np.array([scores[int(str(i))] for i in pairs.units], dtype=np.float64)
        return compare(pairs, other, self.asked, metric=first, against=second, **self.about)

    def _on_their_scale(self, metric: dict[str, float]) -> tuple[dict[str, float], str]:
        """The metric's values on people's scale, 0 to 1 stretched over it, or why they cannot be put there."""
        if self.scale is None or not metric:
            return metric, "people gave one and the same value" if metric else "the metric has no value"
        low, high = self.scale
        least, most = min(metric.values()), max(metric.values())
        if least >= 0 and most <= 1:
            return on_their_scale(metric, (0.0, 1.0), self.scale), ""
        if low <= least and most <= high:
            return metric, ""
        return metric, f"the metric goes from {least:g} to {most:g}, which is neither 0 to 1 nor people's scale"

    def _beside_people(self, name: str, unit: str, rater: str) -> list[Aligned]:
        people: dict[str, dict[str, float]] = {}
        metric: dict[str, float] = {}
        clusters: dict[str, Any] = {}
        units, raters = self.table.keys(unit) or [], self.table.keys(rater) or []
        for i, score in enumerate(self.table.numbers(name)):
            what, who, label = units[i], raters[i], self.human[i]
            if what is None or who is None:
                continue
            if self.clusters is not None:
                clusters[what] = self.clusters[i]
            if score is not None:
                metric[what] = score
            if label is None:
                continue
            if what in people.setdefault(who, {}):
                where = f"{self.table.name}, line {self.table.lines[i]}"
                raise InvalidInput(f"{where}: {who!r} judged {what!r} before. Keep one of the two rows.")
            people[who][what] = label
        binary = {label for given in people.values() for label in given.values()} <= {0.0, 1.0}
        cut = self.threshold
        if cut is None and all(0 <= score <= 1 for score in metric.values()):
            cut = 0.5
        decides = binary and cut is not None
        judge = {what: float(score >= (cut or 0.0)) for what, score in metric.items()} if decides else metric
        ceiling = human_ceiling(
            people,
            metric,
            self.asked,
            binary=binary,
            threshold=cut,
            clusters=clusters,
            criterion=self.named.human,
            metric_name=name,
        )
        first = name == self.named.metrics[0]
        kept = [statistic for statistic in ceiling if first or statistic.metric is not None]
        if binary and not decides:
            reason = "the metric has no threshold of its own outside 0 to 1: give one"
            return [*kept, WINNING_RATE.without_value(reason, 0, metric=name, **self.about)]
        if not binary:
            judge, reason = self._on_their_scale(metric)
            if reason:
                return [*kept, WINNING_RATE.without_value(reason, 0, metric=name, **self.about)]
        return kept + alternative_annotator_test(
            people,
            judge,
            closeness="equal" if binary else "distance",
            epsilon=self.epsilon,
            asked=self.asked,
            clusters=clusters,
            metric=name,
            **self.about,
        )
