"""`assay report`: what a paper says about a dataset, in LaTeX, HTML and Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from annotators.figures import count
from app.cli.base import (
    AsJson,
    Level,
    ProjectName,
    Resamples,
    Seed,
    check_names,
    command,
    opened,
    project_id_of,
    study_id_of,
)
from app.cli.output import emit, progress
from exports.checks import DATASET_FORMATS, check_dataset_formats, check_export_folder


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "report",
        "assay --home ./assay-home report finance --to ./finance-report",
        "assay --home ./assay-home report finance verification --to ./paper --format latex",
        "assay --home ./assay-home report finance verification --to ./numbers --format md --json",
    )(report)


def report(
    context: typer.Context,
    *,
    project: ProjectName,
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="Only this study and its items.  [default: all]", show_default=False),
    ] = None,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Folder to make; it may be empty.", show_default=False)],
    format_names: Annotated[
        str, typer.Option("--format", metavar="A,B", help="latex, html, md, with commas between.")
    ] = ",".join(DATASET_FORMATS),
    level: Level = 0.95,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Write what a paper says about a dataset.

    Its section and its appendix: sizes, protocol and guidelines, annotators, time, agreement, stages, gold, metrics
    and judges against people, limits, a datasheet, references. The figures are those of the pages. People are
    pseudonyms.
    """
    formats = check_dataset_formats([name.strip() for name in format_names.split(",") if name.strip()])
    check_export_folder(to)
    check_names(context, project, study)
    from annotators.intervals.bootstrap import Resampling
    from exports.dataset.document import dataset_report, to_json

    with opened(context) as here, progress("Measuring") as move:
        made = dataset_report(
            here.db,
            here.actor,
            project_id_of(here, project),
            study_id=None if study is None else study_id_of(here, project, study),
            asked=Resampling(resamples, seed, level),
            progress=move,
        )
        files = made.write(to, formats)
    first = ", ".join(str(path) for path in files if path.parent == to)
    emit(to_json(files, made), f"Wrote {first}, with {count(len(made.numbers), 'number')}.", as_json=as_json)
