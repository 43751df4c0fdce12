"""Small files that come to more than any memory, or take for ever: what strangers upload, one kind a function."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

MB = 1 << 20


def _parquet(path: Path, columns: dict[str, pa.Array], **more: object) -> None:
    pq.write_table(pa.table(columns), path, compression="zstd", **more)


def _repeated(text: str, n: int) -> pa.Array:
    """A column of one text that stands in the file once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([text], pa.large_string()))


def parquet_one_text_150_times(path: Path) -> None:
    """150 rows of one text of 10 MB."""
    _parquet(path, {"question": _repeated("a" * 10 * MB, 150)})


def parquet_one_text_500_times(path: Path) -> None:
    """500 rows of one text of 15 MB."""
    _parquet(path, {"question": _repeated("b" * 15 * MB, 500)})


def parquet_groups_of_one_row(path: Path) -> None:
    """40 groups of rows, each of one text of 4 MB: no group is large."""
    with pq.ParquetWriter(path, pa.schema([("question", pa.large_string())]), compression="zstd") as file:
        for _ in range(40):
            file.write_table(pa.table({"question": pa.array(["c" * 4 * MB], pa.large_string())}))


def parquet_texts_within(path: Path) -> None:
    """The texts lie in a list in a struct."""
    texts = pa.ListArray.from_arrays(pa.array(range(101), pa.int32()), pa.array(["d" * MB] * 100))
    nested = pa.StructArray.from_arrays([texts], ["contexts"])
    _parquet(path, {"question": pa.array([f"q{n}" for n in range(100)]), "about": nested})


def parquet_numbers_within(path: Path) -> None:
    """One row with a list of three million zeros."""
    zeros = pa.ListArray.from_arrays(pa.array([0, 3_000_000], pa.int32()), pa.array([0] * 3_000_000, pa.int8()))
    _parquet(path, {"question": pa.array(["q"]), "numbers": zeros})


def parquet_empty_rows(path: Path) -> None:
    """20 million rows in which nothing stands."""
    _parquet(path, {"question": pa.nulls(20_000_000, pa.string())})


