"""Where each item of a study stands: derived from its annotations, and kept for the queues that pages read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, Select, bindparam, func
from sqlalchemy import select as sql_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.asking.rounds import BLIND, Stage, alike
from annotators.asking.settling import FinalLabels, Outcome, Settled, settle, settle_derived
from annotators.asking.submissions import GivenLabel, is_asked
from annotators.criteria import Criterion
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
from db.studies.design import has_rechecks
from db.studies.tallies import Tallies

COUNTING = (AnnotationKind.REGULAR, AnnotationKind.IMPORTED)
"""The kinds of annotation that count in settling and, by default, in statistics."""

REVIEW = "review"
"""What agreed items that adjudicators look at are drawn for."""

_AT_ONCE = 500
_REMEMBERED = 10_000

# Two annotations of one item that are completed at once take turns here, as the row is written even where it is there.
_LOCK = (
    "INSERT INTO settlement (study_item_id, study_id, state, n_annotations, n_disputed, dispute) "
    "VALUES ({mark}, {mark}, 'pending', 0, 0, 0) ON CONFLICT (study_item_id) DO UPDATE SET study_id = excluded.study_id"
)

# Where an item stands by its votes: what was adjudicated stays so (but see `_reopen`), and what an annotator has been
# asked to judge again is about to change, and stands only until then.
_SETTLE = """
UPDATE settlement SET
  n_annotations = {mark},
  n_disputed = CASE WHEN settlement.state = 'adjudicated' THEN settlement.n_disputed ELSE {mark} END,
  dispute = CASE WHEN settlement.state = 'adjudicated' THEN settlement.dispute ELSE {mark} END,
  failing = NULL,
  state = CASE
    WHEN settlement.state = 'adjudicated' THEN settlement.state
    WHEN EXISTS (SELECT 1 FROM assignment a WHERE a.study_item_id = settlement.study_item_id AND a.state = 'returned')
      THEN 'pending'
    ELSE {mark} END
WHERE study_item_id = {mark}
"""
_REOPEN = """
UPDATE settlement SET state = 'pending', stage = CASE stage WHEN 'second' THEN 'final' ELSE stage END
WHERE study_item_id = {mark}
"""
_ADJUDICATED = pick(Settlement.study_item_id).where(
    col(Settlement.study_item_id).in_(bindparam("ids", expanding=True)),
    col(Settlement.state) == SettlementState.ADJUDICATED,
)
_LABELLED_BESIDES = (
    "SELECT DISTINCT study_item_id FROM annotation WHERE study_id = {mark} AND (batch_id IS NULL OR batch_id <> {mark})"
)


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


@dataclass
class ItemLabels:
    """The current counting labels of one study item: criterion and target → values and how many could not judge.

    `apart` has the labels of the criteria that were asked for so: criterion → annotation → target → value.
    """

    n_annotations: int = 0
    values: dict[tuple[str, str], list[Any]] = field(default_factory=lambda: defaultdict(list))
    cannot: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    apart: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)


def _current() -> Select[Any]:
    """A plain query, on tables rather than classes: every submission runs it, and exports read a million rows."""
    given, label, newer = table_of(Annotation).c, table_of(StoredLabel).c, table_of(Annotation).alias()
    same = (label.assignment_id == given.assignment_id) & (label.sitting == given.sitting)
    return (
        sql_select(
            *(given.study_item_id, given.id),
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
_STATES = pick(Settlement.state, func.count().label("n")).group_by(col(Settlement.state))
_STATES = _STATES.where(col(Settlement.study_item_id).in_(bindparam("ids", expanding=True)))
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
    for study_item_id, annotation_id, criterion, target, value, cannot_judge in rows:
        labels = found[study_item_id]
        if annotation_id not in seen:
            seen.add(annotation_id)
            labels.n_annotations += 1
        if cannot_judge:
            labels.cannot[criterion, target] += 1
        elif criterion is not None:
            given = parsed_value(value) if as_text and isinstance(value, str) else value
            labels.values[criterion, target].append(given)
            if criterion in apart:
                labels.apart.setdefault(criterion, {}).setdefault(annotation_id, {})[target] = given
    return found


def parsed_value(text: str) -> Any:
    """A value of its JSON text. Words are remembered, lists are not: somebody might change one."""
    return _word(text) if text.startswith('"') else orjson.loads(text)


@lru_cache(_REMEMBERED)
def _word(text: str) -> Any:
    return orjson.loads(text)


Known = dict[tuple[object, ...], Settled]
"""Outcomes that were worked out before, by criterion, number of annotations, and votes: most units vote alike."""


def settle_item(
    protocol: Protocol, labels: ItemLabels, rule: str, known: Known | None = None
) -> Iterator[tuple[str, str, Settled]]:
    """(criterion, target, what the votes say) of every unit, in the protocol's order."""
    known = {} if known is None else known
    targets: dict[str, set[str]] = defaultdict(set)
    for name, target in (*labels.values, *labels.cannot):
        targets[name].add(target)
    for criterion in protocol.criteria:
        if criterion.name not in targets or not criterion.compared:
            continue
        for target in sorted(targets[criterion.name]):
            values = labels.values[criterion.name, target]
            votes = (criterion.name, labels.n_annotations, *map(criterion.vote, values))
            settled = known.get(votes)
            if settled is None:
                settled = settle(criterion, values, labels.n_annotations, rule)
                if len(known) < _REMEMBERED:
                    known[votes] = settled
            yield criterion.name, target, settled


