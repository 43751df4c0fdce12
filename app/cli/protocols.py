"""`assay protocols` and `assay protocol …`: what people can be asked, files of it, and what annotators would see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.figures import count
from app.cli.base import AsJson, Here, ProjectName, command, group, opened, option, project_id_of
from app.cli.output import emit, table

if TYPE_CHECKING:
    from annotators.protocols import Protocol
    from app.settings import Settings
    from db.annotating.previews import StepPreview

protocol = group("protocol", "Protocols: check a file, add or preview one.")

ProtocolFile = Annotated[Path, typer.Argument(metavar="FILE.yaml", help="The protocol file.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "protocols",
        "assay protocols",
        "assay protocols --export qa_verification > mine.yaml",
        "assay --home ./assay-home protocols --project finance --json",
        "assay --home ./assay-home protocols --project finance --export tone_check@1",
    )(protocols)
    app.add_typer(protocol)


def protocol_named(name: str, here: Here | None = None, project_id: int | None = None) -> Protocol:
    """The protocol that a file defines, or the one of this name: of the project's library if there is one, or built in.

    A version can be named, as in `tone_check@2`.
    """
    from annotators.asking.protocol_names import PROTOCOL_NAMES

    if name.lower().endswith((".yaml", ".yml")):
        return _read(Path(name))
    if here is None or project_id is None:
        return PROTOCOL_NAMES.find(name)
    from db.studies.library import named_protocol

    return named_protocol(here.db, here.actor, project_id, name=name)


def _read(path: Path) -> Protocol:
    from annotators.asking.protocol_files import protocol_from_yaml
    from annotators.errors import NotFound

    if not path.is_file():
        raise NotFound(f"There is no protocol file {str(path)!r}. Check the path.")
    return protocol_from_yaml(path.read_text(encoding="utf-8", errors="replace"), path.name)


def _read_to_use(path: Path) -> Protocol:
    """The protocol of a file that a study could be made of now; InvalidInput says all that is wrong."""
    from annotators.errors import InvalidInput, Problem

    if path.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidInput(f"{str(path)!r} does not end in .yaml. Rename it, so that it is known for a protocol file.")
    found = _read(path)
    if not_yet := found.not_yet():
        parts = [words.partition(". ") for words in not_yet]
        raise InvalidInput("\n".join(not_yet), [Problem(None, f"{problem}.", remedy) for problem, _, remedy in parts])
    return found


def protocols(
    context: typer.Context,
    export: Annotated[
        str | None, option("NAME[@V]", "Print this protocol (or a certain version) as a YAML file, to be changed.")
    ] = None,
    project: Annotated[str | None, option("NAME", "Also the protocols of this project's own.")] = None,
    as_json: AsJson = False,
) -> None:
    """List protocols, built-in and own, or print one as YAML."""
    from annotators.asking.protocol_files import protocol_to_yaml

    if export is not None:
        if project is None:
            chosen = protocol_named(export)
        else:
            with opened(context) as here:
                chosen = protocol_named(export, here, project_id_of(here, project))
        text = protocol_to_yaml(chosen)
        emit({"protocol": chosen.name, "yaml": text}, text.rstrip("\n"), as_json=as_json, is_file=True)
        return
    from annotators.protocols import PROTOCOLS

    document = [_listed(built_in) for built_in in PROTOCOLS]
    if project is not None:
        from db.studies.library import list_protocols

        with opened(context) as here:
            own = list_protocols(here.db, here.actor, project_id_of(here, project))
        versions: dict[str, list[dict[str, Any]]] = {}
        for entry in own:
            versions.setdefault(entry.kept.name, []).append(
                {
                    "version": entry.kept.version,
                    "hash": entry.hash,
                    "added_by": entry.who,
                    "added_at": entry.created_at.isoformat(),
                    "studies": entry.used,
                }
            )
        newest = {entry.kept.name: entry.kept for entry in reversed(own)}
        document = [{**row, "built_in": True} for row in document if row["protocol"] not in versions]
        document += [
            {**_listed(newest[name]), "built_in": False, "versions": numbered} for name, numbered in versions.items()
        ]
        document.sort(key=lambda row: row["protocol"])
    columns = ["protocol", "version", "overlap", "summary", *([] if project is None else ["built_in"])]
    rows = ([row[column] for column in columns] for row in document)
    titles = ["protocol", "version", "overlap", "asks", "built in"][: len(columns)]
    emit(document, lambda: table(titles, rows), as_json=as_json)


def _listed(protocol: Protocol) -> dict[str, Any]:
    """What the list says of a protocol."""
    return {
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


@command(protocol, "check", "assay protocol check tone.yaml")
def check(context: typer.Context, file: ProtocolFile, as_json: AsJson = False) -> None:
    """Check a protocol file; what is wrong is named with its line, and the exit code is 2."""
    del context  # a file is checked without a home folder
    found = _read_to_use(file)
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
    if not found.invalidates:
        words += (
            " It does not say which labels fall when an item is revised (`invalidates`): none will, but those of "
            "criteria whose parts, or places in the answer, are gone."
        )
    emit(document, words, as_json=as_json)


@command(protocol, "add", "assay --home ./assay-home protocol add finance tone.yaml --json")
def add(context: typer.Context, project: ProjectName, file: ProtocolFile, as_json: AsJson = False) -> None:
    """Add a protocol to a project's own, in versions: what differs from the newest is the next one."""
    found = _read_to_use(file)
    with opened(context) as here:
        from annotators.asking.protocol_files import line_of
        from annotators.errors import InvalidInput, Problem
        from db.libraries import NameTaken
        from db.studies.library import add_protocol

        try:
            added = add_protocol(here.db, here.actor, project_id_of(here, project), protocol=found)
        except NameTaken as error:
            line = line_of(file.read_text(encoding="utf-8", errors="replace"), "name")
            what, _, remedy = str(error).partition(". ")
            raise InvalidInput(f"{file.name}, line {line}: {error}", [Problem(line, f"{what}.", remedy)]) from None
    document = {"protocol": added.kept.name, "version": added.kept.version, "hash": added.hash}
    named = f"{added.kept.name}@{added.kept.version}"
    words = f"Added {named}." if added.new else f"It is there already: {named} says the same. Nothing was added."
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
        str,
        typer.Argument(
            metavar="NAME[@V]|FILE.yaml",
            help="A protocol, built-in or the project's own, or a file.",
            show_default=False,
        ),
    ],
    project: ProjectName,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The id of an item.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what annotators would get of an item, step by step.

    It comes from the code that gives it to the browser; nothing is stored.
    """
    with opened(context) as here:
        from db.annotating.previews import preview as preview_of

        project_id = project_id_of(here, project)
        found = protocol_named(name, here, project_id)
        steps = preview_of(here.db, here.actor, project_id, protocol=found, external_id=item)
        marks = _marks_of(steps, here.settings) if as_json else [{} for _ in steps]
    document = {
        "steps": [
            {"step": step.step, "shown": step.shown, "units": step.units, "material": step.material | marked}
            for step, marked in zip(steps, marks, strict=True)
        ]
    }
    emit(document, lambda: "\n\n".join(map(_in_words, steps)), as_json=as_json)


def _marks_of(steps: Sequence[StepPreview], settings: Settings) -> list[dict[str, Any]]:
    """What the browser marks on the pages at each step, once all of them are read."""
    from annotators.pages import Renderer
    from annotators.pages.words.index import WordIndex
    from app.on_pages import OnPages

    with Renderer(workers=1) as renderer:
        index = WordIndex(settings.pages_folder, settings.recognised_folder, renderer)
        pages = OnPages(index, settings.documents_folder)
        return [pages.of_step(step, seconds=None) for step in steps]


def _in_words(step: StepPreview) -> str:
    """A step in lines: what is shown, what is asked about what, and the texts."""
    lines = [f"{step.step}: shows {', '.join(step.shown)}"]
    lines += [f"  asks {criterion}: {', '.join(targets) or 'nothing'}" for criterion, targets in step.units.items()]
    texts = ((name, step.material.get(name)) for name in ("question", "answer"))
    return "\n".join([*lines, *(f"  {name}: {text}" for name, text in texts if text)])
