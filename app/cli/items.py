"""`assay item`, `revise` and `end`: an item's story, its new versions, and how it is ended by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.errors import InvalidInput, NotFound
from annotators.figures import count
from app.cli.base import AsJson, ProjectName, command, opened, option, project_id_of
from app.cli.output import as_lines, emit
from app.wording import chapter, fallen_verdicts
from app.wording import state as in_words

if TYPE_CHECKING:
    from db.releasing.story import ItemStory
    from db.studies.revisions import ItemRevision


def add_to(app: typer.Typer) -> None:
    """Enter the command of this module."""
    command(
        app,
        "revise",
        'assay --home ./assay-home --as rosa revise finance q7:reference --fields better.json --reason "ambiguous"',
        'assay --home ./assay-home revise finance q7:reference --fields better.json --reason "ambiguous" --dry-run',
    )(revise)
    command(app, "item", "assay --home ./assay-home item finance q7:reference --json")(item_story)
    command(
        app,
        "end",
        'assay --home ./assay-home end finance q7:reference rejected --reason "the document was withdrawn"',
        'assay --home ./assay-home end finance q7:reference undo --reason "the document is back"',
    )(end)


def revise(
    context: typer.Context,
    *,
    project: ProjectName,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Id of the item.", show_default=False)],
    fields: Annotated[
        Path, option("FILE.json", "An object of the fields with their new values, as in an import; null empties one.")
    ],
    reason: Annotated[str, option("WORDS", "Why; kept with the new version.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    as_json: AsJson = False,
) -> None:
    """Store an item in a new version. The earlier one stays, with its labels, its scores and the studies that have it.

    What is said is which labels fall with the edit, by the protocol of each study that has annotations of the item, and
    which stay.
    """
    given = _object(fields)
    from db.studies.revisions import plan_revision, revise_item

    with opened(context) as here:
        project_id = project_id_of(here, project)
        if dry_run:
            made = plan_revision(here.db, here.actor, project_id, external_id=item, fields=given)
        else:
            made = revise_item(here.db, here.actor, project_id, external_id=item, fields=given, reason=reason)
        emit(made.to_json(), lambda: _words(made, dry_run=dry_run), as_json=as_json)


def end(
    context: typer.Context,
    *,
    project: ProjectName,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Id of the item.", show_default=False)],
    state: Annotated[
        str,
        typer.Argument(
            metavar="STATE", help="accepted, rejected or withdrawn; undo takes that back.", show_default=False
        ),
    ],
    reason: Annotated[str, option("WORDS", "Why; it stands in the story of the item.")],
    as_json: AsJson = False,
) -> None:
    """Accept, reject or withdraw an item by hand.

    Its labels may say otherwise. Nothing is deleted: studies keep the item and its labels, and only releases leave it
    out. An acceptance is of the version that the item is in.
    """
    from db.releasing.endings import end_item

    with opened(context) as here:
        wanted = None if state == UNDO else state
        project_id = project_id_of(here, project)
        made = end_item(here.db, here.actor, project_id, external_id=item, state=wanted, reason=reason)
        words = f"{made.item}, version {made.version}, is {in_words(made.after)} (was {in_words(made.before)})."
        emit(made.to_json(), words, as_json=as_json)


def item_story(
    context: typer.Context,
    *,
    project: ProjectName,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Id of the item.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show where an item stands and what led to it.

    Its import, labels, disputes, decisions, revisions with the labels that fell, ends and releases, in the order of
    time.
    """
    from db.releasing import story

    with opened(context) as here:
        found = story.item_story(here.db, here.actor, project_id_of(here, project), external_id=item)
        emit(found.to_json(), lambda: _told(found), as_json=as_json)


def _told(found: ItemStory) -> str:
    by_hand = " by hand" if found.standing.by_hand else ""
    lines = [f"{found.item}, version {found.standing.number}: {in_words(found.standing.state)}{by_hand}."]
    lines += [f"{row.at.astimezone():%Y-%m-%d %H:%M}  {chapter(row)}." for row in found.chapters]
    return as_lines(lines)


UNDO = "undo"
"""What takes back how an item was ended by hand."""


def _object(path: Path) -> dict[str, Any]:
    import orjson

    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    try:
        found = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{path.name}, line {error.lineno}: this is no JSON ({error.msg}). Correct it.") from None
    if not isinstance(found, dict) or not found:
        raise InvalidInput(
            f'{path.name} is no object of fields. Write {{"answer": "…"}}, with what is to be different.'
        )
    return found


def _words(made: ItemRevision, *, dry_run: bool) -> str:
    would = "would be" if dry_run else "is"
    lines = [f"{made.item} {would} in version {made.version} (was {made.from_version}): {', '.join(made.edited)}."]
    for effect in made.labelled:
        falls = f"labels of {', '.join(effect.falls)} fall" if effect.falls else "no label falls"
        lines.append(f"Study {effect.study}, {count(effect.annotations, 'annotation')}: {falls}.")
    if made.verdicts:
        lines.append(fallen_verdicts(made.verdicts))
    return as_lines(lines)
