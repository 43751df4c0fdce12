"""What a judge said beside what people, or another judge, said of the same units: both values and their difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from annotators.alignment.statistics.means import mean_agreement
from annotators.criteria import Criterion
from annotators.criteria.base import written
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from exports.drawing.figures import figure as in_figures
from exports.drawing.figures import percent
from exports.drawing.report_files import Section
from exports.drawing.tables import DASH, TextTable
from exports.results.base import Figure, Findings
from exports.results.labels import GROUPINGS, CriterionLabels, StudyLabels, Whose

_Unit = tuple[int, str]
"""Place of the item in the study, and target."""

_Number = Callable[[Any], float | None]


def beside(own: StudyLabels, other: StudyLabels, whose: Whose, called: str, asked: Resampling) -> Findings:
    """The figures of one source beside those of another of the same study, criterion by criterion.

    Only units that both have labelled count; of single annotators (`whose` is each) a unit has the mean of what they
    said. Of each label it is the share, of grades and numbers the mean; the difference is `own` less `other`, with a t
    interval that takes the units of an item (or question) together. Texts and orders have none.
    """
    figures: list[Figure] = []
    sections = []
    for criterion in (column.criterion for column in own.found.criteria):
        mine, theirs = own.labels(criterion.name, own.whose[-1]), other.labels(criterion.name, whose)
        made = [
            figure
            for what in _asked_of(criterion)
            for figure in _compared(own, criterion, (mine, theirs), what, called, asked)
        ]
        if made:
            figures += made
            only = len(_units(mine) ^ _units(theirs))
            sections.append(_section(own, criterion, made, called, only))
    return Findings(figures, sections)


def _asked_of(criterion: Criterion) -> Iterator[tuple[str, str | None, _Number, tuple[float, float]]]:
    """(name, label, what a value counts as, ends of the difference) of each figure of a criterion."""
    for one in criterion.label_list() if criterion.compared else ():
        label = written(one.value)
        yield "share", label, partial(_has, criterion, label), (-1.0, 1.0)
    numbers = criterion.as_numbers()
    if criterion.ordered and numbers.scale is not None:
        reach = numbers.scale[1] - numbers.scale[0]
        yield "mean", None, numbers.number, (-reach, reach)


def _has(criterion: Criterion, label: str, value: Any) -> float:
    return float(label in criterion.labels_in(value))


def _units(labels: CriterionLabels) -> set[_Unit]:
    return set(zip(labels.item.tolist(), labels.about, strict=True))


def _by_unit(labels: CriterionLabels, number: _Number) -> Mapping[_Unit, float]:
    """Unit → the mean of what was said of it."""
    values = [number(value) for value in labels.distinct]
    given: dict[_Unit, list[float]] = defaultdict(list)
    for item, about, place in zip(labels.item.tolist(), labels.about, labels.value.tolist(), strict=True):
        value = values[place]
        if value is not None:
            given[item, about].append(value)
    return {unit: sum(said) / len(said) for unit, said in given.items()}


def _compared(  # noqa: PLR0917 - the parts of one figure
    study: StudyLabels,
    criterion: Criterion,
    labels: tuple[CriterionLabels, CriterionLabels],
    what: tuple[str, str | None, _Number, tuple[float, float]],
    called: str,
    asked: Resampling,
) -> Iterator[Figure]:
    """The difference over all units, then over those of each system and category where there are several."""
    name, label, number, scale = what
    mine, theirs = (_by_unit(of, number) for of in labels)
    both = sorted(mine.keys() & theirs.keys())
    if not both:
        nothing = Figure(
            name=name, n=0, criterion=criterion.name, label=label, is_share=name == "share", against=called
        )
        yield nothing.undefined("nothing was labelled by both")
        return
    differences = [mine[unit] - theirs[unit] for unit in both]
    clusters = study.cluster[[item for item, _ in both]].tolist()
    for place, by in enumerate((None, *GROUPINGS)):
        if by is not None and not study.groups(by):
            continue
        groups = None
        if by is not None:
            names, of = study.grouped(by)
            groups = [names[of[item]] for item, _ in both]
        found = mean_agreement(differences, groups, asked, clusters=clusters, scale=scale, by=by)
        for entry in found[1:] if place else found:
            if entry.name != "mean_agreement":
                continue
            chosen = [unit for position, unit in enumerate(both) if groups is None or groups[position] == entry.group]
            yield Figure(
                name=name, n=len(chosen), criterion=criterion.name, group=entry.group, by=by, label=label,
                is_share=name == "share", against=called, value=entry.value, interval=entry.interval,
                method=entry.method, reason=entry.reason, own=_mean(mine, chosen), other=_mean(theirs, chosen),
            )  # fmt: skip


def _mean(values: Mapping[_Unit, float], units: Sequence[_Unit]) -> float:
    return sum(values[unit] for unit in units) / len(units)


def _section(study: StudyLabels, criterion: Criterion, figures: Sequence[Figure], called: str, only: int) -> Section:
    titles = {written(one.value): one.title for one in criterion.label_list()}
    tables = []
    for by in (None, *GROUPINGS):
        rows = [
            [
                *([figure.group or ""] if by else []),
                titles.get(figure.label or "", figure.label or "") if figure.name == "share" else "Mean",
                *(DASH if value is None else _value(figure, value) for value in (figure.own, figure.other)),
                DASH if figure.value is None else _difference(figure),
                f"{figure.n:,}",
            ]
            for figure in sorted(figures, key=lambda one: one.group or "")
            if figure.by == by
        ]
        if rows:
            first = ["Label"] if by is None else [by.capitalize(), "Label"]
            columns = [*first, study.called, called.capitalize(), "Difference", "Units"]
            tables.append(TextTable.of(f"{criterion.title}" + (f" by {by}" if by else ""), columns, rows))
    words = [f"The difference is {study.called} less {called}, over units that both labelled."]
    if only:
        words.append(f"{count(only, 'unit was', 'units were')} labelled by one of the two only.")
    return Section(f"{criterion.title}: {study.called} beside {called}", tables, words=words)


def _value(figure: Figure, value: float) -> str:
    return f"{100 * value:.1f} %" if figure.is_share else f"{value:.2f}"


def _difference(figure: Figure) -> str:
    return percent(figure) if figure.is_share else in_figures(figure)
