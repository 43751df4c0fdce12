"""`agreement.csv` and `alignment.csv`: the figures of the pages, one row each; and the rater model's posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from annotators.agreement.rater_models.dawid_skene import dawid_skene
from annotators.agreement.tables.ratings import COMPOSED
from db.models import Study
from db.studies.ratings import ratings
from exports.agreement.models import MOST_LABELS
from exports.agreement.study import agreement_report, rating_table
from exports.alignment.study import alignment_report
from exports.bundles.adjudicated_table import Posteriors
from exports.bundles.columns import names_of
from exports.bundles.study_out import Seen
from exports.cells import safe
from exports.csv_file import CsvFile
from exports.sinks import Out


def write_agreement(seen: Seen, study: Study, out: Out, *, names: bool) -> int:
    """Write the statistics of the page Agreement, with its settings; how many rows."""
    assert study.id is not None
    report = agreement_report(seen.within(), seen.actor, study.id, named=names)
    about = (report.level, report.seed, report.resamples)
    rows = [
        (
            *(criterion.criterion.name, criterion.criterion.target.value, criterion.criterion.scale),
            *(found["name"], _words(found.get("label")), _words(" ⇄ ".join(map(str, found.get("raters", ()))))),
            *(*map(_figure, (found["value"], found["low"], found["high"])), _words(found["method"])),
            *(found["n_units"], found["n_raters"], found["n_ratings"], _words(found["reason"]), *about),
        )
        for criterion in report.criteria
        for found in (statistic.to_json() for statistic in criterion.statistics)
    ]
    return _written(out, "agreement", rows)


def write_alignment(seen: Seen, study: Study, out: Out, *, names: bool) -> int:
    """Write the statistics of the page Alignment, with its settings; how many rows."""
    assert study.id is not None
    report = alignment_report(seen.within(), seen.actor, study.id, named=names)
    rows = [
        (
            *(_words(found.get(name)) for name in ("metric", "criterion", "by", "group", "against", "name")),
            *(*map(_figure, (found["value"], found["low"], found["high"])), _words(found["method"]), found["n"]),
            *(*map(_figure, (found.get("p_value"), found.get("n_effective"))), _words(found["reason"])),
        )
        for found in (statistic.to_json() for statistic in report.statistics)
    ]
    return _written(out, "alignment", rows)


def posteriors(seen: Seen, study: Study) -> Posteriors:
    """How probable each label of each unit is by Dawid and Skene's model, for criteria of one label a unit.

    Criteria with sets, texts, rankings or more than 20 labels have none; neither have units that nobody rated.
    """
    assert study.id is not None
    found = ratings(seen.within(), seen.actor, study.id, named=False)
    made: dict[tuple[int, str, str], bytes] = {}
    for column in found.criteria:
        scale = column.criterion.measured_scale
        if scale is None or scale in COMPOSED or not len(column.unit):
            continue
        table, _ = rating_table(column, found.names, scale)
        if len(table.labels) > MOST_LABELS:
            continue
        model = dawid_skene(table)
        labels = [str(label) for label in model.labels]
        study_items = found.items.study_item[column.item].tolist()
        for unit, row in enumerate(model.posterior.tolist()):
            if not np.isnan(row).any():
                said = {label: round(share, 6) for label, share in zip(labels, row, strict=True)}
                about = (study_items[unit], column.criterion.name, column.target_of(unit))
                made[about] = orjson.dumps(said)
    return made


def _written(out: Out, table: str, rows: list[tuple[Any, ...]]) -> int:
    CsvFile(out, names_of(table)).add(rows, len(rows))
    return len(rows)


def _words(text: object) -> str:
    return "" if text is None else safe(str(text))


def _figure(value: float | None) -> str:
    """As precise as it is meant: sums of doubles differ in their last digits from machine to machine."""
    return "" if value is None else f"{value:.12g}"
