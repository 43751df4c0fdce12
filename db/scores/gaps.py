"""Gaps between the values of one scorer, such as a score with and without distractors, paired by question."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func
from sqlmodel import Session, col

from annotators.scorers import SCORERS
from annotators.scorers.base import Difference, GivenParameters
from db.engine import Database
from db.models import Item, ItemVersion, Score
from db.permissions import READERS, Actor, On, operation
from db.query import pick
from db.scores.summaries import is_counted, which_scores

if TYPE_CHECKING:
    from annotators.intervals.result import Aligned

_Sums = dict[str, dict[int, tuple[int, float]]]
"""System → question → how many items of it have a value, and their sum."""


@dataclass(frozen=True)
class ScoreGap:
    """A scorer's difference for one system, or (`system` None) for each question over all systems.

    `means` are those of the two values over the questions that have both; `gap` is their difference with its interval
    or the reason why there is none; `n_one_only` counts the questions that have only one of the two.
    """

    difference: Difference
    system: str | None
    means: tuple[float | None, float | None]
    gap: Aligned
    n_one_only: int

    def to_json(self) -> dict[str, Any]:
        """As the command gives it."""
        of, minus = self.means
        return {
            **self.gap.to_json(),
            "by": "system",
            "group": self.system,
            self.difference.of: of,
            self.difference.minus: minus,
            "n_one_only": self.n_one_only,
        }


@operation(On.PROJECT, READERS)
def score_gaps(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
) -> list[ScoreGap]:
    """The differences that a scorer defines between its values, for each system and (of several) for all.

    Items of one question under different conditions are a pair; of several with the same value the mean counts. Empty
    for a scorer without differences. Raises NotFound when the project has no scores of it.
    """
    found: list[ScoreGap] = []
    with db.read() as session:
        for difference in SCORERS.get(scorer).differences if scorer in SCORERS.names() else ():
            of, minus = (
                _sums(session, project_id, scorer, parameters, value) for value in (difference.of, difference.minus)
            )
            systems = sorted({*of, *minus})
            found += [
                _gap(difference, system, _means(of, system), _means(minus, system))
                for system in (systems if len(systems) == 1 else [*systems, None])
            ]
    return found


def _sums(session: Session, project_id: int, scorer: str, parameters: GivenParameters, value: str) -> _Sums:
    which = which_scores(session, project_id, scorer, parameters, value)
    rows = session.execute(
        pick(Item.system, Item.question_id, func.count(), func.sum(Score.value))
        .select_from(Score)
        .join(ItemVersion, col(ItemVersion.id) == col(Score.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(*is_counted(which, project_id), col(Score.value).is_not(None))
        .group_by(col(Item.system), col(Item.question_id))
        .order_by(col(Item.system), col(Item.question_id))
    )
    found: _Sums = defaultdict(dict)
    for system, question, n, total in rows:
        found[system][question] = (n, float(total))
    return found


def _means(sums: _Sums, system: str | None) -> dict[int, float]:
    """Question → the mean over its items of one system, or (None) of all."""
    joint: dict[int, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for of_system in sums.values() if system is None else [sums.get(system, {})]:
        for question, (n, total) in of_system.items():
            joint[question] = (joint[question][0] + n, joint[question][1] + total)
    return {question: total / n for question, (n, total) in joint.items()}


def _gap(difference: Difference, system: str | None, of: dict[int, float], minus: dict[int, float]) -> ScoreGap:
    from annotators.alignment.statistics.gaps import paired_gap  # noqa: PLC0415 - a second of libraries, for scorers with gaps only

    shared = of.keys() & minus.keys()
    means = tuple(sum(sums[question] for question in shared) / len(shared) if shared else None for sums in (of, minus))
    gap = paired_gap(difference.name, of, minus, group=system)
    return ScoreGap(difference, system, (means[0], means[1]), gap, len(of.keys() ^ minus.keys()))
