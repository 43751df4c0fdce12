"""A study as a project of Label Studio: on a server, or as files that any server takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import orjson
from markdown_it import MarkdownIt

from annotators.errors import Conflict, InvalidInput
from annotators.judges.base import Picture
from annotators.progress import Progress
from db.elsewhere.handed_over import ItemElsewhere, StudyElsewhere, items_elsewhere, labels_elsewhere, study_elsewhere
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation
from exports.label_studio.known import ITEM
from exports.label_studio.labelling import Labelling, labelling_of
from exports.label_studio.lost import Lost
from exports.label_studio.server import AT_ONCE, BLANK, BYTES_AT_ONCE, ProjectThere, Server
from exports.label_studio.tasks import Seen, pictures_of, results_of, task_data

Pictures = Callable[[int, int, Sequence[float] | None], Picture | None]
"""Document's id, page (from 1) and box (or all of it) → its picture; None where it has no bytes or cannot be drawn."""

_ITEMS_AT_ONCE = 500
_NOT_SUPPLIED = "Pages that are shown but not supplied, or cannot be drawn"


@dataclass
class Pushed:
    """What came of a push: the project there, and its tasks: made now, there already, changed, kept as they were."""

    project: int | None
    title: str
    created: int = 0
    unchanged: int = 0
    updated: int = 0
    kept: int = 0
    pictures: int = 0
    files: list[str] = field(default_factory=list)
    lost: Lost = field(default_factory=Lost)

    def to_json(self) -> dict[str, Any]:
        """As `assay label-studio push --json` prints it."""
        return {
            "project": self.project,
            "title": self.title,
            "tasks": self.created + self.unchanged + self.updated + self.kept,
            "created": self.created,
            "unchanged": self.unchanged,
            "updated": self.updated,
            "kept": self.kept,
            "pictures": self.pictures,
            "files": self.files,
            "lost": self.lost.to_json(),
        }


class Place(Protocol):
    """Where a study is pushed to."""

    leaves: bool
    """Whether what is put there leaves this machine."""

    def picture(self, name: str, data: bytes, media_type: str) -> str | None:
        """Keep a picture; the address at which a task shows it, None where it cannot be kept any more."""


@operation(On.STUDY, RESEARCHERS)
def push_to_server(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    server: Server,
    leaves: bool = True,
    pictures: Pictures | None = None,
    predictions: bool = False,
    names: bool = False,
    progress: Progress | None = None,
) -> Pushed:
    """Make the study a project there, or bring the project that it has there up to date.

    Tasks that are labelled there, or begun, stay as they are. With `predictions` what raters of ours said is shown to
    the annotators there, under pseudonyms unless `names`. Conflict where the project's config was changed there.
    """
    study = study_elsewhere(db, actor, study_id)
    labelling = _labelling(study)
    server.check_version()
    mark = project_mark(study)
    project = server.find(mark)
    there: dict[str, dict[str, Any]] = {}
    if project is None:
        said = f"Labels go back to the study it was made of. Do not change this line: {mark}"
        project = server.create(study.name, said, _guidelines(labelling), study.overlap)
    else:
        check_config(project, labelling)
        there = {str(task["data"].get(ITEM)): task for task in server.tasks(project.id) if _has_data(task)}
    done = Pushed(project.id, project.title, lost=labelling.lost)
    place = _OnServer(server, project, leaves=leaves)
    draw = _Drawn(place, pictures, done)
    if place.open:
        for item in _items(db, actor, study, done, leaves=leaves):
            for seen in sorted(pictures_of(labelling, item.materials), key=repr):
                draw(*seen)
        server.configure(project.id, labelling.config)
        place.open = False
    raters = _Raters(db, actor, study, labelling, names=names) if predictions else None
    tasks = _NewTasks(server, project.id)
    for n, item in enumerate(_items(db, actor, study, done, leaves=leaves, say=False), 1):
        data = task_data(labelling, item.materials, study=study.token, item=item.token, picture=draw)
        task = there.get(item.token)
        if task is None:
            tasks.add(_task(data, item, raters))
            done.created += 1
        else:
            _bring_up_to_date(server, task, data, done)
        if progress is not None:
            progress(n, study.n_items)
    tasks.send()
    done.lost.add("Tasks that differ from the item and are labelled there already: they stay as they are", done.kept)
    return done


class _NewTasks:
    """Tasks that are sent many at a time."""

    def __init__(self, server: Server, project: int) -> None:
        self._server, self._project = server, project
        self._waiting: list[dict[str, Any]] = []
        self._bytes = 0

    def add(self, task: dict[str, Any]) -> None:
        """Send it with the next ones."""
        self._waiting.append(task)
        self._bytes += len(orjson.dumps(task))
        if len(self._waiting) >= AT_ONCE or self._bytes >= BYTES_AT_ONCE:
            self.send()

    def send(self) -> None:
        """Send those that wait."""
        if self._waiting:
            self._server.add_tasks(self._project, self._waiting)
        self._waiting, self._bytes = [], 0


def _bring_up_to_date(server: Server, task: Mapping[str, Any], data: dict[str, Any], done: Pushed) -> None:
    if task["data"] == data:
        done.unchanged += 1
    elif task.get("annotations") or task.get("drafts"):
        done.kept += 1
    else:
        server.change_task(task["id"], data)
        done.updated += 1


