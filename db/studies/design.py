"""Studies: made with a frozen protocol and sample, listed, and followed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, bindparam, func, text
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from annotators.asking.asides import check_asked_of
from annotators.asking.judged_scores import ScoreKey, measuring
from annotators.asking.planting import Planting
from annotators.asking.repairs import Path
from annotators.criteria.suggested import OF_TARGET, WHEN, suggested_by
from annotators.designing.design import ItemChoice, StudyDesign, about, overlap_fault, refuse
from annotators.errors import AssayError, Conflict, InvalidInput, NotFound, Problem
from annotators.figures import some
from annotators.items.pairs import in_words
from annotators.items.sampling import OWN, Candidate, own_place, part_of, sample_digest
from annotators.protocols import Material, Protocol
from db.engine import Database, insert_many
from db.items.proposed import ItemOrPair, Suggester, SuggestionSources, suggester, without_proposals
from db.models import (
    Account,
    AssignmentState,
    Project,
    Score,
    Settlement,
    SettlementState,
    Study,
    StudyDraft,
    StudyItem,
    StudyMember,
    StudyState,
    Tally,
    now,
)
from db.names import no_study, visible_name
from db.people.accounts import who_may_revise
from db.permissions import ADJUDICATORS, ANNOTATORS, IN_STUDIES, READERS, Actor, On, Role, operation, role_in, roles_of
from db.phases.answers import standing_of
from db.query import database_time, table_of
from db.studies import tallies
from db.studies.places import is_gone
from db.studies.selection import (
    ChosenItems,
    JudgedScores,
    choose,
    latest_scores,
    scores_there,
    values_of,
)
from db.studies.unasked import items_have

T = TypeVar("T")

_STRATA = "system,category"

_PROTOCOLS: dict[str, Protocol] = {}
_PROTOCOLS_KEPT = 200
_ASKS_OF = sql_select(table_of(StudyItem).c.criteria).where(table_of(StudyItem).c.id == bindparam("item"))
_STUDIES: WeakKeyDictionary[Engine, dict[int, Study]] = WeakKeyDictionary()
_STUDIES_KEPT = 200


@dataclass(frozen=True)
class PlannedArm:
    """An arm of a study: its name, its items and slots, and its study once that is made."""

    name: str
    n_items: int
    n_slots: int
    study_id: int | None


@dataclass(frozen=True)
class StudyPlan:
    """What making a study would give: items and slots, and how many items are left out by which reason, with words."""

    n_items: int
    n_slots: int
    sample_hash: str
    reasons: dict[str, int]
    notes: tuple[str, ...]
    suggestions: str = "never"
    arms: tuple[PlannedArm, ...] = ()

    @property
    def left_out(self) -> int:
        """How many items were left out."""
        return sum(self.reasons.values())


@dataclass(frozen=True, kw_only=True)
class StudyMade(StudyPlan):
    """A new study: its id, what it was made with, and the hashes that it is known by."""

    study_id: int
    protocol_hash: str


def people_of(session: Session, project_id: int, design: StudyDesign) -> list[int]:
    """The ids of a design's annotators; NotFound and InvalidInput as `person_who_may_annotate`."""
    return [person_who_may_annotate(session, project_id, name) for name in design.annotators]


