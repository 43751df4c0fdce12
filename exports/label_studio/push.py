"""A study as a project of Label Studio: on a server, or as files that any server takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self

from markdown_it import MarkdownIt

from annotators.errors import Conflict, InvalidInput
from annotators.figures import some
from annotators.judges.base import Picture as Drawing
from annotators.progress import Progress
from db.elsewhere.handed_over import (
    ItemElsewhere,
    StudyElsewhere,
    items_elsewhere,
    labels_elsewhere,
    raters_otherwise,
    study_elsewhere,
)
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation
from exports.garbage import seldom_collected
from exports.label_studio.additions import additions_lost
from exports.label_studio.known import BEFORE, ITEM, STEP
from exports.label_studio.labelling import Labelling, labellings_of
from exports.label_studio.lost import Lost
from exports.label_studio.said import SaidThere
from exports.label_studio.server import AT_LEAST, AT_ONCE, BLANK, BYTES_AT_ONCE, ProjectThere, Server
from exports.label_studio.tasks import Picture, Seen, results_of, task_data
from exports.label_studio.xml import asked_by, read_config

Pictures = Callable[[int, int, Sequence[float] | None], Drawing | None]
"""Document's id, page (from 1) and box (or all of it) → its picture; None where it has no bytes or cannot be drawn."""

_ITEMS_AT_ONCE = 500
_COUNTED = ("created", "unchanged", "updated", "kept", "waiting", "predictions")
_NOT_SUPPLIED = "Pages that are shown but not supplied, or cannot be drawn"
_NAMED = 20
_CLOSED = (
    "Tasks that are not there any more, of items whose next step is there already: they are not made again, as who "
    "labels them could see that first"
)


@dataclass
class PushedStep:
    """One project of a study, and its tasks: made now, there already, changed, kept, and those that cannot be yet.

    `predictions` is how many were sent.
    """

    step: str
    title: str
    project: int | None = None
    created: int = 0
    unchanged: int = 0
    updated: int = 0
    kept: int = 0
    waiting: int = 0
    predictions: int = 0

    @property
    def tasks(self) -> int:
        """How many tasks it has."""
        return self.created + self.unchanged + self.updated + self.kept

    def to_json(self) -> dict[str, Any]:
        """As an entry of `steps` of `assay label-studio push --json`."""
        return {
            "step": self.step,
            "project": self.project,
            "title": self.title,
            "tasks": self.tasks,
            **{name: getattr(self, name) for name in _COUNTED},
        }


@dataclass
class Pushed:
    """What came of a push: the projects there, one for each step that shows more; pictures, files, what is lost."""

    steps: list[PushedStep]
    pictures: int = 0
    files: list[str] = field(default_factory=list)
    lost: Lost = field(default_factory=Lost)

    @property
    def project(self) -> int | None:
        """The project of the first step; None where there is no server."""
        return self.steps[0].project

    def total(self, name: str) -> int:
        """How many tasks of all projects are `created`, `unchanged`, …, or how many `predictions` were sent."""
        return sum(getattr(one, name) for one in self.steps)

    @property
    def created(self) -> int:
        """How many tasks were made now."""
        return self.total("created")

    @property
    def unchanged(self) -> int:
        """How many tasks were there already, just so."""
        return self.total("unchanged")

    @property
    def updated(self) -> int:
        """How many tasks were brought up to date."""
        return self.total("updated")

    @property
    def predictions(self) -> int:
        """How many predictions were sent."""
        return self.total("predictions")

    def to_json(self) -> dict[str, Any]:
        """As `assay label-studio push --json` prints it."""
        return {
            "project": self.project,
            "title": self.steps[0].title,
            **{name: self.total(name) for name in ("tasks", *_COUNTED)},
            "pictures": self.pictures,
            "files": self.files,
            "steps": [one.to_json() for one in self.steps],
            "lost": self.lost.to_json(),
        }


