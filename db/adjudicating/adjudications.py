"""Disputed items and what is decided about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from annotators.asking.rounds import BLIND, Stage, Unit
from annotators.asking.settling import Outcome, Settled, disputed_units, reached, settle, settle_item, to_decide
from annotators.asking.submissions import GivenLabel, broken_rules, flag_words
from annotators.criteria import Criterion, Value
from annotators.errors import Conflict, InvalidInput, NotAllowed
from annotators.figures import numbers_apart
from annotators.protocols import Material, Protocol
from db.adjudicating.causes import check_said
from db.adjudicating.leases import end_lease, held_items
from db.adjudicating.stages import (
    Round,
    blind_rounds,
    differing_units,
    is_by_uncertainty,
    is_double,
    names_of_rounds,
    next_stage,
    stage_for,
    waits_for,
)
from db.allotting.settling import update_settlements
from db.annotating.assignments import return_to_annotator
from db.annotating.presentations import Wire, evidence_at, load_materials, materials_at, present, units_at
from db.engine import Database
from db.items.current import is_set_aside
from db.models import (
    Account,
    AdjudicatedLabel,
    Adjudication,
    Annotation,
    Assignment,
    Item,
    ItemVersion,
    Project,
    Settlement,
    SettlementState,
    StoredLabel,
    Study,
    StudyItem,
    Submission,
)
from db.people.pseudonyms import annotation_mark, raters_of
from db.permissions import ADJUDICATORS, Actor, On, operation, record, roles_of
from db.studies import tallies
from db.studies.design import protocol_of
from db.studies.settlements import (
    COUNTING,
    check_has_judged,
    is_disclosed,
    labels_and_decisions,
)
from db.studies.tallies import Tallies

MOST_COUNTED = 1_000
"""Disputed items of a study that are counted for a person; where there are more, so many wait at least."""

ALIKE = "alike"
"""The outcome of a disputed unit that two adjudicators decided alike."""


@dataclass(frozen=True)
class Dispute:
    """One place in the adjudication queue."""

    study_item_id: int
    n_disputed: int
    dispute: float


@dataclass(frozen=True)
class Vote:
    """One annotator's label of one unit, as the adjudicator sees it; `rater` is R1, R2 … unless names are shown."""

    rater: str
    value: Any
    cannot_judge: bool
    reason: str | None
    comment: str | None
    rationale: list[Any] | None


@dataclass(frozen=True)
class BlindDecision:
    """What one of two adjudicators decided of a unit, once both have; None where they left it to its votes.

    `by` is None for who looks.
    """

    by: str | None
    value: Any
    reason: str | None
    note: str | None


@dataclass(frozen=True)
class DisputedUnit:
    """One criterion and target with its votes; `needs_decision` when they settle nothing.

    `rounds` are the two decisions that were made blind to each other. Where they are alike, `outcome` is `alike`.
    """

    criterion: str
    target: str
    votes: list[Vote]
    counts: dict[str, int]
    outcome: str
    value: Any
    majority: Any
    needs_decision: bool
    decided: Any
    rounds: list[BlindDecision] = field(default_factory=list)


@dataclass(frozen=True)
class DisputedItem:
    """An item as the annotators saw it, with all their labels side by side.

    `stage` is the decision that this person may make of it, `again` whether one of theirs stands that it would replace.
    `allowed` says why they may make none. `annotations` are marks by which one is given back (`give_back`).
    """

    study_item_id: int
    presentation: dict[str, Any]
    units: list[DisputedUnit]
    raters: list[str]
    comments: dict[str, str]
    flags: dict[str, str]
    annotations: dict[str, str]
    state: str
    allowed: str | None
    stage: str
    again: bool


@dataclass(frozen=True)
class UnitDecision:
    """The final value of one unit, with a reason where it overrules a majority.

    Of one's own accord: what the disagreement came from, how sure one is, and what the guidelines should say
    (db/adjudicating/causes.py).
    """

    criterion: str
    target: str
    value: Any
    reason: str | None = None
    cause: str | None = None
    confidence: str | None = None
    note: str | None = None


