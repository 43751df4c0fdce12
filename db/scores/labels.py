"""Labels of studies on their way to scorers: which studies fit, what they say now, and the state that they are in."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlmodel import Session, col, select

from annotators.criteria import Criterion
from annotators.errors import Conflict, InvalidInput
from annotators.items.item import ItemContent
from annotators.protocols import Protocol
from annotators.scorers.base import SCORERS, LabelledParameters, P, Scorer
from annotators.scorers.shared.study_labels import LabelUse, UnitLabel
from db.engine import Database, dumps
from db.models import Project, Study, StudyItem
from db.names import no_study
from db.permissions import RESEARCHERS, Actor, On, operation, role_in
from db.studies.design import protocol_of
from db.studies.settlements import stream_settled

if TYPE_CHECKING:
    from hashlib import _Hash

_STATE_DIGITS = 16


@dataclass
class TakenLabels:
    """What studies say of item versions, for one scorer.

    `judged` has the ids of all items that somebody labelled, in whatever version.
    """

    studies: tuple[str, ...]
    scorer: Scorer[Any]
    use: LabelUse
    by_version: dict[int, list[UnitLabel]] = field(default_factory=lambda: defaultdict(list))
    judged: set[str] = field(default_factory=set)

    def put(self, item: ItemContent) -> ItemContent | str:
        """The item with the labels that it has, or the reason why it cannot be scored by them."""
        named = ", ".join(self.studies)
        labels = self.by_version.get(item.version_id)
        if labels:
            found = self.use.put(item, labels)
            return f"{found} (labels of {named})" if isinstance(found, str) else found
        if item.id in self.judged:
            return f"the labels of {named} are about another version of the item"
        return f"nobody has labelled it in {named}"


@operation(On.PROJECT, RESEARCHERS)
def studies_for_scorer(db: Database, _actor: Actor, project_id: int, *, scorer: str) -> list[str]:
    """The names of the project's studies that ask what this scorer takes labels of, in their order."""
    use = SCORERS.get(scorer).labels
    if use is None:
        return []
    with db.read() as session:
        studies = session.exec(select(Study).where(Study.project_id == project_id).order_by(col(Study.name))).all()
        return [study.name for study in studies if _read_by(use, protocol_of(study))]


def with_labels(
    session: Session, actor: Actor, project_id: int, scorer: Scorer[Any], parameters: P, *, studies: Sequence[str] = ()
) -> tuple[P, TakenLabels | None]:
    """Parameters that name the studies and the state of their labels, and these labels; as they were without a study.

    The studies are those named, else those of the parameters. Raises InvalidInput for a scorer that takes no labels and
    for a study that does not fit, NotFound for one that is not there, and Conflict where the parameters name another
    state than that of now.
    """
    named = tuple(dict.fromkeys(studies or getattr(parameters, "labels_of", ())))
    if not named:
        return parameters, None
    if scorer.labels is None or not isinstance(parameters, LabelledParameters):
        others = ", ".join(other.name for other in SCORERS if other.labels is not None)
        raise InvalidInput(f"Scorer {scorer.name!r} takes no labels of studies. Those that do: {others}.")
    of = [_study(session, actor, project_id, name) for name in named]
    taken, state = labels_taken(session, scorer, of, parameters.label_sources())
    if parameters.labels_state not in ("", state):
        raise Conflict(
            f"The labels of {', '.join(named)} have changed since these scores were asked for (their state was "
            f"{parameters.labels_state} and is {state}). Ask for them anew."
        )
    return parameters.model_copy(update={"labels_of": named, "labels_state": state}), taken


def labels_taken(
    session: Session, scorer: Scorer[Any], studies: Sequence[Study], sources: Sequence[str]
) -> tuple[TakenLabels, str]:
    """What these studies say for a scorer that takes labels, and the state that it is in.

    `sources` are `adjudicated` (final labels), `people` (votes), or both. InvalidInput for a study that does not fit or
    that nobody has labelled anything in, and where all of them are too little.
    """
    assert scorer.labels is not None
    named = tuple(study.name for study in studies)
    taken, digest = TakenLabels(named, scorer, scorer.labels), hashlib.sha256()
    criteria: list[Criterion] = []
    for study in studies:
        criteria += _take(session, taken, study, sources, digest)
    if not scorer.labels.suffices(criteria):
        raise InvalidInput(_too_little(scorer, f"{', '.join(named)} ask", criteria))
    return taken, digest.hexdigest()[:_STATE_DIGITS]


def _study(session: Session, actor: Actor, project_id: int, name: str) -> Study:
    studies = {study.name: study for study in session.exec(select(Study).where(Study.project_id == project_id))}
    if name in studies:
        return studies[name]
    elsewhere = select(Study.project_id, Project.name).join(Project).where(Study.name == name).order_by(Project.name)
    for other, project in session.exec(elsewhere):
        if role_in(session, actor.person_id, other):
            raise InvalidInput(
                f"{name!r} is a study of the project {project!r}. A run takes labels of its own project's studies: "
                f"{', '.join(sorted(studies)) or 'none yet'}."
            )
    raise no_study(name, list(studies))


def _too_little(scorer: Scorer[Any], who: str, criteria: Sequence[Criterion]) -> str:
    """Why these criteria do not do."""
    asked = ", ".join(criterion.name for criterion in criteria)
    assert scorer.labels is not None
    return (
        f"{who} {asked}, by which {scorer.name} can give nothing. It takes {scorer.labels.needs}. Name a study that "
        "asks for that."
    )


def _take(session: Session, taken: TakenLabels, study: Study, sources: Sequence[str], digest: _Hash) -> list[Criterion]:
    """Add what a study says to the labels, and to the hash of their state: votes as well, so that each label counts.

    The criteria that were read.
    """
    assert study.id is not None
    protocol = protocol_of(study)
    criteria = _read_by(taken.use, protocol)
    if not criteria:
        raise InvalidInput(_too_little(taken.scorer, f"The study {study.name!r} asks", protocol.criteria))
    of_study = select(StudyItem.id, StudyItem.item_version_id).where(StudyItem.study_id == study.id)
    versions = dict(session.exec(of_study).all())
    digest.update(dumps([study.id, study.name]).encode())
    found = False
    for source in sources:
        for unit in stream_settled(session, study.id, by_votes=source == "people"):
            criterion = criteria.get(unit.criterion)
            if criterion is None:
                continue
            found = True
            version = versions[unit.study_item_id]
            value = None if unit.state == "open" else unit.value
            taken.by_version[version].append(UnitLabel(criterion, unit.target, value, source))
            taken.judged.add(unit.external_id)
            said = [source, version, unit.criterion, unit.target, unit.state, value, unit.votes]
            digest.update(dumps(said).encode())
    if not found:
        raise InvalidInput(
            f"Nobody has labelled {', '.join(criteria)} in the study {study.name!r}. Label items there first, or name "
            "another study."
        )
    return list(criteria.values())


def _read_by(use: LabelUse, protocol: Protocol) -> dict[str, Criterion]:
    """The criteria of a protocol that a scorer takes, those that are derived among them, by name."""
    derived = [unit.criterion for unit in protocol.derived_criteria()]
    return {criterion.name: criterion for criterion in (*protocol.criteria, *derived) if use.reads(criterion)}
