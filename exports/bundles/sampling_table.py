"""`sampling.csv`: in a study ordered by a score one row an item, with what the probability of its label goes by."""

from __future__ import annotations

from sqlmodel import Session, col

from db.models import Item, ItemVersion, Purpose, Study, StudyItem
from db.query import pick
from exports.bundles.columns import names_of
from exports.cells import safe
from exports.csv_file import CsvFile
from exports.sinks import Out

COLUMNS = names_of("sampling")
AT_ONCE = 5_000


def write_sampling(session: Session, study: Study, out: Out) -> int:
    """Write the items in their order, from position 1; how many.

    Of the first n each was among them with probability min(1, weight / key of item n + 1).
    """
    table = CsvFile(out, COLUMNS)
    rows = session.execute(
        pick(
            StudyItem.position,
            Item.external_id,
            ItemVersion.number,
            StudyItem.sampling_weight,
            StudyItem.sampling_key,
        )
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .where(col(StudyItem.study_id) == study.id, col(StudyItem.purpose) == Purpose.SAMPLE)
        .order_by(col(StudyItem.position))
        .execution_options(yield_per=AT_ONCE)
    )
    n = 0
    for block in rows.partitions(AT_ONCE):
        table.add(
            ((place + 1, safe(item), version, weight, key) for place, item, version, weight, key in block), len(block)
        )
        n += len(block)
    return n
