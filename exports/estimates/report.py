"""What is estimated of a criterion, the tables that show it, and the sentence that a paper can print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotators.errors import InvalidInput
from annotators.estimates.chosen import unlike_a_draw
from annotators.estimates.coefficients import coefficients
from annotators.estimates.designs import DesignPlan, planned_designs
from annotators.estimates.means import (
    ACTIVE,
    CLASSICAL,
    HELPS,
    Mean,
    differences,
    kinds_of,
    mean_of,
    mean_with_raters_alike,
    means,
    ranks,
)
from annotators.estimates.means import saves as saves_labels
from annotators.estimates.planning import labels_needed, needed_for
from annotators.estimates.sample import ITEMS, OF, Estimate, Units
from annotators.estimates.sequence import differences_at_any_time, mean_at_any_time
from db.engine import Database
from db.permissions import Actor
from exports.alignment.sections import number
from exports.drawing.report_files import Section, made_by
from exports.drawing.tables import TextTable
from exports.estimates.data import BY, StudyUnits, study_units
from exports.estimates.raters import designs_in_words, designs_table, raters_part

TITLES = {
    "mean": "Mean",
    "difference": "Difference",
    "rank": "Rank",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "auroc": "AUROC",
    "f1": "F1",
    "labels_needed": "Labels needed",
}
KINDS = {
    "classical": "labels alone",
    "ppi": "with predictions",
    "active": "with predictions and weights",
    "anytime": "at every look",
    "alike": "raters like these",
}


@dataclass(frozen=True, eq=False)
class EstimateReport:
    """All estimates of one criterion: of `what` (a study or a table), by which predictions, with what was assumed.

    `stop` is the half-width at which the study may stop, where its design has one. `called` is the title of the
    criterion, or the column of the table. `designs` are designs of equal cost, where they were asked for.
    `wins`: the mean is the share of pairs that the first answer wins.
    """

    what: str
    criterion: str
    of: str
    level: float
    seed: int
    statistics: Sequence[Estimate]
    notes: Sequence[str]
    units: Units
    mean: Mean
    stop: float | None = None
    called: str = ""
    designs: DesignPlan | None = None
    wins: bool = False

    def find(self, name: str, group: str | None = None) -> Estimate | None:
        """The estimate of this name."""
        return next((e for e in self.statistics if (e.name, e.group) == (name, group) and e.metric is None), None)

    @property
    def kind(self) -> str:
        """The kind of the best estimate that there is: with predictions where they have a value."""
        kind = kinds_of(self.units)[-1]
        found = self.find(f"mean_{kind}")
        return kind if found is not None and found.value is not None else CLASSICAL

    @property
    def best(self) -> Estimate:
        """The mean of all by the best kind."""
        found = self.find(f"mean_{self.kind}")
        assert found is not None
        return found

    @property
    def saved(self) -> bool:
        """Whether predictions or the drawing saved labels."""
        return self.mean.reason is None and saves_labels(self.mean)

    @property
    def reached(self) -> bool:
        """Whether the sequence is as narrow as the design asks."""
        sequence = self.find("mean_anytime")
        half = None if sequence is None else sequence.half_width
        return self.stop is not None and half is not None and half <= self.stop

    def to_json(self) -> dict[str, Any]:
        """As `assay estimate --json` prints it."""
        found: dict[str, Any] = {
            "of": self.of,
            "criterion": self.criterion,
            "predictions": list(self.units.names),
            "level": self.level,
            "seed": self.seed,
            "stop_at": self.stop,
            "stop_reached": self.reached,
            "raters": raters_part(self.units).to_json(),
            "statistics": [entry.to_json() for entry in self.statistics],
            "notes": [*self.notes, *raters_part(self.units).in_words],
            "sentence": self.sentence(),
        }
        return found if self.designs is None else found | {"designs": self.designs.to_json()}

    def sentence(self) -> str:
        """What a paper says of the mean, or why there is nothing to say."""
        best = self.best
        sequence = self.find("mean_anytime")
        if best.value is None:
            return f"There is no mean of “{self.called}” yet: {best.reason}."
        figure = "share that the first answer wins" if self.wins else "mean"
        parts = [f"The {figure} of “{self.called}” of {self.units.whom} is {number(best.value)}"]
        entry = best
        if self.stop is not None and sequence is not None and sequence.value is not None:
            entry = sequence
        parts.append(f", {100 * self.level:g} % [{number(entry.low)}, {number(entry.high)}]")
        what = f", from {_labels_in_words(self.units, best.n_labelled)}"
        if self.kind != CLASSICAL and (self.mean.factors > 0).any():
            what += f" and predictions for {best.n_predicted:,}"
        tags = ["anytime-valid"] * (entry is sequence) + ["weighted"] * (self.units.probability is not None)
        tags += ["finite population"] * (self.units.beyond == 0)
        tags += raters_part(self.units).tags
        return "".join([*parts, what, f"; {', '.join(tags)}" if tags else "", "."])

    # A report as files have it -----------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What the report is called."""
        return f"{self.called}: estimates from few labels"

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """What it is made of."""
        return [
            ("Of", self.what),
            ("About", self.units.whom),
            ("Labelled", f"{self.units.n_labelled:,}"),
            ("Predictions", ", ".join(self.units.names) or "none"),
            ("Intervals", f"{100 * self.level:g} %, seed {self.seed}"),
            made_by(),
        ]

    def sections(self) -> list[Section]:
        """The tables: estimates, and what predictions bought."""
        words = [self.sentence(), *raters_part(self.units).in_words]
        found = [Section("Estimates", [estimates_table(self), strata_table(self)], words=words)]
        if self.designs is not None:
            plan = [designs_table(self.designs, self.called)] if self.designs.rows else []
            found.append(Section("Designs at equal labels", plan, words=designs_in_words(self.designs)))
        return found


