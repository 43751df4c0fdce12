"""Labels of studies on their way to scorers: which studies fit, what they say now, and the state that they are in."""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from sqlmodel import Session, col, select

from annotators.criteria import Criterion
from annotators.errors import Conflict, InvalidInput
from annotators.items.item import ItemContent
from annotators.protocols import Protocol
from annotators.scorers.base import SCORERS, LabelledParameters, P, Scorer
from annotators.scorers.shared.study_labels import LabelUse, UnitLabel
from db.engine import Database, dumps
from db.judging.said import stream_said
from db.models import Project, Study, StudyItem
from db.names import no_study
from db.permissions import RESEARCHERS, Actor, On, operation, role_in
from db.scores.sources import (
    FINAL,
    PEOPLE,
    SETTLED,
    AskedStudy,
    Source,
    Taken,
    checked_parameters,
    sources_taken,
)
from db.studies.design import protocol_of
from db.studies.settlements import SettledUnit, stream_settled

if TYPE_CHECKING:
    from hashlib import _Hash

_STATE_DIGITS = 16


class LabelsByVersion(Mapping[int, list[UnitLabel]]):
    """Item version → its labels, in a file that goes with this object: memory does not grow with them.

    They are read once, so that what changes while items are scored is not seen.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this object does
        self._places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._end = 0
        self._criteria: list[Criterion] = []
        self._version: int | None = None
        self._waiting: list[tuple[int, str, Any, str, str | None]] = []

    def add(self, version: int, label: UnitLabel) -> None:
        """Append a label; those of one version come one after the other, as far as it goes."""
        if version != self._version:
            self._write()
            self._version = version
        place = next((place for place, one in enumerate(self._criteria) if one is label.criterion), None)
        if place is None:
            place = len(self._criteria)
            self._criteria.append(label.criterion)
        self._waiting.append((place, label.target, label.value, label.source, label.reason))

    def _write(self) -> None:
        if self._waiting and self._version is not None:
            written = orjson.dumps(self._waiting)
            self._file.seek(self._end)
            self._file.write(written)
            self._places[self._version].append((self._end, len(written)))
            self._end += len(written)
            self._waiting = []

    def __getitem__(self, version: int) -> list[UnitLabel]:
        self._write()
        if version not in self._places:
            raise KeyError(version)
        found = []
        for place, size in self._places[version]:
            self._file.seek(place)
            rows = orjson.loads(self._file.read(size))
            found += [UnitLabel(self._criteria[criterion], *label) for criterion, *label in rows]
        return found

    def __iter__(self) -> Iterator[int]:
        self._write()
        return iter(list(self._places))

    def __len__(self) -> int:
        self._write()
        return len(self._places)


@dataclass
class TakenLabels:
    """What studies say of item versions, for one scorer.

    `judged` has the ids of all items that somebody labelled, in whatever version. `by` are those whose labels are
    taken, `alone` says whether nothing that came with an item stands beside them. `left` has why a judge left the whole
    of an item version unscored.
    """

    studies: tuple[str, ...]
    scorer: Scorer[Any]
    use: LabelUse
    by: tuple[Source, ...] = (FINAL,)
    alone: bool = False
    by_version: LabelsByVersion = field(default_factory=LabelsByVersion)
    judged: set[str] = field(default_factory=set)
    left: dict[int, str] = field(default_factory=dict)

    def put(self, item: ItemContent) -> ItemContent | str:
        """The item with the labels that it has, or the reason why it cannot be scored by them."""
        labels = self.by_version.get(item.version_id)
        if labels:
            found = self.use.put(self.use.alone(item) if self.alone else item, labels)
            if not isinstance(found, str):
                return found
            whys = ", ".join(dict.fromkeys(label.reason for label in labels if label.reason))
            return f"{found} (labels of {self._named}{f': {whys}' if whys else ''})"
        if item.version_id in self.left:
            return f"{self._judges} left it unscored in {self._named}: {self.left[item.version_id]}"
        if item.id in self.judged:
            return f"the labels of {self._named} are about another version of the item"
        if self._judges:
            return f"{self._judges} has not judged it in {self._named}"
        return f"nobody has labelled it in {self._named}"

    @property
    def _named(self) -> str:
        return ", ".join(self.studies)

    @property
    def _judges(self) -> str:
        """The judges, where nobody else is asked; else nothing."""
        names = [source.name for source in self.by if source.is_judge]
        return " and ".join(names) if len(names) == len(self.by) else ""


@dataclass(frozen=True)
class LabelsOnOffer:
    """A study that fits a scorer, and by whom its labels can be taken: `settled`, `people`, judges by their names."""

    study: str
    by: tuple[str, ...]


@operation(On.PROJECT, RESEARCHERS)
def labels_for_scorer(db: Database, _actor: Actor, project_id: int, *, scorer: str) -> list[LabelsOnOffer]:
    """The project's studies that ask what this scorer takes labels of, in their order, each with who has labelled."""
    use = SCORERS.get(scorer).labels
    if use is None:
        return []
    with db.read() as session:
        studies = session.exec(select(Study).where(Study.project_id == project_id).order_by(col(Study.name))).all()
        fitting = [
            AskedStudy.of(session, study, criteria)
            for study in studies
            if (criteria := _read_by(use, protocol_of(study)))
        ]
    return [
        LabelsOnOffer(one.study.name, (*((SETTLED, PEOPLE) if one.has_people else ()), *one.judges)) for one in fitting
    ]


