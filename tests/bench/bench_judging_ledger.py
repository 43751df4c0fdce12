"""What a run of a judge asks of the database by its ledger: transactions and processor time a request.

    python -m tests.bench.bench_judging_ledger [--reply 1.5] [--each 8] [--asked 20000]

So many threads as a run has requests under way look up, enter, wait as long as a server takes (three quarters to five
quarters of `--reply` seconds) and keep, `--each` times, in a project that has asked `--asked` requests before. With
lowered priority, as a worker has it. No server is asked: what the machine does besides tells on the times, hardly on
transactions and processor time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection
from sqlmodel import Session

from annotators.judges.base import Ending, Reply
from annotators.judges.budget import Cost
from db.engine import Database, insert_many
from db.judging.replies import StoredReplies
from db.models import now
from db.query import database_time
from db.schema import migrate
from tests.bench.bench_judging_beside import AT_ONCE
from tests.makers import first_administrator, make_project

MOST = Cost(1, 2_000, None)
REPLY = Reply("y" * 200, Ending.WHOLE, tokens_in=1_500, tokens_out=40)


class Timed(Database):
    """A database that knows how long each writing transaction kept others out."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.held: list[float] = []

    @contextmanager
    def write(self, on: Connection | None = None) -> Iterator[Session]:
        """A session for writing."""
        with super().write(on) as session:
            begun = time.perf_counter()
            yield session
        self.held.append(time.perf_counter() - begun)


def asked_before(db: Database, n: int) -> int:
    """A project with so many requests and replies."""
    project_id = make_project(db)
    with db.write() as session:
        at, connection = database_time(session, now()), session.connection()
        calls = [(number, project_id, f"before {number}", 0, 2_000, at) for number in range(1, n + 1)]
        insert_many(connection, "judge_call", ("id", "project_id", "key", "sample", "tokens", "created_at"), calls)
        columns = ("call_id", "ending", "text", "model", "seconds", "retries", "chances", "created_at")
        replies = [(number, "whole", REPLY.text, "known", 0.5, 0, "{}", at) for number in range(1, n + 1)]
        insert_many(connection, "judge_reply", columns, replies)
    return project_id


def main() -> None:
    """Run it and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reply", type=float, default=1.5)
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--asked", type=int, default=20_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        db = Timed(f"sqlite:///{Path(temporary) / 'bench.db'}")
        migrate(db)
        first_administrator(db)
        ledger, kept_after = StoredReplies(db, asked_before(db, chosen.asked)), list[float]()

        def work(thread: int) -> None:
            time.sleep(chosen.reply * thread / AT_ONCE)
            for turn in range(chosen.each):
                key = f"{thread}/{turn}"
                assert ledger.known(key, 0) is None
                number = ledger.enter(key, 0, MOST)
                time.sleep(chosen.reply * (0.75 + 0.5 * ((7 * thread + 13 * turn) % AT_ONCE) / AT_ONCE))
                came = time.perf_counter()
                ledger.keep(number, REPLY, MOST)
                kept_after.append(time.perf_counter() - came)

        db.held.clear()
        os.nice(10)
        clock, begun = time.perf_counter(), time.process_time()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(work, range(AT_ONCE)))
        spent, took, n = time.process_time() - begun, time.perf_counter() - clock, len(kept_after)
        kept_after.sort()
        db.dispose()
    print(
        f"{n} requests, {AT_ONCE} at once, {chosen.asked:,} asked before: {len(db.held) / n:.2f} transactions and "
        f"{1e3 * spent / n:.2f} ms of processor time a request; others kept out for {100 * sum(db.held) / took:.0f} % "
        "of the time; a reply is on disk after "
        f"{1e3 * kept_after[n // 2]:.1f} ms (p50), {1e3 * kept_after[int(0.95 * n)]:.1f} ms (p95)"
    )


if __name__ == "__main__":
    sys.exit(main())
