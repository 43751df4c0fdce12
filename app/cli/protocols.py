"""`assay protocols` and `assay protocol …`: what people can be asked, protocol files, and what annotators would see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotators.figures import count
from app.cli.base import AsJson, ProjectName, command, group, opened, option, project_id_of
from app.cli.output import emit, table
from app.cli.studies import protocol_named

if TYPE_CHECKING:
    from db.annotating.previews import StepPreview

protocol = group("protocol", "Protocols: check a file, preview one on an item.")


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
            "details": {
                criterion.name: {
                    "kind": criterion.kind,
                    "target": criterion.target.value,
                    "labels": [label.value for label in criterion.label_list()],
                }
                for criterion in protocol.criteria
            },
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
    from annotators.errors import InvalidInput, Problem

    del context  # a file is checked without a home folder
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidInput(f"{str(file)!r} does not end in .yaml. Rename it, so that it is known for a protocol file.")
    found = protocol_named(str(file))
    if not_yet := found.not_yet():
        parts = [words.partition(". ") for words in not_yet]
        raise InvalidInput("\n".join(not_yet), [Problem(None, f"{problem}.", remedy) for problem, _, remedy in parts])
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


@command(
    protocol,
    "preview",
    "assay --home ./assay-home protocol preview qa_verification finance q0:harbour",
    "assay --home ./assay-home protocol preview tone.yaml finance q0:harbour --json",
)
def preview(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE.yaml", help="A built-in protocol, or a file.", show_default=False)
    ],
    project: ProjectName,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The id of an item.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what annotators would get of an item, step by step.

    It comes from the code that gives it to the browser; nothing is stored.
    """
    found = protocol_named(name)
    with opened(context) as here:
        from db.annotating.previews import preview as preview_of

        steps = preview_of(here.db, here.actor, project_id_of(here, project), protocol=found, external_id=item)
    document = {
        "steps": [
            {"step": step.step, "shown": step.shown, "units": step.units, "material": step.material} for step in steps
        ]
    }
    emit(document, lambda: "\n\n".join(map(_in_words, steps)), as_json=as_json)


def _in_words(step: StepPreview) -> str:
    """A step in lines: what is shown, what is asked about what, and the texts."""
    lines = [f"{step.step}: shows {', '.join(step.shown)}"]
    lines += [f"  asks {criterion}: {', '.join(targets) or 'nothing'}" for criterion, targets in step.units.items()]
    texts = ((name, step.material.get(name)) for name in ("question", "answer"))
    return "\n".join([*lines, *(f"  {name}: {text}" for name, text in texts if text)])
