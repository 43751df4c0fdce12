"""The command line: `assay …`. Commands call the operations that the pages call; errors are translated here."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache

import typer

from annotators.errors import AssayError, refusal_of
from annotators.version import program_version
from app.cli import (
    advice,
    agreement,
    alignment,
    annotators,
    dataset,
    disputes,
    documents,
    estimates,
    exporting,
    filters,
    history,
    home,
    inviting,
    items,
    jobs,
    judging,
    label_studio,
    labels,
    maintenance,
    mappings,
    people,
    projects,
    prompts,
    protocols,
    releases,
    results,
    scores,
    studies,
    systems,
    trust,
)
from app.cli.base import Commands, Given, named_in
from app.cli.output import emit_error, say, visible
from exports.checks import check_utf8

TROUBLE = 1
"""Exit code of a finding (an export that is not what it says) and of a machine that does not do its part."""

app = typer.Typer(
    name="assay",
    cls=Commands,
    help="Have people verify the data that retrieval-augmented generation is judged by; measure how far they agree.",
    epilog="""\b
A first look:
  assay --home ./assay-home demo --serve

\b
Exit codes: 0 done; 1 something checked is not as it should be; 2 wrong usage or input; 3 not found; 4 not allowed;
5 exists already or is in the wrong state; 6 the database does not answer; 130 interrupted.""",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # a bug keeps its traceback
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
for module in (
    home,
    people,
    projects,
    items,
    documents,
    labels,
    mappings,
    scores,
    jobs,
    studies,
    disputes,
    annotators,
    agreement,
    alignment,
    systems,
    inviting,
    results,
    dataset,
    judging,
    trust,
    advice,
    estimates,
    history,
    releases,
    exporting,
    label_studio,
    filters,
    prompts,
    protocols,
    maintenance,
):
    module.add_to(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"assay {program_version()}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    home: str | None = typer.Option(
        None,
        "--home",
        metavar="FOLDER",
        help="Folder of the database, documents and backups.  [default: ASSAY_HOME, else ~/assay]",
        show_default=False,
    ),
    acting_as: str | None = typer.Option(
        None,
        "--as",
        metavar="NAME",
        help="Act as this person.  [default: the first administrator]",
        show_default=False,
    ),
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Keep what holds for every command."""
    context.obj = Given(home=home, acting_as=acting_as)


@cache
def _names() -> frozenset[str]:
    """The first words of all commands."""
    groups = [found.typer_instance for found in app.registered_groups if found.typer_instance]
    names = [command.name for command in app.registered_commands] + [found.info.name for found in groups]
    return frozenset(str(name).split()[0] for name in names)


_GIVES_WAY = 10
_LONG = frozenset({"import", "judge", "score"})
"""Words of commands that may work for hours: as a worker does, they leave the processor to those who wait."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit: the one place where errors become exit codes and a line on standard error.

    With `--json` an error is also the one document on standard output: {"error", "kind"}.
    """
    if arguments is None:
        arguments = sys.argv[1:]
        if not _LONG.isdisjoint(arguments):  # a process of its own, beside a server that people wait for
            os.nice(_GIVES_WAY)
    as_json = "--json" in arguments
    try:
        check_utf8(arguments)
        program = named_in(app, frozenset(arguments) & _names())
        code = program(args=list(arguments), prog_name="assay", standalone_mode=False)
    except AssayError as error:
        emit_error(str(error), type(error).__name__, as_json=as_json, details=error.details)
        code = error.exit_code
    except typer.TyperException as error:  # wrong usage, as typer found it
        error.message = visible(error.message)
        show = getattr(error, "show", None)  # the usage line before the message
        if show is not None:
            show()
        emit_error(error.format_message(), "Usage", as_json=as_json, said=show is not None)
        code = error.exit_code
    except OSError as error:
        if (said := refusal_of(error)) is None:
            raise
        emit_error(said, "Machine", as_json=as_json)
        code = TROUBLE
    except typer.Abort:
        code = TROUBLE
    sys.exit(code if isinstance(code, int) else 0)
