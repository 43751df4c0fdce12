"""Where everything of a study stands, worked out anew from its rows in plain Python, without a thought of speed.

The database is held to it by `test_ledger.py`. It shares no code with what it checks: whoever changes the rules of
settling has to say them here once more.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, NamedTuple

from sqlalchemy import text

from annotators.protocols import Protocol
from db.engine import Database
from db.models import Study
from db.studies.design import protocol_of

Unit = tuple[str, str]


class PlaceModel(NamedTuple):
    """A study item: its state, counting annotations, final labels, open units, and open slots that it should have."""

    state: str
    n: int
    final: dict[Unit, Any]
    open: set[Unit]
    slots: int


class StudyModel(NamedTuple):
    """A study: its places by study item, and the state of each of its items by external id."""

    places: dict[int, PlaceModel]
    items: dict[str, str]


class _Rows:
    """Every table that matters, as lists of rows."""

    def __init__(self, database: Database, study_id: int) -> None:
        tables = (
            *("annotation", "label", "set_aside", "withdrawal", "adjudication", "adjudicated_label", "study_item"),
            *("item_version", "item", "item_ending", "revision", "amendment", "assignment", "settlement"),
        )
        with database.read() as session:
            study = session.get_one(Study, study_id)
            self.protocol: Protocol = protocol_of(study)
            self.overlap, self.rule, self.state = study.overlap, study.rule, study.state
            self.settings = dict(study.settings)
            self.study_id = study_id
            self.of = {
                table: [_decoded(row._mapping, database) for row in session.execute(text(f"SELECT * FROM {table}"))]
                for table in tables
            }


def _decoded(row: Any, database: Database) -> dict[str, Any]:
    """The row with its JSON as it is; SQLite gives it as text."""
    found = dict(row)
    for name in ("value", "criteria", "invalidates", "before", "after"):
        if database.is_sqlite and isinstance(found.get(name), str):
            found[name] = json.loads(found[name])
    return found


def model(database: Database, study_id: int) -> StudyModel:
    """Work all of it out."""
    rows = _Rows(database, study_id)
    withdrawn = _withdrawn(rows)
    aside = {row["annotation_id"]: row["kind"] for row in rows.of["set_aside"]}
    superseded = {row["supersedes_id"] for row in rows.of["annotation"]}
    given: dict[int, list[Any]] = defaultdict(list)
    surplus: dict[int, list[Any]] = defaultdict(list)
    ever: dict[int, int] = defaultdict(int)
    for row in rows.of["annotation"]:
        if row["study_id"] == study_id and row["kind"] in ("regular", "imported") and row["id"] not in superseded:
            ever[row["study_item_id"]] += 1
            if row["batch_id"] not in withdrawn:
                kind = aside.get(row["id"])
                if kind is None:
                    given[row["study_item_id"]].append(row)
                elif kind == "surplus":
                    surplus[row["study_item_id"]].append(row)
    places = {}
    mine = [row for row in rows.of["study_item"] if row["study_id"] == study_id]
    mine = [row for row in mine if row["purpose"] in ("sample", "recheck")]
    for row in mine:
        of = row["id"]
        room = _room(rows, row, ever=ever[of], withdrawn=withdrawn)
        counting = given[of] + sorted(surplus[of], key=lambda annotation: annotation["id"])[: max(0, room)]
        places[of] = _place(rows, row, counting, ever=ever[of], withdrawn=withdrawn)
    return StudyModel(places, _items(rows, mine, places))


def _withdrawn(rows: _Rows) -> set[int]:
    last = {row["batch_id"]: row["reinstates"] for row in sorted(rows.of["withdrawal"], key=lambda row: row["id"])}
    return {batch for batch, reinstates in last.items() if not reinstates}


def _decided(rows: _Rows, study_item_id: int) -> tuple[dict[Unit, Any], dict[Unit, list[Any]]]:
    """What stands decided: of the last final round that says it, else what two blind ones say alike.

    And what these two say of a unit that they do not decide alike: it stands if it is what the votes say, to which the
    other left it.
    """
    labels = defaultdict(dict)
    for row in rows.of["adjudicated_label"]:
        labels[row["adjudication_id"]][row["criterion"], row["target"]] = row["value"]
    blind: dict[str, dict[Unit, Any]] = {}
    final: dict[Unit, Any] = {}
    acts = [row for row in rows.of["adjudication"] if row["study_item_id"] == study_item_id]
    for act in sorted(acts, key=lambda row: row["round"]):
        if act["stage"] == "final":
            final |= labels[act["id"]]
        else:
            blind[act["stage"]] = labels[act["id"]]
    first, second = blind.get("first", {}), blind.get("second", {})
    alike = {unit: value for unit, value in first.items() if second.get(unit) == value}
    said = {}
    if len(blind) == 2:
        for unit in (first.keys() | second.keys()) - alike.keys() - final.keys():
            said[unit] = [values[unit] for values in (first, second) if unit in values]
    return alike | final, said


def _votes(rows: _Rows, given: list[Any]) -> tuple[dict[Unit, list[Any]], set[Unit]]:
    """Unit → values; and all units that anybody said anything of."""
    places = {(row["assignment_id"], row["sitting"]) for row in given}
    votes: dict[Unit, list[Any]] = defaultdict(list)
    touched: set[Unit] = set()
    for row in rows.of["label"]:
        if (row["assignment_id"], row["sitting"]) in places:
            touched.add((row["criterion"], row["target"]))
            if not row["cannot_judge"]:
                votes[row["criterion"], row["target"]].append(row["value"])
    return votes, touched


def _plan(rows: _Rows, place: Any, ever: int) -> tuple[int, int]:
    """How many annotations a place has to have as it was designed; and of one that came back, at most those it had."""
    own = place["overlap"]
    plan = own if own and place["purpose"] == "recheck" else max(rows.overlap, own or 0)
    came_back = any(row["earlier_id"] == place["id"] for row in rows.of["study_item"])
    return plan, min(plan, ever) if came_back else plan


def _room(rows: _Rows, place: Any, *, ever: int, withdrawn: set[int]) -> int:
    """How many annotations the place is short of: so many of those that found no slot count, the earliest first."""
    return _plan(rows, place, ever)[1] - _taken(rows, place, withdrawn)


def _place(rows: _Rows, place: Any, given: list[Any], *, ever: int, withdrawn: set[int]) -> PlaceModel:
    later = {row["earlier_id"] for row in rows.of["study_item"]}
    asks = place["criteria"]
    votes, touched = _votes(rows, given)
    (decided, said), n = _decided(rows, place["id"]), len(given)
    plan, planned = _plan(rows, place, ever)

    def settled(unit: Unit) -> Any:
        values = votes[unit]
        for value in values:
            n_alike = values.count(value)
            if n_alike > n / 2 and (rows.rule == "majority" or n_alike == len(values)):
                return value
        return None

    def outcome(enough: bool) -> tuple[dict[Unit, Any], set[Unit]]:
        """The final labels, and the units that are open; a condition that does not hold asks nothing."""
        final: dict[Unit, Any] = {}
        unsettled: set[Unit] = set()
        dropped: set[Unit] = set()
        for criterion in rows.protocol.criteria:
            unit = (criterion.name, "item")
            there = unit in touched or unit in decided or unit in said
            if asks is not None and criterion.name not in asks and not there:
                continue
            if unit in decided:
                final[unit] = decided[unit]
                continue
            if unit in said and said[unit] != [settled(unit)]:
                unsettled.add(unit)
                continue
            if criterion.when is not None:
                on = (criterion.when.criterion, "item")
                if on in dropped or (on in final and final[on] not in criterion.when.values):
                    dropped.add(unit)
                    continue
            value = settled(unit) if enough else None
            if value is None:
                unsettled.add(unit)
            else:
                final[unit] = value
        return final, unsettled

    _, open_of_all = outcome(True)
    _, open_now = outcome(False)
    returned = any(row["study_item_id"] == place["id"] and row["state"] == "returned" for row in rows.of["assignment"])
    if decided and not open_now:
        state = "adjudicated"
    elif n < max(1, planned) or (returned and not decided):
        state = "pending"
    elif open_of_all:
        state = "disputed"
    else:
        state = "adjudicated" if decided else "agreed"
    final, unsettled = outcome(n >= max(1, planned))
    slots = _slots(rows, place, state, plan=plan, later=later, withdrawn=withdrawn)
    return PlaceModel(state, n, final, unsettled, slots)


def _slots(rows: _Rows, place: Any, state: str, *, plan: int, later: set[int], withdrawn: set[int]) -> int:
    """How many open slots the place should have."""
    if place["id"] in later or rows.settings.get("foreign") or _is_discarded(rows, place):
        return 0
    if state == "agreed" or (state == "adjudicated" and not _more_was_asked(rows, place["id"])):
        return 0
    return max(0, plan - _taken(rows, place, withdrawn))


def _taken(rows: _Rows, place: Any, withdrawn: set[int]) -> int:
    """How many slots of the place are somebody's, or taken by what came in from elsewhere."""
    superseded = {row["supersedes_id"] for row in rows.of["annotation"]}
    counts = {
        row["assignment_id"]
        for row in rows.of["annotation"]
        if row["kind"] == "imported" and row["id"] not in superseded and row["batch_id"] not in withdrawn
    }
    taken = 0
    for row in rows.of["assignment"]:
        if row["study_item_id"] == place["id"]:
            taken += row["kind"] == "slot" and row["state"] in ("leased", "submitted", "returned")
            taken += row["kind"] == "imported" and row["state"] == "submitted" and row["id"] in counts
    return taken


