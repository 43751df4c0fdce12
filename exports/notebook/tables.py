"""Agreement of a frame that stands alone: no database, the figures of `assay agreement --table`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from annotators.agreement.report import agreement_report as report_of
from annotators.agreement.tables.columns import UNIT_COLUMNS
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.later import Later
from exports.agreement.rating_tables import RatingColumns, read_ratings
from exports.agreement.report import Report
from exports.checks import check_scale
from exports.columns.mapping import TableMapping
from exports.columns.values import ValueRule
from exports.csv_file import csv_cells
from exports.notebook.frames import as_file
from exports.notebook.given import checked, in_python, several
from exports.notebook.measured import Measured

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Later("pandas")


@checked
def agreement(
    frame: pd.DataFrame,
    scale: str = "nominal",
    *,
    unit: str | None = None,
    rater: str | None = None,
    value: str | None = None,
    criterion: str | None = None,
    target: str | None = None,
    question: str | None = None,
    wide: bool = False,
    labels: Sequence[str | float | bool] | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
    missing: Sequence[str] | None = None,
    empty: str | None = None,
    fold_case: bool = False,
    delimiter: str | None = None,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> Measured:
    """How far raters agree in a frame: long (columns item, annotator, value, perhaps criterion, target, question), or
    `wide` with a row a unit and a column a rater.

    `scale` is nominal, ordinal, interval, ratio, ranking or spans, or `CRITERION=SCALE` for one criterion; `labels` are
    those that there are, in their order, which on an ordinal scale the frame may say itself, by ordered categories.
    `mapping` says which column, or which columns, a field is (`{"item": ["doc", "system"], "criteria": "Answer.*"}`);
    `missing`, `empty`, `fold_case` and `delimiter` how values are read, as the options of the command do.
    Raises NotFound for a column that is not there, InvalidInput for values that
    do not fit the scale.

    >>> import pandas as pd
    >>> ratings = pd.DataFrame({"ada": ["yes", "no", "yes", "no"], "ben": ["yes", "no", "no", "no"]})
    >>> agreement(ratings, wide=True).table()[["name", "value"]].head(2).round(3)
                             name  value
    0           percent_agreement  0.750
    1  krippendorff_alpha_nominal  0.533
    >>> agreement(ratings, scale="best", wide=True)
    Traceback (most recent call last):
    annotators.errors.InvalidInput: scale 'best' is none of nominal, ...
    """
    if "=" not in scale:
        check_scale(scale)
    asked = Resampling(resamples, seed, level)
    columns = RatingColumns(unit, rater, value, criterion, target, question)
    if labels is not None and not any(str(label).strip() for label in labels):
        raise InvalidInput("labels names none. Give those that there are in their order, such as ['no', 'yes'].")
    with as_file(frame, "frame") as path, in_python():
        said = _order_of(frame, scale, columns, wide=wide) if labels is None else [csv_cells(*map(str, labels))]
        fields = {name: several(of) for name, of in (mapping or {}).items()}
        rule = ValueRule(
            None if missing is None else tuple(word.strip().lower() for word in missing), fold_case, delimiter, empty
        )
        as_said = TableMapping(fields, rule=rule)
        found = read_ratings(path, columns, wide=wide, scales=(scale,), labels=said, mapping=as_said)
        measured = report_of(found.tables, resamples=asked.resamples, seed=asked.seed, level=level, units="units")
    document = Report.of_table(found, measured, resamples=resamples, seed=seed, level=level)
    json = {"table": found.name, "seed": seed, "resamples": resamples, "level": level, "left_out": found.left_out,
            **found.said(),
            "criteria": [one.to_json() for one in measured]}  # fmt: skip
    return Measured(document, rows_of(json["criteria"]), json)


def _order_of(frame: pd.DataFrame, scale: str, columns: RatingColumns, *, wide: bool) -> list[str]:
    """The labels of an ordinal scale in the order that the categories of a frame's ratings have, if that is one."""
    criterion, _, word = scale.rpartition("=")
    if word != "ordinal":
        return []
    if wide:
        names = {str(name) for name in frame.columns} - {columns.unit}
        names = {name for name in names if name.lower() not in UNIT_COLUMNS}
    else:
        names = {columns.value or "value"}
    orders = {
        tuple(map(str, kind.categories))
        for name, kind in frame.dtypes.items()
        if str(name) in names and isinstance(kind, pd.CategoricalDtype) and kind.ordered
    }
    about = f"{criterion}=" if criterion else ""
    return [about + csv_cells(*order) for order in orders] if len(orders) == 1 else []


def rows_of(criteria: object) -> list[dict[str, object]]:
    """The statistics of the `agreement` JSON, a row each, with the criterion that they are of in front."""
    assert isinstance(criteria, list)
    return [
        {"criterion": one["criterion"], "target": one["target"], "scale": one["scale"], **statistic}
        for one in criteria
        for statistic in one["statistics"]
    ]
