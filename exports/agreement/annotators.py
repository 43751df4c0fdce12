"""Each annotator beside the rest as tables and plots: agreement, bias, labels, speed, drift, who labels like whom."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from annotators.agreement.annotators import AnnotatorAgreement, Similarity, agreement_with_reference
from annotators.agreement.pace import Drift, Speed, drifts, speeds
from annotators.agreement.tables.ratings import COMPOSED, Label, Ratings
from annotators.later import Later
from db.studies.ratings import StudyRatings
from exports.agreement.counts import shares_by_rater, word
from exports.drawing import charts
from exports.drawing.charts import COLOURS, QUIET
from exports.drawing.figures import figure, number, percent, seconds, share
from exports.drawing.tables import TextTable

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

MOST_LABELS = 20
"""More labels than this are no table that anybody can read."""


# Beside the rest ------------------------------------------------------------------------------------------------------


def beside_table(title: str, found: Sequence[AnnotatorAgreement], other: str = "the rest") -> TextTable:
    """Each annotator's agreement and κ with the others, or with labels that are taken as right."""
    ordered = any(annotator.difference is not None for annotator in found)
    columns = ["Annotator", "Ratings", "Shared units", "Agreement", "κ", *(["Mean difference"] if ordered else [])]
    rows = [
        [
            str(annotator.rater),
            f"{annotator.n_ratings:,}",
            f"{annotator.agreement.n_units:,}",
            percent(annotator.agreement),
            figure(annotator.kappa),
            *([figure(annotator.difference, sign=True)] if annotator.difference is not None else []),
        ]
        for annotator in found
    ]
    return TextTable.of(f"{title}: each annotator beside {other}", columns, rows)


def bias_table(title: str, found: Sequence[AnnotatorAgreement]) -> TextTable | None:
    """How many points more often each annotator gives a label than the others on the same units; None if too many."""
    labels = [word(cell.label) for cell in found[0].bias if cell.label is not None] if found else []
    if not labels:
        return None
    rows = [[str(annotator.rater), *(percent(cell, sign=True) for cell in annotator.bias)] for annotator in found]
    return TextTable.of(f"{title}: use of each label beside the others'", ["Annotator", *labels], rows)


