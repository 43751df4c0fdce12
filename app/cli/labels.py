"""`assay labels import`: judgements that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotators.errors import InvalidInput, NotFound
from annotators.figures import count
from app.cli.base import (
    AsJson,
    Delimiter,
    Each,
    Empty,
    Encoded,
    FoldCase,
    LeaveOut,
    Missing,
    OfRatings,
    ProjectName,
    Records,
    Sheet,
    StudyName,
    check_names,
    command,
    group,
    opened,
    option,
    project_id_of,
    table_mapping,
)
from app.cli.mappings import with_kept
from app.cli.output import as_lines, emit, working
from exports.checks import MAY_BE_INFERRED, check_inferable

if TYPE_CHECKING:
    from exports.importing.labels import LabelTableImport, LabelTablePlan

MOST_SHOWN = 20
"""Names, values and obstacles that are listed in words; with --json all are there."""

labels = group("labels", "Labels that were made elsewhere: import them.")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(labels)


@command(
    labels,
    "import",
    "assay --home ./assay-home labels import finance verification labels.csv",
    "assay --home ./assay-home labels import published raters ratings.csv --infer --scale ordinal --dry-run",
    "assay --home ./assay-home labels import published raters ratings.csv --infer --scale ordinal --bare-items",
    "assay labels import finance crowd batch.csv --infer --map item=HITId --map annotator=WorkerId "
    "--map 'criteria=Answer.*' --dry-run",
)
def import_labels(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, JSON, JSONL, Parquet or XLSX with the columns item, annotator, criterion, target, value.",
            show_default=False,
        ),
    ],
    infer: Annotated[
        bool,
        typer.Option("--infer", help="Make the study if there is none: protocol and items are those of the table."),
    ] = False,
    bare_items: Annotated[
        bool,
        typer.Option(
            "--bare-items", help="With --infer: add items that the project lacks, with their id as the question."
        ),
    ] = False,
    scale: Annotated[
        list[str] | None,
        option(
            "S", "With --infer: nominal, ordinal or interval, or CRITERION=S for one; repeatable.  [default: nominal]"
        ),
    ] = None,
    overlap: Annotated[
        int | None,
        option(
            "K", "With --infer: so many annotations settle an item.  [default: as many as most items of the table have]"
        ),
    ] = None,
    mapping: OfRatings = None,
    encoding: Encoded = None,
    sheet: Sheet = None,
    records: Records = None,
    each: Each = None,
    missing: Missing = None,
    empty: Empty = None,
    fold_case: FoldCase = False,
    delimiter: Delimiter = None,
    leave_out: LeaveOut = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import a table of labels into a study; annotators that are not known become people without a login.

    The columns target, time and comment may be missing; --map says which column is what, also where each criterion,
    annotator or item has a column of its own. A repeated cell, a label that the protocol does not have, or an
    item that is not there is refused with its line, and nothing is imported.
    """
    if scale and not infer:
        raise typer.BadParameter("Only a protocol that is inferred takes scales: add --infer.", param_hint="--scale")
    if overlap is not None and not infer:
        raise typer.BadParameter("Only a study that is made takes an overlap: add --infer.", param_hint="--overlap")
    if bare_items and not infer:
        raise typer.BadParameter("Only a study that is made takes bare items: add --infer.", param_hint="--bare-items")
    # Before anything large is imported: a wrong word is refused at once.
    for given in scale or ():
        check_inferable(given.rpartition("=")[2])
    from exports.formats.labels import check_heading

    fields, kept = with_kept(context, mapping, project, [file])
    mapped = kept | table_mapping(
        fields, encoding=encoding, sheet=sheet, records=records, each=each, missing=missing, fold_case=fold_case,
        delimiter=delimiter, empty=empty, leave_out=leave_out,
    )  # fmt: skip
    check_heading(file, mapped)
    if not infer:
        try:
            check_names(context, project, study)
        except NotFound as error:
            raise NotFound(f"{error} {MAY_BE_INFERRED}") from None
    from exports.importing.labels import import_label_table, plan_label_table

    with opened(context) as here, working("Reading the table"):
        project_id = project_id_of(here, project)
        scales = tuple(scale or ())
        if dry_run:
            plan = plan_label_table(
                here.db, here.actor, project_id,
                study=study, path=file, infer=infer, bare_items=bare_items, scales=scales, overlap=overlap,
                mapping=mapped,
            )  # fmt: skip
        else:
            done = import_label_table(
                here.db, here.actor, project_id,
                study=study, path=file, infer=infer, bare_items=bare_items, scales=scales, overlap=overlap,
                mapping=mapped,
            )  # fmt: skip
    if dry_run:
        emit({**plan.to_json(), "study": study}, lambda: _plan_in_words(plan, study), as_json=as_json)
        if plan.obstacles:
            raise typer.Exit(InvalidInput.exit_code)
    else:
        emit({**done.to_json(), "study": study}, lambda: _in_words(done, study), as_json=as_json)


