"""Agreement of adjudicators: how far two who decided the same items, blind to each other, decided alike."""

from __future__ import annotations

from annotators.intervals.bootstrap import Resampling
from annotators.protocols import Protocol
from db.adjudicating.stages import double_decided, is_double
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.coefficients import raw_and_coefficient
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
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol with labels that are compared."""
        return any(criterion.compared for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A row a criterion."""
        if not is_double(labels.study):
            return Findings()
        found = double_decided(labels.db, labels.actor, labels.study_id)
        figures: list[Figure] = []
        rows: list[list[object]] = []
        for criterion in labels.protocol.criteria:
            decided = [unit for unit in found.units if unit.criterion == criterion.name]
            units = [(unit.study_item_id, unit.target) for unit in decided]
            values = [*(unit.first for unit in decided), *(unit.second for unit in decided)]
            raters = [FIRST] * len(units) + [SECOND] * len(units)
            measured = raw_and_coefficient(
                labels, criterion, [*units, *units], raters, values, asked=asked, name="adjudicators"
            )
            if measured is None:
                continue
            raw, coefficient, called = measured
            figures += [raw, coefficient]
            rows.append([criterion.title, f"{len(units):,}", cell(raw), called, cell(coefficient)])
        words = (
            f"Two adjudicators have decided {found.items:,} {'item' if found.items == 1 else 'items'} blind to each "
            f"other; a final round has decided {found.finals:,}. What both decided alike is final."
        )
        columns = ["Criterion", "Units that both decided", "Raw agreement", "Coefficient", "Its value"]
        table = TextTable.of("Agreement of two adjudicators", columns, rows, words=["Criterion", "Coefficient"])
        return Findings(figures, [Section("Agreement of adjudicators", [table] if rows else [], words=[words])])


REPORTS.register(Adjudicators())
