"""`assay mappings` and `assay mapping …`: which column of a table is which field, kept under a name in a project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base import (
    AsJson,
    Delimiter,
    Each,
    Empty,
    Encoded,
    FoldCase,
    LeaveOut,
    Missing,
    ProjectName,
    Records,
    Sheet,
    command,
    group,
    opened,
    option,
    project_id_of,
    table_mapping,
)
from app.cli.output import as_lines, emit, table

if TYPE_CHECKING:
    from exports.columns.mapping import TableMapping

mapping_commands = group("mapping", "Mappings of a project: keep, show or delete one.")

MappingName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the mapping.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(app, "mappings", "assay --home ./assay-home mappings finance")(mappings)
    app.add_typer(mapping_commands)


def with_kept(
    context: typer.Context, given: Sequence[str] | None, project: str | None = None, files: Sequence[Path] = ()
) -> tuple[list[str], TableMapping]:
    """What --map was given, as texts FIELD=COLUMN, and how the kept mapping that it names reads a table.

    A text without `=` names a mapping of the project; where no project is named, of the one project that has it, or of
    that before a `/`. What stands beside it comes in its place. NotFound for a mapping that does not fit the files.
    """
    from exports.columns.mapping import AS_IT_IS, check_fits, columns_of

    named = [text for text in given or () if "=" not in text]
    texts = [text for text in given or () if "=" in text]
    if not named:
        return texts, AS_IT_IS
    if len(named) > 1:
        raise typer.BadParameter(f"{' and '.join(named)} are two mappings. Name one.", param_hint="--map")
    kept = _named(context, named[0], project)
    fields = columns_of(texts)
    from exports.columns.columns import ENDINGS, heading_names

    for file in files:
        if file.is_file() and file.suffix.lower() in ENDINGS:
            names = heading_names(file, kept.wanted, kept.wanted.paths)
            check_fits(named[0], kept, file.name, names, given=list(fields))
    of_kept = [
        f"{name}={column}" for name, columns in kept.fields.items() if name not in fields for column in columns or ("",)
    ]
    return [*of_kept, *texts], kept


def _named(context: typer.Context, name: str, project: str | None) -> TableMapping:
    from annotators.errors import InvalidInput, NotFound
    from db.elsewhere.mappings import kept_mapping, kept_mappings
    from db.projects import my_projects
    from exports.columns.mapping import TableMapping

    with opened(context) as here:
        if project is None and "/" in name:
            project, _, name = name.rpartition("/")
        if project is not None:
            found = kept_mapping(here.db, here.actor, project_id_of(here, project), name=name)
            return TableMapping.of_json(found.mapping)
        there = {}
        names: dict[str, None] = {}
        for row in my_projects(here.db, here.actor):
            of_project = {kept.name: kept for kept in kept_mappings(here.db, here.actor, row.project_id)}
            names |= dict.fromkeys(of_project)
            if name in of_project:
                there[row.name] = of_project[name]
    if not there:
        raise NotFound(
            f"No project has a mapping {name!r}. There are: {', '.join(names) or 'none'}. A field and its column are "
            "written FIELD=COLUMN."
        )
    if len(there) > 1:
        raise InvalidInput(f"{' and '.join(there)} have a mapping {name!r}. Write PROJECT/{name}.")
    return TableMapping.of_json(next(iter(there.values())).mapping)


def mappings(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """List the mappings that a project keeps.

    Wherever --map is taken, the name of one stands for all that it says.
    """
    from db.elsewhere.mappings import kept_mappings
    from exports.columns.mapping import TableMapping

    with opened(context) as here:
        rows = kept_mappings(here.db, here.actor, project_id_of(here, project))
    document = [
        {"mapping": row.name, **row.mapping, "changed_by": row.by, "changed_at": row.changed_at} for row in rows
    ]
    lines = (
        (row.name, " ".join(TableMapping.of_json(row.mapping).in_words()), row.by or "",
         f"{row.changed_at.astimezone():%Y-%m-%d %H:%M}")
        for row in rows
    )  # fmt: skip
    emit(document, lambda: table(("mapping", "what it says", "by", "changed"), lines), as_json=as_json)


@command(mapping_commands, "show", "assay --home ./assay-home mapping show finance mturk --json")
def show(context: typer.Context, project: ProjectName, name: MappingName, as_json: AsJson = False) -> None:
    """Show what a mapping says, as options of a command."""
    from db.elsewhere.mappings import kept_mapping
    from exports.columns.mapping import TableMapping

    with opened(context) as here:
        kept = kept_mapping(here.db, here.actor, project_id_of(here, project), name=name)
    words = as_lines(TableMapping.of_json(kept.mapping).in_words())
    emit({"mapping": kept.name, **kept.mapping}, words, as_json=as_json)


@command(
    mapping_commands,
    "save",
    "assay --home ./assay-home mapping save finance mturk --map item=HITId --map annotator=WorkerId "
    "--map 'criteria=Answer.*'",
    "assay --home ./assay-home mapping save finance mturk --map item=HITId --map annotator=WorkerId "
    "--map 'criteria=Answer.*' --table batch.csv",
)
def save(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    name: MappingName,
    fields: Annotated[
        list[str] | None,
        option("FIELD=COLUMN", "Which column of a table is which field; repeatable.", "--map"),
    ] = None,
    encoding: Encoded = None,
    sheet: Sheet = None,
    records: Records = None,
    each: Each = None,
    missing: Missing = None,
    empty: Empty = None,
    fold_case: FoldCase = False,
    delimiter: Delimiter = None,
    leave_out: LeaveOut = None,
    file: Annotated[
        Path | None, option("FILE", "Check it against this table, and show its first three rows.", "--table")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Keep a mapping under a name, in the place of one that has it.

    With --table it is kept only where it fits, and the first rows are shown as it reads them.
    """
    if not fields:
        raise typer.BadParameter("Say which column is which field: --map FIELD=COLUMN.", param_hint="--map")
    mapping = table_mapping(
        fields, encoding=encoding, sheet=sheet, records=records, each=each, missing=missing, fold_case=fold_case,
        delimiter=delimiter, empty=empty, leave_out=leave_out,
    )  # fmt: skip
    from exports.columns.preview import first_rows

    begun = None if file is None else first_rows(file, mapping)
    from db.elsewhere.mappings import keep_mapping

    with opened(context) as here:
        was = keep_mapping(here.db, here.actor, project_id_of(here, project), name=name, mapping=mapping.to_json())
    document = {"mapping": name.strip(), **mapping.to_json(), "changed": was}
    if begun is not None:
        document["rows"] = [dict(zip(begun.columns, row, strict=True)) for row in begun.rows]

    def words() -> str:
        said = f"{'Changed' if was else 'Kept'} the mapping {name.strip()} of {project}."
        return said if begun is None else f"{table(begun.columns, begun.rows)}\n\n{said}"

    emit(document, words, as_json=as_json)


@command(mapping_commands, "delete", "assay --home ./assay-home mapping delete finance mturk")
def delete(context: typer.Context, project: ProjectName, name: MappingName, as_json: AsJson = False) -> None:
    """Delete a mapping; what came in by it stays."""
    from db.elsewhere.mappings import forget_mapping

    with opened(context) as here:
        forget_mapping(here.db, here.actor, project_id_of(here, project), name=name)
    emit({"mapping": name, "deleted": True}, f"Deleted the mapping {name} of {project}.", as_json=as_json)
