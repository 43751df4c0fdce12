"""What is known of every item without a score: how long its question and its answer are, and how much evidence it has.

Lengths predict grades more often than one likes (Saito, Wachi, Wataoka & Akimoto 2023, arXiv:2310.10076), and cost
nothing: they are combined with scores and judges, and only with these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlalchemy import func
from sqlmodel import col

from db.engine import Database
from db.models import Evidence, ItemVersion
from db.query import pick

ANSWER, QUESTION, EVIDENCE = "length of the answer", "length of the question", "amount of evidence"
FEATURES = (ANSWER, QUESTION, EVIDENCE)
_AT_ONCE = 500


def features_of(db: Database, versions: Sequence[int]) -> dict[str, list[float]]:
    """Name → the feature of each of these item versions, as the logarithm of 1 + characters (pieces of evidence).

    One that is the same for all is left out. To be called after what checks that the person may read the items.
    """
    found: dict[int, tuple[float, float, float]] = {}
    wanted = list(dict.fromkeys(versions))
    with db.read() as session:
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            pieces = dict(
                session.execute(
                    pick(Evidence.item_version_id, func.count())
                    .where(col(Evidence.item_version_id).in_(part))
                    .group_by(col(Evidence.item_version_id))
                ).all()
            )
            rows = session.execute(
                pick(ItemVersion.id, func.length(ItemVersion.answer), func.length(ItemVersion.question)).where(
                    col(ItemVersion.id).in_(part)
                )
            )
            for version, answer, question in rows:
                counts = (answer or 0, question or 0, pieces.get(version, 0))
                found[version] = (math.log1p(counts[0]), math.log1p(counts[1]), math.log1p(counts[2]))
    columns = {name: [found[version][place] for version in versions] for place, name in enumerate(FEATURES)}
    return {name: column for name, column in columns.items() if len(set(column)) > 1}
