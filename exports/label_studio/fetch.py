"""A project of a server as files that can be imported: its config, its tasks with annotations, its pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from annotators.errors import Conflict
from exports.label_studio.known import document_of
from exports.label_studio.lost import Lost
from exports.label_studio.server import Server
from exports.sinks import plain_name

_OF_SERVER = "/data/upload/"
"""How the address of a file begins that was put into a project; nothing else is fetched."""


def fetch_project(server: Server, number: int, folder: Path) -> tuple[list[str], int, Lost]:
    """Write a project into a folder: the files' names, how many tasks it has, and what could not be had.

    Annotators are written by the addresses they sign in with. Conflict where the folder has something in it.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(f"{folder} has something in it. Name a new folder.")
    server.check_version()
    project, people, lost = server.project(number), server.people(), Lost()
    tasks = server.tasks(number)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{plain_name(project.title)}.xml").write_text(project.config, encoding="utf-8")
    for task in tasks:
        for one in task.get("annotations") or ():
            who = one.get("completed_by")
            if isinstance(who, int):
                one["completed_by"] = {"id": who, "email": people.get(who, "")}
    (folder / "tasks.json").write_bytes(orjson.dumps(tasks, option=orjson.OPT_INDENT_2))
    for address in dict.fromkeys(one for task in tasks for one in _texts(task.get("data"))):
        if address.startswith(_OF_SERVER):
            path = folder / "documents" / plain_name(document_of(address))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(server.fetch(address))
        elif address.startswith(("http://", "https://", "s3://", "gs://", "azure-blob://")):
            lost.add("Files that lie elsewhere: nothing is fetched from an address that stands in the data")
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return names, len(tasks), lost


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
