"""What people said there of each item: read project after project, and joined into one annotation of each person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from annotators.asking.submissions import GivenLabel, broken_rules, check_kept
from annotators.criteria.base import written
from annotators.errors import AssayError, InvalidInput, shown
from annotators.items.checks import check_seen
from db.elsewhere.came_back import AnnotationElsewhere, Unfit
from db.elsewhere.handed_over import ItemElsewhere, StudyElsewhere, items_by_token, items_elsewhere
from db.elsewhere.known import KnownThere, Whose, whose_elsewhere
from db.engine import Database
from db.permissions import Actor
from exports.label_studio.annotators import Annotators, mark_of
from exports.label_studio.known import BEFORE, ITEM, NOBODYS, STEP, STUDY, People, changed_at, lead_time
from exports.label_studio.labelling import Labelling
from exports.label_studio.lost import Lost
from exports.label_studio.tasks import asks_anything, labels_of, shows_as_here

_AT_ONCE = 200


@dataclass(frozen=True)
class Said:
    """What one person did with one task there: labels by the item's own keys, or that it was skipped.

    `seal` says which annotation it is, to be sealed; `line` is its number there, or its place among all, from 1; `mark`
    as `mark_of`. `unfit`: what they said does not fit, and is among the problems.
    """

    annotator: str
    line: int
    seal: str
    labels: Sequence[GivenLabel] = ()
    skipped: bool = False
    at: datetime | None = None
    seconds: float | None = None
    mark: str | None = None
    unfit: bool = False


@dataclass
class ItemThere:
    """An item's tasks by their project (from 0); of each what people said, by their names, and the seals it has."""

    item: ItemElsewhere
    said: list[dict[str, Said]]
    before: list[set[str]]
    tasks: dict[int, Mapping[str, Any]] = field(default_factory=dict)


@dataclass
class Joined:
    """Whole annotations, whose have yet to be labelled to the end, and which are left, in sentences."""

    annotations: list[AnnotationElsewhere] = field(default_factory=list)
    unfinished: set[Whose] = field(default_factory=set)
    left: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Sofar:
    """What somebody said up to some project: nothing more (`told`: why not; `unfit`), a skip, or labels."""

    said: Sequence[Said] = ()
    labels: Sequence[GivenLabel] = ()
    skipped: bool = False
    complete: bool = True
    told: str = ""
    unfit: bool = False


