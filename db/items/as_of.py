"""The database as it was at an earlier moment, so that an old export can be derived again.

Append-only rows are never changed, so an earlier state is the present one without the rows that came later. `marks`
writes down, for each table that grows, the last id there is; `look_back` puts temporary views of the same names before
the tables, which hide every later row from whatever query is run, and take back the few columns that may be filled in
later.
A batch that was not published then was not seen, and neither is one that came later: its rows may have the ids of rows
which an import that was broken off has given back.
On PostgreSQL ids are given before transactions commit: an id below the last that is not there yet may still come, so
`marks` writes those gaps down as well. On SQLite there is one writer, and none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlmodel import Session

from annotators.errors import InvalidInput
from db.items.documents import ATTACHED, DESCRIBED, TITLED
from db.models import Purpose, Table
from db.query import is_sqlite

Marks = dict[str, dict[str, Any]]
"""Table → {"last": highest id, "missing": [[first, last], …] of the ids below it that are not there}; of `batch`, which
exports before revision 0005 lack, {"last": highest id, "unpublished": [id, …] of those that nobody saw}."""

MARKED = ("event", "study", "item_version", "revision", "withdrawal", "document", "score", "submission", "annotation",
          "adjudication", "amendment", "omission", "study_item", "phase_answer", "surplus")  # fmt: skip
"""Tables whose growth is written down. Rows of other tables came with one of these, or never change a result."""

_PARENTS = {
    "item_document": ("item_version_id", "item_version"),
    "evidence": ("item_version_id", "item_version"),
    "claim": ("item_version_id", "item_version"),
    "image": ("item_version_id", "item_version"),
    "label": ("submission_id", "submission"),
    "adjudicated_label": ("adjudication_id", "adjudication"),
    "omission_surplus": ("omission_id", "omission"),
}
"""Table → the column by which its rows came with a row of a marked table."""


def marks(session: Session) -> Marks:
    """How far each table goes in this session's view of the database."""
    connection = session.connection()
    found: Marks = {}
    for table in MARKED:
        last = connection.exec_driver_sql(f"SELECT coalesce(max(id), 0) FROM {table}").scalar_one()
        missing: list[list[int]] = []
        if not is_sqlite(session):
            rows = connection.exec_driver_sql(
                f"SELECT before + 1, id - 1 FROM (SELECT id, lag(id, 1, 0::bigint) OVER (ORDER BY id) AS before "
                f"FROM {table}) AS ids WHERE id > before + 1 ORDER BY id"
            )
            missing = [[first, final] for first, final in rows]
        found[table] = {"last": last, "missing": missing}
    batches = connection.exec_driver_sql("SELECT coalesce(max(id), 0) FROM batch").scalar_one()
    hidden = connection.exec_driver_sql("SELECT batch_id FROM unpublished_batch ORDER BY batch_id").scalars()
    found["batch"] = {"last": batches, "unpublished": list(hidden)}
    return found


def look_back(session: Session, past: Marks) -> None:
    """Let every query of this reading session see the database as it was when `past` was written down.

    It lasts until the session ends, which takes the views away with it. Raises InvalidInput for marks that are none.
    """
    conditions = _conditions(past)
    connection = session.connection()
    home = "main" if is_sqlite(session) else connection.exec_driver_sql("SELECT current_schema()").scalar_one()
    for name, select in _views(past, conditions, f'"{home}"'):
        connection.exec_driver_sql(f"CREATE TEMP VIEW {name} AS {select}")


def _conditions(past: Mapping[str, Any]) -> dict[str, str]:
    """Table → the condition on an id, written `{id}`, that it was there."""
    conditions = {}
    added_later = ("amendment", "omission", "study_item", "phase_answer", "surplus")
    nothing_yet = {table: {"last": 0, "missing": []} for table in added_later}
    for table in MARKED:
        try:
            mark = (nothing_yet | dict(past))[table]
            last = int(mark["last"])
            gaps = [(int(first), int(final)) for first, final in mark["missing"]]
        except (KeyError, TypeError, ValueError):
            raise InvalidInput(
                f"The marks of table {table!r} are missing or no numbers. Take the manifest that was exported."
            ) from None
        terms = [f"{{id}} <= {last}", *(f"NOT ({{id}} BETWEEN {first} AND {final})" for first, final in gaps)]
        conditions[table] = " AND ".join(terms)
    try:
        batches = past.get("batch")
        hidden = [int(batch) for batch in batches["unpublished"]] if batches is not None else []
        later = [f"{{id}} <> {batch}" for batch in hidden]
        seen = [] if batches is None else [f"{{id}} <= {int(batches['last'])}", *later]
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("The marks of table 'batch' are no numbers. Take the manifest that was exported.") from None
    conditions["batch"] = " AND ".join(seen) or "1 = 1"
    return conditions