def with_labels(
    session: Session,
    actor: Actor,
    project_id: int,
    scorer: Scorer[Any],
    parameters: P,
    *,
    studies: Sequence[str] = (),
    by: Sequence[str] = (),
) -> tuple[P, TakenLabels | None]:
    """Parameters that name the studies, whose labels are taken and their state, and these labels.

    The studies and `by` (`sources_taken` says what it may be) are those named, else those of the parameters. Raises
    InvalidInput for a scorer that takes no labels and for a study or a source that does not fit, NotFound for one that
    is not there, and Conflict where the parameters name another state than that of now.
    """
    named = tuple(dict.fromkeys(studies or getattr(parameters, "labels_of", ())))
    if not named:
        if by:
            raise InvalidInput(
                f"Whose labels are taken is said ({', '.join(by)}), and not of which study. Name it with --labels-of."
            )
        return parameters, None
    if scorer.labels is None or not isinstance(parameters, LabelledParameters):
        others = ", ".join(other.name for other in SCORERS if other.labels is not None)
        raise InvalidInput(f"Scorer {scorer.name!r} takes no labels of studies. Those that do: {others}.")
    of = [_study(session, actor, project_id, name) for name in named]
    asked = _asked(session, scorer, of)
    who = sources_taken(scorer.labels, asked, by or parameters.labels_by)
    earlier = parameters.labels_state
    follows = checked_parameters(parameters, who) if who.labels_by else {}
    taken, state = _take_all(session, scorer, asked, who, parameters.label_sources())
    if earlier not in ("", state):
        raise Conflict(
            f"The labels of {', '.join(named)} have changed since these scores were asked for (their state was "
            f"{earlier} and is {state}). Ask for them anew."
        )
    return parameters.model_copy(update={**follows, "labels_of": named, "labels_state": state}), taken


def labels_taken(
    session: Session, scorer: Scorer[Any], studies: Sequence[Study], sources: Sequence[str]
) -> tuple[TakenLabels, str]:
    """What people say in these studies for a scorer that takes labels, and the state that it is in.

    `sources` are `adjudicated` (final labels), `people` (votes), or both. InvalidInput for a study that does not fit or
    that nobody has labelled anything in, and where all of them are too little.
    """
    asked = _asked(session, scorer, studies)
    final: dict[int, dict[str, tuple[Source, ...]]] = {
        one.study.id or 0: dict.fromkeys(one.criteria, (FINAL,)) for one in asked
    }
    return _take_all(session, scorer, asked, Taken(final), sources)