def is_disputed(protocol: Protocol, criterion: str, settled: Settled, n_annotations: int) -> bool:
    """Whether an adjudicator has to decide the unit.

    A unit that only a minority was asked, because its condition did not hold for the others, is not: whether it is
    asked at all is what the condition's own criterion decides.
    """
    if settled.outcome is not Outcome.OPEN:
        return False
    asked_of_some = protocol.criterion(criterion).when is not None
    return not (asked_of_some and sum(settled.votes.values()) <= n_annotations / 2)


def to_decide(
    protocol: Protocol, units: Sequence[tuple[str, str, Settled]], n_annotations: int
) -> list[tuple[str, str, Settled]]:
    """The units of an item in the queue that an adjudicator has to decide.

    They are the disputed ones; where there are none, it is looked at again, and all of them are.
    """
    return [unit for unit in units if is_disputed(protocol, unit[0], unit[2], n_annotations)] or list(units)


def update_settlements(
    connection: Connection, study: Study, protocol: Protocol, study_item_ids: Sequence[int], counts: Tallies
) -> None:
    """Work out again where items stand, after annotations of them came in; in the caller's transaction.

    What that changes of the kept counts is added to `counts`, which the caller writes at its end.
    """
    assert study.id is not None
    known: Known = {}
    for ids in _blocks(study_item_ids):
        before = _locked(connection, study.id, ids)
        found, again = current_labels(connection, study.id, ids), looked_at_again(connection, study, ids)
        if before.get(SettlementState.ADJUDICATED):
            _reopen(connection, study, protocol, found, known)
        overlaps = overlaps_of(connection, study, ids)
        stands = [
            (*_by_votes(study, protocol, found[of], known, again.get(of), overlap=overlaps[of]), of) for of in ids
        ]
        _settle(connection, stands, before, counts)


def settle_batch(
    connection: Connection, study: Study, protocol: Protocol, labels: Mapping[int, ItemLabels], batch_id: int
) -> None:
    """Work out where items stand, after all these labels came in as a batch; in the caller's transaction, at its end.

    As `update_settlements`, without reading again what was just written. Items with other labels besides are read:
    after the others, whose rows are locked by then, so that of two who write at once the second sees both.
    """
    assert study.id is not None
    known: Known = {}
    counts = Tallies(study.id)
    again, overlaps = looked_at_again(connection, study, list(labels)), overlaps_of(connection, study, list(labels))
    for ids in _blocks(list(labels)):
        before = _locked(connection, study.id, ids)
        stands = [
            (*_by_votes(study, protocol, labels[of], known, again.get(of), overlap=overlaps[of]), of) for of in ids
        ]
        _settle(connection, stands, before, counts)
    sign = mark(connection)
    besides = driver_rows(connection.exec_driver_sql(_LABELLED_BESIDES.format(mark=sign), (study.id, batch_id)))
    update_settlements(connection, study, protocol, [item for (item,) in besides if item in labels], counts)
    counts.write(connection)


def _blocks(study_item_ids: Sequence[int]) -> Iterator[list[int]]:
    """The ids in order, so that two who write at once lock rows in one order."""
    ordered = sorted(study_item_ids)
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]


def _locked(connection: Connection, study_id: int, ids: Sequence[int]) -> Mapping[str, int]:
    """Lock the rows of these items, making those that are missing, and count their states."""
    connection.exec_driver_sql(_LOCK.format(mark=mark(connection)), [(identifier, study_id) for identifier in ids])
    return _states(connection, ids)


def _settle(
    connection: Connection, stands: Sequence[tuple[Any, ...]], before: Mapping[str, int], counts: Tallies
) -> None:
    """Write where locked items stand, of which so many were in each state before."""
    connection.exec_driver_sql(_SETTLE.format(mark=mark(connection)), stands)
    after = _states(connection, [row[-1] for row in stands])
    for state in SettlementState:
        counts.settle(SettlementState.PENDING, state, n=after.get(state, 0) - before.get(state, 0))


