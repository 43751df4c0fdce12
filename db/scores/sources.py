"""Whose labels of studies a scorer takes: the final ones, people's votes, or a judge's; each side from its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlmodel import Session

from annotators.criteria import Criterion
from annotators.errors import InvalidInput, NotFound, shown
from annotators.items.targets import TargetKind
from annotators.scorers.base import LabelledParameters
from annotators.scorers.shared.study_labels import LabelUse
from db.judging.said import judges_of, people_labelled
from db.models import Study

SETTLED, PEOPLE, ADJUDICATED = "settled", "people", "adjudicated"
"""What people call the final labels, and the votes; and what the final labels are called as a source of verdicts."""


class Source(NamedTuple):
    """Who said labels: `adjudicated` (the final labels), `people` (votes), or a judge, by its name and person."""

    name: str
    person_id: int | None = None

    @property
    def is_judge(self) -> bool:
        """Whether it is a model."""
        return self.person_id is not None

    @property
    def asked_as(self) -> str:
        """What people name it by."""
        return SETTLED if self.name == ADJUDICATED else self.name


FINAL = Source(ADJUDICATED)


@dataclass
class Taken:
    """Whose labels are taken: study id → criterion → sources, the main one first.

    `labels_by` is how the run's parameters say it, empty where they are the final labels as ever; `parameters` are
    those of the scorer that follow from it.
    """

    sources: dict[int, dict[str, tuple[Source, ...]]]
    labels_by: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)

    def of(self, study_id: int) -> dict[Source, set[str]]:
        """Source → the criteria of the study whose labels of it are taken."""
        found: dict[Source, set[str]] = defaultdict(set)
        for criterion, sources in self.sources.get(study_id, {}).items():
            for source in sources:
                found[source].add(criterion)
        return dict(found)


@dataclass(frozen=True)
class AskedStudy:
    """A study whose labels are asked for, with the criteria that the scorer reads, and who has labelled there."""

    study: Study
    criteria: Mapping[str, Criterion]
    judges: Mapping[str, int]
    has_people: bool

    @classmethod
    def of(cls, session: Session, study: Study, criteria: Mapping[str, Criterion]) -> AskedStudy:
        """Look who has labelled in it."""
        assert study.id is not None
        return cls(study, criteria, judges_of(session, study.id), people_labelled(session, study.id))

    @property
    def usual(self) -> Source | None:
        """Whose labels they are where nobody is named: people's, else those of its only judge."""
        if self.has_people or not self.judges:
            return FINAL
        if len(self.judges) == 1:
            [(name, person_id)] = self.judges.items()
            return Source(name, person_id)
        return None

    def has(self, source: Source) -> bool:
        """Whether the source has labelled here."""
        return source.name in self.judges if source.is_judge else self.has_people


def sources_taken(use: LabelUse, studies: Sequence[AskedStudy], given: Sequence[str]) -> Taken:
    """Whose labels of these studies are taken, by what was `given`: `WHO`, or `WHAT=WHO`.

    WHO is `settled`, `people`, a judge who has labelled in one of the studies, or a study in which only one judge has.
    WHAT is a side of the scorer's equations, a criterion, a study, or a protocol. Where nothing is said of a criterion
    they are final labels, or in a study without people those of its only judge; where that gives a scorer with two
    sides people's labels and a judge's, the first side is theirs and the second the judge's. Raises InvalidInput where
    two sources say the same thing or something is named that is none of these, NotFound for somebody who has labelled
    nothing here.
    """
    named = _Named.read(use, studies, given)
    unsure = [one for one in studies if one.usual is None and not named.says_of(one)]
    if unsure:
        one = unsure[0]
        judges = ", ".join(map(repr, one.judges))
        raise InvalidInput(
            f"The study {one.study.name!r} has labels of several judges: {judges}. Name one with --labels-by."
        )
    main, beside = _assigned(use, studies, named)
    main, beside = _two_sides(use, studies, named, main, beside)
    _check_one_each(studies, main)
    sources = {
        key: {name: tuple(dict.fromkeys([source, *beside.get(key, {}).get(name, ())])) for name, source in of.items()}
        for key, of in main.items()
    }
    for key, of in beside.items():
        for name, others in of.items():
            sources.setdefault(key, {}).setdefault(name, tuple(others))
    everybody = {source for of in sources.values() for each in of.values() for source in each}
    for who in named.sources():
        if who not in everybody:
            raise NotFound(_said_nothing(who, studies))
    if not given and not any(source.is_judge for source in everybody):
        return Taken(sources)
    return Taken(
        sources, named.entries or _entries(use, studies, main, beside), _parameters(use, studies, main, beside)
    )


