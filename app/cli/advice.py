"""`assay advice`: which items to label next, and a draw of some of them with known probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.errors import NotFound
from annotators.figures import count
from app.cli.base import AsJson, ProjectName, Seed, StudyName, check_names, command, opened, option, study_id_of
from app.cli.output import emit, table, working

if TYPE_CHECKING:
    from exports.alignment.advice import Advice


def add_to(app: typer.Typer) -> None:
    """Enter the command of this module."""
    command(
        app,
        "advice",
        "assay --home ./assay-home advice finance grading --metric token_f1",
        "assay --home ./assay-home advice finance grading --metric token_f1 --draw 40 --seed 7 --json > drawn.json",
    )(advice)


def advice(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    metric: Annotated[str, option("NAME", "The score or judge that labels are to tell about.")],
    criterion: Annotated[
        str | None, option("C", "What people judge.  [default: the first that the metric fits]")
    ] = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="Items to list, the most telling first.")] = 20,
    draw: Annotated[
        int | None,
        option(
            "N", "Draw so many of all of them instead, with known probabilities, for `study create --drawn`.", min=1
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Say what to label next.

    Items with a score and without a label, those first whose label would tell most about the metric. The first of them
    are no sample: for labels that means are to be made of, --draw takes some of all at random, the more telling more
    often, and says with which probability.
    """
    check_names(context, project, study)
    from exports.alignment.advice import advice_on

    with opened(context) as here, working("Looking"):
        study_id = study_id_of(here, project, study)
        found = advice_on(here.db, here.actor, study_id, metric=metric, criterion=criterion)
    if not found.candidates:
        raise NotFound("Every item with a score has a label on this criterion. Score more items, or import some.")
    about = {"study": study, "criterion": found.criterion, "metric": found.metric, "unlabelled": len(found.candidates)}
    if draw is None:
        rows = _listed(found, most)
        emit(about | {"items": rows}, lambda: _list_in_words(found, rows), as_json=as_json)
        return
    items, settings = found.draw(draw, seed)
    drawn = [{"item": item, "probability": settings["drawn_with"][item]} for item in items]
    document = about | {"seed": seed, "drawn": drawn, "not_drawn_from": settings["not_drawn_from"]}
    emit(document, lambda: _draw_in_words(found, drawn), as_json=as_json)


def _listed(found: Advice, most: int) -> list[dict[str, Any]]:
    rows = []
    for candidate in found.candidates[:most]:
        item = found.items[str(candidate.unit)]
        rows.append(
            {
                "item": item.item,
                "system": item.system,
                "score": item.scores.get(found.metric),
                "disagreement": candidate.disagreement,
                "uncertainty": candidate.uncertainty,
                "worth": candidate.worth,
            }
        )
    return rows


def _list_in_words(found: Advice, rows: list[dict[str, Any]]) -> str:
    headers = ("item", "system", found.metric, "metrics disagree", "score says little", "worth")
    return "\n".join(
        [
            f"{count(len(found.candidates), 'item')} without a label on {found.criterion}; the most telling about "
            f"{found.metric} first.",
            "",
            table(headers, [list(row.values()) for row in rows]),
            "",
            "These are no sample: a mean of their labels would be wrong. --draw N takes some that can be weighed.",
        ]
    )


def _draw_in_words(found: Advice, drawn: list[dict[str, Any]]) -> str:
    return "\n".join(
        [
            f"{count(len(drawn), 'item')} drawn of {len(found.candidates):,} without a label on {found.criterion}.",
            "",
            table(("item", "probability"), [list(item.values()) for item in drawn]),
            "",
            "With --json this is a file for `assay study create --drawn FILE`, which keeps the probabilities.",
        ]
    )
