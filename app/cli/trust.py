"""`assay panel` and `assay judge check`: what judges are worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    one_of,
    opened,
    option,
    study_id_of,
)
from app.cli.output import emit, progress, working
from exports.checks import check_report as check_file

if TYPE_CHECKING:
    from annotators.judges.trust.panel import Rule
    from exports.judging.check import CheckReport
    from exports.judging.data import PeopleBy
    from exports.judging.panel import PanelReport

RULES: tuple[Rule, ...] = ("majority", "dawid_skene")
LABELS: tuple[PeopleBy, ...] = ("majority", "settled")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "judge check",
        'assay --home ./assay-home judge check finance verification --judge "some-model plain@1"',
        'assay --home ./assay-home judge check finance verification --judge "some-model plain@1" '
        "--labels settled --json",
    )(check)
    command(
        app,
        "panel",
        "assay --home ./assay-home panel finance verification --judges A,B,C --rule majority",
        "assay --home ./assay-home panel finance verification --judges A,B,C --rule dawid_skene --json",
    )(panel)


def check(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    judge: Annotated[str, option("J", "The judge, by its name as `assay agreement --judges` has it.")],
    labels: Annotated[
        str, typer.Option(metavar="L", help="People's label: that of their majority, or the settled one.")
    ] = "majority",
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="What an annotator's cost is worth in the alternative annotator test.")
    ] = 0.2,
    family: Annotated[
        str | None,
        option("WORD,WORD", "Words in the names of systems of its own family.  [default: the first of its model]"),
    ] = None,
    report: ReportFile = None,
    level: Level = 0.95,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Say whether a judge may be trusted: beside people, on what it errs, against itself, and what it saves.

    Agreement as one more rater, the alternative annotator test, confusions, errors by length, family and system,
    calibration, what it costs; each with an interval, or the reason why not.
    """
    by = one_of(labels, LABELS, "--labels")
    check_names(context, project, study)
    if report is not None:
        check_file(report)
    from annotators.intervals.bootstrap import Resampling
    from exports.judging.check import check_report

    with opened(context) as here, progress("Measuring") as move:
        found = check_report(
            here.db, here.actor, study_id_of(here, project, study),
            judge=judge, by=by, epsilon=epsilon, family=_names(family or ""),
            asked=Resampling(resamples, seed, level), progress=move,
        )  # fmt: skip
    _write(found, report)
    emit(found.to_json(), lambda: _check_in_words(found), as_json=as_json)


def _names(given: str) -> list[str]:
    """What stands between commas."""
    return [name.strip() for name in given.split(",") if name.strip()]


def _write(found: CheckReport, report: Path | None) -> None:
    """Write the report, where one is wanted."""
    if report is None:
        return
    from exports.drawing.report_files import write_report

    written = write_report(found, report)
    typer.echo(f"Report: {', '.join(str(path) for path in written)}", err=True)


def _check_in_words(found: CheckReport) -> str:
    from exports.drawing.tables import as_text

    lines = []
    for section in found.sections():
        lines += [f"# {section.title}", ""]
        for table in section.tables:
            lines += [table.caption, as_text(table), ""]
    return "\n".join([*lines, *found.notes, *found.warnings])


def panel(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    judges: Annotated[str, option("A,B,C", "The judges that are combined, with commas between them.")],
    rule: Annotated[
        str, typer.Option(metavar="R", help="How they are combined: majority or dawid_skene.")
    ] = "majority",
    level: Level = 0.95,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Combine several judges, and hold them against people.

    By majority, or by a model of raters that weighs each judge by its confusions. The panel is compared with its best
    member, which is chosen on other units than those it is counted on.
    """
    which = one_of(rule, RULES, "--rule")
    check_names(context, project, study)
    from annotators.intervals.bootstrap import Resampling
    from exports.judging.panel import panel_report

    with opened(context) as here, working("Measuring"):
        found = panel_report(
            here.db, here.actor, study_id_of(here, project, study),
            judges=_names(judges), rule=which, asked=Resampling(resamples, seed, level),
        )  # fmt: skip
    emit(found.to_json(), lambda: _panel_in_words(found), as_json=as_json)


def _panel_in_words(found: PanelReport) -> str:
    from exports.drawing.tables import as_text
    from exports.judging.panel import panel_table

    made = panel_table(found)
    return "\n".join([made.caption, as_text(made), *found.notes])
