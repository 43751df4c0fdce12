"""Which items a study takes and in which order: seeded, reproducible, the same on every machine.

An item's rank is the SHA-256 of the seed, its stratum and its external id. The n lowest ranks of a stratum are its
sample: equal to drawing without replacement, independent of Python's random generator, and an item added to one
stratum changes nothing in the others.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from annotators.errors import InvalidInput
from annotators.items.pairs import pair_name


@dataclass(frozen=True)
class Candidate:
    """An item that could be sampled: its current version and what it is stratified and ordered by.

    With `other` it is a pair of two items of one question; `other_left` says that the second stands left. `fields` are
    those of its other fields that a stratum is made of, with their values.
    """

    version_id: int
    external_id: str
    question_key: str
    system: str
    category: str
    content_hash: str
    other: Candidate | None = None
    other_left: bool = False
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """What it is drawn and ordered by: its external id, or those of both items of a pair."""
        return pair_name(self.external_id, self.other.external_id if self.other else None)

    @property
    def digest(self) -> tuple[str, str]:
        """What it adds to the digest of a sample."""
        other = self.other
        return sampled_as(self.name, self.content_hash, other.content_hash if other else None, left=self.other_left)

    def stratum(self, per: str | None) -> str:
        """The stratum this item belongs to when sampling per these fields: `system`, `category`, or one of `fields`."""
        if per is None:
            return ""
        if per == "system" and self.other is not None:
            return f"{self.system} ⇄ {self.other.system}"
        known = {"system": self.system, "category": self.category, **dict(self.fields)}
        names = strata_fields(per)
        if wrong := next((name for name in names if name not in known), None):
            raise InvalidInput(f"Cannot sample per {wrong!r}. Sample per {', '.join(known)}.")
        return " / ".join(known[name] for name in names)


OF_EVERY_ITEM = ("system", "category")
"""The fields that strata are made of without looking them up."""


def strata_fields(per: str) -> list[str]:
    """The fields that strata are made of, written with commas between: system and category first, in this order."""
    names = [name.strip() for name in per.split(",")]
    return [name for name in OF_EVERY_ITEM if name in names] + [name for name in names if name not in OF_EVERY_ITEM]


def _rank(seed: int, purpose: str, external_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\x00{purpose}\x00{external_id}".encode()).digest()


def in_drawn_order(external_ids: Iterable[str], purpose: str, seed: int) -> list[str]:
    """Items by their ranks for a purpose: the first n of them are a draw of n without replacement."""
    return sorted(external_ids, key=lambda external_id: _rank(seed, purpose, external_id))


def falls_among(external_id: str, share: float, purpose: str, seed: int) -> bool:
    """Whether an item is one of a share (0..1) of all: each by itself, so that what others do changes nothing."""
    return fraction(external_id, purpose, seed) < share


def fraction(external_id: str, purpose: str, seed: int) -> float:
    """A number from 0 to below 1 of an item for a purpose: over items they are spread evenly."""
    return int.from_bytes(_rank(seed, purpose, external_id)[:6]) / 2**48


def draw(candidates: Sequence[Candidate], n: int | None, per: str | None, seed: int) -> list[Candidate]:
    """All candidates, or n of them, or n of each stratum; a stratum smaller than n is taken whole."""
    strata: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum(per)].append(candidate)
    if n is None:
        return list(candidates)
    if n < 1:
        raise InvalidInput(f"A sample of {n} is empty. Give a number of at least 1, or leave it out for all items.")
    return [
        candidate
        for name in sorted(strata)
        for candidate in sorted(strata[name], key=lambda c: _rank(seed, f"sample {name}", c.name))[:n]
    ]


def share_of(n: int, share: float) -> int:
    """A share of n things in whole ones: rounded, and at least one of them."""
    return min(n, max(1, int(n * share + 0.5)))


def part_of(candidates: Sequence[Candidate], share: float, per: str | None, seed: int) -> set[str]:
    """The names of a share of the candidates, of each stratum in proportion, drawn by the seed."""
    strata: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum(per)].append(candidate)
    wanted, before, drawn = share_of(len(candidates), share), 0, set[str]()
    for name in sorted(strata):
        ranked = sorted(strata[name], key=lambda c: _rank(seed, f"part {name}", c.name))
        # As many as bring the share of all strata so far to the next whole number.
        before += len(ranked)
        drawn |= {c.name for c in ranked[: before * wanted // len(candidates) - len(drawn)]}
    return drawn


def one_of_each_question(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """One of the candidates of each question, drawn by the seed, in the order of the candidates."""
    first: dict[str, tuple[bytes, Candidate]] = {}
    for candidate in candidates:
        key = candidate.question_key
        rank = _rank(seed, f"question {key}", candidate.name)
        if key not in first or rank < first[key][0]:
            first[key] = rank, candidate
    drawn = {candidate.name for _, candidate in first.values()}
    return [candidate for candidate in candidates if candidate.name in drawn]


def pairs_of(candidates: Sequence[Candidate], systems: Sequence[str], seed: int) -> list[Candidate]:
    """Each two of the systems' answers to each question, as pairs; the system that is named first is the first of it.

    Of several answers of a system to one question the seed draws one. It also draws which side each stands on.
    """
    answers: dict[str, dict[str, Candidate]] = defaultdict(dict)
    for candidate in sorted(candidates, key=lambda c: _rank(seed, "answer", c.external_id)):
        answers[candidate.question_key].setdefault(candidate.system, candidate)
    pairs = []
    for of_question in answers.values():
        there = [of_question[system] for system in systems if system in of_question]
        pairs += [replace(first, other=second) for first, second in combinations(there, 2)]
    drawn = (drawn_side(pair, seed) for pair in pairs)
    return sorted(drawn, key=lambda pair: pair.version_id)


def drawn_side(pair: Candidate, seed: int) -> Candidate:
    """The pair with the side that its second item stands on, drawn by the seed."""
    return replace(pair, other_left=bool(_rank(seed, "side", pair.name)[0] & 1))


def sampled_as(name: str, content_hash: str, other_hash: str | None, *, left: bool) -> tuple[str, str]:
    """What `sample_digest` takes of an item, or of a pair: also the other's content, and which of them stands left."""
    return name, content_hash if other_hash is None else f"{content_hash}\x00{other_hash}\x00{'LR'[not left]}"


