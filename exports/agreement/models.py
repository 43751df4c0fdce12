"""Rater models of one criterion as tables and plots: Dawid–Skene and MACE, how their fits went, what is uncertain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from annotators.agreement.rater_models.dawid_skene import DawidSkene, dawid_skene
from annotators.agreement.rater_models.mace import Mace, mace
from annotators.agreement.tables.ratings import COMPOSED, Ratings
from annotators.arrays import FloatArray
from annotators.later import Later
from exports.agreement.counts import word
from exports.drawing import charts
from exports.drawing.charts import COLOURS
from exports.drawing.figures import number, share
from exports.drawing.tables import TextTable

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

MOST_LABELS = 20
SMOOTHING = 0.01
"""Added to every expected count of Dawid–Skene on request: a label that somebody never gave is rare, not impossible."""


@dataclass(frozen=True, eq=False)
class RaterModels:
    """Both models of the same ratings, or why there is none."""

    title: str
    ratings: Ratings
    skene: DawidSkene | None
    mace: Mace | None
    reason: str | None = None

    @property
    def notes(self) -> list[str]:
        """How each fit went, and what belongs beside its figures."""
        if self.skene is None or self.mace is None:
            return [self.reason or ""]
        return [f"{model.in_words()}." for model in (self.skene, self.mace)] + [
            f"{name}: {note}."
            for name, model in (("Dawid–Skene", self.skene), ("MACE", self.mace))
            for note in model.notes
        ]

    @property
    def converged(self) -> bool:
        """Whether both fits ended because they gained nothing more."""
        fits = [model.fit for model in (self.skene, self.mace) if model is not None]
        return all(fit is not None and fit.converged for fit in fits)


def rater_models(
    title: str, ratings: Ratings, *, seed: int, resamples: int = 0, smoothing: float = 0.0, starts: int = 10
) -> RaterModels:
    """Fit both models; `resamples` over units give intervals. Sets, texts and many labels have a reason instead."""
    reason = None
    if ratings.scale in COMPOSED:
        reason = f"rater models need one label a rating; these are {ratings.scale}s"
    elif len(ratings.labels) > MOST_LABELS:
        reason = (
            f"there are {len(ratings.labels):,} labels, and a confusion matrix of more than {MOST_LABELS} says nothing"
        )
    if reason is not None:
        return RaterModels(title, ratings, None, None, reason)
    skene = dawid_skene(ratings, smoothing=smoothing, starts=starts, seed=seed, resamples=resamples)
    return RaterModels(
        title, ratings, skene, mace(ratings, starts=starts, seed=seed, resamples=resamples), skene.reason
    )


def raters_table(models: RaterModels) -> TextTable:
    """Accuracy and competence of each annotator, with intervals where resamples were asked for."""
    skene, other = models.skene, models.mace
    assert skene is not None
    assert other is not None
    rows = [
        [
            str(rater),
            _with_ends(skene.accuracy[i], None if skene.accuracy_interval is None else skene.accuracy_interval[i]),
            _with_ends(
                other.competence[i], None if other.competence_interval is None else other.competence_interval[i]
            ),
        ]
        for i, rater in enumerate(skene.raters)
    ]
    columns = ("Annotator", "Accuracy (Dawid–Skene)", "Competence (MACE)")
    return TextTable.of(f"{models.title}: how good each annotator is, by two models", columns, rows)


def classes_table(models: RaterModels) -> TextTable:
    """The share of each label among the ratings, and of each class as Dawid–Skene estimates it."""
    skene = models.skene
    assert skene is not None
    given = models.ratings.label_shares()
    ends = skene.prevalence_interval
    rows = [
        [word(label), share(given.get(label, 0.0)), _with_ends(skene.prevalence[k], None if ends is None else ends[k])]
        for k, label in enumerate(skene.labels)
    ]
    return TextTable.of(f"{models.title}: share of each label", ("Label", "Of the ratings", "Dawid–Skene"), rows)


def confusion_table(models: RaterModels, rater: int) -> TextTable:
    """Of the units whose label most likely is that of the row, the share to which the annotator gave the column's."""
    skene = models.skene
    assert skene is not None
    labels = [word(label) for label in skene.labels]
    rows = [
        [label, number(float(skene.seen[rater, k]), 1), *(_share(cell) for cell in skene.confusion[rater, k].tolist())]
        for k, label in enumerate(labels)
    ]
    caption = f"{models.title}: confusion of {skene.raters[rater]}"
    return TextTable.of(caption, ["Most likely", "Ratings seen", *labels], rows)


