"""`assay project …`, `import`, `batches` and `withdraw`: projects and the items that come into them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotators.figures import count
from app.cli.base import (
    AsJson,
    DryRun,
    Each,
    Encoded,
    FieldColumns,
    ProjectName,
    Records,
    Sheet,
    command,
    follows,
    group,
    opened,
    option,
    project_id_of,
    table_mapping,
)
from app.cli.mappings import with_kept
from app.cli.output import as_lines, emit, progress, say_aside, table
from app.wording import import_counts, without_file

if TYPE_CHECKING:
    from db.items.imports import ImportReport

project = group("project", "Projects: create, list.")

MOST_SHOWN = 20
"""Bad rows and proposed revisions that are listed in words; with --json bad rows are all there."""


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(project)
    command(
        app,
        "import",
        "assay --home ./assay-home import finance results.json papers/ --format fathoms --dry-run",
        "assay --home ./assay-home import finance fragen.xlsx --map question=Frage --map answer=Antwort",
        "assay --home ./assay-home import finance export.zip --format native --json",
        "assay --home ./assay-home import claims msmarco_gpt4_answers.json --labels-into people",
    )(import_items)
    command(app, "batches", "assay --home ./assay-home batches finance")(batches)
    command(app, "withdraw", 'assay --home ./assay-home withdraw finance 3 --reason "answers of the wrong run"')(
        withdraw
    )


@command(project, "create", "assay --home ./assay-home project create finance")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PROJECT", help="Name of the project.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Create a project."""
    from db.projects import create_project

    with opened(context) as here:
        project_id = create_project(here.db, here.actor, name)
        emit({"project": name.strip(), "id": project_id}, f"Created project {name.strip()}.", as_json=as_json)


@command(project, "list", "assay --home ./assay-home project list")
def list_projects(context: typer.Context, as_json: AsJson = False) -> None:
    """List the projects you can see, and your role in each."""
    from db.projects import my_projects

    with opened(context) as here:
        rows = my_projects(here.db, here.actor)
        document = [
            {"project": row.name, "id": row.project_id, "role": row.role, "created_at": row.created_at} for row in rows
        ]
        lines = ((row.name, row.role, f"{row.created_at.astimezone():%Y-%m-%d %H:%M}") for row in rows)
        emit(document, lambda: table(("project", "your role", "created"), lines), as_json=as_json)


# Importing ------------------------------------------------------------------------------------------------------------