@operation(On.STUDY, ADJUDICATORS)
def disputes(db: Database, actor: Actor, study_id: int, *, limit: int = 200) -> list[Dispute]:
    """The items that wait for a decision and that nobody else has before them, most disputed first.

    Where that was asked for, those come first of which a model of the annotators is least certain.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        query = select(Settlement).where(
            *waits_for(session, study, actor), col(Settlement.study_item_id).not_in(held_items(study, actor))
        )
        known = col(Settlement.uncertainty)
        found: list[Settlement] = []
        if is_by_uncertainty(session, study_id):
            by_model = query.where(known.is_not(None)).order_by(known.desc(), col(Settlement.study_item_id))
            found += session.exec(by_model.limit(limit)).all()
        by_votes = query.where(known.is_(None)).order_by(col(Settlement.dispute).desc(), col(Settlement.study_item_id))
        found += session.exec(by_votes.limit(limit - len(found))).all()
        return [Dispute(row.study_item_id, row.n_disputed, row.dispute) for row in found]


@operation(On.PROJECT, ADJUDICATORS)
def count_disputed(db: Database, actor: Actor, project_id: int) -> int:
    """How many items of the project's studies this person could decide now."""
    with db.read() as session:
        return sum(_for_me(session, actor, [project_id]).values())


@operation(On.APP, anyone_signed_in=True)
def disputes_for_me(db: Database, actor: Actor) -> dict[int, int]:
    """Study → how many of its items this person could decide now; studies in which there are none are left out.

    Not counted is what they annotated themselves, what waits for others (in double adjudication), and what others have
    before them.
    """
    with db.read() as session:
        roles = roles_of(session, actor.person_id)
        projects = [
            project_id
            for project_id in session.exec(select(Project.id))
            if project_id is not None and roles.of(project_id) in ADJUDICATORS
        ]
        return _for_me(session, actor, projects)


def _for_me(session: Session, actor: Actor, project_ids: Sequence[int]) -> dict[int, int]:
    disputed = select(Settlement.study_item_id).where(
        col(Settlement.study_id) == Study.id, col(Settlement.state) == SettlementState.DISPUTED
    )
    found = {}
    for study in session.exec(select(Study).where(col(Study.project_id).in_(project_ids), disputed.exists())):
        mine = select(Settlement.study_item_id).where(*waits_for(session, study, actor))
        mine = mine.where(col(Settlement.study_item_id).not_in(held_items(study, actor))).limit(MOST_COUNTED)
        if n := int(session.execute(select(func.count()).select_from(mine.subquery())).scalar_one()):
            found[study.id or 0] = n
    return found


def _waiting(session: Session, study: Study, actor: Actor) -> int:
    """How many items of a study wait for a decision of this person, whoever has them before them."""
    query = select(func.count()).select_from(Settlement).where(*waits_for(session, study, actor))
    return int(session.execute(query).scalar_one())


@dataclass(frozen=True)
class DeskCounts:
    """How far adjudication is for one person: items that they have done, or that are, and items that wait for them.

    `others`: items that wait, but for somebody else.
    """

    adjudicated: int
    disputed: int
    others: int