def checked(
    session: Session,
    project_id: int,
    protocol: Protocol,
    design: StudyDesign,
    *,
    people: bool = True,
    drafts: bool = False,
) -> tuple[list[int], Suggestions, ChosenItems]:
    """The annotators, suggestions and items of a design; everything that is wrong with it is raised at once.

    Without `people` the name and the annotators are not looked at; with `drafts` the name may be that of a draft.
    """
    wrong: list[AssayError] = []

    def tried(field: Path, made: Callable[[], T], other: T) -> T:
        try:
            with about(*field):
                return made()
        except AssayError as error:
            wrong.append(error)
            return other

    ids: list[int] = []
    if people:
        tried(("name",), partial(_check_name, session, project_id, design.name, drafts=drafts), None)
        for place, name in enumerate(design.annotators):
            ids.append(tried(("annotators", place), partial(person_who_may_annotate, session, project_id, name), 0))
    faults = list(design.faults(design.overlap_of(protocol), at=now()))
    fields = {field[0] for field, _ in faults}
    wrong += [
        InvalidInput(message, [Problem.of(message, field)])
        for field, message in faults
        if people or field[0] not in OF_PEOPLE
    ]
    suggestions, chosen = Suggestions("never"), ChosenItems([])
    if "suggestions" not in fields:
        asked = partial(_suggestions, session, project_id, protocol, design)
        suggestions = tried(("suggestions",), asked, suggestions)
    if "ask" not in fields:
        tried(("ask",), partial(check_asked_of, protocol, design.ask), None)
    if people and design.separate_revisers:
        tried(("separate_revisers",), partial(_check_revisers, session, project_id, design.annotators), None)
    if not fields & set(ItemChoice.model_fields):
        chosen = tried(("sample",), partial(choose, session, project_id, protocol, design), chosen)
    if people and chosen.ordered and not fields & {"quota", "quotas", *OF_PEOPLE}:
        tried(("quota" if design.quota else "quotas",), partial(_check_quotas, protocol, design, chosen), None)
    refuse(wrong)
    return ids, suggestions, _with_note(session, protocol, suggestions, chosen)


OF_PEOPLE = ("annotators", "overlap")
"""Fields that may not be filled in yet while a design is looked at without its people."""


def _check_quotas(protocol: Protocol, design: StudyDesign, chosen: ChosenItems) -> None:
    if wrong := design.quota_fault(len(chosen.ordered), protocol):
        raise InvalidInput(wrong)


def _check_revisers(session: Session, project_id: int, annotators: Sequence[str]) -> None:
    """Raise InvalidInput where everybody who may revise items would judge them."""
    may = who_may_revise(session, project_id)
    if set(may.values()) <= set(annotators):
        raise InvalidInput(
            f"Nobody could revise its items: whoever judges must not, and all who may revise here annotate "
            f"({', '.join(may.values())}). Take one of them out of the annotators, make somebody else a researcher of "
            "the project, or leave separate_revisers out."
        )


def choose_and_insert(
    session: Session, actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign
) -> Study:
    """A study without its annotators, frozen with its sample and scores, in the caller's transaction."""
    _, suggestions, chosen = checked(session, project_id, protocol, design, people=False)
    return insert_frozen(session, actor, project_id, protocol, design, suggestions=suggestions, chosen=chosen)


def insert_frozen(
    session: Session,
    actor: Actor,
    project_id: int,
    protocol: Protocol,
    design: StudyDesign,
    *,
    suggestions: Suggestions,
    chosen: ChosenItems,
) -> Study:
    """A study without its annotators, frozen with its sample and scores, in the caller's transaction."""
    study = _insert_study(session, actor, project_id, protocol=protocol, design=design, chosen=chosen)
    if suggestions.when != "never":
        study.settings = {**study.settings, "suggestions": suggestions.when}
    if suggestions.judge is not None:
        study.settings = {**study.settings, "suggested_judge": suggestions.judge.to_json()}
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
    return study


class Suggestions(NamedTuple):
    """When a study shows what models propose, and the scores that some of it is from, or the judge that all is."""

    when: str
    scores: JudgedScores | None = None
    judge: Suggester | None = None

    @property
    def sources(self) -> SuggestionSources:
        """Where they are from."""
        return SuggestionSources(self.scores.judged if self.scores else {}, self.judge)


