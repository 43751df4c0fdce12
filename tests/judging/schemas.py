"""Replies that keep a JSON schema: every leaf filled by whoever knows what to say there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Path = tuple[str | int, ...]
Fill = Callable[[Path, Mapping[str, Any]], Any]
"""The value of a leaf, from the names and positions that lead to it and its schema."""
Choose = Callable[[Path, list[Mapping[str, Any]]], int]
"""Which of several alternatives is kept, from what leads to them and their schemas."""


def first_choice(_path: Path, leaf: Mapping[str, Any]) -> Any:
    """The first value that a leaf allows."""
    if "const" in leaf:
        return leaf["const"]
    if "enum" in leaf:
        return leaf["enum"][0]
    match kind_of(leaf):
        case "integer" | "number":
            return leaf.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
    return "Because it says so."


def first_of(_path: Path, _alternatives: list[Mapping[str, Any]]) -> int:
    """The first alternative."""
    return 0


def kind_of(leaf: Mapping[str, Any]) -> str:
    """The type of a leaf; of several the first that is not null."""
    kinds = leaf.get("type", "string")
    return kinds if isinstance(kinds, str) else next(kind for kind in kinds if kind != "null")


def filled(
    schema: Mapping[str, Any],
    fill: Fill = first_choice,
    path: Path = (),
    root: Any = None,
    choose: Choose = first_of,
) -> Any:
    """A value that keeps `schema`, with its leaves from `fill`.

    Of alternatives (`anyOf`, `oneOf`) that is taken which `choose` says; a list has as few members as it may, unless
    `fill` gives one.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        found = root
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return filled(found, fill, path, root, choose)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return filled(schema[word][choose(path, schema[word])], fill, path, root, choose)
    if "properties" in schema:
        return {name: filled(inner, fill, (*path, name), root, choose) for name, inner in schema["properties"].items()}
    if schema.get("type") == "array":
        given = fill(path, schema)
        if isinstance(given, list):
            return given
        inner, n = schema.get("items", {}), schema.get("minItems", 0)
        return [filled(inner, fill, (*path, number), root, choose) for number in range(n)]
    return fill(path, schema)
