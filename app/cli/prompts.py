"""`assay prompts` and `assay prompt …`: what judges are told, files of it, and what tells two of them apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.figures import count
from app.cli.base import AsJson, Here, ProjectName, SomeProject, command, group, opened, option, project_id_of
from app.cli.output import emit, table

if TYPE_CHECKING:
    from annotators.judges.prompts import AnyPrompt

prompt = group("prompt", "Prompts of judges: check a file, or add one.")

PromptFile = Annotated[Path, typer.Argument(metavar="FILE.yaml", help="The prompt file.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "prompts",
        "assay prompts",
        "assay prompts --show answer_grade > mine.yaml",
        "assay --home ./assay-home prompts finance --json",
        "assay --home ./assay-home prompts finance --diff answer_grade strict_grades@2",
    )(prompts)
    app.add_typer(prompt)


def prompt_named(name: str, here: Here | None = None, project_id: int | None = None) -> AnyPrompt:
    """The prompt that a file says, or the one of this name: of the project's library if there is one, or built in.

    A version can be named, as in `strict_grades@2`.
    """
    from annotators.judges.prompts import PROMPT_NAMES

    if name.lower().endswith((".yaml", ".yml")):
        return _read(Path(name))
    if here is None or project_id is None:
        return PROMPT_NAMES.find(name)
    from db.judging.library import named_prompt

    return named_prompt(here.db, here.actor, project_id, name=name)


def _read(path: Path) -> AnyPrompt:
    from annotators.errors import InvalidInput, NotFound
    from annotators.judges.prompts import any_prompt_from_yaml

    if path.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidInput(f"{str(path)!r} does not end in .yaml. Rename it, so that it is known for a prompt file.")
    if not path.is_file():
        raise NotFound(f"There is no prompt file {str(path)!r}. Check the path.")
    return any_prompt_from_yaml(path.read_text(encoding="utf-8", errors="replace"), path.name)


def _read_to_use(path: Path, here: Here | None = None, project_id: int | None = None) -> AnyPrompt:
    """The prompt of a file that a judge could take: it fits the protocol that it names, where that one is known."""
    from annotators.asking.protocol_files import line_of
    from annotators.errors import InvalidInput, NotFound, Problem
    from annotators.judges.prompts import Prompt
    from app.cli.protocols import protocol_named

    found = _read(path)
    if isinstance(found, Prompt) and found.protocol:
        try:
            protocol = protocol_named(found.protocol, here, project_id)
        except NotFound:
            if here is not None:
                raise
            return found  # a project's own, which only the project knows
        text = path.read_text(encoding="utf-8", errors="replace")
        faults = [(line_of(text, *place), fault) for place, fault in found.faults_at(protocol)]
        if faults:
            words = [f"{path.name}, line {line}: {fault}" for line, fault in faults]
            raise InvalidInput("\n".join(words), [Problem.of(fault, line=line) for line, fault in faults])
    return found


def prompts(
    context: typer.Context,
    project: SomeProject = None,
    show: Annotated[
        str | None, option("NAME[@V]", "Print this prompt (or a certain version) as a YAML file, to be changed.")
    ] = None,
    diff: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B", help="What tells two prompts apart: NAME, NAME@V or FILE.yaml.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List prompts of judges, show one, or compare two."""
    if show is not None and diff is not None:
        raise typer.BadParameter("Take --show or --diff, not both.", param_hint="--diff")
    if project is None:
        _print(None, None, show, diff, as_json=as_json)
        return
    with opened(context) as here:
        _print(here, project_id_of(here, project), show, diff, as_json=as_json)


