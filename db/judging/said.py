"""What a judge said of a study's items, unit by unit, in the form in which final labels come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Select, bindparam
from sqlalchemy import select as sql_select
from sqlmodel import Session, col

from annotators.criteria.base import written
from annotators.errors import NotFound
from annotators.protocols import Protocol
from db.engine import Database
from db.items.current import is_set_aside, withdrawn_batches
from db.judging.judges import JudgeSettings, settings_digest
from db.models import Account, Annotation, AnnotationKind, Judge, JudgedItem, Run, StoredLabel, Study
from db.permissions import READERS, Actor, On, operation
from db.query import driver_rows, pick, table_of
from db.studies.design import protocol_of
from db.studies.settlements import COUNTING, SettledUnit, parsed_value, sample_blocks

SAID = "judged"
"""The state of a unit that a judge gave a label."""

CANNOT = "cannot judge"
"""Why a unit has no label: the judge said that it cannot judge it."""


def judges_of(session: Session, study_id: int) -> dict[str, int]:
    """Name → person of everybody of kind model who has labelled in the study, in the order of their names."""
    rows = session.execute(
        pick(Account.name, Account.person_id)
        .join(Annotation, col(Annotation.person_id) == Account.person_id)
        .where(col(Annotation.study_id) == study_id, col(Annotation.kind) == AnnotationKind.MODEL.value)
        .distinct()
        .order_by(col(Account.name))
    )
    return {name: person_id for name, person_id in rows}  # noqa: C416 - rows are not plain tuples


@operation(On.STUDY, READERS)
def labelling_judges(db: Database, _actor: Actor, study_id: int) -> list[str]:
    """The names of everybody of kind model who has labelled in the study."""
    with db.read() as session:
        return list(judges_of(session, study_id))


def people_labelled(session: Session, study_id: int) -> bool:
    """Whether a person has labelled anything in the study."""
    counting = pick(Annotation.id).where(col(Annotation.study_id) == study_id, col(Annotation.kind).in_(COUNTING))
    return session.execute(counting.limit(1)).first() is not None


def judge_named(session: Session, study: Study, name: str) -> int:
    """The person of kind model of this name who has labelled in the study; NotFound lists those that there are."""
    assert study.id is not None
    known = judges_of(session, study.id)
    if name in known:
        return known[name]
    there = ", ".join(map(repr, known)) or "none yet: `assay judge` starts one"
    raise NotFound(f"No judge {name!r} has labelled in the study {study.name!r}. Judges there: {there}.")


@dataclass
class _Said:
    """What is stored of one item: criterion → target → label, and why targets have none; `whole`: of all of them."""

    labels: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    without: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    whole: dict[str, str] = field(default_factory=dict)
    annotation: int = 0


def stream_said(session: Session, study_id: int, person_id: int) -> Iterator[SettledUnit]:
    """Every unit that a judge labelled or left unscored, in the order of the sample; a few hundred items at a time.

    What has no label is in state `open`, with the reason; where a criterion was left out as a whole (a document that
    must not leave), that is one unit with an empty target. Derived units stand behind the others of their item, and are
    open where what they follow from has no label. Items that the judge has not judged have no unit.
    """
    study = session.get_one(Study, study_id)
    protocol = protocol_of(study)
    runs = _runs(session, study, person_id)
    for block in sample_blocks(session, study):
        said = _read(session, study_id, person_id, runs, [row[0] for row in block])
        for row in block:
            if row[0] in said:
                yield from _units(protocol, said[row[0]], row)


def _runs(session: Session, study: Study, person_id: int) -> list[int]:
    """The judge's runs over the study; none of a model whose labels were imported."""
    of_judge = pick(Judge.settings_hash).where(
        col(Judge.project_id) == study.project_id, col(Judge.person_id) == person_id
    )
    digest = session.execute(of_judge).scalar_one_or_none()
    rows = session.execute(
        pick(Run.id, Run.parameters).where(col(Run.project_id) == study.project_id, col(Run.kind) == "judge")
    )
    return [
        of
        for of, parameters in rows
        if digest is not None
        and parameters.get("study") == study.id
        and settings_digest(JudgeSettings.from_json(parameters["judge"])) == digest
    ]


