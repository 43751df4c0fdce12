"""The units behind the figures: confusion of two annotators, and every unit with what each of them gave."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import streamlit as st

from app import ui, wording
from app.pages.agreement.shared import View, item_link, kept, table
from app.widgets import blocks
from app.widgets.plots import plot
from exports.agreement import plots as agreement_plots
from exports.agreement.counts import Counts, UnitRows, Wanted, confusion_of, held_by, units_behind, word
from exports.agreement.study import CriterionReport
from exports.drawing.tables import TextTable

SHOWN = 200
EVERYBODY = "everybody"
DIFFERENT, ALL = "different labels", "any labels"
MOST_LABELS = 20
MOST_PAIRS = 300


def draw(view: View) -> None:
    """The choice of units, the confusion of a pair, and the units."""
    criterion = view.criterion
    if criterion is None:
        return
    if view.hidden:
        ui.empty(
            "You annotate in this study and have not judged everything yet.",
            "Labels of others appear here when you have submitted your last item.",
        )
        return
    wanted, counts = _choice(view, criterion)
    if (
        counts
        and wanted.between is not None
        and criterion.ratings is not None
        and len(criterion.ratings.labels) <= MOST_LABELS
    ):
        _confusion(view, criterion, wanted.between, counts)
    _units(view, criterion, wanted)


def _choice(view: View, criterion: CriterionReport) -> tuple[Wanted, Counts]:
    """Which units are asked for (from the address at first), and the confusion of the pair if there is one."""
    name = criterion.criterion.name
    asked = st.query_params
    people = sorted(criterion.found.names[person] for person in criterion.column.people)
    pairs: list[Any] = [EVERYBODY, *list(combinations(people, 2))[:MOST_PAIRS]]
    pair = (asked.get("first", ""), asked.get("second", ""))
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-units-choice"):
        between = st.selectbox(
            "Annotators",
            pairs,
            index=pairs.index(pair) if pair in pairs else 0,
            format_func=lambda given: given if isinstance(given, str) else " and ".join(given),
            key=f"units-between-{name}",
        )
        counts = {}
        if between != EVERYBODY and criterion.ratings is not None:
            counts = kept(view, "confusion", between, confusion_of, criterion.ratings, between)
        gave = _gave(criterion, between, counts)
        label = _label(criterion) if between == EVERYBODY else None
        by_category = _part(criterion, "category")
        by_system = _part(criterion, "system")
    cell = gave if isinstance(gave, tuple) else None
    chosen = Wanted(
        differing=gave == DIFFERENT,
        between=None if between == EVERYBODY else between,
        gave=cell,
        label=label,
        category=by_category,
        system=by_system,
    )
    return chosen, counts


def _gave(criterion: CriterionReport, between: object, counts: Counts) -> object:
    """Different labels, any, or one cell of the confusion."""
    cells = sorted(counts, key=lambda cell: (cell[0] == cell[1], -counts[cell], cell))
    options: list[Any] = [DIFFERENT, ALL, *cells]
    asked = (st.query_params.get("gave", ""), st.query_params.get("other", ""))
    place = options.index(asked) if asked in options else options.index(ALL) if "all" in st.query_params else 0
    return st.selectbox(
        "Who gave",
        options,
        index=place,
        format_func=lambda cell: cell if isinstance(cell, str) else f"{cell[0]} / {cell[1]} ({counts.get(cell, 0):,})",
        key=f"units-gave-{criterion.criterion.name}-{between}",
    )


def _label(criterion: CriterionReport) -> str | None:
    labels = list(criterion.shares)
    if len(labels) < 2 or len(labels) > MOST_LABELS:
        return None
    asked = st.query_params.get("label", "")
    options = ["any", *labels]
    picked = st.selectbox(
        "Somebody gave",
        options,
        index=options.index(asked) if asked in labels else 0,
        key=f"units-label-{criterion.criterion.name}",
    )
    return None if picked == "any" else picked


def _part(criterion: CriterionReport, by: str) -> str | None:
    """The category or system of the items, where there are several."""
    values = set(criterion.found.items.category if by == "category" else criterion.found.items.system)
    if len(values) < 2:
        return None
    named = sorted(value or "" for value in values)
    options: list[str | None] = [None, *named]
    asked = st.query_params.get(by)
    return st.selectbox(
        by.capitalize(),
        options,
        index=options.index(asked) if asked in named else 0,
        format_func=lambda value: "all" if value is None else value or f"no {by}",
        key=f"units-{by}-{criterion.criterion.name}",
    )


def _confusion(view: View, criterion: CriterionReport, between: tuple[str, str], counts: Counts) -> None:
    """The confusion of the pair as a table whose numbers lead to their units, then as a heat map."""
    assert criterion.ratings is not None
    labels = [word(label) for label in criterion.ratings.labels]
    first, second = between
    about = {"project": view.study.project_id, "study": view.study.study_id, "criterion": criterion.criterion.name}
    cells = [
        [
            row,
            *(
                blocks.to(
                    f"{counts[row, column]:,}", "agreement", **about, show="units", first=first, second=second,
                    gave=row, other=column,
                )
                if (row, column) in counts
                else "0"
                for column in labels
            ),
        ]
        for row in labels
    ]  # fmt: skip
    held = kept(view, "held", between, held_by, criterion.ratings, between)
    caption = f"{criterion.title}: {first} (rows) and {second} (columns); {held}"
    shown = TextTable.of(caption, [f"{first} / {second}", *labels], cells)
    table(shown, f"confusion-{view.slug}", cells)
    plot(agreement_plots.confusion(counts, between, labels), f"confusion-{view.slug}", caption, stretch=False)


def _units(view: View, criterion: CriterionReport, wanted: Wanted) -> None:
    """The units with what everybody gave; a label against the majority stands out."""
    found = kept(view, "units", wanted, units_behind, criterion, wanted, SHOWN)
    words = wording.count(found.total, "unit")
    what = " on which annotators differ" if wanted.differing else ""
    caption = f"{criterion.title}: {words}{what}"
    if not found.total:
        ui.empty(f"No unit of {criterion.title} is so.", "Choose other annotators, labels or items above.")
        return
    raters = _raters(criterion, found, wanted)
    rows = [
        [item_link(view, unit.item_id, unit.item), "" if unit.target == "item" else unit.target,
         *_cells(unit.labels, raters)]
        for unit in found.units
    ]  # fmt: skip
    table(TextTable.of(caption, ["Item", "Target", *raters], rows), f"units-{view.slug}", rows)
    if found.total > len(found.units):
        st.caption(f"The first {len(found.units)} of {found.total:,} are shown; the export of labels has all.")


def _raters(criterion: CriterionReport, found: UnitRows, wanted: Wanted) -> list[str]:
    """The annotators whose labels are columns: the pair first, then those who labelled a unit that is shown."""
    there = {name for unit in found.units for name in unit.labels}
    pair = list(wanted.between or ())
    return [*pair, *sorted(there - set(pair))]


def _cells(labels: dict[str, str], raters: list[str]) -> list[object]:
    votes = Counter(labels.values())
    most = max(votes.values())
    return [
        "" if rater not in labels else blocks.odd(labels[rater]) if votes[labels[rater]] < most else labels[rater]
        for rater in raters
    ]
