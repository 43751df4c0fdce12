"""`labels.csv`: one row a label, of every annotator, nothing merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson
from sqlmodel import Session

from annotators.asking.asides import ASIDES, asked_by
from db.models import Study
from db.people.pseudonyms import pseudonyms, real_names
from db.query import in_clause, is_sqlite, mark, plain_rows
from db.studies.design import protocol_of
from db.studies.settlements import OF_SAMPLE, end_of_items
from exports.bundles.columns import names_of
from exports.cells import safe, value_cell
from exports.csv_file import CsvFile, csv_cells
from exports.sinks import Out

COLUMNS = names_of("labels")
OF_PAIRS = ("other_item", "other_system", "left")
"""The columns that a study of pairs has besides: the second item, its system, and which of the two stood left."""

ASIDE_COLUMNS = tuple(ASIDES)
"""The columns that a study has besides that asks something beside labels; of those only what it asks."""

AT_ONCE = 500
"""Items whose labels are read at a time."""

_REMEMBERED = 10_000

_SUBMISSIONS = """
SELECT s.id, i.external_id, v.number, q.key, i.system, s.person_id, s.created_at, s.seconds, coalesce(z.kind, n.kind),
       n.id IS NULL OR NOT (
           EXISTS (SELECT 1 FROM annotation m WHERE m.supersedes_id = n.id)
           OR coalesce((SELECT NOT w.reinstates FROM withdrawal w WHERE w.batch_id = n.batch_id
                        ORDER BY w.id DESC LIMIT 1), {no})
       ),
       s.shown, s.step, s.uid, s.comment, s.flag, o.external_id, o.system, x.other_left
FROM study_item x
JOIN item_version v ON v.id = x.item_version_id
JOIN item i ON i.id = v.item_id
JOIN question q ON q.id = i.question_id
LEFT JOIN item_version w ON w.id = x.other_version_id
LEFT JOIN item o ON o.id = w.item_id
JOIN assignment a ON a.study_item_id = x.id
JOIN submission s ON s.assignment_id = a.id
LEFT JOIN annotation n ON n.assignment_id = s.assignment_id AND n.sitting = s.sitting
LEFT JOIN set_aside z ON z.annotation_id = n.id
WHERE x.study_id = {mark} AND x.position >= {mark} AND x.position < {mark} AND {of_sample}
ORDER BY x.position, a.id, s.sitting, s.step
"""

_LABELS = """
SELECT l.submission_id, l.criterion, l.target, l.value, l.cannot_judge, l.reason, l.comment, l.rationale,
       l.confidence, l.same
FROM label l WHERE {} ORDER BY l.id
"""


def write_labels(session: Session, study: Study, out: Out, *, names: bool) -> int:
    """Write the table of a study's labels; how many. Annotators are pseudonymous unless `names`."""
    assert study.id is not None
    pairs = protocol_of(study).about_pairs
    asks = [ASIDE_COLUMNS.index(name) for name in asked_by(study.settings)]
    besides = tuple(ASIDE_COLUMNS[place] for place in asks)
    table = CsvFile(out, (*COLUMNS, *(OF_PAIRS if pairs else ()), *besides))
    called = (real_names if names else pseudonyms)(session, study.id)
    called = {person_id: safe(name) for person_id, name in called.items()}
    value = _value_on_sqlite if is_sqlite(session) else value_cell
    no = "0" if is_sqlite(session) else "false"
    submissions = _SUBMISSIONS.format(no=no, mark=mark(session.connection()), of_sample=OF_SAMPLE)
    begins, ends = _beginnings(called), _endings(study)
    n = 0
    for start in range(0, end_of_items(session, study), AT_ONCE):
        given = plain_rows(session, submissions, (study.id, start, start + AT_ONCE))
        if not given:
            continue
        around = {row[0]: (begins(row[1:6]), ends(row[6:15])) for row in given}
        if pairs:
            around = {row[0]: (around[row[0]][0], around[row[0]][1] + _sides_seen(row[10], row[15:])) for row in given}
        condition, ids = in_clause(session, "l.submission_id", list(around))
        rank = {submission_id: place for place, submission_id in enumerate(around)}
        labels = sorted(plain_rows(session, _LABELS.format(condition), ids), key=lambda label: rank[label[0]])
        table.add_lines(list(_lines(around, labels, value, asks)), len(labels))
        n += len(labels)
    return n


