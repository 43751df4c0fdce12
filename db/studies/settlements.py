"""What is stored of the items of a study, and the final labels that follow from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, Select, bindparam, func
from sqlalchemy import select as sql_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.asking.rounds import BLIND, DOUBLE, Stage, Unit, alike
from annotators.asking.settling import (
    Contested,
    FinalLabels,
    ItemLabels,
    Known,
    Wanted,
    has_its_annotations,
    reached,
    settle_derived,
    settle_item,
)
from annotators.errors import NotAllowed
from annotators.items.pairs import pair_name
from annotators.items.sampling import falls_among, fraction
from annotators.protocols import Protocol
from db.items.current import is_set_aside, withdrawn_batches
from db.models import (
    BARRED,
    AdjudicatedLabel,
    Adjudication,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    Purpose,
    Settlement,
    SettlementState,
    StoredLabel,
    Study,
    StudyItem,
    StudyMember,
    StudyState,
)
from db.permissions import Actor
from db.query import driver_rows, in_clause, mark, pick, plain_rows, table_of
from db.studies.asked import units_needed
from db.studies.design import has_rechecks

COUNTING = (AnnotationKind.REGULAR, AnnotationKind.IMPORTED)
"""The kinds of annotation that count in settling and, by default, in statistics."""

REVIEW = "review"
"""What agreed items that adjudicators look at are drawn for."""

_AT_ONCE = 500
_REMEMBERED = 10_000


_MORE = pick(Settlement.study_item_id, Settlement.wanted).where(
    col(Settlement.study_item_id).in_(bindparam("ids", expanding=True)), col(Settlement.wanted).is_not(None)
)


def asked_for(connection: Connection, study_item_ids: Sequence[int]) -> dict[int, int]:
    """Study item → how many annotations it wants because its annotators disagreed, where more were asked for."""
    return dict(tuple(row) for row in connection.execute(_MORE, {"ids": list(study_item_ids)}))


class Stored(NamedTuple):
    """What is stored of some items of a study: labels, what was decided, and of what stands decided the values."""

    labels: dict[int, ItemLabels]
    decided: dict[int, Decisions]
    values: dict[int, dict[Unit, Any]]


class SettledUnit(NamedTuple):
    """One criterion and target of an item with its final label, or open."""

    study_item_id: int
    external_id: str
    item_version: int
    question_key: str
    system: str
    criterion: str
    target: str
    state: str
    value: Any
    votes: dict[str, int]
    n: int
    reason: str | None = None
    adjudicator_person_id: int | None = None
    pair: tuple[str, str, int, bool] | None = None
    """Of a pair: the second item, its system, the number of its version, and whether it stood left."""


def _current() -> Select[Any]:
    """A plain query, on tables rather than classes: every submission runs it, and exports read a million rows."""
    given, label, newer = table_of(Annotation).c, table_of(StoredLabel).c, table_of(Annotation).alias()
    same = (label.assignment_id == given.assignment_id) & (label.sitting == given.sitting)
    return (
        sql_select(
            *(given.study_item_id, given.id, given.kind),
            *(label.criterion, label.target, label.value, label.cannot_judge),
        )
        .select_from(table_of(Annotation).outerjoin(table_of(StoredLabel), same))
        .where(
            given.study_id == bindparam("study"),
            given.study_item_id.in_(bindparam("ids", expanding=True)),
            given.kind.in_(COUNTING),
            given.batch_id.is_(None) | given.batch_id.not_in(withdrawn_batches()),
            ~sql_select(newer.c.id).where(newer.c.supersedes_id == given.id).exists(),
            ~is_set_aside(given.id),
        )
        .order_by(label.id)
    )


_CURRENT = _current()
FROM_STUDY_ITEMS = """
FROM study_item x
JOIN item_version v ON v.id = x.item_version_id
JOIN item i ON i.id = v.item_id
JOIN question q ON q.id = i.question_id
LEFT JOIN item_version w ON w.id = x.other_version_id
LEFT JOIN item o ON o.id = w.item_id
"""
"""Study items `x` with their version `v`, item `i` and question `q`; of pairs the second version `w` and item `o`."""

_SAMPLED = f"""
SELECT x.id, i.external_id, v.number, q.key, i.system, o.external_id, o.system, w.number, x.other_left
{FROM_STUDY_ITEMS}WHERE x.study_id = {{mark}} AND """

OF_SAMPLE = f"x.purpose IN ('{Purpose.SAMPLE}', '{Purpose.RECHECK}')"
"""The condition on study items `x` that leaves gold items and the like out of tables of labels."""


def current_labels(
    connection: Connection, study_id: int, study_item_ids: Sequence[int], *, apart: Collection[str] = ()
) -> dict[int, ItemLabels]:
    """The labels of annotations that count and that none supersedes, for some items of a study.

    `apart` names criteria whose labels are wanted annotation by annotation, too.
    """
    found: dict[int, ItemLabels] = defaultdict(ItemLabels)
    seen: set[int] = set()
    as_text = connection.dialect.name == "sqlite"
    rows = driver_rows(connection.execute(_CURRENT, {"study": study_id, "ids": list(study_item_ids)}))
    for study_item_id, annotation_id, kind, criterion, target, value, cannot_judge in rows:
        labels = found[study_item_id]
        if annotation_id not in seen:
            seen.add(annotation_id)
            labels.n_annotations += 1
            labels.n_whole += kind == AnnotationKind.REGULAR
        if cannot_judge:
            labels.cannot[criterion, target] += 1
        elif criterion is not None:
            given = parsed_value(value) if as_text and isinstance(value, str) else value
            labels.values[criterion, target].append(given)
            if criterion in apart:
                labels.apart.setdefault(criterion, {}).setdefault(annotation_id, {})[target] = given
    return found


def labels_and_decisions(
    connection: Connection,
    study: Study,
    protocol: Protocol,
    study_item_ids: Sequence[int],
    *,
    apart: Collection[str] = (),
    to_decide: bool = False,
) -> Stored:
    """What is stored of some items of a study: their labels, as `current_labels` has them, and what was decided.

    The labels name the units that need one (`ItemLabels.asked`) where the annotations do not tell: what was labelled
    elsewhere may be a part of what the protocol asks, and a decision may stand without labels, or open a question that
    nobody was asked. `to_decide`: of all these items, as somebody is about to decide them.
    """
    assert study.id is not None
    labels = current_labels(connection, study.id, study_item_ids, apart=apart)
    decided = adjudicated_labels(connection, study_item_ids)
    labels = with_units_asked(connection, study, protocol, labels, decided, to_decide=to_decide)
    return Stored(labels, decided, values_decided(connection, study, decided, study_item_ids))


def with_units_asked(
    connection: Connection,
    study: Study,
    protocol: Protocol,
    labels: dict[int, ItemLabels],
    decided: Mapping[int, Decisions],
    *,
    to_decide: bool = False,
) -> dict[int, ItemLabels]:
    """These labels, with the units that need one where that is not plain from them; see `labels_and_decisions`."""
    conditions = any(criterion.when for criterion in protocol.criteria)
    unsure = [of for of, mine in labels.items() if to_decide or not mine.n_whole]
    unsure += [of for of in decided if of not in labels or (conditions and of not in unsure)]
    needed = units_needed(connection, study, protocol, unsure) if unsure else {}
    for of in {*needed, *decided}:
        labels[of].asked = (*needed.get(of, ()), *decided.get(of, ()))
    return labels


def plans_for(connection: Connection, study: Study, study_item_ids: Sequence[int]) -> dict[int, int]:
    """Study item → how many annotations the study plans for it at least: parts and rechecks may have their own overlap.

    Of one that came back in a later version it plans as many as it was given at most: it is given to nobody any more.
    """
    plans = dict.fromkeys(study_item_ids, study.overlap)
    item = table_of(StudyItem).c
    if "part_overlap" in study.settings or has_rechecks(study):
        query = sql_select(item.id, item.overlap, item.purpose).where(item.id.in_(study_item_ids))
        plans = {
            study_item_id: own if own and purpose == Purpose.RECHECK else max(study.overlap, own or 0)
            for study_item_id, own, purpose in connection.execute(query)
        }
    if has_rechecks(study):
        gone = sql_select(item.earlier_id).where(item.earlier_id.in_(study_item_ids))
        given = dict.fromkeys(connection.execute(gone).scalars(), 0)
        if given:
            given |= {of: n for of, n in connection.execute(_GIVEN, {"ids": list(given)})}  # noqa: C416
        plans |= {of: min(plans[of], n) for of, n in given.items()}
    return plans


def _given() -> Select[Any]:
    """How many annotations items were ever given, whether or not they are left out or withdrawn now."""
    given, newer = table_of(Annotation).c, table_of(Annotation).alias()
    return (
        sql_select(given.study_item_id, func.count())
        .where(
            given.study_item_id.in_(bindparam("ids", expanding=True)),
            given.kind.in_(COUNTING),
            ~sql_select(newer.c.id).where(newer.c.supersedes_id == given.id).exists(),
        )
        .group_by(given.study_item_id)
    )


_GIVEN = _given()


def looked_at_again(connection: Connection, study: Study, study_item_ids: Sequence[int]) -> dict[int, float]:
    """The items of these that adjudicators look at even if annotators agree, and where they stand among the disputed.

    Which those are, and their places (0..1), follow from the study's seed and the item's id.
    """
    share = float(study.settings.get("review_agreed", 0))
    found: dict[int, float] = {}
    for start in range(0, len(study_item_ids) if share else 0, _AT_ONCE):
        ids = ", ".join(str(int(identifier)) for identifier in study_item_ids[start : start + _AT_ONCE])
        query = f"{_SAMPLED}x.id IN ({ids})".format(mark=mark(connection)).replace(
            f"x.study_id = {mark(connection)}", f"x.study_id = {int(study.id or 0)}"
        )
        for study_item_id, item, _, _, _, other, *_ in driver_rows(connection.exec_driver_sql(query)):
            name = pair_name(item, other)
            if falls_among(name, share, REVIEW, study.seed):
                found[study_item_id] = fraction(name, "place of a review", study.seed)
    return found


def parsed_value(text: str) -> Any:
    """A value of its JSON text. Words are remembered, lists are not: somebody might change one."""
    return _word(text) if text.startswith('"') else orjson.loads(text)


@lru_cache(_REMEMBERED)
def _word(text: str) -> Any:
    return orjson.loads(text)


def stream_settled(
    session: Session, study_id: int, *, by_votes: bool = False, rechecks: bool = False
) -> Iterator[SettledUnit]:
    """Every unit of every annotated item of the study with its final label, in the order of the sample.

    `rechecks`: behind them also what was asked again of later versions, by their `item_version`. `by_votes`: what the
    votes settle so far, adjudicated or not, whether or not an item has all its annotations. Derived units
    (annotators/criteria/derived) stand behind the others of their item.

    An item that lacks annotations, or whose votes settle nothing, gives units in state `open` with value None. Memory
    is constant: items are read a few hundred at a time.
    """
    study = session.get_one(Study, study_id)
    protocol = Protocol.model_validate(study.protocol)
    known: Known = {}
    for block in sample_blocks(session, study, rechecks=rechecks):
        yield from _settled_block(session, study, protocol, block, known, by_votes=by_votes)


def sample_blocks(session: Session, study: Study, *, rechecks: bool = False) -> Iterator[list[tuple[Any, ...]]]:
    """The study's items in the order of the sample, a few hundred at a time; `rechecks`: those behind it as well.

    A row has the id of the study's item, the item's own, the number of its version, its question and its system; then
    of a pair the other item, its system, the number of its version, and whether it stood left.
    """
    among = OF_SAMPLE if rechecks else f"x.purpose = '{Purpose.SAMPLE}'"
    query = f"{_SAMPLED}x.position >= {{mark}} AND x.position < {{mark}} AND {among} ORDER BY x.position"
    query = query.format(mark=mark(session.connection()))
    for start in range(0, end_of_items(session, study) if rechecks else study.n_items, _AT_ONCE):
        yield plain_rows(session, query, (study.id, start, start + _AT_ONCE))


def end_of_items(session: Session, study: Study) -> int:
    """The position behind the last item of a study, with those that came back to it in a later version."""
    if not has_rechecks(study):
        return study.n_items
    last = pick(func.max(col(StudyItem.position))).where(col(StudyItem.study_id) == study.id)
    return int(session.execute(last).scalar_one()) + 1


def settled_units(
    session: Session, study_id: int, study_item_ids: Sequence[int], known: Known | None = None
) -> Iterator[SettledUnit]:
    """The units of some items of the study, as `stream_settled` gives them; nothing else of the study is read."""
    study = session.get_one(Study, study_id)
    protocol, known = Protocol.model_validate(study.protocol), {} if known is None else known
    among, values = in_clause(session, "x.id", study_item_ids)
    query = _SAMPLED.format(mark=mark(session.connection())) + f"{among} ORDER BY x.position"
    rows = plain_rows(session, query, (study_id, *values))
    for start in range(0, len(rows), _AT_ONCE):
        block = rows[start : start + _AT_ONCE]
        yield from _settled_block(session, study, protocol, block, known, by_votes=False)


def decided_units(session: Session, study_id: int) -> Iterator[SettledUnit]:
    """Every unit of the study whose final label an adjudicator decided, or which is derived from one that was."""
    study = session.get_one(Study, study_id)
    protocol, known = Protocol.model_validate(study.protocol), Known()
    place = mark(session.connection())
    among = f"x.id IN (SELECT a.study_item_id FROM adjudication a WHERE a.study_id = {place}) "
    among += f"AND x.purpose = '{Purpose.SAMPLE}' ORDER BY x.position"
    rows = plain_rows(session, _SAMPLED.format(mark=place) + among, (study_id, study_id))
    for start in range(0, len(rows), _AT_ONCE):
        block = rows[start : start + _AT_ONCE]
        for unit in _settled_block(session, study, protocol, block, known, by_votes=False):
            if unit.state == "adjudicated":
                yield unit


def _settled_block(
    session: Session, study: Study, protocol: Protocol, rows: Sequence[tuple[Any, ...]], known: Known, *, by_votes: bool
) -> Iterator[SettledUnit]:
    ids = [row[0] for row in rows]
    derived = protocol.derived_criteria()
    apart = {unit.source.name for unit in derived}
    connection = session.connection()
    labels, adjudicated, values_by_item = labels_and_decisions(connection, study, protocol, ids, apart=apart)
    plans = plans_for(connection, study, ids)
    more = asked_for(connection, ids) if "most_overlap" in study.settings else {}
    for study_item_id, external_id, number, question_key, system, *other in rows:
        mine, decided = labels[study_item_id], {} if by_votes else adjudicated.get(study_item_id, {})
        if not mine.n_annotations and not decided:
            continue
        pair = None if other[0] is None else (other[0], other[1], other[2], bool(other[3]))
        final: dict[str, FinalLabels] = defaultdict(dict)
        units = list(settle_item(protocol, mine, study.rule, known))
        values = {} if by_votes else values_by_item.get(study_item_id, {})
        wanted = Wanted(plans[study_item_id], more.get(study_item_id, 0))
        complete = by_votes or has_its_annotations(protocol, units, values, mine.n_annotations, wanted)
        stands = reached(protocol, units, values, complete=complete)
        for criterion, target, settled in units:
            if (criterion, target) not in stands:
                continue
            state, value = stands[criterion, target]
            decision = decided.get((criterion, target))
            if not settled.votes and not decision and (criterion, target) not in mine.cannot:
                continue  # nobody has said anything of it
            if criterion in apart:
                final[criterion][target] = state, value
            yield SettledUnit(
                study_item_id,
                external_id,
                number,
                question_key,
                system,
                criterion,
                target,
                state,
                value,
                settled.votes,
                sum(settled.votes.values()),
                decision.reason if decision else None,
                decision.person_id if decision else None,
                pair,
            )
        about = (study_item_id, external_id, number, question_key, system)
        for unit in derived:
            votes = mine.apart.get(unit.source.name, {}).values()
            for target, state, value, settled in settle_derived(
                unit, final[unit.source.name], votes, mine.n_annotations, study.rule if complete else None
            ):
                n = sum(settled.votes.values())
                yield SettledUnit(*about, unit.criterion.name, target, state, value, settled.votes, n, pair=pair)


@dataclass(frozen=True)
class DecidedUnit:
    """What an adjudicator decided for one unit."""

    value: Any
    reason: str | None
    person_id: int
    overrules: bool


Decisions = dict[Unit, DecidedUnit]
"""Criterion and target → what stands decided of it."""


def values_decided(
    connection: Connection, study: Study, decided: Mapping[int, Decisions], study_item_ids: Sequence[int]
) -> dict[int, dict[Unit, Any]]:
    """Study item → unit → the value that was decided, or `Contested` where two adjudicators left it open."""
    found: dict[int, dict[Unit, Any]] = defaultdict(dict)
    if study.settings.get("adjudication") == DOUBLE and study_item_ids:
        found |= contested_units(connection, study_item_ids)
    for of, decisions in decided.items():
        found[of] = {**found[of], **{unit: decision.value for unit, decision in decisions.items()}}
    return found


def adjudicated_labels(session: Session | Connection, study_item_ids: Iterable[int]) -> dict[int, Decisions]:
    """Study item → unit → the decision that stands: of the last final round, else what two blind ones decide alike."""
    given, label = Adjudication, AdjudicatedLabel
    rows = session.execute(
        pick(
            given.study_item_id, given.stage, given.round, label.criterion, label.target, label.value, label.reason,
            given.reason, given.person_id, label.overrules,
        )
        .join(label, col(label.adjudication_id) == given.id)
        .where(col(given.study_item_id).in_(list(study_item_ids)))
        .order_by(col(given.round))
    )  # fmt: skip
    decided: dict[int, dict[str, dict[tuple[str, str], DecidedUnit]]] = defaultdict(lambda: defaultdict(dict))
    last: dict[tuple[int, str], int] = {}
    for item, stage, number, criterion, target, value, reason, of_all, person_id, overrules in rows:
        if stage != Stage.FINAL and last.setdefault((item, stage), number) != number:
            decided[item][stage].clear()  # who decides a blind round anew leaves nothing of the earlier one
            last[item, stage] = number
        decided[item][stage][criterion, target] = DecidedUnit(value, reason or of_all, person_id, overrules)
    found = {}
    for item, stages in decided.items():
        first, second = (stages.get(stage, {}) for stage in BLIND)
        both = alike(*({unit: each.value for unit, each in blind.items()} for blind in (first, second)))
        stands = {unit: replace(second[unit], reason=_both(first[unit], second[unit])) for unit in both}
        if stands | stages.get(Stage.FINAL, {}):
            found[item] = stands | stages.get(Stage.FINAL, {})
    return found


def contested_units(session: Session | Connection, study_item_ids: Iterable[int]) -> dict[int, dict[Unit, Contested]]:
    """Study item → the units that two blind rounds, both of which are there, do not decide alike."""
    given, label = Adjudication, AdjudicatedLabel
    rows = session.execute(
        pick(given.study_item_id, given.stage, given.round, label.criterion, label.target, label.value)
        .outerjoin(label, col(label.adjudication_id) == given.id)
        .where(col(given.study_item_id).in_(list(study_item_ids)), col(given.stage).in_(BLIND))
        .order_by(col(given.round))
    )
    last: dict[int, dict[str, tuple[int, dict[Unit, Any]]]] = defaultdict(dict)
    for item, stage, number, criterion, target, value in rows:
        if stage not in last[item] or last[item][stage][0] != number:
            last[item][stage] = (number, {})
        if criterion is not None:
            last[item][stage][1][criterion, target] = value
    found = {}
    for item, stages in last.items():
        if len(stages) == len(BLIND):
            first, second = (stages[stage][1] for stage in BLIND)
            differ = {*first, *second} - set(alike(first, second))
            found[item] = {
                unit: Contested(*(((said[unit],) if unit in said else ()) for said in (first, second)))
                for unit in differ
            }
    return found


def _both(first: DecidedUnit, second: DecidedUnit) -> str | None:
    """The reasons of two who decided alike."""
    return "; ".join(dict.fromkeys(filter(None, (first.reason, second.reason)))) or None


def is_disclosed(person_id: int | None) -> ColumnElement[bool]:
    """The condition on `Adjudication` that this person may know it: one's own, and of two blind ones both when done."""
    other = aliased(Adjudication)
    same = (col(other.study_item_id) == col(Adjudication.study_item_id)) & col(other.stage).in_(BLIND)
    done = pick(func.count(func.distinct(other.stage))).where(same).scalar_subquery()
    return (col(Adjudication.stage) == Stage.FINAL) | (col(Adjudication.person_id) == person_id) | (done == len(BLIND))


