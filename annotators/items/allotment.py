"""Which people judge which items, decided beforehand: evenly, and with every two on about as many items together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotators.arrays import IntArray, np

_LONG = 4_000
_STARTS = 12


def allotment(people: int, overlaps: Sequence[int], seed: int) -> Iterator[tuple[int, ...]]:
    """For each item, by how many annotations it wants: as many different people (numbers from 0).

    After each item the numbers of items of any two people differ by one at most, and among the choices that leave it so
    one is taken in which people have met least (a greedy balanced incomplete block design). Where all items want as
    many, what was given comes again with the people permuted anew, once all have as many items and every two have met
    equally often, or after some thousand items as nearly so as it gets. The same arguments give the same.
    """
    random = np.random.default_rng(seed)
    loads, met = np.zeros(people, dtype=np.int64), np.zeros((people, people), dtype=np.int64)
    names, alike, whole = random.permutation(people), len(set(overlaps)) == 1, False
    blocks: list[list[int]] = []
    for place, wanted in enumerate(overlaps):
        whole = whole or (alike and _is_whole(loads, met, len(blocks)))
        if not whole:
            block = least_met(loads, met, wanted, random)
            loads[block] += 1
            met[np.array(block)[:, None], block] += 1
            if alike:
                blocks.append(block)
        else:
            if place % len(blocks) == 0:
                names = random.permutation(people)
            block = blocks[place % len(blocks)]
        yield tuple(int(names[person]) for person in block)


def _is_whole(loads: IntArray, met: IntArray, n: int) -> bool:
    """Whether so many items are a round that can come again."""
    apart = met[~np.eye(len(loads), dtype=bool)]
    return n > 0 and bool((loads == loads[0]).all() and (n >= _LONG or (apart == apart[:1]).all()))


def least_met(loads: IntArray, met: IntArray, wanted: int, random: np.random.Generator) -> list[int]:
    """So many people of those with the fewest items, who have met each other least; ties are drawn.

    `loads` is the number of items of each, `met` that of the items of each two.
    """
    drawn = random.permutation(len(loads))
    ordered = drawn[np.argsort(loads[drawn], kind="stable")]
    last = loads[ordered[wanted - 1]]
    must = [int(person) for person in ordered if loads[person] < last]
    may = np.array([int(person) for person in ordered if loads[person] == last])
    if must or wanted == 1:
        return _filled(must or [int(may[0])], may, met, wanted)[1]
    return min((_filled([int(first)], may, met, wanted) for first in may[:_STARTS]), key=lambda found: found[0])[1]


def _filled(begun: list[int], may: IntArray, met: IntArray, wanted: int) -> tuple[int, list[int]]:
    """The block with one after the other of those who have met it least; and how often its people have met."""
    chosen = np.array(begun)
    block, times = list(begun), int(met[chosen][:, chosen].sum() - met[chosen, chosen].sum()) // 2
    left = np.array([person for person in may if person not in block], dtype=np.int64)
    of_left = met[left][:, chosen]
    cost = (of_left**2).sum(axis=1) + of_left.sum(axis=1)
    while len(block) < wanted:
        best = int(np.argmin(cost))
        person = int(left[best])
        times += int(cost[best])
        block.append(person)
        cost = cost + met[left, person] ** 2 + met[left, person]
        cost[best] = np.iinfo(np.int64).max // 4
    return times, block
