"""TruLens: records with feedback, as `get_records_and_feedback` gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from annotators.items.normal import Normal
from annotators.lists import list_in
from exports.formats._records import Record
from exports.formats._samples import SampleFormat
from exports.formats._writing import without
from exports.formats.base import FORMATS

_CALLS = "_calls"


class TruLens(SampleFormat):
    """A record is an answer of its app in its version; feedback is scores, and what it was given is the evidence."""

    name = "trulens"
    title = "TruLens records and feedback"
    help = (
        "a JSON list, JSON lines or table of records with input, output and record_id or app_name; feedback as columns"
    )
    file = "records.jsonl"
    question, answer, reference = "input", "output", "ground_truth"
    retrieved, gold = "contexts", None
    needed = ("input", "output")
    some = ("record_id", "app_name", "app_id")
    aside = ("latency", "total_tokens", "total_cost", "ts", "num_events")

    def of_cell(self, name: str, cell: Any, *, number: bool) -> Any:
        """Calls of feedback functions are lists."""
        if name.endswith(_CALLS) and isinstance(cell, str):
            return list_in(cell)
        return super().of_cell(name, cell, number=number)

    def is_aside(self, name: str) -> bool:
        """What feedback cost is none, either."""
        return super().is_aside(name) or " feedback cost in " in name

    def item(self, record: Record) -> Normal:
        """A record as an item, under its own id."""
        row = {name: _decoded(value) for name, value in record.items() if not name.endswith(_CALLS)}
        if "system" not in row and isinstance(row.get("app_name"), str):
            row["system"] = "/".join(str(row[name]) for name in ("app_name", "app_version") if row.get(name))
        if "id" not in row and isinstance(row.get("record_id"), str):
            row["id"] = row["record_id"]
        if self.retrieved not in row:
            given = dict.fromkeys(text for name in record if name.endswith(_CALLS) for text in _contexts(record[name]))
            row["contexts"] = list(given)
        return super().item(row)

    def record(self, item: Normal) -> Record:
        """An item as a record of the app that is its system."""
        name, _, version = item["system"].rpartition("/")
        app = {"app_name": name or version, "app_version": version if name else "base"}
        found = super().record(item)
        return {**app, "record_id": item["id"], **without(found, *app)}


def _decoded(value: Any) -> Any:
    """Input and output are JSON texts in some versions."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def _contexts(calls: Any) -> Iterator[str]:
    for call in calls if isinstance(calls, list) else ():
        arguments = call.get("args") if isinstance(call, dict) else None
        for name in ("context", "contexts", "source"):
            found = arguments.get(name) if isinstance(arguments, dict) else None
            for text in found if isinstance(found, list) else [found]:
                if isinstance(text, str):
                    yield text


FORMATS.register(TruLens())
