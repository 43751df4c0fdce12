"""Studies: made with a frozen protocol and sample, listed, and followed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Engine, Select, func, text
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from annotators.asking.judged_scores import ScoreKey, scores_by_criterion
from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.items.sampling import Candidate, arrange, draw, sample_digest
from annotators.protocols import Material, Protocol
from db.engine import Database, insert_many
from db.items.current import batches_left_out, item_is_current, version_is_latest
from db.models import (
    Account,
    AssignmentState,
    Item,
    ItemVersion,
    Membership,
    Person,
    Project,
    Question,
    Run,
    Score,
    Settlement,
    SettlementState,
    Study,
    StudyItem,
    StudyMember,
    Tally,
)
from db.names import no_study
from db.permissions import ANNOTATORS, EVERYBODY, RESEARCHERS, Actor, On, Role, operation, record
from db.studies import tallies
from db.studies.unasked import notes_on_what_is_not_asked

RULES = ("unanimous", "majority")

_PROTOCOLS: dict[str, Protocol] = {}
_PROTOCOLS_KEPT = 200
_STUDIES: WeakKeyDictionary[Engine, dict[int, Study]] = WeakKeyDictionary()
_STUDIES_KEPT = 200


@dataclass(frozen=True)
class StudyDesign:
    """What a researcher decides about a study besides its protocol.

    `sample` items are taken of every stratum `per` (system, category or both); None takes all. `show_scores` names the
    scorers whose scores a protocol about scores is about, in front the one to be judged where several fit a criterion;
    empty means the imported ones, else phrase_recall and hallucination. `items` are external ids: only these are
    sampled from; empty means all of the project.
    """

    name: str
    annotators: tuple[str, ...]
    overlap: int
    sample: int | None = None
    per: str | None = None
    seed: int = 0
    order: str = "shuffled"
    rule: str = "unanimous"
    lease_minutes: int = 60
    show_scores: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyMade:
    """A new study: its id, its items and slots, the hashes it is known by, and how many items were left out and why."""

    study_id: int
    n_items: int
    n_slots: int
    protocol_hash: str
    sample_hash: str
    left_out: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyPlan:
    """What making a study would give: items and slots, how many items are not sampled from, and why, in words."""

    n_items: int
    n_slots: int
    sample_hash: str
    left_out: int
    notes: tuple[str, ...]


def candidates(session: Session, project_id: int) -> list[Candidate]:
    """Every item of a project in its current version, withdrawn batches left out."""
    rows = session.execute(
        sql_select(
            col(ItemVersion.id),
            col(Item.external_id),
            col(Question.key),
            col(Item.system),
            func.coalesce(col(ItemVersion.category), ""),
            col(ItemVersion.content_hash),
        )
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .join(Question, col(Question.id) == Item.question_id)
        .where(col(Item.project_id) == project_id, item_is_current(), version_is_latest())
        .order_by(col(ItemVersion.id))
    )
    return [Candidate(*row) for row in rows]


@operation(On.PROJECT, RESEARCHERS)
def plan_study(
    db: Database, _actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign, people: bool = True
) -> StudyPlan:
    """What `create_study` would make of the same, without making it. Raises what that would raise.

    Without `people` the name and the annotators are not looked at, as they may not be filled in yet.
    """
    with db.read() as session:
        if people:
            _check_design(design)
            _check_name(session, project_id, design.name)
            for name in design.annotators:
                _annotator(session, project_id, name)
        drawn = _draw(session, project_id, protocol, design)
    n = len(drawn.ordered)
    return StudyPlan(n, n * design.overlap, _digest(drawn.ordered), drawn.left_out, drawn.notes)


@operation(On.PROJECT, RESEARCHERS)
def create_study(db: Database, actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign) -> StudyMade:
    """Freeze a protocol and a sample of items into a study, with all its slots open.

    A study about scores takes only items that have a value of one of these. Raises InvalidInput for a design that
    cannot be carried out (no items, an overlap larger than the number of annotators, somebody who may not annotate
    here, a protocol of which something does not work yet) and Conflict for a name that is taken.
    """
    _check_design(design)
    with db.write() as session:
        _check_name(session, project_id, design.name)
        people = [_annotator(session, project_id, name) for name in design.annotators]
        drawn = _draw(session, project_id, protocol, design)
        study = _insert_study(session, actor, project_id, protocol=protocol, design=design, ordered=drawn.ordered)
        assert study.id is not None
        for person_id in people:
            session.add(StudyMember(study_id=study.id, person_id=person_id))
        session.flush()
        left_out = {"left_out": drawn.left_out} if drawn.left_out else {}
        if drawn.scores is not None:
            _freeze_scores(session, study, drawn.scores)
            judged = {name: [list(key) for key in keys] for name, keys in drawn.scores.judged.items()}
            study.settings = {**study.settings, "scores_judged": judged, **left_out}
        record(
            session,
            actor,
            "study created",
            "study",
            study.id,
            project_id=project_id,
            details={
                "name": design.name,
                "protocol": protocol.name,
                "items": len(drawn.ordered),
                "overlap": design.overlap,
                **left_out,
            },
        )
        return StudyMade(
            study_id=study.id,
            n_items=study.n_items,
            n_slots=study.n_items * design.overlap,
            protocol_hash=study.protocol_hash,
            sample_hash=study.sample_hash,
            left_out=drawn.left_out,
            notes=drawn.notes,
        )


@dataclass(frozen=True)
class _Scores:
    """The scores that a study is about: the scorers, all their values, and those that each criterion is about."""

    project_id: int
    scorers: tuple[str, ...]
    judged: dict[str, list[ScoreKey]]

    @property
    def wanted(self) -> set[ScoreKey]:
        """What an item needs one value of; empty where no criterion says, and any will do."""
        return {key for keys in self.judged.values() for key in keys}


@dataclass(frozen=True)
class _Drawn:
    """The sample in its order, and what was left out beforehand."""

    ordered: list[Candidate]
    scores: _Scores | None = None
    left_out: int = 0
    notes: tuple[str, ...] = ()


def _draw(session: Session, project_id: int, protocol: Protocol, design: StudyDesign) -> _Drawn:
    """The items that a study would take: of those that can be judged, a sample, in order."""
    if not_yet := protocol.not_yet():
        raise InvalidInput("\n".join(not_yet))
    pool = _named(candidates(session, project_id), design.items)
    if not pool:
        raise InvalidInput("The project has no items to sample from. Import some first.")
    scores: _Scores | None = None
    left_out = 0
    notes: tuple[str, ...] = ()
    if protocol.about_scores:
        scores = _scores(session, project_id, protocol, design.show_scores)
        pool, left_out, notes = _with_scores(session, protocol, scores, pool)
    ordered = arrange(draw(pool, design.sample, design.per, design.seed), design.order, design.seed)
    notes += notes_on_what_is_not_asked(session, project_id, protocol, ordered)
    return _Drawn(ordered, scores, left_out, notes)


def _check_name(session: Session, project_id: int, name: str) -> None:
    if session.exec(select(Study.id).where(Study.project_id == project_id, Study.name == name)).first():
        raise Conflict(f"The project has a study named {name!r} already. Choose another name.")


def _named(pool: list[Candidate], items: Sequence[str]) -> list[Candidate]:
    """The candidates with these external ids, or all; InvalidInput names an item that is not there."""
    if not items:
        return pool
    known = {candidate.external_id for candidate in pool}
    missing = [item for item in items if item not in known]
    if missing:
        raise InvalidInput(
            f"The project has no item {missing[0]!r} ({len(missing)} of {len(items)} are not there). "
            "Name items by their external id."
        )
    wanted = set(items)
    return [candidate for candidate in pool if candidate.external_id in wanted]


def _check_design(design: StudyDesign) -> None:
    if not design.name.strip():
        raise InvalidInput("A study needs a name.")
    if not design.annotators:
        raise InvalidInput("A study needs at least one annotator.")
    if len(set(design.annotators)) != len(design.annotators):
        raise InvalidInput(f"An annotator is named twice: {', '.join(design.annotators)}. Name each once.")
    if not 1 <= design.overlap <= len(design.annotators):
        raise InvalidInput(
            f"An overlap of {design.overlap} needs as many different annotators; {len(design.annotators)} are named. "
            "Lower the overlap or name more annotators."
        )
    if design.rule not in RULES:
        raise InvalidInput(f"{design.rule!r} is not a rule for settling. Known: {', '.join(RULES)}.")
    if design.lease_minutes < 1:
        raise InvalidInput(f"A lease of {design.lease_minutes} minutes is too short. Give at least 1.")


def _annotator(session: Session, project_id: int, name: str) -> int:
    row = session.execute(
        select(Person.id, Person.is_admin, Person.default_role).join(Account).where(Account.name == name)
    ).first()
    if row is None:
        raise NotFound(f"There is nobody named {name!r}. Add them with: assay user add {name}")
    membership = session.get(Membership, (project_id, row[0]))
    role = membership.role if membership else row[2]
    if not row[1] and (role is None or Role(role) not in ANNOTATORS):
        raise InvalidInput(
            f"{name!r} may not annotate in this project (role: {role or 'none'}). "
            f"Give them a role with: assay member add PROJECT {name} --role annotator"
        )
    found: int = row[0]
    return found


def _digest(ordered: Sequence[Candidate]) -> str:
    return sample_digest((candidate.external_id, candidate.content_hash) for candidate in ordered)


def _insert_study(
    session: Session,
    actor: Actor,
    project_id: int,
    *,
    protocol: Protocol,
    design: StudyDesign,
    ordered: list[Candidate],
) -> Study:
    n_items, overlap = len(ordered), design.overlap
    study = Study(
        project_id=project_id,
        name=design.name.strip(),
        protocol_name=protocol.name,
        protocol_version=protocol.version,
        protocol=protocol.model_dump(mode="json"),
        protocol_hash=protocol.digest(),
        sample_hash=_digest(ordered),
        overlap=overlap,
        item_order=design.order,
        seed=design.seed,
        rule=design.rule,
        lease_minutes=design.lease_minutes,
        show_scores=list(design.show_scores),
        settings={
            "sample": design.sample,
            "per": design.per,
            **({"items": list(design.items)} if design.items else {}),
            **design.settings,
        },
        n_items=n_items,
        evidence_step=protocol.first_step_showing(Material.EVIDENCE),
        documents_step=protocol.first_step_showing(Material.DOCUMENTS),
        images_step=protocol.first_step_showing(Material.IMAGES),
        next_queue=n_items * overlap,
        created_by=actor.person_id,
    )
    session.add(study)
    session.flush()
    connection = session.connection()
    rows = [(study.id, candidate.version_id, position) for position, candidate in enumerate(ordered)]
    insert_many(connection, "study_item", ["study_id", "item_version_id", "position"], rows)
    for slot in range(overlap):
        session.execute(
            text(
                "INSERT INTO assignment (study_id, study_item_id, kind, state, queue, sitting, steps_done) "
                "SELECT study_id, id, 'slot', 'open', position * :overlap + :slot, 1, 0 FROM study_item "
                "WHERE study_id = :study"
            ),
            {"overlap": overlap, "slot": slot, "study": study.id},
        )
    assert study.id is not None
    session.add(Tally(study_id=study.id, person_id=tallies.EVERYBODY, state=AssignmentState.OPEN, n=n_items * overlap))
    return study


def _scores(session: Session, project_id: int, protocol: Protocol, named: Sequence[str]) -> _Scores:
    """The scores that a study of this protocol is about, from the named scorers or those that are taken without."""
    query = (
        sql_select(col(Run.name), col(Score.name))
        .join(Score, col(Score.run_id) == col(Run.id))
        .where(col(Run.project_id) == project_id, col(Score.target) == "item", _not_withdrawn())
        .distinct()
    )
    there = sorted(tuple(row) for row in session.execute(query))
    known = list(dict.fromkeys(scorer for scorer, _ in there))
    for name in named:
        if name not in known:
            raise InvalidInput(
                f"The project has no scores of {name!r}. Known: {', '.join(known) or 'none'}. "
                f"Compute them with: assay score PROJECT --scorer {name}"
            )
    wanted = list(named) or [name for name in known if name.startswith("imported:")]
    wanted = wanted or [name for name in ("phrase_recall", "hallucination") if name in known]
    if not wanted:
        raise InvalidInput(
            "This protocol is about scores, but the project has none. Import items with scores, or compute them with: "
            "assay score PROJECT --scorer phrase_recall"
        )
    judged = scores_by_criterion(protocol, [key for name in wanted for key in there if key[0] == name])
    if judged and not any(judged.values()):
        about = ", ".join(
            dict.fromkeys(word for criterion in protocol.criteria for word in protocol.scores_judged_by(criterion))
        )
        raise InvalidInput(
            f"No criterion of protocol {protocol.name!r} is about a score of {', '.join(wanted)}, but about "
            f"{about}. Choose other scores, or write a protocol whose criterion names them in `score`."
        )
    return _Scores(project_id, tuple(wanted), judged)


def _not_withdrawn() -> ColumnElement[bool]:
    return col(Run.batch_id).is_(None) | col(Run.batch_id).not_in(batches_left_out())


def _latest_scores(scores: _Scores) -> Select[Any]:
    """The ids of the scores that count: of each scorer and value the latest of an item version."""
    return (
        sql_select(func.max(Score.id))
        .join(Run, col(Run.id) == Score.run_id)
        .where(
            col(Run.project_id) == scores.project_id,
            col(Run.name).in_(scores.scorers),
            col(Score.target) == "item",
            _not_withdrawn(),
        )
        .group_by(col(Score.item_version_id), col(Run.name), col(Score.name))
    )


def _with_scores(
    session: Session, protocol: Protocol, scores: _Scores, pool: list[Candidate]
) -> tuple[list[Candidate], int, tuple[str, ...]]:
    """The candidates that have a value of a score that is judged, how many have none, and that in words."""
    query = (
        sql_select(col(Score.item_version_id), col(Run.name), col(Score.name), col(Score.value).is_not(None))
        .join(Run, col(Run.id) == Score.run_id)
        .where(col(Score.id).in_(_latest_scores(scores)))
    )
    valued: set[int] = set()
    unscored: set[int] = set()
    for version_id, scorer, name, has_value in session.execute(query.execution_options(yield_per=20_000)):
        if not scores.wanted or (scorer, name) in scores.wanted:
            (valued if has_value else unscored).add(version_id)
    kept = [candidate for candidate in pool if candidate.version_id in valued]
    if not kept:
        raise InvalidInput(
            f"None of the {len(pool):,} items has a score of {', '.join(scores.scorers)}. Compute them first."
        )
    titles = [protocol.criterion(name).title for name, keys in scores.judged.items() if keys]
    about = " and ".join(titles) or ", ".join(scores.scorers)
    notes = []
    if left_out := len(pool) - len(kept):
        without = sum(candidate.version_id in unscored for candidate in pool if candidate.version_id not in valued)
        have = "1 item has" if left_out == 1 else f"{left_out:,} items have"
        reason = f" ({without:,} with a reason: unscored)" if without else ""
        notes.append(f"{have} no score{reason}. This study is about {about}. Left out.")
    notes += [
        f"None of these scores is about {protocol.criterion(name).title}: it can only be answered with Cannot judge."
        for name, keys in scores.judged.items()
        if not keys
    ]
    return kept, left_out, tuple(notes)


def _freeze_scores(session: Session, study: Study, scores: _Scores) -> None:
    """Tie the study to the score rows it is about: of each named scorer the latest score of every item version."""
    frozen = (
        sql_select(col(StudyItem.id), col(Score.id))
        .join(Score, col(Score.item_version_id) == StudyItem.item_version_id)
        .where(col(StudyItem.study_id) == study.id, col(Score.id).in_(_latest_scores(scores)))
    )
    rows = [tuple(row) for row in session.execute(frozen)]
    insert_many(session.connection(), "study_score", ["study_item_id", "score_id"], rows)
    study.show_scores = list(scores.scorers)


# Reading --------------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, EVERYBODY)
def find_study(db: Database, _actor: Actor, project_id: int, *, name: str) -> int:
    """The id of the study with this name; NotFound lists the project's studies."""
    with db.read() as session:
        names = {study.name: study.id for study in session.exec(select(Study).where(Study.project_id == project_id))}
    found = names.get(name)
    if found is None:
        raise no_study(name, list(names))
    return found