@operation(On.STUDY, RESEARCHERS)
def push_to_files(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    folder: Path,
    pictures: Pictures | None = None,
    predictions: bool = False,
    names: bool = False,
    progress: Progress | None = None,
) -> Pushed:
    """Write the study as `config.xml`, `tasks.json` and pictures into a folder, for a server that is not reached.

    Conflict where the folder has something in it.
    """
    study = study_elsewhere(db, actor, study_id)
    labelling = _labelling(study)
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(f"{folder} has something in it. Name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    done = Pushed(None, study.name, lost=labelling.lost)
    draw = _Drawn(_InFolder(folder), pictures, done)
    raters = _Raters(db, actor, study, labelling, names=names) if predictions else None
    (folder / "config.xml").write_text(labelling.config, encoding="utf-8")
    (folder / "guidelines.html").write_text(_guidelines(labelling), encoding="utf-8")
    with (folder / "tasks.json").open("wb") as out:
        out.write(b"[")
        for n, item in enumerate(_items(db, actor, study, done, leaves=True), 1):
            data = task_data(labelling, item.materials, study=study.token, item=item.token, picture=draw)
            out.write((b",\n" if done.created else b"\n") + orjson.dumps(_task(data, item, raters)))
            done.created += 1
            if progress is not None:
                progress(n, study.n_items)
        out.write(b"\n]\n")
    if done.pictures:
        done.lost.add(
            "Pictures lie in the folder: serve it as local files of Label Studio (LOCAL_FILES_DOCUMENT_ROOT its parent)"
        )
    done.files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return done


def project_mark(study: StudyElsewhere) -> str:
    """By what the project of a study is found again there."""
    return f"assay:{study.token}"


def check_config(project: ProjectThere, labelling: Labelling) -> None:
    """Conflict where a project asks something else than the study."""
    if project.config.strip() not in ("", BLANK, labelling.config.strip()):
        raise Conflict(
            f"The labelling config of project {project.id} ({project.title!r}) was changed there, so that its labels "
            "are not those that the study asks for. Put back what `assay label-studio config` prints, or make a new "
            "study of the project as it is."
        )


def _labelling(study: StudyElsewhere) -> Labelling:
    labelling = labelling_of(study.protocol)
    if not labelling.criteria:
        raise InvalidInput(
            f"Nothing that the protocol {study.protocol.name!r} asks can be asked there: "
            + " ".join(labelling.lost.lines())
        )
    return labelling


def _guidelines(labelling: Labelling) -> str:
    """As HTML; what the guidelines have of it is text."""
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(labelling.protocol.guidelines))


def _has_data(task: Any) -> bool:
    return isinstance(task, Mapping) and isinstance(task.get("data"), Mapping)


def _items(
    db: Database, actor: Actor, study: StudyElsewhere, done: Pushed, *, leaves: bool, say: bool = True
) -> Iterator[ItemElsewhere]:
    """The items of the study that may be handed over, in its order."""
    after = 0
    while block := items_elsewhere(db, actor, study.study_id, after=after, limit=_ITEMS_AT_ONCE, leaves=leaves):
        after = block[-1].study_item_id
        for item in block:
            if not item.kept:
                yield item
            elif say:
                done.lost.add("Items that cite a document which must not leave this machine")


def _task(data: dict[str, Any], item: ItemElsewhere, raters: _Raters | None) -> dict[str, Any]:
    return {"data": data} if raters is None else {"data": data, "predictions": raters.of(item, data)}


class _Raters:
    """What raters of ours say of items, as predictions there."""

    def __init__(self, db: Database, actor: Actor, study: StudyElsewhere, labelling: Labelling, *, names: bool) -> None:
        self._db, self._actor, self._study, self._names = db, actor, study, names
        self._labelling = labelling

    def of(self, item: ItemElsewhere, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """A prediction of each rater who says something."""
        found = []
        said = labels_elsewhere(self._db, self._actor, self._study.study_id, item=item, names=self._names)
        for rater, labels in said.items():
            result = results_of(self._labelling, data, labels, item.materials)
            if result:
                found.append({"model_version": rater, "result": result})
        return found


class _OnServer:
    """A project on a server. Once it asks something it takes no more pictures."""

    def __init__(self, server: Server, project: ProjectThere, *, leaves: bool) -> None:
        self._server, self._project, self.leaves = server, project, leaves
        self._there = server.pictures(project.id)
        self.open = project.config.strip() in ("", BLANK)

    def picture(self, name: str, data: bytes, media_type: str) -> str | None:
        if name not in self._there:
            if not self.open:
                return None
            self._there[name] = self._server.add_picture(self._project.id, name, data, media_type)
        return self._there[name]


class _InFolder:
    leaves = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "pictures"

    def picture(self, name: str, data: bytes, _media_type: str) -> str | None:
        self._folder.mkdir(exist_ok=True)
        (self._folder / name).write_bytes(data)
        return f"/data/local-files/?d={self._folder.parent.name}/pictures/{name}"


class _Drawn:
    """Draws pages and keeps their pictures at a place, each once, under the hash of what they show."""

    def __init__(self, place: Place, pictures: Pictures | None, done: Pushed) -> None:
        self._place, self._pictures, self._done = place, pictures, done
        self._addresses: dict[Seen, str | None] = {}

    def __call__(self, document: int, page: int, box: Sequence[float] | None) -> str | None:
        seen = Seen(document, page, None if box is None else tuple(box))
        if seen not in self._addresses:
            self._addresses[seen] = self._at_place(seen)
        return self._addresses[seen]

    def _at_place(self, seen: Seen) -> str | None:
        picture = None if self._pictures is None else self._pictures(*seen)
        if picture is None:
            self._done.lost.add(_NOT_SUPPLIED)
            return None
        ending = "png" if picture.media_type == "image/png" else "jpg"
        name = f"{hashlib.sha256(picture.data).hexdigest()[:20]}.{ending}"
        address = self._place.picture(name, picture.data, picture.media_type)
        if address is None:
            self._done.lost.add("Pictures that came after the project was made: a project that is labelled takes none")
        else:
            self._done.pictures += 1
        return address
