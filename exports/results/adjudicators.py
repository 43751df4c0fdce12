"""Agreement of adjudicators: how far two who decided the same items, blind to each other, decided alike."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from annotators.agreement.catalogue import default_statistics, headline
from annotators.agreement.measure import measure
from annotators.agreement.statistics.base import all_coefficients
from annotators.agreement.tables.ratings import Ratings
from annotators.criteria import Criterion
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Statistic
from annotators.protocols import Protocol
from db.adjudicating.stages import TwoDecisions, double_decided, is_double
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import StudyLabels
from exports.results.shares import cell

FIRST, SECOND = "first", "second"


class Adjudicators:
    """Of double adjudication: raw agreement of the two blind rounds and the coefficient of the criterion's scale.

    Units count that both decided, of items that both have done: what both left to the labels says nothing about them.
    Nothing where a study is adjudicated by one person an item.
    """

    name = "adjudicators"
    order = 94

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol with labels that are compared."""
        return any(criterion.compared for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A row a criterion and coefficient."""
        if not is_double(labels.study):
            return Findings()
        found = double_decided(labels.db, labels.actor, labels.study_id)
        figures: list[Figure] = []
        rows: list[list[object]] = []
        titles = {coefficient.name: coefficient.title for coefficient in all_coefficients()}
        for criterion in labels.protocol.criteria:
            units = [unit for unit in found.units if unit.criterion == criterion.name]
            measured = _measured(labels, criterion, units, asked) if units else []
            if not measured:
                continue
            raw, coefficient = (_figure(criterion, statistic) for statistic in (measured[0], measured[-1]))
            figures += [raw, coefficient]
            called = titles[measured[-1].name]
            rows.append([criterion.title, f"{len(units):,}", cell(raw), called, cell(coefficient)])
        words = (
            f"Two adjudicators have decided {found.items:,} {'item' if found.items == 1 else 'items'} blind to each "
            f"other; a final round has decided {found.finals:,}. What both decided alike is final."
        )
        columns = ["Criterion", "Units that both decided", "Raw agreement", "Coefficient", "Its value"]
        table = TextTable.of("Agreement of two adjudicators", columns, rows, words=["Criterion", "Coefficient"])
        return Findings(figures, [Section("Agreement of adjudicators", [table] if rows else [], words=[words])])


REPORTS.register(Adjudicators())


def _measured(
    study: StudyLabels, criterion: Criterion, units: list[TwoDecisions], asked: Resampling
) -> list[Statistic]:
    scale = criterion.measured_scale
    if not criterion.compared or scale is None:
        return []
    each = range(len(units))
    table = Ratings.from_triples(
        [*each, *each],
        [FIRST] * len(units) + [SECOND] * len(units),
        [*(unit.first for unit in units), *(unit.second for unit in units)],
        criterion.stored_labels() or None,
        scale,
    )
    of = dict(zip(study.items.study_item.tolist(), study.cluster.tolist(), strict=True))
    clusters: dict[Hashable, Hashable] = {place: of[unit.study_item_id] for place, unit in enumerate(units)}
    several = len(np.unique(list(clusters.values()))) < len(units)
    return measure(
        table,
        list(dict.fromkeys((default_statistics(table)[0], headline(scale)))),
        asked.resamples,
        asked.seed,
        asked.level,
        kind=asked.kind,
        clusters=clusters if several else None,
        over=study.over,
    )


def _figure(criterion: Criterion, statistic: Statistic) -> Figure:
    name = f"adjudicators_{statistic.name}"
    about = Figure(
        name=name, n=statistic.n_units, criterion=criterion.name, is_share=statistic.name == "percent_agreement"
    )
    if statistic.value is None or statistic.interval is None:
        return about.undefined(statistic.reason or "no unit has been decided by both")
    return about.measured(statistic.value, [statistic.interval, *statistic.beside], statistic.note)
