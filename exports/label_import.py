"""Tables of labels that were made elsewhere: read, and imported into a study, which can be inferred from the table."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from annotators.errors import InvalidInput, NotFound
from annotators.inferred_protocols import LabelColumn, criterion_name, infer_protocol
from annotators.protocols import Protocol
from db.engine import Database
from db.foreign_studies import create_study_of_labels
from db.imports import import_items
from db.labels import ForeignLabel, LabelImport, import_labels, targets_in
from db.normal import normal_item
from db.parsed import ParsedDocument, ParsedItem, Rejected
from db.permissions import RESEARCHERS, Actor, On, operation
from db.studies import find_study, study_facts
from exports.cells import original

NEEDED = ("item", "annotator", "criterion", "value")
SCALES = ("nominal", "ordinal", "interval")

csv.field_size_limit(16 << 20)


# Reading --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelTable:
    """The labels of a table, in its order; `left_out` counts rows that are no counting label, by the reason."""

    source: str
    rows: list[ForeignLabel]
    left_out: Counter[str]


def read_label_table(path: Path) -> LabelTable:
    """The labels of a CSV (or, ending in .tsv, tab-separated) file in UTF-8 with a header.

    Columns: item, annotator, criterion, value; target (default `item`), time (ISO 8601) and comment if they are there;
    others are passed over. A file that Assay exported is read as well: of its rows those count that are current,
    complete, no surplus, and not `cannot judge`. Raises InvalidInput naming the line for a missing or repeated cell.
    """
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    left_out: Counter[str] = Counter()
    rows: list[ForeignLabel] = []
    first: dict[tuple[str, str, str, str], int] = {}
    for line, cells in _lines(path):
        where = f"{path.name}, line {line}"
        reason = _why_left_out(cells)
        if reason:
            left_out[reason] += 1
            continue
        row = _label(cells, line, where)
        cell = (row.item, row.annotator, row.criterion, row.target)
        if cell in first:
            raise InvalidInput(
                f"{where}: {row.annotator!r} labels {row.criterion!r} of {row.item!r} ({row.target}) again; the first "
                f"time is line {first[cell]}. Keep one of the two."
            )
        first[cell] = line
        rows.append(row)
    if not rows:
        raise InvalidInput(f"{path.name} has no labels below its header. Check that it is the right file.")
    return LabelTable(path.name, rows, left_out)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(line from 1, column → cell) of every row that is not empty."""
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            header = [name.strip().lower() for name in next(reader, [])]
            _check_header(header, path.name)
            begins = reader.line_num + 1
            for cells in reader:
                if any(cells):
                    if len(cells) != len(header):
                        raise InvalidInput(
                            f"{path.name}, line {begins}: {len(cells)} cells, but the header has {len(header)}. "
                            "Put cells that contain a comma in double quotes."
                        )
                    yield begins, dict(zip(header, cells, strict=True))
                begins = reader.line_num + 1
        except csv.Error as error:
            raise InvalidInput(f"{path.name}, line {reader.line_num}: {error}. Correct the row.") from None
        except UnicodeDecodeError:
            raise InvalidInput(f"{path.name} is not in UTF-8. Save it as UTF-8.") from None


def _check_header(header: list[str], source: str) -> None:
    for name in NEEDED:
        if name not in header:
            raise InvalidInput(
                f"{source} has no column {name!r}; it has: {', '.join(header) or 'nothing'}. The first line names the "
                f"columns: {', '.join(NEEDED)}, and target, time and comment where there are such."
            )
    for name, n in Counter(header).items():
        if n > 1 and name:
            raise InvalidInput(f"{source} has {n} columns named {name!r}. Keep one.")


def _why_left_out(cells: Mapping[str, str]) -> str | None:
    if cells.get("cannot_judge", "").strip().lower() == "true":
        return "cannot judge"
    if cells.get("current", "").strip().lower() == "false":
        return "superseded or withdrawn"
    if cells.get("complete", "").strip().lower() == "false":
        return "not complete"
    kind = cells.get("kind", "").strip()
    return None if kind in ("", "regular", "imported") else f"of kind {kind}"


def _label(cells: Mapping[str, str], line: int, where: str) -> ForeignLabel:
    given = {name: original(cells[name]).strip() for name in NEEDED}
    for name, value in given.items():
        if not value:
            raise InvalidInput(f"{where}: the cell of {name!r} is empty. Fill it, or leave the row out.")
    return ForeignLabel(
        line=line,
        item=given["item"],
        annotator=given["annotator"],
        criterion=given["criterion"],
        target=original(cells.get("target", "")).strip() or "item",
        value=given["value"],
        time=_time(cells.get("time", "").strip(), where),
        comment=original(cells.get("comment", "")).strip() or None,
    )


def _time(text: str, where: str) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{where}: {text!r} is no time. Write it like 2025-03-31T14:05:00Z, or leave it empty."
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


# Importing ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelTableImport:
    """What an import of a table did: the labels, the study, and (if it was inferred) how many bare items were added."""

    labels: LabelImport
    study_id: int
    inferred: Protocol | None
    items_added: int
    left_out: dict[str, int]

    def to_json(self) -> dict[str, Any]:
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
    table, and items that the project lacks are added as bare ones, with their id for a question. `scales` are
    `ordinal`, or `criterion=ordinal` for one of several (default nominal). Without `infer` an unknown study is
    NotFound and an unknown item InvalidInput.
    """
    table = read_label_table(path)
    targets = targets_in(table.rows, table.source)
    try:
        study_id = find_study(db, actor, project_id, name=study)
    except NotFound as error:
        if not infer:
            raise NotFound(f"{error} With --infer it is made from the table.") from None
        return _into_a_new_study(
            db, actor, project_id, study=study, table=table, columns=_columns(table, targets, scales)
        )
    if scales:
        raise InvalidInput(f"The study {study!r} is there and has its scales already. Leave --scale out.")
    names = {one["name"] for one in study_facts(db, actor, study_id).protocol["criteria"]}
    rows = [row if row.criterion in names else _renamed(row) for row in table.rows]
    labels = import_labels(db, actor, study_id, rows=rows, source=table.source)
    return LabelTableImport(labels, study_id, None, 0, dict(table.left_out))


def _renamed(row: ForeignLabel) -> ForeignLabel:
    return replace(row, criterion=criterion_name(row.criterion))


def _columns(table: LabelTable, targets: Mapping[str, Any], scales: Sequence[str]) -> list[LabelColumn]:
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
    report = import_items(db, actor, project_id, reading=_BareItems(table))
    if report.rejected:
        first = report.rejected[0]
        raise InvalidInput(f"{first.file}, line {first.line}: {first.reason}")
    made = create_study_of_labels(
        db, actor, project_id, name=study, protocol=protocol, items=list(by_item), overlap=overlap
    )
    rows = [_renamed(row) for row in table.rows]
    labels = import_labels(db, actor, made.study_id, rows=rows, source=table.source)
    return LabelTableImport(labels, made.study_id, protocol, report.added, dict(table.left_out))


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
