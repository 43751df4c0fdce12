"""Raw agreement and the coefficient of a criterion's scale, over ratings that are no current labels of annotators."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from annotators.agreement.catalogue import default_statistics, headline
from annotators.agreement.measure import measure
from annotators.agreement.statistics.base import all_coefficients
from annotators.agreement.statistics.percent import PERCENT
from annotators.agreement.tables.ratings import Ratings
from annotators.criteria import Criterion
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Statistic
from exports.results.base import Figure
from exports.results.labels import StudyLabels


def raw_and_coefficient(
    study: StudyLabels,
    criterion: Criterion,
    units: Sequence[tuple[int, str]],
    raters: Sequence[Hashable],
    values: Sequence[Any],
    *,
    asked: Resampling,
    name: str,
) -> tuple[Figure, Figure, str] | None:
    """Both figures, called `name` and their own names, and what the coefficient is called in words.

    One entry a rating: its unit (study item, target), its rater, its value. None where nothing is measured on the
    criterion's kind, or nothing is rated.
    """
    scale = criterion.measured_scale
    if not criterion.compared or scale is None or not units:
        return None
    table = Ratings.from_triples(units, raters, values, criterion.stored_labels() or None, scale)
    of = dict(zip(study.items.study_item.tolist(), study.cluster.tolist(), strict=True))
    clusters: dict[Hashable, Hashable] = {unit: of[unit[0]] for unit in units}
    several = len(np.unique(list(clusters.values()))) < len(clusters)
    found = measure(
        table,
        list(dict.fromkeys((default_statistics(table)[0], headline(scale)))),
        asked.resamples,
        asked.seed,
        asked.level,
        kind=asked.kind,
        clusters=clusters if several else None,
        over=study.over,
    )
    titles = {coefficient.name: coefficient.title for coefficient in all_coefficients()}
    raw, coefficient = found[0], found[-1]
    return _figure(name, criterion, raw), _figure(name, criterion, coefficient), titles[coefficient.name]


def _figure(name: str, criterion: Criterion, statistic: Statistic) -> Figure:
    share = statistic.name == PERCENT.name
    about = Figure(name=f"{name}_{statistic.name}", n=statistic.n_units, criterion=criterion.name, is_share=share)
    if statistic.value is None or statistic.interval is None:
        return about.undefined(statistic.reason or "nothing is rated")
    return about.measured(statistic.value, [statistic.interval, *statistic.beside], statistic.note)