def _sides_seen(shown: Any, pair: tuple[Any, ...]) -> str:
    """The cells of `OF_PAIRS` of a label: of one that was made elsewhere it is not known which answer stood left."""
    cells = pair_cells(*pair)
    return cells if shown not in ("[]", []) else cells[: cells.rindex(",") + 1]


def pair_cells(other: str | None, system: str | None, other_left: object) -> str:
    """The cells of `OF_PAIRS`, as a line goes on with them; empty where a table of labels did not say the second."""
    if other is None or system is None:
        return ",,,"
    return "," + csv_cells(safe(other), safe(system), "other_item" if other_left else "item")


_Around = tuple[str, str]
"""What all lines of a submission share: the text before, and the text after a label's own cells."""


def _beginnings(called: dict[int, str]) -> Callable[[tuple[Any, ...]], str]:
    """Item, version, question, system and annotator as a line begins. An item's annotations come after each other."""
    last: tuple[tuple[Any, ...], str] = ((), "")
    names = {person_id: csv_cells(name, "") for person_id, name in called.items()}

    def begins(row: tuple[Any, ...]) -> str:
        nonlocal last
        if last[0] != row[:4]:
            external_id, number, key, system = row[:4]
            last = (row[:4], csv_cells(safe(external_id), str(number), safe(key), safe(system)))
        return f"{last[1]},{names[row[4]]}"

    return begins


def _endings(study: Study) -> Callable[[tuple[Any, ...]], str]:
    """Everything from the time on as a line ends; little of it differs but time, seconds and uid."""
    protocol = csv_cells(study.protocol_name, str(study.protocol_version))

    @lru_cache(_REMEMBERED)
    def stands(kind: str | None, current: bool, shown: str, step: int) -> str:
        counts = csv_cells(kind or "", "true" if current else "false", "false" if kind is None else "true")
        return f"{protocol},{counts},{csv_cells(shown, str(step + 1))}"

    def ends(row: tuple[Any, ...]) -> str:
        at, seconds, kind, current, shown, step, uid, remark, flag = row
        standing = stands(kind, bool(current), _words(shown) if isinstance(shown, str) else " ".join(shown), step)
        said = csv_cells(safe(uid), safe(remark or ""), safe(flag or ""))
        return f",{_time(at)},{'' if seconds is None else repr(seconds)},{standing},{said}"

    return ends


def _lines(around: dict[int, _Around], labels: Sequence[Any], value_of: Any, asks: Sequence[int]) -> Iterator[str]:
    """The lines of some labels. Most labels are a value alone, and the same few: their cells are made once.

    `asks` are the places of what was asked beside labels.
    """
    for submission_id, criterion, target, value, cannot, reason, comment, rationale, *said in labels:
        before, after = around[submission_id]
        cell = value_of(value)
        if cannot or reason or comment or rationale is not None:
            own = csv_cells(
                criterion,
                target,
                cell,
                "true" if cannot else "false",
                safe(reason or ""),
                safe(comment or ""),
                _json_cell(rationale),
            )
        else:
            own = _plain(criterion, target, cell)
        line = before + own + after
        yield (
            line + "," + csv_cells(*("" if said[place] is None else str(said[place]) for place in asks))
            if asks
            else line
        )


@lru_cache(_REMEMBERED)
def _plain(criterion: str, target: str, cell: str) -> str:
    return csv_cells(criterion, target, cell, "false", "", "", "")


def _value_on_sqlite(value: Any) -> str:
    """The cell of a value that comes as JSON text, or as a number where it is one alone."""
    return _decoded(value) if isinstance(value, str) else value_cell(value)


@lru_cache(_REMEMBERED)
def _decoded(text: str) -> str:
    return value_cell(orjson.loads(text))


@lru_cache(_REMEMBERED)
def _words(text: str) -> str:
    return " ".join(orjson.loads(text))


def _time(at: Any) -> str:
    """A time as the driver gives it, as ISO 8601 in UTC."""
    if isinstance(at, datetime):
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return f"{at[:10]}T{at[11:]}Z"


def _json_cell(value: Any) -> str:
    if value is None:
        return ""
    return safe(value if isinstance(value, str) else orjson.dumps(value).decode())
