"""Scoring tasks: a scorer with its parameters and resources as plain data, which any worker process can carry out."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotators.errors import InvalidInput, shown
from annotators.figures import count
from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, GivenParameters, Scorer, ScoreValue, ValueKind, parameters_of
from annotators.scorers.shared.resources import provide_resource, resource

BLOCK = 1_000
"""Items scored at a time: what is in memory, and what is lost when the scoring is interrupted."""

MODEL_BLOCK = 512
"""The same for scorers that use a model: a few seconds of work."""


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """Which scorer in which version, with which parameters and resources. Made by `scoring_task`; can be pickled.

    `parameters` is the complete set in JSON values. A worker makes its scorer, and the model that it may hold, once.
    """

    scorer: str
    version: str
    parameters: dict[str, Any] = field(default_factory=dict)
    resources: tuple[bytes, ...] = ()

    @property
    def block(self) -> int:
        """How many items are scored at a time."""
        return MODEL_BLOCK if SCORERS.get(self.scorer).uses_model else BLOCK

    def score(self, items: Sequence[ItemContent]) -> list[list[ScoreValue]]:
        """The scores of each item, in the order of `items`.

        Raises InvalidInput when this process knows the scorer in another version than the task was made for.
        """
        scorer: Scorer[Any] = SCORERS.get(self.scorer)
        if scorer.version != self.version:
            raise InvalidInput(
                f"Scorer {self.scorer!r} is version {scorer.version} here, but version {self.version} is asked for. "
                "Install the same version of the program on every machine."
            )
        for content in self.resources:
            provide_resource(content)
        found = scorer.score(items, parameters_of(scorer, self.parameters))
        _check(scorer, found, len(items))
        return found


def _check(scorer: Scorer[Any], found: Sequence[Sequence[ScoreValue]], n: int) -> None:
    """InvalidInput for scores that are not what the scorer says it gives: a package of somebody's own may be wrong."""
    if not isinstance(found, Sequence) or not all(isinstance(of_item, Sequence) for of_item in found):
        raise InvalidInput(f"Scorer {scorer.name!r} gave {shown(found)}, which is no list of the scores of each item.")
    if len(found) != n:
        raise InvalidInput(f"Scorer {scorer.name!r} gave scores of {count(len(found), 'item')} for a batch of {n:,}.")
    kinds = {kind.name: kind for kind in scorer.values}
    for of_item in found:
        if odd := [score for score in of_item if not isinstance(score, ScoreValue)]:
            raise InvalidInput(f"Scorer {scorer.name!r} gave an item {shown(odd[0])}, which is no ScoreValue.")
        given = [(score.name, score.target) for score in of_item]
        if len(set(given)) < len(given):
            name, target = next(one for one in given if given.count(one) > 1)
            raise InvalidInput(f"Scorer {scorer.name!r} gave {name!r} of {target!r} twice.")
        there = {score.name for score in of_item if score.target == "item"}
        if not of_item or not there <= kinds.keys():
            raise InvalidInput(
                f"Scorer {scorer.name!r} gave an item the values {_listed(there)}, and says that it gives "
                f"{_listed(kinds)}. Every item gets some of these, with a reason where there is no value."
            )
        for score in of_item:
            if score.value is not None and (why := _unfit(score.value, kinds.get(score.name))):
                raise InvalidInput(f"Scorer {scorer.name!r} gave {score.name!r} the value {score.value}: {why}.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _unfit(value: float, kind: ValueKind | None) -> str | None:
    """Why something is no value of its kind."""
    if not isinstance(value, numbers.Real):
        return "it is no number"
    if not math.isfinite(value):
        return "it is no finite number"
    if kind is None:
        return None
    if kind.kind == "flag" and value not in (0, 1):
        return "a flag is 0 or 1"
    if kind.kind in ("count", "label") and (value != int(value) or value < 0):
        return f"a {kind.kind} is a whole number from 0"
    if kind.kind == "label" and value >= len(kind.words):
        return f"it has {count(len(kind.words), 'word')}"
    if kind.kind == "share" and not 0 <= value <= 1:
        return "a share lies between 0 and 1"
    return None


def scoring_task(scorer: str, parameters: GivenParameters = None) -> ScoringTask:
    """The task of this scorer with these parameters (a mapping, texts K=V, or None for the defaults).

    Raises NotFound for an unknown scorer or a resource that was not provided, InvalidInput for wrong parameters.
    """
    found: Scorer[Any] = SCORERS.get(scorer)
    checked = parameters_of(found, parameters)
    return ScoringTask(
        scorer=found.name,
        version=found.version,
        parameters=checked.model_dump(mode="json"),
        resources=tuple(resource(digest) for digest in found.resources(checked)),
    )


ScoredBlock = tuple[list[ItemContent], list[list[ScoreValue]]]
"""Some items and the scores of each, in the same order."""

Engine = Callable[[ScoringTask, Iterator[list[ItemContent]]], Iterator[ScoredBlock]]
"""What carries a task out over blocks of items: gives every block back, scored, in the order they came."""


def in_this_process(task: ScoringTask, blocks: Iterator[list[ItemContent]]) -> Iterator[ScoredBlock]:
    """The engine that computes here, one block after the other."""
    for items in blocks:
        yield items, task.score(items)
