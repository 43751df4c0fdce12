"""`assay results`: what came out of a study, by the reports that its protocol has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from annotators.figures import count
from annotators.files import naming
from app.cli.base import (
    AsJson,
    Level,
    ProjectName,
    ReportFile,
    Resamples,
    Seed,
    StudyName,
    check_names,
    command,
    opened,
    option,
    study_id_of,
)
from app.cli.output import emit, say_aside, working
from exports.checks import check_report


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "results",
        "assay --home ./assay-home results finance verification",
        "assay --home ./assay-home results finance verification --json",
        "assay --home ./assay-home results finance verification --level 0.9 --report results.html",
        "assay --home ./assay-home results finance verification --by 'some-model plain@1' --against people",
        "assay --home ./assay-home results finance ambiguity --split split.csv --match category,language --seed 7",
    )(results)


def results(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    by: Annotated[
        str | None,
        option("WHO", "Whose labels: people, or a judge by its name.  [default: people, else the only judge]"),
    ] = None,
    against: Annotated[
        str | None, option("WHO", "Whose stand beside them: people (votes), settled (final ones), or a judge.")
    ] = None,
    report: ReportFile = None,
    level: Level = 0.95,
    split: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Of a study of ambiguity: also write the ambiguous items with as many clear ones that match them.",
            show_default=False,
        ),
    ] = None,
    match: Annotated[
        str, typer.Option(metavar="FIELDS", help="With --split: what has to be the same, commas between.")
    ] = "category",
    seed: Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Report what came out of a study.

    The figures that its protocol is for, and the share of each label: of settled labels and those of single annotators,
    in all and by system and category, each with its interval. Of a judge's labels it is the same; --against puts
    people's, or another judge's, beside them, with the difference and its interval.
    """
    if report is not None:
        check_report(report)
    check_names(context, project, study)
    from annotators.intervals.bootstrap import Resampling
    from exports.drawing.report_files import write_report
    from exports.drawing.tables import as_csv
    from exports.results.ambiguity import ambiguity_split
    from exports.results.document import Results
    from exports.results.labels import StudyLabels

    with opened(context) as here, working("Reading labels"):
        study_id = study_id_of(here, project, study)
        made = Results.of_study(
            here.db, here.actor, study_id, Resampling(resamples, seed, level), by=by, against=against
        )
        halves = None
        if split is not None:
            labels = StudyLabels.of(here.db, here.actor, study_id)
            fields = [name.strip() for name in match.split(",") if name.strip()]
            halves = ambiguity_split(labels, match=fields, seed=seed)
    if split is not None and halves is not None:
        with naming(split):
            split.write_text(as_csv(halves.table), encoding="utf-8")
        say_aside("\n".join([f"Split: {count(len(halves.table.rows), 'item')} in {split}", *halves.notes]))
    if report is not None:
        written = write_report(made.drawn(), report)
        say_aside(f"Report: {', '.join(str(path) for path in written)}")
    emit(made.to_json(), made.in_words, as_json=as_json)
