"""What a study's labels say of items as they are now: also those of earlier versions, where no revision made them fall.

Releases read it item by item (`db.releasing.releases`); here it is read by the versions that an export writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import case
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from annotators.protocols import Material
from db.annotating.presentations import Materials, load_materials, scores_of
from db.items.current import UNTIMED, counting_annotations
from db.items.rows import read_items
from db.models import Annotation, Batch, Item, ItemVersion, Run, Score, StoredLabel, Study, StudyItem, Submission
from db.query import in_clause, pick, plain_rows
from db.releasing.pairs import PairKey, PairStanding, pair_standings
from db.releasing.states import BLOCK, Standing, standings
from db.studies.design import protocol_of
from db.studies.selection import JudgedScores, latest_scores
from db.studies.settlements import COUNTING, OF_SAMPLE, SettledUnit, settled_units

Holding = Mapping[int, Collection[str] | None]
"""Place of an item in a study (its study item) → the criteria of which its labels hold now; None: all of them."""


class CountedLabel(NamedTuple):
    """A label that counts: at which place, of which item (its id in the project), by whom, for what, when.

    `time` is None where an import brought none, `other` the second item of a pair. `seconds` are those of the whole
    annotation, `rationale` the places that support the label.
    """

    study_item_id: int
    item: str
    person_id: int
    criterion: str
    target: str
    value: Any
    time: datetime | None
    comment: str | None
    other: str | None
    seconds: float | None
    rationale: list[dict[str, Any]] | None


def places_that_hold(session: Session, study: Study, versions: Sequence[int], *, pairs: bool = False) -> Holding:
    """Every place in a study of the items that have these latest versions, and what holds of its labels.

    Of `pairs`: of those whose first item has one of them. An item that was not revised since it was sampled has one
    place, of which all holds; what the others say is worked out.
    """
    assert study.id is not None
    among, values = in_clause(session, "l.id", versions)
    rows = plain_rows(
        session,
        f"SELECT x.id, v.item_id, w.item_id, {_later('v')} OR (w.id IS NOT NULL AND {_later('w')}) "
        "FROM item_version l JOIN item_version v ON v.item_id = l.item_id "
        "JOIN study_item x ON x.item_version_id = v.id LEFT JOIN item_version w ON w.id = x.other_version_id "
        f"WHERE {among} AND x.study_id = {int(study.id)} AND {OF_SAMPLE} "
        f"AND x.other_version_id IS {'NOT ' if pairs else ''}NULL ORDER BY x.position",
        values,
    )
    earlier = {(first, second) for _, first, second, was_revised in rows if was_revised}
    found = _standing(session, study, earlier, pairs=pairs)
    holding: dict[int, Collection[str] | None] = {}
    for place, first, second, _ in rows:
        item = found.get((first, second))
        holding[place] = None if item is None else _criteria(item, study.id, place)
    return holding


def revised_places(session: Session, study: Study) -> dict[int, Collection[str]]:
    """Every place in a study of an item, or a pair, that has a later version → the criteria whose labels there hold.

    Where no item was revised, or came again with other content, that is one lookup an item.
    """
    assert study.id is not None
    rows = plain_rows(
        session,
        "SELECT x.id, v.item_id, w.item_id FROM study_item x JOIN item_version v ON v.id = x.item_version_id "
        f"LEFT JOIN item_version w ON w.id = x.other_version_id WHERE x.study_id = {int(study.id)} AND {OF_SAMPLE} "
        f"AND ({_later('v', _PUBLISHED)} OR (w.id IS NOT NULL AND {_later('w', _PUBLISHED)})) ORDER BY x.id",
    )
    keys = sorted({(first, second) for _, first, second in rows})
    pairs, found = protocol_of(study).about_pairs, dict[tuple[int, int | None], Standing | PairStanding]()
    for start in range(0, len(keys), BLOCK):
        found |= _standing(session, study, keys[start : start + BLOCK], pairs=pairs)
    return {place: _criteria(found[first, second], study.id, place) for place, first, second in rows}


def labelled_earlier(session: Session, study_ids: Sequence[int]) -> set[int]:
    """The items (their ids) with annotations in these studies that were given for an earlier version than there is."""
    found = set[int]()
    for study_id in study_ids:
        rows = plain_rows(
            session,
            "SELECT v.item_id, w.item_id FROM study_item x JOIN item_version v ON v.id = x.item_version_id "
            f"LEFT JOIN item_version w ON w.id = x.other_version_id WHERE x.study_id = {int(study_id)} AND {OF_SAMPLE} "
            "AND EXISTS (SELECT 1 FROM annotation a WHERE a.study_item_id = x.id) "
            f"AND ({_later('v', _PUBLISHED)} OR (w.id IS NOT NULL AND {_later('w', _PUBLISHED)}))",
        )
        found |= {first for first, _ in rows}
    return found


def units_that_fell(session: Session, study: Study) -> Callable[[SettledUnit], bool] | None:
    """Whether a unit says nothing of the latest version of its item; None where no item has a later version.

    What is derived from a criterion falls with that.
    """
    revised = revised_places(session, study)
    if not revised:
        return None
    holds = _holding(study)
    return lambda unit: unit.study_item_id in revised and not holds(revised, unit)


_PUBLISHED = "(n.batch_id IS NULL OR n.batch_id NOT IN (SELECT batch_id FROM unpublished_batch))"


def _later(version: str, such: str = "1 = 1") -> str:
    """The condition that an item has a later version, `n`, than this one, and such a one."""
    later = f"n.item_id = {version}.item_id AND n.number > {version}.number"
    return f"EXISTS (SELECT 1 FROM item_version n WHERE {later} AND {such})"


def _standing(
    session: Session, study: Study, keys: Collection[tuple[int, int | None]], *, pairs: bool
) -> dict[tuple[int, int | None], Standing | PairStanding]:
    """Where these items, or pairs, stand in the study."""
    assert study.id is not None
    if not keys:
        return {}
    if pairs:
        of_pairs: list[PairKey] = sorted((first, second) for first, second in keys if second is not None)
        return dict(pair_standings(session, study, of_pairs).items())
    items = standings(session, sorted(first for first, _ in keys), study_id=study.id)
    return {(item_id, None): item for item_id, item in items.items()}


def _criteria(item: Standing | PairStanding, study_id: int, study_item_id: int) -> Collection[str]:
    """The criteria whose labels at a place hold: it is the last one that asked them, and nothing made them fall."""
    there = item.studies[study_id]
    return {criterion for criterion in there.last if there.holds(criterion, study_item_id)}


def _holds(holding: Holding, study_item_id: int, criterion: str) -> bool:
    criteria = holding[study_item_id]
    return criteria is None or criterion in criteria


def scores_that_hold(
    session: Session, study: Study, versions: Sequence[int], holding: Holding
) -> dict[int, list[dict[str, Any]]]:
    """Version → the scores of the item that the study's annotators are shown, as the browser gets them.

    They are those of the last place at which a label about a score holds. Where none does they are those that the
    version would have if it came to the study now. Nothing of a study that shows no scores.
    """
    protocol = protocol_of(study)
    if protocol.first_step_showing(Material.SCORES) is None or protocol.about_pairs:
        return {}
    about = {criterion.name for criterion in protocol.criteria if protocol.scores_judged_by(criterion)}
    items = dict(
        session.execute(pick(ItemVersion.item_id, ItemVersion.id).where(col(ItemVersion.id).in_(versions))).all()
    )
    places = (
        pick(StudyItem.id, ItemVersion.item_id)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .where(col(StudyItem.id).in_(holding.keys()))
        .order_by(col(StudyItem.id))
    )
    last = {}
    for place, item_id in session.execute(places).all():
        criteria = holding[place]
        if criteria is None or about & set(criteria):
            last[items[item_id]] = place
    frozen = load_materials(session, list(last.values()), {Material.SCORES})
    found = {version: scores_of(study, frozen[place]) for version, place in last.items()}
    return found | _scores_now(session, study, [version for version in versions if version not in found])


def _scores_now(session: Session, study: Study, versions: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Version → the scores that annotators are shown of it where it comes to the study now."""
    if not versions:
        return {}
    which = latest_scores(JudgedScores(study.project_id, tuple(study.show_scores), {}))
    query = (
        select(Score, Run)
        .join(Run, col(Run.id) == Score.run_id)
        .where(col(Score.item_version_id).in_(versions), col(Score.id).in_(which))
        .order_by(col(Run.name), col(Score.name))
    )
    scores: dict[int, list[tuple[Score, Run]]] = defaultdict(list)
    for score, run in session.execute(query):
        scores[score.item_version_id].append((score, run))
    items = read_items(session, versions, ())
    return {
        version: scores_of(study, Materials(0, items[version].content, (), scores.get(version, ())))
        for version in versions
    }