@dataclass
class _Named:
    """What was given, read: what → who; `""` is everything."""

    by: dict[str, Source]
    sides: tuple[str, ...]
    entries: tuple[str, ...]

    @classmethod
    def read(cls, use: LabelUse, studies: Sequence[AskedStudy], given: Sequence[str]) -> _Named:
        texts = [part.strip() for text in given for part in text.split(",") if part.strip()]
        known = {*use.sides}
        for one in studies:
            known |= {*one.criteria, one.study.name, one.study.protocol_name}
        by: dict[str, Source] = {}
        entries = []
        for text in texts:
            what = max((name for name in known if text.startswith(f"{name}=")), key=len, default="")
            who = text[len(what) + 1 :].strip() if what else text
            if not what and "=" in text and _judge(studies, text) is None:
                wrong = text.partition("=")[0]
                raise InvalidInput(f"{wrong!r} is nothing that labels are taken of. Known: {', '.join(sorted(known))}.")
            source = _source(studies, who)
            if what in by:
                about = f"{what!r} is given two sources" if what else "Labels of everything are to be of two sources"
                raise InvalidInput(f"{about}: {by[what].asked_as} and {source.asked_as}. {_remedy(use, studies)}")
            by[what] = source
            entries.append(f"{what}={source.asked_as}" if what else source.asked_as)
        return cls(by, tuple(use.sides), tuple(entries))

    def sources(self) -> set[Source]:
        return set(self.by.values())

    def says_of(self, one: AskedStudy) -> bool:
        """Whether it is said whose labels of all of a study's criteria are taken."""
        wide = {"", next(iter(self.sides), ""), one.study.name, one.study.protocol_name}
        return bool(wide & self.by.keys()) or one.criteria.keys() <= self.by.keys()

    def main(self, one: AskedStudy, criterion: str) -> Source | None:
        """Who is named for a criterion of a study: for it, its study, its protocol, the main side, or everything."""
        places = (criterion, one.study.name, one.study.protocol_name, next(iter(self.sides), ""), "")
        return next((self.by[what] for what in places if what in self.by), None)


_Main = dict[int, dict[str, Source]]
_Beside = dict[int, dict[str, list[Source]]]


def _assigned(use: LabelUse, studies: Sequence[AskedStudy], named: _Named) -> tuple[_Main, _Beside]:
    """Study → criterion → whose labels are taken, and those of further sides."""
    main: _Main = defaultdict(dict)
    beside: _Beside = defaultdict(lambda: defaultdict(list))
    others = list(use.sides)[1:]
    for one in studies:
        assert one.study.id is not None
        for name, criterion in one.criteria.items():
            source = named.main(one, name) or one.usual
            if source is not None and (one.has(source) or not named.by):
                main[one.study.id][name] = source
            for side in others:
                more = named.by.get(side)
                if more is not None and criterion.target in use.sides[side].targets and one.has(more):
                    beside[one.study.id][name].append(more)
    return main, beside


def _two_sides(
    use: LabelUse, studies: Sequence[AskedStudy], named: _Named, main: _Main, beside: _Beside
) -> tuple[_Main, _Beside]:
    """Where nobody is named, and people and a judge say the same: the first side is people's, the next the judge's."""
    if named.by or len(use.sides) < 2:
        return main, beside
    second = list(use.sides.values())[1]
    by_people = {
        one.criteria[name].target
        for one in studies
        for name, source in main[one.study.id or 0].items()
        if not source.is_judge
    }
    for one in studies:
        of = main[one.study.id or 0]
        for name in [name for name, source in of.items() if source.is_judge and one.criteria[name].target in by_people]:
            judge = of.pop(name)
            if one.criteria[name].target in second.targets:
                beside[one.study.id or 0][name].append(judge)
    return main, beside


def _sorts(studies: Sequence[AskedStudy], main: _Main) -> dict[TargetKind, dict[Source, str]]:
    """What labels are about → who says so, and by which criterion of which study."""
    found: dict[TargetKind, dict[Source, str]] = defaultdict(dict)
    for one in studies:
        for name, source in main.get(one.study.id or 0, {}).items():
            found[one.criteria[name].target].setdefault(source, f"{name} of {one.study.name}")
    return found