@dataclass(frozen=True)
class StudyRow:
    """A study in a list: what it is and how far it is, for everybody and (done, of) for the person who looks."""

    study_id: int
    name: str
    project_id: int
    project: str
    protocol: str
    n_items: int
    overlap: int
    submitted: int
    slots: int
    disputed: int
    done: int
    of: int
    returned: int
    is_annotator: bool
    may_adjudicate: bool


@operation(On.PROJECT, EVERYBODY)
def list_studies(db: Database, actor: Actor, project_id: int) -> list[StudyRow]:
    """The project's studies; an annotator sees those they take part in."""
    with db.read() as session:
        return list(_rows(session, actor, project_id))


@operation(On.PROJECT, EVERYBODY)
def studies_to_compare(db: Database, _actor: Actor, project_id: int) -> list[int]:
    """The ids of the project's studies in which two people have labelled the same item, oldest first."""
    shared = select(Settlement.study_item_id).where(Settlement.study_id == Study.id, Settlement.n_annotations > 1)
    query = select(Study.id).where(Study.project_id == project_id, shared.exists()).order_by(col(Study.id))
    with db.read() as session:
        return [study_id for study_id in session.exec(query) if study_id is not None]


@operation(On.APP, anyone_signed_in=True)
def my_studies(db: Database, actor: Actor) -> list[StudyRow]:
    """Every study in which something may wait for me, in all projects."""
    with db.read() as session:
        return list(_rows(session, actor, None))


