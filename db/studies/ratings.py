"""The labels of a study as statistics take them: columns of numbers for a million of them, and the items behind."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Select, String, case, cast, func, text, type_coerce
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.arrays import BoolArray, FloatArray, IntArray, np
from annotators.criteria import Criterion
from annotators.errors import NotFound
from annotators.protocols import Protocol
from db.engine import Database
from db.items.current import UNTIMED, counting_annotations
from db.models import (
    Account,
    Adjudication,
    Annotation,
    AnnotationKind,
    Batch,
    Event,
    Item,
    ItemVersion,
    Omission,
    Purpose,
    Revision,
    Run,
    Score,
    StoredLabel,
    Study,
    StudyItem,
    StudyMember,
    Surplus,
    UnpublishedBatch,
    Withdrawal,
)
from db.people.pseudonyms import real_names, sees_names
from db.permissions import READERS, Actor, On, operation
from db.query import is_sqlite, pick
from db.studies.design import has_rechecks, protocol_of
from db.studies.settlements import COUNTING, decided_units, plans_for

_AT_ONCE = 500


@dataclass(frozen=True, eq=False)
class StudyItems:
    """The items of a study in columns, one entry each, in the order of `study_item`, the id of the study's item.

    `answer_length` counts the Unicode characters of their answers; it is empty unless a criterion is about them.
    """

    study_item: IntArray
    item: IntArray
    external_id: list[str]
    question: IntArray
    category: list[str | None]
    system: list[str]
    answer_length: IntArray


@dataclass(frozen=True, eq=False)
class Annotations:
    """The annotations that count in columns: place of the item in `StudyItems`, person, time, seconds spent.

    `time` is in seconds since 1970, NaN where an import brought none; `seconds` is NaN where nobody measured them.
    """

    item: IntArray
    person: IntArray
    time: FloatArray
    seconds: FloatArray


@dataclass(frozen=True, eq=False)
class CriterionRatings:
    """All counting labels of one criterion, one entry a label, sorted by unit, then person.

    `unit`, `rater`, `value`, `annotation` are places: of a unit, in `people` (person ids), in `distinct` (the values
    that occur), in `Annotations`. Of each unit `item` has the place of its item in `StudyItems`, `target` that of its
    target in `targets`. `cannot_judge` counts what was left out.
    """

    criterion: Criterion
    items: StudyItems
    item: IntArray
    target: IntArray
    targets: list[str]
    people: list[int]
    distinct: list[Any]
    unit: IntArray
    rater: IntArray
    value: IntArray
    annotation: IntArray
    cannot_judge: int = 0

    @property
    def n_units(self) -> int:
        """How many units have a label."""
        return len(self.item)

    def target_of(self, unit: int) -> str:
        """The target of a unit, by its place."""
        return self.targets[int(self.target[unit])]

    @cached_property
    def unit_names(self) -> list[str]:
        """What each unit is called: `study item id`, or `study item id|target`."""
        items = self.items.study_item[self.item].tolist()
        return [unit_name(item, self.targets[place]) for item, place in zip(items, self.target.tolist(), strict=True)]

    @cached_property
    def units(self) -> list[str]:
        """The name of each label's unit."""
        return [self.unit_names[place] for place in self.unit.tolist()]

    @cached_property
    def raters(self) -> list[int]:
        """The person of each label."""
        return [self.people[place] for place in self.rater.tolist()]

    @cached_property
    def values(self) -> list[Any]:
        """The value of each label."""
        return [self.distinct[place] for place in self.value.tolist()]


@dataclass(frozen=True, eq=False)
class StudyRatings:
    """A study's ratings by criterion, in the protocol's order, with the raters' names or pseudonyms by person id.

    `added` has True for each annotation that the study did not plan, but asked for as people disagreed. They are of
    contested items alone, so that agreement is measured without them.
    """

    study: Study
    protocol: Protocol
    criteria: list[CriterionRatings]
    names: dict[int, str]
    items: StudyItems
    annotations: Annotations
    added: BoolArray