def bias_plot(found: Sequence[AnnotatorAgreement]) -> alt.LayerChart | None:
    """The same with its intervals; a bar that does not touch 0 is a bias beyond chance, one in twenty by chance."""
    rows = [
        {
            "annotator": str(annotator.rater),
            "label": word(cell.label) if cell.label is not None else "",
            "value": cell.value,
            "low": cell.low,
            "high": cell.high,
        }
        for annotator in found
        for cell in annotator.bias
        if cell.value is not None
    ]
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    labels = list(dict.fromkeys(frame["label"]))
    y = alt.Y("annotator:N", sort=list(dict.fromkeys(frame["annotator"])), title=None)
    offset = alt.YOffset("label:N", sort=labels)
    colour = alt.Color("label:N", sort=labels, title=None, scale=alt.Scale(range=COLOURS))
    base = alt.Chart(frame).encode(y=y, yOffset=offset, color=colour)
    title = "Share of the label, minus the others' share of it"
    axis = charts.axis(format="+%")
    bars = charts.intervals(base, frame, strokeWidth=2).encode(
        x=alt.X("low:Q", axis=axis, title=title), x2=alt.X2("high:Q")
    )
    tips = [
        alt.Tooltip("annotator:N"),
        alt.Tooltip("label:N"),
        *(alt.Tooltip(f"{name}:Q", format="+.1%") for name in ("value", "low", "high")),
    ]
    points = base.mark_point(filled=True, size=50, opacity=1).encode(x=alt.X("value:Q"), tooltip=tips)
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=QUIET, strokeDash=[4, 3]).encode(x=alt.X("zero:Q"))
    layered: alt.LayerChart = (zero + bars + points).properties(height=alt.Step(max(9, 34 // len(labels))))
    return layered


def shares_table(title: str, ratings: Ratings) -> TextTable | None:
    """The share of each label by annotator, and in all; None for sets, texts and more labels than can be read."""
    if ratings.scale in COMPOSED or len(ratings.labels) > MOST_LABELS:
        return None
    labels = [word(label) for label in ratings.labels]
    sizes = np.bincount(ratings.rater, minlength=len(ratings.raters)).tolist()
    counts = dict(zip(map(str, ratings.raters), sizes, strict=True))
    rows = [
        [rater, f"{counts[rater]:,}", *(share(given.get(label, 0.0)) for label in labels)]
        for rater, given in shares_by_rater(ratings).items()
    ]
    whole = {word(label): of for label, of in ratings.label_shares().items()}
    rows.append(["All", f"{ratings.n_ratings:,}", *(share(whole.get(label, 0.0)) for label in labels)])
    return TextTable.of(f"{title}: share of each label by annotator", ["Annotator", "Ratings", *labels], rows)


def reference_agreement(
    ratings: Ratings, decided: Mapping[int, Label], *, resamples: int, seed: int
) -> tuple[AnnotatorAgreement, ...]:
    """Every annotator beside what adjudicators decided; decisions that are no label of the scale do not count."""
    known = set(ratings.labels)
    reference: dict[Hashable, Label] = {unit: label for unit, label in decided.items() if label in known}
    return agreement_with_reference(ratings, reference, resamples=resamples, seed=seed)


# Who labels like whom -------------------------------------------------------------------------------------------------


def similarity_table(title: str, found: Similarity) -> TextTable:
    """The coefficient of each pair; those who label alike stand together."""
    names = [str(found.raters[place]) for place in found.order]
    rows = [
        [
            names[row],
            *(
                "" if i == j else "–" if np.isnan(found.value[i, j]) else number(float(found.value[i, j]), 2)
                for j in found.order
            ),
        ]
        for row, i in enumerate(found.order)
    ]
    called = "Cohen's κ" if found.statistic == "cohen_kappa" else "raw agreement"
    return TextTable.of(f"{title}: {called} of each pair", ["Annotator", *names], rows)


# Speed and drift ------------------------------------------------------------------------------------------------------


def item_table(found: StudyRatings) -> Ratings:
    """Who judged which item, one entry an annotation in the order of the annotations sorted by item, then person."""
    order = np.lexsort((found.annotations.person, found.annotations.item))
    people, rater = np.unique(found.annotations.person[order], return_inverse=True)
    return Ratings(
        units=tuple(range(len(found.items.study_item))),
        raters=tuple(found.names[person] for person in people.tolist()),
        labels=("judged",),
        scale="nominal",
        unit=found.annotations.item[order],
        rater=rater,
        code=np.zeros(len(order), dtype=np.int64),
        numbers=np.zeros(1),
        numeric=False,
    )


def item_pace(found: StudyRatings) -> tuple[tuple[Speed, ...], tuple[Drift, ...]]:
    """How long each annotator takes an item, and how that changes: whole items, whatever the criterion."""
    table = item_table(found)
    order = np.lexsort((found.annotations.person, found.annotations.item))
    spent, when = found.annotations.seconds[order], found.annotations.time[order]
    return speeds(table, spent), drifts(table, when, spent)


def speed_table(study: str, found: Sequence[Speed], changes: Sequence[Drift]) -> TextTable:
    """Seconds an item, beside the others on the same items, and how the time changes from the first to the last."""
    rows = []
    for annotator, change in zip(found, changes, strict=True):
        median = annotator.median
        ends = "" if median.low is None else f" [{seconds(median.low)}, {seconds(median.high)}]"
        rows.append(
            [
                str(annotator.rater),
                f"{median.n:,}",
                f"not defined: {median.reason}" if median.value is None else seconds(median.value) + ends,
                ""
                if annotator.quartiles is None
                else f"{seconds(annotator.quartiles[0])} – {seconds(annotator.quartiles[1])}",
                seconds(annotator.total),
                figure(annotator.relative),
                figure(change.speed),
            ]
        )
    columns = ("Annotator", "Items", "Median an item", "Quartiles", "In all", "Times the others'", "Last over first")
    return TextTable.of(f"{study}: time an item", columns, rows)


def drift_table(title: str, found: Sequence[Drift]) -> TextTable:
    """How each annotator's agreement with the others changes from the first rating to the last."""
    rows = []
    for annotator in found:
        known = [stretch.agreement for stretch in annotator.stretches if stretch.agreement is not None]
        ends = [share(known[0]), share(known[-1])] if known else ["", ""]
        rows.append([str(annotator.rater), f"{annotator.n_ratings:,}", *ends, percent(annotator.agreement, sign=True)])
    columns = ("Annotator", "Ratings", "First stretch", "Last stretch", "Change along a line")
    return TextTable.of(f"{title}: agreement with the others, first to last", columns, rows)


def drift_plot(found: Sequence[Drift], *, speed: bool = False) -> alt.LayerChart | None:
    """Agreement with the others (or, with `speed`, the median time an item) in stretches of each annotator's work."""
    rows = [
        {
            "annotator": str(annotator.rater),
            "at": (stretch.start + stretch.stop) / 2,
            "value": stretch.seconds if speed else stretch.agreement,
        }
        for annotator in found
        for stretch in annotator.stretches
        if (stretch.seconds if speed else stretch.agreement) is not None
    ]
    if len(rows) <= len({row["annotator"] for row in rows}):
        return None
    frame = pd.DataFrame(rows)
    people = list(dict.fromkeys(frame["annotator"]))
    y = charts.counts("Median seconds an item") if speed else charts.shares("Agreement with the others")
    base = alt.Chart(frame).encode(
        x=alt.X("at:Q", **charts.counts("The annotator's ratings, first to last")),
        y=alt.Y("value:Q", **y),
        color=alt.Color("annotator:N", sort=people, title=None, scale=alt.Scale(domain=people, range=COLOURS)),
        tooltip=[alt.Tooltip("annotator:N"), alt.Tooltip("value:Q", format=".1f" if speed else ".1%")],
    )
    stretches = frame["annotator"].map(frame["annotator"].value_counts())
    lines = base.mark_line().transform_filter(  # a line through two points says no more than the points
        alt.FieldOneOfPredicate("annotator", sorted(set(frame["annotator"][stretches > 2])))
    )
    layered: alt.LayerChart = (lines + base.mark_point(filled=True, size=50, opacity=1)).properties(height=220)
    return layered
