"""Tables of an export as typed pandas frames: read off what the export itself writes, so that they cannot say else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlmodel import Session

from annotators.arrays import np
from annotators.errors import InvalidInput, NotFound, shown
from annotators.files import under_way
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
from exports.notebook.given import is_written
from exports.sinks import FolderSink, Out

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa, pd, pq = Later("pyarrow"), Later("pandas"), Later("pyarrow.parquet")

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
    with under_way() as folder:
        frames = _Frames(folder)
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

    def write(self, name: str, write: Callable[[Out], int], _folder: str = "", *, counted: bool = True) -> None:
        """Keep a table; nobody asks a frame for counts."""
        del counted
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

    A cell of lists or objects stays one; an index that has a name is a column as well. InvalidInput for two columns of
    one name, and a column whose values have no type in common, or one that no table has.
    """
    index = [
        (level, frame.index.get_level_values(place).to_series())
        for place, level in enumerate(frame.index.names)
        if level is not None
    ]
    columns = [(_column(heading), cells) for heading, cells in [*index, *frame.items()]]
    if not columns:
        raise InvalidInput("The frame has no columns. Give one with a row for each unit, and named columns.")
    headings = [heading for heading, _ in columns]
    if twice := next((heading for heading in headings if headings.count(heading) > 1), None):
        raise InvalidInput(f"The frame has two columns called {twice!r}. Rename one of the two.")
    table = pa.table([_cells(heading, cells) for heading, cells in columns], names=headings)
    with under_way() as folder:
        path = folder / f"{name}.parquet"
        try:
            pq.write_table(table, path)
        except (pa.ArrowException, OSError):
            _refuse_unwritten(table, columns)
            raise
        yield path


def _column(name: object) -> str:
    """A column's name as a text; of several levels with a dot between them. InvalidInput for one that cannot be."""
    said = ".".join(map(str, name)) if isinstance(name, tuple) else str(name)
    if not is_written(said):
        raise InvalidInput(f"The frame has a column called {shown(said)}, which cannot be written. Rename it.")
    return said


def _cells(heading: str, cells: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    """A column as Arrow has it, as texts what only pandas knows (periods, intervals).

    InvalidInput for values that have no type in common, or one that no table has.
    """
    if isinstance(cells.dtype, pd.SparseDtype):
        cells = pd.Series(cells.to_numpy())
    try:
        found = pa.array(cells, from_pandas=True)
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"The column {heading!r} has {shown(error.object)}, of which half a character cannot be written. Take it "
            "out, or write it anew."
        ) from None
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise _unfit(heading, cells, error) from None
    categories = pa.types.is_dictionary(found.type)
    kind = found.type.value_type if categories else found.type
    if isinstance(kind, pa.BaseExtensionType):
        return pa.array(cells.astype("string"), from_pandas=True)
    said = cells.cat.categories if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    if said.dtype == object and _has_times(kind):
        _refuse_mixed_times(heading, said)
    # A file has categories of single values only.
    return found.dictionary_decode() if categories and pa.types.is_nested(kind) else found


def _refuse_unwritten(table: pa.Table, columns: Sequence[tuple[str, pd.Series[Any]]]) -> None:
    """InvalidInput for the column that cannot be in a file, where it is one."""
    for heading, cells in columns:
        try:
            pq.write_table(table.select([heading]), pa.BufferOutputStream())
        except (pa.ArrowException, OSError) as error:
            raise _unfit(heading, cells, error) from None


def _unfit(heading: str, cells: pd.Series[Any], error: Exception) -> InvalidInput:
    types = sorted({type(cell).__name__ for cell in cells.dropna()})
    if len(types) > 1:
        return _refused(heading, _of_several(types))
    why = "numbers beyond 64 bits" if isinstance(error, OverflowError) else str(error).partition("\n")[0]
    return _refused(heading, f"values that no table holds ({', '.join(types)}: {why})")


def _of_several(types: Iterable[str]) -> str:
    return f"values of several types ({', '.join(sorted(types))})"


def _refused(heading: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"The column {heading!r} has {what}. Make them texts: frame[{heading!r}] = frame[{heading!r}].astype(str)"
    )


# Times ----------------------------------------------------------------------------------------------------------------

_NOT_KEPT = {
    "time of a zone": "a time of day has no zone there",
    "Timestamp of nanoseconds": "among objects they go down to microseconds",
}
"""Kinds of times that Arrow cuts without a word → why."""


def _has_times(kind: pa.DataType) -> bool:
    """Whether a type is one of days or times, or has such a part."""
    parts = (kind.field(place).type for place in range(kind.num_fields))
    return pa.types.is_temporal(kind) or any(map(_has_times, parts))


def _refuse_mixed_times(heading: str, cells: pd.Series[Any] | pd.Index[Any]) -> None:
    """InvalidInput for days and times of several kinds, which Arrow makes all of the first; and of those it cuts.

    Fields of one name in objects, and all parts of lists, are of one kind as a column is.
    """
    kinds: dict[tuple[str, ...], set[str]] = {}
    for cell in cells:
        for path, kind in _times_of(cell, ()):
            kinds.setdefault(path, set()).add(kind)
    for found in kinds.values():
        if lost := sorted(found & _NOT_KEPT.keys()):
            raise _refused(heading, f"values that no table holds ({lost[0]}: {_NOT_KEPT[lost[0]]})")
        if len(found) > 1:
            raise _refused(heading, _of_several(found))


def _times_of(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Where days and times are in a cell, and of which kind each is."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _times_of(part, (*path, str(name)))
    elif isinstance(value, list | tuple | np.ndarray):
        for part in value:
            yield from _times_of(part, (*path, ""))
    elif value is pd.NaT:
        return
    elif isinstance(value, datetime):
        kind = "datetime" if value.tzinfo is None else "datetime of a zone"
        yield path, "Timestamp of nanoseconds" if getattr(value, "nanosecond", 0) else kind
    elif isinstance(value, date):
        yield path, "date"
    elif isinstance(value, time):
        yield path, "time" if value.tzinfo is None else "time of a zone"