class Place(Protocol):
    """Where pictures are put."""

    def picture(self, name: str, data: bytes, media_type: str) -> str:
        """Keep a picture; the address at which a task shows it."""


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
    """Make the study a project there, or bring the projects that it has there up to date.

    Steps that show more than those before them have projects of their own. A task of theirs is made when the item is
    labelled in the project before, and not earlier, so that what a step hides is not there before it is labelled.
    Tasks that are labelled there, or begun, stay as they are. With `predictions` what raters of ours said is shown to
    the annotators there, under pseudonyms unless `names`: in a task that is there it is added of raters of whom it has
    nothing, unless it is labelled or begun. Each task waits for as many annotators as its item wants by now; nobody new
    is asked of one whose next step is there already, also where its task was deleted there. Conflict where a project's
    config was changed there, and where the server leaves open whether it took something.
    """
    pushing = Pushing(db, actor, study_id, leaves=leaves, predictions=predictions, names=names)
    study, labellings, done = pushing.study, pushing.labellings, pushing.done
    server.check_version()
    *projects, shelf = server.find([*(project_mark(study, one) for one in labellings), _pictures_mark(study)])
    for project, labelling in zip(projects, labellings, strict=True):
        if project is not None:
            check_config(project, labelling)
    draw = Drawn(_OnServer(server, study, [*projects, shelf]), pictures, done)
    parts = zip(labellings, projects, done.steps, strict=True)
    first, *later = [_ProjectThere(server, study, labelling, project, step) for labelling, project, step in parts]
    if not any(projects[1:]):
        first.ask_as_many()
    with seldom_collected(), ExitStack() as ends:
        for one in (first, *later):
            ends.enter_context(one)
        there = first.there()
        tasks, closed, ahead = list(there.values()), set[str](), _items_in(server, projects[1:])
        for n, item in enumerate(pushing.items(), 1):
            if item.token in ahead and item.token not in there:
                done.lost.add(_CLOSED)
            else:
                data = pushing.data(labellings[0], item, draw)
                first.put(data, item, there.get(item.token), pushing.raters(labellings[0]))
            if progress is not None:
                progress(n, study.n_items)
        if later:
            # What was labelled so far is asked for after the first step is there, and no later step before it is known.
            said = [task for project in projects if project is not None for task in server.tasks(project.id)]
            tasks += [task for task in said if _has_data(task) and STEP in task["data"]]
            for number, item, seals, task in pushing.later(said):
                data = pushing.data(labellings[number], item, draw) | {BEFORE: seals}
                later[number - 1].put(data, item, task, pushing.raters(labellings[number]))
                closed.add(item.token)
        for one in (first, *later):
            one.ask_of_enough(closed=closed if one is first else ())
    done.lost.add(
        "Tasks that differ from the item and are labelled there already: they stay as they are", done.total("kept")
    )
    _name_tasks_in_vain(pushing, tasks)
    return done


def _items_in(server: Server, projects: Iterable[ProjectThere | None]) -> set[str]:
    """The tokens of the items that have a task in any of these projects."""
    tasks = (task for project in projects if project is not None for task in server.listed(project.id))
    return {str(task["data"].get(ITEM)) for task in tasks if _has_data(task)}


def _name_tasks_in_vain(pushing: Pushing, tasks: Sequence[Mapping[str, Any]]) -> None:
    """Say which of these tasks people there are still to label though nobody is given their items any more."""
    numbers = [
        f"{task['id']}"
        for task in tasks
        if task["data"].get(ITEM) in pushing.given_to_nobody
        and int(task.get("total_annotations") or 0) < int(task.get("overlap") or pushing.study.overlap)
    ]
    pushing.done.lost.add(
        f"Tasks of items that are given to nobody any more, and are still to be labelled there: pull, and delete them "
        f"there ({some(numbers, _NAMED)})",
        len(numbers),
    )