def import_items(
    context: typer.Context,
    *,
    project: ProjectName,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files, folders or archives.", show_default=False)
    ],
    format_name: Annotated[
        str | None,
        option("FORMAT", "One of `assay formats`.  [default: the one that recognises the files]", "--format"),
    ] = None,
    mapping: FieldColumns = None,
    encoding: Encoded = None,
    sheet: Sheet = None,
    records: Records = None,
    each: Each = None,
    labels_into: Annotated[
        str | None,
        option("STUDY", "Make what people said in the files the labels of this study, which is made if there is none."),
    ] = None,
    accept_revisions: Annotated[
        bool, typer.Option("--accept-revisions", help="Revise items that are there with other content.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Import the good rows even if there are bad ones.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import items with documents, evidence, claims and scores.

    Everything is seen from one moment on, or (with a bad row and without --skip-bad) nothing is added, and the exit
    code is 2. People go on working meanwhile.
    Importing the same again adds nothing; items that are there with other content are listed as proposed revisions and
    left as they are, to be accepted or declined in the app; --accept-revisions makes each a new version at once.
    """
    from annotators.errors import InvalidInput
    from exports.columns.mapping import columns_of
    from exports.formats.base import check_files
    from exports.reading.tables import opened_as

    fields, kept = with_kept(context, mapping, project, paths)
    columns = columns_of(fields)
    opening = (kept | table_mapping(encoding=encoding, sheet=sheet, records=records, each=each)).opening
    with opened_as(opening):
        check_files(paths, format_name, columns, labels=labels_into is not None)  # before anything large is imported
    from exports.importing.items import import_paths

    with opened(context) as here, opened_as(opening), progress("Reading" if dry_run else "Importing") as move:
        report = import_paths(
            here.db,
            here.actor,
            project_id_of(here, project),
            paths=paths,
            format_name=format_name,
            columns=columns,
            data_folder=here.settings.documents_folder,
            dry_run=dry_run,
            skip_bad=skip_bad,
            labels_into=labels_into,
            accept_revisions=accept_revisions,
            progress=move,
        )
    emit(report.to_json(), lambda: in_words(report), as_json=as_json)
    if report.labels.obstacles:
        raise typer.Exit(InvalidInput.exit_code)
    if report.rejected and not dry_run and not skip_bad:
        say_aside("Nothing was imported. Correct the rows, or import the others with --skip-bad.")
        raise typer.Exit(InvalidInput.exit_code)


def in_words(report: ImportReport) -> str:
    """What an import did or would do, in lines; rows with one and the same fault are one of them."""
    from annotators.items.parsed import faults_in
    from exports.columns.columns import at_lines

    words = "Preview of an import" if report.preview else "Import"
    lines = [f"{words} as {report.format}, {'nothing is written' if report.preview else 'done'}:"]
    counts = import_counts(report)
    lines += [f"  {n:>7,} {what}" for what, n in counts] or ["        nothing new"]
    if said := without_file(report):
        lines.append(f"  note: {said}")
    if report.metadata:
        kept = ", ".join(f"{name} ({n:,})" for name, n in Counter(report.metadata).most_common())
        lines.append(f"  kept in the items' metadata: {kept}")
    lines += _some(
        count(len(report.revisions), "proposed revision") + f" (there with other content; {_done_with(report)}):",
        [
            f"{revision.file}, line {revision.line}: {revision.external_id} ({', '.join(revision.changes)})"
            for revision in report.revisions
        ],
    )
    lines += _some(
        count(len(report.rejected), "bad row") + ":",
        [f"{file}, {at_lines(places)}: {reason}" for (file, reason), places in faults_in(report.rejected).items()],
    )
    lines += [f"  note: {note}" for note in report.notes]
    lines += _labels(report)
    if report.batch is not None:
        lines.append(f"  This is batch {report.batch}.")
    if report.labels.batch is not None:
        lines.append(f"  The labels are batch {report.labels.batch}.")
    return as_lines(lines)


def _done_with(report: ImportReport) -> str:
    if report.revised is None:
        return "nothing was changed"
    would = "would be " if report.preview else ""
    left = "".join(f"; {item} was not: {why}" for item, why in report.not_revised[:MOST_SHOWN])
    return f"{report.revised:,} {would}revised{left}"


def _labels(report: ImportReport) -> list[str]:
    """What people said in the files, where it goes, and why it would not."""
    came = report.labels
    if came.study is None:
        by = ", ".join(sorted(came.annotators))
        said = f"  {count(came.n, 'label')} in the files, by {by}: --labels-into STUDY makes them labels of a study."
        return [said] if came.n else []
    made = f", which {'would be' if report.preview else 'was'} made" if came.is_new else ""
    lines = [
        f"  {count(came.n, 'label')} in {count(came.annotations, 'annotation')} by "
        f"{', '.join(sorted(came.annotators)) or 'nobody'}, into the study {came.study}{made}."
    ]
    return lines + _some("It would be refused:", came.obstacles)


def _some(heading: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    shown = [f"  {heading}", *(f"    {line}" for line in lines[:MOST_SHOWN])]
    left = len(lines) - MOST_SHOWN
    return [*shown, f"    … and {left:,} more (all with --json)"] if left > 0 else shown


def batches(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """List a project's imports, latest first.

    The batch number is what `assay withdraw` takes.
    """
    from db.batches import list_batches

    with opened(context) as here:
        rows = list_batches(here.db, here.actor, project_id_of(here, project))
        document = [
            {
                "batch": row.batch_id,
                "format": row.format,
                "source": row.source,
                "created_at": row.created_at,
                "withdrawn": row.withdrawn,
                "reason": row.reason,
            }
            for row in rows
        ]
        lines = (
            (row.batch_id, f"{row.created_at.astimezone():%Y-%m-%d %H:%M}", row.format, row.source, row.reason)
            for row in rows
        )
        headers = ("batch", "when", "format", "source", "withdrawn because")
        emit(document, lambda: table(headers, lines), as_json=as_json)


def withdraw(
    context: typer.Context,
    *,
    project: ProjectName,
    batch: Annotated[int, typer.Argument(metavar="BATCH", help="Number of the import.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why; people read it later.", show_default=False)],
    undo: Annotated[bool, typer.Option("--undo", help="Put a withdrawn import back.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take an import out of everything current.

    Nothing is deleted, studies keep their frozen sample, and --undo puts it back.
    """
    from db.batches import withdraw_batch

    with opened(context) as here:
        project_id = project_id_of(here, project)
        if dry_run:
            from db.releasing.consequences import if_withdrawn

            follows(if_withdrawn(here.db, here.actor, project_id, batch, reinstates=undo), as_json=as_json)
            return
        withdraw_batch(here.db, here.actor, project_id, batch, reason=reason, reinstates=undo)
        words = f"Batch {batch} is back." if undo else f"Batch {batch} is withdrawn."
        emit({"batch": batch, "withdrawn": not undo, "reason": reason}, words, as_json=as_json)