def _check_one_each(studies: Sequence[AskedStudy], main: _Main) -> None:
    """InvalidInput where two sources say the same thing of claims, pages or whatever else."""
    for said in _sorts(studies, main).values():
        if len(said) > 1:
            each = " and ".join(f"{source.asked_as} ({about})" for source, about in said.items())
            raise InvalidInput(
                f"Labels of the same are of two sources: {each}. Name one with --labels-by, such as "
                f"--labels-by {next(iter(said)).asked_as!r}."
            )


def _parameters(use: LabelUse, studies: Sequence[AskedStudy], main: _Main, beside: _Beside) -> dict[str, str]:
    """The parameters of a scorer with sides that name their sources: of what claims are held against evidence."""
    if not use.sides:
        return {}
    first, *others = use.sides.values()
    sorts = _sorts(studies, main)
    evidence = [
        source.name for of in (TargetKind.CLAIM_EVIDENCE, TargetKind.CLAIM_CONTEXT) for source in sorts.get(of, ())
    ]
    found = {first.parameter: evidence[0]} if evidence else {}
    more = [source.name for of in beside.values() for sources in of.values() for source in sources]
    return found | ({others[0].parameter: more[0]} if others and more else {})


def _entries(use: LabelUse, studies: Sequence[AskedStudy], main: _Main, beside: _Beside) -> tuple[str, ...]:
    """How the parameters say what was not given, but follows from who has labelled."""
    first = {source for of in main.values() for source in of.values()}
    second = {source for of in beside.values() for sources in of.values() for source in sources}
    if second and len(first) == len(second) == 1:
        names = list(use.sides)
        return f"{names[0]}={next(iter(first)).asked_as}", f"{names[1]}={next(iter(second)).asked_as}"
    if len(first) == 1 and not second:
        return (next(iter(first)).asked_as,)
    by_study = [
        f"{one.study.name}={next(iter(of.values())).asked_as}" for one in studies if (of := main.get(one.study.id or 0))
    ]
    return (*by_study, *(f"{list(use.sides)[1]}={source.asked_as}" for source in second))


def _source(studies: Sequence[AskedStudy], who: str) -> Source:
    """Who is meant by a name."""
    if who in (SETTLED, ADJUDICATED):
        return FINAL
    if who == PEOPLE:
        return Source(PEOPLE)
    found = _judge(studies, who)
    if found is not None:
        return found
    for one in studies:
        if one.study.name == who and one.usual is not None:
            return one.usual
    raise NotFound(
        f"Nobody called {shown(who)} has labels to take in {_listed(one.study.name for one in studies)}. Take "
        f"{SETTLED} (final labels), {PEOPLE} (votes so far), or a judge: {_judges(studies)}."
    )


def _judge(studies: Sequence[AskedStudy], name: str) -> Source | None:
    return next((Source(name, one.judges[name]) for one in studies if name in one.judges), None)


def _said_nothing(who: Source, studies: Sequence[AskedStudy]) -> str:
    where = _listed(one.study.name for one in studies)
    if who.is_judge:
        said = f"The judge {who.name!r} has labelled nothing in {where} that is asked of it"
        return f"{said}. Judges there: {_judges(studies)}."
    return f"No people have labelled {where}. Judges there: {_judges(studies)}."


def _judges(studies: Sequence[AskedStudy]) -> str:
    names = sorted({name for one in studies for name in one.judges})
    return ", ".join(map(repr, names)) or "none yet, `assay judge` starts one"


def _remedy(use: LabelUse, studies: Sequence[AskedStudy]) -> str:
    sides = list(use.sides)
    if len(sides) > 1:
        said = ", ".join(f"{name}: {side.words}" for name, side in use.sides.items())
        return f"Give each side its own, --labels-by {sides[0]}=WHO,{sides[1]}=WHO ({said})."
    criteria = sorted({name for one in studies for name in one.criteria})
    return f"Name one, or one for each criterion: {', '.join(f'{name}=WHO' for name in criteria)}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def checked_parameters(parameters: LabelledParameters, taken: Taken) -> dict[str, object]:
    """What of the parameters follows from whose labels are taken; InvalidInput where they say otherwise by hand."""
    for name, value in taken.parameters.items():
        by_hand = getattr(parameters, name)
        if by_hand not in ("auto", value):
            raise InvalidInput(
                f"The parameter {name}={by_hand} is at odds with --labels-by {', '.join(taken.labels_by)}, by which it "
                f"is {value}. Leave one of the two out."
            )
    return {"labels_by": taken.labels_by, **taken.parameters}