def _suggestions(session: Session, project_id: int, protocol: Protocol, design: StudyDesign) -> Suggestions:
    """When a study shows suggestions, and the scores that some are from.

    InvalidInput for a time that is none, a protocol for whose labels nothing is proposed, a score that is not there;
    NotFound for a judge that has labelled nothing by the protocol.
    """
    listed = protocol.first_step_showing(Material.SUGGESTIONS) is not None
    when = design.suggestions or ("before" if listed and not protocol.not_yet() else "never")
    if when not in WHEN:
        raise InvalidInput(f"{when!r} says not when suggestions are shown. Known: {', '.join(WHEN)}.")
    if when == "never":
        return Suggestions(when)
    judge = design.suggested_by is not None
    if protocol.about_pairs and not judge:
        raise InvalidInput(
            f"The protocol {protocol.name!r} is about two answers, of which only a judge proposes labels. Name one "
            f"that has labelled by it, or say never instead of {when!r}."
        )
    if not any(protocol.suggests_at(step, judge=judge) for step in range(len(protocol.steps))):
        raise InvalidInput(
            f"Nothing proposes labels for the protocol {protocol.name!r}, so that none can be shown {when}. Take "
            "never, name a judge that has labelled by it, or take a protocol that says where suggestions are from "
            "(`suggested_by`)."
        )
    if design.suggested_by is not None:
        return Suggestions(when, judge=suggester(session, project_id, protocol, design.suggested_by))
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
    return Suggestions(when, JudgedScores(project_id, tuple(scorers), judged) if judged else None)


def _with_note(session: Session, protocol: Protocol, suggestions: Suggestions, chosen: ChosenItems) -> ChosenItems:
    """The items of a study, with a note on those for which nothing is suggested."""
    if suggestions.when == "never":
        return chosen
    places = [_place(candidate) for candidate in chosen.ordered]
    values = {} if suggestions.scores is None else values_of(session, suggestions.scores)
    without = without_proposals(session, protocol, places, suggestions.sources, values)
    if not without:
        return chosen
    named = [in_words(candidate.name) for candidate in chosen.ordered if _place(candidate) in without]
    have = items_have(len(without), protocol.noun)
    note = f"{have} nothing that is suggested ({some(named, 3)}): annotators see no suggestion."
    if len(without) == len(places):
        each = f"{len(places):,} {protocol.noun}s"
        note = f"None of the {each} has anything that is suggested: annotators see no suggestion."
    return replace(chosen, notes=(*chosen.notes, note))


def _place(candidate: Candidate) -> ItemOrPair:
    return candidate.version_id, candidate.other.version_id if candidate.other else None


LONGEST_NAME = 200


def _check_name(session: Session, project_id: int, name: str, *, drafts: bool) -> None:
    if not name.strip():
        raise InvalidInput("A study needs a name.")
    visible_name(name, "study's name", LONGEST_NAME)
    if session.exec(select(Study.id).where(Study.project_id == project_id, Study.name == name.strip())).first():
        raise Conflict(f"The project has a study named {name!r} already. Choose another name.")
    if not drafts and _is_draft(session, project_id, name.strip()):
        raise Conflict(f"The project has a draft named {name!r} already. Start it, or choose another name.")


def _is_draft(session: Session, project_id: int, name: str) -> bool:
    draft = select(StudyDraft.id).where(StudyDraft.project_id == project_id, StudyDraft.name == name)
    return session.exec(draft).first() is not None


def check_overlap(overlap: int, annotators: int, *, what: str = "are named") -> None:
    """InvalidInput for an overlap that so many annotators cannot give."""
    if wrong := overlap_fault(overlap, annotators, what=what):
        raise InvalidInput(wrong)


def person_who_may_annotate(session: Session, project_id: int, name: str) -> int:
    """The id of the person; NotFound for nobody, InvalidInput for somebody whose role does not let them annotate."""
    found = session.exec(select(Account.person_id).where(Account.name == name)).first()
    if found is None:
        raise NotFound(f"There is nobody named {name!r}. Add them with: assay user add {name}")
    role = role_in(session, found, project_id)
    if role not in ANNOTATORS:
        raise InvalidInput(
            f"{name!r} may not annotate in this project (role: {role or 'none'}). "
            f"Give them a role with: assay member add PROJECT {name} --role annotator"
        )
    return found


