"""`assay export`, `verify` and `formats`: data that leaves, and the check that it is what it was."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.figures import count, size_in_words
from app.cli.base import (
    AsJson,
    FieldColumns,
    PeopleNamed,
    ProjectName,
    check_names,
    command,
    home_is_given,
    opened,
    option,
    project_id_of,
    study_id_of,
)
from app.cli.mappings import with_kept
from app.cli.output import as_lines, emit, table, working
from exports.checks import check_export_folder

if TYPE_CHECKING:
    from exports.bundles.manifest import Manifest
    from exports.bundles.verify import VerifyReport

Licence = Annotated[
    str | None, option("NAME", "Licence of the data, such as cc-by-4.0: a Hugging Face card needs one.")
]

Pictures = Annotated[bool, typer.Option("--pictures", help="The pages that items point at as pictures (huggingface).")]

DIFFERS = 1
"""Exit code of an export that is not what was exported."""


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "export",
        "assay --home ./assay-home export finance --to ./finance-export",
        "assay --home ./assay-home export finance --study verification --to ./final --format labels --names",
        "assay --home ./assay-home export finance --release v1 --to ./v1",
        "assay --home ./assay-home export finance --to ./typed --parquet --xlsx",
        "assay --home ./assay-home export finance --to ./checked --format ragchecker --labels-of claims",
        "assay --home ./assay-home export finance --study verification --to ./potato --format potato --dry-run",
    )(export)
    command(app, "verify", "assay verify ./finance-export", "assay --home ./assay-home verify ./finance-export")(verify)
    command(app, "formats", "assay formats")(formats)
    command(
        app,
        "convert",
        "assay convert msmarco_gpt4_answers.json --from refchecker --to native --output ./items",
        "assay convert results/ --to table --output ./table --json",
    )(convert)


def export(
    context: typer.Context,
    *,
    project: ProjectName,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Folder to make; it may be empty.", show_default=False)],
    study: Annotated[
        str | None, typer.Option(metavar="STUDY", help="Only this study's items and labels.", show_default=False)
    ] = None,
    format_names: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="A,B",
            help="native, labels, derived, adjudicated, questionnaires, known, agreement, alignment, scores, "
            "report, revisions, events, and what `assay formats` writes, with commas between.  "
            "[default: native,labels,adjudicated; of a release without labels]",
            show_default=False,
        ),
    ] = None,
    release: Annotated[
        str | None, option("RELEASE", "The items and final labels of this release, without --study.")
    ] = None,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Each table as Parquet too, with types, and a data dictionary.")
    ] = False,
    xlsx: Annotated[
        bool, typer.Option("--xlsx", help="Each table as an XLSX workbook too, and a data dictionary.")
    ] = False,
    labels_of: Annotated[
        list[str] | None,
        typer.Option(
            "--labels-of",
            metavar="STUDY",
            help="Final labels of this study go into formats with a place for them; may be repeated.",
            show_default=False,
        ),
    ] = None,
    tsv: Annotated[bool, typer.Option("--tsv", help="Each table as TSV too, and a data dictionary.")] = False,
    names: PeopleNamed = False,
    licence: Licence = None,
    posterior: Annotated[
        bool, typer.Option("--posterior", help="Final labels with shares of votes and the rater model's posterior.")
    ] = False,
    pictures: Pictures = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only say what would be in it, how large it is, and how much its formats cannot carry."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Export items, labels and final labels with a manifest.

    Without --study every study's tables come in a folder of their own. The manifest has the hash of every file and the
    state of the database, so that `assay verify` can tell later whether the export is what was exported.
    """
    usual = "native,labels,adjudicated" if release is None else "native,adjudicated"
    wanted = usual if format_names is None else format_names
    formats = [name.strip() for name in wanted.split(",") if name.strip()]
    # Before anything large is imported: a wrong word is refused at once.
    from exports.bundles.contents import (
        check_export_formats,
        check_labels_of,
        check_pictures,
        check_release_formats,
        writers,
    )
    from exports.formats._writing import check_options

    check_labels_of(check_export_formats(formats), labels_of or (), release)
    check_options([writer for name, writer in writers().items() if name in formats], _said(licence))
    if pictures:
        check_pictures(formats, "of the home")
    if release is not None:
        check_release_formats(formats, study)
    check_export_folder(to)
    if study:
        check_names(context, project, study)
    from exports.bundles.bundle import export_project

    with opened(context) as here, working("Exporting"):
        manifest = export_project(
            here.db,
            here.actor,
            project_id_of(here, project),
            to=to,
            study_id=study_id_of(here, project, study) if study else None,
            formats=formats,
            names=names,
            data_folder=here.settings.documents_folder,
            release=release,
            labels_of=labels_of or (),
            typed=[name for name, asked in (("parquet", parquet), ("xlsx", xlsx), ("tsv", tsv)) if asked],
            options={**_said(licence), **({"posterior": "dawid_skene"} if posterior else {})},
            pictures=pictures,
            dry_run=dry_run,
        )
    document = {
        "to": str(to),
        "event": manifest.event,
        "filters": manifest.filters,
        "counts": manifest.counts,
        "losses": manifest.losses,
        "files": manifest.files,
        "bytes": sum(file["bytes"] for file in manifest.files),
        **({"dry_run": True, "lost": _lost(manifest)} if dry_run else {}),
    }
    others = writers()
    counts = ", ".join(_counted(name, n, others) for name, n in manifest.counts.items())
    done = "Would export" if dry_run else "Exported"
    size = size_in_words(document["bytes"])
    lines = [f"{done} {counts} in {count(len(manifest.files), 'file')} ({size}) to {to}"]
    lines += manifest.said_of_versions()
    for name, declared in manifest.losses.items():
        lines.append(f"{name} does not carry: {'; '.join(declared)}.")
        if lost := manifest.lost.get(name):
            lines.append(f"  here that is {'; '.join(f'{one.n:,} of {one.of:,} × {one.what}' for one in lost)}.")
        elif name in manifest.lost:
            lines.append("  of these items nothing is lost.")
    emit(document, as_lines(lines), as_json=as_json)


