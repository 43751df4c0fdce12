"""`adjudicated.csv`: one row an item, criterion and target, with the final label and how it was reached."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson
from sqlmodel import Session, col

from db.models import Item, ItemVersion, Question, Study, StudyItem
from db.query import pick
from db.settlements import SettledUnit, stream_settled
from exports.cells import safe, value_cell
from exports.csv_file import CsvFile
from exports.sinks import Out

COLUMNS = (
    "item", "item_version", "question", "system", "criterion", "target", "label", "how", "votes", "n", "reason",
)  # fmt: skip
AT_ONCE = 5_000


def write_adjudicated(session: Session, study: Study, out: Out) -> int:
    """Write the final labels of a study; how many rows. A unit that is not settled has an empty label and is `open`."""
    assert study.id is not None
    table = CsvFile(out, COLUMNS)
    n = 0
    units = stream_settled(session, study.id)
    while block := list(islice(units, AT_ONCE)):
        table.add(_cells(session, block), len(block))
        n += len(block)
    return n


def _cells(session: Session, block: list[SettledUnit]) -> Iterator[tuple[Any, ...]]:
    rows = session.execute(
        pick(StudyItem.id, Question.key, Item.system)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .join(Question, col(Question.id) == Item.question_id)
        .where(col(StudyItem.id).in_({unit.study_item_id for unit in block}))
    )
    about = {study_item_id: (safe(key), safe(system)) for study_item_id, key, system in rows}
    for unit in block:
        key, system = about[unit.study_item_id]
        yield (
            safe(unit.external_id),
            unit.item_version,
            key,
            system,
            unit.criterion,
            unit.target,
            value_cell(unit.value) if unit.state != "open" else "",
            unit.state,
            orjson.dumps(unit.votes).decode(),
            unit.n,
            safe(unit.reason) if unit.reason else "",
        )
