"""`assay study invite …`: links by which people from outside annotate in a study, and who came by them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from annotators.figures import count
from app.cli.base import AsJson, ProjectName, StudyName, command, opened, option, study_id_of
from app.cli.output import emit, table
from app.cli.studies import study


def add_to(app: typer.Typer) -> None:
    """The commands of this module stand in the group of studies, which enters itself."""
    del app


@command(
    study,
    "invite",
    "assay --home ./assay-home study invite finance verification --uses 20 --days 7 --items 10 "
    "--parameter PROLIFIC_PID --code DONE42 --return https://recruiter.example/done",
)
def invite(
    context: typer.Context,
    *,
    project: ProjectName,
    study_name: StudyName,
    uses: Annotated[int, typer.Option(metavar="N", help="So many people come in by the link.")] = 1,
    days: Annotated[float, typer.Option(metavar="D", help="So long it lets new people in.")] = 14,
    items: Annotated[int | None, option("N", "At most so many items for each of them.")] = None,
    parameter: Annotated[
        str | None, option("NAME", "The part of the address that brings a recruiter's id, as PROLIFIC_PID.")
    ] = None,
    code: Annotated[str | None, option("CODE", "Shown at the end to who has done all.")] = None,
    code_else: Annotated[str | None, option("CODE", "Shown to who stops, or is given nothing any more.")] = None,
    return_url: Annotated[str | None, option("URL", "An https address to go back to at the end.", "--return")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a link by which people without an account annotate in a study; it is told only now."""
    from app.server.served import served_address
    from db.inviting.invitations import InvitationTerms
    from db.inviting.invitations import invite as made

    terms = InvitationTerms(
        uses=uses,
        lasts=timedelta(days=days),
        quota=items,
        parameter=parameter,
        code=code,
        code_else=code_else,
        return_url=return_url,
    )
    with opened(context) as here:
        token = made(here.db, here.actor, study_id_of(here, project, study_name), terms=terms)
        link = terms.link(served_address(here.settings), token)
        whom = f"For {count(uses, 'person', 'people')}, for {days:g} day{'s' * (days != 1)}."
        words = f"{link}\n{whom} Nobody has kept it: copy it now."
        emit({"study": study_name, "link": link, "uses": uses, "days": days}, words, as_json=as_json)


@command(study, "invitations", "assay --home ./assay-home study invitations finance verification --ids --json")
def invitations(
    context: typer.Context,
    *,
    project: ProjectName,
    study_name: StudyName,
    ids: Annotated[
        bool, typer.Option("--ids", help="With the recruiter's ids; that they were read is logged.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List a study's invitations, and who came by them and how they ended."""
    from db.inviting.invitations import invitations_of

    with opened(context) as here:
        rows = invitations_of(here.db, here.actor, study_id_of(here, project, study_name), recruiter_ids=ids)
        document = [row.to_json() for row in rows]
        headers = ("invitation", "annotator", *(("recruiter_id",) if ids else ()), "joined_at", "submitted", "outcome")
        lines = [
            [row.get(name, given["invitation"]) for name in headers] for given in document for row in given["people"]
        ]
        used = "\n".join(
            f"Invitation {row.invitation_id}: {row.used} of {row.uses} came, "
            + ("withdrawn" if row.revoked_at else f"until {row.expires_at:%Y-%m-%d %H:%M} UTC")
            for row in rows
        )
        emit(document, lambda: "\n".join([used or "No invitations.", "", table(headers, lines)]), as_json=as_json)


@command(study, "uninvite", "assay --home ./assay-home study uninvite finance verification 3")
def uninvite(
    context: typer.Context,
    *,
    project: ProjectName,
    study_name: StudyName,
    invitation: Annotated[int, typer.Argument(metavar="ID", help="The invitation's number.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Withdraw a link: nobody comes in by it any more; who is in stays."""
    from db.inviting.invitations import revoke_invitation

    with opened(context) as here:
        study_id = study_id_of(here, project, study_name)
        changed = revoke_invitation(here.db, here.actor, study_id, invitation_id=invitation)
        words = f"Invitation {invitation} is withdrawn" + ("." if changed else " already; nothing was changed.")
        emit({"study": study_name, "invitation": invitation, "changed": changed}, words, as_json=as_json)
