"""What is wrong with a definition is taken out of it, so that what is wrong besides can be found as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotators.criteria.material import Material

Path = tuple[str | int, ...]

_MOST_ROUNDS = 60
_PLACEHOLDERS = ("name", "title", "guidelines", "value", "criterion")
"""Texts that have to be there: one that is missing or wrong is replaced by any that will do."""


@dataclass(frozen=True)
class Fault:
    """Something wrong: where it stands in the data as given, what pydantic calls it, and what is said of it."""

    path: Path
    type: str
    message: str


Find = Callable[[dict[str, Any]], Sequence[Fault]]
"""The faults of a definition: all of its fields or, where those will do, the first that does not hang together."""


def all_faults(data: dict[str, Any], find: Find) -> list[Fault]:
    """Every fault, each once, with its path in `data`, which stays as it is.

    After each look what was found is repaired in a copy: a wrong part that need not be there is taken out, one that has
    to be there is replaced. What is said of a part only because another one was taken out is left out.
    """
    copy = _Copy(data)
    found: dict[Path, Fault] = {}
    for _ in range(_MOST_ROUNDS):
        faults = list(find(copy.data))
        if not faults:
            break
        for fault in faults:
            path = copy.origin(fault.path)
            if path not in found and not copy.follows(fault):
                found[path] = Fault(path, fault.type, fault.message)
        # From the end, so that what is taken out of a list moves nothing that is still to be repaired.
        changed = [copy.repair(fault) for fault in sorted(faults, key=_order, reverse=True)]
        if not any(changed):
            break
    return list(found.values())


def _order(fault: Fault) -> list[tuple[bool, int, str]]:
    return [(isinstance(part, str), part if isinstance(part, int) else 0, str(part)) for part in fault.path]


class _Copy:
    """A copy of the data that can be repaired, and for each of its parts where it stood before."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data, self._origin = _mirrored(data, ())
        self._removed: set[str] = set()
        self._shortened: set[Path] = set()
        self._names = 0

    def origin(self, path: Path) -> Path:
        """The path of a part in the data as given."""
        node = self._origin
        for place, part in enumerate(path):
            if not _has(node[1], part):
                return (*node[0], *path[place:])
            node = node[1][part]
        found: Path = node[0]
        return found

    def follows(self, fault: Fault) -> bool:
        """Whether it is there only because something was taken out, or a name replaced."""
        if fault.type in ("too_short", "missing") and self.origin(fault.path) in self._shortened:
            return True
        return fault.type == "value_error" and any(f"'{name}'" in fault.message for name in self._removed)

    def repair(self, fault: Fault) -> bool:
        """Take out or replace what is wrong; whether anything changed."""
        path = fault.path
        if not path:
            return False
        if path[0] == "criteria" and len(path) >= 2 and (len(path) == 2 or path[2:] == ("kind",)):
            return self._take_out_criterion(path[1])
        if path[-1] == "shows" and fault.type == "value_error":
            return self._set(path, [material.value for material in Material if material is not Material.SCORES])
        if fault.type == "value_error" and len(path) == 5 and path[2] == "labels" and self._has((*path, "key")):
            return self._remove((*path, "key"))
        if path[-1] == "name" and path[0] == "criteria" and fault.type == "value_error":
            return self._take_out_criterion(path[1])  # the second of two of one name
        if path[-1] in _PLACEHOLDERS and fault.type not in ("extra_forbidden", "value_error"):
            return self._replace(path)
        if path[0] == "steps" and len(path) == 3 and fault.type in ("missing", "too_short", "list_type"):
            return self._take_out_step(path)
        if fault.type == "missing":
            return self._take_out_criterion(path[1]) if path[0] == "criteria" and len(path) > 1 else False
        if self._has(path):
            return self._remove(path)
        return self._remove(path[:-1]) if self._has(path[:-1]) else False

    # Changes ----------------------------------------------------------------------------------------------------------

    def _inside(self, path: Path) -> tuple[Any, Any] | None:
        """The container of a part and that of its origins; None where there is none."""
        data, origin = self.data, self._origin
        for part in path[:-1]:
            if not _has(data, part):
                return None
            data, origin = data[part], origin[1][part]
        return (data, origin[1]) if isinstance(data, dict | list) else None

    def _has(self, path: Path) -> bool:
        found = self._inside(path) if path else None
        return found is not None and _has(found[0], path[-1])

    def _remove(self, path: Path) -> bool:
        found = self._inside(path)
        if found is None or not self._has(path):
            return False
        self._shortened |= {self.origin(path[:-1]), self.origin(path)}
        for container in found:
            del container[path[-1]]
        return True

    def _take_out_step(self, path: Path) -> bool:
        step = self.data["steps"][path[1]]
        asked = step.get("criteria") if isinstance(step, dict) else None
        self._removed |= {name for name in asked if isinstance(name, str)} if isinstance(asked, list) else set()
        return self._remove(path[:2])

    def _set(self, path: Path, value: Any) -> bool:
        found = self._inside(path)
        if found is None or not isinstance(found[0], dict) or found[0].get(path[-1]) == value:
            return False
        data, origin = found
        before = self.origin(path)
        data[path[-1]], origin[path[-1]] = _mirrored(value, before)
        return True

    def _replace(self, path: Path) -> bool:
        """Another text, and with the name of a criterion or step, everywhere where it was named."""
        self._names += 1
        inside = self._inside(path)
        old = inside[0].get(path[-1]) if inside is not None and isinstance(inside[0], dict) else None
        new = f"x{self._names}"
        if path[-1] == "name" and isinstance(old, str):
            self._removed.add(new)
            self._rename(self.data, old, new)
        return self._set(path, new)

    def _rename(self, data: Any, old: str, new: str) -> None:
        for container in _containers(data):
            for part, value in list(container.items() if isinstance(container, dict) else enumerate(container)):
                if value == old:
                    container[part] = new

    def _take_out_criterion(self, place: str | int) -> bool:
        criteria = self.data.get("criteria")
        if not isinstance(criteria, list) or not isinstance(place, int) or place >= len(criteria):
            return False
        name = criteria[place].get("name") if isinstance(criteria[place], dict) else None
        self._remove(("criteria", place))
        others = [criterion.get("name") for criterion in criteria if isinstance(criterion, dict)]
        if isinstance(name, str) and name not in others:
            self._removed.add(name)
            for number, step in enumerate(self.data.get("steps") or ()):
                asked = step.get("criteria") if isinstance(step, dict) else None
                places = (
                    [place for place, other in enumerate(asked) if other == name] if isinstance(asked, list) else []
                )
                for position in reversed(places):
                    self._remove(("steps", number, "criteria", position))
        return True


def _has(container: Any, part: str | int) -> bool:
    if isinstance(container, dict):
        return part in container
    return isinstance(container, list) and isinstance(part, int) and part < len(container)


def _containers(data: Any) -> Iterator[Any]:
    if isinstance(data, dict | list):
        yield data
        for value in data.values() if isinstance(data, dict) else data:
            yield from _containers(value)


def _mirrored(data: Any, path: Path) -> tuple[Any, tuple[Path, Any]]:
    """A copy of plain data, and a tree of the same form with the path of each part."""
    if isinstance(data, dict):
        parts = {name: _mirrored(value, (*path, name)) for name, value in data.items()}
        return {name: part[0] for name, part in parts.items()}, (path, {name: part[1] for name, part in parts.items()})
    if isinstance(data, list):
        entries = [_mirrored(value, (*path, place)) for place, value in enumerate(data)]
        return [entry[0] for entry in entries], (path, [entry[1] for entry in entries])
    return data, (path, None)