class Pushing:
    """A study on its way: what it is, its items as tasks, and what has come of it so far."""

    def __init__(
        self, db: Database, actor: Actor, study_id: int, *, leaves: bool, predictions: bool, names: bool
    ) -> None:
        self._db, self._actor, self._leaves = db, actor, leaves
        self._predictions, self._names = predictions, names
        self.study = study_elsewhere(db, actor, study_id)
        self.labellings = labellings_of(self.study.protocol)
        titles = [_title(self.study, one) for one in self.labellings]
        steps = [PushedStep(one.title, title) for one, title in zip(self.labellings, titles, strict=True)]
        self.done = Pushed(steps, lost=self.labellings[0].lost)
        self.given_to_nobody = set[str]()
        """The tokens of items that ended, or came back in a later version, as far as `items` has come."""
        self._n = 0
        for what, n in additions_lost(self.study):
            self.done.lost.add(what, n)

    def items(self) -> Iterator[ItemElsewhere]:
        """The items of the study that may be handed over and are given to anybody, in its order."""
        after = 0
        while block := self._block(after):
            after = block[-1].study_item_id
            for item in block:
                if item.kept:
                    self.done.lost.add("Items that cite a document which must not leave this machine")
                elif item.ended or not item.overlap:
                    self.given_to_nobody.add(item.token)
                    how = "were rejected or withdrawn" if item.ended else "came back in a later version"
                    self.done.lost.add(f"Items that {how}, so that nobody is given them: they get no task")
                else:
                    self._n += 1
                    yield item

    def _block(self, after: int) -> list[ItemElsewhere]:
        return items_elsewhere(
            self._db, self._actor, self.study.study_id, after=after, limit=_ITEMS_AT_ONCE, leaves=self._leaves
        )

    def data(self, labelling: Labelling, item: ItemElsewhere, draw: Picture) -> dict[str, Any]:
        """The data of an item's task in the project of a labelling."""
        return task_data(labelling, item.materials, study=self.study.token, item=item.token, picture=draw)

    def raters(self, labelling: Labelling) -> Raters | None:
        """What raters of ours say, where it goes along."""
        if not self._predictions:
            return None
        return Raters(self._db, self._actor, self.study, labelling, names=self._names)

    def later(self, tasks: Sequence[Any]) -> Iterator[tuple[int, ItemElsewhere, list[str], Mapping[str, Any] | None]]:
        """(number of the project, from 1; item; seals; its task there) of each task of the later steps that may be.

        `tasks` are those of all projects; they have to be known when all items of the first one were handed over.
        """
        if len(self.labellings) == 1:
            return
        said = SaidThere(self.study, self.labellings, {})
        steps = self.done.steps
        for step in steps[1:]:
            step.waiting = self._n
        for there in said.read(self._db, self._actor, tasks, leaves=self._leaves):
            asked = not there.item.kept and there.item.token not in self.given_to_nobody
            if asked and 1 in there.tasks:
                labelled = sum(not one.skipped for one in there.said[0].values())
                self.done.lost.add(
                    "Items that want more annotators than have labelled them, and whose next step is there already: "
                    "nobody new is asked of them there, as they could see it first. Have them labelled here",
                    labelled < there.item.overlap,
                )
            for number in range(1, len(self.labellings) if asked else 0):
                task, seals = there.tasks.get(number), said.seals(there, number)
                is_closed = max(there.tasks) > number
                steps[number].waiting -= task is not None or seals is not None or is_closed
                if task is not None:
                    yield number, there.item, task["data"].get(BEFORE, []), task
                elif seals and is_closed:
                    self.done.lost.add(_CLOSED)
                elif seals:
                    yield number, there.item, seals, None
        self.done.lost.add("Annotations there that cannot be read: `assay label-studio pull` names them",
                           len(said.problems))  # fmt: skip


