"""`assay panel` and `assay judge check`: what judges are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base import (
    AsJson,
    Level,
    ProjectName,
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
from app.cli.output import emit, working

if TYPE_CHECKING:
    from annotators.judges.trust.panel import Rule
    from exports.judging.panel import PanelReport

RULES: tuple[Rule, ...] = ("majority", "dawid_skene")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "panel",
        "assay --home ./assay-home panel finance verification --judges A,B,C --rule majority",
        "assay --home ./assay-home panel finance verification --judges A,B,C --rule dawid_skene --json",
    )(panel)


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

    names = [name.strip() for name in judges.split(",") if name.strip()]
    with opened(context) as here, working("Measuring"):
        found = panel_report(
            here.db, here.actor, study_id_of(here, project, study),
            judges=names, rule=which, asked=Resampling(resamples, seed, level),
        )  # fmt: skip
    emit(found.to_json(), lambda: _panel_in_words(found), as_json=as_json)


def _panel_in_words(found: PanelReport) -> str:
    from exports.drawing.tables import as_text
    from exports.judging.panel import panel_table

    made = panel_table(found)
    return "\n".join([made.caption, as_text(made), *found.notes])