def estimate_report(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    criterion: str | None = None,
    predict: Sequence[str] = (),
    of: str = ITEMS,
    by: str | None = None,
    width: float | None = None,
    labels: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[EstimateReport, StudyUnits]:
    """The estimates of a criterion of a study, and the units that they are of; see `study_units` for what it raises.

    InvalidInput for what they cannot be `of` or `by`, and a level outside 0..1.
    """
    if of not in OF:
        raise InvalidInput(f"Estimates are of {' or '.join(OF)}, not of {of!r}.")
    if by is not None and by not in BY:
        raise InvalidInput(f"Estimates are by {' or '.join(BY)}, not by {by!r}.")
    if not 0 < level < 1:
        raise InvalidInput(f"level {level} is not between 0 and 1: give a share such as 0.95")
    found = study_units(db, actor, study_id, criterion=criterion, predict=predict)
    return report_on(found, of=of, by=by, width=width, labels=labels, level=level, seed=seed), found


def report_on(
    found: StudyUnits,
    *,
    of: str = ITEMS,
    by: str | None = None,
    width: float | None = None,
    labels: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> EstimateReport:
    """The estimates of a criterion of a study from its units."""
    units = found.units(of=of, by=by, seed=seed)
    stop = found.study.settings.get("stop_at")
    # A metric's own threshold: half-way up its scale, as in alignment.
    thresholds = {metric.name: metric.threshold for metric in found.metrics if metric.threshold is not None}
    return report_of(
        units,
        what=f"study {found.study.name}",
        criterion=found.human.criterion.name,
        called=found.human.criterion.title,
        wins=found.human.about_pairs,
        of=of,
        level=level,
        width=width,
        labels=labels,
        stop=None if stop is None else float(stop),
        thresholds=thresholds,
        notes=found.notes,
    )


def report_of(
    units: Units,
    *,
    what: str,
    criterion: str,
    called: str | None = None,
    wins: bool = False,
    of: str,
    level: float = 0.95,
    width: float | None = None,
    labels: int | None = None,
    stop: float | None = None,
    thresholds: dict[str, float] | None = None,
    notes: Sequence[str] = (),
) -> EstimateReport:
    """Every estimate of these units; `called` is what people know the criterion as, where that is not its name.

    Labels that do not look drawn are said in the notes. With a `width` or a number of `labels` there are the designs of
    equal cost as well.
    """
    found = [*means(units, level), mean_at_any_time(units, stop, level)]
    if units.labels is not None:
        found.append(mean_with_raters_alike(units, level))
    if units.groups:
        found += [*differences(units, level), *differences_at_any_time(units, stop, level), *ranks(units, level)]
    compared = coefficients(units, thresholds, level)
    found += compared
    if width is not None:
        found += labels_needed(units, width, level)
        found += _needed_for_others(units, [*compared, *differences(units, level)], width)
    picked = unlike_a_draw(units)
    if picked is not None:
        notes = [f"Caution: {picked.in_words()}", *notes]
    plan = None
    if width is not None or labels is not None:
        plan = planned_designs(units, labels=labels, width=width, level=level)
    return EstimateReport(
        what,
        criterion,
        of,
        level,
        units.seed,
        found,
        notes,
        units,
        mean_of(units),
        stop,
        called or criterion,
        plan,
        wins,
    )


def _needed_for_others(units: Units, found: Sequence[Estimate], width: float) -> list[Estimate]:
    """Labels needed for coefficients of metrics and differences of groups, by how wide they are now."""
    total = units.n if units.beyond == 0 else None
    needed = needed_for([(entry, entry.n_labelled) for entry in found], width, total)
    made = []
    for entry, n in zip(found, needed, strict=True):
        about = Estimate(
            name=f"labels_needed_{entry.name}",
            group=entry.group,
            metric=entry.metric,
            n_labelled=entry.n_labelled,
            n_predicted=entry.n_predicted,
        )
        if n is None:
            made.append(about.undefined(entry.reason or "it has no interval"))
        else:
            words = f"for an interval {width:g} wide, by its width with {entry.n_labelled:,} labels"
            made.append(replace(about, value=float(n), method=words))
    return made


def _labels_in_words(units: Units, n: int) -> str:
    """ "60 labels", or "72 labels of 60 items, 6 of them labelled by several"."""
    if units.n_ratings == units.n_labelled:
        return f"{n:,} labels"
    several = "all" if units.n_several == n else f"{units.n_several:,} of them"
    return f"{units.n_ratings:,} labels of {n:,} items, {several} labelled by several"


def name_in_words(name: str) -> str:
    """`mean_ppi` as "Mean, with predictions"."""
    base, _, kind = name.rpartition("_")
    if kind not in KINDS:
        return TITLES.get(name, name)
    if base.startswith("labels_needed_"):
        return f"{TITLES['labels_needed']}: {name_in_words(name.removeprefix('labels_needed_'))}"
    return f"{TITLES.get(base, base)}, {KINDS[kind]}"


def estimates_table(report: EstimateReport) -> TextTable:
    """Every estimate with its interval, how many labels it is of, and what they are worth."""
    rows = []
    for entry in report.statistics:
        if entry.name == f"mean_{ACTIVE}" and report.units.probability is None:
            continue
        digits = 0 if entry.name.startswith("labels_needed") else 1 if entry.name.startswith("rank") else 3
        value = _figure(entry, digits)
        rows.append(
            [
                name_in_words(entry.name),
                entry.metric or entry.group or "all",
                value,
                f"{entry.n_labelled:,}",
                "" if entry.effective_n is None else f"{entry.effective_n:,.0f}",
                entry.reason or "",
            ]
        )
    columns = ("Estimate", "Of", "Value", "Labels", "Effective n", "Why not")
    return TextTable.of(f"{report.called}: estimates of {report.units.whom}", columns, rows, words=["Of"])


def _figure(entry: Estimate, digits: int) -> str:
    """`0.725 [0.641, 0.790]`, or a dash."""
    if entry.value is None:
        return "–"
    if entry.low is None or entry.high is None:
        return number(entry.value, digits)
    return f"{number(entry.value, digits)} [{number(entry.low, digits)}, {number(entry.high, digits)}]"


def bought(n: int, effective: float) -> str:
    """What predictions and drawing bought, in words."""
    if effective < HELPS * n:
        return "nothing saved"
    saved = round(effective - n)
    return f"{saved:,} label{'s' * (saved != 1)} saved"


def strata_table(report: EstimateReport) -> TextTable:
    """What it bought in each stratum and in all: correlation, λ, effective sample size, labels saved."""
    units, made = report.units, report.mean
    rows = []
    for place, name in enumerate(units.strata):
        here = units.stratum == place
        n = int((units.labelled & here).sum())
        row = [name or "all", f"{int(here.sum()):,}", f"{n:,}"]
        if made.limits is None or len(units.strata) == 1:
            rows.append([*row, *_of_all(made)])
            continue
        effective = made.effective_of(place)
        r = made.limits.parts.correlation(place)
        rows.append(
            [
                *row,
                number(r, 2),
                number(float(made.factors[place]), 2),
                "" if effective is None else f"{effective:,.0f}",
                "too few labels to say" if effective is None else _words(made, n, effective, r),
            ]
        )
    if len(units.strata) > 1:
        rows.append(["all", f"{units.n:,}", f"{units.n_labelled:,}", *_of_all(made)])
    columns = ("Stratum", "Items", "Labelled", "Correlation", "λ", "Effective n", "What it bought")
    return TextTable.of(f"{report.called}: what it bought", columns, rows, words=["What it bought"])


def _of_all(made: Mean) -> list[str]:
    if made.limits is None:
        return ["", "", "", made.reason or ""]
    n, effective = made.limits.n, made.effective or 0.0
    r, factor = made.limits.parts.correlation(), float(np.mean(made.factors))
    return [number(r, 2), number(factor, 2), f"{effective:,.0f}", _words(made, n, effective, r)]


def _words(made: Mean, n: int, effective: float, r: float) -> str:
    words = bought(n, effective)
    if words == "nothing saved" and not made.units.names:
        return f"{words}: there are no predictions"
    return f"{words}: the predictions are poor here" if words == "nothing saved" and r < 0.3 else words