@operation(On.STUDY, ADJUDICATORS)
def desk_counts(db: Database, actor: Actor, study_id: int) -> DeskCounts:
    """How far adjudication of a study is for this person. Where one decides, what anybody decided is done."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        settled = tallies.settled(session, study_id)
        disputed = settled[SettlementState.DISPUTED]
        if is_double(study):
            state = select(func.count(func.distinct(Adjudication.study_item_id))).where(
                Adjudication.study_id == study_id, Adjudication.person_id == actor.person_id
            )
            waiting = _waiting(session, study, actor)
            return DeskCounts(int(session.execute(state).scalar_one()), waiting, disputed - waiting)
        waiting = _waiting(session, study, actor)
        return DeskCounts(settled[SettlementState.ADJUDICATED], waiting, disputed - waiting)


@dataclass(frozen=True)
class StudyDisputes:
    """How adjudication of a study stands: disputes, since when the oldest waits, items decided, by whom last, when."""

    study_id: int
    disputed: int
    oldest: datetime | None
    decided: int
    last_by: str | None
    last_at: datetime | None


@operation(On.STUDY, ADJUDICATORS)
def study_disputes(db: Database, actor: Actor, study_id: int) -> StudyDisputes:
    """How adjudication of a study stands. An item is disputed since its last annotation."""
    since = (
        select(func.max(Annotation.created_at).label("since"))
        .join(Settlement, col(Settlement.study_item_id) == Annotation.study_item_id)
        .where(
            Settlement.study_id == study_id,
            Annotation.study_id == study_id,
            Settlement.state == SettlementState.DISPUTED,
            col(Annotation.kind).in_(COUNTING),
        )
        .group_by(col(Annotation.study_item_id))
        .subquery()
    )
    decided = select(func.count(func.distinct(Adjudication.study_item_id))).where(
        Adjudication.study_id == study_id, is_disclosed(actor.person_id)
    )
    with db.read() as session:
        disputed, oldest = session.execute(select(func.count(), func.min(since.c.since)).select_from(since)).one()
        last = next(iter(_decisions(session, actor, [study_id], 1)), None)
        return StudyDisputes(
            study_id,
            disputed,
            oldest,
            int(session.execute(decided).scalar_one()),
            last.by if last else None,
            last.at if last else None,
        )


@dataclass(frozen=True)
class Decision:
    """What an adjudicator decided about an item: title of the criterion, target, and value in words, of each unit.

    `overruled`: on how many of them against most of the annotators.

    `stage`: `first` and `second` are decisions that were made blind to each other.
    """

    study_id: int
    study_item_id: int
    item: str
    by: str
    at: datetime
    units: tuple[tuple[str, str, str], ...]
    overruled: int
    reason: str | None
    stage: str


@operation(On.STUDY, ADJUDICATORS)
def latest_decisions(db: Database, actor: Actor, study_id: int, *, limit: int = 10) -> list[Decision]:
    """What was decided last in a study, latest first; of two blind decisions only what this person may know."""
    with db.read() as session:
        return _decisions(session, actor, [study_id], limit)


def _decisions(session: Session, actor: Actor, study_ids: Sequence[int], limit: int) -> list[Decision]:
    query = (
        select(Adjudication, Account.name, Item.external_id, Study)
        .join(Study, col(Study.id) == Adjudication.study_id)
        .join(StudyItem, col(StudyItem.id) == Adjudication.study_item_id)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .join(Account, col(Account.person_id) == Adjudication.person_id, isouter=True)
        .where(col(Adjudication.study_id).in_(study_ids), is_disclosed(actor.person_id))
        .order_by(col(Adjudication.id).desc())
        .limit(limit)
    )
    rows = session.execute(query).all()
    labels: dict[int, list[AdjudicatedLabel]] = defaultdict(list)
    ids = [row.id for row, *_ in rows]
    for label in session.exec(select(AdjudicatedLabel).where(col(AdjudicatedLabel.adjudication_id).in_(ids))):
        labels[label.adjudication_id].append(label)
    found = []
    for row, name, item, study in rows:
        protocol = protocol_of(study)
        order = {criterion.name: place for place, criterion in enumerate(protocol.criteria)}
        ordered = sorted(labels[row.id], key=lambda label: (order.get(label.criterion, 0), label.target))
        given = [(protocol.criterion(label.criterion), label) for label in ordered]
        found.append(
            Decision(
                row.study_id,
                row.study_item_id,
                item,
                name or f"person {row.person_id}",
                row.created_at,
                tuple((of.title, label.target, of.said(label.value)) for of, label in given),
                sum(label.overrules for label in ordered),
                row.reason,
                row.stage,
            )
        )
    return found


@operation(On.STUDY, ADJUDICATORS)
def settlement_counts(db: Database, _actor: Actor, study_id: int) -> dict[str, int]:
    """Items of the study by where they stand; items without an annotation count as pending."""
    with db.read() as session:
        settled = tallies.settled(session, study_id)
        pending = session.get_one(Study, study_id).n_items - sum(settled.values())
        return {SettlementState.PENDING.value: pending, **settled}


@operation(On.STUDY_ITEM, ADJUDICATORS)
def disputed_item(db: Database, actor: Actor, study_item_id: int) -> DisputedItem:
    """Everything an adjudicator needs to decide one item, its parts under the neutral names of the annotators' page.

    NotAllowed for an annotator of the study who may still be asked to judge the item: people judge before they are
    told.
    """
    with db.read() as session:
        place = session.get_one(StudyItem, study_item_id)
        study = session.get_one(Study, place.study_id)
        protocol = protocol_of(study)
        annotations = _annotations(session, study, study_item_id)
        check_has_judged(session, study, study_item_id, actor)
        raters = _raters(session, study, study_item_id, annotations)
        last = Assignment(id=0, study_id=place.study_id, study_item_id=study_item_id, queue=0)
        last.steps_done = len(protocol.steps) - 1
        presentation = present(session, study, [last])[0]
        wire = _wire(session, protocol, study_item_id)
        settlement = session.get(Settlement, study_item_id)
        waits = settlement is not None and settlement.state == SettlementState.DISPUTED
        rounds = _known_rounds(session, study, study_item_id, actor, final=waits)
        units = _units(
            session,
            study,
            protocol,
            annotations=annotations,
            raters=raters,
            study_item_id=study_item_id,
            wire=wire,
            rounds=rounds,
            waits=waits,
        )
        images = [f"image:{image['key']}" for image in presentation.get("images", [])]
        presentation["targets"] = {target: target for target in [*(unit.target for unit in units), *images]}
        comments, flags = _remarks(session, annotations, raters)
        refusal, stage = _refusal(session, study, study_item_id, actor), Stage.FINAL
        decided = settlement is not None and settlement.state == SettlementState.ADJUDICATED
        if refusal is None and settlement is not None:
            try:
                stage = stage_for(session, study, settlement, actor, again=rounds.mine is not None)
            except (Conflict, NotAllowed) as error:
                refusal = str(error)
        return DisputedItem(
            study_item_id,
            presentation,
            units,
            list(raters.values()),
            comments,
            flags,
            {raters[one.person_id]: annotation_mark(study, one.assignment_id) for one in annotations},
            settlement.state if settlement else SettlementState.PENDING,
            refusal,
            stage,
            decided or rounds.mine is not None,
        )


@operation(On.STUDY_ITEM, ADJUDICATORS)
def give_back(db: Database, actor: Actor, study_item_id: int, *, annotation: str, reason: str) -> None:
    """Return an item to one of its annotators: the one whose annotation `disputed_item` calls so."""
    with db.read() as session:
        study = session.get_one(Study, session.get_one(StudyItem, study_item_id).study_id)
        there = [found.assignment_id for found in _annotations(session, study, study_item_id)]
        of = [number for number in there if annotation_mark(study, number) == annotation]
    if not of:
        raise Conflict("That annotation does not count here any more, so it cannot be returned. Reload the page.")
    return_to_annotator(db, actor, of[0], reason=reason)


class _Rounds(NamedTuple):
    """The blind decisions of an item that a person may know: their own, or both once both are there.

    `differ` are the units that a final round is about (None: there is none yet, or it has been).
    """

    names: dict[Stage, str | None]
    given: dict[Stage, Round]
    mine: Round | None
    differ: frozenset[Unit] | None


def _known_rounds(session: Session, study: Study, study_item_id: int, actor: Actor, *, final: bool) -> _Rounds:
    if not is_double(study):
        return _Rounds({}, {}, None, None)
    given = blind_rounds(session, study_item_id)
    if len(given) < len(BLIND):
        mine = next((each for each in given.values() if each.person_id == actor.person_id), None)
        return _Rounds({}, {}, mine, None)
    differ = frozenset(differing_units(session, study, study_item_id, given)) if final else None
    return _Rounds(names_of_rounds(session, study, given, actor), given, None, differ)


class VotesOfItem(NamedTuple):
    """Everybody's labels of an item: its units, what each person is called, and whose assignment is which."""

    study_id: int
    units: list[DisputedUnit]
    raters: dict[int, str]
    assignments: dict[int, int]


