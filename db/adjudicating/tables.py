"""Many decisions at once, of a table: all of them are stored, or none."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlmodel import Session, col, select

from annotators.errors import AssayError, Conflict, InvalidInput, NotAllowed, Problem, in_lines
from annotators.items.pairs import BETWEEN, pair_name
from annotators.protocols import Protocol
from db.adjudicating.adjudications import (
    Misfit,
    OpenItem,
    UnitDecision,
    checked_decisions,
    open_item,
    store_decisions,
)
from db.adjudicating.stages import is_double
from db.engine import Database, dumps
from db.models import AdjudicatedLabel, Adjudication, Study
from db.permissions import ADJUDICATORS, Actor, On, operation
from db.studies.design import protocol_of
from db.studies.items import places_of_study
from db.studies.tallies import Tallies


@dataclass(frozen=True)
class DecidedRow:
    """A row of a table of decisions: its line, and the cells as texts."""

    line: int
    item: str
    criterion: str
    target: str
    value: str
    reason: str | None = None
    other: str | None = None
    cause: str | None = None
    confidence: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class TableDecided:
    """What a table has decided: items and units, units against a majority, and items that stood so already."""

    items: int
    units: int
    overruled: int
    unchanged: int

    def to_json(self) -> dict[str, int]:
        """As `assay adjudicate --json` prints it."""
        return {
            "items": self.items,
            "units": self.units,
            "overruled": self.overruled,
            "unchanged": self.unchanged,
        }


@dataclass
class _Decided:
    """What a table says of one item: the decisions, and the line of each."""

    first: int
    decisions: list[UnitDecision]
    lines: dict[tuple[str, str], int]


@operation(On.STUDY, ADJUDICATORS)
def adjudicate_table(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    rows: Sequence[DecidedRow],
    again: bool = False,
    problems: Sequence[Problem] = (),
) -> TableDecided:
    """Decide items as the rows say, by the rules of `adjudicate`; every disputed unit of an item has to be there.

    An item whose last round is the same decisions by the same person stays as it is. `problems` were found while the
    rows were read. All that is wrong, with lines, is raised at once: as NotAllowed or Conflict where nothing else is
    wrong, else as InvalidInput.
    """
    with db.write() as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        found, wrong = _by_item(rows, protocol, places_of_study(session, study_id))
        refused: list[type[AssayError]] = [InvalidInput] * (len(wrong) + len(problems))
        wrong = [*problems, *wrong]
        counts = {"items": 0, "units": 0, "overruled": 0, "unchanged": 0}
        kept = Tallies(study_id)
        for study_item_id in sorted(found):
            decided = found[study_item_id]
            digest = _digest(actor, study_item_id, decided.decisions)
            if _stands(session, actor, study, study_item_id, digest=digest):
                counts["unchanged"] += 1
                continue
            try:
                opened, final = _checked(session, actor, study, study_item_id, decided=decided, again=again)
            except _Wrong as error:
                wrong += error.problems
                refused += [InvalidInput] * len(error.problems)
                continue
            except (Conflict, NotAllowed) as error:
                wrong.append(Problem.of(str(error), line=decided.first))
                refused.append(type(error))
                continue
            if not wrong:
                _store(session, actor, study, opened, digest=digest, final=final, kept=kept)
            counts["items"] += 1
            counts["units"] += len(final)
            counts["overruled"] += sum(label.overrules for label in final)
        if wrong:
            _refuse(wrong, refused)
        kept.write(session.connection())
        return TableDecided(**counts)


class _Wrong(Exception):
    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems


def _refuse(wrong: Sequence[Problem], refused: Sequence[type[AssayError]]) -> None:
    message = in_lines("Nothing was decided:", wrong)
    kinds = set(refused)
    if kinds in ({Conflict}, {NotAllowed}):
        raise kinds.pop()(message)
    raise InvalidInput(message, sorted(wrong, key=lambda problem: problem.line or 0))


def _by_item(
    rows: Sequence[DecidedRow], protocol: Protocol, items: Mapping[str, int]
) -> tuple[dict[int, _Decided], list[Problem]]:
    """Study item → what is decided of it; and the rows that are about nothing there is, or no value of a criterion."""
    criteria = {criterion.name: criterion for criterion in protocol.criteria}
    pairs: dict[str, list[str]] = defaultdict(list)
    for name in items:
        pairs[name.partition(BETWEEN)[0]].append(name)
    found: dict[int, _Decided] = {}
    wrong: list[Problem] = []
    for given in rows:
        row = replace(given, criterion=protocol.name_of(given.criterion))
        study_item_id, turned = _place(row, items, pairs)
        if study_item_id is None:
            wrong.append(Problem.of(_not_there(row, pairs), line=row.line))
            continue
        decided = found.setdefault(study_item_id, _Decided(row.line, [], {}))
        unit = (row.criterion, row.target)
        first = decided.lines.setdefault(unit, row.line)
        if first != row.line:
            twice = f"{row.criterion!r} of {row.target!r} is decided in line {first} already. Keep one of the two."
            wrong.append(Problem.of(twice, line=row.line))
            continue
        criterion = criteria.get(row.criterion)
        value: Any = None
        try:
            if criterion is None:
                known = ", ".join(criteria)
                raise InvalidInput(f"{row.criterion!r} is no criterion of the protocol. Take one of: {known}.")
            value = criterion.parse(row.value)
        except InvalidInput as error:
            wrong.append(Problem.of(str(error), line=row.line))
            decided.decisions.append(_decision(row, _UNREADABLE))
            continue
        value = criterion.turned(value) if turned else value
        decided.decisions.append(_decision(row, value))
    return found, wrong


_UNREADABLE = object()
"""Stands for a value that was refused, so that its unit is not called undecided as well."""


def _decision(row: DecidedRow, value: Any) -> UnitDecision:
    return UnitDecision(row.criterion, row.target, value, row.reason, row.cause, row.confidence, row.note)


def _place(row: DecidedRow, items: Mapping[str, int], pairs: Mapping[str, list[str]]) -> tuple[int | None, bool]:
    """The study item that a row is about, and whether it names the pair the other way round."""
    if row.other:
        turned = items.get(pair_name(row.other, row.item))
        return items.get(pair_name(row.item, row.other), turned), pair_name(row.item, row.other) not in items
    named = pairs.get(row.item, [])
    return (items[named[0]] if len(named) == 1 else None), False


def _not_there(row: DecidedRow, pairs: Mapping[str, list[str]]) -> str:
    if not row.other and len(pairs.get(row.item, [])) > 1:
        return f"item {row.item!r} is in several pairs of the study. Name the other one in a column other_item."
    other = f" beside {row.other!r}" if row.other else ""
    return f"item {row.item!r}{other} is not in the study. Correct its id, or leave its rows out."


def _checked(
    session: Session,
    actor: Actor,
    study: Study,
    study_item_id: int,
    *,
    decided: _Decided,
    again: bool,
) -> tuple[OpenItem, list[AdjudicatedLabel]]:
    """What is to be stored of an item; _Wrong, Conflict or NotAllowed where it cannot be."""
    protocol = protocol_of(study)
    opened = open_item(session, study, study_item_id, actor, again=again)
    readable = [decision for decision in decided.decisions if decision.value is not _UNREADABLE]
    final, misfits = checked_decisions(session, study, protocol, opened, decisions=readable)
    undecided = len(readable) < len(decided.decisions)
    if problems := [
        Problem.of(_words(misfit), line=decided.lines.get(misfit.unit, decided.first) if misfit.unit else decided.first)
        for misfit in misfits
        if misfit.unit is not None or not undecided
    ]:
        raise _Wrong(problems)
    return opened, final


def _words(misfit: Misfit) -> str:
    return misfit.reason if misfit.unit else f"{misfit.reason} Add a row for each."


def _digest(actor: Actor, study_item_id: int, decisions: Sequence[UnitDecision]) -> str:
    """What the same decisions of the same person about the same item have in common."""
    said = sorted([repr(getattr(decision, part.name)) for part in fields(decision)] for decision in decisions)
    return hashlib.sha256(dumps([actor.person_id, study_item_id, said]).encode()).hexdigest()[:40]


def _last(session: Session, study_item_id: int, *conditions: Any) -> Adjudication | None:
    query = select(Adjudication).where(Adjudication.study_item_id == study_item_id, *conditions)
    return session.exec(query.order_by(col(Adjudication.round).desc())).first()


def _stands(session: Session, actor: Actor, study: Study, study_item_id: int, *, digest: str) -> bool:
    """Whether the last decision of the item is this one; of two who decide blind it is each one's own last."""
    own = [Adjudication.person_id == actor.person_id] if is_double(study) else []
    last = _last(session, study_item_id, *own)
    return last is not None and last.uid.startswith(f"table-{digest}-")


def _store(
    session: Session,
    actor: Actor,
    study: Study,
    opened: OpenItem,
    *,
    digest: str,
    final: Sequence[AdjudicatedLabel],
    kept: Tallies,
) -> None:
    last = _last(session, opened.settlement.study_item_id)
    uid = f"table-{digest}-{last.round if last else 0}"
    store_decisions(session, actor, study, opened, uid=uid, final=final, counts=kept)
