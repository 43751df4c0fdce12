"""Labels as typed columns, and as lines of CSV made of the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from annotators.arrays import IntArray
from annotators.later import Later
from db.models import Study
from exports.bundles.arrow import arrow_type, cells_of, schema_of
from exports.bundles.columns import ColumnKind, columns_of
from exports.bundles.labels.block import LabelBlock

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa, pc = Later("pyarrow"), Later("pyarrow.compute")

_GUARDED = frozenset(
    ["item", "question", "system", "annotator", "reason", "comment", "rationale", "submission", "submission_comment",
     "flag", "other_item", "other_system"]
)  # fmt: skip
"""Columns of texts that people or files gave, which no spreadsheet may run; of values `LabelBlock.cells` takes care."""


class TypedLabels:
    """Makes record batches and lines of the labels of a study; an empty text is no value in either."""

    def __init__(self, study: Study, names: Sequence[str]) -> None:
        self._columns = columns_of("labels", names)
        self._schema = schema_of(self._columns)
        self._same = {"protocol": study.protocol_name, "protocol_version": study.protocol_version}

    def batch(self, block: LabelBlock) -> pa.RecordBatch:
        """The labels of a block, in the table's order."""
        arrays = []
        for column in self._columns:
            array, places = self._column(block, column.name)
            kind = arrow_type(column.kind)
            if column.kind == ColumnKind.CATEGORY and not pa.types.is_dictionary(array.type):
                array = array.dictionary_encode()
            if places is not None:
                array = array.take(pa.array(places))
            if column.kind == ColumnKind.WORDS:
                array = _words(array)
            arrays.append(array if array.type == kind else array.cast(kind))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def lines(self, block: LabelBlock) -> bytes:
        """The same as lines of CSV, with their ends. What stands side by side and is of one level is joined there."""
        parts = []
        for places, columns in self._levels(block):
            cells = [cells_of(array, guarded=name in _GUARDED) for name, array in columns]
            joined = cells[0] if len(cells) == 1 else pc.binary_join_element_wise(*cells, ",")
            parts.append(joined if places is None else joined.take(pa.array(places)))
        lines = pc.binary_join_element_wise(*parts, ",")
        ended = pc.binary_join_element_wise(lines, "", "\n")
        _, _, text = ended.buffers()
        return b"" if text is None else text.to_pybytes()[: _end(ended)]

    def _levels(self, block: LabelBlock) -> Iterator[tuple[IntArray | None, list[tuple[str, pa.Array]]]]:
        """The columns as CSV has them, in groups of one level each, with the places that labels have there."""
        found = [(column.name, *self._column(block, column.name)) for column in self._columns]
        for _, group in groupby(found, key=lambda row: id(row[2])):
            columns = list(group)
            yield columns[0][2], [(name, block.cells.get(name, array)) for name, array, _ in columns]

    def _column(self, block: LabelBlock, name: str) -> tuple[pa.Array, IntArray | None]:
        """A column on its level, and for each label its place there; None where labels are the level."""
        if name in self._same:
            return pa.repeat(self._same[name], len(block.items_of_submissions)), block.submissions
        if name in block.of_label:
            return block.of_label[name], None
        if name in block.of_submission:
            return block.of_submission[name], block.submissions
        return block.of_item[name], block.items


def _words(array: pa.Array) -> pa.Array:
    """Lists of the words of few texts."""
    return pc.split_pattern(array.dictionary, " ").take(array.indices)


def _end(texts: pa.Array) -> int:
    """Where the last text ends in the bytes of all."""
    return int(memoryview(texts.buffers()[1]).cast("i")[len(texts)])
