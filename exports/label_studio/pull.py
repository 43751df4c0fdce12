"""What was labelled in Label Studio, as labels of the study that its project was made of: by a server or an export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from annotators.asking.submissions import GivenLabel
from annotators.errors import AssayError, InvalidInput, NotFound, shown
from annotators.times import time_of
from db.elsewhere.came_back import AnnotationElsewhere, CameBack, take_back
from db.elsewhere.handed_over import ItemElsewhere, StudyElsewhere, items_by_token, items_elsewhere, study_elsewhere
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation
from exports.label_studio.known import ITEM, STUDY, People, annotator_of
from exports.label_studio.labelling import Labelling, labelling_of
from exports.label_studio.lost import Lost
from exports.label_studio.push import check_config, project_mark
from exports.label_studio.server import Server
from exports.label_studio.tasks import labels_of

_AT_ONCE = 200
_SHOWN = 20
_LARGEST = 1 << 30


@dataclass
class Pulled:
    """What came back, and what of it is lost."""

    came: CameBack
    lost: Lost

    def to_json(self) -> dict[str, Any]:
        """As `assay label-studio pull --json` prints it."""
        return {**self.came.to_json(), "lost": self.lost.to_json()}


@operation(On.STUDY, RESEARCHERS)
def pull_from_server(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    server: Server,
    people: People,
    dry_run: bool = False,
) -> Pulled:
    """Take back what was labelled in the study's project there.

    NotFound where there is none; Conflict where its config was changed; otherwise as `take_back`.
    """
    study = study_elsewhere(db, actor, study_id)
    server.check_version()
    project = server.find(project_mark(study))
    if project is None:
        raise NotFound(f"There is no project of the study {study.name!r} at {server.address}. Push the study first.")
    check_config(project, labelling_of(study.protocol))
    names = {str(number): people.get(email, email) for number, email in server.people().items()}
    source = f"Label Studio, project {project.id} at {server.address}"
    return _taken_back(
        db, actor, study, server.tasks(project.id), people={**people, **names}, source=source, dry_run=dry_run
    )


@operation(On.STUDY, RESEARCHERS)
def pull_from_file(
    db: Database, actor: Actor, study_id: int, *, path: Path, people: People, dry_run: bool = False
) -> Pulled:
    """Take back what an export (JSON) of the study's project says. Raises as `pull_from_server`."""
    study = study_elsewhere(db, actor, study_id)
    return _taken_back(db, actor, study, read_tasks(path), people=people, source=path.name, dry_run=dry_run)


def read_tasks(path: Path) -> list[Any]:
    """The tasks of an export; NotFound where there is none, InvalidInput for what is none."""
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    if path.stat().st_size > _LARGEST:
        raise InvalidInput(f"{path.name} is larger than {_LARGEST >> 20:,} MB. Export fewer tasks at once.")
    try:
        found = orjson.loads(path.read_bytes())
    except (orjson.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"{path.name} is no JSON ({error}). Export the project as JSON.") from None
    if not isinstance(found, list):
        raise InvalidInput(f"{path.name} holds {shown(found)}, not a list of tasks. Export the project as JSON.")
    return found


def _taken_back(
    db: Database,
    actor: Actor,
    study: StudyElsewhere,
    tasks: Sequence[Any],
    *,
    people: People,
    source: str,
    dry_run: bool,
) -> Pulled:
    reading = _Reading(labelling_of(study.protocol), people)
    tokens = items_by_token(db, actor, study.study_id)
    by_item: dict[int, list[Mapping[str, Any]]] = {}
    for task in tasks:
        found = _item_of(task, study, tokens, reading.lost)
        if found is not None and (task.get("annotations") or task.get("drafts")):
            by_item.setdefault(found, []).append(task)
    ids = sorted(by_item)
    for start in range(0, len(ids), _AT_ONCE):
        among = ids[start : start + _AT_ONCE]
        for item in items_elsewhere(db, actor, study.study_id, among=among, limit=_AT_ONCE, leaves=False):
            for task in by_item[item.study_item_id]:
                reading.read(item, task)
    problems = reading.problems
    if problems:
        more = [f"… and {len(problems) - _SHOWN:,} more"] if len(problems) > _SHOWN else []
        raise InvalidInput("\n".join([f"{source}: nothing was taken in.", *problems[:_SHOWN], *more]))
    annotations = _last_of_each(reading.annotations, reading.lost)
    came = take_back(db, actor, study.study_id, annotations=annotations, source=source, dry_run=dry_run)
    return Pulled(came, reading.lost)


