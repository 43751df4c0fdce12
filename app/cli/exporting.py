"""`assay export`, `verify` and `formats`: data that leaves, and the check that it is what it was."""

from __future__ import annotations

import typer

from app.cli.base import AsJson, command
from app.cli.output import emit, table


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(app, "formats", "assay formats")(formats)


def formats(context: typer.Context, as_json: AsJson = False) -> None:
    """List the formats that items are imported from."""
    from exports.formats import FORMATS

    del context  # the list needs no home folder
    document = [{"format": one.name, "title": one.title, "help": one.help} for one in FORMATS]
    rows = ((one.name, one.title, one.help) for one in FORMATS)
    emit(document, lambda: table(("format", "title", "takes"), rows), as_json=as_json)