def _reopen(
    connection: Connection, study: Study, protocol: Protocol, labels: Mapping[int, ItemLabels], known: Known
) -> None:
    """Let the votes say again where items stand that were adjudicated, and of which they now dispute something else.

    What they settled when the item was decided, no adjudicator was asked; its final label would be gone unnoticed.
    """
    adjudicated = connection.execute(_ADJUDICATED, {"ids": list(labels)}).scalars().all()
    decided, asked = adjudicated_labels(connection, adjudicated), _in_order(protocol)
    disputed = []
    for of in adjudicated:
        units = list(settle_item(protocol, labels[of], study.rule, known))
        reached = _reached(asked, units, decided.get(of, {}), complete=True)
        if any(
            reached.get((name, target), ("",))[0] == "open"
            and is_disputed(protocol, name, settled, labels[of].n_annotations)
            for name, target, settled in units
        ):
            disputed.append((of,))
    if disputed:
        connection.exec_driver_sql(_REOPEN.format(mark=mark(connection)), disputed)


def _in_order(protocol: Protocol) -> dict[str, tuple[int, Criterion]]:
    """Criterion → its place in the order in which they are asked, and itself."""
    names = (name for step in protocol.steps for name in step.criteria)
    return {name: (place, protocol.criterion(name)) for place, name in enumerate(names)}


def _states(connection: Connection, study_item_ids: Sequence[int]) -> Mapping[str, int]:
    """How many of these items are in each state."""
    return {row.state: row.n for row in connection.execute(_STATES, {"ids": study_item_ids})}


WANTED = (
    "(SELECT max(w.n) FROM (SELECT CASE WHEN EXISTS (SELECT 1 FROM study_item later WHERE later.earlier_id = x.id) "
    "THEN 0 WHEN x.purpose = 'sample' THEN :overlap ELSE coalesce(x.overlap, :overlap) END "
    "AS n FROM study_item x WHERE x.id = {item} UNION ALL SELECT coalesce(x.overlap, 0) FROM study_item x "
    "WHERE x.id = {item} UNION ALL SELECT coalesce(z.wanted, 0) FROM settlement z WHERE z.study_item_id = {item}) AS w)"
)
"""How many annotations an item (a column) wants in a study with this `:overlap`: its own, if that is more, and as many
as were asked for because its annotators disagreed. One that came back in a later version wants none."""

DISCARDED = (
    "EXISTS (SELECT 1 FROM item_version v JOIN item_ending e ON e.item_id = v.item_id "
    "WHERE v.id IN ({row}.item_version_id, {row}.other_version_id) AND e.state IN ('rejected', 'withdrawn') "
    "AND NOT EXISTS (SELECT 1 FROM item_ending later WHERE later.item_id = e.item_id AND later.id > e.id))"
)
"""Whether the item of a study item (a row), or one of its pair, was rejected or withdrawn by hand: nobody gets it."""


def overlaps_of(connection: Connection, study: Study, study_item_ids: Sequence[int]) -> dict[int, int]:
    """Study item → how many annotations it has at least: parts and rechecks may have an overlap of their own.

    An item that came back in a later version wants no more (0).
    """
    found = dict.fromkeys(study_item_ids, study.overlap)
    item = table_of(StudyItem).c
    if "part_overlap" in study.settings or has_rechecks(study):
        query = sql_select(item.id, item.overlap, item.purpose).where(item.id.in_(study_item_ids))
        found = {
            study_item_id: own if own and purpose == Purpose.RECHECK else max(study.overlap, own or 0)
            for study_item_id, own, purpose in connection.execute(query)
        }
    if has_rechecks(study):
        gone = sql_select(item.earlier_id).where(item.earlier_id.in_(study_item_ids))
        found |= dict.fromkeys(connection.execute(gone).scalars(), 0)
    return found


def is_complete(study: Study, n_annotations: int, overlap: int, *, disputed: bool) -> bool:
    """Whether an item has all its annotations; one whose annotators disagree may want more of them."""
    most = study.settings.get("most_overlap")
    wants_more = bool(overlap) and most is not None and disputed and n_annotations < most
    return n_annotations >= overlap and not wants_more


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


