"""Protocols as YAML files: read with errors that name the line, and written so that people can change them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from annotators.asking.repairs import Fault, Path, all_faults
from annotators.asking.yaml_files import MAX_CHARACTERS, InLine, YamlFile, faults_of, written
from annotators.criteria import Condition, Criterion, Label
from annotators.criteria.base import USUAL_KIND, Only, kind_named, way_named
from annotators.criteria.derived.bands import Band
from annotators.criteria.derived.base import Derived
from annotators.protocols.base import Protocol, Step
from annotators.protocols.consequences import Consequence

__all__ = ["MAX_CHARACTERS", "data_to_yaml", "line_of", "plain_data", "protocol_from_yaml", "protocol_to_yaml"]

# Reading --------------------------------------------------------------------------------------------------------------


def protocol_from_yaml(text: str, source: str = "protocol.yaml") -> Protocol:
    """The protocol that `text` defines; the fields are those of `Protocol` (docs/protocol-files.md).

    `source` is the file's name for messages. Raises InvalidInput with one line for each thing that is
    wrong at first sight (at most ten), each naming file, line and remedy, and `problems` with everything that is wrong,
    also behind other mistakes. Nothing but plain
    data is read: no tags, anchors or aliases.
    """
    reader = _file(source)
    data = reader.read(text)
    try:
        protocol = Protocol.model_validate(data)
    except ValidationError:
        raise reader.refused(protocol_faults(data), all_faults(data, protocol_faults)) from None
    if reader.twice:
        raise reader.refused([], [])
    return protocol


def protocol_faults(data: dict[str, Any]) -> list[Fault]:
    """What is wrong at first sight with the fields of a protocol, given as plain data."""
    try:
        Protocol.model_validate(data)
    except ValidationError as error:
        return list(faults_of(error, lambda path: fields_at(path, data)))
    return []


def _file(source: str) -> YamlFile:
    return YamlFile(source, kind="protocol file", begins="name: my_protocol")


def plain_data(text: str, source: str = "protocol.yaml") -> dict[str, Any]:
    """What a protocol file says, as plain data, whether or not it is a protocol. Raises InvalidInput for no YAML."""
    return _file(source).read(text)


def line_of(text: str, *path: str | int) -> int:
    """The line (from 1) of a field of a protocol file that can be read, or of what is around it."""
    reader = _file("protocol.yaml")
    reader.read(text)
    return reader.line_of(path)


def fields_at(path: Path, data: dict[str, Any]) -> list[str]:
    """The fields that may stand beside the last part of `path` in a protocol that is given as plain data."""
    inside: dict[str, type[BaseModel]] = {
        "steps": Step,
        "labels": Label,
        "when": Condition,
        "only": Only,
        "then": Condition,
        "consequences": Consequence,
        "bands": Band,
    }
    model: type[BaseModel] = Protocol
    for position, part in enumerate(path[:-1]):
        if path[position - 1] == "criteria" and isinstance(part, int):
            model = kind_named(data["criteria"][part].get("kind", USUAL_KIND))
        elif path[position - 1] == "derived" and isinstance(part, int):
            model = way_named(data["criteria"][path[1]]["derived"][part].get("how"))
        else:
            model = inside.get(str(part), model)
    return list(model.model_fields)


# Writing --------------------------------------------------------------------------------------------------------------


def protocol_to_yaml(protocol: Protocol) -> str:
    """The protocol as a YAML file that `protocol_from_yaml` reads back as an equal protocol.

    Fields that have their default are left out; texts of several lines are block scalars.
    """
    return written(protocol_data(protocol))


def protocol_data(protocol: Protocol) -> dict[str, Any]:
    """The protocol as plain data, without fields that have their default."""
    found: dict[str, Any] = _data(protocol)
    return found


def data_to_yaml(data: dict[str, Any]) -> str:
    """Plain data (`plain_data`) as a YAML file that is read back as the same, whether or not it is a protocol.

    Fields stand in the order of the documentation.
    """
    return written(_data(_ordered(data, Protocol)))


def _ordered(data: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Fields in the order of the model, those that it does not have last; a criterion's kind follows its name.

    Where yes or no belongs it is no word.
    """
    first = ["name", "kind", "how"] if issubclass(model, Criterion | Derived) else []
    names = list(dict.fromkeys([*first, *model.model_fields]))
    ordered = {name: data[name] for name in names if name in data} | data
    for name, field in model.model_fields.items():
        if field.annotation is bool and str(ordered.get(name)).lower() in ("true", "false"):
            ordered[name] = str(ordered[name]).lower() == "true"
    for name, inner in _INSIDE.items():
        if isinstance(ordered.get(name), list):
            ordered[name] = [_ordered(part, inner) if isinstance(part, dict) else part for part in ordered[name]]
    return ordered


_INSIDE: dict[str, type[BaseModel]] = {
    "criteria": Criterion,
    "steps": Step,
    "labels": Label,
    "consequences": Consequence,
    "derived": Derived,
}
"""Lists of parts → what each part is."""


def _data(value: Any) -> Any:
    """Plain data of a model, without defaults; a criterion always says its kind, and says it after its name, as a
    derived unit says how it is made."""
    if isinstance(value, BaseModel):
        fields = {
            name: _data(getattr(value, name))
            for name, field in type(value).model_fields.items()
            if name in value.model_fields_set
            and getattr(value, name) != field.get_default(call_default_factory=True, validated_data=dict(value))
        }
        if isinstance(value, Criterion):
            fields.pop("kind", None)
            return {"name": fields.pop("name"), "kind": value.kind, **fields}
        if isinstance(value, Derived):
            return {"name": fields.pop("name"), "how": value.how, **fields}
        return fields
    if isinstance(value, dict):
        return {key: _data(inner) for key, inner in value.items()}
    if isinstance(value, list):
        plain = [_data(entry) for entry in value]
        return InLine(plain) if all(isinstance(entry, str | int) for entry in plain) else plain
    return str(value) if isinstance(value, str) else value