def _asked(session: Session, scorer: Scorer[Any], studies: Sequence[Study]) -> list[AskedStudy]:
    """The studies with the criteria that the scorer reads; InvalidInput for one in which it reads none."""
    assert scorer.labels is not None
    found = []
    for study in studies:
        protocol = protocol_of(study)
        criteria = _read_by(scorer.labels, protocol)
        if not criteria:
            raise InvalidInput(_too_little(scorer, f"The study {study.name!r} asks", protocol.criteria))
        found.append(AskedStudy.of(session, study, criteria))
    return found


def _take_all(
    session: Session, scorer: Scorer[Any], asked: Sequence[AskedStudy], who: Taken, final: Sequence[str]
) -> tuple[TakenLabels, str]:
    """The labels and the state that they are in; `final`: as what people's come where nobody is named."""
    assert scorer.labels is not None
    digest = hashlib.sha256()
    everybody = {source: None for one in asked for source in who.of(one.study.id or 0)}
    taken = TakenLabels(
        tuple(one.study.name for one in asked), scorer, scorer.labels, tuple(everybody), alone=bool(who.labels_by)
    )
    read: list[Criterion] = []
    for one in asked:
        by = who.of(one.study.id or 0)
        if not who.labels_by:
            by = {Source(name): set(one.criteria) for name in final}
        read += [criterion for name, criterion in one.criteria.items() if any(name in names for names in by.values())]
        digest.update(dumps([one.study.id, one.study.name]).encode())
        of_study = select(StudyItem.id, StudyItem.item_version_id).where(StudyItem.study_id == one.study.id)
        versions = {place: version for place, version in session.exec(of_study) if place is not None}
        found = [_take(session, taken, one, source, names, versions, digest) for source, names in by.items()]
        if not any(found) and not (who.labels_by and not by):
            raise InvalidInput(
                f"Nobody has labelled {', '.join(one.criteria)} in the study {one.study.name!r}. Label items there "
                "first, or name another study."
            )
    if not scorer.labels.suffices(read):
        raise InvalidInput(_too_little(scorer, f"{', '.join(taken.studies)} ask", read))
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


def _take(  # noqa: PLR0917 - the parts of one pass
    session: Session,
    taken: TakenLabels,
    one: AskedStudy,
    source: Source,
    names: set[str],
    versions: Mapping[int, int],
    digest: _Hash,
) -> bool:
    """Add what a source says in a study to the labels, and to the hash of their state; whether it says anything.

    Votes are hashed as well, so that each label counts.
    """
    found = False
    for unit in _units(session, one.study.id or 0, source):
        version = versions[unit.study_item_id]
        if unit.criterion not in names:
            continue
        if not unit.target:
            taken.left[version] = unit.reason or ""
            continue
        found = True
        value = None if unit.state == "open" else unit.value
        why = unit.reason if source.is_judge else None
        taken.by_version.add(version, UnitLabel(one.criteria[unit.criterion], unit.target, value, source.name, why))
        taken.judged.add(unit.external_id)
        said = [source.name, version, unit.criterion, unit.target, unit.state, value, unit.votes]
        digest.update(dumps(said).encode())
    return found


def _units(session: Session, study_id: int, source: Source) -> Iterator[SettledUnit]:
    if source.person_id is not None:
        return stream_said(session, study_id, source.person_id)
    return stream_settled(session, study_id, by_votes=source.name == PEOPLE)


def _read_by(use: LabelUse, protocol: Protocol) -> dict[str, Criterion]:
    """The criteria of a protocol that a scorer takes, those that are derived among them, by name."""
    derived = [unit.criterion for unit in protocol.derived_criteria()]
    return {criterion.name: criterion for criterion in (*protocol.criteria, *derived) if use.reads(criterion)}