@operation(On.STUDY, READERS)
def ratings(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    kinds: Sequence[AnnotationKind] = COUNTING,
    judges: Sequence[str] = (),
    named: bool = True,
    among: Sequence[int] | None = None,
) -> StudyRatings:
    """The current labels of a study for every criterion, `cannot judge` counted and left out.

    Behind a criterion stand the units that are derived from it (annotators/criteria/derived), each as a criterion of
    its own: what every person's labels amount to. A value that does not follow, because the person could not judge a
    part that somebody judged, counts as one that they could not judge.

    `judges` are those whose labels are there as well, by name; NotFound for one that labelled nothing here. `named`
    asks for people's names; whoever may not be told them (`may_see_names`) gets pseudonyms all the same. Judges have
    their names always.
    `among`: only of these study items of the sample, up to some thousands.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        of_answers = any(criterion.measured_scale == "spans" for criterion in protocol.criteria)
        items = _items(session, study_id, of_answers=of_answers, pairs=protocol.about_pairs, among=among)
        counting = [*counting_annotations(study_id, kinds, _judges(session, study, judges), among), *_of_sample(study)]
        ids, annotations = _annotations(session, items, counting)
        read = _labels(session, counting)
        added = _added(session, study, counting)
        names = real_names(session, study_id, people=named and sees_names(session, actor, study))
    criteria = [
        column
        for criterion in protocol.criteria
        for column in _with_derived(_of_criterion(criterion, read, ids, items, annotations), read, ids)
    ]
    return StudyRatings(study, protocol, criteria, names, items, annotations, np.isin(ids, added))


@dataclass(frozen=True)
class SharedItems:
    """How many items of a study's sample two or more people have labelled, and `most` of them, drawn by their ids.

    `drawn` is None where it would be all of them.
    """

    n: int
    drawn: list[int] | None


@operation(On.STUDY, READERS)
def shared_items(db: Database, _actor: Actor, study_id: int, *, most: int) -> SharedItems:
    """The items that agreement so far is measured on: all that are shared, or as many of them as `most` says.

    Which those are follows from their ids alone (a multiplicative hash), so that the same stay drawn as a study grows.
    """
    with db.read() as session:
        there = {"study": study_id}
        n = int(session.execute(_N_SHARED, there).scalar_one())
        if n <= most:
            return SharedItems(n, None)
        return SharedItems(n, sorted(session.execute(_SHARED, {**there, "most": most}).scalars()))


_OF_SHARED = (
    "FROM settlement s JOIN study_item x ON x.id = s.study_item_id "
    f"WHERE s.study_id = :study AND s.n_annotations > 1 AND x.purpose = '{Purpose.SAMPLE}'"
)
_N_SHARED = text(f"SELECT count(*) {_OF_SHARED}")
_SHARED = text(f"SELECT x.id {_OF_SHARED} ORDER BY x.id * 2654435761 % 4294967296, x.id LIMIT :most")


@operation(On.STUDY, READERS)
def set_aside_stamp(db: Database, _actor: Actor, study_id: int) -> tuple[int, int, int]:
    """Numbers that change when labels of a study stop counting, or count again, without a new one: a look-up each."""
    with db.read() as session:
        withdrawn = session.execute(pick(func.max(col(Withdrawal.id)))).scalar_one()
        omitted = pick(func.max(col(Omission.id))).where(col(Omission.study_id) == study_id)
        surplus = pick(func.max(col(Surplus.id))).where(col(Surplus.study_id) == study_id)
        return (withdrawn or 0, session.execute(omitted).scalar_one() or 0, session.execute(surplus).scalar_one() or 0)


@operation(On.STUDY, READERS)
def may_see_names(db: Database, actor: Actor, study_id: int) -> bool:
    """Whether the labels of this study come with the names of their annotators for this person."""
    with db.read() as session:
        return sees_names(session, actor, session.get_one(Study, study_id))


@operation(On.STUDY, READERS)
def ratings_stamp(db: Database, actor: Actor, study_id: int) -> tuple[int, ...]:
    """Numbers that change whenever what `ratings` gives does: newest annotation, withdrawal, decisions; names."""
    with db.read() as session:
        newest = pick(func.max(col(Annotation.id))).where(col(Annotation.study_id) == study_id).scalar_subquery()
        decided = pick(func.max(col(Adjudication.id))).where(col(Adjudication.study_id) == study_id).scalar_subquery()
        withdrawn = pick(func.max(col(Withdrawal.id))).scalar_subquery()
        left_out = pick(func.max(col(Omission.id))).where(col(Omission.study_id) == study_id).scalar_subquery()
        surplus = pick(func.max(col(Surplus.id))).where(col(Surplus.study_id) == study_id).scalar_subquery()
        found = session.execute(pick(newest, withdrawn, decided, left_out, surplus)).one()
        members = pick(Account.person_id, Account.name).join(
            StudyMember, col(StudyMember.person_id) == Account.person_id
        )
        named = members.where(col(StudyMember.study_id) == study_id).order_by(col(Account.person_id))
        names = zlib.crc32(repr([tuple(row) for row in session.execute(named)]).encode())
    return (*(number or 0 for number in found), names)


@operation(On.STUDY, READERS)
def alignment_stamp(db: Database, actor: Actor, study_id: int) -> tuple[int, ...]:
    """Numbers that change whenever labels, scores or items do: those of `ratings_stamp`, and of runs and imports."""
    with db.read() as session:
        project_id = session.get_one(Study, study_id).project_id
        found = session.execute(scores_stamp(project_id)).one()
    return (*ratings_stamp(db, actor, study_id), *(int(number or 0) for number in found))


def scores_stamp(project_id: int) -> Select[Any]:
    """Numbers that change with a project's scores and items, each found by one step down an index.

    A run scores items in the order of their versions, so its highest version grows with every block; one that is gone
    on with may fill in lower ones, and says so when it has finished. Items come by imports, which are not seen until
    they are published.
    """
    scored = pick(func.max(col(Score.item_version_id))).where(col(Score.run_id) == Run.id).scalar_subquery()
    is_end = (col(Event.thing) == "run") & (col(Event.thing_id) == Run.id) & (col(Event.kind) == "scoring finished")
    ended = pick(func.max(col(Event.id))).where(is_end).scalar_subquery()
    runs = (
        pick(col(Run.id).label("id"), scored.label("scored"), ended.label("ended"))
        .where(col(Run.project_id) == project_id)
        .subquery()
    )
    of_project = col(Batch.project_id) == project_id
    imported = pick(func.max(col(Batch.id))).where(of_project).scalar_subquery()
    unpublished = (
        pick(func.count())
        .select_from(UnpublishedBatch)
        .join(Batch, col(Batch.id) == col(UnpublishedBatch.batch_id))
        .where(of_project)
        .scalar_subquery()
    )
    revised = pick(func.max(col(Revision.id))).scalar_subquery()
    return pick(func.max(runs.c.id), func.sum(runs.c.scored), func.max(runs.c.ended), imported, unpublished, revised)


@operation(On.STUDY, READERS)
def decided_labels(db: Database, actor: Actor, study_id: int) -> dict[str, dict[str, Any]]:
    """Criterion → unit (named as in `CriterionRatings`) → what was decided last, and what is derived from it."""
    found: dict[str, dict[str, Any]] = {}
    with db.read() as session:
        for unit in decided_units(session, study_id):
            found.setdefault(unit.criterion, {})[unit_name(unit.study_item_id, unit.target)] = unit.value
    return found


def unit_name(study_item_id: int, target: str) -> str:
    """What a unit is called: its item in the study, and its target unless that is the item itself."""
    return str(study_item_id) if target == "item" else f"{study_item_id}|{target}"


def pair_name(first: str, other: str | None) -> str:
    """What a pair of two systems is called, and a system without a second one."""
    return f"{first} ⇄ {other}" if other else first


# Reading --------------------------------------------------------------------------------------------------------------


def _judges(session: Session, study: Study, names: Sequence[str]) -> list[int]:
    """The people of kind model behind these names, each of whom has labelled in the study."""
    labelled = (col(Annotation.study_id) == study.id) & (col(Annotation.kind) == AnnotationKind.MODEL)
    rows = session.execute(
        pick(Account.name, Account.person_id)
        .join(Annotation, col(Annotation.person_id) == Account.person_id)
        .where(labelled)
        .distinct()
    )
    known = {name: person_id for name, person_id in rows}  # noqa: C416 - rows are not plain tuples
    for name in names:
        if name not in known:
            there = ", ".join(repr(judge) for judge in sorted(known)) or "none yet: `assay judge` starts one"
            raise NotFound(f"No judge {name!r} has labelled in the study {study.name!r}. Judges there: {there}.")
    return [known[name] for name in names]


def n_imported(session: Session, study_id: int) -> int:
    """How many of the annotations that count were made elsewhere."""
    found: int = session.execute(
        pick(func.count(col(Annotation.id))).where(*counting_annotations(study_id, (AnnotationKind.IMPORTED,)))
    ).scalar_one()
    return found


def _of_sample(study: Study) -> list[ColumnElement[bool]]:
    """The condition on annotations that leaves out what was asked again of later versions, where something was."""
    if not has_rechecks(study):
        return []
    sampled = pick(StudyItem.id).where(col(StudyItem.study_id) == study.id, col(StudyItem.purpose) == Purpose.SAMPLE)
    return [col(Annotation.study_item_id).in_(sampled)]


def _items(
    session: Session, study_id: int, *, of_answers: bool, pairs: bool, among: Sequence[int] | None = None
) -> StudyItems:
    """The items; of pairs the first, under the names of both systems. A table of labels may lack the second."""
    wanted = [col(StudyItem.study_id) == study_id, col(StudyItem.purpose) == Purpose.SAMPLE]
    if among is not None:
        wanted.append(col(StudyItem.id).in_(among))

    def of_study(*columns: Any) -> Select[Any]:
        found = pick(*columns).select_from(StudyItem)
        found = found.join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        found = found.join(Item, col(Item.id) == ItemVersion.item_id)
        return found.where(*wanted)

    listed = [_listed(column) for column in (StudyItem.id, Item.id, Item.question_id)]
    groups = session.execute(
        of_study(ItemVersion.category, Item.system, *listed).group_by(ItemVersion.category, Item.system)
    ).all()
    columns = [np.concatenate([_whole(row[place]) for row in groups] or [_integers([])]) for place in (2, 3, 4)]
    group = np.repeat(np.arange(len(groups)), [row[2].count(",") + 1 for row in groups])
    order = np.argsort(columns[0])
    of = group[order].tolist()
    names = session.execute(of_study(Item.external_id).order_by(col(StudyItem.id))).scalars().all()
    systems = [groups[place][1] for place in of]
    if pairs:
        others = session.execute(
            pick(Item.system)
            .select_from(StudyItem)
            .outerjoin(ItemVersion, col(ItemVersion.id) == StudyItem.other_version_id)
            .outerjoin(Item, col(Item.id) == ItemVersion.item_id)
            .where(*wanted)
            .order_by(col(StudyItem.id))
        ).scalars()
        systems = [pair_name(first, other) for first, other in zip(systems, others, strict=True)]
    lengths: Sequence[int] = ()
    if of_answers:
        length = of_study(func.length(ItemVersion.answer)).order_by(col(StudyItem.id))
        lengths = session.execute(length).scalars().all()
    return StudyItems(
        study_item=columns[0][order],
        item=columns[1][order],
        external_id=list(names),
        question=columns[2][order],
        category=[groups[place][0] for place in of],
        system=systems,
        answer_length=_integers(list(lengths)),
    )


def _annotations(
    session: Session, items: StudyItems, counting: list[ColumnElement[bool]]
) -> tuple[IntArray, Annotations]:
    """The ids of the annotations that count, sorted, and their columns in that order."""
    moment = col(Annotation.created_at)
    on_sqlite = is_sqlite(session)
    when: Any = type_coerce(moment, String) if on_sqlite else cast(func.extract("epoch", moment), String)
    when = case((UNTIMED, "NaT" if on_sqlite else "nan"), else_=when)
    spent = func.coalesce(cast(col(Annotation.seconds), String), "nan")
    rows = session.execute(
        pick(
            Annotation.person_id, _listed(Annotation.id), _listed(Annotation.study_item_id), _listed(when),
            _listed(spent),
        )
        .outerjoin(Batch, col(Batch.id) == Annotation.batch_id)
        .where(*counting)
        .group_by(col(Annotation.person_id))
    ).all()  # fmt: skip
    nothing = _integers([])
    ids = np.concatenate([_whole(row[1]) for row in rows] or [nothing])
    order = np.argsort(ids)
    person = np.repeat(_integers([row[0] for row in rows]), [row[1].count(",") + 1 for row in rows])
    item = np.concatenate([_whole(row[2]) for row in rows] or [nothing])
    seconds = np.concatenate([np.fromstring(row[4], sep=",") for row in rows] or [nothing.astype(np.float64)])
    if on_sqlite:
        moments = [text for row in rows for text in row[3].split(",")]
        given = np.array(moments, dtype="datetime64[us]")
        time = np.where(np.isnat(given), np.nan, given.astype(np.int64) / 1e6)
    else:
        time = np.concatenate([np.fromstring(row[3], sep=",") for row in rows] or [nothing.astype(np.float64)])
    place = np.searchsorted(items.study_item, item[order])
    return ids[order], Annotations(place, person[order], time[order], seconds[order])


def added_assignments(session: Session, study: Study) -> IntArray:
    """The assignments (their ids) of the sample that a study asked for only because people disagreed: see `_added`."""
    assert study.id is not None
    counting = [*counting_annotations(study.id, COUNTING), *_of_sample(study)]
    added = _added(session, study, counting)
    found: list[int] = []
    for start in range(0, len(added), _AT_ONCE):
        chosen = col(Annotation.id).in_(added[start : start + _AT_ONCE].tolist())
        found += session.execute(pick(col(Annotation.assignment_id)).where(chosen)).scalars()
    return _integers(found)


def _added(session: Session, study: Study, counting: list[ColumnElement[bool]]) -> IntArray:
    """The annotations (their ids) of people beyond those that the study plans for their items, as they came.

    None in a study that asks no more people where they disagree. Who corrects what they said keeps their place.
    """
    if "most_overlap" not in study.settings:
        return _integers([])
    begun = aliased(Annotation)
    first = pick(func.min(begun.id)).where(col(begun.assignment_id) == Annotation.assignment_id).scalar_subquery()
    people = pick(Annotation.id, Annotation.study_item_id, first.label("first")).where(
        *counting, col(Annotation.kind) != AnnotationKind.MODEL
    )
    rows = session.execute(people.order_by(col(Annotation.study_item_id), "first")).all()
    items = sorted({item for _, item, _ in rows})
    plans: dict[int, int] = {}
    for start in range(0, len(items), _AT_ONCE):
        plans |= plans_for(session.connection(), study, items[start : start + _AT_ONCE])
    seen: Counter[int] = Counter()
    found = []
    for annotation, item, _ in rows:
        seen[item] += 1
        if seen[item] > plans[item]:
            found.append(annotation)
    return _integers(found)


@dataclass(frozen=True, eq=False)
class _SameValue:
    """The annotations (their ids) that gave one target of a criterion one value, written as JSON."""

    criterion: str
    target: str
    text: str | None
    cannot_judge: bool
    annotations: IntArray


def _labels(session: Session, counting: list[ColumnElement[bool]]) -> list[_SameValue]:
    """Every label, those that are alike together: a million rows become a few groups with a list of ids each."""
    text = type_coerce(cast(col(StoredLabel.value), String), String)
    about = (col(StoredLabel.criterion), col(StoredLabel.target), text, col(StoredLabel.cannot_judge))
    rows = session.execute(
        pick(*about, _listed(Annotation.id))
        .select_from(Annotation)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .where(*counting)
        .group_by(*about)
    )
    return [_SameValue(row[0], row[1], row[2], row[3], _whole(row[4])) for row in rows]


def _listed(column: Any) -> Any:
    """The values of a group of rows as a text with commas; several such columns of one query are in one order."""
    return func.aggregate_strings(cast(column, String), ",")


def _whole(text: str) -> IntArray:
    """The whole numbers of such a text."""
    return np.fromstring(text, dtype=np.int64, sep=",")


def _of_criterion(
    criterion: Criterion, read: list[_SameValue], ids: IntArray, items: StudyItems, annotations: Annotations
) -> CriterionRatings:
    """The labels of one criterion."""
    mine = [group for group in read if group.criterion == criterion.name]
    silent = {text for group in mine if criterion.says_nothing(orjson.loads(text := group.text or "null"))}
    given = [group for group in mine if not group.cannot_judge and (group.text or "null") not in silent]
    sizes = [len(group.annotations) for group in given]
    targets = sorted({group.target for group in given})
    texts = sorted({group.text or "null" for group in given})
    place = {target: number for number, target in enumerate(targets)}
    code = {text: number for number, text in enumerate(texts)}
    annotation = np.searchsorted(ids, np.concatenate([group.annotations for group in given] or [_integers([])]))
    target = np.repeat(_integers([place[group.target] for group in given]), sizes)
    value = np.repeat(_integers([code[group.text or "null"] for group in given]), sizes)
    people, rater = np.unique(annotations.person[annotation], return_inverse=True)
    cell = annotations.item[annotation] * max(1, len(targets)) + target
    order = np.lexsort((rater, cell))
    cell = cell[order]
    first = np.r_[True, cell[1:] != cell[:-1]] if len(cell) else np.empty(0, dtype=bool)
    item, of_unit = np.divmod(cell[first], max(1, len(targets)))
    return CriterionRatings(
        criterion=criterion,
        items=items,
        item=item,
        target=of_unit,
        targets=targets,
        people=people.tolist(),
        distinct=[orjson.loads(text) for text in texts],
        unit=np.cumsum(first) - 1,
        rater=rater[order],
        value=value[order],
        annotation=annotation[order],
        cannot_judge=sum(len(group.annotations) for group in mine if group.cannot_judge),
    )


def _with_derived(column: CriterionRatings, read: list[_SameValue], ids: IntArray) -> Iterator[CriterionRatings]:
    """A criterion's labels, and what is derived from them."""
    yield column
    if not column.criterion.derived:
        return
    given = _by_annotation(column)
    # What an item has to be judged on: all that somebody judged, or could not.
    targets: dict[int, set[str]] = defaultdict(set)
    for (item, _), labels in given.items():
        targets[item] |= labels.keys()
    item_of = {annotation: item for item, annotation in given}
    for group in read:
        if group.criterion == column.criterion.name and group.cannot_judge:
            for annotation in np.searchsorted(ids, group.annotations).tolist():
                if annotation in item_of:
                    targets[item_of[annotation]].add(group.target)
    for derived in column.criterion.derived:
        cells, cannot = [], 0
        for (item, annotation), labels in given.items():
            for target, value in derived.values(labels, targets[item] - labels.keys()).items():
                if value is None:
                    cannot += 1
                else:
                    cells.append((item, target, annotation, orjson.dumps(value)))
        yield _derived_column(column, derived.criterion(column.criterion), cells, cannot)


