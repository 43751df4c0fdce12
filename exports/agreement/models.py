"""Rater models of one criterion as tables and plots: how good raters are, which units are hard, what is uncertain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annotators.agreement.rater_models.dawid_skene import DawidSkene, dawid_skene
from annotators.agreement.rater_models.fitted import RaterModel
from annotators.agreement.rater_models.glad import Glad, glad
from annotators.agreement.rater_models.mace import Mace, mace
from annotators.agreement.tables.ratings import COMPOSED, Ratings
from annotators.arrays import FloatArray
from annotators.later import Later
from exports.agreement.counts import word
from exports.drawing import charts
from exports.drawing.charts import COLOURS
from exports.drawing.figures import number, share
from exports.drawing.tables import TextTable, as_text

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
    """The models of the same ratings, or why there is none."""

    title: str
    ratings: Ratings | None
    skene: DawidSkene | None
    mace: Mace | None
    glad: Glad | None
    reason: str | None = None

    @property
    def fitted(self) -> list[tuple[str, RaterModel]]:
        """The models by their names."""
        named = (("Dawid–Skene", self.skene), ("MACE", self.mace), ("GLAD", self.glad))
        return [(name, model) for name, model in named if model is not None]

    @property
    def notes(self) -> list[str]:
        """How each fit went, and what belongs beside its figures; what several say, once."""
        if not self.fitted:
            return [self.reason or ""]
        said: dict[str, list[str]] = {}
        for name, model in self.fitted:
            for note in model.notes:
                said.setdefault(note, []).append(name)
        return [f"{model.in_words()}." for _, model in self.fitted] + [
            f"{', '.join(names)}: {note}." for note, names in said.items()
        ]

    @property
    def converged(self) -> bool:
        """Whether all fits ended because they gained nothing more."""
        return all(model.fit is not None and model.fit.converged for _, model in self.fitted)

    def to_json(self, named: Mapping[Hashable, str] | None = None) -> dict[str, Any]:
        """As `assay agreement --rater-models --json` has them; `named` is what units are called, by their key."""
        models = [model.to_json() for _, model in self.fitted]
        for unit in (unit for model in models for unit in model["units"]):
            unit["unit"] = str(unit["unit"]) if named is None else named[unit["unit"]]
        return {"reason": self.reason, "models": models}

    def in_words(self, named: Mapping[Hashable, str] | None = None) -> str:
        """The tables in columns of text, the notes below."""
        if self.skene is None or self.skene.fit is None:
            return f"{self.title}: no rater model: {self.reason}."
        tables = [raters_table(self), classes_table(self), hard_table(self, named)]
        return "\n\n".join([*(f"{table.caption}\n{as_text(table)}" for table in tables), "\n".join(self.notes)])


def rater_models(
    title: str, ratings: Ratings | None, *, seed: int, resamples: int = 0, smoothing: float = 0.0, starts: int = 10
) -> RaterModels:
    """Fit the models; `resamples` over units give intervals. Sets, texts and many labels have a reason instead."""
    reason = None
    if ratings is None:
        reason = "its labels are not compared"
    elif ratings.scale in COMPOSED:
        reason = f"rater models need one label a rating; these are {ratings.scale}s"
    elif len(ratings.labels) > MOST_LABELS:
        reason = (
            f"there are {len(ratings.labels):,} labels, and a confusion matrix of more than {MOST_LABELS} says nothing"
        )
    if ratings is None or reason is not None:
        return RaterModels(title, ratings, None, None, None, reason)
    skene = dawid_skene(ratings, smoothing=smoothing, starts=starts, seed=seed, resamples=resamples)
    return RaterModels(
        title,
        ratings,
        skene,
        mace(ratings, starts=starts, seed=seed, resamples=resamples),
        glad(ratings, seed=seed, resamples=resamples),
        skene.reason,
    )


def _of_raters(models: RaterModels) -> list[tuple[str, FloatArray, FloatArray | None]]:
    """What each model says of how good raters are, 0 to 1: its title, the values, their intervals."""
    skene, other, third = models.skene, models.mace, models.glad
    assert skene is not None
    assert other is not None
    assert third is not None
    return [
        ("Accuracy (Dawid–Skene)", skene.accuracy, skene.accuracy_interval),
        ("Competence (MACE)", other.competence, other.competence_interval),
        ("Accuracy on all units (GLAD)", third.accuracy, third.accuracy_interval),
    ]


def raters_table(models: RaterModels) -> TextTable:
    """How good each annotator is by each model, with intervals where resamples were asked for."""
    third = models.glad
    assert third is not None
    figures = [*_of_raters(models), ("Ability (GLAD)", third.ability, third.ability_interval)]
    rows = [
        [str(rater), *(_with_ends(values[i], None if ends is None else ends[i]) for _, values, ends in figures)]
        for i, rater in enumerate(third.raters)
    ]
    columns = ("Annotator", *(title for title, _, _ in figures))
    return TextTable.of(f"{models.title}: how good each annotator is, by three models", columns, rows)


def classes_table(models: RaterModels) -> TextTable:
    """The share of each label among the ratings, and of each class as Dawid–Skene estimates it."""
    skene = models.skene
    assert skene is not None
    assert models.ratings is not None
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
    """What each model says of each annotator, with intervals where there are some."""
    skene = models.skene
    assert skene is not None
    rows = []
    for name, values, ends in _of_raters(models):
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


@dataclass(frozen=True)
class HardUnit:
    """A unit (its place), how probable a rater of mean ability is to be right, how hard it is, and its label by GLAD.

    `difficulty` is - log β with its standard error: 0 above which raters are not much better than a coin.
    """

    unit: int
    right: float
    difficulty: float
    error: float
    label: str


def hardest_units(models: RaterModels, most: int = 50) -> list[HardUnit]:
    """The rated units by the item-response model, the hardest first."""
    model = models.glad
    if model is None or model.fit is None:
        return []
    return [
        HardUnit(
            unit,
            float(model.expected[unit]),
            -float(model.ease[unit]),
            float(model.ease_error[unit]),
            _label(model, unit),
        )
        for unit in model.hardest[:most]
    ]


HARD_COLUMNS = ("Right label by GLAD", "A mean rater is right", "Difficulty", "± its error")


def hard_cells(unit: HardUnit) -> list[str]:
    """The cells of a hard unit below `HARD_COLUMNS`."""
    return [unit.label, number(unit.right, 2), number(unit.difficulty, 2), number(unit.error, 2)]


def hard_table(models: RaterModels, named: Mapping[Hashable, str] | None = None, most: int = 20) -> TextTable:
    """The hardest units; `named` is what units are called, by their key."""
    assert models.ratings is not None
    keys = models.ratings.units
    rows = [
        [str(keys[unit.unit]) if named is None else named[keys[unit.unit]], *hard_cells(unit)]
        for unit in hardest_units(models, most)
    ]
    return TextTable.of(f"{models.title}: the {len(rows)} hardest units", ("Unit", *HARD_COLUMNS), rows)


def posterior_table(models: RaterModels, names: list[tuple[str, str]]) -> TextTable:
    """How probable each label of each rated unit is, by each model; `names` has item and target of every unit."""
    skene, other, third = models.skene, models.mace, models.glad
    assert skene is not None
    assert other is not None
    assert third is not None
    labels = [word(label) for label in skene.labels]
    rated = np.flatnonzero(~np.isnan(skene.posterior).any(axis=1)).tolist()
    rows = [
        [
            *names[unit],
            _label(skene, unit),
            *(number(probability, 4) for probability in skene.posterior[unit].tolist()),
            _label(other, unit),
            *(number(probability, 4) for probability in other.posterior[unit].tolist()),
            _label(third, unit),
            *(number(probability, 4) for probability in third.posterior[unit].tolist()),
            number(-float(third.ease[unit]), 3) if not np.isnan(third.ease[unit]) else "",
        ]
        for unit in rated
    ]
    columns = ["Item", "Target", *(
        title
        for model in ("Dawid–Skene", "MACE", "GLAD")
        for title in (model, *(f"{model}: {label}" for label in labels))
    ), "Difficulty"]  # fmt: skip
    return TextTable.of(f"{models.title}: posterior of each unit", columns, rows)


def _label(model: RaterModel, unit: int) -> str:
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