def digest_of(ordered: Sequence[Candidate]) -> str:
    """SHA-256 that the sample is known by."""
    return sample_digest(candidate.digest for candidate in ordered)


def _insert_study(
    session: Session,
    actor: Actor,
    project_id: int,
    *,
    protocol: Protocol,
    design: StudyDesign,
    chosen: ChosenItems,
) -> Study:
    ordered = chosen.ordered
    n_items, overlap, of_part = len(ordered), design.overlap_of(protocol), design.part_overlap or 0
    n_slots, widest = design.n_slots(n_items, protocol), max(overlap, of_part)
    study = Study(
        project_id=project_id,
        name=design.name.strip(),
        protocol_name=protocol.name,
        protocol_version=protocol.version,
        protocol=protocol.model_dump(mode="json"),
        protocol_hash=protocol.digest(),
        sample_hash=digest_of(ordered),
        overlap=overlap,
        item_order=design.order,
        seed=design.seed,
        rule=design.rule,
        lease_minutes=design.lease_minutes,
        show_scores=list(design.show_scores),
        settings=design.in_settings(),
        n_items=n_items,
        evidence_step=protocol.first_step_showing(Material.EVIDENCE),
        documents_step=protocol.first_step_showing(Material.DOCUMENTS),
        images_step=protocol.first_step_showing(Material.IMAGES),
        next_queue=n_items * widest,
        deadline=None if design.deadline is None else design.deadline.astimezone(UTC),
        created_by=actor.person_id,
    )
    session.add(study)
    session.flush()
    connection = session.connection()
    part = set() if design.part is None else part_of(ordered, design.part, design.per or _STRATA, design.seed)
    study.settings = {
        **study.settings,
        **({"part_items": len(part)} if part else {}),
        **({"queue_width": widest} if study.item_order == OWN else {}),
    }
    rows = [
        (
            study.id, candidate.version_id, position, candidate.other and candidate.other.version_id,
            candidate.other_left, of_part if candidate.name in part else None,
            *(chosen.keys[position] if chosen.keys else (None, None)),
        )
        for position, candidate in enumerate(ordered)
    ]  # fmt: skip
    columns = ["study_id", "item_version_id", "position", "other_version_id", "other_left", "overlap"]
    columns += ["sampling_weight", "sampling_key"]
    insert_many(connection, "study_item", columns, rows)
    for slot in range(widest):
        session.execute(
            text(
                "INSERT INTO assignment (study_id, study_item_id, kind, state, queue, sitting, steps_done) "
                "SELECT study_id, id, 'slot', 'open', position * :widest + :slot, 1, 0 FROM study_item "
                "WHERE study_id = :study AND coalesce(overlap, :overlap) > :slot"
            ),
            {"widest": widest, "overlap": overlap, "slot": slot, "study": study.id},
        )
    assert study.id is not None
    session.add(Tally(study_id=study.id, person_id=tallies.EVERYBODY, state=AssignmentState.OPEN, n=n_slots))
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


@operation(On.PROJECT, IN_STUDIES)
def find_study(db: Database, _actor: Actor, project_id: int, *, name: str) -> int:
    """The id of the study with this name; NotFound lists the project's studies, Conflict says that it is a draft."""
    with db.read() as session:
        names = {study.name: study.id for study in session.exec(select(Study).where(Study.project_id == project_id))}
        found = names.get(name)
        if found is None and _is_draft(session, project_id, name):
            raise Conflict(
                f"Study {name!r} is a draft: nobody gets its items, and nothing of it is frozen. Start it first: "
                f"assay study start PROJECT {name}"
            )
    if found is None:
        raise no_study(name, list(names))
    return found