class _ProjectThere:
    """A project on a server, which is made when it gets its first task.

    Tasks are sent many at a time, by a thread: as soon as the server has taken the last ones it gets those that were
    made meanwhile, so that it waits for the first few alone. Its end waits for all of them, and raises what failed.
    """

    def __init__(
        self, server: Server, study: StudyElsewhere, labelling: Labelling, project: ProjectThere | None,
        step: PushedStep,
    ) -> None:  # fmt: skip
        self._server, self._study, self._labelling, self._step = server, study, labelling, step
        self._waiting: list[dict[str, Any]] = []
        self._bytes = 0
        self._asks = study.overlap if project is None else project.annotators
        self._there: dict[str, dict[str, Any]] = {}
        self._wanted: dict[str, int] = {}
        self._predicted: set[tuple[int, str]] | None = None
        self._thread = ThreadPoolExecutor(1, "push")
        self._sent: Future[None] | None = None
        if project is not None:
            step.project, step.title = project.id, project.title
            if project.config.strip() in ("", BLANK):
                server.configure(project.id, labelling.config)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._send_all()
        finally:
            self._thread.shutdown()

    def ask_as_many(self) -> None:
        """Have all its tasks, and those to come, wait for as many as the study asks; in one request, or none."""
        if self._step.project is not None and self._asks < self._study.overlap:
            self._server.ask_as_many(self._step.project, self._study.overlap)
            self._asks = self._study.overlap

    def ask_of_enough(self, *, closed: Collection[str]) -> None:
        """Have each task wait for as many as its item wants, in one request each where that is more than it does.

        `closed`: the tokens of items of which a task of a later step is there. Nobody new is asked of them: who comes
        anew could see that first, so that nothing they say would count.
        """
        tasks: Iterable[Mapping[str, Any]] = self._there.values()
        if any(n > self._asks for token, n in self._wanted.items() if token not in self._there):
            self._send_all()
            assert self._step.project is not None
            tasks = filter(_has_data, self._server.listed(self._step.project))
        for task in tasks:
            token, labelled = str(task["data"].get(ITEM)), int(task.get("total_annotations") or 0)
            wanted, waits = self._wanted.get(token, 0), int(task.get("overlap") or self._asks)
            if token not in closed:
                if waits < wanted:
                    self._server.ask_of(task, wanted)
                continue
            if 0 < labelled < waits:
                self._server.ask_of(task, labelled)

    def _send_all(self) -> None:
        """Send what waits, and wait until all is there; the first project is made also without a task."""
        if self._waiting or (self._labelling.number == 1 and self._step.project is None):
            self._send()
        if self._sent is not None:
            self._sent.result()

    def there(self) -> dict[str, dict[str, Any]]:
        """Its tasks so far, by the tokens of their items."""
        if self._step.project is None:
            return {}
        listed = [task for task in self._server.listed(self._step.project) if _has_data(task)]
        found = {str(task["data"].get(ITEM)): task for task in listed}
        if len(listed) > len(found):
            self._labelling.lost.add(
                "Tasks of items that are there twice, as two pushes at once make them: delete one of each there",
                len(listed) - len(found),
            )
        self._there = found
        return found

    def put(
        self, data: dict[str, Any], item: ItemElsewhere, task: Mapping[str, Any] | None, raters: Raters | None
    ) -> None:
        """Have the item's task there, which `task` is where it is there already."""
        if task is None or item.token in self._there:
            self._wanted[item.token] = item.overlap
        if task is None:
            predictions = [] if raters is None else raters.of(item, data)
            self._waiting.append({"data": data, "predictions": predictions} if raters is not None else {"data": data})
            self._step.predictions += len(predictions)
            self._bytes += sum(map(len, map(str, data.values())))
            self._step.created += 1
            n = len(self._waiting)
            if n >= AT_ONCE or self._bytes >= BYTES_AT_ONCE or (n >= AT_LEAST and self._is_idle()):
                self._send()
        elif task["data"] == data:
            self._step.unchanged += 1
            self._predict(task, data, item, raters)
        elif self._is_begun(task):
            self._step.kept += 1
        else:
            self._server.change_task(task["id"], data)
            self._step.updated += 1
            self._predict(task, data, item, raters)

    def _is_begun(self, task: Mapping[str, Any]) -> bool:
        return bool(task.get("annotations") or task.get("drafts") or self._server.is_begun(task))

    def _predict(
        self, task: Mapping[str, Any], data: dict[str, Any], item: ItemElsewhere, raters: Raters | None
    ) -> None:
        """Have a task that is there show what raters say, where it shows nothing of theirs yet."""
        if raters is None or self._step.project is None:
            return
        if self._predicted is None:
            self._predicted = self._server.predicted(self._step.project)
        found = [
            one
            for one in raters.of(item, data)
            if not any((task["id"], name) in self._predicted for name in raters.names_of(one["model_version"]))
        ]
        # What was labelled there and is back already would go to those who have yet to label the same task.
        if found and self._is_begun(task):
            self._labelling.lost.add("Predictions for tasks that are labelled there, or begun", len(found))
            return
        for one in found:
            self._server.add_prediction(self._step.project, task["id"], one)
            self._step.predictions += 1

    def _is_idle(self) -> bool:
        return self._sent is None or self._sent.done()

    def _send(self) -> None:
        if self._step.project is None:
            mark, guidelines = project_mark(self._study, self._labelling), guidelines_of(self._study)
            made = self._server.create(
                self._step.title, f"Labels go back to the study it was made of. Do not change this line: {mark}",
                self._labelling.config, guidelines, self._study.overlap,
            )  # fmt: skip
            self._step.project, self._step.title = made.id, made.title
        if self._sent is not None:
            self._sent.result()
        if self._waiting:
            self._sent = self._thread.submit(self._server.add_tasks, self._step.project, self._waiting)
        self._waiting, self._bytes = [], 0