BY_SCORE, OWN = "by_score", "own"
ORDERS = {
    "shuffled": "Shuffled, so that systems and categories mix",
    OWN: "Shuffled for each annotator: everybody has an order of their own",
    "by_question": "Shuffled by question: the answers to one question follow each other",
    "by_system": "In blocks: one system after another, shuffled in each",
    "by_category": "In blocks: one category after another, shuffled in each",
    BY_SCORE: "By a score: the more informative first, drawn with known probabilities",
    "given": "As they were named in a list, else as imported",
}
"""The orders in which a study can offer its items, in words; that by a score is made in prioritised.py beside this."""


def arrange(sample: Sequence[Candidate], order: str, seed: int, *, named: Sequence[str] = ()) -> list[Candidate]:
    """The sample in the order it is offered.

    `given`: as the items were `named`, else as imported. `shuffled`: seeded, so that systems and categories mix.
    `by_question`, `by_system`, `by_category`: blocks, shuffled, in each of them its items, shuffled. `own`: shuffled,
    and each annotator goes through them in an order of their own (`own_place`).
    """
    given = sorted(sample, key=lambda c: c.version_id)
    match order:
        case "given":
            place = {name: place for place, name in enumerate(named)}
            return sorted(given, key=lambda c: place.get(c.external_id, len(place)))
        case "shuffled" | "own":
            return sorted(given, key=lambda c: _rank(seed, "order", c.name))
        case "by_question":
            return sorted(given, key=lambda c: (_rank(seed, "order", c.question_key), _rank(seed, "order", c.name)))
        case "by_system" | "by_category":
            per = order.removeprefix("by_")
            blocks = {name: _rank(seed, "block", name) for name in {c.stratum(per) for c in given}}
            return sorted(given, key=lambda c: (blocks[c.stratum(per)], _rank(seed, "order", c.name)))
    raise InvalidInput(f"{order!r} is not an order of items. Known: {', '.join(ORDERS)}.")


def own_place(turn: int, n: int, key: str) -> int:
    """Where (0 to n - 1) somebody's turn is in an order of n items of their own, which `key` draws.

    Over n turns each place comes once, and then again in another order. No order is kept: it is a permutation of four
    Feistel rounds (Luby & Rackoff 1988, SIAM Journal on Computing 17, 373-386), walked until it falls among the n.
    """
    half = max(1, -(-(n - 1).bit_length() // 2))
    mask = (1 << half) - 1
    place = turn % n
    while True:
        left, right = place >> half, place & mask
        for part in range(4):
            drawn = hashlib.sha256(f"{key}\x00{turn // n}\x00{part}\x00{right}".encode()).digest()
            left, right = right, left ^ (int.from_bytes(drawn[:8]) & mask)
        place = left << half | right
        if place < n:
            return place


def sample_digest(ordered: Iterable[tuple[str, str]]) -> str:
    """SHA-256 over the items in order (external id, content hash): what a study's sample is known by."""
    digest = hashlib.sha256()
    for external_id, content_hash in ordered:
        digest.update(f"{external_id}\x00{content_hash}\n".encode())
    return digest.hexdigest()
