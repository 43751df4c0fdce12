"""Scoring tasks: a scorer with its parameters and resources as plain data, which any worker process can carry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.normal import Normal, read_item
from annotators.scorers import SCORERS
from annotators.scorers.base import Parameters, Scorer, ScoreValue, parameters_of
from annotators.scorers.shared.resources import provide_resource, resource

GivenParameters = Mapping[str, Any] | Sequence[str] | Parameters | None


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """Which scorer in which version, with which parameters and resources. Made by `scoring_task`; can be pickled.

    `parameters` is the complete set in JSON values. A worker makes its scorer, and the model that it may hold, once.
    """

    scorer: str
    version: str
    parameters: dict[str, Any] = field(default_factory=dict)
    resources: tuple[bytes, ...] = ()

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

    def score_batch(self, rows: Sequence[Normal]) -> list[list[ScoreValue]]:
        """The scores of the item of each row, in their order; InvalidInput for a row that is none."""
        return self.score([read_item(row) for row in rows])


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