def project_mark(study: StudyElsewhere, labelling: Labelling) -> str:
    """By what the project of a study's steps is found again there: a word of its description."""
    return f"assay:{study.token}" + (f"/{labelling.number}" if labelling.number > 1 else "")


def _pictures_mark(study: StudyElsewhere) -> str:
    return f"assay:{study.token}/pictures"


def _title(study: StudyElsewhere, labelling: Labelling) -> str:
    # A title there has three characters or more.
    name = study.name if len(study.name) > 2 else f"Study {study.name}"
    return name if labelling.number == 1 else f"{name}, step {labelling.number}: {labelling.title}"


def check_config(project: ProjectThere, labelling: Labelling) -> None:
    """Conflict where a project asks something else than the study; how it looks is theirs to change."""
    if project.config.strip() not in ("", BLANK) and not _asks_the_same(project.config, labelling.config):
        raise Conflict(
            f"The labelling config of project {project.id} ({project.title!r}) was changed there, so that its labels "
            "are not those that the study asks for. Put back what `assay label-studio config` prints, or make a new "
            "study of the project as it is."
        )


def guidelines_of(study: StudyElsewhere) -> str:
    """As HTML; what the guidelines have of it is text."""
    return _OF_ANOTHER_PAGE + str(
        MarkdownIt("commonmark", {"html": False}).enable("table").render(study.protocol.guidelines)
    )


_OF_ANOTHER_PAGE = (
    "<p><em>These guidelines were written with another page in mind. Where they name a key, a button or a grid, choose "
    "with the mouse or by the keys that are shown here; skip a task that you cannot judge.</em></p>\n"
)


def _asks_the_same(theirs: str, ours: str) -> bool:
    try:
        return asked_by(read_config(theirs, "the project there")) == asked_by(read_config(ours, "ours"))
    except InvalidInput:
        return False


def _has_data(task: Any) -> bool:
    return isinstance(task, Mapping) and isinstance(task.get("data"), Mapping)


class Raters:
    """What raters of ours say of items, as predictions there."""

    def __init__(self, db: Database, actor: Actor, study: StudyElsewhere, labelling: Labelling, *, names: bool) -> None:
        self._db, self._actor, self._study, self._names = db, actor, study, names
        self._labelling = labelling

    @cached_property
    def _otherwise(self) -> dict[str, str]:
        """What a rater is called here → what the same one is called with names, or without."""
        return raters_otherwise(self._db, self._actor, self._study.study_id, names=self._names)

    def names_of(self, rater: str) -> tuple[str, str]:
        """What a rater is called, with names and without."""
        return rater, self._otherwise.get(rater, rater)

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
    """The pictures of a study on a server: in a project of their own, as one that asks something takes none."""

    def __init__(self, server: Server, study: StudyElsewhere, projects: Sequence[ProjectThere | None]) -> None:
        self._server, self._study = server, study
        self._projects = [one.id for one in projects if one is not None]
        self._shelf = projects[-1].id if projects[-1] is not None else None
        self._there: dict[str, str] | None = None

    def picture(self, name: str, data: bytes, media_type: str) -> str:
        if self._there is None:
            self._there = {}
            for project in self._projects:
                self._there |= self._server.pictures(project)
        if name not in self._there:
            if self._shelf is None:
                mark = _pictures_mark(self._study)
                said = f"What the tasks of the study show. Do not delete it, nor change this line: {mark}"
                self._shelf = self._server.create(f"{self._study.name}: pictures", said, BLANK, "", 1).id
            self._there[name] = self._server.add_picture(self._shelf, name, data, media_type)
        return self._there[name]


class Drawn:
    """Draws pages and keeps their pictures at a place, each once, under the hash of what they show."""

    def __init__(self, place: Place, pictures: Pictures | None, done: Pushed) -> None:
        self._place, self._pictures, self._done = place, pictures, done
        self._addresses: dict[Seen, str | None] = {}

    def __call__(self, document: int, page: int, box: Sequence[float] | None) -> str | None:
        """The address of a picture (`Picture`), which is drawn where it was not yet."""
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
        self._done.pictures += 1
        return self._place.picture(name, picture.data, picture.media_type)
