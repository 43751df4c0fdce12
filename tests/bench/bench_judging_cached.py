"""A judge's run whose replies are all known: 100,000 verdicts in constant memory, and no request.

    python -m tests.bench.bench_judging_cached [ITEMS]

The replies are put into the ledger under the keys that the run looks them up by; a server that nobody may reach stands
behind. The run is a process of its own whose memory is looked at after every block. Targets: growth between its second
and its last tenth below 10 %, nothing asked.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from annotators.judges.asking import key_of
from annotators.judges.client import Client
from annotators.judges.judging import mark_of
from annotators.judges.prompts import PROMPTS, calls, judging
from annotators.protocols import PROTOCOLS
from db.engine import Database, insert_many
from db.judging.items import read_to_judge, secret_of
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import BLOCKS, Means, run_judge
from db.models import Study, now
from db.query import database_time, fresh_ids
from db.schema import migrate
from tests.bench.bench_scoring_run import GROWTH, growth, resident_mb
from tests.bulk import make_items
from tests.judging.schemas import filled
from tests.makers import first_administrator, make_project

NOBODY = "http://127.0.0.1:9/v1"
BLOCK = 1_000
AT_ONCE = 32
PROTOCOL = PROTOCOLS.get("answer_grading")
SETTINGS = JudgeSettings("known", NOBODY, judging(PROMPTS.get("answer_grade")), pictures=0)


def know_all(db: Database, project_id: int, study_id: int) -> int:
    """Put a reply to every request of the study into the ledger; how many."""
    client = Client(NOBODY, SETTINGS.model, None, most=SETTINGS.most, seed=SETTINGS.seed)
    secret = secret_of(db, project_id)
    after, n = 0, 0
    while True:
        with db.write() as session:
            study = session.get_one(Study, study_id)
            block = read_to_judge(session, study, after=after, limit=BLOCK)
            if not block:
                return n
            after = block[-1].study_item_id
            asked = [
                call
                for item in block
                for step in item.steps
                for call in calls(
                    PROTOCOL, SETTINGS.prompt, step.material, step.step, given={}, mark=mark_of(secret, item.steps)
                )
            ]
            ids = fresh_ids(session, "judge_call", len(asked))
            at = database_time(session, now())
            insert_many(
                session.connection(), "judge_call", ("id", "project_id", "key", "sample", "tokens", "created_at"),
                [(of, project_id, key_of(client, call, {}), 0, 2_000, at) for of, call in zip(ids, asked, strict=True)],
            )  # fmt: skip
            columns = (
                "call_id", "ending", "text", "model", "tokens_in", "tokens_out", "seconds", "retries", "chances",
                "created_at",
            )  # fmt: skip
            replies = [
                (of, "whole", json.dumps(filled(call.schema)), "known", 1_500, 40, 0.5, 0, "{}", at)
                for of, call in zip(ids, asked, strict=True)
            ]
            insert_many(session.connection(), "judge_reply", columns, replies)
            n += len(asked)


def run(path: str, study_id: int, out: Any) -> None:
    """The run, in this process; what it cost."""
    db = Database(f"sqlite:///{path}")
    seen: list[tuple[float, int, float]] = []
    begun = time.perf_counter()

    def look(done: int, _of: int) -> None:
        if not seen or done - seen[-1][1] >= BLOCKS * AT_ONCE:  # once a block: a row an item would be growth itself
            seen.append((time.perf_counter() - begun, done, resident_mb()))

    found = run_judge(
        db, first_administrator(db), study_id, judge=SETTINGS, means=Means(concurrency=AT_ONCE), progress=look
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    out.send({"seconds": seconds, "found": found, "peak_mb": peak, "seen": seen})
    db.dispose()


def main(n: int = 100_000) -> bool:
    """Print what it cost; whether the targets are met."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "bench.db"
        db = Database(f"sqlite:///{path}")
        migrate(db)
        admin = first_administrator(db)
        project_id = make_project(db)
        make_items(db, project_id, n)
        study_id = study_for_judges(db, admin, project_id, protocol=PROTOCOL)
        known = know_all(db, project_id, study_id)
        db.dispose()
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=run, args=(str(path), study_id, there))
        process.start()
        cost = here.recv()
        process.join()
    found = cost["found"]
    assert (found["labels"], found["cached"], found["left"]) == (n, n, 0), found
    print(
        f"{known:,} verdicts known beforehand: {cost['seconds']:.1f} s, {n / cost['seconds']:,.0f} items a second, "
        f"peak {cost['peak_mb']:.0f} MB, growth {growth(cost):.3f} (target: below {GROWTH:g}), no request"
    )
    return growth(cost) < GROWTH


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
