"""How long the next item takes at 1,000 and at 100,000 items, also for an annotator far ahead of the others.

Run: .venv/bin/python -m tests.bench.bench_next_item [--large 100000] [--order own] [--mixed] [--database URL]
With `--mixed`, a tenth of the items has an overlap of 3 and the rest one of 2, and a tenth of what people are given are
gold items, a twentieth repeats. Prints the median and 95th percentile of `submit` with the next item in each place, and
the ratio to 1,000 items.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import uuid
from pathlib import Path

from sqlalchemy import text

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.engine import Database, insert_many
from db.permissions import Actor
from db.quality.gold import GoldRow, set_gold
from db.schema import migrate
from tests.makers import make_item, make_member, make_person, make_project, tiny_protocol

ROUNDS = 300
TURNS = 10
GOLD = 500


def fill(db: Database, project_id: int, n: int) -> None:
    """n items without evidence, inserted plainly."""
    moment = "2026-01-01 00:00:00"
    with db.write() as session:
        connection = session.connection()
        first = (session.execute(text("SELECT COALESCE(MAX(id), 0) FROM item")).scalar_one()) + 1
        numbers = range(first, first + n)
        insert_many(connection, "question", ["id", "project_id", "key"], [(i, project_id, f"q{i}") for i in numbers])
        insert_many(
            connection,
            "item",
            ["id", "project_id", "external_id", "question_id", "system"],
            [(i, project_id, f"i{i:08}", i, "s") for i in numbers],
        )
        columns = [
            "id",
            "item_id",
            "number",
            "question",
            "answer",
            "references",
            "hops",
            "extra",
            "content_hash",
            "created_at",
        ]
        rows = [(i, i, 1, f"Question {i}?", f"Answer {i}.", "[]", "[]", "{}", f"h{i}", moment) for i in numbers]
        insert_many(connection, "item_version", columns, rows)


def study(db: Database, n: int, *, order: str, mixed: bool) -> tuple[int, list[Actor]]:
    """A study of n items by three annotators, overlap 3; with `mixed`, 2 or 3, and with gold items and repeats."""
    project_id = make_project(db)
    researcher = make_person(db, admin=True)
    people = [make_person(db) for _ in range(3)]
    for actor in people:
        make_member(db, project_id, actor, "annotator")
    fill(db, project_id, n)
    team = tuple(actor.name for actor in people)
    design = StudyDesign(name="bench", annotators=team, overlap=3, order=order)
    if mixed:
        design = design.model_copy(update={"overlap": 2, "part": 0.1, "part_overlap": 3})
    study_id = create_study(db, researcher, project_id, protocol=tiny_protocol(), design=design).study_id
    if mixed:
        names = [f"g{number}" for number in range(GOLD)]
        for name in names:
            make_item(db, project_id, name)
        rows = [GoldRow(line, name, "right", "item", "yes") for line, name in enumerate(names)]
        rates = {"gold_rate": 0.1, "repeat_rate": 0.05, "repeat_after": 20}
        set_gold(db, researcher, study_id, rows=rows, rates=rates, reason="measured")
    return study_id, people


def move_ahead(db: Database, study_id: int, actor: Actor, n: int) -> None:
    """As if this annotator had submitted the first n items: rows, cursor and counts, set by SQL."""
    with db.write() as session:
        session.execute(
            text(
                "UPDATE assignment SET state = 'submitted', person_id = :p, steps_done = 1 WHERE id IN ("
                "SELECT MIN(a.id) FROM assignment a JOIN study_item s ON s.id = a.study_item_id "
                "WHERE a.study_id = :s AND a.state = 'open' AND s.position < :n GROUP BY a.study_item_id)"
            ),
            {"p": actor.person_id, "s": study_id, "n": n},
        )
        session.execute(
            text(
                "UPDATE study_member SET cursor = (SELECT max(a.queue) FROM assignment a JOIN study_item s "
                "ON s.id = a.study_item_id WHERE a.study_id = :s AND s.position < :n) "
                "WHERE study_id = :s AND person_id = :p"
            ),
            {"n": n, "s": study_id, "p": actor.person_id},
        )
        session.execute(
            text("UPDATE tally SET n = n - :n WHERE study_id = :s AND person_id = 0 AND state = 'open'"),
            {"n": n, "s": study_id},
        )


def measure(db: Database, study_id: int, actor: Actor, rounds: int) -> list[float]:
    """Milliseconds of one submit that brings the next item, as the browser sends it, `rounds` times."""
    times = []
    items = work(db, actor, study_id)["items"]
    queue = {item["assignment"]: item for item in items}
    have = list(queue)
    for _ in range(rounds):
        item = queue[have[0]]
        step = StepSubmission(
            uuid.uuid4().hex, item["assignment"], 1, 0, (GivenLabel("right", "item", "yes"),), seconds=1
        )
        begun = time.perf_counter()
        answer = submit(db, actor, study_id, step=step, have=have[1:])
        times.append((time.perf_counter() - begun) * 1000)
        queue |= {item["assignment"]: item for item in answer.items if not item.get("kept")}
        have = [item["assignment"] for item in answer.items]
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--order", choices=("given", "own"), default="given", help="own: each annotator has another")
    parser.add_argument("--mixed", action="store_true", help="two overlaps, gold items and repeats")
    parser.add_argument("--database", help="a database URL; without it, SQLite in a temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = Database(arguments.database or f"sqlite:///{Path(folder) / 'bench.db'}")
        migrate(db)
        small, few = study(db, 1000, order=arguments.order, mixed=arguments.mixed)
        large, many = study(db, arguments.large, order=arguments.order, mixed=arguments.mixed)
        ahead = min(10_000, arguments.large // 2)
        move_ahead(db, large, many[1], ahead)
        if not db.is_sqlite:
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("ANALYZE")
        places = {"1,000 items": (small, few[0]), f"{arguments.large:,} items": (large, many[0])}
        places[f"{arguments.large:,} items, {ahead:,} ahead of the others"] = (large, many[1])
        # In turns, so that what else the machine does meets all alike.
        found: dict[str, list[float]] = {name: [] for name in places}
        for part in range(TURNS + 1):
            for name, (study_id, actor) in places.items():
                times = measure(db, study_id, actor, ROUNDS // TURNS)
                found[name] += times if part else []  # the first turn warms the caches
        base = statistics.median(found["1,000 items"])
        for name, values in found.items():
            median, tail = statistics.median(values), sorted(values)[int(len(values) * 0.95)]
            print(
                f"{name:55} p50 {median:6.2f} ms  p95 {tail:6.2f} ms  ratio of p50 to 1,000 items {median / base:.2f}"
            )


if __name__ == "__main__":
    main()