def _by_votes(
    study: Study, protocol: Protocol, labels: ItemLabels, known: Known, again: float | None, *, overlap: int
) -> tuple[int, int, float, str]:
    """Where an item stands by the votes alone, in the order of `_SETTLE`.

    `again`: what it weighs among the disputed where adjudicators look at it even if nothing of it is disputed. Then all
    of its units count as disputed, so that nothing tells it from the others.
    """
    units = list(settle_item(protocol, labels, study.rule, known))
    disputed = [
        settled for criterion, _, settled in units if is_disputed(protocol, criterion, settled, labels.n_annotations)
    ]
    if again is not None and not disputed and labels.n_annotations >= overlap:
        return labels.n_annotations, len(units), again, SettlementState.DISPUTED.value
    state = SettlementState.DISPUTED if disputed else SettlementState.AGREED
    if not is_complete(study, labels.n_annotations, overlap, disputed=bool(disputed)):
        state = SettlementState.PENDING
    return labels.n_annotations, len(disputed), float(sum(votes.dispute for votes in disputed)), state.value


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
    among = OF_SAMPLE if rechecks else f"x.purpose = '{Purpose.SAMPLE}'"
    query = f"{_SAMPLED}x.position >= {{mark}} AND x.position < {{mark}} AND {among} ORDER BY x.position"
    query = query.format(mark=mark(session.connection()))
    for start in range(0, end_of_items(session, study) if rechecks else study.n_items, _AT_ONCE):
        block = plain_rows(session, query, (study_id, start, start + _AT_ONCE))
        yield from _settled_block(session, study, protocol, block, known, by_votes=by_votes)


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


Unit = tuple[str, str]
"""Criterion and target."""


def _reached(
    asked: Mapping[str, tuple[int, Criterion]],
    units: Sequence[tuple[str, str, Settled]],
    decided: Mapping[Unit, Any],
    *,
    complete: bool,
) -> dict[Unit, tuple[str, Any]]:
    """How each unit of an item stands, and its label: without those that the final labels leave nothing to ask of.

    What somebody was asked because of a label that did not become the final one is no question of the item: it is
    neither settled nor open, unless an adjudicator decided it all the same.
    """
    found: dict[Unit, tuple[str, Any]] = {}
    final: dict[Unit, GivenLabel] = {}
    gone: set[Unit] = set()
    for name, target, settled in sorted(units, key=lambda unit: asked[unit[0]][0]):
        criterion, decision = asked[name][1], decided.get((name, target))
        if decision is not None:
            found[name, target] = "adjudicated", decision.value
        elif _has_nothing_to_ask(criterion, target, found, final, gone):
            gone.add((name, target))
            continue
        elif complete and settled.outcome is not Outcome.OPEN:
            found[name, target] = settled.outcome.value, settled.value
        else:
            found[name, target] = "open", None
        final[name, target] = GivenLabel(name, target, found[name, target][1])
    return found


def _has_nothing_to_ask(
    criterion: Criterion,
    target: str,
    found: Mapping[Unit, tuple[str, Any]],
    final: Mapping[Unit, GivenLabel],
    gone: Collection[Unit],
) -> bool:
    """Whether the condition of a criterion is settled, and does not hold; without labels of it nothing is known."""
    if criterion.when is None:
        return False
    places = [(criterion.when.criterion, place) for place in dict.fromkeys((target, "item"))]
    there = [place for place in places if place in found]
    if not there:
        return any(place in gone for place in places)
    return all(found[place][0] != "open" for place in there) and not is_asked(criterion, target, final)


def _settled_block(
    session: Session, study: Study, protocol: Protocol, rows: Sequence[tuple[Any, ...]], known: Known, *, by_votes: bool
) -> Iterator[SettledUnit]:
    assert study.id is not None
    ids = [row[0] for row in rows]
    derived = protocol.derived_criteria()
    asked = _in_order(protocol)
    apart = {unit.source.name for unit in derived}
    labels = current_labels(session.connection(), study.id, ids, apart=apart)
    adjudicated = {} if by_votes else adjudicated_labels(session, ids)
    overlaps = overlaps_of(session.connection(), study, ids)
    for study_item_id, external_id, number, question_key, system, *other in rows:
        if study_item_id not in labels and study_item_id not in adjudicated:
            continue
        mine, decided = labels[study_item_id], adjudicated.get(study_item_id, {})
        pair = None if other[0] is None else (other[0], other[1], other[2], bool(other[3]))
        final: dict[str, FinalLabels] = defaultdict(dict)
        units = list(settle_item(protocol, mine, study.rule, known))
        disputed = not decided and any(is_disputed(protocol, unit[0], unit[2], mine.n_annotations) for unit in units)
        complete = by_votes or is_complete(study, mine.n_annotations, overlaps[study_item_id], disputed=disputed)
        reached = _reached(asked, units, decided, complete=complete)
        for criterion, target, settled in units:
            if (criterion, target) not in reached:
                continue
            state, value = reached[criterion, target]
            decision = decided.get((criterion, target))
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


def adjudicated_labels(
    session: Session | Connection, study_item_ids: Iterable[int]
) -> dict[int, dict[tuple[str, str], DecidedUnit]]:
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