def confusion_plot(models: RaterModels, rater: int) -> alt.LayerChart | None:
    """The same as a heat map; None when the annotator is not expected to have seen anything."""
    skene = models.skene
    assert skene is not None
    labels = [word(label) for label in skene.labels]
    rows = [
        {"true": labels[i], "given": labels[j], "share": float(skene.confusion[rater, i, j])}
        for i in range(len(labels))
        for j in range(len(labels))
        if not np.isnan(skene.confusion[rater, i, j])
    ]
    if not rows:
        return None
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("given:N", sort=labels, title=f"Given by {skene.raters[rater]}", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("true:N", sort=labels, title="Most likely label"),
    )
    tiles = base.mark_rect().encode(
        color=alt.Color("share:Q", scale=alt.Scale(domain=[0, 1], scheme="blues"), title="share", legend=None),
        tooltip=[alt.Tooltip("true:N"), alt.Tooltip("given:N"), alt.Tooltip("share:Q", format=".1%")],
    )
    dark = alt.condition("datum.share > 0.55", alt.value(charts.ON_DARK), alt.value(charts.ON_LIGHT))
    words = base.mark_text().encode(text=alt.Text("share:Q", format=".2f"), color=dark)
    layered: alt.LayerChart = (tiles + words).properties(height=alt.Step(44))
    return layered


def competence_plot(models: RaterModels) -> alt.LayerChart:
    """Accuracy and competence of each annotator, with intervals where there are some."""
    skene, other = models.skene, models.mace
    assert skene is not None
    assert other is not None
    rows = []
    for name, values, ends in (
        ("Accuracy (Dawid–Skene)", skene.accuracy, skene.accuracy_interval),
        ("Competence (MACE)", other.competence, other.competence_interval),
    ):
        for i, rater in enumerate(skene.raters):
            low, high = (None, None) if ends is None else ends[i].tolist()
            rows.append({"annotator": str(rater), "model": name, "value": float(values[i]), "low": low, "high": high})
    frame = pd.DataFrame(rows)
    people = [str(rater) for rater in skene.raters]
    base = alt.Chart(frame).encode(
        y=alt.Y("annotator:N", sort=people, title=None),
        yOffset=alt.YOffset("model:N"),
        color=alt.Color("model:N", title=None, scale=alt.Scale(range=COLOURS)),
    )
    bars = charts.intervals(base, frame, strokeWidth=2).encode(
        x=alt.X("low:Q", **charts.values(None, 0, 1)), x2=alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("value:Q"),
        tooltip=[alt.Tooltip("annotator:N"), alt.Tooltip("model:N"), alt.Tooltip("value:Q", format=".3f")],
    )
    layered: alt.LayerChart = (bars + points).properties(height=alt.Step(16))
    return layered


@dataclass(frozen=True)
class UncertainUnit:
    """A unit (its place) with the most probable label of each model, how probable, and how uncertain, in bits."""

    unit: int
    skene: str
    probability: float
    bits: float
    mace: str


def uncertain_units(models: RaterModels, most: int = 50) -> list[UncertainUnit]:
    """The rated units of which Dawid–Skene is not sure (0.01 bits and more), the most uncertain first."""
    skene, other = models.skene, models.mace
    if skene is None or other is None or skene.fit is None:
        return []
    entropy = np.where(np.isnan(skene.entropy), -1.0, skene.entropy)
    order = np.argsort(-entropy, kind="stable")[:most]
    return [
        UncertainUnit(
            unit,
            _label(skene, unit),
            float(np.nanmax(skene.posterior[unit])),
            float(entropy[unit]),
            _label(other, unit),
        )
        for unit in order.tolist()
        if entropy[unit] >= 0.01
    ]


def posterior_table(models: RaterModels, names: list[tuple[str, str]]) -> TextTable:
    """How probable each label of each rated unit is, by both models; `names` has item and target of every unit."""
    skene, other = models.skene, models.mace
    assert skene is not None
    assert other is not None
    labels = [word(label) for label in skene.labels]
    rated = np.flatnonzero(~np.isnan(skene.posterior).any(axis=1)).tolist()
    rows = [
        [
            *names[unit],
            _label(skene, unit),
            *(number(probability, 4) for probability in skene.posterior[unit].tolist()),
            _label(other, unit),
            *(number(probability, 4) for probability in other.posterior[unit].tolist()),
        ]
        for unit in rated
    ]
    columns = ["Item", "Target", *(
        title for model in ("Dawid–Skene", "MACE") for title in (model, *(f"{model}: {label}" for label in labels))
    )]  # fmt: skip
    return TextTable.of(f"{models.title}: posterior of each unit", columns, rows)


def _label(model: DawidSkene | Mace, unit: int) -> str:
    """The most probable label of a unit, or that there are two."""
    row = model.posterior[unit]
    if np.isnan(row).any():
        return ""
    best = int(row.argmax())
    return "tie" if (row >= row[best] - 1e-9).sum() > 1 else word(model.labels[best])


def _with_ends(value: float, ends: FloatArray | None) -> str:
    if np.isnan(value):
        return "not defined: no ratings"
    text = number(float(value), 2)
    if ends is None or np.isnan(ends).any():
        return text
    return f"{text} [{number(float(ends[0]), 2)}, {number(float(ends[1]), 2)}]"


def _share(value: float) -> str:
    return "–" if np.isnan(value) else number(value, 2)