def votes_of_item(session: Session, study: Study, study_item_id: int) -> VotesOfItem:
    """The labels of an item side by side, its parts under the names that the annotators' page has for them."""
    protocol, annotations = protocol_of(study), _annotations(session, study, study_item_id)
    raters, wire = _raters(session, study, study_item_id, annotations), _wire(session, protocol, study_item_id)
    nothing = _Rounds({}, {}, None, None)
    units = _units(
        session,
        study,
        protocol,
        annotations=annotations,
        raters=raters,
        study_item_id=study_item_id,
        wire=wire,
        rounds=nothing,
        waits=False,
    )
    assert study.id is not None
    return VotesOfItem(study.id, units, raters, {row.person_id: row.assignment_id for row in annotations})


def _annotations(session: Session, study: Study, study_item_id: int) -> list[Annotation]:
    newer = aliased(Annotation)
    query = (
        select(Annotation)
        .where(
            Annotation.study_id == study.id,
            Annotation.study_item_id == study_item_id,
            col(Annotation.kind).in_(COUNTING),
            ~select(newer.id).where(newer.supersedes_id == Annotation.id).exists(),
            ~is_set_aside(col(Annotation.id)),
        )
        .order_by(col(Annotation.id))
    )
    found = list(session.exec(query))
    in_order = list(raters_of(study, study_item_id, (row.person_id for row in found)))
    return sorted(found, key=lambda row: in_order.index(row.person_id))


