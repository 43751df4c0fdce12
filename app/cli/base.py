"""What every command needs: its place in the help, the options that all share, and the home folder it works on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo, TyperInfo

from annotators.errors import Interrupted, NotFound
from app.cli.output import emit, say_aside

if TYPE_CHECKING:
    from annotators.intervals.result import IntervalKind, Raters
    from app.settings import Settings
    from db.engine import Database
    from db.permissions import Actor
    from db.releasing.consequences import Consequences
    from exports.columns.mapping import TableMapping

F = TypeVar("F", bound=Callable[..., Any])
N = TypeVar("N", bound=str)


def option(metavar: str, help_text: str, *names: str, **more: Any) -> Any:
    """An option without a default of its own to show; `metavar` is how its value reads, such as NAME."""
    return typer.Option(*names, metavar=metavar, help=help_text, show_default=False, **more)


def column(help_text: str) -> Any:
    """An option that names a column of a table."""
    return option("COL", help_text)


PeopleNamed = Annotated[bool, typer.Option("--names", help="Names of people instead of pseudonyms.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would follow; nothing is changed.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]


def _known(context: typer.Context, name: str | None) -> str | None:
    """A project's name as it was given, once it is not known to be wrong."""
    if name is not None and isinstance(context.find_root().obj, Given):  # else a line is only being understood
        check_names(context, name)
    return name


FieldColumns = Annotated[
    list[str] | None,
    option(
        "FIELD=COLUMN",
        "Which column of a table is which field, such as question=Frage; or the name of a mapping that the project "
        "keeps; may stand more than once.",
        "--map",
    ),
]
OfRatings = Annotated[
    list[str] | None,
    option(
        "FIELD=COLUMN",
        "With a table: which column is which field: item, annotator, criterion, value, target, question; annotators, "
        "criteria or items where many columns are one each ('criteria=Answer.*'). A nested field by its path "
        "(scores[].value); or the name of a kept mapping; repeatable.",
        "--map",
    ),
]
OfTable = Annotated[
    list[str] | None,
    option(
        "FIELD=COLUMN",
        "With --table: another way to name its columns, such as human=Note; a nested field by its path; or the name of "
        "a kept mapping; repeatable.",
        "--map",
    ),
]
Encoded = Annotated[
    str | None,
    option("NAME", "Encoding of the table, such as windows-1252.  [default: the one it looks like]", "--encoding"),
]
Sheet = Annotated[str | None, option("NAME", "Sheet of a workbook.  [default: the first]", "--sheet")]
Records = Annotated[
    str | None,
    option("FIELD", "Where in a JSON file the rows are.  [default: the list that it is or has]", "--records"),
]
Each = Annotated[
    list[str] | None,
    option(
        "FIELD",
        "Each element of this list is a row of its own: FIELD.NAME are its fields, FIELD# its place, # the row's "
        "number; repeatable.",
        "--each",
    ),
]
Missing = Annotated[
    str | None,
    option(
        "A,B",
        "Words for a missing value.  [default: NA, N/A, NaN, None, null, #N/A, - and their like; empty is missing]",
        "--missing",
    ),
]
Empty = Annotated[
    str | None, option("VALUE", "What an empty cell of the values says, such as no.  [default: nothing]", "--empty")
]
FoldCase = Annotated[bool, typer.Option("--fold-case", help="Labels that differ only in case or Unicode form are one.")]
Delimiter = Annotated[
    str | None, option("D", "Values of the table are sets with this between their parts, such as ';'.", "--delimiter")
]
LeaveOut = Annotated[
    list[str] | None,
    option(
        "COLUMN=VALUE",
        "Leave rows out in which this stands; repeatable.  [default: what Mechanical Turk, Prolific and Qualtrics say "
        "was rejected]",
        "--leave-out",
    ),
]
ProjectName = Annotated[
    str, typer.Argument(metavar="PROJECT", help="Name of the project.", show_default=False, callback=_known)
]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.", show_default=False)]
SomeProject = Annotated[
    str | None, typer.Argument(metavar="[PROJECT]", help="Name of the project.", show_default=False, callback=_known)
]
SomeStudy = Annotated[str | None, typer.Argument(metavar="[STUDY]", help="Name of the study.", show_default=False)]
TableFile = Annotated[
    Path | None,
    option("FILE", "Measure this table (.csv, .tsv, .json, .jsonl, .parquet, .xlsx) instead of a study; no database."),
]
ReportFile = Annotated[Path | None, option("FILE", "Also write a report with plots: .html, .md or .tex.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the resamples behind the intervals.")]
Resamples = Annotated[
    int, typer.Option(min=0, help="Resamples behind each interval, up to 100,000; 0 leaves the intervals out.")
]
INTERVAL_KINDS: tuple[IntervalKind, ...] = ("BCa", "percentile", "jackknife", "analytic")
RATERS: tuple[Raters, ...] = ("fixed", "random")
Level = Annotated[
    float, typer.Option(metavar="L", min=0.01, max=0.9999, help="Level of the intervals, between 0 and 1.")
]
IntervalKindName = Annotated[
    str, typer.Option(metavar="K", help="Kind of interval: BCa, percentile, jackknife, or analytic where there is one.")
]
PersonName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the person.", show_default=False)]


