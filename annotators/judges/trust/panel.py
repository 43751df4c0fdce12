"""Several judges as one: their labels combined by majority, mean or a model of raters, and what that is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from annotators.agreement.rater_models.dawid_skene import dawid_skene
from annotators.agreement.tables.ratings import Ratings
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import np
from annotators.errors import InvalidInput
from annotators.intervals.analytic import ROUNDING
from annotators.intervals.bootstrap import Resampled, Resampling
from annotators.intervals.result import Aligned, Interval
from annotators.judges.trust.base import Clusters, Label, declare, numbered

PANEL = declare("panel_right", "Panel's agreement with people")
MEMBER = declare("member_right", "Member's agreement with people")
BEST = declare("best_member_right", "Best member's agreement with people")
GAIN = declare("panel_gain", "Panel less its best member")

Rule = Literal["majority", "mean", "dawid_skene"]
RULES: tuple[Rule, ...] = ("majority", "mean", "dawid_skene")
Members = Mapping[str, Mapping[Any, Label]]
"""Judge → unit → label."""

FOLDS = 10
SMOOTHING = 0.5
"""What every cell of a member's confusion matrix begins with: few units leave some of them empty."""


@dataclass(frozen=True)
class Combined:
    """The panel's label of each unit, how sure it is (0..1), how it was made, and how many units are ties."""

    labels: Mapping[Any, Label]
    sure: Mapping[Any, float]
    ties: int
    method: str
    notes: tuple[str, ...] = ()


def why_not(rule: Rule, n_members: int, numbers: Mapping[Label, float] | None) -> str | None:
    """Why so many members cannot be combined by a rule, in words that say what can be done; None where they can.

    `numbers` are those of ordered labels that are more than two; None of other labels.
    """
    if rule == "mean" and numbers is None:
        return "only labels of a scale have a mean: take the majority of three judges or more"
    if n_members > 2 or rule == "mean":
        return None
    instead = "name a third judge" + ("" if numbers is None else ", or take the mean")
    if rule == "majority":
        return (
            "a majority of two judges has a label only where both say the same, and is then what each of them says, "
            f"so that nothing would be compared: {instead}"
        )
    return f"two judges do not show which of them errs, and the model would guess it: {instead}"


def combined(
    members: Members,
    rule: Rule,
    labels: Sequence[Label],
    *,
    seed: int = 0,
    numbers: Mapping[Label, float] | None = None,
) -> Combined:
    """One label a unit from those of the members, people's labels unseen.

    `majority`: the label that most members gave, and `sure` is their share; a tie has no label. `mean`: the label whose
    number is nearest to the mean of theirs (`numbers`), of two as near the one nearer to the member named first, so
    that no unit is left without one; `sure` is how near to each other they are, 1 for the same. `dawid_skene`: the
    likeliest label by the model of Dawid & Skene (`annotators.agreement.rater_models.dawid_skene`), which weighs each
    member by the confusions that the members' labels show, with `sure` its probability; it needs three members to tell
    them apart. Units that no member labelled have none. Raises InvalidInput for an unknown rule or fewer than two
    members.
    """
    if rule not in RULES:
        raise InvalidInput(f"{rule!r} is no rule of a panel. Known: {', '.join(RULES)}.")
    if len(members) < 2:
        raise InvalidInput(f"A panel of {len(members)} has nothing to combine: name two judges or more.")
    if rule == "mean":
        if numbers is None:
            raise InvalidInput("These labels have no order, and so no mean. Take the majority of three judges or more.")
        return _mean(members, labels, numbers)
    return _majority(members) if rule == "majority" else _modelled(members, labels, seed)


def _majority(members: Members) -> Combined:
    votes: dict[Any, Counter[Label]] = {}
    for given in members.values():
        for unit, label in given.items():
            votes.setdefault(unit, Counter())[label] += 1
    labels, sure, ties = {}, {}, 0
    for unit, counts in votes.items():
        (label, n), *others = counts.most_common(2)
        if others and others[0][1] == n:
            ties += 1
            continue
        labels[unit], sure[unit] = label, n / counts.total()
    return Combined(labels, sure, ties, f"majority of {len(members)}")


def _mean(members: Members, labels: Sequence[Label], numbers: Mapping[Label, float]) -> Combined:
    said: dict[Any, list[float]] = {}
    for given in members.values():
        for unit, label in given.items():
            said.setdefault(unit, []).append(numbers[label])
    width = max(numbers.values()) - min(numbers.values())
    found, sure = {}, {}
    for unit, values in said.items():
        mean = sum(values) / len(values)
        # The mean of 1 and 2 is as near to either: rounding to one side would lean the whole panel there.
        found[unit] = min(
            labels, key=lambda label: (round(abs(numbers[label] - mean), 9), abs(numbers[label] - values[0]))
        )
        sure[unit] = 1 - sum(abs(value - mean) for value in values) / len(values) / (width / 2)
    return Combined(found, sure, 0, f"mean of {len(members)}, as the nearest label")


