"""`assay redact` and `assay project delete`: the two audited exceptions to append-only."""

from __future__ import annotations

from typing import Annotated

import typer

from annotators.figures import count
from app.cli.base import AsJson, ProjectName, StudyName, command, opened, project_id_of, study_id_of
from app.cli.output import emit
from app.cli.projects import project as project_group


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    example = 'assay --home ./assay-home redact finance pilot --containing "Jo Field" --reason "a name in comments"'
    command(app, "redact", example)(redact)


def redact(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    containing: Annotated[str, typer.Option(help="The words; every free text that has them is replaced whole.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the audit log. The words are not.")],
    as_json: AsJson = False,
) -> None:
    """Replace free texts of a study that contain some words.

    Comments, reasons and labels that are texts give way to a note with their SHA-256, in examples of the project's
    prompts too; drafts are deleted.
    """
    from app.copies import forget_copies
    from db.upkeep.maintenance import redact_text

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        done = redact_text(here.db, here.actor, study_id, containing=containing, reason=reason)
        forget_copies(here.settings, here.db)
        document = {"texts": done.texts, "sha256": done.digests}
        emit(document, f"Redacted {count(done.texts, 'text')}.", as_json=as_json)


@command(project_group, "delete", "assay --home ./assay-home project delete finance --confirm finance")
def delete(
    context: typer.Context,
    *,
    project: ProjectName,
    confirm: Annotated[str, typer.Option(help="The project's name once more: everything in it is deleted for ever.")],
    as_json: AsJson = False,
) -> None:
    """Delete a project with everything in it.

    To take back an import, withdraw its batch instead.
    """
    from app.copies import forget_copies
    from db.items.unpublished import forget_bytes
    from db.upkeep.maintenance import delete_project

    with opened(context) as here:
        done = delete_project(here.db, here.actor, project_id_of(here, project), name=confirm)
        with here.db.write() as session:
            forget_bytes(session, here.settings.documents_folder, done.unused_documents)
        forget_copies(here.settings, here.db)
        rows = sum(done.rows.values())
        document = {"project": confirm, "rows": done.rows, "documents": len(done.unused_documents)}
        words = f"Deleted {confirm}: {count(rows, 'row')}, {count(len(done.unused_documents), 'document')}."
        emit(document, words, as_json=as_json)
