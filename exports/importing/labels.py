"""Tables of labels that were made elsewhere, imported into a study, which can be inferred from the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from annotators.asking.inferred_protocols import LabelColumn, criterion_name, infer_protocol, planned_overlap
from annotators.errors import InvalidInput, NotFound
from annotators.figures import count
from annotators.items.normal import read_item
from annotators.items.parsed import ForeignLabel, ParsedDocument, ParsedItem, Rejected, faults_in
from annotators.protocols import Protocol
from db.elsewhere.foreign import import_study_of_labels, plan_study_of_labels
from db.elsewhere.labels import LabelImport, LabelPlan, import_labels, plan_labels, targets_in
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation
from db.studies.design import find_study, study_facts
from exports.checks import MAY_BE_INFERRED, check_inferable
from exports.columns.columns import at_lines
from exports.columns.mapping import AS_IT_IS, TableMapping
from exports.formats.labels import LabelTable, read_labels
from exports.garbage import seldom_collected


@dataclass(frozen=True)
class LabelTableImport:
    """What an import of a table did: the labels, the study, and (if it was inferred) how many bare items were added."""

    labels: LabelImport
    study_id: int
    inferred: Protocol | None
    items_added: int
    left_out: dict[str, int]
    notes: list[str]
    read: list[str]
    cautions: list[str]

    def to_json(self) -> dict[str, object]:
        """As `assay labels import --json` prints it."""
        return {
            **self.labels.to_json(),
            "study_id": self.study_id,
            "inferred": self.inferred is not None,
            "criteria": [criterion.name for criterion in self.inferred.criteria] if self.inferred else None,
            "items_added": self.items_added,
            "left_out": self.left_out,
            "notes": self.notes,
            "read": self.read,
            "cautions": self.cautions,
        }


@dataclass(frozen=True)
class TableCriterion:
    """One criterion of a table: what it is called there and in the study, what its values are and how often."""

    column: str
    name: str
    target: str
    scale: str
    values: list[tuple[str, int]]

    @property
    def numeric(self) -> bool:
        """Whether every value is a number, so that an order could be read off them."""
        return all(re.fullmatch(r"[-+]?\d+(\.\d+)?", value) for value, _ in self.values)


@dataclass(frozen=True)
class LabelTablePlan:
    """What importing a table would do: `plan` counts as the import does; nothing is stored while `obstacles` stand.

    `columns` are those of the table that are read, `ignored` the others. With `inferred` the study would be made.
    `items_added` are the bare items that would be made.
    """

    plan: LabelPlan
    columns: list[str]
    ignored: list[str]
    criteria: list[TableCriterion]
    inferred: Protocol | None
    items_added: int
    left_out: dict[str, int]
    notes: list[str]
    read: list[str]
    cautions: list[str]

    @property
    def obstacles(self) -> list[str]:
        """Why the import would be refused, a sentence each; empty when it can be done."""
        found = [f"{at_lines(lines)}: {reason}" for (_, reason), lines in faults_in(self.plan.problems).items()]
        missing = len(self.plan.unmatched) - self.items_added
        if missing:
            where = "project" if self.inferred else "study"
            remedy = "Import them first, or ask for bare items" if self.inferred else "Take a study that has them"
            found.append(
                f"{missing:,} of {missing + len(self.plan.matched):,} items are not in the {where}: "
                f"{shortened(self.plan.unmatched)}. {remedy}, or leave their rows out."
            )
        if not self.plan.labels and not found:
            found.append("The table has no labels. Check that it is the right file.")
        return found

    def to_json(self) -> dict[str, object]:
        """As `assay labels import --dry-run --json` prints it: the import's document and what is known beforehand."""
        return {
            **self.plan.to_json(),
            "study_id": None,
            "inferred": self.inferred is not None,
            "criteria": [criterion.name for criterion in self.inferred.criteria] if self.inferred else None,
            "items_added": self.items_added,
            "left_out": self.left_out,
            "notes": self.notes,
            "read": self.read,
            "cautions": self.cautions,
            "columns": self.columns,
            "columns_ignored": self.ignored,
            "values": {criterion.name: dict(criterion.values) for criterion in self.criteria},
            "obstacles": self.obstacles,
        }


def shortened(names: Sequence[str], most: int = 5) -> str:
    """The first names of a list, and how many more there are."""
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


