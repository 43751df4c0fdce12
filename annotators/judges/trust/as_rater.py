"""A judge as one more rater: agreement of people among themselves, with the judge among them, and what it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotators.agreement.catalogue import headline
from annotators.agreement.differences import difference
from annotators.agreement.statistics.base import title_of
from annotators.agreement.tables.ratings import Ratings, Scale
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval, Statistic
from annotators.judges.trust.base import Clusters, declare

PEOPLE = declare("agreement_people", "Agreement of people among themselves")
WITH_JUDGE = declare("agreement_with_judge", "Agreement with the judge as one more rater")
CHANGE = declare("agreement_change", "Agreement with the judge less that without")


def one_more_rater(
    people: Mapping[str, Mapping[Any, Any]],
    judge: Mapping[Any, Any],
    *,
    scale: Scale,
    labels: Sequence[Any] | None,
    asked: Resampling | None = None,
    clusters: Clusters | None = None,
    **about: Any,
) -> list[Aligned]:
    """Krippendorff's α for the scale: of people alone, of people and the judge, and the second less the first.

    `people` is person → unit → value, `judge` unit → value. All on the units that the judge and at least one person
    labelled, so that the two are of the same units; both are resampled together (`agreement.differences`, paired). A
    judge that agrees with people as they do with each other changes nothing, a worse one lowers it. n is the units.
    """
    asked = asked or Resampling()
    units = sorted(set(judge).intersection(*[set().union(*people.values())] if people else [set()]), key=str)
    statistics = (PEOPLE, WITH_JUDGE, CHANGE)
    shared = set(units)
    n_people = sum(1 for given in people.values() if not shared.isdisjoint(given))
    if n_people < 2:
        reason = f"{n_people} {'person' if n_people == 1 else 'people'} labelled units of the judge; two are needed"
        return [statistic.without_value(reason, len(units), **about) for statistic in statistics]
    name = headline(scale)
    title = title_of(name)
    said = [
        (unit, ("person", person), given[unit]) for person, given in people.items() for unit in units if unit in given
    ]
    more = [(unit, ("judge", ""), judge[unit]) for unit in units]

    def table(rows: Sequence[tuple[Any, Any, Any]]) -> Ratings:
        of, by, values = zip(*rows, strict=True)
        return Ratings.from_triples(of, by, values, labels, scale)

    groups = {unit: (clusters or {}).get(unit, ("unit", unit)) for unit in units}
    made = difference(
        table([*said, *more]),
        table(said),
        name,
        paired=True,
        clusters=groups if len(set(groups.values())) < len(units) else None,
        resamples=asked.resamples,
        permutations=0,
        seed=asked.seed,
        level=asked.level,
        kind=asked.kind,
    )
    over = asked.over if len(set(groups.values())) < len(units) else "units"
    change = CHANGE.about(len(units), **about)
    if made.value is None:
        change = change.undefined(made.reason or "it is not defined")
    else:
        interval = Interval(made.low, made.high, asked.kind, asked.level, asked.resamples, seed=asked.seed, over=over)
        change = change.measured(made.value, [interval], f"{title}, both resampled together")
    return [
        _as_aligned(PEOPLE.about(len(units), **about), made.b, title, over),
        _as_aligned(WITH_JUDGE.about(len(units), **about), made.a, title, over),
        change,
    ]


def _as_aligned(entry: Aligned, found: Statistic, title: str, over: str) -> Aligned:
    """A figure of agreement under the name that it has here."""
    if found.value is None or found.interval is None:
        return entry.undefined(found.reason or "it is not defined")
    interval = replace(found.interval, over=over if found.interval.over == "clusters" else found.interval.over)
    return entry.measured(found.value, [interval], f"{title} of {found.n_raters} raters")