def _rows(session: Session, actor: Actor, project_id: int | None) -> Iterator[StudyRow]:
    query = select(Study, Project.name).join(Project).order_by(col(Study.id))
    if project_id is not None:
        query = query.where(Study.project_id == project_id)
    mine = set(session.exec(select(StudyMember.study_id).where(StudyMember.person_id == actor.person_id)))
    roles = dict(
        session.execute(
            select(Membership.project_id, Membership.role).where(Membership.person_id == actor.person_id)
        ).all()
    )
    for study, project in session.exec(query):
        assert study.id is not None
        role = Role.RESEARCHER if actor.is_admin else roles.get(study.project_id, actor.default_role)
        if role is None or (role == Role.ANNOTATOR and study.id not in mine):
            continue
        own, everybody = tallies.counts(session, study.id, actor.person_id), tallies.counts(session, study.id)
        yield StudyRow(
            study_id=study.id,
            name=study.name,
            project_id=study.project_id,
            project=project,
            protocol=study.protocol.get("title", study.protocol_name),
            n_items=study.n_items,
            overlap=study.overlap,
            submitted=everybody.get(AssignmentState.SUBMITTED, 0),
            slots=study.n_items * study.overlap,
            disputed=disputed_items(session, study.id),
            done=own.get(AssignmentState.SUBMITTED, 0),
            of=share(session, study, own.get(AssignmentState.SUBMITTED, 0)),
            returned=own.get(AssignmentState.RETURNED, 0),
            is_annotator=study.id in mine,
            may_adjudicate=role in (Role.RESEARCHER, Role.ADJUDICATOR),
        )