def _print(
    here: Here | None, project_id: int | None, show: str | None, diff: tuple[str, str] | None, *, as_json: bool
) -> None:
    from annotators.judges.prompts import prompt_to_yaml
    from annotators.judges.prompts.comparing import compared, unified

    if show is not None:
        found = prompt_named(show, here, project_id)
        text = prompt_to_yaml(found)
        emit({**_listed(found), "yaml": text}, text.rstrip("\n"), as_json=as_json, is_file=True)
    elif diff is not None:
        one, other = (prompt_named(name, here, project_id) for name in diff)
        lines = [{"change": line.change, "text": line.text} for line in compared(one, other)]
        document = {"a": _named(one), "b": _named(other), "same": one.hash == other.hash, "lines": lines}
        emit(document, lambda: unified(one, other) or "They say the same.", as_json=as_json)
    else:
        _list(here, project_id, as_json=as_json)


def _list(here: Here | None, project_id: int | None, *, as_json: bool) -> None:
    from annotators.judges.prompts import PROMPTS

    document = [_listed(built_in) | {"built_in": True} for built_in in PROMPTS]
    if here is not None and project_id is not None:
        from db.judging.library import list_prompts

        own: dict[str, dict[str, Any]] = {}
        for entry in list_prompts(here.db, here.actor, project_id):
            row = own.setdefault(entry.kept.name, {**_listed(entry.kept), "built_in": False, "versions": []})
            row["versions"].append(
                {
                    "version": entry.kept.version,
                    "hash": entry.hash,
                    "added_by": entry.who,
                    "added_at": entry.created_at.isoformat(),
                    "judges": entry.used,
                }
            )
        document = [row for row in document if row["prompt"] not in own] + list(own.values())
        document.sort(key=lambda row: row["prompt"])
    rows = [
        [row["prompt"], row["version"], row["protocol"] or (f"writes {row['writes']}" if row["writes"] else "any"),
         row["hash"][:12], row["title"], "yes" if row["built_in"] else ""]
        for row in document
    ]  # fmt: skip
    emit(document, lambda: table(["prompt", "version", "for", "hash", "title", "built in"], rows), as_json=as_json)


def _named(found: AnyPrompt) -> dict[str, Any]:
    return {"prompt": found.name, "version": found.version, "hash": found.hash}


def _listed(found: AnyPrompt) -> dict[str, Any]:
    """What the list says of a prompt."""
    from annotators.judges.prompts import Prompt

    return {
        **_named(found),
        "title": found.title,
        "protocol": found.protocol if isinstance(found, Prompt) else None,
        "writes": None if isinstance(found, Prompt) else found.writes,
        "rationale": found.rationale,
        "examples": len(found.examples),
        "source": found.source,
    }


@command(prompt, "check", "assay prompt check strict.yaml")
def check(context: typer.Context, file: PromptFile, as_json: AsJson = False) -> None:
    """Check a prompt file; what is wrong is named with its line, and the exit code is 2."""
    del context  # a file is checked without a home folder
    found = _read_to_use(file)
    words = f"{file.name} is a prompt: {found.title or found.name}, {count(len(found.examples), 'example')}."
    emit(_listed(found), words, as_json=as_json)


@command(prompt, "add", "assay --home ./assay-home prompt add finance strict.yaml --json")
def add(context: typer.Context, project: ProjectName, file: PromptFile, as_json: AsJson = False) -> None:
    """Add a prompt to a project's own, in versions: what differs from the newest is the next one."""
    _read(file)
    with opened(context) as here:
        from annotators.asking.protocol_files import line_of
        from annotators.errors import InvalidInput, Problem
        from db.judging.library import add_prompt
        from db.libraries import NameTaken

        project_id = project_id_of(here, project)
        found = _read_to_use(file, here, project_id)
        try:
            added = add_prompt(here.db, here.actor, project_id, prompt=found)
        except NameTaken as error:
            line = line_of(file.read_text(encoding="utf-8", errors="replace"), "name")
            what, _, remedy = str(error).partition(". ")
            raise InvalidInput(f"{file.name}, line {line}: {error}", [Problem(line, f"{what}.", remedy)]) from None
    named = f"{added.kept.name}@{added.kept.version}"
    words = f"Added {named}." if added.new else f"It is there already: {named} says the same. Nothing was added."
    emit(_named(added.kept), words, as_json=as_json)
