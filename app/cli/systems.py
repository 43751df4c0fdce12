"""`assay systems`: which systems people's labels tell apart, of a study or of a table that stands alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.alignment import two_ends
from app.cli.base import (
    RATERS,
    AsJson,
    Delimiter,
    Each,
    Encoded,
    FoldCase,
    LeaveOut,
    Level,
    Missing,
    OfTable,
    Records,
    ReportFile,
    Sheet,
    SomeProject,
    SomeStudy,
    TableFile,
    check_names,
    column,
    command,
    mapped_columns,
    one_of,
    opened,
    option,
    study_id_of,
    table_mapping,
    table_or_study,
)
from app.cli.output import emit, say_aside, working
from exports.checks import check_report
from exports.columns.columns import check_columns


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "systems",
        "assay --home ./assay-home systems finance grading",
        "assay --home ./assay-home systems finance grading --criterion grade --equivalent 0.2 --json",
        "assay systems --table labels.csv --human grade --system system --question question --rater annotator",
    )(systems)


def systems(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: SomeProject = None,
    study: SomeStudy = None,
    criterion: Annotated[
        str | None, option("C", "Of a study: only this criterion.  [default: all that can be compared]")
    ] = None,
    table: TableFile = None,
    human: Annotated[str | None, column("With --table: the labels.  [default: value]")] = None,
    system: Annotated[str | None, column("With --table: whose answer it is.  [default: system]")] = None,
    question: Annotated[str | None, column("With --table: what was asked.  [default: question]")] = None,
    rater: Annotated[str | None, column("With --table: who judged.")] = None,
    item: Annotated[str | None, column("With --table: the answer, where a system has several to a question.")] = None,
    positive: Annotated[str | None, option("VALUE", "With --table: the label that counts as yes.")] = None,
    human_scale: Annotated[str | None, option("LOW,HIGH", "With --table: the ends of the labels' scale.")] = None,
    mapping: OfTable = None,
    encoding: Encoded = None,
    sheet: Sheet = None,
    records: Records = None,
    each: Each = None,
    missing: Missing = None,
    fold_case: FoldCase = False,
    delimiter: Delimiter = None,
    leave_out: LeaveOut = None,
    raters: Annotated[
        str, typer.Option(metavar="R", help="About raters like these (random), or these raters (fixed).")
    ] = "random",
    equivalent: Annotated[
        float | None,
        option("MARGIN", "Also whether two systems are equivalent: whether they differ by less than this."),
    ] = None,
    level: Level = 0.95,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare systems by people's labels.

    Means of systems and every difference, each with an interval and p adjusted by Holm, by mixed models that know which
    labels are of one question, one answer and one rater; and what labels differ by.
    """
    about = one_of(raters, RATERS, "--raters")
    of_tables = {
        "human": human, "system": system, "question": question, "rater": rater, "item": item, "positive": positive,
        "human-scale": human_scale, "map": mapping, "encoding": encoding, "sheet": sheet, "records": records,
        "each": each, "missing": missing, "fold-case": fold_case, "delimiter": delimiter, "leave-out": leave_out,
    }  # fmt: skip
    what = table_or_study(table, project, study, of_tables)
    if equivalent is not None:
        from annotators.intervals.equivalence import check_margin

        check_margin(equivalent)
    if report is not None:
        check_report(report)
    if isinstance(what, Path):
        if criterion is not None:
            raise typer.BadParameter(
                "A table has one column of labels: name it with --human.", param_hint="--criterion"
            )
        given = {"human": human, "system": system, "question": question, "rater": rater, "item": item}
        said = mapped_columns(mapping, given)
        columns = {name: said[name] or usual for name, usual in USUAL.items()}
        mapped = table_mapping(
            encoding=encoding, sheet=sheet, records=records, each=each, missing=missing, fold_case=fold_case,
            delimiter=delimiter, leave_out=leave_out,
        )  # fmt: skip
        optional = {said[name]: f"--{name}" for name in ("rater", "item") if said[name]}
        check_columns(what, {name: f"--{option}" for option, name in columns.items()} | optional, mapped.opening)
    else:
        check_names(context, *what)
    from exports.drawing.report_files import write_report
    from exports.systems.study import systems_of_study
    from exports.systems.table import SystemColumns, systems_of_table

    if isinstance(what, Path):
        named = SystemColumns(columns["human"], columns["system"], columns["question"], said["rater"], said["item"])
        scale = None if human_scale is None else two_ends(human_scale, "--human-scale")
        with working("Comparing systems"):
            found = systems_of_table(
                what,
                named,
                raters=about,
                level=level,
                margin=equivalent,
                positive=positive,
                scale=scale,
                mapping=mapped,
            )
    else:
        with opened(context) as here, working("Comparing systems"):
            found = systems_of_study(
                here.db, here.actor, study_id_of(here, *what),
                criterion=criterion, raters=about, level=level, margin=equivalent,
            )  # fmt: skip
    if report is not None:
        written = write_report(found, report)
        say_aside(f"Report: {', '.join(str(path) for path in written)}")
    emit(found.to_json(), found.in_words, as_json=as_json)


USUAL = {"human": "value", "system": "system", "question": "question"}
"""What the columns are called that have to be there."""
