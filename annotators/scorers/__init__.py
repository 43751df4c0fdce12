"""One file a metric: what code computes over an item. `SCORERS.get(name)` finds one."""

from annotators.scorers.base import SCORERS, Scorer, ScoreValue

__all__ = ["SCORERS", "ScoreValue", "Scorer"]
