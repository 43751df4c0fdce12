"""A project of a server as files that can be imported: its config, its tasks with annotations, its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound, shown
from db.elsewhere.fetching import check_may_fetch
from db.engine import Database
from db.permissions import Actor
from exports.label_studio.known import STUDY
from exports.label_studio.lost import Lost
from exports.label_studio.server import Server
from exports.reading.addressed import path_of, plain_path
from exports.sinks import plain_name, whole_folder

_OF_SERVER = ("/data/upload/", "/data/local-files/?d=")
"""How the address of a file begins that the server itself keeps or serves; nothing else is fetched."""

_ELSEWHERE = ("http://", "https://", "s3://", "gs://", "azure-blob://", "//")


def fetch_project(
    db: Database, actor: Actor, *, server: Server, number: int, folder: Path
) -> tuple[list[str], int, Lost]:
    """Write a project into a folder: the files' names, how many tasks it has, and what could not be had.

    Annotators are written by the addresses they sign in with. NotAllowed for who imports nowhere, and for a project of
    a study whose labels they may not take; Conflict where the folder has something in it.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(f"{folder} has something in it. Name a new folder.")
    check_may_fetch(db, actor)
    server.check_version()
    project, people, lost = server.project(number), server.people(), Lost()
    tasks = server.tasks(number)
    check_may_fetch(db, actor, tokens={str(data[STUDY]) for data in map(_data_of, tasks) if STUDY in data})
    for task in tasks:
        for one in task.get("annotations") or ():
            who = one.get("completed_by")
            if isinstance(who, int):
                one["completed_by"] = {"id": who, "email": people.get(who, "")}
    with whole_folder(folder) as made:
        (made / f"{plain_name(project.title)}.xml").write_text(project.config, encoding="utf-8")
        (made / "tasks.json").write_bytes(orjson.dumps(tasks, option=orjson.OPT_INDENT_2))
        for address in dict.fromkeys(one for task in tasks for one in _texts(task.get("data"))):
            _fetch_file(server, address, made / "documents", lost)
        names = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    return names, len(tasks), lost


def _data_of(task: Mapping[str, Any]) -> Mapping[str, Any]:
    data = task.get("data")
    return data if isinstance(data, dict) else {}


def _fetch_file(server: Server, address: str, documents: Path, lost: Lost) -> None:
    """A file that the server keeps or serves, by its path there; of others it is said that they are not fetched.

    The request has the key of whoever asks: a path that leads to anything else of the server is none of a file.
    """
    if address.startswith(_OF_SERVER) and not _leads_to_a_file(address):
        lost.add("Addresses that lead to something else of the server than a file: nothing is fetched from there")
    elif address.startswith(_OF_SERVER):
        try:
            content = server.fetch(address)
        except NotAllowed:
            why = "it does not let the account of the key have it, or serves no local files"
            lost.add(f"The file {shown(address)}, which the server does not give ({why})")
            return
        except (NotFound, InvalidInput) as error:
            lost.add(f"The file {shown(address)}, which the server does not give ({str(error).partition('. ')[0]})")
            return
        path = documents / plain_path(path_of(address))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.read_bytes() != content:
                lost.add(f"The file {shown(address)}, which would have the name of another here")
                return
            path.write_bytes(content)
        except OSError:
            lost.add(f"The file {shown(address)}, whose name no file can have here")
    elif address.startswith(_ELSEWHERE):
        lost.add("Files that lie elsewhere: nothing is fetched from an address that stands in the data")


def _leads_to_a_file(address: str) -> bool:
    """Whether an address of the server is that of an upload or of a served file, however it is written."""
    path, mark, asked = address.partition("?")
    while (plain := unquote(path)) != path:
        path = plain
    parts = path.replace("\\", "/").split("/")
    plain_parts = not {"", ".", ".."} & set(parts[1:-1]) and parts[-1] not in (".", "..")
    served = path == "/data/local-files/" and mark == "?" and asked.startswith("d=")
    kept = path.startswith("/data/upload/") and not mark and parts[-1] != ""
    return plain_parts and (served or kept) and "#" not in address


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
