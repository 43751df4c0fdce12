"""What the page Fewer labels shows of a study: how each criterion stands, and one of them at length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotators.errors import AssayError
from annotators.estimates.means import CLASSICAL, HELPS, Mean, kinds_of, mean_of, why_not
from annotators.estimates.sample import ITEMS, Estimate
from annotators.estimates.sequence import Look, error_with, labels_to_stop, looked_at, looks, times, tuned_for
from db.engine import Database
from db.permissions import Actor
from exports.alignment.data import study_data
from exports.drawing.tables import TextTable
from exports.estimates.data import StudyUnits, estimable, study_units
from exports.estimates.drawing import NextItem, proposed
from exports.estimates.raters import raters_part
from exports.estimates.report import EstimateReport, estimates_table, report_on, strata_table

NOT_YET, REACHED, NOTHING_SAVED, NO_LABELS, NO_RULE = "not yet", "stop reached", "nothing saved", "no labels", ""
LOOKS, FEW_LOOKS, ONE_LOOK = 40, 16, 2
"""At how many numbers of labels it is looked how closely a mean was known: of the criterion that is shown; of another,
since when its stop rule holds; of one without a rule how it stands now, which is the last of two."""
MANY_LABELS = 20_000
"""Up to so many labels it is looked at `LOOKS` numbers of them: every look fits the predictions anew to its labels."""
AHEAD = 24
"""At how many numbers of labels the half-width to come is drawn."""


@dataclass(frozen=True)
class Standing:
    """How one criterion stands: its mean, how closely it is known at every look, and what predictions saved.

    `state` is one of the words above; `since` is the label since which the stop rule holds, `more` about how many
    labels are still to come, None where no number would do or there is no rule. `reason` says why there is no mean.
    """

    name: str
    title: str
    state: str
    value: float | None
    half_width: float | None
    n: int
    effective: float | None
    correlation: float | None
    since: int | None = None
    more: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Shown:
    """One criterion at length: its estimates, how they went, the tables, what to label next, and what a paper says."""

    standing: Standing
    classical: Estimate
    best: Estimate
    kind: str
    whom: str
    used: str
    going: Sequence[Look]
    ahead: Sequence[tuple[int, float, float]]
    stop_with: int | None
    classical_stops_with: int | None
    statistics: TextTable
    strata: TextTable
    sentence: str
    notes: Sequence[str]
    next_items: Sequence[NextItem]
    why_no_next: str | None
    predictions: Sequence[str]
    seconds: float | None


@dataclass(frozen=True)
class FewerLabels:
    """The page of a study: its criteria, the one that is shown, the stop rule, how many items and draws there are."""

    study: str
    n_items: int
    n_labelled: int
    stop: float | None
    n_draws: int
    standings: Sequence[Standing]
    shown: Shown | None


def fewer_labels(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    criterion: str | None = None,
    of: str = ITEMS,
    n: int = 20,
    seed: int = 0,
) -> FewerLabels:
    """Everything that the page shows; `criterion` None is the first that has estimates."""
    data = study_data(db, actor, study_id, settled=False, named=False)
    names = [human.criterion.name for human in estimable(data)]
    chosen = criterion if criterion in names else (names[0] if names else None)
    standings, shown, labelled, draws = list[Standing](), None, 0, 0
    stop = data.study.settings.get("stop_at")
    for name in names:
        found = study_units(db, actor, study_id, criterion=name, data=data)
        going = _going(found, of, stop, _looks(found) if name == chosen else ONE_LOOK if stop is None else FEW_LOOKS)
        standing = _standing(found, of, stop, going)
        standings.append(standing)
        labelled, draws = max(labelled, standing.n), len(found.draws)
        if name == chosen:
            shown = _shown(found, standing, going=going, of=of, n=n, seed=seed)
    return FewerLabels(data.study.name, data.study.n_items, labelled, stop, draws, standings, shown)


def _looks(found: StudyUnits) -> int:
    """At how many numbers of labels the criterion that is shown is looked at: fewer where each look costs more."""
    return max(FEW_LOOKS, min(LOOKS, LOOKS * MANY_LABELS // max(1, int(found.labelled.sum()))))


def _going(found: StudyUnits, of: str, stop: float | None, most: int) -> list[Look]:
    n = int(found.labelled.sum())
    at = looked_at(n, most=most)[-1:] if most == ONE_LOOK else looked_at(n, most=most)
    return looks([(k, found.units(of=of, labelled=None if k == n else found.first(k))) for k in at], stop)


def _kind(made: Mean) -> str:
    kind = kinds_of(made.units)[-1]
    return kind if why_not(made.units, kind) is None else CLASSICAL


def _standing(found: StudyUnits, of: str, stop: float | None, going: Sequence[Look]) -> Standing:
    made = mean_of(found.units(of=of))
    criterion = found.human.criterion
    n = int(found.labelled.sum())
    bare = Standing(criterion.name, criterion.title, NO_LABELS, None, None, n, None, None, reason=made.reason)
    if made.reason is not None or made.limits is None:
        return bare
    last = going[-1].powered if going else None
    half = None if last is None else last.half_width
    saved = (made.effective or 0.0) >= HELPS * n
    since, more, state = None, None, NO_RULE
    if stop is not None:
        reached = [look.n for look in going if look.powered.half_width is not None and look.powered.half_width <= stop]
        state = NOT_YET
        if half is not None and half <= stop:
            state = REACHED
            broken = [look.n for look in going if look.n not in reached]
            since = next(k for k in reached if not broken or k > broken[-1])
        else:
            with_all = labels_to_stop(made, _kind(made), stop)
            more = None if with_all is None else max(1, with_all - n)
    if state in {NO_RULE, NOT_YET} and made.units.names and not saved and n < made.units.n:
        state = NOTHING_SAVED
    value = made.ends(_kind(made), 0.95).value
    r = made.limits.parts.correlation() if made.units.predicted.fitted else 0.0
    return replace(
        bare, state=state, value=value, half_width=half, effective=made.effective, correlation=r, since=since, more=more
    )


def _shown(
    found: StudyUnits,
    standing: Standing,
    *,
    going: Sequence[Look],
    of: str,
    n: int,
    seed: int,
) -> Shown:
    report = report_on(found, of=of)
    next_items, why_no_next = list[NextItem](), None
    try:
        next_items = proposed(found, n, seed)
    except AssayError as error:
        why_no_next = str(error)
    made, stop = report.mean, report.stop
    stops = classical_stops = None
    ahead = list[tuple[int, float, float]]()
    if made.limits is not None and going:
        kind = _kind(made)
        if stop is not None:
            stops = labels_to_stop(made, kind, stop)
            classical_stops = labels_to_stop(made, CLASSICAL, stop)
        ahead = _ahead(made, kind, stop, stops)
    classical = report.find("mean_classical")
    assert classical is not None
    return Shown(
        standing=standing,
        classical=classical,
        best=report.best,
        kind=report.kind,
        whom=report.units.whom,
        used=_used(report),
        going=going,
        ahead=ahead,
        stop_with=stops,
        classical_stops_with=classical_stops,
        statistics=estimates_table(report),
        strata=strata_table(report),
        sentence=report.sentence(),
        notes=[*report.notes, *raters_part(report.units).in_words],
        next_items=next_items,
        why_no_next=why_no_next,
        predictions=list(found.predictions),
        seconds=_seconds(found),
    )


def _ahead(made: Mean, kind: str, stop: float | None, stops: int | None) -> list[tuple[int, float, float]]:
    """(labels, half-width with predictions, of labels alone) from now on, as the labels so far let expect."""
    assert made.limits is not None
    n, total = made.limits.n, made.units.n
    last = min(total, max(stops or 0, round(1.4 * n)) + max(5, n // 10))
    base = tuned_for(stop, made.units.scale)
    found = []
    for k in sorted({*np.linspace(n, last, AHEAD).round().astype(int).tolist()}):
        widths = []
        for of_kind in (kind, CLASSICAL):
            error = error_with(made, of_kind, k)
            widths.append(times(error, base) * error)
        found.append((int(k), widths[0], widths[1]))
    return found


def _used(report: EstimateReport) -> str:
    """ "2 scores and 1 judge combined, cross-fitted"."""
    combined = report.units.predicted
    if not report.units.names:
        return "there are no predictions"
    if not combined.fitted or not (report.mean.factors > 0).any():
        return "no prediction helps"
    n = int((combined.used > 0).sum())
    return f"{n} prediction{'s' * (n != 1)} combined, cross-fitted" if n > 1 else "1 prediction, cross-fitted"


def _seconds(found: StudyUnits) -> float | None:
    """The median time between two labels that follow each other within ten minutes; None with too few."""
    at = np.sort(found.at[np.isfinite(found.at)])
    gaps = np.diff(at)
    near = gaps[(gaps > 0) & (gaps < 600)]
    return float(np.median(near)) if len(near) >= 10 else None
