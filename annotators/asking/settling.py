"""When labels of several annotators settle a unit, how strongly they are in dispute, and where an item stands by that.

Where an item stands in a study is a function of what is stored of it and nothing else: `where_it_stands`. What is
missing never passes: a unit that the protocol asks and that has no label is open, as one whose votes settle nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from annotators.asking.rounds import Unit, alike
from annotators.asking.submissions import GivenLabel, is_asked
from annotators.criteria import Criterion
from annotators.protocols import DerivedCriterion, Protocol

_REMEMBERED = 10_000


class Outcome(StrEnum):
    """How a unit stands by its votes alone."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    OPEN = "open"


ADJUDICATED = "adjudicated"
"""How a unit was reached that an adjudicator decided."""


@dataclass(frozen=True)
class Settled:
    """What the votes of one unit say.

    `value` is None while the outcome is open. `votes` counts each value, written as JSON where it is not a word.
    `dispute` is the share of votes against the most frequent value (0: none). `majority` is the value that more than
    half of the voters gave, or None; where the study's rule is majority, what they settle part by part.
    """

    outcome: Outcome
    value: Any
    votes: dict[str, int]
    dispute: float
    majority: Any


def settle(criterion: Criterion, values: Sequence[Any], n_annotations: int, rule: str) -> Settled:
    """Settle one unit from the values given for it (`cannot judge` left out) by `n_annotations` annotators.

    Unanimity: all who judged agree, as the criterion sees it (`Criterion.agreed`), and they are more than half of the
    annotators. Majority: more than half of all annotations say so, part by part where the kind settles parts
    (`Criterion.by_majority`).
    A unit that one part of the annotators was never asked (its condition did not hold) counts as not judged by them.
    """
    cast = [criterion.vote(value) for value in values]
    votes = dict(sorted(Counter(cast).items(), key=lambda pair: (-pair[1], pair[0])))
    top = max(votes.values(), default=0)
    dispute = 1 - top / len(values) if values else 0.0
    most = criterion.by_majority if rule == "majority" else criterion.most_given
    majority = most(values, n_annotations) if values else None
    if len(values) > n_annotations / 2 and (agreed := criterion.agreed(values)) is not None:
        return Settled(Outcome.UNANIMOUS, agreed, votes, 0.0, majority)
    if rule == "majority" and majority is not None:
        return Settled(Outcome.MAJORITY, majority, votes, dispute, majority)
    return Settled(Outcome.OPEN, None, votes, dispute, majority)


FinalLabels = dict[str, tuple[str, Any]]
"""Target → how its label was reached (`open`: it was not), and the label."""

SUREST_FIRST = (Outcome.UNANIMOUS.value, Outcome.MAJORITY.value, ADJUDICATED)
"""How a label was reached, the surest first."""


def settle_derived(
    unit: DerivedCriterion,
    final: FinalLabels,
    votes: Iterable[Mapping[str, Any]],
    n_annotations: int,
    rule: str | None,
) -> Iterator[tuple[str, str, Any, Settled]]:
    """(target, how it was reached, value, what the votes say) of each unit that is derived from an item's labels.

    `final` has every target of the source that somebody judged or could not, `votes` each annotator's labels of it. A
    value follows from the final labels where it can, and was reached as the least certain of them was. Where labels
    that it needs are open, people may still agree on what theirs amount to: 8 and 10 are two grades and one band. Then
    the votes settle it by the study's `rule`; None: not yet, as annotations are still missing.
    """
    labels = {target: value for target, (how, value) in final.items() if how != Outcome.OPEN}
    follows = unit.derived.values(labels, final.keys() - labels.keys())
    cast: dict[str, list[Any]] = defaultdict(list)
    for given in votes:
        for target, value in unit.derived.values(given, final.keys() - given.keys()).items():
            if value is not None:
                cast[target].append(value)
    ways: dict[str, set[str]] = defaultdict(set)
    for part, (how, _) in final.items():
        if (of := unit.derived.target_of(part)) is not None:
            ways[of].add(how)
    for target in sorted(ways):
        settled = settle(unit.criterion, cast[target], n_annotations, rule or "unanimous")
        if follows.get(target) is not None:
            yield target, max(ways[target] & {*SUREST_FIRST}, key=SUREST_FIRST.index), follows[target], settled
        elif rule is not None and settled.outcome is not Outcome.OPEN:
            yield target, settled.outcome.value, settled.value, settled
        else:
            yield target, Outcome.OPEN.value, None, settled


