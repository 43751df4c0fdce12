"""A study as files for a server that is not reached from here: configs, tasks and pictures; and exports from there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import orjson

from annotators.errors import Conflict, InvalidInput, NotFound, shown
from annotators.progress import Progress
from db.elsewhere.handed_over import ItemElsewhere
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation
from exports.label_studio.exported import parsed
from exports.label_studio.known import BEFORE
from exports.label_studio.labelling import Labelling
from exports.label_studio.push import Drawn, Pictures, Pushed, Pushing, Raters, guidelines_of
from exports.sinks import whole_folder

_LARGEST = 1 << 30


@operation(On.STUDY, RESEARCHERS)
def push_to_files(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    folder: Path,
    labelled: Sequence[Path] = (),
    pictures: Pictures | None = None,
    predictions: bool = False,
    names: bool = False,
    progress: Progress | None = None,
) -> Pushed:
    """Write the study as `config.xml`, `tasks.json` and pictures into a folder, for a server that is not reached.

    With exports (JSON) of what was `labelled` in its projects so far the tasks of the later steps are written instead
    that can be made now and are in none of them, into a folder each. Nothing is left of what fails. Conflict where the
    folder has something in it.
    """
    pushing = Pushing(db, actor, study_id, leaves=True, predictions=predictions, names=names)
    labellings, done = pushing.labellings, pushing.done
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(f"{folder} has something in it. Name a new folder.")
    there = [task for path in labelled for task in read_tasks(path)]
    if labelled and len(labellings) == 1:
        raise InvalidInput(
            f"No step of the protocol {pushing.study.protocol.name!r} waits for what is labelled before it. Leave "
            "--labelled out."
        )
    with whole_folder(folder) as made:
        draw = Drawn(_InFolder(made, folder.absolute().name), pictures, done)
        _write(pushing, made, draw, there, progress, later=bool(labelled))
    return done


def _write(
    pushing: Pushing, folder: Path, draw: Drawn, there: Sequence[Any], progress: Progress | None, *, later: bool
) -> None:
    """Write the tasks of the first step, or with `later` those of the steps that wait for what is `there`."""
    labellings, done = pushing.labellings, pushing.done
    guidelines = guidelines_of(pushing.study)
    if later:
        for _ in pushing.items():
            pass  # what must not leave is said once, and how many there are is known
        into = [_TasksFile(folder / f"step-{one.number}", one, guidelines) for one in labellings[1:]]
        for number, item, seals, task in pushing.later(there):
            if task is not None:
                done.steps[number].unchanged += 1
                continue
            data = pushing.data(labellings[number], item, draw) | {BEFORE: seals}
            done.steps[number].predictions += into[number - 1].add(data, item, pushing.raters(labellings[number]))
            done.steps[number].created += 1
    else:
        into = [_TasksFile(folder, labellings[0], guidelines)]
        into[0].begin()
        for n, item in enumerate(pushing.items(), 1):
            data = pushing.data(labellings[0], item, draw)
            done.steps[0].predictions += into[0].add(data, item, pushing.raters(labellings[0]))
            done.steps[0].created += 1
            if progress is not None:
                progress(n, pushing.study.n_items)
        for step in done.steps[1:]:
            step.waiting = done.steps[0].created
    for one in into:
        one.end()
    if done.pictures:
        done.lost.add(
            "Pictures lie in the folder: serve it as local files of Label Studio (LOCAL_FILES_DOCUMENT_ROOT its parent)"
        )
    done.files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


class _TasksFile:
    """A folder for one project: its config, guidelines and tasks. It is made with its first task, or by `begin`."""

    def __init__(self, folder: Path, labelling: Labelling, guidelines: str) -> None:
        self._folder, self._labelling, self._guidelines = folder, labelling, guidelines
        self._out: IO[bytes] | None = None
        self._n = 0

    def begin(self) -> IO[bytes]:
        """Make the folder, if it is not there."""
        if self._out is None:
            self._folder.mkdir(exist_ok=True)
            (self._folder / "config.xml").write_text(self._labelling.config, encoding="utf-8")
            (self._folder / "guidelines.html").write_text(self._guidelines, encoding="utf-8")
            self._out = (self._folder / "tasks.json").open("wb")
            self._out.write(b"[")
        return self._out

    def add(self, data: dict[str, Any], item: ItemElsewhere, raters: Raters | None) -> int:
        """Write a task; how many predictions it has."""
        if item.overlap > 1:
            self._labelling.lost.add(
                f"Tasks that {item.overlap} annotators are to label, which files do not say: once they are imported, "
                "set `maximum_annotations` of the project, or `overlap` of the task, over the API there"
            )
        predictions = [] if raters is None else raters.of(item, data)
        task = {"data": data, "predictions": predictions} if raters is not None else {"data": data}
        self.begin().write((b",\n" if self._n else b"\n") + orjson.dumps(task))
        self._n += 1
        return len(predictions)

    def end(self) -> None:
        """Close the list."""
        if self._out is not None:
            self._out.write(b"\n]\n")
            self._out.close()


def read_tasks(path: Path) -> list[Any]:
    """The tasks of an export; NotFound where there is none, InvalidInput for what is none."""
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    if path.stat().st_size > _LARGEST:
        raise InvalidInput(f"{path.name} is larger than {_LARGEST >> 20:,} MB. Export fewer tasks at once.")
    try:
        found = parsed(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{path.name} is no JSON ({error}). Export the project as JSON.") from None
    if not isinstance(found, list):
        raise InvalidInput(f"{path.name} holds {shown(found)}, not a list of tasks. Export the project as JSON.")
    for number, task in enumerate(found, 1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise InvalidInput(
                f"{path.name}: task {number} is {shown(task)}, without `data`. Export the project as JSON, not as "
                "JSON-MIN."
            )
    return found


class _InFolder:
    """The pictures of a study in a folder, which will have this name."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder / "pictures", name

    def picture(self, name: str, data: bytes, _media_type: str) -> str:
        self._folder.mkdir(exist_ok=True)
        (self._folder / name).write_bytes(data)
        return f"/data/local-files/?d={self._name}/pictures/{name}"