def _views(past: Mapping[str, Any], conditions: dict[str, str], home: str) -> Iterator[tuple[str, str]]:
    def there(table: str, column: str) -> str:
        return conditions[table].format(id=column)

    def seen(column: str) -> str:
        return f"({column} IS NULL OR ({there('batch', column)}))"

    if "batch" in past:
        last, hidden = int(past["batch"]["last"]), past["batch"]["unpublished"]
        yield "batch", f"SELECT * FROM {home}.batch WHERE id <= {last}"
        then = f"id IN ({', '.join(str(int(batch)) for batch in hidden)})" if hidden else "1 = 0"
        yield "unpublished_batch", f"SELECT id AS batch_id, created_at AS cleared_at FROM {home}.batch WHERE {then}"
    came_with_batch = {
        "item_version": seen("batch_id"),
        "score": f"run_id IN (SELECT r.id FROM {home}.run r WHERE {seen('r.batch_id')})",
    }
    for table in MARKED:
        if table not in ("document", "study", "study_item"):
            also = f" AND {came_with_batch[table]}" if table in came_with_batch else ""
            yield table, f"SELECT * FROM {home}.{table} WHERE {there(table, 'id')}{also}"
    # An amendment says what the overlap was before it; the first one that came later has what it was then.
    overlap = (
        f"coalesce((SELECT CAST(a.before AS INTEGER) FROM {home}.amendment a WHERE a.study_id = s.id AND "
        f"a.what = 'overlap' AND NOT ({there('amendment', 'a.id')}) ORDER BY a.id LIMIT 1), s.overlap) AS overlap"
    )
    columns = [
        overlap if name == "overlap" else f"s.{name}"
        for name in Table.metadata.tables["study"].columns.keys()  # noqa: SIM118 - not a dict
    ]
    yield "study", f"SELECT {', '.join(columns)} FROM {home}.study s WHERE {there('study', 's.id')}"
    # The sample came with its study; what came later are gold items, rechecks and the like.
    came = f"purpose = '{Purpose.SAMPLE}' OR ({there('study_item', 'id')})"
    yield "study_item", f"SELECT * FROM {home}.study_item WHERE {came}"
    for table, (column, parent) in _PARENTS.items():
        yield table, f"SELECT * FROM {home}.{table} WHERE {there(parent, column)}"
    yield "set_aside", _set_aside(home, conditions)
    later = {
        kind: f"EXISTS (SELECT 1 FROM {home}.event e WHERE e.kind = '{kind}' AND e.thing_id = d.id AND NOT "
        f"({there('event', 'e.id')}))"
        for kind in (TITLED, DESCRIBED, ATTACHED)
    }
    since = {
        "title": (TITLED, "''"),
        "extra": (DESCRIBED, "'{}'"),
        **dict.fromkeys(("sha256", "media_type", "n_pages", "page_sizes"), (ATTACHED, "NULL")),
    }
    columns = [
        f"CASE WHEN {later[since[name][0]]} THEN {since[name][1]} ELSE d.{name} END AS {name}"
        if name in since
        else f"d.{name}"
        for name in Table.metadata.tables["document"].columns.keys()  # noqa: SIM118 - not a dict
    ]
    known = f"{there('document', 'd.id')} AND {seen('d.batch_id')}"
    yield "document", f"SELECT {', '.join(columns)} FROM {home}.document d WHERE {known}"
    # An item that came again after its batch was withdrawn belongs to the later batch from then on.
    batch = (
        f"(SELECT v.batch_id FROM {home}.item_version v WHERE v.item_id = i.id AND v.batch_id IS NOT NULL AND "
        f"{there('item_version', 'v.id')} AND {seen('v.batch_id')} ORDER BY v.number DESC LIMIT 1) AS batch_id"
    )
    columns = [
        batch if name == "batch_id" else f"i.{name}"
        for name in Table.metadata.tables["item"].columns.keys()  # noqa: SIM118
    ]
    yield "item", f"SELECT {', '.join(columns)} FROM {home}.item i"


def _set_aside(home: str, conditions: Mapping[str, str]) -> str:
    """The annotations that did not count then: what the decisions that held left out, and what was surplus.

    That says the latest row of `surplus`; where there is none, the decision that held, as it was before revision 0016.
    """
    held = (
        f"{conditions['omission'].format(id='o.id')} AND NOT EXISTS (SELECT 1 FROM {home}.omission p WHERE "
        f"p.study_id = o.study_id AND p.annotator_id = o.annotator_id AND p.id > o.id AND "
        f"{conditions['omission'].format(id='p.id')})"
    )
    left_out = (
        f"SELECT a.id AS annotation_id, a.study_id, 'left_out' AS kind FROM {home}.annotation a JOIN {home}.omission o "
        f"ON o.study_id = a.study_id AND o.annotator_id = a.person_id AND o.since <= a.created_at WHERE {held}"
    )
    known = conditions["surplus"]
    latest = (
        f"{known.format(id='u.id')} AND NOT EXISTS (SELECT 1 FROM {home}.surplus n WHERE "
        f"n.annotation_id = u.annotation_id AND n.id > u.id AND {known.format(id='n.id')})"
    )
    is_told = f"SELECT t.annotation_id FROM {home}.surplus t WHERE {known.format(id='t.id')}"
    return (
        f"{left_out} UNION ALL SELECT u.annotation_id, u.study_id, 'surplus' FROM {home}.surplus u WHERE {latest} "
        f"AND NOT u.counts AND u.annotation_id NOT IN (SELECT l.annotation_id FROM ({left_out}) l) "
        f"UNION ALL SELECT u.annotation_id, o.study_id, 'surplus' FROM {home}.omission_surplus u "
        f"JOIN {home}.omission o ON o.id = u.omission_id WHERE {held} AND u.annotation_id NOT IN ({is_told})"
    )