@dataclass(frozen=True)
class StudyRow:
    """A study in a list: what it is and how far it is, for everybody and (done, of) for the person who looks.

    `is_annotator`: they are one now; somebody who was taken out of the study still sees it. `left_for_me`: about how
    many items the person is still to annotate, none where they get none; where few are left, no more than they could
    be given now. `disputed`: for whomever they wait. `closed_to_me`: the study gives them
    nothing any more, as they failed its qualification, or declined to take part (`failed`, `declined`).
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
    left_for_me: int
    is_annotator: bool
    may_adjudicate: bool
    closed_to_me: str | None = None

    @property
    def waits_for_me(self) -> bool:
        """Whether the person who looks has something to annotate."""
        return self.left_for_me > 0


@operation(On.PROJECT, IN_STUDIES)
def list_studies(db: Database, actor: Actor, project_id: int) -> list[StudyRow]:
    """The project's studies; an annotator sees those they take part in."""
    with db.read() as session:
        return list(_rows(session, actor, project_id))


@operation(On.PROJECT, IN_STUDIES)
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


def _closed_to(session: Session, study: Study, place: StudyMember) -> str | None:
    if place.failed_at is not None:
        return "failed"
    standing = standing_of(session, study, place.person_id) if place.left_at is not None else None
    return "declined" if standing is not None and standing.declined else None


def _rows(session: Session, actor: Actor, project_id: int | None) -> Iterator[StudyRow]:
    query = select(Study, Project.name).join(Project).order_by(col(Study.id))
    if project_id is not None:
        query = query.where(Study.project_id == project_id)
    mine = {
        row.study_id: row for row in session.exec(select(StudyMember).where(StudyMember.person_id == actor.person_id))
    }
    roles = roles_of(session, actor.person_id)
    for study, project in session.exec(query):
        assert study.id is not None
        role = roles.of(study.project_id)
        if role not in READERS and (role is not Role.ANNOTATOR or study.id not in mine):
            continue
        own, everybody = tallies.counts(session, study.id, actor.person_id), tallies.counts(session, study.id)
        member = mine.get(study.id) if role in ANNOTATORS else None
        of, left = expected(session, study, member, own, n_open=everybody.get(AssignmentState.OPEN, 0))
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
            slots=max(slots_of(study), sum(everybody.get(state, 0) for state in _SLOTS)),
            disputed=disputed_items(session, study.id),
            done=tallies.done(own),
            of=of,
            returned=own.get(AssignmentState.RETURNED, 0) if member is not None and _gets_items(study, member) else 0,
            left_for_me=left,
            is_annotator=member is not None and member.left_at is None,
            may_adjudicate=role in ADJUDICATORS,
            closed_to_me=None if member is None else _closed_to(session, study, member),
        )


_FEW = 5_000
"""Open slots up to which it is counted which of them somebody could be given."""

# Items with an open slot, or one whose lease has run out, that the person has not had.
_TO_GIVE = text(
    "SELECT count(*) FROM (SELECT DISTINCT o.study_item_id FROM assignment o WHERE o.study_id = :study "
    "AND (o.state = 'open' OR (o.state = 'leased' AND o.lease_until <= :now)) "
    "AND NOT EXISTS (SELECT 1 FROM assignment h WHERE h.study_item_id = o.study_item_id AND h.person_id = :person)"
    ") AS item"
)


def _gets_items(study: Study, member: StudyMember) -> bool:
    """Whether somebody gets items of a study now, as `db.annotating.assignments.is_halted` says it."""
    late = study.deadline is not None and study.deadline <= now()
    return study.state == StudyState.RUNNING and not late and not is_gone(member)


def _left_for(
    session: Session, study: Study, member: StudyMember, own: Mapping[str, int], *, n_open: int, of: int
) -> int:
    """About how many items somebody who gets items is still to annotate, what they have at hand included."""
    at_hand = own.get(AssignmentState.LEASED, 0) + own.get(AssignmentState.RETURNED, 0)
    part = of - tallies.done(own)
    if n_open <= _FEW:
        asked = {"study": study.id, "person": member.person_id, "now": database_time(session, now())}
        there = int(session.execute(_TO_GIVE, asked).scalar_one()) + at_hand
        # Whoever has done an equal part goes on while others leave something.
        part = min(part, there) if part > 0 else there
    if member.quota is not None:
        part = min(part, max(0, member.quota - tallies.done(own)))
    return max(part, at_hand)


