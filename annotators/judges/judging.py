"""One item judged: step by step, what the step shows and asks goes to the judge, and its replies become labels."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from typing import Protocol as TypingProtocol

import orjson

from annotators.asking.submissions import GivenLabel, broken_rules, checked_label, is_asked
from annotators.criteria import Criterion
from annotators.errors import InvalidInput
from annotators.items.targets import Units
from annotators.judges.asking import Answer
from annotators.judges.base import Call, Ending, Judged
from annotators.judges.prompts import Pictures, Prompt, calls, read
from annotators.protocols.base import Protocol

CANNOT = "cannot judge"
"""What stands for the label, among shares of samples, where a judge says that it cannot judge."""

_SAID = 500
_SUGGESTIONS = "suggestions"

Ask = Callable[[Call, int], Answer]
"""The reply to a call, for a sample (from 0)."""

Write = Callable[..., list[Call]]
"""The requests of a step, with the arguments of `annotators.judges.prompts.calls`."""


class Names(TypingProtocol):
    """The neutral names that a judge knows parts of the item by, as annotators do, and the way back."""

    def back(self, target: str) -> str:
        """The target as it is stored."""

    def value_back(self, value: Any, criterion: Criterion) -> Any:
        """A value as it is stored."""


@dataclass(frozen=True)
class StepToJudge:
    """What there is of an item at a step (from 0): the material as annotators get it, its names, and its units."""

    step: int
    material: Mapping[str, Any]
    names: Names
    units: Units

    @property
    def shown(self) -> list[str]:
        """The materials that the judge is sent. What other models propose is never among them."""
        return [name for name in self.material["shown"] if name != _SUGGESTIONS]


@dataclass(frozen=True)
class Unscored:
    """Targets of a criterion that got no label: why, and what the judge or its server said."""

    criterion: str
    targets: tuple[str, ...]
    reason: str
    said: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "criterion": self.criterion, "targets": list(self.targets), "reason": self.reason, "said": self.said,
        }  # fmt: skip


@dataclass(frozen=True)
class JudgedStep:
    """The labels of a step as they are stored, what was shown, and the seconds that the judge took."""

    step: int
    shown: list[str]
    labels: list[GivenLabel]
    seconds: float


@dataclass
class Outcome:
    """What a judge made of an item.

    `shares` has, where it was asked several times, criterion → target → label → share of the replies that were read,
    `chances` has the same of the probabilities that the server gave (of the first reply), where it gave any.
    `failed`: the server gave no reply to some request, so that the item is still to be done.
    """

    steps: list[JudgedStep] = field(default_factory=list)
    unscored: list[Unscored] = field(default_factory=list)
    shares: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    failed: bool = False
    chances: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)


def mark_of(secret: bytes, steps: Sequence[StepToJudge]) -> str:
    """The mark around an item's data: the same each time, and not to be guessed by whoever wrote the data."""
    said = orjson.dumps(steps[-1].material, option=orjson.OPT_SORT_KEYS, default=str)
    return hmac.new(secret, said, hashlib.sha256).hexdigest()[:16]


def judge_item(
    protocol: Protocol,
    prompt: Prompt,
    steps: Sequence[StepToJudge],
    ask: Ask,
    *,
    mark: str,
    samples: int = 1,
    pictures: Pictures | None = None,
    write: Write = calls,
) -> Outcome:
    """Every step in order: what it asks by the labels so far, each criterion in a request of its own (`write`).

    A reply that cannot be read leaves its targets without a label, and so does a label that the item or a rule of the
    protocol does not allow. Of several samples the label that most replies give is taken, of equally many the one that
    came first. What `ask` raises goes through.
    """
    out = Outcome()
    given: dict[tuple[str, str], GivenLabel] = {}
    for at in steps:
        work = _Step(
            protocol, prompt, at, ask,
            mark=mark, samples=samples, pictures=pictures, write=write, given=given, out=out,
        )  # fmt: skip
        out.steps.append(work.done())
        if out.failed:
            break
    return out


