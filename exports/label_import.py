"""Tables of labels that were made elsewhere, imported into a study, which can be inferred from the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from annotators.errors import InvalidInput, NotFound
from annotators.inferred_protocols import LabelColumn, criterion_name, infer_protocol
from annotators.protocols import Protocol
from annotators.targets import TargetKind
from db.engine import Database
from db.foreign_studies import import_study_of_labels
from db.labels import ForeignLabel, LabelImport, import_labels, targets_in
from db.normal import normal_item
from db.parsed import ParsedDocument, ParsedItem, Rejected
from db.permissions import RESEARCHERS, Actor, On, operation
from db.studies import find_study, study_facts
from exports.formats.labels import LabelTable, read_labels

SCALES = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class LabelTableImport:
    """What an import of a table did: the labels, the study, and (if it was inferred) how many bare items were added."""

    labels: LabelImport
    study_id: int
    inferred: Protocol | None
    items_added: int
    left_out: dict[str, int]

    def to_json(self) -> dict[str, object]:
        """As `assay labels import --json` prints it."""
        return {
            **self.labels.to_json(),
            "study_id": self.study_id,
            "inferred": self.inferred is not None,
            "criteria": [one.name for one in self.inferred.criteria] if self.inferred else None,
            "items_added": self.items_added,
            "left_out": self.left_out,
        }


@operation(On.PROJECT, RESEARCHERS)
def import_label_table(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    study: str,
    path: Path,
    infer: bool = False,
    scales: Sequence[str] = (),
) -> LabelTableImport:
    """Import a table of labels into the study of this name.

    With `infer`, and no such study, it is made: its protocol is inferred from the table, its items are those of the
    table, and items that the project lacks are added as bare ones, with their id for a question. `scales` are texts
    `ordinal`, or `criterion=ordinal` for one of several (default nominal); a study that is there keeps its own. Without
    `infer` an unknown study is NotFound and an unknown item InvalidInput.
    """
    table = read_labels(path)
    rows = table.checked()
    targets = targets_in(rows, table.source)
    try:
        study_id = find_study(db, actor, project_id, name=study)
    except NotFound as error:
        if not infer:
            raise NotFound(f"{error} With --infer it is made from the table.") from None
        return _into_a_new_study(
            db, actor, project_id, study=study, table=table, columns=_columns(table, targets, scales)
        )
    names = {one["name"] for one in study_facts(db, actor, study_id).protocol["criteria"]}
    known = [row if row.criterion in names else _renamed(row) for row in rows]
    labels = import_labels(db, actor, study_id, rows=known, source=table.source)
    return LabelTableImport(labels, study_id, None, 0, dict(table.left_out))


def _renamed(row: ForeignLabel) -> ForeignLabel:
    return replace(row, criterion=criterion_name(row.criterion))


def _columns(table: LabelTable, targets: Mapping[str, TargetKind], scales: Sequence[str]) -> list[LabelColumn]:
    """The criteria of the table in the order in which they first appear."""
    values: dict[str, list[str]] = {criterion: [] for criterion in targets}
    per_hop: set[str] = set()
    for row in table.rows:
        values[row.criterion].append(row.value)
        if "|hop:" in row.target:
            per_hop.add(row.criterion)
    chosen = _scales(scales, list(values))
    return [LabelColumn(one, values[one], chosen[one], targets[one], one in per_hop) for one in values]


_Scale = Literal["nominal", "ordinal", "interval"]


def _scales(given: Sequence[str], criteria: list[str]) -> dict[str, _Scale]:
    """Criterion → scale, from texts `ordinal` and `criterion=ordinal`."""
    by_name: dict[str, str] = {}
    default = "nominal"
    for text in given:
        name, equals, scale = text.rpartition("=")
        if scale not in SCALES:
            raise InvalidInput(f"{scale!r} is not a scale that can be inferred. Known: {', '.join(SCALES)}.")
        if not equals:
            default = scale
        elif name in criteria:
            by_name[name] = scale
        else:
            raise InvalidInput(f"The table has no criterion {name!r}. It has: {', '.join(criteria)}.")
    return {one: cast(_Scale, by_name.get(one, default)) for one in criteria}


def _into_a_new_study(
    db: Database, actor: Actor, project_id: int, *, study: str, table: LabelTable, columns: list[LabelColumn]
) -> LabelTableImport:
    by_item: dict[str, set[str]] = {}
    for row in table.rows:
        by_item.setdefault(row.item, set()).add(row.annotator)
    overlap = min(len(annotators) for annotators in by_item.values())
    protocol = infer_protocol(study, columns, overlap=overlap)
    made = import_study_of_labels(
        db,
        actor,
        project_id,
        name=study,
        protocol=protocol,
        overlap=overlap,
        items=_BareItems(table),
        rows=[_renamed(row) for row in table.rows],
    )
    return LabelTableImport(made.labels, made.study_id, protocol, made.items_added, dict(table.left_out))


class _BareItems:
    """The items of a table of labels, of which nothing is known but their ids. One that is there stays as it is."""

    format = "labels"

    def __init__(self, table: LabelTable) -> None:
        self.source = table.source
        self._lines: dict[str, int] = {}
        for row in table.rows:
            self._lines.setdefault(row.item, row.line)

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """There are none."""
        return iter(())

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """One for each id, in the order of the table."""
        for item, line in self._lines.items():
            try:
                yield ParsedItem(self.source, line, normal_item({"id": item, "question": item}))
            except InvalidInput as error:
                yield Rejected(self.source, line, str(error))