@operation(On.PROJECT, RESEARCHERS)
@seldom_collected()
def plan_label_table(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    study: str,
    path: Path,
    infer: bool = False,
    bare_items: bool = False,
    scales: Sequence[str] = (),
    overlap: int | None = None,
    mapping: TableMapping = AS_IT_IS,
) -> LabelTablePlan:
    """What `import_label_table` would do; nothing is written.

    Raises NotFound and InvalidInput where there is no telling: no such study, no such table, a protocol that cannot be
    inferred. What is wrong with rows and items stands in the plan.
    """
    into = _into(db, actor, project_id, study, infer=infer)
    table = read_labels(path, mapping, declared=into.declared)
    if not table.rows:
        table.checked()
    ready = _ready(study, table, into, scales=scales, overlap=overlap)
    protocol = ready.protocol
    if ready.study_id is None:
        items = _BareItems(table)
        plan = plan_study_of_labels(db, actor, project_id, protocol=protocol, items=items, rows=ready.rows)
    else:
        plan = plan_labels(db, actor, ready.study_id, rows=ready.rows, source=table.source)
    return LabelTablePlan(
        replace(plan, problems=sorted([*table.rejected, *plan.problems], key=lambda problem: problem.line)),
        table.columns,
        table.ignored,
        _criteria(ready),
        protocol if ready.study_id is None else None,
        len(plan.unmatched) if ready.study_id is None and bare_items else 0,
        dict(table.left_out),
        _notes(table, ready),
        table.read,
        table.cautions,
    )


@dataclass(frozen=True)
class _Ready:
    """A table that was read, and what it is to be stored as: both the preview and the import begin with it.

    `study_id` is None where the study is to be made. `values` are those of each criterion of the table, in the order in
    which they first appear, and how often; `rows` have the names that the protocol has for the criteria.
    """

    values: dict[str, Counter[str]]
    study_id: int | None
    protocol: Protocol
    rows: list[ForeignLabel]


@dataclass(frozen=True)
class _Into:
    """The study that labels go into, and what it asks; both None where it is to be made."""

    study_id: int | None
    protocol: Protocol | None

    @property
    def declared(self) -> dict[str, set[str]]:
        """By criterion the labels that it has: one that looks like a word for missing is a label all the same."""
        criteria = self.protocol.criteria if self.protocol else ()
        return {criterion.name: {str(label.value) for label in criterion.label_list()} for criterion in criteria}


def _into(db: Database, actor: Actor, project_id: int, study: str, *, infer: bool) -> _Into:
    study_id = _study_there(db, actor, project_id, study, infer=infer)
    if study_id is None:
        return _Into(None, None)
    return _Into(study_id, Protocol.model_validate(study_facts(db, actor, study_id).protocol))


def _ready(study: str, table: LabelTable, into: _Into, *, scales: Sequence[str], overlap: int | None) -> _Ready:
    counted = Counter((row.criterion, row.value) for row in table.rows)
    values: dict[str, Counter[str]] = {}
    for (criterion, value), n in counted.items():
        values.setdefault(criterion, Counter())[value] = n
    protocol = into.protocol or _inferred(study, table, _columns(table, values, scales), overlap)
    names = {criterion.name for criterion in protocol.criteria}
    rows = [
        row if row.criterion in names else row._replace(criterion=criterion_name(row.criterion)) for row in table.rows
    ]
    return _Ready(values, into.study_id, protocol, rows)


def _criteria(ready: _Ready) -> list[TableCriterion]:
    """The criteria of the table in the order in which they first appear.

    Their values are in the order of the scale; where none is known, the most frequent first.
    """
    by_name = {criterion.name: criterion for criterion in ready.protocol.criteria}
    found = []
    for column, values in ready.values.items():
        name = column if column in by_name else criterion_name(column)
        known = by_name.get(name)
        target, scale = (str(known.target), known.scale) if known else ("", "not in the protocol")
        often = [value for value, _ in values.most_common()]
        in_order = known.in_order(often) if known else often
        found.append(TableCriterion(column, name, target, scale, [(value, values[value]) for value in in_order]))
    return found


