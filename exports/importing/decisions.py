"""Tables of labels of units, as an adjudicator decided them or as gold items have them: all stored, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotators.designing.design import StudyDesign, about, refuse
from annotators.designing.known import KnownItems, RightLabel
from annotators.errors import AssayError, InvalidInput, Problem
from db.adjudicating.tables import DecidedRow, TableDecided, adjudicate_table
from db.engine import Database
from db.permissions import Actor
from db.quality.gold import GoldRow, GoldSet, gold_rows, set_gold
from db.quality.qualification import QualificationSet, set_qualification
from db.studies.design import protocol_of, study_facts
from exports.reading.unit_tables import decided_units, right_units
from exports.sample import qualification_items


def read_decisions(path: Path) -> tuple[list[DecidedRow], list[Problem]]:
    """The rows of a table of decisions (`decided_units`), and those that are bad.

    Raises NotFound for a path that is not there, InvalidInput for one that is no such table or has no rows.
    """
    cells, problems = decided_units(path)
    said = ("reason", "cause", "confidence", "note")
    rows = [
        DecidedRow(
            line,
            found["item"],
            found["criterion"],
            _target(found),
            found["value"],
            other=found.get("other_item") or None,
            **{name: found.get(name) or None for name in said},
        )
        for line, found in cells
    ]
    return rows, problems


def read_gold(path: Path) -> tuple[list[GoldRow], list[Problem]]:
    """The rows of a table of right labels (`right_units`), and those that are bad.

    Raises NotFound for a path that is not there, InvalidInput for one that is no such table or has no rows.
    """
    cells, problems = right_units(path)
    rows = [
        GoldRow(
            line,
            found["item"],
            found["criterion"],
            _target(found),
            found["value"],
            explanation=found.get("explanation") or None,
            other=found.get("other_item") or None,
        )
        for line, found in cells
    ]
    return rows, problems


def with_labels(design: StudyDesign, folder: Path) -> StudyDesign:
    """The design with the right labels of the tables that it names by their paths, seen from the folder.

    Raises InvalidInput with everything that is wrong with them, and which fields of the design it is about; NotFound
    for a table that is not there.
    """
    wrong: list[AssayError] = []
    read: dict[str, KnownItems] = {}
    for name in ("gold", "qualification"):
        part: KnownItems | None = getattr(design, name)
        if part is None or part.file is None or part.labels:
            continue
        try:
            with about(name, "file"):
                rows, problems = read_gold(folder / part.file)
                if problems:
                    raise _bad_lines(part.file, problems, name)
                labels = tuple(
                    RightLabel(
                        item=row.item,
                        criterion=row.criterion,
                        target=row.target,
                        value=row.value,
                        explanation=row.explanation,
                        other_item=row.other,
                        line=row.line,
                    )
                    for row in rows
                )
            read[name] = part.model_copy(update={"labels": labels, "file": Path(part.file).name})
        except AssayError as error:
            wrong.append(error)
    refuse(wrong)
    return design.model_copy(update=read)


def _bad_lines(file: str, problems: Sequence[Problem], field: str) -> InvalidInput:
    said = [
        Problem(
            None, f"{file}, line {problem.line}: {problem.problem}", problem.remedy, (field, "file", problem.line or 0)
        )
        for problem in problems
    ]
    return InvalidInput("\n".join(f"{p.problem} {p.remedy}".strip() for p in said), said)


def _target(found: Mapping[str, str]) -> str:
    return found.get("target") or ("pair" if found.get("other_item") else "item")


def import_decisions(db: Database, actor: Actor, study_id: int, *, path: Path, again: bool = False) -> TableDecided:
    """Decide what a table says, in a study; every problem of the file is raised at once, and nothing is stored then."""
    rows, problems = read_decisions(path)
    return adjudicate_table(db, actor, study_id, rows=rows, again=again, problems=problems)


def import_gold(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    path: Path | None,
    labels: Sequence[RightLabel] = (),
    settled_in: int | None = None,
    rates: Mapping[str, Any] | None = None,
    reason: str,
) -> GoldSet:
    """Add the gold items of a table, and those that `labels` are of, to a study, as `set_gold` does.

    Every problem of the file is raised at once.
    """
    rows, problems = read_gold(path) if path is not None else ([], [])
    rows = [*rows, *gold_rows(labels)]
    return set_gold(
        db, actor, study_id, rows=rows, settled_in=settled_in, rates=rates, reason=reason, problems=problems
    )


def import_qualification(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    path: Path | None,
    mark: float | None,
    tries: int | None,
    reason: str,
    sample: bool = False,
) -> QualificationSet:
    """Add the qualification items of a table to a study, as `set_qualification` does; all problems at once.

    With `sample` those that the sample project has for the study's protocol, of items that the study does not have.
    """
    rows, problems = read_gold(path) if path is not None else ([], [])
    if not sample:
        return set_qualification(
            db, actor, study_id, rows=rows, mark=mark, tries=tries, reason=reason, problems=problems
        )
    protocol = protocol_of(study_facts(db, actor, study_id))
    known = [
        GoldRow(None, row["item"], row["criterion"], row["target"], str(row["value"]), row["explanation"], row["other"])
        for row in qualification_items(protocol)
    ]
    if path is not None or not known:
        wrong = "a file and --sample" if path is not None else f"no items to qualify by for {protocol.name!r}"
        raise InvalidInput(f"There are {wrong}. Give a file with items, or --sample for a protocol that has some.")
    return set_qualification(
        db, actor, study_id, rows=known, mark=mark, tries=tries, reason=reason, where_possible=True
    )
