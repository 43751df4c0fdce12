"""Many items at once, written past the import for tests and measurements of what comes after it."""

from __future__ import annotations

from db.engine import Database, dumps, insert_many
from db.models import Question, now
from db.query import database_time, fresh_ids

SYSTEMS = ("alpha", "beta")
CATEGORIES = ("Text", "Tables", "Figures")
WORDS = ("copper", "tin", "salt", "amber", "rope", "wool", "tar", "glass")

_ITEM = ("id", "project_id", "external_id", "question_id", "system")
_VERSION = (
    "id", "item_id", "number", "question", "answer", "category", "references", "hops", "extra", "content_hash",
    "created_at",
)  # fmt: skip


def make_items(db: Database, project_id: int, n: int, *, start: int = 0, block: int = 20_000) -> None:
    """n items `i0000000` … of two systems and three categories; three of four answers have the wanted word."""
    with db.write() as session:
        question = Question(project_id=project_id, key=f"q{start}")
        session.add(question)
        session.flush()
        question_id = question.id
    for first in range(start, start + n, block):
        numbers = range(first, min(first + block, start + n))
        with db.write() as session:
            ids, versions = fresh_ids(session, "item", len(numbers)), fresh_ids(session, "item_version", len(numbers))
            at = database_time(session, now())
            items, rows = [], []
            for number, item_id, version_id in zip(numbers, ids, versions, strict=True):
                wanted = WORDS[number % 8]
                found = wanted if number % 4 else "nothing of the sort"
                answer = f"The ledger of year {number} lists {found} among the goods that left the harbour in spring."
                items.append((item_id, project_id, f"i{number:07}", question_id, SYSTEMS[number % 2]))
                rows.append(
                    (
                        version_id, item_id, 1, f"What did the harbour sell in year {number}?", answer,
                        CATEGORIES[number % 3], dumps([[wanted]]), "[]", "{}", str(number), at,
                    )
                )  # fmt: skip
            insert_many(session.connection(), "item", _ITEM, items)
            insert_many(session.connection(), "item_version", _VERSION, rows)
