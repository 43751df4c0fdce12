"""Gold items of a study: put among what annotators are given, with the right labels that theirs are held against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from annotators.asking.planting import Planting
from annotators.designing.known import RightLabel
from annotators.errors import InvalidInput, Problem, in_lines
from annotators.items.pairs import names_either_way
from annotators.items.sampling import Candidate, drawn_side
from annotators.items.targets import Units
from annotators.protocols import Protocol
from db.annotating.amendments import add_amendment, amended_study, lock_team, stated_reason
from db.annotating.planting import GoldGiven, gold_labels_given
from db.annotating.presentations import Wire, load_materials, materials_at, units_of
from db.engine import Database, dumps, insert_many
from db.models import Purpose, Study, StudyItem
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.studies.design import freeze_scores_of, protocol_of
from db.studies.items import items_of_study
from db.studies.selection import candidates
from db.studies.settlements import stream_settled


@dataclass(frozen=True)
class GoldRow:
    """The right label of one unit as a table gives it: its line (None: of no table), and the cells.

    `value` is a text to be parsed, unless it is `parsed` already. `other`: the second item of a pair.
    """

    line: int | None
    item: str
    criterion: str
    target: str
    value: Any
    explanation: str | None = None
    other: str | None = None
    parsed: bool = False


def gold_rows(labels: Sequence[RightLabel]) -> list[GoldRow]:
    """Right labels as rows of a table; a label's place among them is its line where it has none of its own."""
    return [
        GoldRow(
            label.line or place,
            label.item,
            label.criterion,
            label.target or ("pair" if label.other_item else "item"),
            str(label.value) if isinstance(label.value, str | int | float) else label.value,
            explanation=label.explanation,
            other=label.other_item,
            parsed=not isinstance(label.value, str | int | float),
        )
        for place, label in enumerate(labels, 1)
    ]


@dataclass(frozen=True)
class GoldSet:
    """What `set_gold` has done: items and labels that it added, how many gold items there are, and what is planted."""

    added: int
    labels: int
    items: int
    planting: Planting

    def to_json(self) -> dict[str, Any]:
        """As `assay study gold --json` prints it."""
        return {"added": self.added, "labels": self.labels, "items": self.items, **self.planting.to_settings()}


@operation(On.STUDY, RESEARCHERS)
def set_gold(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    rows: Sequence[GoldRow] = (),
    settled_in: int | None = None,
    rates: Mapping[str, Any] | None = None,
    reason: str,
    problems: Sequence[Problem] = (),
) -> GoldSet:
    """Add gold items to a study, and say how they and repeats are planted; an amendment, as the study may be under way.

    `settled_in`: another study of the project; what is settled there of items that this one does not have becomes gold,
    as far as both ask it. `rates` changes fields of `Planting`; the first gold items come in at a tenth where it names
    no rate. `problems` were found while the rows were read.

    Raises InvalidInput with all that is wrong at once: items that the project does not have, that are in the study's
    sample, or that are its gold items already; labels that do not fit the protocol or the item; rates that cannot be.
    Conflict for a study that is closed, or whose labels were made elsewhere.
    """
    why = stated_reason(reason)
    with db.write() as session:
        lock_team(session, study_id)
        study = amended_study(session, study_id)
        if settled_in is not None:
            rows = [*rows, *settled_rows(session, study, settled_in)]
        added, n_labels = add_known_items(session, study, rows, problems)
        before = _about(study)
        n_items = study.settings.get("gold_items", 0) + added
        changed = dict(rates or {})
        planting = replace(Planting.of(study.settings), **changed)
        if added and not before["gold_items"] and "gold_rate" not in changed:
            planting = replace(planting, gold_rate=0.1)
        planting.check()
        if planting.gold_rate and not n_items:
            raise InvalidInput(
                f"Gold items cannot come in at {planting.gold_rate:g}: the study has none. Give a file with some."
            )
        study.settings = {**study.settings, "planting": planting.to_settings(), "gold_items": n_items}
        after = _about(study)
        if after == before:
            raise InvalidInput("Nothing would change. Give a file with gold items, or a rate that differs.")
        add_amendment(session, actor, study, what="gold", before=before, after=after, reason=why)
        record(
            session, actor, "study amended", "study", study_id,
            project_id=study.project_id, details={"changes": [f"{added:,} gold items"], "reason": why, **after},
        )  # fmt: skip
        return GoldSet(added, n_labels, n_items, planting)


def _about(study: Study) -> dict[str, Any]:
    return {"gold_items": study.settings.get("gold_items", 0), **Planting.of(study.settings).to_settings()}