def _raters(session: Session, study: Study, study_item_id: int, annotations: Sequence[Annotation]) -> dict[int, str]:
    names = raters_of(study, study_item_id, (annotation.person_id for annotation in annotations))
    if study.settings.get("show_names"):
        rows = session.execute(select(Account.person_id, Account.name).where(col(Account.person_id).in_(list(names))))
        names |= dict(rows.all())
    return names


def _wire(session: Session, protocol: Protocol, study_item_id: int) -> Wire:
    """The names that the parts of the item have in the browser at the last step."""
    last = len(protocol.steps) - 1
    shown = protocol.shown_at(last)
    # With the hidden parts behind, as studies from before they were hidden may have labels of them.
    loaded = load_materials(session, [study_item_id], shown, pairs=protocol.about_pairs)[study_item_id]
    there = {unit.key for unit in evidence_at(loaded.item.evidence, protocol, last)}
    behind = {unit.key for unit in loaded.item.evidence} - there
    item = materials_at(loaded, protocol, last, hidden=True).item
    return Wire(item, roles_shown=Material.ROLES in shown, behind=behind, turned=loaded.turned)


def _units(
    session: Session,
    study: Study,
    protocol: Protocol,
    *,
    annotations: Sequence[Annotation],
    raters: dict[int, str],
    study_item_id: int,
    wire: Wire,
    rounds: _Rounds,
    waits: bool,
) -> list[DisputedUnit]:
    """The units with their votes, parts of the item under their names on the wire; `waits`: it is to be decided."""
    by_sitting = {(annotation.assignment_id, annotation.sitting): annotation for annotation in annotations}
    votes: dict[tuple[str, str], list[Vote]] = defaultdict(list)
    assignments = [annotation.assignment_id for annotation in annotations]
    for row in session.exec(select(StoredLabel).where(col(StoredLabel.assignment_id).in_(assignments))):
        annotation = by_sitting.get((row.assignment_id, row.sitting))
        if annotation is not None:
            rater = raters[annotation.person_id]
            value = wire.value_out(row.value, protocol.criterion(row.criterion))
            given = Vote(rater, value, row.cannot_judge, row.reason, row.comment, row.rationale)
            votes[row.criterion, row.target].append(given)
    connection = session.connection()
    labels, decisions, stands = labels_and_decisions(connection, study, protocol, [study_item_id], to_decide=waits)
    mine, decided = labels[study_item_id], decisions.get(study_item_id, {})
    units = []
    n = len(annotations)
    compared = list(settle_item(protocol, mine, study.rule))
    there = dict.fromkeys([*votes, *((name, target) for name, target, _ in compared)])
    # By the names on the wire: the order of keys can tell what parts are, as the keys themselves can.
    order = sorted(there, key=lambda unit: numbers_apart(wire.out(unit[1])))
    outcomes = {
        unit: settle(criterion, [vote.value for vote in votes[unit] if not vote.cannot_judge], n, study.rule)
        for criterion in protocol.criteria
        for unit in order
        if unit[0] == criterion.name
    }
    by_votes = {unit[:2] for unit in disputed_units(protocol, compared, n, {})}
    after = stands.get(study_item_id, {}) if waits else {}
    disputed = {unit[:2] for unit in disputed_units(protocol, compared, n, after)}
    again = waits and not by_votes and not decided
    for (name, target), settled in outcomes.items():
        criterion, cast_votes = protocol.criterion(name), votes[name, target]
        decision = decided.get((name, target))
        value = decision.value if decision else None
        if rounds.mine is not None:
            value = own.value if (own := rounds.mine.labels.get((name, target))) else None
        open_ = (name, target) in disputed
        outcome, settles = settled.outcome.value if criterion.compared else Outcome.OPEN.value, settled.value
        if again and criterion.compared:  # as if it was disputed: nothing says that annotators are held to agree
            open_, outcome, settles = True, Outcome.OPEN.value, None
        if rounds.differ is not None:
            if (name, target) in by_votes - rounds.differ:
                outcome, settles = ALIKE, wire.value_out(value, criterion)
            open_ = (name, target) in rounds.differ
        units.append(
            DisputedUnit(
                name,
                wire.out(target),
                sorted(cast_votes, key=lambda vote: vote.rater),
                settled.votes,
                outcome,
                settles,
                settled.majority,
                open_,
                None if value is None else wire.value_out(value, criterion),
                [
                    BlindDecision(
                        rounds.names[stage],
                        wire.value_out(label.value, criterion) if label else None,
                        (label.reason if label else None) or each.reason,
                        label.note if label else None,
                    )
                    for stage, each in rounds.given.items()
                    for label in (each.labels.get((name, target)),)
                ],
            )
        )
    return units