def _plan_in_words(found: LabelTablePlan, study: str) -> str:
    """What an import would do, in lines; what stands against it comes last."""
    from exports.importing.labels import shortened

    plan = found.plan
    lines = [
        f"Would import {count(plan.labels, 'label')} in {count(plan.annotations, 'annotation')} by "
        f"{', '.join(plan.annotators) or 'nobody'} into {study}.",
        f"Columns read: {', '.join(found.columns)}."
        + (f" Ignored: {', '.join(found.ignored)}." if found.ignored else ""),
        f"Items: {len(plan.matched):,} matched, {len(plan.unmatched):,} not there"
        + (f": {shortened(plan.unmatched, MOST_SHOWN)}." if plan.unmatched else "."),
    ]
    for criterion in found.criteria:
        values = shortened([f"{value} ({n:,})" for value, n in criterion.values], MOST_SHOWN)
        lines.append(f"{criterion.name} ({criterion.scale}, about each {criterion.target or 'item'}): {values}.")
    if found.inferred:
        lines.append("The study would be made with a protocol inferred from the table.")
    if found.items_added:
        lines.append(f"{count(found.items_added, 'item')} would be added bare, with the id as the question.")
    if plan.new_people:
        lines.append(f"Would become people without a login: {', '.join(plan.new_people)}.")
    lines += [f"Left out: {count(n, 'row')} ({reason})." for reason, n in found.left_out.items()]
    lines += [*found.notes, *plan.not_counted.notes(), *(f"Caution: {caution}" for caution in found.cautions)]
    lines += found.read
    obstacles = found.obstacles
    if obstacles:
        lines += ["It would be refused:", *(f"  {obstacle}" for obstacle in obstacles[:MOST_SHOWN])]
        more = len(obstacles) - MOST_SHOWN
        lines += [f"  … and {more:,} more (all with --json)"] if more > 0 else []
    return as_lines(lines)


def _in_words(done: LabelTableImport, study: str) -> str:
    made = done.labels
    lines = [
        f"Imported {count(made.labels, 'label')} in {count(made.annotations, 'annotation')} by "
        f"{', '.join(made.annotators)} into {study} (batch {made.batch})."
    ]
    if done.inferred:
        criteria = ", ".join(f"{criterion.name} ({criterion.scale})" for criterion in done.inferred.criteria)
        lines.append(f"The study was made with a protocol inferred from the table: {criteria}.")
    if done.items_added:
        lines.append(
            f"{count(done.items_added, 'item')} that the project lacked: added bare, with the id as the question."
        )
    lines += [f"Left out: {count(n, 'row')} ({reason})." for reason, n in done.left_out.items()]
    lines += [*done.notes, *made.not_counted.notes(), *(f"Caution: {caution}" for caution in done.cautions)]
    lines += done.read
    return as_lines(lines)
