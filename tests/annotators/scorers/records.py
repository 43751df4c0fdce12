"""Native item records scored without a database, as tests of scorers write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotators.items.normal import read_item
from annotators.scorers.base import ScoreValue
from annotators.scorers.shared.group_means import Sums
from annotators.scorers.shared.tasks import ScoringTask


def score_records(task: ScoringTask, records: Sequence[dict[str, Any]]) -> list[list[ScoreValue]]:
    """The scores of each record, in the order of `records`."""
    return task.score([read_item(record) for record in records])


def sums(*values: float) -> Sums:
    """Some scores as a table of them sums them up."""
    return Sums(len(values), sum(values), sum(value * value for value in values))
