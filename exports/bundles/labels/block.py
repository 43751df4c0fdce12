"""Labels of a study as they are read from the database: whole columns of some items at a time, in the table's order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from sqlmodel import Session

from annotators.arrays import IntArray, np
from db.models import Study
from db.query import in_clause, is_sqlite, mark, plain_columns
from db.studies.settlements import FROM_STUDY_ITEMS, OF_SAMPLE, end_of_items

AT_ONCE = 1_000
"""Items whose labels are read at a time."""

Cells = Sequence[Any]
"""A column, as the database's driver gives it: of SQLite with JSON as text."""


class Submissions(NamedTuple):
    """Columns of submissions, with what all labels of one share."""

    id: Cells
    position: Cells
    assignment: Cells
    sitting: Cells
    item: Cells
    version: Cells
    question: Cells
    system: Cells
    person: Cells
    at: Cells
    seconds: Cells
    kind: Cells
    current: Cells
    shown: Cells
    step: Cells
    uid: Cells
    remark: Cells
    flag: Cells
    other_item: Cells
    other_system: Cells
    other_version: Cells
    other_left: Cells


_SUBMISSIONS = Submissions(
    id="s.id",
    position="x.position",
    assignment="a.id",
    sitting="s.sitting",
    item="i.external_id",
    version="v.number",
    question="q.key",
    system="i.system",
    person="s.person_id",
    at="s.created_at",
    seconds="{exact_seconds}",
    kind="coalesce(z.kind, n.kind)",
    current="""n.id IS NULL OR NOT (
        EXISTS (SELECT 1 FROM annotation m WHERE m.supersedes_id = n.id)
        OR coalesce((SELECT NOT w.reinstates FROM withdrawal w WHERE w.batch_id = n.batch_id
                     ORDER BY w.id DESC LIMIT 1), {no})
    )""",
    shown="s.shown",
    step="s.step",
    uid="s.uid",
    remark="s.comment",
    flag="s.flag",
    other_item="o.external_id",
    other_system="o.system",
    other_version="w.number",
    other_left="x.other_left",
)
_SUBMITTED = f"""
{FROM_STUDY_ITEMS}JOIN assignment a ON a.study_item_id = x.id
JOIN submission s ON s.assignment_id = a.id
LEFT JOIN annotation n ON n.assignment_id = s.assignment_id AND n.sitting = s.sitting
LEFT JOIN set_aside z ON z.annotation_id = n.id
WHERE x.study_id = {{mark}} AND x.position >= {{mark}} AND x.position < {{mark}} AND {OF_SAMPLE}
"""


class Labels(NamedTuple):
    """Columns of labels."""

    id: Cells
    submission: Cells
    criterion: Cells
    target: Cells
    value: Cells
    cannot: Cells
    reason: Cells
    comment: Cells
    rationale: Cells
    confidence: Cells
    same: Cells


_LABELS = Labels(
    id="l.id",
    submission="l.submission_id",
    criterion="l.criterion",
    target="l.target",
    value="{exact_value}",
    cannot="l.cannot_judge",
    reason="l.reason",
    comment="l.comment",
    rationale="l.rationale",
    confidence="l.confidence",
    same="l.same",
)

# A fraction is read as text: SQLite writes one into JSON with fifteen digits, which are not all.
_EXACT_SECONDS = "quote(s.seconds)"
_EXACT_VALUE = "CASE typeof(l.value) WHEN 'real' THEN quote(l.value) ELSE CAST(l.value AS TEXT) END"


@dataclass(frozen=True)
class LabelBlock:
    """The labels of some items: unsorted columns, and in which order the table has them.

    `order` are places in `labels`, `of` for each of these the place of its submission in `submissions`; `first` are
    places in `submissions` in the table's order.
    """

    submissions: Submissions
    labels: Labels
    first: IntArray
    order: IntArray
    of: IntArray
    is_sqlite: bool

    def __len__(self) -> int:
        """How many labels."""
        return len(self.order)


def label_blocks(session: Session, study: Study) -> Iterator[LabelBlock]:
    """The labels of a study in the table's order: by item, annotation and step."""
    sqlite = is_sqlite(session)
    about = {
        "no": "0" if sqlite else "false",
        "exact_seconds": _EXACT_SECONDS if sqlite else "s.seconds",
        "exact_value": _EXACT_VALUE if sqlite else "l.value",
    }
    submitted = _SUBMITTED.format(mark=mark(session.connection()))
    of_submissions = [str(column).format(**about) for column in _SUBMISSIONS]
    of_labels = [str(column).format(**about) for column in _LABELS]
    for start in range(0, end_of_items(session, study), AT_ONCE):
        given = Submissions(*plain_columns(session, of_submissions, submitted, (study.id, start, start + AT_ONCE)))
        if not given.id:
            continue
        if sqlite:
            seconds = [None if text == "NULL" else float(text) for text in given.seconds]
            given = given._replace(seconds=seconds)
        condition, ids = in_clause(session, "l.submission_id", given.id)
        yield _block(given, Labels(*plain_columns(session, of_labels, f"FROM label l WHERE {condition}", ids)), sqlite)


def _block(given: Submissions, said: Labels, sqlite: bool) -> LabelBlock:
    first = np.lexsort([np.array(keys) for keys in (given.step, given.sitting, given.assignment, given.position)])
    rank = np.empty(len(first), np.int64)
    rank[first] = np.arange(len(first))
    ids = np.array(given.id, np.int64)
    by_id = np.argsort(ids)
    of = by_id[np.searchsorted(ids, np.array(said.submission, np.int64), sorter=by_id)]
    order = np.lexsort((np.array(said.id, np.int64), rank[of]))
    return LabelBlock(given, said, first, order, of[order], sqlite)


def is_seen(shown: Any) -> bool:
    """Whether a label was given here, where something was shown for it."""
    return shown not in ("[]", [])


def words_shown(shown: Any) -> str:
    """The names of what was shown, with blanks between them, of a cell as the driver gives it."""
    return _words(shown) if isinstance(shown, str) else " ".join(shown)


@lru_cache(10_000)
def _words(text: str) -> str:
    return " ".join(orjson.loads(text))