def _remarks(
    session: Session, annotations: Sequence[Annotation], raters: dict[int, str]
) -> tuple[dict[str, str], dict[str, str]]:
    comments: dict[str, str] = {}
    flags: dict[str, str] = {}
    by_sitting = {(annotation.assignment_id, annotation.sitting): annotation for annotation in annotations}
    assignments = [annotation.assignment_id for annotation in annotations]
    for row in session.exec(select(Submission).where(col(Submission.assignment_id).in_(assignments))):
        if (row.assignment_id, row.sitting) in by_sitting:
            rater = raters[row.person_id]
            if row.comment:
                comments[rater] = "\n".join(filter(None, (comments.get(rater), row.comment)))
            if row.flag:
                flags[rater] = "\n".join(filter(None, (flags.get(rater), flag_words(row.flag))))
    return comments, flags


def _refusal(session: Session, study: Study, study_item_id: int, actor: Actor) -> str | None:
    """Why this person may not adjudicate the item, or None. What they gave counts here even where it was left out."""
    query = select(Annotation.id).where(
        Annotation.study_id == study.id,
        Annotation.study_item_id == study_item_id,
        Annotation.person_id == actor.person_id,
        col(Annotation.kind).in_(COUNTING),
    )
    own = not study.settings.get("allow_own_adjudication") and session.exec(query.limit(1)).first() is not None
    if own:
        return "You annotated this item yourself, so somebody else has to adjudicate it."
    return None


@operation(On.STUDY_ITEM, ADJUDICATORS)
def adjudicate(
    db: Database,
    actor: Actor,
    study_item_id: int,
    *,
    uid: str,
    decisions: Sequence[UnitDecision],
    reason: str | None = None,
    again: bool = False,
    from_browser: bool = False,
) -> int:
    """Decide every disputed unit of an item; the annotations stay as they are. Returns the adjudication's id.

    The same `uid` twice is stored once. A decision against a majority needs a reason of its own or for the whole.
    `from_browser`: targets and orders of images have the neutral names that `disputed_item` gave them.
    `again` makes a new round over an item that was adjudicated before; without it that is a Conflict, because somebody
    else was faster. In double adjudication it is one of two blind decisions, or the final one over what they left
    (db/adjudicating/stages.py); `again` then decides one's own anew until the other is there.
    """
    with db.write() as session:
        known = session.exec(select(Adjudication).where(Adjudication.uid == uid)).first()
        if known is not None:
            if (known.person_id, known.study_item_id) != (actor.person_id, study_item_id):
                raise Conflict(f"Adjudication id {uid!r} was used for something else. Reload the page and try again.")
            return known.id or 0
        study = session.get_one(Study, session.get_one(StudyItem, study_item_id).study_id)
        protocol = protocol_of(study)
        opened = open_item(session, study, study_item_id, actor, again=again)
        if from_browser:
            decisions = _from_browser(decisions, protocol, _wire(session, protocol, study_item_id))
        final, problems = checked_decisions(session, study, protocol, opened, decisions=decisions, reason=reason)
        if problems:
            raise InvalidInput(problems[0].reason)
        counts = Tallies(study.id or 0)
        row = store_decisions(session, actor, study, opened, uid=uid, final=final, counts=counts, reason=reason)
        counts.write(session.connection())
        return row.id or 0


class OpenItem(NamedTuple):
    """An item that somebody may decide now: where it stands, which decision it is, and in a final round over two blind
    ones the units that those left."""

    settlement: Settlement
    stage: Stage
    left: list[Unit] | None