def arrow_one_text_100_times(path: Path) -> None:
    """100 rows of one text of 1 MB, as a stream of Arrow in a dataset's folder."""
    import orjson

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        out = io.BytesIO()
        texts = pa.array(["e" * MB] * 100)
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        table = pa.table({"question": texts})
        with pa.ipc.new_stream(out, table.schema, options=options) as stream:
            stream.write_table(table)
        archive.writestr("data/data-00000-of-00001.arrow", out.getvalue())
        archive.writestr("data/state.json", orjson.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
        archive.writestr("data/dataset_info.json", b"{}")


_WORKBOOK = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sheet.main+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/'
    'vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}
_HEAD = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
_FIRST = '<row r="1"><c r="A1" t="inlineStr"><is><t>question</t></is></c></row>'
_END = "</sheetData></worksheet>"


def _xlsx(path: Path, rows: list[str], strings: list[str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        for name, text in _WORKBOOK.items():
            book.writestr(name, text)
        book.writestr("xl/worksheets/sheet1.xml", "".join([_HEAD, _FIRST, *rows, _END]))
        head = '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        book.writestr("xl/sharedStrings.xml", "".join([head, *strings, "</sst>"]))


def xlsx_cells_in_the_last_column(path: Path) -> None:
    """6,000 rows of one cell each, in column XFD."""
    _xlsx(path, [f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(2, 6_000)], [])


def xlsx_one_row_of_many_cells(path: Path) -> None:
    """A row of 600,000 cells."""
    _xlsx(path, ['<row r="2">', "<c><v>1</v></c>" * 600_000, "</row>"], [])


def xlsx_one_text_many_times(path: Path) -> None:
    """A shared text of 2 MB in a thousand rows."""
    rows = [f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(2, 1_000)]
    _xlsx(path, rows, [f"<si><t>{'f' * 2 * MB}</t></si>"])


def xlsx_many_empty_texts(path: Path) -> None:
    """Two million shared texts in which nothing stands."""
    _xlsx(path, ['<row r="2"><c r="A2"><v>1</v></c></row>'], ["<si/>" * 2_000_000])


def csv_row_of_commas(path: Path) -> None:
    """A row of twenty million cells."""
    path.write_bytes(b"question,answer\nq,a\n" + b"," * 20 * MB + b"\n")


def csv_quote_that_is_not_closed(path: Path) -> None:
    """A row of cells of 5 MB each, and lines within them."""
    with path.open("wb") as file:
        file.write(b"question,answer\nq,a\n")
        for _ in range(12):
            file.write(b'"' + b"g" * 5 * MB + b'\n",')


def tsv_row_of_tabs(path: Path) -> None:
    """The same of tabs."""
    path.write_bytes(b"question\tanswer\nq\ta\n" + b"\t" * 20 * MB + b"\n")


def jsonl_line_of_empty_lists(path: Path) -> None:
    """A line of 15 MB that is five million lists."""
    path.write_bytes(b'{"question": "q", "m": [' + b"[]," * 5_000_000 + b"[]]}\n")


def jsonl_large_lines(path: Path) -> None:
    """Twelve items of 14 MB each: each is taken, all of them at once are too much."""
    with path.open("wb") as file:
        for n in range(12):
            file.write(b'{"question": "q%d", "answer": "' % n + b"h" * 14 * MB + b'"}\n')


def jsonl_objects_within(path: Path) -> None:
    """A line of 15 MB that is two million objects."""
    path.write_bytes(b'{"question": "q", "m": [' + b'{"":1},' * 2_000_000 + b"0]}\n")


def json_empty_objects(path: Path) -> None:
    """A file of 24 MB that is eight million objects."""
    path.write_bytes(b'[{"question": "q", "answer": "a"},' + b"{}," * 8_000_000 + b"{}]")


def json_one_value_deep(path: Path) -> None:
    """Lists within lists, a million deep."""
    path.write_bytes(b'[{"question": "q", "m": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}]")


def zip_of_zeros(path: Path) -> None:
    """64 MB of zeros in 300 kB."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("a.jsonl", "w") as file,
    ):
        for _ in range(16):
            file.write(bytes(4 * MB))


def zip_of_a_parquet_file(path: Path) -> None:
    """A Parquet file that is one, in a zip."""
    parquet_one_text_150_times(inner := path.with_suffix(".parquet"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "data/items.parquet")
    inner.unlink()


def tgz_of_zeros(path: Path) -> None:
    """The same as a tar that is compressed."""
    with gzip.open(path, "wb", compresslevel=1) as packed, tarfile.open(fileobj=packed, mode="w|") as archive:
        info = tarfile.TarInfo("a.jsonl")
        info.size = 64 * MB
        archive.addfile(info, _Zeros(info.size))


class _Zeros(io.RawIOBase):
    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, n: int = -1, /) -> bytes:
        given = min(n, self.left)
        self.left -= given
        return bytes(given)


def tgz_of_a_long_name(path: Path) -> None:
    """A tar whose first header says that a name of 64 MB follows."""
    with gzip.open(path, "wb", compresslevel=1) as packed, tarfile.open(fileobj=packed, mode="w|") as archive:
        info = tarfile.TarInfo("././@LongLink")
        info.type, info.size = tarfile.GNUTYPE_LONGNAME, 64 * MB
        archive.addfile(info, _Zeros(info.size))


BOMBS: dict[str, Callable[[Path], None]] = {
    "one-text-150-times.parquet": parquet_one_text_150_times,
    "one-text-500-times.parquet": parquet_one_text_500_times,
    "groups-of-one-row.parquet": parquet_groups_of_one_row,
    "texts-within.parquet": parquet_texts_within,
    "numbers-within.parquet": parquet_numbers_within,
    "empty-rows.parquet": parquet_empty_rows,
    "one-text-100-times.arrow.zip": arrow_one_text_100_times,
    "last-column.xlsx": xlsx_cells_in_the_last_column,
    "one-row.xlsx": xlsx_one_row_of_many_cells,
    "one-text-many-times.xlsx": xlsx_one_text_many_times,
    "empty-texts.xlsx": xlsx_many_empty_texts,
    "commas.csv": csv_row_of_commas,
    "not-closed.csv": csv_quote_that_is_not_closed,
    "tabs.tsv": tsv_row_of_tabs,
    "empty-lists.jsonl": jsonl_line_of_empty_lists,
    "objects-within.jsonl": jsonl_objects_within,
    "empty-objects.json": json_empty_objects,
    "deep.json": json_one_value_deep,
    "zeros.zip": zip_of_zeros,
    "parquet-in.zip": zip_of_a_parquet_file,
    "zeros.tar.gz": tgz_of_zeros,
    "long-name.tar.gz": tgz_of_a_long_name,
}
"""Name of a file → what writes it. None of them is taken."""
