"""Label Studio's flat exports, JSON-MIN and CSV: one row an annotation, read as the tasks that its JSON export has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

OF_ANNOTATION = ("annotation_id", "annotator", "created_at", "updated_at", "lead_time")
"""Fields of a row that say who made the annotation and when; the others are of the task, or what was given."""

FLAT = frozenset(("id", "annotation_id", "annotator"))
"""Fields by which such a row is known."""

_TYPES = {
    "Choices": "choices",
    "Taxonomy": "taxonomy",
    "Rating": "rating",
    "Number": "number",
    "DateTime": "datetime",
    "TextArea": "textarea",
    "Labels": "labels",
    "RectangleLabels": "rectanglelabels",
    "Pairwise": "pairwise",
    "Ranker": "ranker",
}
"""Tag of a config → the type of its results."""

_IN_VALUE = {"textarea": "text", "pairwise": "selected"}
"""Type of a result → the field of its value, where that has another name."""

_LISTED = ("choices", "taxonomy", "textarea")


def controls_in(config: Any) -> dict[str, str]:
    """Control of a config → the type of its results."""
    return {tag.get("name"): _TYPES[tag.name] for tag in config.walk() if tag.get("toName") and tag.name in _TYPES}


def tasks_of(
    rows: Iterable[tuple[int, Mapping[str, Any]]], controls: Mapping[str, str]
) -> list[tuple[int, dict[str, Any]]]:
    """(line, task) of rows: those of one `id` are annotations of one task, which stands where its first row does."""
    tasks: dict[str, tuple[int, dict[str, Any]]] = {}
    for line, row in rows:
        key = str(row.get("id", line))
        data = {
            name: value
            for name, value in row.items()
            if name != "id" and name not in controls and name not in OF_ANNOTATION and not _is_agreement(name)
        }
        _, task = tasks.setdefault(key, (line, {"id": row.get("id"), "data": data, "annotations": []}))
        task["annotations"].append(
            {
                "id": row.get("annotation_id"),
                "completed_by": row.get("annotator"),
                "created_at": row.get("created_at"),
                "updated_at": row.get("updated_at"),
                "lead_time": _number(row.get("lead_time")),
                "result": [
                    result for name, kind in controls.items() for result in _results(name, kind, _parsed(row.get(name)))
                ],
            }
        )
    return list(tasks.values())


def _is_agreement(name: str) -> bool:
    return name in ("agreement", "agreement_score", "sentiment_agreement")


def _number(given: Any) -> Any:
    try:
        return float(given) if isinstance(given, str) and given else given
    except ValueError:
        return given


def _parsed(given: Any) -> Any:
    """A cell of CSV that holds JSON, as what it is."""
    if isinstance(given, str) and given[:1] in ("[", "{"):
        try:
            return orjson.loads(given)
        except orjson.JSONDecodeError:
            return given
    return given


def _results(name: str, kind: str, given: Any) -> list[dict[str, Any]]:
    """What was given to a control, as the results that the JSON export has."""
    if given in (None, "", []):
        return []
    field = _IN_VALUE.get(kind, kind)
    if kind in _LISTED:
        if isinstance(given, dict):
            given = given.get(field, given.get("choices", []))
        values = given if isinstance(given, list) else [given]
        if any(isinstance(one, dict) for one in values):  # a taxonomy, each with its paths
            values = [path for one in values if isinstance(one, dict) for path in one.get(field, [])]
        return [{"from_name": name, "type": kind, "value": {field: values}}]
    several = given if isinstance(given, list) else [given]
    return [
        {"from_name": name, "type": kind, "value": one if isinstance(one, dict) else {field: _plain(kind, one)}}
        for one in several
    ]


def _plain(kind: str, one: Any) -> Any:
    return _number(one) if kind in ("rating", "number") else one
