"""`assay annotators …`: how well each does; what is left out of what one submitted, and restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from annotators.figures import count
from annotators.moments import moment
from app.cli.base import (
    AsJson,
    DryRun,
    ProjectName,
    StudyName,
    check_names,
    command,
    follows,
    opened,
    option,
    study_id_of,
)
from app.cli.output import emit, needs_in_words, table

if TYPE_CHECKING:
    from exports.agreement.quality import AnnotatorQuality, ShareRight


class _ShownByDefault(typer.core.TyperGroup):
    """Takes `annotators PROJECT STUDY` for `annotators show PROJECT STUDY`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """With the name of the command before what is none."""
        if args and args[0] not in (*self.commands, *self.get_help_option_names(ctx)):
            args = ["show", *args]
        return super().parse_args(ctx, args)


annotators = typer.Typer(
    name="annotators",
    cls=_ShownByDefault,
    help="How well annotators do; leave out, restore, let in.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Person = Annotated[str, typer.Argument(metavar="PERSON", help="Name of the annotator.", show_default=False)]
Why = Annotated[str, option("TEXT", "Why; it is kept, and the study's exports say it.")]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(annotators)


@command(
    annotators,
    "show",
    "assay --home ./assay-home annotators finance verification",
    "assay --home ./assay-home annotators show finance verification --json",
)
def show(context: typer.Context, project: ProjectName, study: StudyName, as_json: AsJson = False) -> None:
    """Show how well each annotator does: beside most of the others, seconds an item, and what calls for a look.

    It is what `annotators` does without another command.
    """
    check_names(context, project, study)
    from db.needs.of_studies import needs_of
    from exports.agreement.quality import annotator_quality

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        found = annotator_quality(here.db, here.actor, study_id)
        needs = [need.to_json() for need in needs_of(here.db, here.actor, study_id) if need.people]
        emit([annotator.to_json() for annotator in found], lambda: _in_words(found, needs), as_json=as_json)


def _in_words(found: list[AnnotatorQuality], needs: list[dict[str, Any]]) -> str:
    headers = ["annotator", "state", "submitted", "with the rest", "seconds an item", "warnings"]
    rows: list[list[object]] = [
        [
            row.member.name,
            row.member.state.replace("_", " "),
            row.member.submitted,
            _share(row.with_rest),
            "" if row.member.seconds_per_item is None else row.member.seconds_per_item,
            len(row.remarks),
        ]
        for row in found
    ]
    said = [
        f"{row.member.name}: {remark.text}" + (f"; {remark.first} to {remark.last}" if remark.first else "")
        for row in found
        for remark in row.remarks
    ]
    if any(row.qualification is not None for row in found):
        headers.append("qualification")
        for cells, row in zip(rows, found, strict=True):
            cells.append("" if row.qualification is None else row.qualification.in_words())
    return "\n".join([table(headers, rows, decimals=1), *(["", *said] if said else []), *needs_in_words(needs)])


def _share(share: ShareRight) -> str:
    if share.value is None:
        return share.reason or ""
    ends = "" if share.low is None or share.high is None else f" [{share.low:.2f}, {share.high:.2f}]"
    return f"{share.value:.2f}{ends} of {share.n:,}"


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
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Leave out what an annotator submitted since a moment. Nothing is deleted, and all of it can be restored.

    It counts nowhere any more, and its items wait for somebody else; exports keep it, marked. While it is left out
    the annotator gets no items.
    """
    from db.quality.omissions import leave_out

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        if dry_run:
            from db.releasing.consequences import if_left_out

            tried = if_left_out(here.db, here.actor, study_id, annotator=person, since=moment(since))
            follows(tried, as_json=as_json)
            return
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
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put back what `drop` left out. What lost its slot to somebody else meanwhile is surplus from then on."""
    from db.quality import omissions

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        if dry_run:
            from db.releasing.consequences import if_restored

            follows(if_restored(here.db, here.actor, study_id, annotator=person), as_json=as_json)
            return
        found = omissions.restore(here.db, here.actor, study_id, annotator=person, reason=reason)
        words = f"{count(found.annotations, 'annotation')} by {person} put back, of {count(found.items, 'item')}"
        words += f"; {found.surplus:,} surplus, as their slots are taken." if found.surplus else "."
        emit(found.to_json(), words, as_json=as_json)


@command(
    annotators,
    "let-in",
    'assay --home ./assay-home annotators let-in finance verification ben --reason "the third item was unclear"',
)
def let_in(
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    person: Person,
    *,
    reason: Annotated[str, option("TEXT", "Why; it is kept in the audit log.")],
    as_json: AsJson = False,
) -> None:
    """Let somebody who has not passed the study's qualification have its items all the same."""
    from db.quality import qualification

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        qualification.let_in(here.db, here.actor, study_id, annotator=person, reason=reason)
        emit({"annotator": person, "let_in": True}, f"{person} gets the items of study {study} now.", as_json=as_json)
