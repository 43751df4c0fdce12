"""`assay documents`: the documents of a project, and which of them never leave this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.figures import some
from app.cli.base import AsJson, Here, ProjectName, command, opened, option, project_id_of
from app.cli.output import emit, table

if TYPE_CHECKING:
    from db.items.documents import DocumentRow

_AT_ONCE = 1_000


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "documents",
        "assay --home ./assay-home documents finance",
        "assay --home ./assay-home documents finance --keep contract.pdf --keep ledger.pdf",
        "assay --home ./assay-home documents finance --release ledger.pdf --json",
    )(documents)


def documents(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    search: Annotated[str, option("WORDS", "Only those with this in their key or title.")] = "",
    keep: Annotated[list[str] | None, option("KEY", "Never send this one to a judge elsewhere; repeatable.")] = None,
    release: Annotated[list[str] | None, option("KEY", "It may be sent again; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """List a project's documents, and which stay here.

    An item that is about a document that is kept, or cites one, is never sent to a judge on another machine. What has
    the same bytes stays as well.
    """
    from app.copies import forget_exports
    from db.items.documents import keep_documents, list_kept_documents

    with opened(context) as here:
        project_id = project_id_of(here, project)
        if both := sorted({*(keep or ())} & {*(release or ())}):
            raise typer.BadParameter(f"{both[0]!r} cannot both stay and go.", param_hint="--keep --release")
        if keep:
            keep_documents(here.db, here.actor, project_id, keys=keep)
            forget_exports(here.settings)
        if release:
            keep_documents(here.db, here.actor, project_id, keys=release, kept=False)
        kept = list_kept_documents(here.db, here.actor, project_id)
        rows = [_facts(row, kept.get(row.key)) for row in _listed(here, project_id, search)]
        emit(rows, lambda: _in_words(rows), as_json=as_json)


def _listed(here: Here, project_id: int, search: str) -> Iterator[DocumentRow]:
    """All of them, some at a time."""
    from db.items.documents import list_documents

    after = None
    while rows := list_documents(here.db, here.actor, project_id, search=search, after=after, limit=_AT_ONCE):
        yield from rows
        after = rows[-1].key


def _facts(row: DocumentRow, kept: tuple[str, ...] | None) -> dict[str, Any]:
    """`kept`: None unless it stays here, and for whose bytes, as of `kept_documents`."""
    return {
        "document": row.key, "title": row.title, "media_type": row.media_type, "pages": row.n_pages,
        "supplied": row.supplied, "kept_here": kept is not None, **({"kept_for": list(kept)} if kept else {}),
    }  # fmt: skip


def _in_words(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "No document fits."
    return table(
        ["document", "title", "pages", "supplied", "stays here"],
        [
            [
                row["document"],
                row["title"],
                row["pages"] or "",
                "yes" if row["supplied"] else "",
                _why(row),
            ]
            for row in rows
        ],
    )


def _why(row: dict[str, Any]) -> str:
    if for_others := row.get("kept_for"):
        return f"has the bytes of {some(for_others, 3)}"
    return "yes" if row["kept_here"] else ""