def _labels() -> Select[Any]:
    """The labels of one rater of kind model on some items, the latest annotation last."""
    given, label, newer = table_of(Annotation).c, table_of(StoredLabel).c, table_of(Annotation).alias()
    same = (label.assignment_id == given.assignment_id) & (label.sitting == given.sitting)
    return (
        sql_select(given.study_item_id, given.id, label.criterion, label.target, label.value, label.cannot_judge)
        .select_from(table_of(Annotation).join(table_of(StoredLabel), same))
        .where(
            given.study_id == bindparam("study"),
            given.study_item_id.in_(bindparam("ids", expanding=True)),
            given.person_id == bindparam("person"),
            given.kind == AnnotationKind.MODEL.value,
            given.batch_id.is_(None) | given.batch_id.not_in(withdrawn_batches()),
            ~sql_select(newer.c.id).where(newer.c.supersedes_id == given.id).exists(),
            ~is_set_aside(given.id),
        )
        .order_by(given.id, label.id)
    )


_LABELS = _labels()


def _read(
    session: Session, study_id: int, person_id: int, runs: Sequence[int], study_item_ids: Sequence[int]
) -> Mapping[int, _Said]:
    """Study item → what is stored of it, of those that the judge has judged."""
    found: dict[int, _Said] = defaultdict(_Said)
    connection = session.connection()
    as_text = connection.dialect.name == "sqlite"
    asked = {"study": study_id, "ids": list(study_item_ids), "person": person_id}
    for of, annotation, criterion, target, value, cannot in driver_rows(connection.execute(_LABELS, asked)):
        said = found[of]
        if annotation != said.annotation:
            said.labels.clear()
            said.without.clear()
            said.annotation = annotation
        if cannot:
            said.without[criterion][target] = CANNOT
        else:
            given = parsed_value(value) if as_text and isinstance(value, str) else value
            said.labels[criterion][target] = given
    if runs:
        left = pick(JudgedItem.study_item_id, JudgedItem.unscored).where(
            col(JudgedItem.run_id).in_(list(runs)), col(JudgedItem.study_item_id).in_(list(study_item_ids))
        )
        for of, unscored in session.execute(left):
            for one in unscored:
                found[of].without[one["criterion"]] |= dict.fromkeys(one["targets"], one["reason"])
                if not one["targets"]:
                    found[of].whole[one["criterion"]] = one["reason"]
    return found


def _units(protocol: Protocol, said: _Said, row: tuple[Any, ...]) -> Iterator[SettledUnit]:
    """The units of one item."""
    other = row[5:]
    pair = None if other[0] is None else (other[0], other[1], other[2], bool(other[3]))

    def unit(criterion: str, target: str, value: Any, reason: str | None = None) -> SettledUnit:
        votes = {} if reason else {written(value): 1}
        state = "open" if reason else SAID
        return SettledUnit(
            row[0], row[1], row[2], row[3], row[4], criterion, target, state, value, votes, len(votes), reason,
            pair=pair,
        )  # fmt: skip

    for criterion in protocol.criteria:
        labels, without = said.labels.get(criterion.name, {}), said.without.get(criterion.name, {})
        for target in sorted({*labels, *without}):
            if target in labels:
                yield unit(criterion.name, target, labels[target])
            else:
                yield unit(criterion.name, target, None, without[target])
        if criterion.name in said.whole and not labels:
            yield unit(criterion.name, "", None, said.whole[criterion.name])
    for derived in protocol.derived_criteria():
        labels, without = said.labels.get(derived.source.name, {}), said.without.get(derived.source.name, {})
        missing = without.keys() - labels.keys()
        for target, value in derived.derived.values(labels, missing).items():
            whys = [without[one] for one in sorted(missing) if derived.derived.target_of(one) == target]
            reason = next(iter(whys), CANNOT) if value is None else None
            yield unit(derived.criterion.name, target, value, reason)
