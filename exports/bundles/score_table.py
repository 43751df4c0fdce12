"""`scores.csv`: one row a score, with the scorer, its version and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from sqlmodel import Session, col

from db.items.current import is_published
from db.models import Item, ItemVersion, Run, Score
from db.query import pick
from exports.bundles.columns import names_of
from exports.cells import safe
from exports.csv_file import CsvFile
from exports.sinks import Out

COLUMNS = names_of("scores")


def write_scores(session: Session, blocks: Iterable[Sequence[int]], out: Out) -> int:
    """Write every score of some item versions (blocks of ids); how many. An unscored one has no value but a reason."""
    table = CsvFile(out, COLUMNS)
    n = 0
    for block in blocks:
        rows = session.execute(
            pick(
                Item.external_id, ItemVersion.number, Item.system, ItemVersion.category, Run.name, Run.version,
                Run.parameters, Score.name, Score.target, Score.value, Score.reason, Run.id,
            )
            .select_from(Score)
            .join(Run, col(Run.id) == Score.run_id)
            .join(ItemVersion, col(ItemVersion.id) == Score.item_version_id)
            .join(Item, col(Item.id) == ItemVersion.item_id)
            .where(col(Score.item_version_id).in_(block), is_published(Run.batch_id))
            .order_by(col(Item.id), col(Score.id))
        ).all()  # fmt: skip
        table.add((_cells(*row) for row in rows), len(rows))
        n += len(rows)
    return n


def _cells(*row: Any) -> tuple[Any, ...]:
    item, number, system, category, scorer, version, parameters, name, target, value, reason, run = row
    written = orjson.dumps(parameters, option=orjson.OPT_SORT_KEYS).decode()
    about = (safe(item), number, safe(system), safe(category or ""), safe(scorer), safe(version), written)
    return (*about, safe(name), target, value, safe(reason or ""), run)
