"""Training sets of the abstention classifier: answers labelled statement or abstention, known by their hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, get_args

import orjson
import yaml

from annotators.errors import InvalidInput
from annotators.scorers.shared.resources import provide_resource, resource, resource_hash
from annotators.scorers.shared.words import words

AnswerLabel = Literal["statement", "abstention"]

_FILE = Path(__file__).with_name("abstention_examples.yaml")


@dataclass(frozen=True, slots=True, order=True)
class Example:
    """One labelled answer."""

    label: AnswerLabel
    text: str


@dataclass(frozen=True)
class TrainingSet:
    """Labelled answers, each text once, in one order. Made by `training_set` or `TrainingSet.from_bytes`."""

    examples: tuple[Example, ...]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of `to_bytes()`: what scores say they were given with."""
        return resource_hash(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The set as JSON lines, sorted: the same examples give the same bytes in whatever order they came."""
        return b"\n".join(orjson.dumps([example.label, example.text]) for example in self.examples)

    @classmethod
    def from_bytes(cls, content: bytes) -> TrainingSet:
        """The set that `to_bytes` wrote; InvalidInput when it is none."""
        try:
            rows = [orjson.loads(line) for line in content.splitlines()]
            return training_set(Example(label, text) for label, text in rows)
        except (ValueError, TypeError):
            raise InvalidInput("This is not a training set of the abstention classifier.") from None

    def extended(self, examples: Iterable[Example]) -> TrainingSet:
        """The set with more examples; one whose text is there already takes the new label (people are right)."""
        new = {example.text.strip(): example for example in examples}
        return training_set([*(example for example in self.examples if example.text not in new), *new.values()])

    @cached_property
    def words_of_declining(self) -> frozenset[str]:
        """The words that more than one abstention has, of many one in a hundred: those of declining, not of a topic."""
        texts = [example.text for example in self.examples if example.label == "abstention"]
        counts = Counter(word for text in texts for word in set(words(text)))
        enough = max(2, len(texts) // 100)
        return frozenset(word for word, n in counts.items() if n >= enough)

    def count(self, label: AnswerLabel) -> int:
        """How many examples have this label."""
        return sum(example.label == label for example in self.examples)


def training_set(examples: Iterable[Example]) -> TrainingSet:
    """The set of these examples, sorted, surrounding space and repetitions aside.

    Raises InvalidInput for an unknown label, an empty text, a text with both labels, and when a label has no example.
    """
    labels: dict[str, AnswerLabel] = {}
    for example in examples:
        text = example.text.strip() if isinstance(example.text, str) else ""
        if example.label not in get_args(AnswerLabel):
            raise InvalidInput(f"{example.label!r} is not a label of an answer. Allowed: statement, abstention.")
        if not text:
            raise InvalidInput("An example without a text can not be learned from. Leave it out.")
        if labels.setdefault(text, example.label) != example.label:
            raise InvalidInput(f"{text[:80]!r} is labelled both statement and abstention. Decide for one.")
    for label in get_args(AnswerLabel):
        if label not in labels.values():
            raise InvalidInput(f"The training set has no example of {label!r}. It needs at least one.")
    return TrainingSet(tuple(sorted(Example(label, text) for text, label in labels.items())))


@cache
def starting_set() -> TrainingSet:
    """The set that comes with the program."""
    given = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return training_set(Example(label, text) for label in get_args(AnswerLabel) for text in given[label])


@cache
def starting_hash() -> str:
    """The hash of the starting set, which every process can resolve."""
    return provide_resource(starting_set().to_bytes())


def find_training_set(digest: str) -> TrainingSet:
    """The training set with this hash: the starting set, or one that was provided to this process; else NotFound."""
    return starting_set() if digest == starting_hash() else TrainingSet.from_bytes(resource(digest))
