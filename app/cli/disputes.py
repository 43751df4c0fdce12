"""`assay disputes` and `assay adjudicate`: what annotators disagree on, and decisions from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotators.errors import NotFound
from annotators.figures import count
from annotators.items.pairs import in_words, pair_name
from app.cli.base import AsJson, ProjectName, StudyName, check_names, command, opened, study_id_of
from app.cli.output import as_lines, emit, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db.adjudicating.listed import ListedDispute
    from db.adjudicating.tables import TableDecided


_ORDERS = ("disagreement", "uncertainty")
_EXAMPLES = (
    "assay --home ./assay-home disputes finance verification --json",
    "assay --home ./assay-home disputes finance verification --order uncertainty",
)


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(app, "disputes", *_EXAMPLES)(disputes)
    command(
        app,
        "adjudicate",
        "assay --home ./assay-home --as rosa adjudicate finance verification decisions.csv",
        "assay --home ./assay-home --as rosa adjudicate finance verification decisions.csv --again --json",
    )(adjudicate)


def disputes(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="BY",
            help="Let adjudicators get the disputes by disagreement, or by uncertainty: how little a model of the "
            "annotators knows of each.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what annotators disagree on, with their votes."""
    check_names(context, project, study)
    if order not in (None, *_ORDERS):
        raise typer.BadParameter(f"{order!r} is no order. Take one of: {', '.join(_ORDERS)}.", param_hint="--order")
    from db.adjudicating.listed import listed_disputes
    from db.adjudicating.uncertainty import order_by_disagreement, order_by_uncertainty

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        if order == "uncertainty":
            order_by_uncertainty(here.db, here.actor, study_id)
        elif order is not None:
            order_by_disagreement(here.db, here.actor, study_id)
        found = listed_disputes(here.db, here.actor, study_id)
        emit([dispute.to_json() for dispute in found], lambda: _in_words(found), as_json=as_json)


def _in_words(found: Sequence[ListedDispute]) -> str:
    if not found:
        return "Nothing is disputed."
    units = sum(len(dispute.units) for dispute in found)
    in_stages = any(dispute.stage != "first" for dispute in found)
    rows = [
        (
            in_words(pair_name(dispute.item, dispute.other)),
            unit.criterion,
            unit.target,
            ", ".join(f"{value}: {n}" for value, n in unit.votes.items()),
            round(unit.weight, 2),
            *([dispute.stage] if in_stages else []),
        )
        for dispute in found
        for unit in dispute.units
    ]
    headers = ("item", "criterion", "target", "votes", "weight", *(["stage"] if in_stages else []))
    about = f"{count(len(found), 'disputed item')}, {count(units, 'unit')} to decide."
    return f"{about}\n\n{table(headers, rows, decimals=2)}"


def adjudicate(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE.csv", help="Columns item, criterion, target, value, reason.", show_default=False),
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Decide items again that are adjudicated; earlier rounds are kept.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Decide disputed items as a table says.

    It is done as the person of --as, all of it or nothing. Every disputed unit of an item needs a row, and one against
    a majority a reason. Every problem is named with its line. The same table given twice changes nothing the second
    time.
    """
    if not file.is_file():
        raise NotFound(f"There is no file {str(file)!r}. Check the path.")
    check_names(context, project, study)
    from exports.importing.decisions import import_decisions

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        done = import_decisions(here.db, here.actor, study_id, path=file, again=again)
        document = {"study": study, "by": here.actor.name, **done.to_json()}
        emit(document, lambda: _done(done, study, here.actor.name), as_json=as_json)


def _done(done: TableDecided, study: str, name: str) -> str:
    against = f", {done.overruled:,} against a majority" if done.overruled else ""
    lines = [f"{name} decided {count(done.items, 'item')} of {study} ({count(done.units, 'unit')}{against})."]
    if done.unchanged:
        lines.append(f"{count(done.unchanged, 'item')} stood so already.")
    return as_lines(lines)
