"""Studies: made with a frozen protocol and sample, listed, and followed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, func, text
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from annotators.asking.judged_scores import ScoreKey, measuring
from annotators.asking.planting import Planting
from annotators.criteria.suggested import OF_TARGET, WHEN, suggested_by
from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.figures import some
from annotators.items.sampling import Candidate, sample_digest
from annotators.protocols import Material, Protocol
from db.engine import Database, insert_many
from db.items.proposed import versions_without_proposals
from db.models import (
    Account,
    AssignmentState,
    Membership,
    Person,
    Project,
    Score,
    Settlement,
    SettlementState,
    Study,
    StudyItem,
    StudyMember,
    StudyState,
    Tally,
)
from db.names import no_study
from db.permissions import ANNOTATORS, EVERYBODY, RESEARCHERS, Actor, On, Role, operation, record
from db.studies import tallies
from db.studies.selection import (
    ChosenItems,
    ItemChoice,
    JudgedScores,
    choose,
    latest_scores,
    scores_there,
    values_of,
)
from db.studies.unasked import items_have

RULES = ("unanimous", "majority")

_PROTOCOLS: dict[str, Protocol] = {}
_PROTOCOLS_KEPT = 200
_STUDIES: WeakKeyDictionary[Engine, dict[int, Study]] = WeakKeyDictionary()
_STUDIES_KEPT = 200


@dataclass(frozen=True)
class StudyDesign(ItemChoice):
    """What a researcher decides about a study besides its protocol: who judges which items, and how it is settled.

    `suggestions` says when what models propose is shown (`annotators.criteria.suggested.WHEN`); None: before, where the
    protocol shows suggestions, else never.
    """

    name: str
    annotators: tuple[str, ...]
    overlap: int
    rule: str = "unanimous"
    lease_minutes: int = 60
    suggestions: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyPlan:
    """What making a study would give: items and slots, and how many items are left out by which reason, with words."""

    n_items: int
    n_slots: int
    sample_hash: str
    reasons: dict[str, int]
    notes: tuple[str, ...]
    suggestions: str = "never"

    @property
    def left_out(self) -> int:
        """How many items were left out."""
        return sum(self.reasons.values())


@dataclass(frozen=True, kw_only=True)
class StudyMade(StudyPlan):
    """A new study: its id, what it was made with, and the hashes that it is known by."""

    study_id: int
    protocol_hash: str


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
                person_who_may_annotate(session, project_id, name)
        suggestions, chosen = _choose(session, project_id, protocol, design)
    n = len(chosen.ordered)
    return StudyPlan(n, n * design.overlap, _digest(chosen.ordered), chosen.reasons, chosen.notes, suggestions.when)


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
        people = [person_who_may_annotate(session, project_id, name) for name in design.annotators]
        study, chosen = choose_and_insert(session, actor, project_id, protocol=protocol, design=design)
        assert study.id is not None
        for person_id in people:
            session.add(StudyMember(study_id=study.id, person_id=person_id))
        session.flush()
        left_out = {"left_out": chosen.left_out, "left_out_by": chosen.reasons} if chosen.left_out else {}
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
                "items": len(chosen.ordered),
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
            reasons=chosen.reasons,
            notes=chosen.notes,
            suggestions=study.settings.get("suggestions", "never"),
        )


def choose_and_insert(
    session: Session, actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign
) -> tuple[Study, ChosenItems]:
    """A study without its annotators, frozen with its sample and scores, in the caller's transaction."""
    suggestions, chosen = _choose(session, project_id, protocol, design)
    study = _insert_study(session, actor, project_id, protocol=protocol, design=design, ordered=chosen.ordered)
    if suggestions.when != "never":
        study.settings = {**study.settings, "suggestions": suggestions.when}
    if suggestions.scores is not None:
        _freeze_scores(session, study, suggestions.scores)
        suggested = {name: [list(key) for key in keys] for name, keys in suggestions.scores.judged.items()}
        study.settings = {**study.settings, "suggested_scores": suggested}
    if chosen.scores is not None:
        _freeze_scores(session, study, chosen.scores)
        study.show_scores = list(chosen.scores.scorers)
        judged = {name: [list(key) for key in keys] for name, keys in chosen.scores.judged.items()}
        study.settings = {**study.settings, "scores_judged": judged}
    if chosen.left_out:
        study.settings = {**study.settings, "left_out": chosen.left_out, "left_out_by": chosen.reasons}
    return study, chosen


class _Suggestions(NamedTuple):
    when: str
    scores: JudgedScores | None = None


