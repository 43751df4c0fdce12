"""Tables of an export as typed pandas frames: read off what the export itself writes, so that they cannot say else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sqlmodel import Session

from annotators.errors import InvalidInput, NotFound
from annotators.later import Later
from db.engine import Database
from db.models import Study
from db.permissions import Actor
from db.upkeep.export_log import check_may_export
from exports.bundles.arrow import batches_of_file, schema_of
from exports.bundles.bundle import Selection, derive
from exports.bundles.columns import columns_of_items
from exports.bundles.labels.kept import KeptTables
from exports.bundles.labels.stamp import labels_stamp
from exports.bundles.typed import Batches, Tables, headings_of
from exports.garbage import seldom_collected
from exports.sinks import FolderSink, Out

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
else:
    pa, pd = Later("pyarrow"), Later("pandas")

LABELS, ITEMS = "labels", "table"
"""The formats whose tables labels and items are read from."""

_NO_ITEMS = ("id", "question_key", "question", "answer", "system")
"""The columns of a table of items without items."""


def frame_of(db: Database, actor: Actor, project_id: int, study_id: int | None, table: str) -> pd.DataFrame:
    """The table (`labels`, `adjudicated`, `scores`, …, `table` for items) of a project or study, as an export has it.

    Columns and their order are those of the export; times are UTC, what a cell does not say is missing, categories are
    categories, and what is JSON there is JSON text. Permissions are those of exporting; people have pseudonyms.
    """
    check_may_export(db, actor, project_id)
    with db.read() as session:
        found = [_derived(db, actor, session, Selection(project_id, study_id, (table,), names=False, data_folder=None))]
    return _as_frame(found)


def labels_frame(
    db: Database, actor: Actor, project_id: int, study_id: int, kept: KeptTables | None
) -> pd.DataFrame:  # fmt: skip
    """The labels of a study, as `frame_of` has them, from what is `kept` where nothing has changed since."""
    if kept is None:
        return frame_of(db, actor, project_id, study_id, LABELS)
    check_may_export(db, actor, project_id)
    name = f"{LABELS}-{study_id}"
    with db.read() as session:
        stamp = _stamp(session, project_id, study_id)
        found = [kept.read(name, stamp)]
        if found[0] is not None:
            return _as_frame(found)
        selection = Selection(project_id, study_id, (LABELS,), names=False, data_folder=None)
        found = [_derived(db, actor, session, selection)]
    kept.store(name, stamp, found[0])
    # A redaction meanwhile has removed what was kept before this was.
    with db.read() as session:
        if _stamp(session, project_id, study_id) != stamp:
            kept.forget(name)
    return _as_frame(found)


def _stamp(session: Session, project_id: int, study_id: int) -> str:
    study = session.get(Study, study_id)
    if study is None or study.project_id != project_id:
        raise NotFound(f"The project has no study {study_id}.")
    return labels_stamp(session, study)


def _derived(db: Database, actor: Actor, session: Session, selection: Selection) -> pa.Table:
    with TemporaryDirectory() as folder:
        frames = _Frames(Path(folder))
        with seldom_collected():
            derive(db, actor, session, selection, frames.sink, tables=frames)
        # A project without items has no file of them, and a table of theirs without rows.
        return frames.tables[0] if frames.tables else schema_of(columns_of_items(_NO_ITEMS)).empty_table()


def _as_frame(found: list[pa.Table]) -> pd.DataFrame:
    """The only table of a list as a frame; it is let go of meanwhile."""
    frame: pd.DataFrame = found.pop().to_pandas(types_mapper=_types().get)
    return frame


class _Frames(Tables):
    """Keeps the tables of an export in memory, in the types that they have, instead of writing them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(FolderSink(folder), (), {})
        self._folder = folder
        self.tables: list[pa.Table] = []

    def write(self, name: str, write: Callable[[Out], int], _folder: str = "") -> None:
        """Keep a table."""
        kept = Batches(name)
        write(Out(None, typed=kept, lines=False))
        self.tables.append(kept.table())

    @contextmanager
    def items(self, path: str) -> Iterator[Out]:
        """Keep the table of items, whose columns are known when all of it is written."""
        with self.sink.open(path) as out:
            yield out
        written = self._folder / path
        columns = columns_of_items(headings_of(written))
        batches = batches_of_file(written, columns)
        self.tables.append(pa.Table.from_batches(batches, schema=schema_of(columns)).unify_dictionaries())


def _types() -> dict[Any, Any]:
    """Arrow type → the type of pandas that has missing values: whole numbers and truths stay what they are."""
    return {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): pd.StringDtype("pyarrow")}


@contextmanager
def as_file(frame: pd.DataFrame, name: str) -> Iterator[Path]:
    """The frame as a Parquet file of this name, for what reads tables; it is gone when the block ends.

    A cell of lists or objects stays one; an index that has a name is a column as well. InvalidInput for what is no
    frame, two columns of one name, and a column whose values have no type in common.
    """
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInput(f"A {type(frame).__name__} is no pandas DataFrame. Make one of it: pandas.DataFrame(…).")
    kept = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
    kept = kept.rename(columns=_column)
    twice = kept.columns[kept.columns.duplicated()]
    if len(twice):
        raise InvalidInput(f"The frame has two columns called {twice[0]!r}. Rename one of the two.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.parquet"
        _check_types(kept)
        kept.to_parquet(path, index=False)
        yield path


def _column(name: object) -> str:
    """A column's name as a text; of several levels with a dot between them."""
    return ".".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _check_types(frame: pd.DataFrame) -> None:
    """InvalidInput for the first column of objects that have no type in common."""
    for name in (name for name, kind in frame.dtypes.items() if pd.api.types.is_object_dtype(kind)):
        try:
            pa.array(frame[name], from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            types = ", ".join(sorted({type(cell).__name__ for cell in frame[name].dropna()}))
            raise InvalidInput(
                f"The column {name!r} has values of several types ({types}). Give them one: "
                f"frame[{name!r}] = frame[{name!r}].astype(str)"
            ) from None