def labels_that_hold(session: Session, study: Study, holding: Holding) -> tuple[list[CountedLabel], dict[str, int]]:
    """The labels that count at these places and hold; and item → how many of its labels do not.

    In the order of the study's items, then in that in which they were given. Those that say that it cannot be judged
    are left out of both.
    """
    said, fell = list[CountedLabel](), defaultdict[str, int](int)
    for label in _given(session, study, list(holding)):
        if _holds(holding, label.study_item_id, label.criterion):
            said.append(label)
        else:
            fell[label.item] += 1
    return said, fell


def _given(session: Session, study: Study, study_item_ids: Sequence[int]) -> Iterator[CountedLabel]:
    assert study.id is not None
    second, of_second = aliased(ItemVersion), aliased(Item)
    rows = session.execute(
        pick(
            StudyItem.id, Item.external_id, Annotation.person_id, StoredLabel.criterion, StoredLabel.target,
            StoredLabel.value, case((UNTIMED, None), else_=col(Submission.created_at)), StoredLabel.comment,
            of_second.external_id, Annotation.seconds, StoredLabel.rationale,
        )
        .select_from(Annotation)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .join(Submission, col(Submission.id) == StoredLabel.submission_id)
        .outerjoin(Batch, col(Batch.id) == Annotation.batch_id)
        .join(StudyItem, col(StudyItem.id) == Annotation.study_item_id)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .outerjoin(second, col(second.id) == StudyItem.other_version_id)
        .outerjoin(of_second, col(of_second.id) == second.item_id)
        .where(*counting_annotations(study.id, COUNTING))
        .where(col(StudyItem.id).in_(study_item_ids))
        .where(col(StoredLabel.cannot_judge).is_(False))
        .order_by(col(StudyItem.position), col(StoredLabel.id))
    )  # fmt: skip
    return (CountedLabel(*row) for row in rows)