def _modelled(members: Members, known: Sequence[Label], seed: int) -> Combined:
    triples = [(unit, name, label) for name, given in members.items() for unit, label in given.items()]
    units, raters, values = zip(*triples, strict=True) if triples else ((), (), ())
    data = Ratings.from_triples(units, raters, values, list(known))
    model = dawid_skene(data, smoothing=SMOOTHING, seed=seed)
    if model.fit is None:
        raise InvalidInput(f"The labels of these judges cannot be modelled: {model.reason}. Take the majority.")
    labels, sure, ties = {}, {}, 0
    for unit, chances in zip(model.units, model.posterior, strict=True):
        if np.isnan(chances).all():
            continue
        highest = float(np.nanmax(chances))
        best = np.flatnonzero(chances >= highest - 1e-9)
        if len(best) > 1:
            ties += 1
            continue
        labels[unit], sure[unit] = model.labels[int(best[0])], highest
    return Combined(labels, sure, ties, model.in_words(), tuple(model.notes))


def panel_value(
    members: Members,
    panel: Mapping[Any, Label],
    people: Mapping[Any, Label],
    asked: Resampling | None = None,
    *,
    clusters: Clusters | None = None,
    folds: int = FOLDS,
    **about: Any,
) -> list[Aligned]:
    """How often the panel and each member agree with people, and what the panel is worth against its best member.

    All on the units that people, the panel and every member labelled. `panel_right`, then `member_right` of each
    (`group`). The best member is chosen in each of `folds` parts of the clusters on the other parts, and counted on the
    part that did not choose it: chosen on all units it would look better than it is, and the panel worse.
    `best_member_right` is that, and `panel_gain` the panel less it. Its interval is that of the smallest of the
    differences from all members, whichever is truly the best: below, the lowest end of any of them (the panel beats the
    best only if it beats each: Berger 1982, Technometrics 24, 295-300); above, the lowest of ends that hold together;
    and the value itself is in it.
    """
    asked = asked or Resampling()
    units = sorted(set(people).intersection(panel, *members.values()), key=str)
    n, names = len(units), list(members)
    cluster = numbered(units, clusters)
    n_clusters = int(cluster.max(initial=-1)) + 1
    if n_clusters < 2:
        reason = f"{n} units have a label of people, of the panel and of every member; at least 2 are needed"
        alone = [MEMBER.without_value(reason, n, **{**about, "group": name}) for name in names]
        return [
            PANEL.without_value(reason, n, **about),
            *alone,
            *(s.without_value(reason, n, **about) for s in (BEST, GAIN)),
        ]
    right = np.array(
        [[given[unit] == people[unit] for unit in units] for given in (panel, *members.values())], dtype=np.float64
    )
    k = min(folds, n_clusters)
    fold = np.random.default_rng([asked.seed, 5]).permutation(n_clusters)[cluster] % k
    best, chosen = np.zeros(n), Counter[str]()
    for part in range(k):
        held = fold == part
        place = int(np.argmax(right[1:, ~held].sum(axis=1)))
        best[held] = right[1 + place, held]
        chosen[names[place]] += 1
    sample = DrawnRows.of([*right, best, *(right[0] - right[1:])], cluster)
    columns = sample.columns.T
    found = sample.resampled(lambda weights: (columns @ weights) / weights.sum(axis=0), asked)

    def made(statistic: Any, place: int, note: str = "", **more: Any) -> Aligned:
        made: Aligned = statistic.measured(statistic.about(n, **{**about, **more}), found, place, asked, note=note)
        return made

    who = ", ".join(f"{name} in {times} of {k} parts" for name, times in chosen.most_common())
    words = f"best member chosen on the other parts: {who}"
    return [
        made(PANEL, 0),
        *(made(MEMBER, 1 + place, group=name, by="judge") for place, name in enumerate(names)),
        made(BEST, len(names) + 1, words),
        _gain(GAIN.about(n, **about), found, float((right[0] - best).mean()), asked, words),
    ]


def _gain(entry: Aligned, found: Resampled, value: float, asked: Resampling, words: str) -> Aligned:
    """The panel less its best member: the last columns of what was resampled are its leads over each of them."""
    first = found.values.shape[0] // 2 + 1
    values, drawn = found.values[first:], found.replicates[:, first:]
    ends = [found.interval(first + place, asked.level, asked.kind) for place in range(len(values))]
    kind = f"bootstrap of the lead over every member, over {found.over}"
    lows = [interval.low for interval in ends if interval.low is not None]
    if len(lows) < len(ends):
        return entry.measured(value, [replace(ends[0], low=None, high=None, kind=kind)], words)
    errors = drawn.std(axis=0, ddof=1)
    moving = errors > ROUNDING
    reach = 0.0
    if moving.any():
        behind = ((values - drawn)[:, moving] / errors[moving]).max(axis=1)
        reach = float(np.quantile(behind, (1 + asked.level) / 2))
    # The best member, chosen on other units, may be another one than the ends are of: the value stays inside.
    interval = Interval(
        min(*lows, value),
        max(float((values + reach * errors).min()), value),
        kind,
        asked.level,
        note=f"{len(drawn):,} resamples, seed {asked.seed}",
        over=found.over,
    )
    return entry.measured(value, [interval], words)
