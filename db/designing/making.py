"""Studies as they are made of a design: checked, planned, and frozen with all that belongs to them, or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlmodel import Session, select

from annotators.asking.qualifying import Qualifying
from annotators.designing.arms import Arm
from annotators.designing.design import StudyDesign, about, refuse
from annotators.designing.known import KnownItems, planting_of
from annotators.errors import AssayError, InvalidInput, Problem
from annotators.protocols import Protocol
from db.allotting.slots import allot, is_balanced
from db.designing.arms import designs_of_arms, of_arm
from db.designing.kept_plans import kept_plan
from db.engine import Database
from db.models import Purpose, Study, StudyMember, now
from db.names import no_study
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.quality.gold import add_known_items, gold_rows, settled_rows
from db.studies.design import PlannedArm, StudyMade, StudyPlan, Suggestions, checked, digest_of, insert_frozen
from db.studies.selection import ChosenItems


@operation(On.PROJECT, RESEARCHERS)
def plan_study(
    db: Database, actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign, people: bool = True
) -> StudyPlan:
    """What `create_study` would make of the same, without making it. Raises what that would raise.

    Without `people` the name and the annotators are not looked at, as they may not be filled in yet.
    """
    with db.write() if design.has_known else db.read() as session:
        return design_checked(session, actor, project_id, protocol, design, people=people)


def design_checked(
    session: Session,
    actor: Actor,
    project_id: int,
    protocol: Protocol,
    design: StudyDesign,
    *,
    people: bool = True,
    drafts: bool = False,
) -> StudyPlan:
    """As `plan_study`, in the caller's session, for writing where the design has known labels.

    With `drafts` the name may be that of a draft.
    """
    if design.arms:
        planned = [
            (arm, design_checked(session, actor, project_id, of, its, people=people))
            for arm, of, its in _arms_checked(session, actor, project_id, protocol, design, people=people)
        ]
        return _together(planned)

    def planned_now() -> StudyPlan:
        _, suggestions, chosen = _checked(session, actor, project_id, protocol, design, people=people, drafts=drafts)
        n = len(chosen.ordered)
        slots, digest = design.n_slots(n, protocol), digest_of(chosen.ordered)
        return StudyPlan(n, slots, digest, chosen.reasons, chosen.notes, suggestions.when)

    return planned_now() if people else kept_plan(session, project_id, protocol, design, make=planned_now)


@operation(On.PROJECT, RESEARCHERS)
def create_study(db: Database, actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign) -> StudyMade:
    """Freeze a protocol and a sample of items into a study, with all its slots open, its gold and its qualification.

    A study about scores takes only items that have a value of one of these. Raises InvalidInput for a design that
    cannot be carried out (no items, an overlap larger than the number of annotators, somebody who may not annotate
    here, a protocol of which something does not work yet, gold items that are in the sample) and Conflict for a name
    that is taken; what else is wrong is said as well, in the error's `problems` with the fields that it is about.
    """
    with db.write() as session:
        return create_in(session, actor, project_id, protocol=protocol, design=design)


def create_in(
    session: Session, actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign, of_draft: bool = False
) -> StudyMade:
    """As `create_study`, in the caller's transaction; `of_draft`: the name is that of a draft that it is made of."""
    if design.arms:
        return _create_arms(session, actor, project_id, protocol, design)
    people, suggestions, chosen = _checked(session, actor, project_id, protocol, design, drafts=of_draft)
    study = insert_frozen(session, actor, project_id, protocol, design, suggestions=suggestions, chosen=chosen)
    assert study.id is not None
    for name, person_id in zip(design.annotators, people, strict=True):
        session.add(StudyMember(study_id=study.id, person_id=person_id, quota=design.quota_of(name)))
    session.flush()
    if is_balanced(study):
        allot(session.connection(), study, people)
    _add_known(session, study, design)
    left_out = {"left_out": chosen.left_out, "left_out_by": chosen.reasons} if chosen.left_out else {}
    known = {name: n for name in ("gold_items", "planting", "qualifying") if (n := study.settings.get(name))}
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
            "overlap": study.overlap,
            **known,
            **left_out,
        },
    )
    return StudyMade(
        study_id=study.id,
        n_items=study.n_items,
        n_slots=design.n_slots(study.n_items, protocol),
        protocol_hash=study.protocol_hash,
        sample_hash=study.sample_hash,
        reasons=chosen.reasons,
        notes=chosen.notes,
        suggestions=study.settings.get("suggestions", "never"),
    )


def _checked(
    session: Session,
    actor: Actor,
    project_id: int,
    protocol: Protocol,
    design: StudyDesign,
    *,
    people: bool = True,
    drafts: bool = False,
) -> tuple[list[int], Suggestions, ChosenItems]:
    """As `checked`; also what the known labels of the design say is tried, and what is wrong with it raised as well."""
    wrong: list[AssayError] = []
    ids, suggestions, chosen = list[int](), Suggestions("never"), ChosenItems([])
    try:
        ids, suggestions, chosen = checked(session, project_id, protocol, design, people=people, drafts=drafts)
    except AssayError as error:
        wrong.append(error)
    if design.has_known:
        # A study of nothing but the known items, which is undone again: so all is tried that making it would do.
        trial = design.model_copy(update={"name": secrets.token_hex(16)})
        undone = session.begin_nested()
        study = insert_frozen(
            session, actor, project_id, protocol, trial, suggestions=Suggestions("never"), chosen=ChosenItems([])
        )
        wrong += _known_faults(session, study, design, {candidate.name for candidate in chosen.ordered})
        undone.rollback()
    refuse(wrong)
    return ids, suggestions, chosen


