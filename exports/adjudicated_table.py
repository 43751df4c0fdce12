"""`adjudicated.csv`: one row an item, criterion and target, with the final label and how it was reached."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson
from sqlmodel import Session, col

from db.models import Item, ItemVersion, Question, Study, StudyItem
from db.query import pick
from db.settlements import SettledUnit, stream_settled
from exports.cells import safe, value_cell
from exports.sinks import Out

COLUMNS = (
    "item", "item_version", "question", "system", "criterion", "target", "label", "how", "votes", "n", "reason",
)  # fmt: skip
AT_ONCE = 5_000


def write_adjudicated(session: Session, study: Study, out: Out) -> int:
    """Write the final labels of a study; how many rows. A unit that is not settled has an empty label and is `open`."""
    assert study.id is not None
    lines: list[str] = []
    writer = csv.writer(_Lines(lines), lineterminator="\n")
    writer.writerow(COLUMNS)
    n = 0
    units = stream_settled(session, study.id)
    while block := list(islice(units, AT_ONCE)):
        writer.writerows(_cells(session, block))
        n += len(block)
        out.write_text("".join(lines))
        lines.clear()
    out.write_text("".join(lines))
    out.rows = n
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
            safe(orjson.dumps(unit.votes).decode()),
            unit.n,
            safe(unit.reason or ""),
        )


class _Lines:
    """What the csv module writes to."""

    def __init__(self, lines: list[str]) -> None:
        self.write = lines.append
