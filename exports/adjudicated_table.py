"""`adjudicated.csv`: one row an item, criterion and target, with the final label and how it was reached."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import orjson
from sqlmodel import Session, col

from db.models import Item, ItemVersion, Question, Study, StudyItem
from db.query import pick
from db.settlements import SettledUnit, stream_settled
from exports.cells import safe, value_cell
from exports.csv_file import CsvFile, csv_cells
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
        table.add_lines(list(_lines(session, block)), len(block))
        n += len(block)
    return n


def _lines(session: Session, block: list[SettledUnit]) -> Iterator[str]:
    rows = session.execute(
        pick(StudyItem.id, Item.external_id, ItemVersion.number, Question.key, Item.system)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .join(Question, col(Question.id) == Item.question_id)
        .where(col(StudyItem.id).in_({unit.study_item_id for unit in block}))
    ).all()
    about = {i: csv_cells(safe(item), str(number), safe(key), safe(system)) for i, item, number, key, system in rows}
    for unit in block:
        label = value_cell(unit.value) if unit.state != "open" else ""
        outcome = _outcome(unit.criterion, unit.target, label, unit.state, orjson.dumps(unit.votes))
        reason = f"{unit.n},{csv_cells(safe(unit.reason), '')[:-1]}" if unit.reason else f"{unit.n},"
        yield f"{about[unit.study_item_id]},{outcome},{reason}"


@lru_cache(10_000)
def _outcome(criterion: str, target: str, label: str, how: str, votes: bytes) -> str:
    """The cells of an outcome; few outcomes differ."""
    return csv_cells(criterion, target, label, how, votes.decode())