@operation(On.PROJECT, RESEARCHERS)
@seldom_collected()
def import_label_table(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    study: str,
    path: Path,
    infer: bool = False,
    bare_items: bool = False,
    scales: Sequence[str] = (),
    overlap: int | None = None,
    mapping: TableMapping = AS_IT_IS,
) -> LabelTableImport:
    """Import a table of labels into the study of this name.

    With `infer`, and no such study, it is made: its protocol is inferred from the table and its items are those of the
    table. Items that the project lacks are NotFound, or (`bare_items`) added with their id for a question. `scales` are
    texts `ordinal`, or `criterion=ordinal` for one of several (default nominal); a study that is there keeps its own.
    `overlap` is how many annotations settle an item of a study that is made (`planned_overlap`). `mapping` says which
    column is what, and how values are read.
    Without `infer` an unknown study is NotFound, and an item that the study lacks is InvalidInput.
    """
    into = _into(db, actor, project_id, study, infer=infer)
    table = read_labels(path, mapping, declared=into.declared)
    table.checked()
    ready = _ready(study, table, into, scales=scales, overlap=overlap)
    if ready.study_id is not None:
        labels = import_labels(db, actor, ready.study_id, rows=ready.rows, source=table.source)
        return LabelTableImport(
            labels, ready.study_id, None, 0, dict(table.left_out), _notes(table, ready), table.read, table.cautions
        )
    made = import_study_of_labels(
        db,
        actor,
        project_id,
        name=study,
        protocol=ready.protocol,
        overlap=ready.protocol.overlap,
        items=_BareItems(table),
        rows=ready.rows,
        add_missing=bare_items,
    )
    return LabelTableImport(
        made.labels, made.study_id, ready.protocol, made.items_added, dict(table.left_out), _notes(table, ready),
        table.read, table.cautions,
    )  # fmt: skip


def _study_there(db: Database, actor: Actor, project_id: int, study: str, *, infer: bool) -> int | None:
    try:
        return find_study(db, actor, project_id, name=study)
    except NotFound as error:
        if infer:
            return None
        raise NotFound(f"{error} {MAY_BE_INFERRED}") from None


def _columns(table: LabelTable, values: Mapping[str, Counter[str]], scales: Sequence[str]) -> list[LabelColumn]:
    """The criteria of the table in the order in which they first appear."""
    targets = targets_in(table.rows, table.source)
    per_hop = {row.criterion for row in table.rows if "|hop:" in row.target}
    chosen = _scales(scales, list(values))
    items: dict[str, set[str]] = {}
    for row in table.rows:
        items.setdefault(row.criterion, set()).add(row.name)
    n_items = len({row.name for row in table.rows})
    return [
        LabelColumn(
            value, list(values[value]), chosen[value], targets[value], value in per_hop, len(items[value]) == n_items
        )
        for value in values
    ]


_Scale = Literal["nominal", "ordinal", "interval"]


def _scales(given: Sequence[str], criteria: list[str]) -> dict[str, _Scale]:
    """Criterion → scale, from texts `ordinal` and `criterion=ordinal`."""
    by_name: dict[str, str] = {}
    default = "nominal"
    for text in given:
        name, equals, scale = text.rpartition("=")
        check_inferable(scale)
        if not equals:
            default = scale
        elif name in criteria:
            by_name[name] = scale
        else:
            raise InvalidInput(f"The table has no criterion {name!r}. It has: {', '.join(criteria)}.")
    return {criterion: cast(_Scale, by_name.get(criterion, default)) for criterion in criteria}


def _inferred(study: str, table: LabelTable, columns: list[LabelColumn], overlap: int | None) -> Protocol:
    if overlap is not None and overlap < 1:
        raise InvalidInput(f"With an overlap of {overlap} no label would be wanted of an item. Give at least 1.")
    return infer_protocol(study, columns, overlap=overlap or planned_overlap(_annotators(table).values()))


def _annotators(table: LabelTable) -> dict[str, int]:
    """Item → how many annotators have labelled it."""
    by_item: dict[str, set[str]] = {}
    for row in table.rows:
        by_item.setdefault(row.name, set()).add(row.annotator)
    return {item: len(annotators) for item, annotators in by_item.items()}


def _notes(table: LabelTable, ready: _Ready) -> list[str]:
    """What is said of the table, and of a new study which of its items lack annotations."""
    said = table.notes()
    if ready.study_id is not None:
        return said
    wanted = ready.protocol.overlap
    short = [item for item, n in _annotators(table).items() if n < wanted]
    if not short:
        return said
    return [
        *said,
        f"An item is settled by {count(wanted, 'annotation')}; {len(short):,} of {len(_annotators(table)):,} items "
        f"have fewer, and stay open: {shortened(short)}. An overlap that is given says otherwise.",
    ]


class _BareItems:
    """The items of a table of labels, of which nothing is known but their ids. One that is there stays as it is."""

    format = "labels"

    def __init__(self, table: LabelTable) -> None:
        self.source = table.source
        self._lines: dict[str, int] = {}
        for row in table.rows:
            self._lines.setdefault(row.item, row.line)
            if row.other:
                self._lines.setdefault(row.other, row.line)

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """There are none."""
        return iter(())

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """One for each id, in the order of the table."""
        for item, line in self._lines.items():
            try:
                yield ParsedItem(self.source, line, read_item({"id": item, "question": item}))
            except InvalidInput as error:
                yield Rejected(self.source, line, str(error))

    def notes(self) -> Sequence[str]:
        """There are none."""
        return ()
