"""TruLens: records with feedback, as `get_records_and_feedback` gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from annotators.items.normal import Normal
from annotators.lists import list_in
from exports.formats._records import Record
from exports.formats._samples import HUMAN, SampleFormat
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
    loses: Mapping[str, str] = {
        **SampleFormat.loses,
        "evidence.role": "roles of evidence: all of it counts as retrieved",
    }

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
        about = _about(row)
        return super().item({name: value for name, value in row.items() if name not in about or value != about[name]})

    def record(self, item: Normal) -> Record:
        """An item as a record of the app that is its system, unless it has kept the app of a record."""
        found = {name: value for name, value in super().record(item).items() if not name.endswith(_CALLS)}
        said = (_about(item) | found).items()
        return {name: value if name.startswith(HUMAN) else _encoded(value) for name, value in said}


def _about(item: Normal) -> Record:
    """The fields of a record that say what system and id of its item say as well."""
    found: Record = {}
    if isinstance(system := item.get("system"), str):
        name, _, version = system.rpartition("/")
        found |= {"app_name": name or version, "app_version": version if name else "base"}
    return found | ({"record_id": item["id"]} if "id" in item else {})


def _encoded(value: Any) -> Any:
    """A text that would be taken for a JSON text is written as one."""
    return orjson.dumps(value).decode() if _decoded(value) != value else value


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
