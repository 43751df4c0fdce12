"""`assay protocols` and `assay protocol check`: what people can be asked, and protocol files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from annotators.figures import count
from app.cli.base import AsJson, command, group, option
from app.cli.output import emit, table
from app.cli.studies import protocol_named

protocol = group("protocol", "Protocol files: check one.")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(app, "protocols", "assay protocols", "assay protocols --export qa_verification > mine.yaml")(protocols)
    app.add_typer(protocol)


def protocols(
    context: typer.Context,
    export: Annotated[str | None, option("NAME", "Print this protocol as a YAML file, to be changed.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the built-in protocols, or print one as a YAML file."""
    from annotators.asking.protocol_files import protocol_to_yaml
    from annotators.protocols import PROTOCOLS

    del context  # the list needs no home folder
    if export is not None:
        chosen = PROTOCOLS.get(export)
        text = protocol_to_yaml(chosen)
        emit({"protocol": chosen.name, "yaml": text}, text.rstrip("\n"), as_json=as_json)
        return
    document = [
        {
            "protocol": protocol.name,
            "version": protocol.version,
            "title": protocol.title,
            "summary": protocol.summary,
            "criteria": [criterion.name for criterion in protocol.criteria],
            "steps": len(protocol.steps),
            "overlap": protocol.overlap,
            "source": protocol.source,
        }
        for protocol in PROTOCOLS
    ]
    rows = ((protocol.name, protocol.version, protocol.overlap, protocol.summary) for protocol in PROTOCOLS)
    emit(document, lambda: table(("protocol", "version", "overlap", "asks"), rows), as_json=as_json)


@command(protocol, "check", "assay protocol check tone.yaml")
def check(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="The protocol file.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Check a protocol file; what is wrong is named with its line, and the exit code is 2."""
    from annotators.errors import InvalidInput

    del context  # a file is checked without a home folder
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidInput(f"{str(file)!r} does not end in .yaml. Rename it, so that it is known for a protocol file.")
    found = protocol_named(str(file))
    if not_yet := found.not_yet():
        raise InvalidInput("\n".join(not_yet))
    document = {
        "protocol": found.name,
        "version": found.version,
        "criteria": [criterion.name for criterion in found.criteria],
        "steps": len(found.steps),
        "hash": found.digest(),
    }
    words = (
        f"{file.name} is a protocol: {found.title}, {count(len(found.criteria), 'criterion', 'criteria')} in "
        f"{count(len(found.steps), 'step')}."
    )
    emit(document, words, as_json=as_json)