def check_has_judged(session: Session, study: Study, study_item_id: int, actor: Actor) -> None:
    """Raise NotAllowed for somebody who may still be asked to judge the item, and must not see what others said."""
    if _has_yet_to_judge(session, study, study_item_id, actor.person_id):
        raise NotAllowed("You may still be asked to judge this item yourself. Annotate it first, then look at it here.")


def _has_yet_to_judge(session: Session, study: Study, study_item_id: int, person_id: int) -> bool:
    """Whether the person annotates in the study and has the item before them, or it is still to be given out.

    Somebody who has left the study gets nothing any more, and nobody gets anything of one that is closed.
    """
    member = session.get(StudyMember, (study.id, person_id))
    if member is None or member.left_at is not None or study.state == StudyState.CLOSED:
        return False
    query = pick(Assignment.state).where(
        col(Assignment.study_item_id) == study_item_id, col(Assignment.person_id) == person_id
    )
    own = session.execute(query).scalars().all()
    if {AssignmentState.SUBMITTED, AssignmentState.SURPLUS, AssignmentState.LEFT_OUT, BARRED} & set(own):
        return False
    if AssignmentState.LEASED in own or AssignmentState.RETURNED in own:
        return True
    settlement = session.get(Settlement, study_item_id)
    return settlement is None or settlement.state == SettlementState.PENDING