def _item_of(task: Any, study: StudyElsewhere, tokens: Mapping[str, int], lost: Lost) -> int | None:
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        raise InvalidInput(f"A task is {shown(task)}, not an object with data. Export the project as JSON.")
    item = tokens.get(str(data.get(ITEM)))
    if data.get(STUDY) != study.token or item is None:
        lost.add("Tasks that are not of this study")
        return None
    return item


class _Reading:
    """The annotations of tasks, with the items' own keys; what cannot be one is among the problems."""

    def __init__(self, labelling: Labelling, people: People) -> None:
        self._labelling, self._people = labelling, people
        self.lost = Lost()
        self.annotations: list[AnnotationElsewhere] = []
        self.problems: list[str] = []

    def read(self, item: ItemElsewhere, task: Mapping[str, Any]) -> None:
        """Read those of one task."""
        self.lost.add("Drafts that were not submitted there", len(_list(task.get("drafts"))))
        for one in _list(task.get("annotations")):
            try:
                if not isinstance(one, dict):
                    raise InvalidInput(f"an annotation is {shown(one)}, not an object")
                self.annotations.append(self._annotation(item, one, task["data"]))
            except AssayError as error:
                self.problems.append(f"task {task.get('id', '?')}, annotation {_id_of(one)}: {error}")

    def _annotation(self, item: ItemElsewhere, one: Mapping[str, Any], data: Mapping[str, Any]) -> AnnotationElsewhere:
        who, number = annotator_of(one.get("completed_by"), self._people), len(self.annotations) + 1
        at, seconds = _time(one.get("updated_at") or one.get("created_at")), _seconds(one.get("lead_time"))
        if one.get("was_cancelled"):
            return AnnotationElsewhere(item.study_item_id, who, number, skipped=True, at=at, seconds=seconds)
        if one.get("parent_prediction"):
            self.lost.add("That an annotation began as a copy of a prediction")
        given = labels_of(self._labelling, data, one.get("result"), item.materials, self.lost)
        labels = [self._own(item, label) for label in given]
        return AnnotationElsewhere(item.study_item_id, who, number, labels, at=at, seconds=seconds)

    def _own(self, item: ItemElsewhere, label: GivenLabel) -> GivenLabel:
        """A label by the item's own keys."""
        protocol = self._labelling.protocol
        step = next(n for n in self._labelling.steps if label.criterion in protocol.steps[n].criteria)
        names, criterion = item.names[step], protocol.criterion(label.criterion)
        value = criterion.check(names.value_back(label.value, criterion))
        return GivenLabel(label.criterion, names.back(label.target), value)


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _id_of(one: Any) -> str:
    return str(one.get("id", "without an id")) if isinstance(one, dict) else "without an id"


def _time(given: object) -> datetime | None:
    try:
        return time_of(given) if isinstance(given, str) else None
    except ValueError:
        raise InvalidInput(f"its time is {shown(given)}; times are like 2026-11-25T02:51:40Z") from None


def _seconds(given: object) -> float | None:
    usable = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < 1e9
    return float(given) if usable else None  # type: ignore[arg-type]


def _last_of_each(annotations: Iterable[AnnotationElsewhere], lost: Lost) -> list[AnnotationElsewhere]:
    """Of several annotations of one item by one person the one that was given last; labels before a skip."""
    found: dict[tuple[int, str], AnnotationElsewhere] = {}
    for one in annotations:
        key = (one.study_item_id, one.annotator)
        if key in found:
            lost.add("Annotations of one task by the same person, of which the last one counts")
        earlier = found.get(key)
        if earlier is None or _rank(one) >= _rank(earlier):
            found[key] = one
    return list(found.values())


def _rank(one: AnnotationElsewhere) -> tuple[bool, str]:
    return not one.skipped, one.at.isoformat() if one.at else ""
