"""Scoring tasks: a scorer with its parameters and resources as plain data, which any worker process can carry out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, GivenParameters, Scorer, ScoreValue, parameters_of
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
        return scorer.score(items, parameters_of(scorer, self.parameters))


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
