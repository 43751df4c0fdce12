"""`assay score` and `assay scorers`: automatic scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base import AsJson, ProjectName, command, opened, project_id_of
from app.cli.output import count, emit, progress, table

if TYPE_CHECKING:
    from db.scores import ScoreSummary


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "score",
        "assay --home ./assay-home score finance --scorer phrase_recall",
        "assay --home ./assay-home score finance --scorer phrase_recall --param mode=paper --json",
    )(score)
    command(app, "scorers", "assay scorers")(scorers)


def score(
    context: typer.Context,
    project: ProjectName,
    scorer: Annotated[str, typer.Option(metavar="NAME", help="One of `assay scorers`.", show_default=False)],
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter of the scorer; repeatable.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute automatic scores of a project's items.

    Every current item is scored that has no score of this scorer, version and parameters; all are summed up. A run that
    is interrupted goes on where it stopped; a second run adds nothing.
    """
    from db.scores import run_scorer

    with opened(context) as here:
        project_id = project_id_of(here, project)
        with progress("Scoring") as move:
            summary = run_scorer(
                here.db, here.actor, project_id, scorer=scorer, parameters=param or None, progress=move
            )
        emit(summary.to_json(), lambda: in_words(summary), as_json=as_json)


def in_words(summary: ScoreSummary) -> str:
    """A summary of scores as a table, with what it is a summary of."""
    from annotators.scoring import readable

    parameters = " ".join(readable(summary.parameters)) or "no parameters"
    everything = ("all", "", summary.n_scored, summary.mean, summary.macro_mean)
    rows = [everything, *((one.by, one.group, one.n, one.mean, one.macro_mean) for one in summary.groups)]
    unscored = f", {summary.n_unscored:,} unscored" if summary.n_unscored else ""
    return "\n".join(
        [
            f"{summary.scorer} {summary.version} ({parameters}), value {summary.value}: "
            f"{count(summary.n_scored, 'item')} scored{unscored}; {count(summary.added, 'new score')}",
            "",
            table(("by", "group", "n", "mean", "macro mean"), rows),
        ]
    )


def scorers(context: typer.Context, as_json: AsJson = False) -> None:
    """List the scorers with their values and parameters."""
    from annotators.scoring import SCORERS, allowed_values

    del context  # the list needs no home folder
    document = [
        {
            "scorer": one.name,
            "version": one.version,
            "title": one.title,
            "summary": one.summary,
            "source": one.source,
            "values": [kind.name for kind in one.values],
            "parameters": {name: allowed_values(one, name) for name in one.parameters.model_fields},
        }
        for one in SCORERS
    ]
    lines = []
    for one in document:
        parameters = one["parameters"]
        assert isinstance(parameters, dict)
        lines.append(f"{one['scorer']} {one['version']}: {one['summary']}")
        lines += [f"  --param {name}=…   {allowed}" for name, allowed in parameters.items()]
    emit(document, "\n".join(lines), as_json=as_json)