def open_item(session: Session, study: Study, study_item_id: int, actor: Actor, *, again: bool = False) -> OpenItem:
    """An item, locked, that this person may decide now; Conflict or NotAllowed says why they may not."""
    settlement = session.get(Settlement, study_item_id, with_for_update=True)
    if settlement is None or settlement.state == SettlementState.PENDING:
        raise Conflict("This item does not have all its annotations yet. Adjudicate it when it has.")
    if settlement.state == SettlementState.ADJUDICATED and not again:
        raise Conflict("Somebody else has adjudicated this item meanwhile. Go on with the next one.")
    check_has_judged(session, study, study_item_id, actor)
    refusal = _refusal(session, study, study_item_id, actor)
    if refusal:
        raise NotAllowed(refusal)
    stage, left = stage_for(session, study, settlement, actor, again=again), None
    if is_double(study) and stage is Stage.FINAL and settlement.state != SettlementState.ADJUDICATED:
        left = differing_units(session, study, study_item_id, blind_rounds(session, study_item_id))
    return OpenItem(settlement, stage, left)


def store_decisions(
    session: Session,
    actor: Actor,
    study: Study,
    opened: OpenItem,
    *,
    uid: str,
    final: Sequence[AdjudicatedLabel],
    counts: Tallies,
    reason: str | None = None,
) -> Adjudication:
    """Append a round of decisions that are checked, in the caller's transaction, which writes the `counts`."""
    assert study.id is not None
    settlement, stage, _ = opened
    study_item_id = settlement.study_item_id
    rounds = session.execute(
        select(func.coalesce(func.max(Adjudication.round), 0)).where(Adjudication.study_item_id == study_item_id)
    ).scalar_one()
    row = Adjudication(
        uid=uid,
        study_id=study.id,
        study_item_id=study_item_id,
        round=rounds + 1,
        stage=stage,
        person_id=actor.person_id,
        reason=(reason or "").strip() or None,
    )
    session.add(row)
    session.flush()
    assert row.id is not None
    for label in final:
        label.adjudication_id = row.id
        session.add(label)
    session.flush()
    waits = None if stage is Stage.FINAL else next_stage(session, study, study_item_id)
    if waits is not None:
        settlement.stage = waits
        session.add(settlement)
        session.flush()
    update_settlements(session.connection(), study, protocol_of(study), [study_item_id], counts)
    session.refresh(settlement)
    end_lease(session, study_item_id, actor.person_id if waits is Stage.SECOND else None)
    # How often a blind decision goes against a majority would tell the other adjudicator something of it.
    said = {"stage": stage.value} if stage in BLIND else {"overruled": sum(label.overrules for label in final)}
    record(
        session,
        actor,
        "item adjudicated",
        "study item",
        study_item_id,
        project_id=study.project_id,
        details={"round": row.round, **said},
    )
    return row


def _from_browser(decisions: Sequence[UnitDecision], protocol: Protocol, wire: Wire) -> list[UnitDecision]:
    criteria = {criterion.name: criterion for criterion in protocol.criteria}
    return [
        replace(
            decision,
            target=wire.back(decision.target),
            value=wire.value_back(decision.value, criteria[decision.criterion])
            if decision.criterion in criteria
            else decision.value,
        )
        for decision in decisions
    ]


class Misfit(NamedTuple):
    """Why decisions cannot be stored, and about which criterion and target; None: about what is not decided."""

    unit: tuple[str, str] | None
    reason: str


