"""Parquet files that a format writes row by row, some thousand rows at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from annotators.files import under_way
from annotators.later import Later
from exports.formats._writing import Files

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa, pq = Later("pyarrow"), Later("pyarrow.parquet")

_AT_ONCE = 2_000
_PLAIN = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


class Rows:
    """The rows of one Parquet file under way."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.n = 0
        self._schema, self._held = schema, list[Mapping[str, Any]]()
        self._digest = hashlib.sha256(orjson.dumps([[field.name, str(field.type)] for field in schema], option=_PLAIN))
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row; what it does not have is null."""
        self._held.append(row)
        self._digest.update(orjson.dumps(row, _digest_of, _PLAIN))
        self.n += 1
        if len(self._held) >= _AT_ONCE:
            self._flush()

    @property
    def sha256(self) -> str:
        """SHA-256 of what its rows say so far, and of its columns, whatever bytes they are written as."""
        return self._digest.hexdigest()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_batch(pa.RecordBatch.from_pylist(self._held, schema=self._schema))
            self._held.clear()

    def close(self) -> None:
        """Write what is held, and the end of the file."""
        self._flush()
        self._writer.close()


def _digest_of(data: bytes) -> str:
    """What stands for a picture in the hash of a row."""
    return hashlib.sha256(data).hexdigest()


@contextmanager
def parquet_files(files: Files) -> Iterator[ParquetFiles]:
    """Parquet files that go into the export when the block ends."""
    with under_way() as folder:
        made = ParquetFiles(folder)
        yield made
        for number, (name, rows) in enumerate(made.rows.items()):
            rows.close()
            files.put(name, folder / f"{number}.parquet", rows.n)


class ParquetFiles:
    """Several files under way, by the name that each gets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.rows: dict[str, Rows] = {}

    def begin(self, name: str, schema: pa.Schema) -> Rows:
        """The file of this name, which has these columns; it is begun once."""
        if name not in self.rows:
            self.rows[name] = Rows(self._folder / f"{len(self.rows)}.parquet", schema)
        return self.rows[name]
