"""Preferences between two answers: how often each system won, how strong each is, and whether the side mattered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlmodel import col

from annotators.arrays import BoolArray, FloatArray, IntArray
from annotators.criteria import Criterion
from annotators.intervals.bootstrap import Resampling
from annotators.paired_comparisons import ALL_TIES, ONE_WAY, Comparisons, bradley_terry, strength_interval
from annotators.protocols import Protocol
from db.elsewhere.came_back import HANDED_OVER
from db.models import Annotation, Batch, Item, ItemVersion, StudyItem
from db.query import pick
from exports.drawing.figures import figure, share
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import WHOSE, CriterionLabels, StudyLabels, is_preference
from exports.results.shares import cell, share_of

WON, TIED, STRENGTH, LEFT, AGAINST = "won", "tied", "strength", "left preferred", "won against"
ELSEWHERE = "the labels were made elsewhere, and it is not known which answer stood left"
HOW = (
    "Won and tied are shares of a system's comparisons. Strength is the logarithm of its worth in the Bradley–Terry "
    "model with Davidson's ties (1970): 0 is the average of the systems, and one that is stronger by 1 is preferred "
    "e times as often as the other, ties aside. Ties are estimated and not shared out as half wins, so that how often "
    "people see no difference does not draw the systems together."
)
HEADS = (
    "Head to head: of the comparisons of two systems, ties among them, the share in which that of the row won against "
    "that of the column; in brackets how many there are."
)
NAMED = 4
"""Systems up to which the columns of a table of each against each have their names; more have the number of the row."""
SIDES = "Left preferred is the share of the labels without ties that are for the answer on the left; 50 % is chance."


@dataclass(frozen=True, eq=False)
class _Sides:
    """Of each pair, by its place among the study's items: its two systems (places in `systems`), and who stood left.

    `seen`: whoever labelled it saw these sides; of labels that were made elsewhere, it is not known which they saw,
    unless the study had been handed over to where they were made.
    """

    systems: list[str]
    first: IntArray
    second: IntArray
    second_left: IntArray
    seen: BoolArray

    @classmethod
    def of(cls, labels: StudyLabels) -> _Sides:
        """Read them."""
        with labels.db.read() as session:

            def systems_of(version: object) -> dict[int, tuple[str, bool]]:
                query = (
                    pick(StudyItem.id, Item.system, StudyItem.other_left)
                    .join(ItemVersion, col(ItemVersion.id) == version)
                    .join(Item, col(Item.id) == ItemVersion.item_id)
                    .where(col(StudyItem.study_id) == labels.study_id)
                )
                return {row[0]: (row[1], row[2]) for row in session.execute(query)}

            first, second = systems_of(StudyItem.item_version_id), systems_of(StudyItem.other_version_id)
            imported = (
                pick(Annotation.study_item_id)
                .join(Batch, col(Batch.id) == Annotation.batch_id)
                .where(col(Annotation.study_id) == labels.study_id, col(Batch.format) != HANDED_OVER)
            )
            elsewhere = set(session.execute(imported).scalars())
        systems = sorted({system for side in (first, second) for system, _ in side.values()})
        place = {system: number for number, system in enumerate(systems)}
        ids = labels.items.study_item.tolist()
        return cls(
            systems,
            np.array([place[first[item][0]] for item in ids], dtype=np.int64),
            np.array([place[second[item][0]] if item in second else -1 for item in ids], dtype=np.int64),
            np.array([first[item][1] for item in ids], dtype=np.int64),
            np.array([item not in elsewhere for item in ids], dtype=np.bool_),
        )


class Preference:
    """For protocols about pairs: shares of wins and ties, Bradley–Terry strengths, and the effect of the position.

    Of three systems and more also how each did against each. Labels are numbers from the first system (below zero) to
    the second; only their sign counts here. How much better is in the report of shares.
    """

    name = "preference"
    order = 10
    of_judges = True

    def fits(self, protocol: Protocol) -> bool:
        """Protocols with a criterion about pairs whose labels are numbers."""
        return any(is_preference(criterion) for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A section a criterion."""
        sides = _Sides.of(labels)
        figures: list[Figure] = []
        sections = []
        for criterion in filter(is_preference, labels.protocol.criteria):
            given = [labels.labels(criterion.name, whose) for whose in labels.whose]
            mine = [found for some in given for found in _figures(labels, some, sides, asked)]
            figures += mine
            of_sides = [found for found in mine if found.name == LEFT]
            known = not any(found.reason == ELSEWHERE for found in of_sides)
            against = [] if len(sides.systems) < 3 else list(_head_to_head(criterion, mine, sides.systems))
            words = [HOW, *([HEADS] if against else [])]
            words += [SIDES if known else f"Nothing can be said of the side: {ELSEWHERE}."]
            tables = [_systems(criterion, mine), *against, *([_position(criterion, of_sides)] if known else [])]
            sections.append(Section(f"Preference: {criterion.title}", tables, words=words))
        return Findings(figures, sections)


REPORTS.register(Preference())