def checked_decisions(
    session: Session,
    study: Study,
    protocol: Protocol,
    opened: OpenItem,
    *,
    decisions: Sequence[UnitDecision],
    reason: str | None = None,
) -> tuple[list[AdjudicatedLabel], list[Misfit]]:
    """The final labels of an item as they are stored, and everything that stands against storing them."""
    assert study.id is not None
    study_item_id, left = opened.settlement.study_item_id, opened.left
    stored = labels_and_decisions(session.connection(), study, protocol, [study_item_id], to_decide=True)
    mine = stored.labels[study_item_id]
    n, units = mine.n_annotations, list(settle_item(protocol, mine, study.rule))
    settled = {(name, target): votes for name, target, votes in units}
    earlier = {unit: decision.value for unit, decision in stored.decided.get(study_item_id, {}).items()}
    # Who decides blind to somebody else leaves nothing to what the two have decided before.
    stands = {} if opened.stage in BLIND else earlier
    if left is not None:
        needed = set(left)
    elif opened.settlement.state == SettlementState.DISPUTED:
        there = reached(protocol, units, stands)
        needed = {unit[:2] for unit in to_decide(protocol, units, n, stands) if unit[:2] in there}
    else:
        needed = {unit[:2] for unit in disputed_units(protocol, units, n, {})}
    final: dict[tuple[str, str], AdjudicatedLabel] = {}
    problems: list[Misfit] = []
    tried: set[tuple[str, str]] = set()
    both = set() if left is None else set(earlier)
    for decision in decisions:
        unit = (decision.criterion, decision.target)
        try:
            if unit in tried:
                raise InvalidInput(f"{decision.criterion!r} of {decision.target!r} is decided twice. Decide it once.")
            tried.add(unit)
            if unit in both:
                raise InvalidInput(
                    f"{decision.criterion!r} of {decision.target!r} is final: two adjudicators decided it alike. "
                    "Leave it out."
                )
            final[unit] = _checked(session, study, protocol, study_item_id, decision, settled=settled, reason=reason)
        except InvalidInput as error:
            problems.append(Misfit(unit, str(error)))
    # What nobody has labelled may wait; but what is decided may open a question that was none: it is decided with it.
    needed = {unit for unit in needed if mine.values.get(unit) or mine.cannot.get(unit)}
    after = {**stands, **{unit: label.value for unit, label in final.items()}}
    opened_now, before_it = (disputed_units(protocol, units, n, by) for by in (after, stands))
    needed |= {unit[:2] for unit in opened_now} - {unit[:2] for unit in before_it}
    missing = [
        f"{protocol.criterion(name).title} ({target})" if target != "item" else protocol.criterion(name).title
        for name, target in settled
        if (name, target) not in tried and (name, target) in needed
    ]
    if missing:
        problems.append(Misfit(None, f"Not decided yet: {', '.join(missing)}."))
    if not problems:
        votes = {unit: given.value for unit, given in settled.items() if given.outcome is not Outcome.OPEN}
        standing = {**votes, **earlier}
        standing |= {unit: label.value for unit, label in final.items()}
        before = _broken(protocol, votes)
        for unit, sentence in _broken(protocol, standing).items():
            if before.get(unit) != sentence:  # what the votes alone settle stands, as labels made elsewhere may
                problems.append(Misfit(unit, sentence if unit[1] == "item" else f"{sentence} ({unit[1]})"))
    return list(final.values()), problems


def _checked(
    session: Session,
    study: Study,
    protocol: Protocol,
    study_item_id: int,
    decision: UnitDecision,
    *,
    settled: Mapping[tuple[str, str], Settled],
    reason: str | None,
) -> AdjudicatedLabel:
    """One decision as it is stored; InvalidInput for a value that does not fit, or that lacks a reason."""
    unit = (decision.criterion, decision.target)
    if unit not in settled:
        raise InvalidInput(
            f"Nobody labelled {decision.criterion!r} of {decision.target!r}, and it is not asked of this item, so that "
            "it is not decided. Leave it out."
        )
    criterion = protocol.criterion(decision.criterion)
    value = criterion.check(decision.value)
    if criterion.vote(value) not in settled[unit].votes:
        value = _fitted(session, study, study_item_id, criterion, value)
    majority = settled[unit].majority
    overrules = majority is not None and criterion.vote(majority) != criterion.vote(value)
    why = (decision.reason or "").strip() or None
    note = (decision.note or "").strip() or None
    check_said(decision.cause, decision.confidence, note)
    if overrules and not why and not (reason or "").strip():
        raise InvalidInput(
            f"{criterion.title}: {majority!r} has the majority, and you decide {value!r}. Give a reason."
        )
    return AdjudicatedLabel(
        adjudication_id=0,
        criterion=decision.criterion,
        target=decision.target,
        value=value,
        overrules=overrules,
        reason=why,
        cause=decision.cause,
        confidence=decision.confidence,
        note=note,
    )


def _broken(protocol: Protocol, values: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], str]:
    """Which of these final labels cannot stand beside the others, and what is said of each."""
    labels = {unit: GivenLabel(*unit, value=value) for unit, value in values.items()}
    broken = broken_rules(protocol, labels.values(), labels)
    return {(label.criterion, label.target): sentence for label, sentence in broken}


def _fitted(session: Session, study: Study, study_item_id: int, criterion: Criterion, value: Value) -> Value:
    """A value that no annotator gave as it is stored; InvalidInput where it does not fit the item at the last step.

    What annotators gave stands even where it does not: labels that were made elsewhere may be about other parts.
    """
    _, units = units_at(session, study, study_item_id, len(protocol_of(study).steps) - 1)
    try:
        return criterion.check(value, units)
    except InvalidInput as error:
        raise InvalidInput(f"{criterion.title}: {error}") from None
