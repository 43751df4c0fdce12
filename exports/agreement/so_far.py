"""Agreement so far, for the page of a study: one coefficient a criterion, on a bounded number of items."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from annotators.agreement.statistics.base import title_of
from annotators.intervals.result import Statistic
from db.engine import Database
from db.permissions import Actor
from db.studies.ratings import shared_items
from exports.agreement.study import agreement_report

MOST = 2_000
"""Items that are looked at: where more are shared, so many of them are drawn, and the page says so."""


@dataclass(frozen=True)
class CriterionSoFar:
    """A criterion with the coefficient of its scale; None where none is measured."""

    name: str
    title: str
    found: Statistic | None

    @property
    def called(self) -> str:
        """What the coefficient is called."""
        return title_of(self.found.name, short=True) if self.found else ""


@dataclass(frozen=True)
class SoFar:
    """What a study's annotators agree so far, on `looked_at` of `shared` items, those that two or more labelled."""

    criteria: list[CriterionSoFar]
    looked_at: int
    shared: int


def agreement_so_far(db: Database, actor: Actor, study_id: int) -> SoFar:
    """Measure it, with intervals as the page Agreement has them by default; on at most `MOST` items."""
    there = shared_items(db, actor, study_id, most=MOST)
    report = agreement_report(db, actor, study_id, named=False, among=there.drawn)
    criteria = [CriterionSoFar(each.criterion.name, each.title, each.headline) for each in report.criteria]
    return SoFar(criteria, there.n if there.drawn is None else len(there.drawn), there.n)


def changes_with(submitted: int) -> Hashable:
    """A number that changes with every annotation of the first hundred, and then with every hundredth part more.

    Agreement is measured anew when it changes: a page that is looked at all day does not measure all day.
    """
    return submitted if submitted <= 100 else int(100 * math.log(submitted))