# Items ----------------------------------------------------------------------------------------------------------------


@dataclass
class ItemLabels:
    """The current counting labels of one study item: criterion and target → values and how many could not judge.

    `n_whole` annotations have a label of each unit that the protocol asks, as those that were given here have; of what
    was made elsewhere nobody knows. `asked` are the units that need a label, where the labels do not tell. `apart` has
    the labels of the criteria that were asked for so: criterion → annotation → target → value.
    """

    n_annotations: int = 0
    n_whole: int = 0
    values: dict[Unit, list[Any]] = field(default_factory=lambda: defaultdict(list))
    cannot: dict[Unit, int] = field(default_factory=lambda: defaultdict(int))
    asked: tuple[Unit, ...] = ()
    apart: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)


Known = dict[tuple[object, ...], Settled]
"""Outcomes that were worked out before, by criterion, number of annotations, and votes: most units vote alike."""

UnitVotes = tuple[str, str, Settled]
"""Criterion, target, and what the votes say."""


def settle_item(protocol: Protocol, labels: ItemLabels, rule: str, known: Known | None = None) -> Iterator[UnitVotes]:
    """(criterion, target, what the votes say) of every unit that has a label or needs one, in the protocol's order."""
    known = {} if known is None else known
    targets: dict[str, set[str]] = defaultdict(set)
    for name, target in (*labels.values, *labels.cannot, *labels.asked):
        targets[name].add(target)
    for criterion in protocol.criteria:
        if criterion.name not in targets or not criterion.compared:
            continue
        for target in sorted(targets[criterion.name]):
            values = labels.values.get((criterion.name, target), [])
            votes = (criterion.name, labels.n_annotations, *map(criterion.vote, values))
            settled = known.get(votes)
            if settled is None:
                settled = settle(criterion, values, labels.n_annotations, rule)
                if len(known) < _REMEMBERED:
                    known[votes] = settled
            yield criterion.name, target, settled


def reached(
    protocol: Protocol, units: Sequence[UnitVotes], decided: Mapping[Unit, Any], *, complete: bool = True
) -> dict[Unit, tuple[str, Any]]:
    """How each unit of an item stands, and its label: without those that the final labels leave nothing to ask of.

    `decided` has what adjudicators decided; what two who were blind to each other left `Contested` is open, until a
    final round. `complete`: the item has its annotations, else what its votes say is open. What somebody was asked
    because of a label that did not become the final one is no question of the item: it is neither settled nor open,
    unless an adjudicator decided it all the same.
    """
    criteria = {criterion.name: criterion for criterion in protocol.criteria}
    if any(criterion.when for criterion in protocol.criteria):
        order = [name for step in protocol.steps for name in step.criteria]
        units = sorted(units, key=lambda unit: order.index(unit[0]))
    found: dict[Unit, tuple[str, Any]] = {}
    final: dict[Unit, GivenLabel] = {}
    gone: set[Unit] = set()
    for name, target, settled in units:
        criterion = criteria[name]
        decision = decided.get((name, target))
        if isinstance(decision, Contested) and not decision.is_settled_as(settled):
            found[name, target] = Outcome.OPEN.value, None
        elif decision is not None and not isinstance(decision, Contested):
            found[name, target] = ADJUDICATED, decision
        elif _has_nothing_to_ask(criterion, target, found, final, gone):
            gone.add((name, target))
            continue
        elif complete and settled.outcome is not Outcome.OPEN:
            found[name, target] = settled.outcome.value, settled.value
        else:
            found[name, target] = Outcome.OPEN.value, None
        final[name, target] = GivenLabel(name, target, found[name, target][1])
    return found


def _conditions(criterion: Criterion, target: str) -> list[Unit]:
    """The units of which one may have the label under which the criterion is asked of this target."""
    return [] if criterion.when is None else [(criterion.when.criterion, at) for at in dict.fromkeys((target, "item"))]


def _has_nothing_to_ask(
    criterion: Criterion,
    target: str,
    found: Mapping[Unit, tuple[str, Any]],
    final: Mapping[Unit, GivenLabel],
    gone: Collection[Unit],
) -> bool:
    """Whether the condition of a criterion is settled, and does not hold; without labels of it nothing is known."""
    places = _conditions(criterion, target)
    there = [place for place in places if place in found]
    if not there:
        return any(place in gone for place in places)
    return all(found[place][0] != Outcome.OPEN for place in there) and not is_asked(criterion, target, final)