def _counted(name: str, n: int, formats: Container[str]) -> str:
    """One of the manifest's counts in words: what is called as a format is how many items it has."""
    if name in formats:
        return f"{n:,} items as {name}"
    return f"{n:,} {name.replace('_', ' ')}"


def _lost(manifest: Manifest) -> dict[str, list[dict[str, Any]]]:
    return {name: [one.to_json() for one in lost] for name, lost in manifest.lost.items()}


def _said(licence: str | None) -> dict[str, str]:
    """What is said of the data as a whole."""
    return {} if licence is None else {"licence": licence}


def verify(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of an export.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Check that an export is what was exported.

    Without a home folder (neither --home nor ASSAY_HOME) the files are compared with the hashes of the manifest; with
    one the export is also derived again from the database as it was then. The exit code is 1 if anything differs.
    """
    from exports.bundles.manifest import read_manifest

    read_manifest(folder)  # before anything large is imported
    from exports.bundles.verify import verify_against, verify_folder

    with working("Reading the files"):
        reports = [verify_folder(folder)]
    if home_is_given(context):
        with opened(context) as here, working("Deriving it again from the database"):
            reports.append(verify_against(here.db, here.actor, folder, documents=here.settings.documents_folder))
    ok = all(report.ok for report in reports)
    document = {
        **reports[0].to_json(),
        "ok": ok,
        "database": reports[1].to_json() if len(reports) > 1 else None,
    }
    emit(document, lambda: "\n".join(_in_words(report) for report in reports), as_json=as_json)
    if not ok:
        raise typer.Exit(DIFFERS)


def _in_words(report: VerifyReport) -> str:
    against = "the hashes of its manifest" if report.against == "manifest" else "the database as it was then"
    if report.ok:
        return f"{report.folder}: {count(report.n_files, 'file')} agree with {against}."
    lines = [f"{report.folder} differs from {against}:"]
    lines += [f"  missing: {name}" for name in report.missing]
    for name, line in report.changed.items():
        where = ", which cannot be read" if name in report.unreadable else f", first in line {line}" if line else ""
        lines.append(f"  changed: {name}{where}")
    lines += [f"  not part of the export: {name}" for name in report.extra]
    return as_lines([*lines, *(f"  {note}" for note in report.notes)])


def formats(context: typer.Context, as_json: AsJson = False) -> None:
    """List the formats that items are read from, and written in.

    Beside each stands whether its files can hold what people said of the items (`assay import --labels-into`), and what
    is lost where items are written in it.
    """
    from exports.bundles.contents import exported
    from exports.formats import FORMATS
    from exports.formats._losing import carried_by, losses_of
    from exports.formats.base import LabelledFormat

    del context  # the list needs no home folder
    written = exported()
    found = [(format_, format_.name in written) for format_ in FORMATS]
    document: list[dict[str, Any]] = [
        {
            "format": format_.name,
            "title": format_.title,
            "help": format_.help,
            "reads": True,
            "writes": writes,
            "labels": isinstance(format_, LabelledFormat),
            "carries": carried_by(format_) if writes else [],
            "loses": list(losses_of(format_).values()) if writes else [],
        }
        for format_, writes in found
    ]
    rows = (
        (
            entry["format"],
            entry["title"],
            *("yes" if entry[name] else "" for name in ("writes", "labels")),
            _first(entry["loses"]),
            entry["help"],
        )
        for entry in document
    )
    headers = ("format", "title", "writes", "labels", "loses", "takes")
    words = f"\n\nThe first {_LOST} things that a format loses are named; --json names all."
    emit(document, lambda: table(headers, rows) + words, as_json=as_json)


_LOST = 3


def _first(losses: list[str]) -> str:
    """The first things that are lost, and how many more there are."""
    more = f" and {len(losses) - _LOST:,} more" if len(losses) > _LOST else ""
    return (", ".join(losses[:_LOST]) or "nothing") + more


def convert(
    context: typer.Context,
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Files, folders and archives.", show_default=False)
    ],
    to: Annotated[str, option("FORMAT", "What to write: one of `assay formats`.")],
    output: Annotated[Path, option("DIR", "Folder to make; it may be empty.")],
    from_format: Annotated[
        str | None, option("FORMAT", "What the files are; else the format that recognises them.", "--from", "--format")
    ] = None,
    mapping: FieldColumns = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out; else they stop it.")] = False,
    licence: Licence = None,
    pictures: Pictures = False,
    as_json: AsJson = False,
) -> None:
    """Write files of one format as another; say what is lost.

    No database is needed. Labels of people go along where the new format has a place for them, and so do documents.
    What is lost is counted by reading the new files again. Nothing is fetched, and nothing is written where a row
    cannot be read.
    """
    from exports.columns.mapping import columns_of
    from exports.formats.base import check_files
    from exports.reading.tables import opened_as

    fields, kept = with_kept(context, mapping, files=files)
    columns = columns_of(fields)
    with opened_as(kept.opening):
        check_files(files, from_format, columns)
    check_export_folder(output)
    from exports.converting import convert_files, writer_named
    from exports.formats._writing import check_options

    check_options([writer_named(to)], _said(licence))
    with working("Converting"), opened_as(kept.opening):
        done = convert_files(
            files, into=to, output=output, format_name=from_format, skip_bad=skip_bad, options=_said(licence),
            pictures=pictures, mapping=columns,
        )  # fmt: skip

    def words() -> str:
        labels = f" and {count(done.labels, 'label')}" if done.labels else ""
        lines = [f"Wrote {count(done.items, 'item')}{labels} in {count(len(done.files), 'file')} to {output}."]
        lines += [f"  lost: {lost.n:,} of {lost.of:,} × {lost.what}" for lost in done.lost] or [
            "  Nothing of what was read is lost."
        ]
        return as_lines([*lines, *done.notes])

    emit(done.to_json(), words, as_json=as_json)