def settled_rows(session: Session, study: Study, other_id: int, *, sample: Collection[str] = ()) -> Iterator[GoldRow]:
    """What another study has settled of items that are not in this one, nor to be one of its `sample`."""
    other = session.get_one(Study, other_id)
    if other.project_id != study.project_id or other.id == study.id:
        raise InvalidInput(f"Study {other.name!r} cannot give gold items. Take another study of the same project.")
    protocol = protocol_of(study)
    if protocol.about_pairs != protocol_of(other).about_pairs:
        raise InvalidInput(f"Study {other.name!r} is not about the same: one of the two is about pairs of items.")
    asked = {criterion.name: criterion for criterion in protocol.criteria if criterion.compared}
    there = {*items_of_study(session, study.id or 0), *sample}
    n = 0
    for unit in stream_settled(session, other_id):
        criterion = asked.get(unit.criterion)
        if unit.state == "open" or criterion is None or criterion != protocol_of(other).criterion(criterion.name):
            continue
        second = unit.pair[0] if unit.pair else None
        if not names_either_way(unit.external_id, second) & there:
            n += 1
            yield GoldRow(None, unit.external_id, unit.criterion, unit.target, unit.value, other=second, parsed=True)
    if not n:
        raise InvalidInput(
            f"Study {other.name!r} gives no gold items: it has settled nothing that this study asks, of items that "
            "are not in its sample."
        )


# Adding ---------------------------------------------------------------------------------------------------------------


def add_known_items(
    session: Session,
    study: Study,
    rows: Sequence[GoldRow],
    problems: Sequence[Problem],
    purpose: Purpose = Purpose.GOLD,
    *,
    sample: Collection[str] = (),
) -> tuple[int, int]:
    """Add the items and right labels of the rows to a study, for a purpose: how many.

    InvalidInput with everything that is wrong: with an item that is in the study already as well, or is to be one of
    its `sample`.
    """
    wrong = list(problems)
    if not rows and not wrong:
        return 0, 0
    protocol = protocol_of(study)
    by_name = _by_name(session, study, protocol, rows, wrong=wrong, sample=sample)
    placed = _insert_items(session, study, list(by_name), purpose)
    labels = list(_labels(session, protocol, by_name, placed, wrong))
    if wrong:
        ordered = sorted(wrong, key=lambda problem: problem.line or 0)
        raise InvalidInput(in_lines(f"No {purpose} item was added:", ordered), ordered)
    columns = ["study_item_id", "criterion", "target", "value", "explanation"]
    insert_many(session.connection(), "gold_label", columns, labels)
    freeze_scores_of(session, study, list(placed.values()))
    return len(placed), len(labels)


def possible_rows(session: Session, study: Study, rows: Sequence[GoldRow]) -> list[GoldRow]:
    """Those rows that are about items which the project has, and which have no place in the study yet."""
    assert study.id is not None
    known = {candidate.external_id for candidate in candidates(session, study.project_id)}
    purposes = (Purpose.SAMPLE, Purpose.GOLD, Purpose.QUALIFICATION)
    taken = {name for purpose in purposes for name in items_of_study(session, study.id, purpose=purpose)}
    return [
        row
        for row in rows
        if {row.item, row.other or row.item} <= known and not taken & names_either_way(row.item, row.other)
    ]


def _by_name(
    session: Session,
    study: Study,
    protocol: Protocol,
    rows: Sequence[GoldRow],
    *,
    wrong: list[Problem],
    sample: Collection[str],
) -> dict[Candidate, list[GoldRow]]:
    """The items (or pairs) that rows are about → their rows; what cannot be a gold item goes to `wrong`."""
    assert study.id is not None
    known = {candidate.external_id: candidate for candidate in candidates(session, study.project_id)}
    there = {*items_of_study(session, study.id, purpose=Purpose.SAMPLE), *sample}
    gold = {
        name: of
        for of in (Purpose.GOLD, Purpose.QUALIFICATION)
        for name in items_of_study(session, study.id, purpose=of)
    }
    found: dict[Candidate, list[GoldRow]] = defaultdict(list)
    for row in rows:
        names = (row.item, row.other) if row.other else (row.item,)
        missing = next((name for name in names if name not in known), None)
        if protocol.about_pairs != bool(row.other):
            about = "is about pairs: name the second item in a column other_item"
            about = about if protocol.about_pairs else "is not about pairs: leave the column other_item out"
            wrong.append(Problem.of(f"{row.item!r} does not fit. The study {about}.", line=row.line))
        elif missing is not None:
            wrong.append(
                Problem.of(f"The project has no item {missing!r}. Correct its id, or import it.", line=row.line)
            )
        elif there & names_either_way(row.item, row.other):
            remedy = "Leave its rows out: items whose labels are known are others than those that are asked about."
            wrong.append(Problem.of(f"Item {row.item!r} is in the study's sample. {remedy}", line=row.line))
        elif there_already := gold.keys() & names_either_way(row.item, row.other):
            of = gold[there_already.pop()]
            wrong.append(Problem.of(f"Item {row.item!r} is a {of} item already. Leave its rows out.", line=row.line))
        else:
            first, other = known[row.item], known[row.other] if row.other else None
            if other is None:
                found[first].append(row)
            elif other.question_key != first.question_key or other == first:
                remedy = "Pair two answers to the same question."
                wrong.append(Problem.of(f"{row.item!r} and {row.other!r} are no pair. {remedy}", line=row.line))
            else:
                turned = drawn_side(replace(other, other=first), study.seed)
                found[turned if turned in found else drawn_side(replace(first, other=other), study.seed)].append(row)
    return dict(found)


