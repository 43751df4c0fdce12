"""The key of a folder that goes to another program: which items its records are, and what the study hides of them.

It lies in a folder `key` of its own, for our reader alone. Everything else of the export may be handed on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import AssayError, InvalidInput
from annotators.figures import count
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from exports.formats._stretches import in_answer
from exports.formats._writing import Files, cell_of
from exports.reading.json_files import element_lines, json_file
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    from annotators.protocols import Protocol

FOLDER = "key"
ITEMS, PROTOCOL, PEOPLE, NAMES, PARTS = (
    f"{FOLDER}/{name}.json" for name in ("items", "protocol", "annotators", "names", "parts")
)


class Key:
    """The key under way."""

    def __init__(self, files: Files, protocol: Protocol | None = None) -> None:
        self._files, self._names = files, dict[str, str]()
        if protocol is not None:
            definition = orjson.dumps(protocol.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
            files.begin(PROTOCOL, definition, b"\n")

    def add(self, item: Normal, known_as: str, parts: Mapping[str, str] | None = None) -> None:
        """An item in full, and what it and its parts (name there → part) are called in the records."""
        self._files.add(ITEMS, item)
        if parts:
            self._files.add(PARTS, {"item": item["id"], "parts": parts})
        if known_as != item["id"]:
            self._names[known_as] = item["id"]

    def close(self, people: Mapping[str, str]) -> None:
        """Write how people and items are called there → who and what they are."""
        for name, said in ((PEOPLE, dict(people)), (NAMES, self._names)):
            if said:
                self._files.begin(name, orjson.dumps(said, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS), b"\n")


class KeyReading:
    """The key among the files of a source; `there` says whether there is one."""

    def __init__(self, sources: Sources) -> None:
        self._files = {name: file for file in sources.files for name in [is_of_key(file)] if name is not None}
        self.there = ITEMS in self._files
        self._people, self._names = self._map(PEOPLE), self._map(NAMES)
        self.protocol = self._protocol() if self.there else None
        self._criteria = {} if self.protocol is None else self.protocol.criteria_by_name()
        self._parts = self._parts_of_items()
        self._of_no_item = 0

    def _map(self, name: str) -> dict[str, str]:
        found = json_file(self._files[name]) if name in self._files else None
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}

    def _parts_of_items(self) -> dict[str, dict[str, str]]:
        """Item → name there → part; nothing of exports from before parts had names of their own there."""
        rows = json_file(self._files[PARTS]) if self.there and PARTS in self._files else None
        return {
            str(row.get("item")): {str(name): str(part) for name, part in row["parts"].items()}
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and isinstance(row.get("parts"), dict)
        }

    def _protocol(self) -> Protocol | None:
        from annotators.protocols import Protocol as Asked  # noqa: PLC0415 - most imports have no labels

        found = json_file(self._files[PROTOCOL]) if PROTOCOL in self._files else None
        try:
            return Asked.model_validate(found) if isinstance(found, dict) else None
        except ValueError:
            return None

    def person(self, known_as: str) -> str:
        """Who somebody there is."""
        return self._people.get(known_as, known_as)

    def target_of(self, criterion: str, otherwise: str) -> str:
        """What a criterion of the key's protocol is about."""
        return str(self._criteria[criterion].target) if criterion in self._criteria else otherwise

    def item_of(self, known_as: str) -> str:
        """The id of what is called so there."""
        return self._names.get(known_as, known_as)

    def by_own_names(self, label: ForeignLabel) -> ForeignLabel:
        """A label of one of the items, whose parts have their names there, by the item's own keys."""
        parts = self._parts.get(label.item, {})
        target = "|".join(parts.get(piece, piece) for piece in label.target.split("|"))
        criterion = self._criteria.get(label.criterion)
        value = label.value
        if criterion is not None and parts:
            with suppress(InvalidInput):  # what is no value of it is named when it is imported
                there = criterion.parse(value)
                here = criterion.rekeyed(there, lambda name: parts.get(name, name))
                value = value if here == there else cell_of(here)
        return label._replace(target=target, value=value)

    def items(
        self, said: Mapping[str, Sequence[ForeignLabel]], spans: Collection[str]
    ) -> Iterator[ParsedItem | Rejected]:
        """The items, each with what was said of it; labels of the criteria `spans` are stretches of the answer."""
        file = self._files[ITEMS]
        rows: Any = json_file(file)
        if isinstance(rows, Rejected):
            yield rows
            return
        if not isinstance(rows, list):
            yield Rejected(file.name, 1, "the items of the key are a list. Take the file as it was exported.")
            return
        left = dict(said)
        for row, line in zip(rows, element_lines(file, None, len(rows)), strict=True):
            try:
                item = read_item(row)
                left.pop(item.id, None)
                labels = tuple(in_answer(label, item.answer, spans) for label in said.get(item.id, ()))
                yield ParsedItem(file.name, line, item, labels)
            except AssayError as error:
                yield Rejected(file.name, line, str(error))
        self._of_no_item = sum(map(len, left.values()))

    def notes(self) -> list[str]:
        """What was said of items that are not there, once the items are read."""
        n = self._of_no_item
        return [f"{count(n, 'label is', 'labels are')} of items that the key does not have: left out."] if n else []


def is_of_key(file: SourceFile) -> str | None:
    """Which file of a key this is, None for any other."""
    parts = PurePosixPath(file.name).parts
    name = "/".join(parts[-2:])
    return name if name in (ITEMS, PROTOCOL, PEOPLE, NAMES, PARTS) else None