@dataclass(frozen=True)
class Given:
    """The options that stand before the command."""

    home: str | None = None
    acting_as: str | None = None


@dataclass(frozen=True)
class Here:
    """A home folder that is open: its settings, its database, and who acts."""

    settings: Settings
    db: Database
    actor: Actor


class Commands(TyperGroup):
    """All commands. One may have two words of which the first is a command as well: `judge`, and `judge check`."""

    def invoke(self, ctx: Any) -> Any:
        """Carry out the command; Interrupted where Ctrl-C ended it, of which typer says nothing."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments begin with, the longer name first."""
        both = " ".join(args[:2])
        return super().resolve_command(ctx, [both, *args[2:]] if both in self.commands else args)


@cache
def named_in(app: typer.Typer, words: frozenset[str]) -> typer.Typer:
    """The same program in which only commands that the words name have their options; the others are described.

    Making options of 90 functions' parameters takes longer than all else that a command does before it begins.
    """
    lean = copy(app)
    lean.registered_commands = [
        command if str(command.name).split()[0] in words else _described(command) for command in app.registered_commands
    ]
    lean.registered_groups = [
        found if found.typer_instance and found.typer_instance.info.name in words else _without_commands(found)
        for found in app.registered_groups
    ]
    return lean


def _described(command: CommandInfo) -> CommandInfo:
    def nothing() -> None: ...

    nothing.__doc__ = command.callback and command.callback.__doc__
    found = copy(command)
    found.callback = nothing
    return found


def _without_commands(found: TyperInfo) -> TyperInfo:
    shown = copy(found)
    shown.typer_instance = copy(found.typer_instance)
    if shown.typer_instance is not None:
        shown.typer_instance.registered_commands = []
    return shown


def group(name: str, help_text: str) -> typer.Typer:
    """A command that has commands of its own (`assay user …`)."""
    return typer.Typer(name=name, help=help_text, no_args_is_help=True, rich_markup_mode=None)


def command(on: typer.Typer, name: str, *examples: str) -> Callable[[F], F]:
    """Register a function as a command; its help is the docstring, and ends with the examples."""
    heading = "Example:" if len(examples) == 1 else "Examples:"
    return on.command(name, epilog="\n".join(["\b", heading, *(f"  {example}" for example in examples)]))


def one_of(given: str, names: Sequence[N], option: str) -> N:
    """The one of the names that was given, whatever its capitals; BadParameter lists them."""
    found = next((name for name in names if name.lower() == given.lower()), None)
    if found is None:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(names)}.", param_hint=option)
    return found


def table_or_study(
    table: Path | None,
    project: str | None,
    study: str | None,
    about_tables: Mapping[str, Any],
    *,
    names: bool = False,
) -> Path | tuple[str, str]:
    """What is to be measured: a table, or the study of a project (both names).

    `about_tables` are the options that only a table knows, and what was given for them. BadParameter when neither a
    table nor a study was named, or both, or an option about a table goes with a study, or `names` with a table.
    """
    if table is not None:
        if project or study:
            raise typer.BadParameter("A table needs no PROJECT and no STUDY. Leave them out.", param_hint="--table")
        if names:
            raise typer.BadParameter(
                "Of a table raters are called as it calls them. Leave it out.", param_hint="--names"
            )
        return table
    if project is None or study is None:
        raise typer.BadParameter("Give PROJECT and STUDY, or --table FILE.", param_hint="PROJECT STUDY")
    if given := [
        name for name, value in about_tables.items() if value is not None and value is not False and value != []
    ]:
        raise typer.BadParameter("It is about the columns of a --table.", param_hint=f"--{given[0]}")
    return project, study


def table_mapping(
    fields: Sequence[str] | None = None,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    records: str | None = None,
    each: Sequence[str] | None = None,
    missing: str | None = None,
    fold_case: bool = False,
    delimiter: str | None = None,
    empty: str | None = None,
    leave_out: Sequence[str] | None = None,
) -> TableMapping:
    """How a table is to be read, from the options that say so."""
    from exports.columns.mapping import TableMapping
    from exports.columns.values import ValueRule
    from exports.reading.encodings import named_encoding
    from exports.reading.tables import Opening

    if encoding is not None:
        named_encoding(encoding)
    return TableMapping.of(
        fields or (),
        opening=Opening(encoding, sheet, records, tuple(each or ())),
        rule=ValueRule.of(missing, fold_case=fold_case, delimiter=delimiter, empty=empty),
        left_out=leave_out or (),
    )