def _insert_items(session: Session, study: Study, items: Sequence[Candidate], purpose: Purpose) -> dict[Candidate, int]:
    """Add the items behind all others; item → study item."""
    last = select(func.max(col(StudyItem.position))).where(StudyItem.study_id == study.id)
    begin = 1 + (-1 if (highest := session.exec(last).one()) is None else highest)
    added = [
        StudyItem(
            study_id=study.id or 0,
            item_version_id=item.version_id,
            position=position,
            other_version_id=None if item.other is None else item.other.version_id,
            other_left=item.other_left,
            purpose=purpose.value,
        )
        for position, item in enumerate(items, begin)
    ]
    session.add_all(added)
    session.flush()
    return {item: row.id or 0 for item, row in zip(items, added, strict=True)}


def _labels(
    session: Session,
    protocol: Protocol,
    by_name: Mapping[Candidate, Sequence[GoldRow]],
    placed: Mapping[Candidate, int],
    wrong: list[Problem],
) -> Iterator[tuple[Any, ...]]:
    """The labels as they are stored; what does not fit goes to `wrong`."""
    criteria = {criterion.name: criterion for criterion in protocol.criteria}
    last = len(protocol.steps) - 1
    # Not by `units_at`, which keeps them: an item of a file that is refused leaves its id to another.
    loaded = load_materials(session, placed.values(), protocol.shown_at(last), pairs=protocol.about_pairs)
    for item, rows in by_name.items():
        materials = loaded[placed[item]]
        shown = materials_at(materials, protocol, last)
        units: Units = units_of(shown, Wire(materials.item, roles_shown=True))
        seen: dict[tuple[str, str], int | None] = {}
        for given in rows:
            row = replace(given, criterion=protocol.name_of(given.criterion))
            try:
                criterion = criteria.get(row.criterion)
                if criterion is None:
                    known = ", ".join(criteria)
                    raise InvalidInput(f"{row.criterion!r} is no criterion of the protocol. Take one of: {known}.")
                if not criterion.compared:
                    raise InvalidInput(f"Labels of {criterion.title} are texts, and none is right. Leave them out.")
                if row.target not in criterion.targets(units):
                    there = ", ".join(list(criterion.targets(units))[:10]) or "none"
                    raise InvalidInput(
                        f"{criterion.title} is not asked of {row.target!r} of item {row.item!r}. Targets: {there}."
                    )
                if (row.criterion, row.target) in seen:
                    first = seen[row.criterion, row.target]
                    raise InvalidInput(
                        f"{row.criterion!r} of {row.target!r} of {row.item!r} is in line {first} already. Keep one."
                    )
                seen[row.criterion, row.target] = row.line
                value = criterion.check(row.value if row.parsed else criterion.parse(row.value), units)
                value = criterion.turned(value) if row.other and row.item != item.external_id else value
                yield placed[item], row.criterion, row.target, dumps(value), row.explanation or None
            except InvalidInput as error:
                wrong.append(Problem.of(str(error), line=row.line))


# Reading --------------------------------------------------------------------------------------------------------------


@operation(On.STUDY, READERS)
def gold_given(db: Database, _actor: Actor, study_id: int) -> list[GoldGiven]:
    """What annotators said of the units of gold items beside the right labels, oldest annotation first."""
    with db.read() as session:
        return list(gold_labels_given(session.connection(), study_id))