def units_that_hold(session: Session, study: Study, holding: Holding) -> Iterator[SettledUnit]:
    """The units at these places that hold, open ones too; what is derived from a criterion holds where that does."""
    assert study.id is not None
    holds = _holding(study)
    return (unit for unit in settled_units(session, study.id, list(holding)) if holds(holding, unit))


def _holding(study: Study) -> Callable[[Holding, SettledUnit], bool]:
    """Whether a unit holds at its place."""
    sources = {unit.criterion.name: unit.source.name for unit in protocol_of(study).derived_criteria()}
    return lambda holding, unit: _holds(holding, unit.study_item_id, sources.get(unit.criterion, unit.criterion))


def final_units(
    session: Session, study: Study, versions: Sequence[int], *, pairs: bool = False
) -> tuple[list[SettledUnit], list[SettledUnit]]:
    """What is settled in a study of the items, or `pairs`, that have these latest versions; and what of it fell.

    Of pairs that is those whose first item has one of them.
    """
    found, fell = list[SettledUnit](), list[SettledUnit]()
    holding, holds = places_that_hold(session, study, versions, pairs=pairs), _holding(study)
    for unit in settled_units(session, study.id or 0, list(holding)):
        if unit.state == "open":
            continue
        (found if holds(holding, unit) else fell).append(unit)
    return found, fell


def asked_of(session: Session, studies: Iterable[Study], versions: Sequence[int]) -> dict[str, set[str]]:
    """External id → what these studies ask of the items (not pairs) that have these versions, answered or not.

    Criteria and what is derived from them, by name; of items that are in the sample of one of the studies.
    """
    among, values = in_clause(session, "l.id", versions)
    found = defaultdict[str, set[str]](set)
    for study in studies:
        assert study.id is not None
        rows = plain_rows(
            session,
            "SELECT DISTINCT i.external_id FROM item_version l JOIN item i ON i.id = l.item_id "
            "JOIN item_version v ON v.item_id = l.item_id JOIN study_item x ON x.item_version_id = v.id "
            f"WHERE {among} AND x.study_id = {int(study.id)} AND {OF_SAMPLE} AND x.other_version_id IS NULL",
            values,
        )
        criteria = set(protocol_of(study).criteria_by_name())
        for (external_id,) in rows:
            found[external_id] |= criteria
    return dict(found)