def mapped_columns(fields: Sequence[str] | None, given: dict[str, Any]) -> dict[str, Any]:
    """The columns that options name (`given`, by field; a list where there may be several), and those of --map."""
    from exports.columns.mapping import columns_of

    found = dict(given)
    for name, columns in columns_of(fields or ()).items():
        if name not in given:
            raise typer.BadParameter(f"{name!r} is no field here. There are: {', '.join(given)}.", param_hint="--map")
        several = isinstance(given[name], list)
        if not several and len(columns) > 1:
            raise typer.BadParameter(f"{name!r} is one column, not {' and '.join(columns)}.", param_hint="--map")
        found[name] = [*given[name], *columns] if several else (columns[0] if columns else None)
    return found


def settings_of(context: typer.Context, **given: Any) -> Settings:
    """The settings of the home folder that was named before the command; `given` are the command's own options."""
    from app.settings import Settings

    return Settings.load(home=context.find_root().obj.home, **given)


def home_is_given(context: typer.Context) -> bool:
    """Whether a home folder was named, by --home or ASSAY_HOME."""
    settings = settings_of(context)
    origin = next(setting.source for setting in settings.describe() if setting.name == "home")
    return context.find_root().obj.home is not None or origin != "default"


@contextmanager
def database_of(settings: Settings, *, create: bool = False) -> Iterator[Database]:
    """The database, brought up to date (a copy is made before); NotFound when it is not there and not to be made.

    One that is damaged, of a newer version, or whose file is lost, is told with the command that puts a backup back.
    """
    from db import schema
    from db.engine import Database
    from db.faults import DatabaseDamaged, check_for_loss
    from db.revisions import head_revision

    db = Database(settings.database)
    try:
        db.enter()
        check_for_loss(db.url, documents=settings.documents_folder, backups=settings.backups_folder)
        there = not db.is_sqlite or Path(str(db.url.database)).exists()
        found = schema.usable_revision(db) if there else None
        if found is None and not create:
            place = settings.home if db.is_sqlite else db.url.render_as_string(hide_password=True)
            raise NotFound(
                f"There is no Assay database in {place} yet. Make one with: {settings.call} init, or name "
                "another folder with --home or ASSAY_HOME."
            )
        if schema.migrate(db, backups=settings.backups_folder) and found is not None:
            note = f" A copy from before is in {settings.backups_folder}." if db.is_sqlite else ""
            say_aside(f"The database was brought from revision {found} to {head_revision()}.{note}")
        yield db
    except DatabaseDamaged as error:
        if not db.is_sqlite:
            raise DatabaseDamaged(f"{error} Use pg_restore.") from error
        raise DatabaseDamaged(f"{error} {settings.restore_advice}") from error
    except schema.NewerDatabase as error:
        raise schema.NewerDatabase(f"{error} {settings.restore_advice}" if db.is_sqlite else str(error)) from error
    finally:
        db.dispose()


@contextmanager
def opened(context: typer.Context, **given: Any) -> Iterator[Here]:
    """The home folder with its database, and who acts: the person of `--as`, else the first administrator."""
    settings = settings_of(context, **given)
    with database_of(settings) as db:
        from db.people.accounts import acting

        yield Here(settings, db, acting(db, context.find_root().obj.acting_as))


def project_id_of(here: Here, name: str) -> int:
    """The id of a project by its name; NotFound lists those the person can see."""
    from db.projects import find_project

    return find_project(here.db, here.actor, name).project_id


def study_id_of(here: Here, project: str, study: str) -> int:
    """The id of a study by its project's name and its own; NotFound lists the project's studies."""
    from db.studies.design import find_study

    return find_study(here.db, here.actor, project_id_of(here, project), name=study)


def check_names(context: typer.Context, project: str, study: str | None = None) -> None:
    """NotFound for names of a project and study that are not there, before anything large is imported.

    Where a look at the file does not tell (PostgreSQL, --as), the operation does.
    """
    from db.names import check_names_in

    settings = settings_of(context)
    if not settings.database_url and context.find_root().obj.acting_as is None:
        check_names_in(settings.home / "assay.db", project, study)


def password_from_stdin() -> str:
    """One line from standard input; on a terminal it is asked for without showing it."""
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def follows(found: Consequences, *, as_json: bool) -> None:
    """Print what would follow from an act that is only tried."""
    emit(found.to_json(), "\n".join(found.sentences()), as_json=as_json)