def _suggestions(session: Session, project_id: int, protocol: Protocol, design: StudyDesign) -> _Suggestions:
    """When a study shows suggestions, and the scores that some are from.

    InvalidInput for a time that is none, a protocol for whose labels nothing is proposed, a score that is not there.
    """
    listed = protocol.first_step_showing(Material.SUGGESTIONS) is not None
    when = design.suggestions or ("before" if listed and not protocol.not_yet() else "never")
    if when not in WHEN:
        raise InvalidInput(f"{when!r} says not when suggestions are shown. Known: {', '.join(WHEN)}.")
    if when == "never":
        return _Suggestions(when)
    if protocol.about_pairs or not any(protocol.suggests_at(step) for step in range(len(protocol.steps))):
        raise InvalidInput(
            f"Nothing proposes labels for the protocol {protocol.name!r}, so that none can be shown {when}. Take "
            "never, or a protocol that says where suggestions are from (`suggested_by`)."
        )
    there = scores_there(session, project_id)
    judged: dict[str, list[ScoreKey]] = {}
    for criterion in protocol.criteria:
        source = suggested_by(criterion)
        if source is None or source in OF_TARGET:
            continue
        judged[criterion.name] = [key for key in there if source in key] or measuring([source], there)
        if not judged[criterion.name]:
            names = ", ".join(dict.fromkeys(name for key in there for name in key)) or "none"
            raise InvalidInput(
                f"Criterion {criterion.name!r} is suggested by the score {source!r}, which the project does not have. "
                f"Compute or import it, or show no suggestions. Scores: {names}."
            )
    scorers = dict.fromkeys(scorer for keys in judged.values() for scorer, _ in keys)
    return _Suggestions(when, JudgedScores(project_id, tuple(scorers), judged) if judged else None)


def _choose(
    session: Session, project_id: int, protocol: Protocol, design: StudyDesign
) -> tuple[_Suggestions, ChosenItems]:
    """The suggestions and the items of a study, with a note on those for which nothing is suggested."""
    suggestions = _suggestions(session, project_id, protocol, design)
    chosen = choose(session, project_id, protocol, design)
    if suggestions.when == "never":
        return suggestions, chosen
    judged = suggestions.scores.judged if suggestions.scores else {}
    versions = [candidate.version_id for candidate in chosen.ordered]
    values = {} if suggestions.scores is None else values_of(session, suggestions.scores)
    without = versions_without_proposals(session, protocol, versions, judged, values)
    if not without:
        return suggestions, chosen
    named = [candidate.external_id for candidate in chosen.ordered if candidate.version_id in without]
    note = f"{items_have(len(without))} nothing that is suggested ({some(named, 3)}): annotators see no suggestion."
    if len(without) == len(versions):
        note = f"None of the {len(versions):,} items has anything that is suggested: annotators see no suggestion."
    return suggestions, replace(chosen, notes=(*chosen.notes, note))


def _check_name(session: Session, project_id: int, name: str) -> None:
    if session.exec(select(Study.id).where(Study.project_id == project_id, Study.name == name)).first():
        raise Conflict(f"The project has a study named {name!r} already. Choose another name.")


def _check_design(design: StudyDesign) -> None:
    if not design.name.strip():
        raise InvalidInput("A study needs a name.")
    if not design.annotators:
        raise InvalidInput("A study needs at least one annotator.")
    if len(set(design.annotators)) != len(design.annotators):
        raise InvalidInput(f"An annotator is named twice: {', '.join(design.annotators)}. Name each once.")
    check_overlap(design.overlap, len(design.annotators))
    if design.rule not in RULES:
        raise InvalidInput(f"{design.rule!r} is not a rule for settling. Known: {', '.join(RULES)}.")
    if design.lease_minutes < 1:
        raise InvalidInput(f"A lease of {design.lease_minutes} minutes is too short. Give at least 1.")


def check_overlap(overlap: int, annotators: int, *, what: str = "are named") -> None:
    """InvalidInput for an overlap that so many annotators cannot give."""
    if not 1 <= overlap <= annotators:
        raise InvalidInput(
            f"An overlap of {overlap} needs as many different annotators; {annotators} {what}. "
            "Lower the overlap or name more annotators."
        )


def person_who_may_annotate(session: Session, project_id: int, name: str) -> int:
    """The id of the person; NotFound for nobody, InvalidInput for somebody whose role does not let them annotate."""
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
    return sample_digest(candidate.digest for candidate in ordered)


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
            **design.in_settings(),
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
    rows = [
        (study.id, candidate.version_id, position, candidate.other and candidate.other.version_id, candidate.other_left)
        for position, candidate in enumerate(ordered)
    ]
    columns = ["study_id", "item_version_id", "position", "other_version_id", "other_left"]
    insert_many(connection, "study_item", columns, rows)
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