# Arms -----------------------------------------------------------------------------------------------------------------


def _create_arms(session: Session, actor: Actor, project_id: int, protocol: Protocol, design: StudyDesign) -> StudyMade:
    """A study for each arm, tied to one another; the first, with all of them."""
    made: list[tuple[Arm, StudyMade]] = []
    for arm, of, its in _arms_checked(session, actor, project_id, protocol, design):
        found = create_in(session, actor, project_id, protocol=of, design=its)
        made.append((arm, found))
        study = session.get_one(Study, found.study_id)
        tied = {"of": design.name.strip(), "name": arm.name, "allot": design.allot, "first": made[0][1].study_id}
        study.settings = {**study.settings, "arm": tied}
        session.add(study)
        session.flush()
    both = _together(made)
    return replace(made[0][1], n_items=both.n_items, n_slots=both.n_slots, arms=both.arms)


def _arms_checked(
    session: Session, actor: Actor, project_id: int, protocol: Protocol, design: StudyDesign, *, people: bool = True
) -> list[tuple[Arm, Protocol, StudyDesign]]:
    """The arms with their protocols and designs; what is wrong with any is raised, once each."""
    faults = list(design.faults(design.overlap_of(protocol), at=now()))
    refuse(
        [InvalidInput(message, [Problem.of(message, path)]) for path, message in faults if people or path[0] == "arms"]
    )
    found = list(designs_of_arms(session, project_id, protocol, design))
    wrong: dict[tuple[object, ...], AssayError] = {}
    for place, (arm, of, its) in enumerate(found):
        try:
            design_checked(session, actor, project_id, of, its, people=people)
        except AssayError as error:
            of_this = of_arm(error, place, arm)
            key = tuple((problem.path, problem.problem) for problem in of_this.problems) or (str(of_this),)
            wrong.setdefault(key, of_this)
    refuse(list(wrong.values()))
    return found


def _together(arms: Sequence[tuple[Arm, StudyPlan]]) -> StudyPlan:
    """What the studies of all arms are together."""
    first, parts = arms[0][1], [part for _, part in arms]
    sizes = tuple(
        PlannedArm(arm.name, part.n_items, part.n_slots, getattr(part, "study_id", None)) for arm, part in arms
    )
    return StudyPlan(
        max(part.n_items for part in parts),
        sum(part.n_slots for part in parts),
        first.sample_hash,
        first.reasons,
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        first.suggestions,
        sizes,
    )


# Known labels ---------------------------------------------------------------------------------------------------------


def _known_faults(session: Session, study: Study, design: StudyDesign, sample: Collection[str]) -> Iterator[AssayError]:
    """What is wrong with the design's known labels, for a study that has nothing yet."""
    for part, purpose in _parts(design):
        try:
            _add_part(session, study, part, purpose, sample)
        except AssayError as error:
            yield error


def _add_known(session: Session, study: Study, design: StudyDesign) -> None:
    """Add gold and qualification items, and say what is planted: the study was made with them, so none is amended."""
    n = {purpose: _add_part(session, study, part, purpose, ()) for part, purpose in _parts(design)}
    settings: dict[str, object] = {}
    if design.gold is not None or design.repeats is not None:
        planting = planting_of(design.gold, design.repeats)
        settings = {"planting": planting.to_settings(), "gold_items": n.get(Purpose.GOLD, 0)}
    if (asked := design.qualification) is not None:
        qualifying = Qualifying(asked.mark, asked.tries, n[Purpose.QUALIFICATION])
        settings["qualifying"] = qualifying.to_settings()
    if settings:
        study.settings = {**study.settings, **settings}
        session.add(study)
        session.flush()


def _parts(design: StudyDesign) -> Iterator[tuple[KnownItems, Purpose]]:
    if design.gold is not None:
        yield design.gold, Purpose.GOLD
    if design.qualification is not None:
        yield design.qualification, Purpose.QUALIFICATION


def _add_part(session: Session, study: Study, part: KnownItems, purpose: Purpose, sample: Collection[str]) -> int:
    """Add the items of a part of the design: how many. What is wrong names the label, or the line of its table."""
    field = purpose.value
    if part.file is not None and not part.labels:
        with about(field, "file"):
            raise InvalidInput(f"{part.file} has not been read. Give its labels with the design.")
    rows = gold_rows(part.labels)
    if (name := getattr(part, "settled_in", None)) is not None:
        with about(field, "from"):
            rows += settled_rows(session, study, _study_named(session, study.project_id, name), sample=sample)
    try:
        return add_known_items(session, study, rows, (), purpose, sample=sample)[0]
    except InvalidInput as error:
        raise _where(error, part, field) from None


def _where(error: InvalidInput, part: KnownItems, field: str) -> InvalidInput:
    """The error, with the places in the design of what is wrong."""
    of_table = part.file is not None and any(label.line is not None for label in part.labels)
    problems = []
    for problem in error.problems:
        at: tuple[str | int, ...] = (field, "from") if problem.line is None else (field, "labels", problem.line - 1)
        said = problem.problem
        if of_table and problem.line is not None:
            at, said = (field, "file", problem.line), f"{part.file}, line {problem.line}: {said}"
        problems.append(Problem(None, said, problem.remedy, at))
    return InvalidInput("\n".join(f"{p.problem} {p.remedy}".strip() for p in problems) or str(error), problems)


def _study_named(session: Session, project_id: int, name: str) -> int:
    names = {study.name: study.id for study in session.exec(select(Study).where(Study.project_id == project_id))}
    if (found := names.get(name)) is None:
        raise no_study(name, list(names))
    return found
