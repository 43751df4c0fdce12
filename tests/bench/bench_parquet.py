"""A table of labels as Parquet, against pyarrow writing the same frame: ratio of the times, and memory as it grows.

python -m tests.bench.bench_parquet [--labels 1000000]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from exports.bundles.columns import columns_of, names_of
from exports.bundles.typed import write_typed
from exports.csv_file import CsvFile
from exports.sinks import Out

_BLOCK = 10_000


def table_of(path: Path, labels: int) -> None:
    """A table of so many labels as an export has them."""
    names = names_of("labels")
    with path.open("wb") as file:
        out = Out(file)
        table = CsvFile(out, names)
        for start in range(0, labels, _BLOCK):
            rows = [
                (
                    *(f"i{number // 9:07}", 1, f"q{number // 18:07}", f"s{number % 2}", f"A{number % 5 + 1}"),
                    *("grounding", f"evidence:e{number % 9}", ("required", "helpful", "irrelevant")[number % 3]),
                    *("false", "", "", "", "2026-03-02T09:00:00.000000Z", "3.5", "grounding", 1, "regular", "true"),
                    *("true", "question evidence", 1, f"{number:032x}", "", ""),
                )
                for number in range(start, min(start + _BLOCK, labels))
            ]
            table.add(rows, len(rows))
        out.flush()


def peak() -> float:
    """Peak memory of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--labels", type=int, default=1_000_000)
    labels = parser.parse_args().labels
    columns = columns_of("labels", names_of("labels"))
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.csv", Path(folder) / "labels.csv"
        table_of(small, labels // 10)
        table_of(large, labels)
        write_typed(small.with_suffix(".parquet"), small, columns)
        before = peak()
        began = time.perf_counter()
        write_typed(large.with_suffix(".parquet"), large, columns)
        ours = time.perf_counter() - began
        grown = peak() - before
        frame: pa.Table = pq.read_table(large.with_suffix(".parquet"))
        began = time.perf_counter()
        pq.write_table(frame, Path(folder) / "frame.parquet", compression="zstd")
        theirs = time.perf_counter() - began
    print(f"{labels:,} labels: {ours:.2f} s, of which reading the CSV is part; pyarrow {theirs:.2f} s")
    print(f"ratio {ours / theirs:.2f}; peak memory {before:.0f} MB at a tenth, {grown:+.0f} MB for all")


if __name__ == "__main__":
    main()
