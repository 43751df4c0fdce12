"""Designs as YAML files: read with errors that name the line, and written so that they make the same study again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from annotators.asking.protocol_files import fields_at, protocol_data, protocol_faults
from annotators.asking.repairs import Fault, Path, all_faults
from annotators.asking.yaml_files import InLine, YamlFile, faults_of, written
from annotators.designing.arms import Arm
from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, Qualification, Repeats, RightLabel
from annotators.designing.phases import CONSENT, Phases
from annotators.errors import AssayError, InvalidInput, Problem
from annotators.figures import count
from annotators.protocols import Protocol

IN_ORDER = ("name", "protocol", "annotators", "overlap")
"""The fields that stand first in a file; the others follow in the order of the class."""


_PARTS: dict[str | int, type[BaseModel]] = {"gold": Gold, "repeats": Repeats, "qualification": Qualification}


_T = TypeVar("_T")


@dataclass(frozen=True)
class DesignFile:
    """A design that was read, and the protocol where the file defines it itself."""

    design: StudyDesign
    protocol: Protocol | None
    file: YamlFile

    def refused(self, error: AssayError) -> InvalidInput:
        """The problems that `error` has with the design, with the lines of the file where they stand."""
        faults = [Fault(problem.path, "", f"{problem.problem} {problem.remedy}".strip()) for problem in error.problems]
        return self.file.refused(faults, faults)


def design_from_yaml(text: str, source: str = "design.yaml") -> DesignFile:
    """The design that `text` holds; the fields are those of `StudyDesign` (docs/studies.md).

    `protocol` is a name, or the fields of a protocol themselves. Raises InvalidInput with a line for each thing that is
    wrong, and `problems` with everything.
    """
    file = YamlFile(source, kind="design", begins="protocol: qa_verification")
    data = file.read(text)
    inline = data.get("protocol")
    faults = _faults(data)
    if faults or file.twice:
        raise file.refused(faults, all_faults(data, _faults))
    protocol = Protocol.model_validate(inline) if isinstance(inline, dict) else None
    named = {"protocol": protocol.name} if protocol is not None else {}
    return DesignFile(StudyDesign.model_validate(data | named), protocol, file)


def _faults(data: dict[str, Any]) -> list[Fault]:
    found: list[Fault] = []
    inline = data.get("protocol")
    if isinstance(inline, dict):
        within = protocol_faults(inline)
        found += [Fault(("protocol", *fault.path), fault.type, fault.message) for fault in within]
    elif inline is None:
        found.append(Fault(("protocol",), "missing", "`protocol` is missing. Add its name, or its fields."))
    fields = {**data, "protocol": "" if isinstance(inline, dict) else inline or ""}
    try:
        StudyDesign.model_validate(fields)
    except ValidationError as error:
        found += faults_of(error, lambda path: _fields_at(path, data))
    wrong = {fault.path[0] for fault in found}
    design = StudyDesign.model_validate({name: value for name, value in fields.items() if name not in wrong})
    overlap = None if {"overlap", "annotators"} & wrong else design.overlap
    hold = design.faults(overlap, at=datetime.now(UTC))
    return found + [Fault(path, "value_error", message) for path, message in hold if path[0] not in wrong]


def design_of(**fields: Any) -> StudyDesign:
    """The design with these values of its fields. Raises InvalidInput with a line for each that it cannot have."""
    try:
        return StudyDesign.model_validate(fields)
    except ValidationError as error:
        faults = list(faults_of(error, lambda path: _fields_at(path, fields)))
        problems = [Problem.of(fault.message, fault.path) for fault in faults]
        raise InvalidInput("\n".join(fault.message for fault in faults), problems) from None


def _fields_at(path: Path, data: dict[str, Any]) -> list[str]:
    if path[0] == "phases" and len(path) > 1:
        if len(path) > 3:  # the questions of a phase are criteria
            return fields_at(("criteria", *path[2:]), {"criteria": data["phases"][path[1]]})
        return list(Phases.model_fields)
    part = _PARTS.get(path[0]) if len(path) == 2 else None
    if len(path) == 3 and path[0] == "arms":
        part = Arm
    if len(path) == 4 and path[1] == "labels":
        part = RightLabel
    if part is not None:
        return [field.alias or name for name, field in part.model_fields.items() if not field.exclude]
    return list(StudyDesign.model_fields) if len(path) == 1 else []


def phases_from_yaml(consent: str, text: str, source: str = "questions") -> Phases:
    """A consent text, and the questions `before` and `after` that a YAML text holds; both may be empty.

    Raises InvalidInput with a line for each thing that is wrong.
    """
    file = YamlFile(source, kind="list of questions", begins="before:")
    return _part(file, text, lambda said: Phases.model_validate({"consent": consent, **said}), ("phases",))


def arms_from_yaml(text: str, source: str = "arms") -> tuple[Arm, ...]:
    """The arms that a YAML text names as a design does, under `arms`; none of an empty one.

    Raises InvalidInput with a line for each thing that is wrong.
    """
    file = YamlFile(source, kind="list of arms", begins="arms:")
    return _part(file, text, _Arms.model_validate, ()).arms


def arms_to_yaml(arms: Sequence[Arm]) -> str:
    """Arms as a text that `arms_from_yaml` reads back; empty where there are none."""
    return written({"arms": [arm.model_dump(mode="json", exclude_none=True) for arm in arms]}) if arms else ""


class _Arms(BaseModel):
    model_config = ConfigDict(extra="forbid")

    arms: tuple[Arm, ...] = ()


def _part(file: YamlFile, text: str, made: Callable[[dict[str, Any]], _T], at: Path) -> _T:
    """What is made of a text that is one part of a design, at a place there; all that is wrong with it is raised."""
    said = file.read(text) if text.strip() else {}

    def faults(given: dict[str, Any]) -> list[Fault]:
        try:
            made(given)
        except ValidationError as error:
            whole = {str(at[0]): given} if at else given
            return list(faults_of(error, lambda path: _fields_at((*at, *path), whole)))
        return []

    if (found := faults(said)) or file.twice:
        raise file.refused(found, all_faults(said, faults))
    return made(said)


def phases_to_yaml(phases: Phases) -> str:
    """The questions of the phases as a text that `phases_from_yaml` reads back; empty where there are none."""
    asked = {name: value for name, value in phases.in_settings().items() if name != CONSENT}
    return written(asked) if asked else ""


def design_data(design: StudyDesign, protocol: Protocol | None = None, *, whole: bool = False) -> dict[str, Any]:
    """The design as plain data; with `protocol` that is written out; fields that have their default only if `whole`."""
    given = design.model_dump(mode="json", exclude_defaults=not whole)
    if protocol is not None:
        given["protocol"] = protocol_data(protocol)
    names = dict.fromkeys((*IN_ORDER, *StudyDesign.model_fields))
    return {name: given[name] for name in names if name in given}


def said_of(name: str, value: Any) -> str:
    """What a design says in a field, in words: lists with commas between, of what is long how much it is."""
    if name == "protocol" and isinstance(value, dict):
        return f"{value['name']} (its own)"
    if name == "drawn_with":
        return count(len(value), "item")
    if name == "labels":
        return count(len(value), "label")
    if isinstance(value, dict):
        parts = (f"{part.replace('_', ' ')} {said_of(part, said)}" for part, said in value.items() if said is not None)
        return ", ".join(parts)
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def design_to_yaml(design: StudyDesign, protocol: Protocol | None = None) -> str:
    """The design as a YAML file that `design_from_yaml` reads back as an equal one."""
    data = design_data(design, protocol)
    return written({name: InLine(value) if isinstance(value, list) else value for name, value in data.items()})