class _Step:
    """A step being judged. `given` has all labels so far by the neutral names."""

    def __init__(
        self,
        protocol: Protocol,
        prompt: Prompt,
        at: StepToJudge,
        ask: Ask,
        *,
        mark: str,
        samples: int,
        pictures: Pictures | None,
        write: Write,
        given: dict[tuple[str, str], GivenLabel],
        out: Outcome,
    ) -> None:
        self._protocol, self._prompt, self._at, self._ask = protocol, prompt, at, ask
        self._mark, self._samples, self._pictures = mark, samples, pictures
        self._write, self._given, self._out = write, given, out
        self._material = {name: value for name, value in at.material.items() if name != _SUGGESTIONS}
        self._stored: dict[tuple[str, str], GivenLabel] = {}
        self._seconds = 0.0

    def done(self) -> JudgedStep:
        """Ask until no answer opens another criterion."""
        asked: set[tuple[str, str]] = set()
        while True:
            open_calls = [call for call in self._calls() if not asked.issuperset(call.asks)]
            if not open_calls or self._out.failed:
                break
            for call in open_calls:
                asked.update(call.asks)
                self._one(call)
        self._keep_rules()
        return JudgedStep(self._at.step, self._at.shown, list(self._stored.values()), self._seconds)

    def _calls(self) -> list[Call]:
        return self._write(
            self._protocol,
            self._prompt,
            self._material,
            self._at.step,
            given=self._given,
            mark=self._mark,
            pictures=self._pictures,
        )

    def _one(self, call: Call) -> None:
        said: dict[tuple[str, str], list[Judged]] = defaultdict(list)
        trouble: Unscored | None = None
        n_read = 0
        for sample in range(self._samples):
            reply = self._ask(call, sample).reply
            self._seconds += reply.seconds
            if reply.ending == Ending.FAILED:
                self._out.failed = True
                return
            if reply.ending != Ending.WHOLE:
                trouble = trouble or self._left(call, reply.ending.value, reply.said)
                continue
            judged, why = read(call, self._protocol, reply.text, self._material, reply.chances)
            if why is not None:
                trouble = trouble or self._left(call, Ending.UNREADABLE.value, why)
                continue
            n_read += 1
            for label in judged:
                said[label.criterion, label.target].append(label)
        if not n_read and trouble is not None:
            self._out.unscored.append(trouble)
        for place, labels in said.items():
            self._take(place, labels, n_read)

    def _left(self, call: Call, reason: str, said: str | None) -> Unscored:
        targets = tuple(self._at.names.back(target) for _, target in call.asks)
        return Unscored(call.asks[0][0], targets, reason, said and said[:_SAID])

    def _take(self, place: tuple[str, str], labels: Sequence[Judged], n: int) -> None:
        """The label that most samples give, as it is stored, where it fits the item."""
        criterion = self._protocol.criterion(place[0])
        target = self._at.names.back(place[1])
        votes = [CANNOT if label.cannot_judge else criterion.vote(label.value) for label in labels]
        chosen = labels[votes.index(Counter(votes).most_common(1)[0][0])]
        neutral = GivenLabel(
            criterion.name, place[1], chosen.value, chosen.cannot_judge, chosen.reason, comment=chosen.rationale
        )
        try:
            value = None if chosen.value is None else self._at.names.value_back(chosen.value, criterion)
            found = checked_label(criterion, target, self._at.units, replace(neutral, target=target, value=value))
        except InvalidInput as error:
            self._out.unscored.append(Unscored(criterion.name, (target,), Ending.UNREADABLE.value, str(error)[:_SAID]))
            return
        if found is None:
            return
        self._given[place] = neutral
        self._stored[place] = found
        if self._samples > 1:
            said = Counter(CANNOT if label.cannot_judge else self._vote(criterion, label.value) for label in labels)
            shares = {vote: count / n for vote, count in said.items()}
            self._out.shares.setdefault(criterion.name, {}).setdefault(target, {}).update(shares)
        if labels[0].chances:
            chances = {self._vote(criterion, value): chance for value, chance in labels[0].chances}
            self._out.chances.setdefault(criterion.name, {})[target] = chances

    def _vote(self, criterion: Criterion, value: Any) -> str:
        """What a value by neutral names is counted as: as the label that is stored of it."""
        return criterion.vote(criterion.check(self._at.names.value_back(value, criterion)))

    def _keep_rules(self) -> None:
        """Labels that cannot stand beside the others, by a rule of the protocol, are unscored."""
        for (criterion, target), sentence in list(self._broken()):
            label = self._stored.pop((criterion, target))
            del self._given[criterion, target]
            self._out.unscored.append(Unscored(criterion, (label.target,), "against a rule", sentence))
        for place, label in list(self._stored.items()):
            if not is_asked(self._protocol.criterion(place[0]), place[1], self._given):
                del self._stored[place], self._given[place]
                said = "what it was asked for is unscored"
                self._out.unscored.append(Unscored(label.criterion, (label.target,), "against a rule", said))

    def _broken(self) -> Iterator[tuple[tuple[str, str], str]]:
        own = [label for place, label in self._given.items() if place in self._stored]
        for label, sentence in broken_rules(self._protocol, own, self._given):
            yield (label.criterion, label.target), sentence
