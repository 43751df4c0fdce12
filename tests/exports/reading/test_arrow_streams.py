"""Arrow streams and Parquet from strangers: what would unpack to more than memory is refused before it does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotators.errors import InvalidInput
from exports.columns import columns
from exports.columns.columns import read_columns
from exports.reading import arrow_streams, tables
from exports.reading.arrow_streams import arrow_batches


def stream(path: Path, table: pa.Table, compression: str | None) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        for batch in table.to_batches(max_chunksize=700):
            writer.write_batch(batch)
    return path


def some_rows(n: int) -> pa.Table:
    texts = pa.array(["one", "two"] * (n // 2)).dictionary_encode()
    return pa.table({"n": range(n), "text": texts, "parts": [[{"a": "b"}]] * n})


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_a_stream_is_read_in_batches(tmp_path: Path, compression: str | None) -> None:
    table = some_rows(1_500)
    batches = list(arrow_batches(stream(tmp_path / "s.arrow", table, compression), 500))
    assert [batch.num_rows for batch in batches] == [500, 200, 500, 200, 100]
    assert [row for batch in batches for row in batch.to_pylist()] == table.to_pylist()


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_batch_that_unpacks_to_too_much_is_refused_before_it_does(tmp_path: Path, compression: str) -> None:
    table = pa.table({"text": ["x" * (200 << 20)] * 6}, schema=pa.schema([("text", pa.large_string())]))
    path = stream(tmp_path / "s.arrow", table, compression)
    del table
    assert path.stat().st_size < 8 << 20
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(InvalidInput, match=r"one batch unpacks to 1,200 MB, more than 1,024 MB"):
        next(arrow_batches(path, 500))
    assert pa.default_memory_pool().max_memory() == before


def test_a_dictionary_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_streams, "LARGEST_COLUMN", 1 << 20)
    words = pa.DictionaryArray.from_arrays([0], ["x" * (2 << 20)])
    with pytest.raises(InvalidInput, match="one batch unpacks to 2 MB, more than 1 MB"):
        next(arrow_batches(stream(tmp_path / "s.arrow", pa.table({"text": words}), "zstd"), 500))


def test_rows_of_nothing_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_streams, "MOST_VALUES", 500)
    with pytest.raises(InvalidInput, match="it has 700 rows in one batch, more than 500"):
        next(arrow_batches(stream(tmp_path / "s.arrow", pa.table({"nothing": pa.nulls(700)}), None), 500))


def test_a_table_of_columns_is_read_in_batches_and_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = some_rows(1_500).set_column(2, "parts", [[None, "maybe"] * 750])
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=400)
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", 300)
    found = read_columns(tmp_path / "t.parquet")
    assert found.cells == table.to_pydict()
    assert found.lines == list(range(1, 1_501))
    assert len({id(cell) for cell in found["text"]}) <= 20, "texts that come again are kept once"
    monkeypatch.setattr(columns, "MOST_CELLS", 4_000)
    with pytest.raises(InvalidInput, match=r"t\.parquet has 1,500 rows of 3 columns, more than 4,000 cells"):
        read_columns(tmp_path / "t.parquet")


def test_a_value_that_cannot_be_read_is_named_by_its_row_and_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"day": pa.array([1, None, 2_932_897], pa.date32())}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInput, match=r"^t\.parquet, line 3: the column 'day' holds .*Write it as a text"):
        read_columns(tmp_path / "t.parquet")
