"""What a run of a judge asks of the database by its ledger: transactions and processor time a request.

    python -m tests.bench.bench_judging_ledger [--reply 1.5] [--each 8] [--asked 20000]

So many threads as a run has requests under way look up, enter, wait as long as a server takes (three quarters to five
quarters of `--reply` seconds) and keep, `--each` times, in a project that has asked `--asked` requests before. No server
is asked: what the machine does besides tells on the times, hardly on transactions and processor time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sqlalchemy import event

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
        db = Database(f"sqlite:///{Path(temporary) / 'bench.db'}")
        migrate(db)
        first_administrator(db)
        ledger, kept_after, written = StoredReplies(db, asked_before(db, chosen.asked)), list[float](), list[bool]()

        def committed(connection: Any) -> None:
            if connection.get_execution_options().get("assay_write"):
                written.append(True)

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

        event.listen(db.engine, "commit", committed)
        begun = time.process_time()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(work, range(AT_ONCE)))
        spent, n = time.process_time() - begun, len(kept_after)
        kept_after.sort()
        db.dispose()
    print(
        f"{n} requests, {AT_ONCE} at once, {chosen.asked:,} asked before: {len(written) / n:.2f} transactions and "
        f"{1e3 * spent / n:.2f} ms of processor time a request; a reply is on disk after "
        f"{1e3 * kept_after[n // 2]:.1f} ms (p50), {1e3 * kept_after[int(0.95 * n)]:.1f} ms (p95)"
    )


if __name__ == "__main__":
    sys.exit(main())