def disputed_items(session: Session, study_id: int) -> int:
    """How many items of the study wait for an adjudicator."""
    query = select(func.count()).where(Settlement.study_id == study_id, Settlement.state == SettlementState.DISPUTED)
    return int(session.execute(query).scalar_one())


def share(session: Session, study: Study, done: int) -> int:
    """About how many items one annotator of the study will have done at its end."""
    members: int = session.execute(select(func.count()).where(StudyMember.study_id == study.id)).scalar_one()
    return equal_part(study, members, done)


def equal_part(study: Study, members: int, done: int) -> int:
    """An equal part of all slots, at least what is done."""
    return max(done, min(study.n_items, math.ceil(study.n_items * study.overlap / max(1, members))))


@operation(On.STUDY, EVERYBODY)
def study_facts(db: Database, _actor: Actor, study_id: int) -> Study:
    """The study's row, detached: design, snapshot of the protocol, hashes."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        session.expunge(study)
        return study


def frozen_study(session: Session, study_id: int, created_at: datetime, protocol_hash: str) -> Study:
    """The study made at that moment, with that protocol, detached: a row that everybody shares and nobody changes.

    It is kept in this process. Of a study nothing changes once it is made but `next_queue`, which is not to be read
    here; its moment is asked for because SQLite gives the ids of a deleted project out again.
    """
    studies = _STUDIES.setdefault(session.get_bind().engine, {})
    kept = studies.get(study_id)
    if kept is None or (kept.created_at, kept.protocol_hash) != (created_at, protocol_hash):
        kept = session.get_one(Study, study_id)
        session.expunge(kept)
        if len(studies) >= _STUDIES_KEPT:
            studies.clear()
        studies[study_id] = kept
    return kept


def protocol_of(study: Study) -> Protocol:
    """The frozen protocol of a study; the same object for the same snapshot."""
    kept = _PROTOCOLS.get(study.protocol_hash)
    if kept is None:
        if len(_PROTOCOLS) >= _PROTOCOLS_KEPT:
            _PROTOCOLS.clear()
        kept = _PROTOCOLS[study.protocol_hash] = Protocol.model_validate(study.protocol)
    return kept