class SaidThere:
    """What was labelled in the projects of a study, read of their tasks; what cannot be read is among the problems."""

    def __init__(
        self,
        study: StudyElsewhere,
        labellings: Sequence[Labelling],
        people: People,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        self.study, self.labellings = study, labellings
        self._people, self._addresses = people, addresses or {}
        self.annotators = Annotators(people, self._addresses, KnownThere({}, {}))
        self.lost, self.problems = Lost(), list[Unfit]()
        self.seen = set[Whose]()
        self._n = 0

    def read(self, db: Database, actor: Actor, tasks: Iterable[Any], *, leaves: bool = False) -> Iterator[ItemThere]:
        """Read tasks of any of the projects, each of which says whose it is, item by item.

        InvalidInput for what is no task. `leaves`: as in `items_elsewhere`.
        """
        tasks, tokens = list(tasks), items_by_token(db, actor, self.study.study_id)
        known = whose_elsewhere(db, actor, self.study.study_id)
        self.annotators = Annotators(self._people, self._addresses, known)
        self.annotators.learn(tasks)
        by_item: dict[int, list[tuple[int, Mapping[str, Any]]]] = {}
        for task in tasks:
            found = self._place_of(task, tokens)
            if found is not None and (task.get("annotations") or task.get("drafts") or found[1]):
                by_item.setdefault(found[0], []).append((found[1], task))
        ids = sorted(by_item)
        for start in range(0, len(ids), _AT_ONCE):
            among = ids[start : start + _AT_ONCE]
            for item in items_elsewhere(db, actor, self.study.study_id, among=among, limit=_AT_ONCE, leaves=leaves):
                there = ItemThere(item, [{} for _ in self.labellings], [set() for _ in self.labellings])
                for number, task in sorted(by_item[item.study_item_id], key=lambda one: one[0]):
                    self._read(there, number, task)
                    there.tasks[number] = task
                yield there

    def _place_of(self, task: Any, tokens: Mapping[str, int]) -> tuple[int, int] | None:
        """(study item, project from 0) of a task."""
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict):
            raise InvalidInput(f"A task is {shown(task)}, not an object with data. Export the project as JSON.")
        item, number = tokens.get(str(data.get(ITEM))), data.get(STEP, 1)
        known = isinstance(number, int) and 1 <= number <= len(self.labellings)
        if data.get(STUDY) != self.study.token or item is None or not known:
            self.lost.add("Tasks that are not of this study")
            return None
        return item, number - 1

    def _read(self, there: ItemThere, number: int, task: Mapping[str, Any]) -> None:
        if task.get("annotations") and not shows_as_here(self.labellings[number], there.item.materials, task["data"]):
            self.lost.add("Labels of tasks whose texts were changed there: they count for the item as it is here")
        there.before[number] |= {str(seal) for seal in _list(task["data"].get(BEFORE))}
        self.lost.add("Drafts that were not submitted there", len(_list(task.get("drafts"))))
        for one in _list(task.get("annotations")):
            who: str | None = None
            try:
                if not isinstance(one, dict):
                    raise InvalidInput(f"an annotation is {shown(one)}, not an object")
                if self.annotators.is_nobodys(one):
                    self.lost.add(NOBODYS)
                    continue
                if self.annotators.is_erased(one):
                    self.lost.add("Annotations of people who were erased here: what they said stays as it is")
                    continue
                name = self.annotators.name(one)
                check_kept(name, "the annotator")
                check_seen(name, "the annotator")
                who = name
                self.seen.add(Whose(there.item.study_item_id, who))
                self._enter(there, number, self._said(there, number, who, one, task))
            except AssayError as error:
                self.problems.append(Unfit(_id_of(task), _line_of(one), who, str(error)))
                if who is not None:
                    self._enter(there, number, _unfit(who, one))

    def _enter(self, there: ItemThere, number: int, one: Said) -> None:
        """Of several annotations of one task by one person the one that was given last; labels before a skip."""
        earlier = there.said[number].get(one.annotator)
        if earlier is not None:
            self.lost.add("Annotations of one task by the same person, of which the last one counts")
        if earlier is None or _rank(one) >= _rank(earlier):
            there.said[number][one.annotator] = one

    def _said(self, there: ItemThere, number: int, who: str, one: Mapping[str, Any], task: Mapping[str, Any]) -> Said:
        seal, mark = f"{task.get('id')}/{one.get('id')}", mark_of(one)
        self._n += 1
        line = one["id"] if isinstance(one.get("id"), int) else self._n
        at, seconds = changed_at(one, whose="its"), lead_time(one.get("lead_time"))
        if one.get("was_cancelled"):
            return Said(who, line, seal, skipped=True, at=at, seconds=seconds, mark=mark)
        if one.get("parent_prediction"):
            self.lost.add("That an annotation began as a copy of a prediction")
        labelling, item = self.labellings[number], there.item
        earlier = self._renamed(there, number, self._up_to(there, who, number).labels)
        given = labels_of(labelling, task["data"], one.get("result"), item.materials, self.lost, earlier=earlier)
        labels = [self._own(labelling, item, label) for label in given]
        return Said(who, line, seal, labels, at=at, seconds=seconds, mark=mark)

    def _own(self, labelling: Labelling, item: ItemElsewhere, label: GivenLabel) -> GivenLabel:
        """A label by the item's own keys."""
        protocol = labelling.protocol
        step = next(n for n in labelling.steps if label.criterion in protocol.steps[n].criteria)
        names, criterion = item.names[step], protocol.criterion(label.criterion)
        value = criterion.check(names.value_back(label.value, criterion))
        check_kept(value, repr(criterion.name))
        return GivenLabel(label.criterion, names.back(label.target), value)

    def _renamed(self, there: ItemThere, number: int, labels: Iterable[GivenLabel]) -> list[GivenLabel]:
        """Labels by the item's own keys as a project knows them."""
        names = there.item.names[self.labellings[number].steps[0]]
        return [GivenLabel(one.criterion, names.out(one.target), one.value) for one in labels]

    def _up_to(self, there: ItemThere, who: str, end: int) -> _Sofar:
        """What somebody said in the projects before this one (from 0)."""
        said: list[Said] = []
        labels: list[GivenLabel] = []
        for number in range(end):
            one = there.said[number].get(who)
            if not self._asks(there, number, labels):
                continue
            if one is None:
                later = next((found for after in there.said[number + 1 :] if (found := after.get(who))), None)
                return _Sofar(said, labels, complete=False, told="" if later is None else self._alone(later))
            if one.unfit:
                return _Sofar(said, labels, complete=False, unfit=True)
            if said and self._seal(said, labels) not in there.before[number]:
                return _Sofar(said, labels, complete=False, told=self._told(there, who, said, one))
            if one.skipped:
                return _Sofar([*said, one], labels, skipped=True)
            said.append(one)
            labels += one.labels
        return _Sofar(said, labels)

    def _asks(self, there: ItemThere, number: int, labels: Sequence[GivenLabel]) -> bool:
        named = self._renamed(there, number, labels)
        return number == 0 or asks_anything(self.labellings[number], there.item.materials, named)

    def _told(self, there: ItemThere, who: str, said: Sequence[Said], one: Said) -> str:
        task = there.tasks[self._project_of(there, one)].get("id")
        return (
            f"Annotation {one.line} of {who!r} (task {task} there): what they said before it, in annotation "
            f"{said[-1].line}, was given or changed when this task was there already. It is left, and what was taken "
            "back before stands."
        )

    def _after(self, there: ItemThere, one: Said) -> Said | None:
        """The first annotation of the same person in the projects after that of one of theirs."""
        after = there.said[self._project_of(there, one) + 1 :]
        return next((found for said in after if (found := said.get(one.annotator)) is not None), None)

    def _alone(self, later: Said) -> str:
        return (
            f"Annotation {later.line} of {later.annotator!r}: what they said of the item in the step before it is not "
            "there (deleted, or in an export that is not among these). It is left."
        )

    def _project_of(self, there: ItemThere, one: Said) -> int:
        return next(number for number, said in enumerate(there.said) if said.get(one.annotator) is one)

    def _seal(self, said: Sequence[Said], labels: Sequence[GivenLabel]) -> str:
        """The mark of what somebody said so far, by which a change of it is found."""
        values = sorted((one.criterion, one.target, written(one.value)) for one in labels)
        return self.study.seal("said:" + orjson.dumps([[one.seal for one in said], values]).decode())

    def seals(self, there: ItemThere, number: int) -> list[str] | None:
        """The seals for the item's task of a project (from 1 on), which can be made now; None: not yet.

        That is when the projects before it are labelled by as many as the study asks, or when all its annotators have
        either labelled or skipped them. Empty where nothing is asked of any of them.
        """
        people = dict.fromkeys(who for said in there.said[:number] for who in said)
        far = [self._up_to(there, who, number) for who in people]
        done = [one for one in far if one.complete and not one.skipped]
        all_here = 0 < self.study.n_annotators <= len(done) + sum(one.skipped for one in far)
        if len(done) < there.item.overlap and not (done and all_here):
            return None
        return sorted(self._seal(one.said, one.labels) for one in done if self._asks(there, number, one.labels))

    def join(self, there: ItemThere, found: Joined) -> None:
        """Add one annotation of each person who has labelled all that they are asked of an item."""
        for who in dict.fromkeys(who for said in there.said for who in said):
            self._join(there, who, found)

    def _join(self, there: ItemThere, who: str, found: Joined) -> None:
        far = self._up_to(there, who, len(self.labellings))
        if far.skipped and (later := self._after(there, far.said[-1])) is not None:
            found.left.append(
                f"Annotation {later.line} of {who!r}: they skipped the item in a step before. It is left."
            )
        if far.told:
            found.left.append(far.told)
        elif far.unfit:
            return
        elif not far.complete:
            found.unfinished.add(Whose(there.item.study_item_id, who))
        else:
            last = far.said[-1]
            decided = {(one.criterion, one.target): one for one in far.labels}
            for label, _ in broken_rules(self.study.protocol, far.labels, decided):
                self.lost.add(f"Labels of {label.criterion!r} that break a rule between criteria: they count")
            at = max((one.at for one in far.said if one.at is not None), default=None)
            seconds = [one.seconds for one in far.said if one.seconds is not None]
            found.annotations.append(
                AnnotationElsewhere(
                    there.item.study_item_id,
                    who,
                    last.line,
                    [] if far.skipped else far.labels,
                    far.skipped,
                    at,
                    sum(seconds) if seconds else None,
                    [one.mark for one in far.said if one.mark is not None],
                    _id_of(there.tasks[self._project_of(there, last)]),
                )
            )


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _id_of(one: Mapping[str, Any]) -> str:
    return str(one.get("id", "?"))


def _line_of(one: Any) -> int | str:
    number = one.get("id") if isinstance(one, dict) else None
    return number if isinstance(number, int) else "without an id"


def _unfit(who: str, one: Mapping[str, Any]) -> Said:
    """An annotation of somebody's that does not fit; where its time does not, it was given first of all."""
    at = None
    with suppress(InvalidInput):
        at = changed_at(one, whose="its")
    return Said(who, 0, "", skipped=bool(one.get("was_cancelled")), at=at, unfit=True)


def _rank(one: Said) -> tuple[bool, float]:
    return not one.skipped, one.at.timestamp() if one.at else 0.0
