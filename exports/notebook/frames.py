"""Tables of an export as typed pandas frames: read off what the export itself writes, so that they cannot say else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from annotators.later import Later
from db.engine import Database
from db.permissions import Actor
from db.upkeep.export_log import check_may_export
from exports.bundles.bundle import Selection, derive
from exports.bundles.columns import columns_of, columns_of_items
from exports.bundles.typed import arrow_table, headings_of
from exports.garbage import seldom_collected
from exports.sinks import FolderSink

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Later("pandas")

ITEMS = "table"
"""The format whose table items are read from."""


def frame_of(db: Database, actor: Actor, project_id: int, study_id: int | None, table: str) -> pd.DataFrame:
    """The table (`labels`, `adjudicated`, `scores`, …, `table` for items) of a project or study, as an export has it.

    Columns and their order are those of the export; times are UTC, what a cell does not say is missing, categories are
    categories, and what is JSON there is JSON text. Permissions are those of exporting; people have pseudonyms.
    """
    check_may_export(db, actor, project_id)
    selection = Selection(project_id, study_id, (table,), names=False, data_folder=None)
    with TemporaryDirectory() as folder:
        with seldom_collected(), db.read() as session:
            derive(db, actor, session, selection, FolderSink(Path(folder)))
        path = Path(folder) / (f"{ITEMS}/items.csv" if table == ITEMS else f"{table}.csv")
        headings = headings_of(path)
        columns = columns_of_items(headings) if table == ITEMS else columns_of(table, headings)
        frame: pd.DataFrame = arrow_table(path, columns).to_pandas(types_mapper=_types().get)
    return frame


def _types() -> dict[Any, Any]:
    """Arrow type → the type of pandas that has missing values: whole numbers and truths stay what they are."""
    import pyarrow as pa  # noqa: PLC0415

    return {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): pd.StringDtype("pyarrow")}


@contextmanager
def as_file(frame: pd.DataFrame, name: str) -> Iterator[Path]:
    """The frame as a Parquet file of this name, for what reads tables; it is gone when the block ends.

    A cell of lists or objects stays one; an index that has a name is a column as well.
    """
    kept = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.parquet"
        kept.rename(columns=str).to_parquet(path, index=False)
        yield path
