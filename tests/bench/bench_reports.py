"""Reports of a large study: how soon the pages have them, and what annotators notice meanwhile.

    python -m tests.bench.bench_reports [--items 20000] [--annotators 10] [--seconds 25]

A real server on a study of ITEMS items with three labels each on two criteria and four metrics. First the reports of
Agreement and Alignment are asked for as their pages do: seconds to the first table and to all of it, the first time
(with a process that has started) and again. Then annotators submit in another study, each once a second, through HTTP:
p50 and p95 of submit → next item without a report, then while the alignment report is made, ever anew; and their ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from annotators.intervals.bootstrap import Resampling
from app.settings import Settings
from app.worker.report_tasks import Agreement, Alignment
from app.worker.reports import Reports
from db.permissions import Actor
from db.studies.ratings import alignment_stamp
from tests.bench.bench_load import Seen, annotator, set_up
from tests.bench.big_study import BigStudy, make_big_study
from tests.servers import RunningServer, running_server


def alignment(actor: Actor, big: BigStudy, stamp: tuple[int, ...], seed: int = 0) -> Alignment:
    """What the page Alignment asks for."""
    return Alignment(actor, big.study_id, stamp, True, "item", None, Resampling(1000, seed), 0.2)


def agreement(actor: Actor, big: BigStudy, stamp: tuple[int, ...]) -> Agreement:
    """What the page Agreement asks for."""
    asked = {"seed": 0, "resamples": 1000, "statistics": "default", "clustered": True, "weights": {}}
    return Agreement(actor, big.study_id, True, asked)


def timed(reports: Reports, key: Any, task: Any) -> tuple[float, float]:
    """Seconds until the first table can be drawn, and until all is there."""
    began = time.perf_counter()
    with reports.look(key, task) as look:
        look.wait(600, beyond=1)
        first = time.perf_counter() - began
        look.result()
    return first, time.perf_counter() - began


def show(what: str, times: tuple[float, float]) -> None:
    print(f"{what:<34} first table {times[0]:6.2f} s, all of it {times[1]:6.2f} s", flush=True)


def pages(reports: Reports, server: RunningServer, big: BigStudy) -> None:
    """The two reports, as the pages get them."""
    stamp = alignment_stamp(server.db, server.admin, big.study_id)
    reports.warm()
    reports.result("started", agreement(server.admin, big, ()))  # and the file's pages are in memory
    show("Agreement", timed(reports, "agreement", agreement(server.admin, big, stamp)))
    show("Agreement, again", timed(reports, "agreement", agreement(server.admin, big, stamp)))
    show("Alignment", timed(reports, "alignment", alignment(server.admin, big, stamp)))
    show("Alignment, again or somebody else", timed(reports, "alignment", alignment(server.admin, big, stamp)))


def submits(server: RunningServer, study_id: int, people: int, seconds: float) -> list[float]:
    """Milliseconds of every submit of these people."""
    seen = Seen()

    async def all_at_once() -> None:
        until = time.monotonic() + seconds
        await asyncio.gather(
            *(
                annotator(server.url, f"person{number:03}", study_id, until=until, every=1.0, seen=seen)
                for number in range(people)
            )
        )

    asyncio.run(all_at_once())
    assert not seen.errors, seen.errors[:3]
    return sorted(seen.submits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--annotators", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=25)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, running_server(Path(temporary) / "home") as server:
        began = time.perf_counter()
        big = make_big_study(server.db, asked.items)
        n_items = int(asked.annotators * (4 * asked.seconds + 40) / 3) + 200
        study_id = set_up(server, Path(temporary) / "items", asked.annotators, n_items)
        print(f"{asked.items:,} items, {3 * asked.items:,} annotations made in {time.perf_counter() - began:.0f} s")
        reports = Reports(Settings.load({}, home=server.home))
        try:
            pages(reports, server, big)
            submits(server, study_id, asked.annotators, 5)  # pictures, and everything that is made once
            rounds: dict[str, list[float]] = {"alone": [], "beside a report": []}
            for _ in range(2):  # in turn, so that others on the machine weigh on both
                rounds["alone"] += submits(server, study_id, asked.annotators, asked.seconds / 2)
                over = threading.Event()
                busy = threading.Thread(target=_ever_anew, args=(reports, server, big, over))
                busy.start()
                rounds["beside a report"] += submits(server, study_id, asked.annotators, asked.seconds / 2)
                over.set()
                busy.join()
            tails = {}
            for name, times in rounds.items():
                ordered = sorted(times)
                tails[name] = ordered[int(len(ordered) * 0.95)]
                middle = statistics.median(ordered)
                print(f"submit {name:<16} p50 {middle:6.1f} ms  p95 {tails[name]:6.1f} ms  n {len(ordered)}")
            print(f"p95 beside a report / alone: {tails['beside a report'] / tails['alone']:.2f} (at most 1.5)")
        finally:
            reports.close()


def _ever_anew(reports: Reports, server: RunningServer, big: BigStudy, over: threading.Event) -> None:
    """Alignment reports, one after the other, each measured anew."""
    seed = 1
    while not over.is_set():
        seed += 1
        with reports.look(("busy", time.monotonic()), alignment(server.admin, big, (), seed)) as look:
            while not over.is_set() and not look.wait(0.2):
                pass


if __name__ == "__main__":
    main()