def _by_annotation(column: CriterionRatings) -> dict[tuple[int, int], dict[str, Any]]:
    """(place of the item, place of the annotation) → target → value."""
    found: dict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    item, target = column.item[column.unit].tolist(), column.target[column.unit].tolist()
    for place, of, annotation, value in zip(
        item, target, column.annotation.tolist(), column.value.tolist(), strict=True
    ):
        found[place, annotation][column.targets[of]] = column.distinct[value]
    return found


def _derived_column(
    source: CriterionRatings, criterion: Criterion, cells: list[tuple[int, str, int, bytes]], cannot_judge: int
) -> CriterionRatings:
    """The column of derived values: (place of the item, target, place of the annotation, value as JSON)."""
    rater_of = dict(zip(source.annotation.tolist(), source.rater.tolist(), strict=True))
    people = sorted({rater_of[annotation] for _, _, annotation, _ in cells})
    targets = sorted({target for _, target, _, _ in cells})
    texts = sorted({value for *_, value in cells})
    rater = {old: number for number, old in enumerate(people)}
    place = {target: number for number, target in enumerate(targets)}
    code = {text: number for number, text in enumerate(texts)}
    rows = sorted((i, place[target], rater[rater_of[a]], a, code[value]) for i, target, a, value in cells)
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    units, unit = np.unique(columns[0] * max(1, len(targets)) + columns[1], return_inverse=True)
    item, of_unit = np.divmod(units, max(1, len(targets)))
    return CriterionRatings(
        criterion=criterion,
        items=source.items,
        item=item,
        target=of_unit,
        targets=targets,
        people=[source.people[old] for old in people],
        distinct=[orjson.loads(text) for text in texts],
        unit=unit.astype(np.int64),
        rater=columns[2],
        value=columns[4],
        annotation=columns[3],
        cannot_judge=cannot_judge,
    )


def _integers(numbers: Iterable[Any]) -> IntArray:
    return np.array(numbers, dtype=np.int64)