def _freeze_scores(session: Session, study: Study, scores: JudgedScores, *, among: Sequence[int] | None = None) -> None:
    """Tie the study to score rows: of each named scorer the latest score of every item version.

    `among`: only of these study items.
    """
    frozen = (
        sql_select(col(StudyItem.id), col(Score.id))
        .join(Score, col(Score.item_version_id) == StudyItem.item_version_id)
        .where(col(StudyItem.study_id) == study.id, col(Score.id).in_(latest_scores(scores)))
    )
    if among is not None:
        frozen = frozen.where(col(StudyItem.id).in_(among))
    rows = [tuple(row) for row in session.execute(frozen)]
    insert_many(session.connection(), "study_score", ["study_item_id", "score_id"], rows)


def freeze_scores_of(session: Session, study: Study, study_item_ids: Sequence[int]) -> None:
    """Tie items that came to a study later to the scores that it shows or suggests from, as the sample's were."""
    suggested = study.settings.get("suggested_scores", {}).values()
    scorers = dict.fromkeys([*study.show_scores, *(scorer for keys in suggested for scorer, _ in keys)])
    if scorers:
        _freeze_scores(session, study, JudgedScores(study.project_id, tuple(scorers), {}), among=study_item_ids)


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
    """A study in a list: what it is and how far it is, for everybody and (done, of) for the person who looks.

    `is_annotator`: they are one now; somebody who was taken out of the study still sees it.
    """

    study_id: int
    name: str
    project_id: int
    project: str
    protocol: str
    n_items: int
    overlap: int
    state: str
    submitted: int
    slots: int
    disputed: int
    done: int
    of: int
    returned: int
    is_annotator: bool
    may_adjudicate: bool

    @property
    def left_for_me(self) -> int:
        """About how many items are still to be annotated by the person who looks: none of a study that gives none."""
        return max(0, self.of - self.done) if self.is_annotator and self.state == StudyState.RUNNING else 0

    @property
    def waits_for_me(self) -> bool:
        """Whether the person who looks has something to annotate."""
        return bool(self.left_for_me) or (self.is_annotator and self.state == StudyState.RUNNING and self.returned > 0)


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
    mine = dict(
        session.exec(
            select(StudyMember.study_id, StudyMember.left_at).where(StudyMember.person_id == actor.person_id)
        ).all()
    )
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
            state=study.state,
            submitted=everybody.get(AssignmentState.SUBMITTED, 0),
            slots=study.n_items * study.overlap,
            disputed=disputed_items(session, study.id),
            done=tallies.done(own),
            of=share(session, study, tallies.done(own)),
            returned=own.get(AssignmentState.RETURNED, 0),
            is_annotator=study.id in mine and mine[study.id] is None,
            may_adjudicate=role in (Role.RESEARCHER, Role.ADJUDICATOR),
        )


def disputed_items(session: Session, study_id: int) -> int:
    """How many items of the study wait for an adjudicator."""
    query = select(func.count()).where(Settlement.study_id == study_id, Settlement.state == SettlementState.DISPUTED)
    return int(session.execute(query).scalar_one())


def share(session: Session, study: Study, done: int) -> int:
    """About how many items one annotator of the study will have done at its end."""
    active = select(func.count()).where(StudyMember.study_id == study.id, col(StudyMember.left_at).is_(None))
    members: int = session.execute(active).scalar_one()
    return equal_part(study, members, done)


def equal_part(study: Study, members: int, done: int) -> int:
    """An equal part of all slots and about what is planted among them, at least what is done."""
    part = min(study.n_items, math.ceil(study.n_items * study.overlap / max(1, members)))
    planted = Planting.of(study.settings).added_to(part, study.settings.get("gold_items", 0))
    return max(done, part + planted)


def design_of(study: Study) -> dict[str, Any]:
    """How a study is made, by name, as it is now."""
    return {
        "protocol": study.protocol_name,
        "protocol_version": study.protocol_version,
        "items": study.n_items,
        "overlap": study.overlap,
        "order": study.item_order,
        "seed": study.seed,
        "rule": study.rule,
        "lease_minutes": study.lease_minutes,
        "show_scores": study.show_scores,
        "deadline": study.deadline.isoformat() if study.deadline else None,
    }


@operation(On.STUDY, EVERYBODY)
def study_facts(db: Database, _actor: Actor, study_id: int) -> Study:
    """The study's row, detached: design, snapshot of the protocol, hashes."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        session.expunge(study)
        return study


def frozen_study(
    session: Session, study_id: int, created_at: datetime, *, frozen: tuple[str, str], amended: int
) -> Study:
    """The study made at that moment, amended so often, detached: a row that everybody shares and nobody changes.

    `frozen` are the hashes of its protocol and of its sample.

    It is kept in this process. Between two amendments nothing changes of a study but `next_queue`, which is not to be
    read here; its moment is asked for because SQLite gives the ids of a deleted project out again.
    """
    studies = _STUDIES.setdefault(session.get_bind().engine, {})
    kept = studies.get(study_id)
    of = (created_at, *frozen, amended)
    if kept is None or (kept.created_at, kept.protocol_hash, kept.sample_hash, kept.amended) != of:
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
