"""Labels as typed columns: what the lines of CSV say, without making them first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from annotators.arrays import np
from annotators.later import Later
from db.models import Study
from exports.bundles.arrow import arrow_type, schema_of
from exports.bundles.columns import ColumnKind, columns_of
from exports.bundles.labels.block import LabelBlock, is_seen, words_shown
from exports.cells import value_text

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa, pc = Later("pyarrow"), Later("pyarrow.compute")


class TypedLabels:
    """Makes record batches of the labels of a study; an empty text is no value, as in CSV."""

    def __init__(self, study: Study, called: Mapping[int, str], names: Sequence[str]) -> None:
        self._columns = columns_of("labels", names)
        self._protocol = study.protocol_name, study.protocol_version
        self._called = called

    def batch(self, block: LabelBlock) -> pa.RecordBatch:
        """The labels of a block, in the table's order."""
        given, said = block.submissions, block.labels
        value = _decoded(said.value) if block.is_sqlite else _texts(list(map(value_text, said.value)))
        own = {
            "criterion": _texts(said.criterion),
            "target": _texts(said.target),
            "value": value,
            "cannot_judge": _truths(said.cannot),
            "reason": _texts(said.reason),
            "comment": _texts(said.comment),
            "rationale": _texts(said.rationale if block.is_sqlite else list(map(_json_text, said.rationale))),
            "confidence": _texts(said.confidence),
            "same": pa.array(said.same, pa.int64()),
        }
        kind, shown = _texts(given.kind), _of_few(given.shown, words_shown)
        shared = {
            "item": _texts(given.item),
            "item_version": pa.array(given.version, pa.int64()),
            "question": _texts(given.question),
            "system": _texts(given.system),
            "annotator": _of_few(given.person, self._called.__getitem__),
            "time": _times(given.at),
            "seconds": pa.array(given.seconds, pa.float64()),
            "protocol": pa.repeat(self._protocol[0], len(given.id)),
            "protocol_version": pa.repeat(self._protocol[1], len(given.id)),
            "kind": kind,
            "current": _truths(given.current),
            "complete": pc.is_valid(kind),
            "shown": pc.split_pattern(shown, " "),
            "step": pc.add(pa.array(given.step, pa.int64()), 1),
            "submission": _texts(given.uid),
            "submission_comment": _texts(given.remark),
            "flag": _texts(given.flag),
        }
        if any(column.name == "left" for column in self._columns):
            shared |= {
                "other_item": _texts(given.other_item),
                "other_system": _texts(given.other_system),
                "other_version": pa.array(given.other_version, pa.int64()),
                "left": _texts(list(map(_left, given.other_item, given.other_left, given.shown))),
            }
        of = pa.array(block.of)
        order = None if np.array_equal(block.order, np.arange(len(block))) else pa.array(block.order)
        arrays = []
        for column in self._columns:
            array = (own if column.name in own else shared)[column.name]
            if column.kind == ColumnKind.CATEGORY:
                array = array.dictionary_encode()
            places = order if column.name in own else of
            arrays.append((array if places is None else array.take(places)).cast(arrow_type(column.kind)))
        return pa.RecordBatch.from_arrays(arrays, schema=schema_of(self._columns))


def _texts(cells: Sequence[str | None]) -> pa.Array:
    """Texts, of which an empty one is none."""
    array = pa.array(cells, pa.string())
    if array.null_count == len(array):
        return array
    empty = pc.equal(pc.binary_length(array), 0)
    return pc.if_else(empty, None, array) if pc.any(empty).as_py() else array


def _of_few(cells: Sequence[Any], said: Callable[[Any], str]) -> pa.Array:
    """The texts that are said of cells, made once for each of the few that there are."""
    made: dict[Any, str] = {}
    if cells and isinstance(cells[0], list):
        return _texts([said(cell) for cell in cells])
    array = pa.array(cells).dictionary_encode()
    for cell in array.dictionary.to_pylist():
        made[cell] = said(cell)
    return _texts(list(made.values())).take(array.indices)


def _decoded(values: Sequence[str | None]) -> pa.Array:
    """The texts of values that come as JSON."""
    array = pa.array(values, pa.string()).dictionary_encode()
    said = [value_text(orjson.loads(text)) for text in array.dictionary.to_pylist()]
    return _texts(said).take(array.indices)


def _truths(cells: Sequence[Any]) -> pa.Array:
    """Truths, which SQLite has as 0 and 1."""
    return pa.array(cells, pa.bool_() if cells and isinstance(cells[0], bool) else pa.int8()).cast(pa.bool_())


def _times(cells: Sequence[Any]) -> pa.Array:
    """Times, which SQLite has as text, in UTC."""
    if cells and isinstance(cells[0], str):
        return pa.array(cells, pa.string()).cast(pa.timestamp("us")).view(arrow_type(ColumnKind.TIME))
    return pa.array(cells, arrow_type(ColumnKind.TIME))


def _left(other: str | None, other_left: object, shown: Any) -> str | None:
    if other is None or not is_seen(shown):
        return None
    return "other_item" if other_left else "item"


def _json_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()