def left_to_give(session: Session, study: Study, member: StudyMember) -> int:
    """About how many items a study has left for somebody who is in it, even while it gives none."""
    assert study.id is not None
    own, everybody = (tallies.counts(session, study.id, who) for who in (member.person_id, tallies.EVERYBODY))
    of = _share(session, study, tallies.done(own), member.quota)
    return _left_for(session, study, member, own, n_open=everybody.get(AssignmentState.OPEN, 0), of=of)


def disputed_items(session: Session, study_id: int) -> int:
    """How many items of the study wait for an adjudicator."""
    return tallies.settled(session, study_id)[SettlementState.DISPUTED]


def expected(
    session: Session, study: Study, member: StudyMember | None, own: Mapping[str, int], *, n_open: int
) -> tuple[int, int]:
    """About how many items somebody will have done at a study's end; how many of them are left, at most their quota.

    `own` are their assignments by state, `n_open` the study's open slots. Who gets no items has an equal part of all
    and none left.
    """
    done = tallies.done(own)
    of = _share(session, study, done, member.quota if member is not None else None)
    if member is None or not _gets_items(study, member):
        return of, 0
    left = _left_for(session, study, member, own, n_open=n_open, of=of)
    return done + left, left


def _share(session: Session, study: Study, done: int, quota: int | None) -> int:
    active = select(func.count()).where(StudyMember.study_id == study.id, col(StudyMember.left_at).is_(None))
    members: int = session.execute(active).scalar_one()
    return equal_part(study, members, done, quota)


def equal_part(study: Study, members: int, done: int, quota: int | None = None, *, at_hand: int = 0) -> int:
    """An equal part of all slots and about what is planted among them, at least what is done and what is at hand.

    Who has a quota does that, as far as there are items.
    """
    part = study.n_items if quota is not None else min(study.n_items, math.ceil(slots_of(study) / max(1, members)))
    planted = Planting.of(study.settings).added_to(part, study.settings.get("gold_items", 0))
    return max(done + at_hand, part + planted if quota is None else min(quota, part + planted))


def slots_of(study: Study) -> int:
    """How many annotations the items of a study need, but for those that more are asked of as people disagreed."""
    more = int(study.settings.get("part_overlap") or 0) - study.overlap
    return study.n_items * study.overlap + int(study.settings.get("part_items", 0)) * max(0, more)


_SLOTS = (AssignmentState.OPEN, AssignmentState.LEASED, AssignmentState.SUBMITTED, AssignmentState.RETURNED)


@operation(On.STUDY, IN_STUDIES)
def study_facts(db: Database, _actor: Actor, study_id: int) -> Study:
    """The study's row, detached: design, snapshot of the protocol, hashes."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        session.expunge(study)
        return study


def has_rechecks(study: Study) -> bool:
    """Whether some items came back to the study in a later version."""
    return bool(study.settings.get("rechecks"))


def turns_begin(study: Study, person_id: int, turn: int) -> int:
    """Where in the queue a turn of somebody's begins, in a study in which everybody has an order of their own."""
    key = f"{study.seed}\x00{study.sample_hash}\x00{study.id}\x00{person_id}"
    return own_place(turn, study.n_items, key) * int(study.settings["queue_width"])


def asks_of(connection: Connection, study: Study, study_item_id: int) -> frozenset[str] | None:
    """The criteria that are asked of an item of a study; None: all of the protocol's."""
    if not has_rechecks(study):
        return None
    criteria = connection.execute(_ASKS_OF, {"item": study_item_id}).scalar_one()
    return None if criteria is None else frozenset(criteria)


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