def _more_was_asked(rows: _Rows, study_item_id: int) -> bool:
    decided = min(str(row["created_at"]) for row in rows.of["adjudication"] if row["study_item_id"] == study_item_id)
    return any(
        row["what"] == "overlap"
        and row["study_id"] == rows.study_id
        and int(row["after"]) > int(row["before"])
        and str(row["created_at"]) > decided
        for row in rows.of["amendment"]
    )


def _endings(rows: _Rows) -> dict[int, Any]:
    return {row["item_id"]: row for row in sorted(rows.of["item_ending"], key=lambda row: row["id"])}


def _is_discarded(rows: _Rows, place: Any) -> bool:
    item = next(row["item_id"] for row in rows.of["item_version"] if row["id"] == place["item_version_id"])
    ending = _endings(rows).get(item)
    return ending is not None and ending["state"] in ("rejected", "withdrawn")


def _items(rows: _Rows, mine: list[Any], places: dict[int, PlaceModel]) -> dict[str, str]:
    """External id → state of the item, by this study alone."""
    versions = {row["id"]: row for row in rows.of["item_version"]}
    names = {row["id"]: row["external_id"] for row in rows.of["item"]}
    latest: dict[int, int] = defaultdict(int)
    for row in versions.values():
        latest[row["item_id"]] = max(latest[row["item_id"]], row["number"])
    by_item: dict[int, list[Any]] = defaultdict(list)
    for row in sorted(mine, key=lambda row: row["id"]):
        by_item[versions[row["item_version_id"]]["item_id"]].append(row)
    found = {}
    for item, there in by_item.items():
        ending = _endings(rows).get(item)
        if ending is not None and ending["state"] is not None:
            number = versions[ending["item_version_id"]]["number"]
            if ending["state"] != "accepted" or number == latest[item]:
                found[names[item]] = ending["state"]
                continue
        found[names[item]] = _item(rows, there, places, versions, item)
    return found


