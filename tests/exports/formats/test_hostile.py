"""Files that were made to harm: whatever the format, they are refused in words or read as what they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotators.errors import AssayError
from annotators.items.parsed import ParsedDocument, ParsedItem, Rejected
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.reading.sources import open_sources
from tests.exports.formats.test_recognising import SMALL

Files = dict[str, bytes]
CLIMBING = "../../../../etc/passwd"
FORMULA = '=HYPERLINK("http://127.0.0.1:9/","x")'
CARD = b"""---
license: mit
configs:
- config_name: items
  data_files: items/test.parquet
---
"""


def small(name: str, change: Callable[[Any], Any]) -> Files:
    """The small file of a format, changed: a record of it, or a text."""
    file, value = SMALL[name]
    if name == "huggingface":
        return {
            "README.md": CARD,
            "items/test.parquet": parquet([change({"id": "a", "question": "Q?", "answer": "A"})]),
        }
    if name == "potato":
        config = (
            b"annotation_task_name: T\ndata_files: [d.json]\nannotation_schemes:\n- {annotation_type: text, name: n}\n"
        )
        return {"config.yaml": config, "d.json": orjson.dumps([change({"id": "a", "text": "T"})])}
    if name == "qrels":
        said = b'{"_id": "q", "text": "Q?"}'
        return {file: orjson.dumps(change(value)), "queries.jsonl": said, "qrels/test.tsv": b"q\td1\t1\n"}
    if isinstance(value, str):
        record = change({"question": "Q?", "answer": "A"})
        cells = ['"' + str(cell).replace('"', '""') + '"' for cell in record.values()]
        return {file: f"{','.join(record)}\n{','.join(cells)}\n".encode()}
    if isinstance(value, list):
        return {file: orjson.dumps([change(value[0])])}
    inner = next((key for key in ("responses", "results") if key in value), None)
    return {file: orjson.dumps(change(value) if inner is None else {**value, inner: [change(value[inner][0])]})}


def parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


def everywhere(text: str) -> Callable[[Any], Any]:
    """A record whose texts are all this one, but for its id."""

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: one if key in ("id", "_id", "uid", "q_id", "record_id") else change(one)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [change(one) for one in value]
        return text if isinstance(value, str) else value

    return change


def with_field(name: str, value: Any) -> Callable[[Any], Any]:
    return lambda record: {**record, name: value} if isinstance(record, dict) else record


def raw(name: str, found: bytes, put: bytes) -> Files:
    """The small files of a format with these bytes in place of others, in all that are texts."""
    files = small(name, with_field("harm", "HARM"))
    return {path: data if data.startswith(b"PAR1") else data.replace(found, put) for path, data in files.items()}


HARM: dict[str, Callable[[str], Files]] = {
    "paths that climb": lambda name: small(name, everywhere(CLIMBING)),
    "absolute paths": lambda name: small(name, everywhere("/etc/passwd")),
    "addresses": lambda name: small(name, everywhere("file:///etc/passwd")),
    "formulas": lambda name: small(name, everywhere(FORMULA)),
    "entities": lambda name: small(name, everywhere('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>')),
    "NaN": lambda name: raw(name, b'"HARM"', b"NaN"),
    "Infinity": lambda name: raw(name, b'"HARM"', b"-Infinity"),
    "a huge number": lambda name: raw(name, b'"HARM"', b"9" * 5_000),
    "a huge exponent": lambda name: raw(name, b'"HARM"', b"1e99999"),
    "a key twice": lambda name: raw(name, b'"HARM"', b'1, "harm": 2, "question": "other", "id": "other"'),
    "nested deeply": lambda name: raw(name, b'"HARM"', b"[" * 20_000 + b"]" * 20_000),
    "Latin-1": lambda name: raw(name, b"HARM", b"\xe9\xff"),
    "half a character": lambda name: raw(name, b"HARM", b"\\ud800"),
    "NUL": lambda name: raw(name, b"HARM", b"\\u0000"),
    "many columns": lambda name: small(name, lambda record: {**record, **dict.fromkeys(map(str, range(30_000)), 1)}),
}  # fmt: skip


def put(folder: Path, files: Files) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def read_all(name: str, folder: Path) -> list[ParsedItem | ParsedDocument | Rejected]:
    """Everything that a format makes of a folder; what is bad is named with a place and a sentence."""
    with open_sources([folder]) as sources:
        try:
            reading = FORMATS.get(name).read(sources)
            found = [*reading.documents(), *reading.items()]
        except AssayError as error:
            assert len(str(error)) > 20
            return []
        for row in found:
            if isinstance(row, Rejected):
                assert row.line >= 1
                assert row.reason.endswith(".")
                assert len(row.reason) < 3_000
            elif isinstance(row, ParsedDocument) and row.path is not None:
                assert "passwd" not in str(row.path.resolve())
    return found


@pytest.mark.parametrize("name", list(SMALL))
def test_no_file_that_was_made_to_harm_does(tmp_path: Path, name: str) -> None:
    for number, (what, make) in enumerate(HARM.items()):
        folder = put(tmp_path / str(number), make(name))
        before = sorted(tmp_path.iterdir())
        found = read_all(name, folder)
        assert sorted(tmp_path.iterdir()) == before, what
        if what in ("formulas", "paths that climb") and any(isinstance(row, ParsedItem) for row in found):
            done = convert_files(
                [folder], into="table", output=tmp_path / f"{number}-out", format_name=name, skip_bad=True
            )
            assert all(not file.startswith(("/", "..")) for file in done.files)
            table = (tmp_path / f"{number}-out" / "items.csv").read_text()
            assert not any(cell.startswith(('"=', "=")) for line in table.splitlines() for cell in line.split(",")), (
                what
            )


# Parquet --------------------------------------------------------------------------------------------------------------


def swollen(column: str, n: int) -> bytes:
    """A kilobyte that says one text of 8 MB n times."""
    once = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array(["x" * (8 << 20)]))
    sink = pa.BufferOutputStream()
    table = pa.table({column: once, "id": [str(k) for k in range(n)]})
    pq.write_table(table, sink, compression="zstd", dictionary_pagesize_limit=1 << 30, store_schema=False)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("name", ["huggingface", "table"])
def test_a_kilobyte_that_unpacks_to_gigabytes_is_refused_before_it_does(tmp_path: Path, name: str) -> None:
    data = swollen("question", 400)
    assert len(data) < 10_000
    folder = put(tmp_path / "in", {"README.md": CARD, "items/test.parquet": data})
    path = folder if name == "huggingface" else folder / "items" / "test.parquet"
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    with open_sources([path]) as sources:
        rows = FORMATS.get(name).read(sources).items()
        [row] = [row for row in rows if isinstance(row, Rejected)]
    assert "unpacks to" in row.reason
    assert pool.max_memory() - before < 400 << 20


def test_a_row_that_comes_to_more_than_memory_is_refused(tmp_path: Path) -> None:
    once = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int32()), pa.array(["x" * (8 << 20)]))
    listed = pa.ListArray.from_arrays(pa.array([0, 100], pa.int32()), once)
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table({"question": ["Q?"], "notes": listed}), sink,
        compression="zstd", dictionary_pagesize_limit=1 << 30, store_schema=False,
    )  # fmt: skip
    for name in ("huggingface", "table"):
        data = bytes(sink.getvalue())
        folder = put(
            tmp_path / name, {"README.md": CARD, "items/test.parquet": data} if name != "table" else {"t.parquet": data}
        )
        [row] = read_all(name, folder)
        assert isinstance(row, Rejected)
        assert "unpacks to" in row.reason


def test_a_million_columns_are_refused(tmp_path: Path) -> None:
    heading = ",".join(f"c{n}" for n in range(1_000_000))
    [row] = read_all("table", put(tmp_path / "csv", {"t.csv": f"question,{heading}\n".encode()}))
    assert isinstance(row, Rejected)
    assert "1,000,001 cells, more than 20,000" in row.reason
    wide = parquet([{"question": "Q?", **{f"c{n}": 1 for n in range(3_000)}}])
    row = read_all("huggingface", put(tmp_path / "hf", {"README.md": CARD, "items/test.parquet": wide}))[-1]
    assert isinstance(row, Rejected)
    assert "3,001 columns, more than 2,000" in row.reason


# Configs --------------------------------------------------------------------------------------------------------------

CONFIGS: dict[str, tuple[str, str, bytes]] = {
    "an alias a million times": (
        "potato", "config.yaml",
        b"annotation_schemes: &a [x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\n",
    ),
    "an object of Python": ("potato", "config.yaml", b"annotation_schemes: !!python/object/apply:os.system [id]\n"),
    "a deep config": ("potato", "config.yaml", b"annotation_schemes: " + b"[" * 5_000 + b"]" * 5_000),
    "a deep card": ("huggingface", "README.md", b"---\nconfigs: " + b"[" * 5_000 + b"]" * 5_000 + b"\n---\n"),
    "a card that climbs": (
        "huggingface", "README.md", b"---\nconfigs:\n- config_name: items\n  data_files: ../../secret.parquet\n---\n",
    ),
    "entities": (
        "label_studio", "config.xml",
        b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><View><Text name="t" value="$t"/></View>',
    ),
    "a deep labelling config": ("label_studio", "config.xml", b"<View>" * 20_000 + b"</View>" * 20_000),
    "a config in Latin-1": ("potato", "config.yaml", b"annotation_schemes: []\nannotation_task_name: \xe9\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(CONFIGS))
def test_a_config_that_was_made_to_harm_is_refused(tmp_path: Path, what: str) -> None:
    name, file, data = CONFIGS[what]
    tasks = b'[{"id": 1, "data": {"t": "T"}, "annotations": []}]'
    files = {
        file: data,
        **({"tasks.json": tasks} if name == "label_studio" else {"items/test.parquet": parquet([{"q": 1}])}),
    }
    with open_sources([put(tmp_path / "in", files)]) as sources, pytest.raises(AssayError) as raised:
        list(FORMATS.get(name).read(sources).items())
    assert file in str(raised.value) or "config" in str(raised.value)
    assert len(str(raised.value)) < 1_000


@pytest.mark.parametrize("name", list(SMALL))
def test_a_link_in_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    folder = put(tmp_path / "in", small(name, dict))
    (folder / "more.json").symlink_to("/etc/passwd")
    with pytest.raises(AssayError) as raised, open_sources([folder]):
        pass
    assert "is a link" in str(raised.value)
