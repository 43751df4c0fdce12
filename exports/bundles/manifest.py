"""`manifest.json`: what an export holds, of which state of the database, and the hash of every file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import InvalidInput, shown
from annotators.figures import count

if TYPE_CHECKING:
    from db.items.as_of import Marks
    from db.models import Amendment, Omission, Study
    from exports.formats._losing import Lost

NAME = "manifest.json"
LARGEST = 64 << 20
_LONGEST_NAME = 250


REACHED = {
    "adjudicated": "final_labels_decided_by_adjudicators",
    "unanimous": "final_labels_unanimous",
    "majority": "final_labels_by_majority",
    "open": "units_open",
}
"""How a final label was reached → what the manifest calls so many of them."""

ITEMS_REVISED, ITEMS_SUPERSEDED = "items_revised", "items_with_a_later_version"
ITEMS_LABELLED_EARLIER = "items_labelled_in_an_earlier_version"
"""What the manifest calls items in a later version than the first, those of which there is a later version still, and
those with labels that were given for an earlier version than there is now."""


@dataclass
class Manifest:
    """The contents of manifest.json.

    `event` is the number of the last event that the export knows of, and `marks` how far each table went then
    (`db.items.as_of`). `filters` are the arguments it was made with. `studies`: the snapshots of protocol and sample.
    `losses`: format → what it cannot carry, in words. `lost` is how much of that there was, where it was
    measured; it is not written.
    """

    assay: str
    schema: str
    created_at: str
    event: int
    marks: Marks
    project: dict[str, Any]
    filters: dict[str, Any]
    studies: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    files: list[dict[str, Any]] = field(default_factory=list)
    losses: dict[str, list[str]] = field(default_factory=dict)
    lost: dict[str, list[Lost]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As it is written."""
        return {name: value for name, value in asdict(self).items() if name != "lost"}

    def said_of_versions(self) -> list[str]:
        """Which versions the items are in, in sentences; none where no item was revised."""
        revised, superseded, earlier = (
            self.counts.get(name, 0) for name in (ITEMS_REVISED, ITEMS_SUPERSEDED, ITEMS_LABELLED_EARLIER)
        )
        said = []
        if superseded:
            said.append(
                f"{count(superseded, 'item')} of the release {'have' if superseded != 1 else 'has'} a later version "
                "now: the files have the released one, and versions.csv says which that is."
            )
        elif revised:
            said.append(
                f"{count(revised, 'item')} {'were' if revised != 1 else 'was'} revised: the files of items have the "
                "current version, and versions.csv says which that is."
            )
        if earlier:
            said.append(
                f"{count(earlier, 'item')} {'have' if earlier != 1 else 'has'} labels that were given for an earlier "
                "version: the tables say in item_version for which, and in fell whether a label still holds."
            )
        return said

    def encoded(self) -> bytes:
        """The bytes of manifest.json."""
        return orjson.dumps(self.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def study_snapshot(
    study: Study, amendments: Sequence[Amendment], omissions: Sequence[Omission], called: Mapping[int, str]
) -> dict[str, Any]:
    """What a study is known by: as it was frozen, and what has been amended since, if anything.

    Of annotators only the number is told: who they are is the labels' table to say, by name or by pseudonym. Whose
    labels are left out is told as that table calls them, `called`.
    """

    from db.people.named import OF_PEOPLE  # noqa: PLC0415 - a manifest is read without the database

    def told(what: str, value: Any) -> Any:
        if what in OF_PEOPLE and isinstance(value, dict):
            return {called.get(int(person), "somebody without labels"): part for person, part in value.items()}
        return len(value) if what == "annotators" else value

    changed = [
        {
            "at": row.created_at.isoformat(timespec="seconds"),
            "what": row.what,
            "before": told(row.what, row.before),
            "after": told(row.what, row.after),
            "reason": row.reason,
        }
        for row in amendments
    ]
    left_out = [
        {
            "at": row.created_at.isoformat(timespec="seconds"),
            "annotator": called.get(row.annotator_id),
            "from": None if row.since is None else row.since.isoformat(),
            "reason": row.reason,
        }
        for row in omissions
    ]
    return {
        "name": study.name,
        "protocol": {
            "name": study.protocol_name,
            "version": study.protocol_version,
            "sha256": study.protocol_hash,
            "definition": study.protocol,
        },
        "sample_sha256": study.sample_hash,
        "items": study.n_items,
        "overlap": study.overlap,
        **{name: study.settings[name] for name in ("part", "part_overlap", "most_overlap") if name in study.settings},
        "order": study.item_order,
        **{name: study.settings[name] for name in ("order_score", "order_first") if name in study.settings},
        "seed": study.seed,
        "rule": study.rule,
        "show_scores": study.show_scores,
        **({"amendments": changed} if changed else {}),
        **({"left_out": left_out} if left_out else {}),
    }


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an export folder; InvalidInput when there is none that can be read."""
    path = folder / NAME
    if not path.is_file():
        raise InvalidInput(f"{folder} has no {NAME}, so it is no export of Assay. Name the folder that `export` made.")
    if path.stat().st_size > LARGEST:
        raise InvalidInput(f"{path} is larger than any manifest. Take the one that was exported.")
    try:
        data = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{path} is damaged ({error}). Take the one that was exported.") from None
    if (problem := _problem(data)) is not None:
        raise InvalidInput(f"{path} is damaged ({problem}). Take the one that was exported.")
    return Manifest(**data)


_FIELDS: dict[str, type] = {
    "assay": str, "schema": str, "created_at": str, "event": int, "marks": dict, "project": dict, "filters": dict,
    "studies": list, "counts": dict, "files": list, "losses": dict,
}  # fmt: skip
_FIRST = 7
"""So many of the fields every manifest has."""


def _problem(data: Any) -> str | None:
    """What is wrong with what is to be a manifest, or None."""
    if not isinstance(data, dict):
        return "it is no object"
    if lacking := [name for name in list(_FIELDS)[:_FIRST] if name not in data]:
        return f"it has no {lacking[0]!r}"
    for name, value in data.items():
        if name not in _FIELDS:
            return f"no manifest has a field {name!r}"
        if not isinstance(value, _FIELDS[name]) or isinstance(value, bool):
            return f"{name!r} is {shown(value)}"
    for file in data.get("files", ()):
        if not isinstance(file, dict) or not all(isinstance(file.get(name), str) for name in ("path", "sha256")):
            return f"a file is {shown(file)}, without path or hash"
        if any(len(part) > _LONGEST_NAME for part in file["path"].split("/")):
            return f"a file is called {shown(file['path'])}, longer than names can be"
    if odd := [table for table, mark in data["marks"].items() if not isinstance(mark, dict)]:
        return f"the mark of {odd[0]!r} is {shown(data['marks'][odd[0]])}"
    return None