def _figures(study: StudyLabels, labels: CriterionLabels, sides: _Sides, asked: Resampling) -> Iterator[Figure]:
    signs = np.sign(np.array([float(value) for value in labels.distinct], dtype=np.float64)).astype(np.int64)
    sign = signs[labels.value] if labels.n else labels.value
    first, second = sides.first[labels.item], sides.second[labels.item]
    for number, system in enumerate(sides.systems):
        here = np.flatnonzero((first == number) | (second == number))
        mine, said = labels.chosen(here), sign[here]
        won = np.where(first[here] == number, said < 0, said > 0).astype(np.float64)
        tied = (said == 0).astype(np.float64)
        yield share_of(study, mine, won, asked, name=WON, group=system, by="system")
        yield share_of(study, mine, tied, asked, name=TIED, group=system, by="system")
        for other, beside in enumerate(sides.systems):
            both = np.flatnonzero((first[here] == other) | (second[here] == other))
            if other != number and len(both):
                met = labels.chosen(here[both])
                yield share_of(study, met, won[both], asked, name=AGAINST, group=system, by="system", label=beside)
    yield from _strengths(study, labels, sides, sign, asked)
    yield _left(study, labels, sides, sign, asked)


def _strengths(
    study: StudyLabels, labels: CriterionLabels, sides: _Sides, sign: IntArray, asked: Resampling
) -> Iterator[Figure]:
    first, second = sides.first[labels.item], sides.second[labels.item]
    there = np.flatnonzero(second >= 0)
    cluster = np.unique(study.cluster[labels.item[there]], return_inverse=True)[1].astype(np.int64)
    comparisons = Comparisons(len(sides.systems), first[there], second[there], sign[there], cluster)
    measured = bradley_terry(comparisons, replace(asked, over=study.over)) if len(there) else None
    for number, system in enumerate(sides.systems):
        n = int(((first == number) | (second == number)).sum())
        about = Figure(
            name=STRENGTH, n=n, criterion=labels.criterion.name, group=system, by="system", labels=labels.whose,
            is_share=False,
        )  # fmt: skip
        if measured is None or not n:
            yield about.undefined("nobody has compared it yet")
        elif np.isnan(measured.values[number]):
            yield about.undefined(ONE_WAY if comparisons.outcome.any() else ALL_TIES)
        else:
            interval = strength_interval(measured, number, asked)
            yield about.measured(float(measured.values[number]), [interval])


def _left(study: StudyLabels, labels: CriterionLabels, sides: _Sides, sign: IntArray, asked: Resampling) -> Figure:
    """How often the answer on the left was preferred, of labels that prefer one and of which the sides are known."""
    seen = sides.seen[labels.item]
    decided = np.flatnonzero((sign != 0) & seen)
    chosen: FloatArray = ((sign[decided] > 0) == (sides.second_left[labels.item[decided]] > 0)).astype(np.float64)
    found = share_of(study, labels.chosen(decided), chosen, asked, name=LEFT)
    if labels.n and not seen.any():
        return replace(found, value=None, interval=None, method=None, beside=()).undefined(ELSEWHERE)
    return found


def _title(whose: str) -> str:
    return next((title for name, title in WHOSE.items() if name == whose), WHOSE["each"])


def _systems(criterion: Criterion, figures: Sequence[Figure]) -> TextTable:
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for found in figures:
        if found.group is not None and found.labels is not None and found.label is None:
            rows.setdefault((found.group, found.labels), {})[found.name] = found
    lines = [
        [
            system, _title(whose), cell(cells[WON]), cell(cells[TIED]),
            figure(cells[STRENGTH]), f"{cells[WON].n:,}",
        ]
        for (system, whose), cells in sorted(rows.items())
    ]  # fmt: skip
    return TextTable.of(f"{criterion.title}: systems", ["System", "Labels", "Won", "Tied", "Strength", "n"], lines)


def _head_to_head(criterion: Criterion, figures: Sequence[Figure], systems: Sequence[str]) -> Iterator[TextTable]:
    """A row and a column a system, of settled labels and of single annotators'."""
    for whose, title in WHOSE.items():
        met = {
            (found.group, found.label): f"{share(found.value, 0)} ({found.n:,})"
            for found in figures if found.name == AGAINST and found.labels == whose
        }  # fmt: skip
        if met:
            rows, columns = list(systems), list(systems)
            if len(systems) > NAMED:
                rows = [f"{number}. {system}" for number, system in enumerate(systems, 1)]
                columns = [f"{number}." for number in range(1, len(systems) + 1)]
            lines = [
                [row, *(met.get((system, other), "") for other in systems)]
                for row, system in zip(rows, systems, strict=True)
            ]
            caption = f"{criterion.title}: head to head, {title[0].lower()}{title[1:]}"
            yield TextTable.of(caption, ["System", *columns], lines)


def _position(criterion: Criterion, sides: Sequence[Figure]) -> TextTable:
    rows = [[WHOSE[found.labels or "each"], cell(found), f"{found.n:,}"] for found in sides]
    return TextTable.of(f"{criterion.title}: position", ["Labels", "Left preferred", "n"], rows)