def disputed_units(
    protocol: Protocol, units: Sequence[UnitVotes], n_annotations: int, decided: Mapping[Unit, Any]
) -> list[UnitVotes]:
    """The units of an item with all its annotations that an adjudicator has yet to decide.

    A unit that only a minority was asked, while what its condition is about is open itself, is not among them yet:
    whether it is asked at all is what that decision says.
    """
    stands = reached(protocol, units, decided)

    def waits(name: str, target: str, settled: Settled) -> bool:
        few = sum(settled.votes.values()) <= n_annotations / 2
        places = _conditions(protocol.criterion(name), target)
        return few and any(stands.get(place, ("",))[0] == Outcome.OPEN for place in places)

    return [unit for unit in units if stands.get(unit[:2], ("",))[0] == Outcome.OPEN and not waits(*unit)]


def to_decide(
    protocol: Protocol, units: Sequence[UnitVotes], n_annotations: int, decided: Mapping[Unit, Any]
) -> list[UnitVotes]:
    """The units of an item in the queue that an adjudicator has to decide.

    They are the disputed ones; where there are none, it is looked at again, and all of them are.
    """
    return disputed_units(protocol, units, n_annotations, decided) or list(units)


_ONE: Unit = ("", "")


class Contested(NamedTuple):
    """What two adjudicators who were blind to each other said of a unit, not alike; empty: left to its votes."""

    first: tuple[Any, ...]
    second: tuple[Any, ...]

    def is_settled_as(self, settled: Settled) -> bool:
        """Whether what the one decided is what the votes, to which the other left it, settle."""
        said = [*self.first, *self.second]
        is_settled = len(said) == 1 and settled.outcome is not Outcome.OPEN
        return is_settled and bool(alike({_ONE: said[0]}, {_ONE: settled.value}))


class Wanted(NamedTuple):
    """What a study plans for an item: annotations at least, as many as were asked for where its annotators disagree.

    `returned`: somebody has been asked to judge it again. `reviewed`: adjudicators look at it even if all agree.
    """

    overlap: int
    where_disputed: int = 0
    returned: bool = False
    reviewed: bool = False


class ItemStanding(NamedTuple):
    """Where an item stands: a `SettlementState` (db/models.py), and the units that count as disputed.

    `reviewed`: nothing of it is; it waits because adjudicators look at it all the same, and all of its units count.
    """

    state: str
    disputed: list[UnitVotes]
    reviewed: bool = False


def is_complete(n_annotations: int, wanted: Wanted, *, disputed: bool) -> bool:
    """Whether an item has all its annotations; of one whose annotators disagree more may have been asked for."""
    return n_annotations >= max(1, wanted.overlap, wanted.where_disputed if disputed else 0)


def has_its_annotations(
    protocol: Protocol, units: Sequence[UnitVotes], decided: Mapping[Unit, Any], n_annotations: int, wanted: Wanted
) -> bool:
    """Whether what the votes of an item settle stands: it has as many annotations as the study plans for it."""
    disputed = bool(wanted.where_disputed) and bool(disputed_units(protocol, units, n_annotations, decided))
    return is_complete(n_annotations, wanted, disputed=disputed)


def where_it_stands(
    protocol: Protocol, units: Sequence[UnitVotes], decided: Mapping[Unit, Any], n_annotations: int, wanted: Wanted
) -> ItemStanding:
    """Where an item stands in a study, by its labels (`settle_item`), what was decided, and what the study plans.

    - `pending` while it lacks annotations that the study plans for it, unless adjudicators decided all of it; and while
      somebody has been asked to judge it again, unless adjudicators decided any of it.
    - `disputed` where something that it is asked is open, or where it is to be looked at and nobody has.
    - `agreed`, or `adjudicated` where an adjudicator decided any of it, where every unit has its final label.
    """
    disputed = disputed_units(protocol, units, n_annotations, decided)
    stands = reached(protocol, units, decided, complete=False)
    is_decided = any(not isinstance(value, Contested) for value in decided.values())
    if is_decided and all(how != Outcome.OPEN for how, _ in stands.values()):
        return ItemStanding("adjudicated", disputed)
    complete = is_complete(n_annotations, wanted, disputed=bool(disputed))
    if not complete or (wanted.returned and not is_decided):
        return ItemStanding("pending", disputed)
    if disputed:
        return ItemStanding("disputed", disputed)
    if wanted.reviewed and not is_decided:
        return ItemStanding("disputed", list(units), reviewed=True)
    return ItemStanding("adjudicated" if is_decided else "agreed", disputed)