def _item(rows: _Rows, there: list[Any], places: dict[int, PlaceModel], versions: dict[int, Any], item: int) -> str:
    last = {}
    for place in there:
        for criterion in rows.protocol.criteria:
            if (asks := place["criteria"]) is None or criterion.name in asks:
                last[criterion.name] = place
    falls = [
        (versions[row["from_version_id"]]["number"], set(entry["criteria"]))
        for row in rows.of["revision"]
        if row["item_id"] == item
        for entry in row["invalidates"]
        if int(entry["study"]) == rows.study_id
    ]
    missing, states, fails, rechecks = False, set(), False, False
    for name, place in last.items():
        number = versions[place["item_version_id"]]["number"]
        at = places[place["id"]]
        fell = any(before >= number and name in names for before, names in falls)
        if fell or (place["id"] != there[-1]["id"] and at.state == "pending"):
            missing = True
            continue
        states.add(at.state)
        rechecks |= at.state == "pending" and place["purpose"] == "recheck"
        criterion = rows.protocol.criterion(name)
        unit = (name, "item")
        fails |= at.state in ("agreed", "adjudicated") and unit in at.final and not criterion.passes(at.final[unit])
    if missing or rechecks:
        return "in_recheck"
    if "pending" in states:
        return "no_study" if rows.state == "closed" else "in_study"
    if "disputed" in states:
        return "disputed"
    return "in_revision" if fails else "accepted"
