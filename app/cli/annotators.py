"""`assay annotators …`: what is left out of what an annotator submitted, and restored."""

from __future__ import annotations

from typing import Annotated

import typer

from annotators.figures import count
from app.cli.base import AsJson, ProjectName, StudyName, command, group, moment, opened, option, study_id_of
from app.cli.output import emit

annotators = group("annotators", "Annotators of a study: how well they do, leave out, restore.")

Person = Annotated[str, typer.Argument(metavar="PERSON", help="Name of the annotator.", show_default=False)]
Why = Annotated[str, option("TEXT", "Why; it is kept, and the study's exports say it.")]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(annotators)


@command(
    annotators,
    "drop",
    'assay --home ./assay-home annotators drop finance verification ben --from 2026-03-02T14:00 --reason "at random"',
)
def drop(
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    person: Person,
    *,
    since: Annotated[str, option("TIME", "Since when: 2026-03-02, or 2026-03-02T14:00 (local).", "--from")],
    reason: Why,
    as_json: AsJson = False,
) -> None:
    """Leave out what an annotator submitted since a moment. Nothing is deleted, and all of it can be restored.

    It counts nowhere any more, and its items wait for somebody else; exports keep it, marked. While it is left out
    the annotator gets no items.
    """
    from db.quality.omissions import leave_out

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        found = leave_out(here.db, here.actor, study_id, annotator=person, since=moment(since), reason=reason)
        words = f"{count(found.annotations, 'annotation')} by {person} left out, of {count(found.items, 'item')}."
        if found.short:
            words += (
                f" The overlap needs {count(found.short, 'annotator')} more than are left: add somebody, or lower it "
                "(`assay study amend`)."
            )
        emit(found.to_json(), words, as_json=as_json)


@command(
    annotators,
    "restore",
    'assay --home ./assay-home annotators restore finance verification ben --reason "the clock was wrong"',
)
def restore(
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    person: Person,
    *,
    reason: Why,
    as_json: AsJson = False,
) -> None:
    """Put back what `drop` left out. What lost its slot to somebody else meanwhile is surplus from then on."""
    from db.quality import omissions

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        found = omissions.restore(here.db, here.actor, study_id, annotator=person, reason=reason)
        words = f"{count(found.annotations, 'annotation')} by {person} put back, of {count(found.items, 'item')}"
        words += f"; {found.surplus:,} surplus, as their slots are taken." if found.surplus else "."
        emit(found.to_json(), words, as_json=as_json)
