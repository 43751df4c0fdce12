"""`labels.csv`: one row a label, of every annotator, nothing merged."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson
from sqlmodel import Session

from db.models import Study
from db.pseudonyms import pseudonyms, real_names
from db.query import is_sqlite, mark
from exports.cells import SUSPECT, safe, value_cell
from exports.sinks import Out

COLUMNS = (
    "item", "item_version", "question", "system", "annotator", "criterion", "target", "value", "cannot_judge",
    "reason", "comment", "rationale", "time", "seconds", "protocol", "protocol_version", "kind", "current", "complete",
    "shown", "step", "submission", "submission_comment", "flag",
)  # fmt: skip
AT_ONCE = 500
"""Items whose labels are read at a time."""

_REMEMBERED = 10_000

_QUERY = """
SELECT i.external_id, v.number, q.key, i.system, s.person_id, l.criterion, l.target, l.value, l.cannot_judge, l.reason,
       l.comment, l.rationale, s.created_at, s.seconds, n.kind,
       n.id IS NULL OR NOT (
           EXISTS (SELECT 1 FROM annotation m WHERE m.supersedes_id = n.id)
           OR coalesce((SELECT NOT w.reinstates FROM withdrawal w WHERE w.batch_id = n.batch_id
                        ORDER BY w.id DESC LIMIT 1), {no})
       ),
       s.shown, s.step, s.uid, s.comment, s.flag
FROM study_item x
JOIN item_version v ON v.id = x.item_version_id
JOIN item i ON i.id = v.item_id
JOIN question q ON q.id = i.question_id
JOIN assignment a ON a.study_item_id = x.id
JOIN submission s ON s.assignment_id = a.id
JOIN label l ON l.submission_id = s.id
LEFT JOIN annotation n ON n.assignment_id = s.assignment_id AND n.sitting = s.sitting
WHERE x.study_id = {mark} AND x.position >= {mark} AND x.position < {mark}
ORDER BY x.position, a.id, s.sitting, s.step, l.id
"""


def write_labels(session: Session, study: Study, out: Out, *, names: bool) -> int:
    """Write the table of a study's labels; how many. Annotators are pseudonymous unless `names`."""
    assert study.id is not None
    writer = csv.writer(_Text(out), lineterminator="\n")
    writer.writerow(COLUMNS)
    called = (real_names if names else pseudonyms)(session, study.id)
    called = {person_id: safe(name) for person_id, name in called.items()}
    cell = _value_reader(json_is_text=is_sqlite(session))
    n = 0
    for rows in _blocks(session, study):
        writer.writerows(_cells(rows, study, called, cell))
        n += len(rows)
    out.rows = n
    return n


class _Text:
    """What the csv module writes to."""

    def __init__(self, out: Out) -> None:
        self.write = out.write_text


def _blocks(session: Session, study: Study) -> Iterator[Sequence[Any]]:
    no = "0" if is_sqlite(session) else "false"
    query = _QUERY.format(no=no, mark=mark(session))
    for start in range(0, study.n_items, AT_ONCE):
        parameters = (study.id, start, start + AT_ONCE)
        rows = session.connection().exec_driver_sql(query, parameters).fetchall()
        if rows:
            yield rows


def _cells(
    rows: Sequence[Any], study: Study, called: dict[int, str], cell: Callable[[Any], str]
) -> Iterator[tuple[Any, ...]]:
    protocol, version = study.protocol_name, study.protocol_version
    for (
        external_id, number, key, system, person_id, criterion, target, value, cannot, reason, comment, rationale, at,
        seconds, kind, current, shown, step, uid, remark, flag,
    ) in rows:  # fmt: skip
        yield (
            external_id if external_id[0] not in SUSPECT else safe(external_id),
            number,
            key if key[0] not in SUSPECT else safe(key),
            system if system[0] not in SUSPECT else safe(system),
            called[person_id],
            criterion,
            target,
            cell(value),
            "true" if cannot else "false",
            safe(reason) if reason else "",
            safe(comment) if comment else "",
            _json_cell(rationale) if rationale is not None else "",
            _time(at),
            seconds,
            protocol,
            version,
            kind,
            "true" if current else "false",
            "false" if kind is None else "true",
            _words(shown) if isinstance(shown, str) else " ".join(shown),
            step + 1,
            uid if uid[0] not in SUSPECT else safe(uid),
            safe(remark) if remark else "",
            safe(flag) if flag else "",
        )


def _value_reader(*, json_is_text: bool) -> Callable[[Any], str]:
    """What turns a value as the driver gives it (SQLite: JSON text; PostgreSQL: parsed) into its cell."""
    if not json_is_text:
        return value_cell
    return lru_cache(_REMEMBERED)(lambda text: "" if text is None else value_cell(orjson.loads(text)))


@lru_cache(_REMEMBERED)
def _words(text: str) -> str:
    return " ".join(orjson.loads(text))


@lru_cache(_REMEMBERED)
def _time(at: Any) -> str:
    """A time as the driver gives it, as ISO 8601 in UTC."""
    if isinstance(at, datetime):
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return f"{at[:10]}T{at[11:]}Z"


def _json_cell(value: Any) -> str:
    return safe(value if isinstance(value, str) else orjson.dumps(value).decode())
