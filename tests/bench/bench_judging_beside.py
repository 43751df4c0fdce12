"""Annotators at work through HTTP while a judge has 32 requests under way, on SQLite.

    python -m tests.bench.bench_judging_beside [--rounds 24] [--seconds 8] [--annotators 8] [--every 0.5] [--reply 1.5]

Annotators submit all the time. Round by round they are alone for `--seconds`, and as long beside a run that the
server's own worker carries out, as the page starts it, with 32 requests at once; which of the two comes first changes
from round to round, so that whatever else the machine does falls on both. The ratio is that of the p95 of submit → next
item over all rounds; its interval draws whole rounds anew (2,000 times). Target: at most 1.2. Where the interval has
the target inside, the measurement says neither: take more rounds, or a machine that does less besides.

The judge's server takes `--reply` seconds for each request. A real one is another machine; here it is a process that
steps back as far as can be, and what it takes of a processor all the same is printed beside what the server and its
worker take.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from annotators.judges.prompts import default_prompt
from app.worker.jobs import queue
from app.worker.kinds.judge import JUDGE, JudgeParameters
from db.jobs import cancel_job, job_facts
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from tests.bench.bench_browser import one_step
from tests.bench.bench_import_beside import Work, annotator, set_up
from tests.judging import scripted as script
from tests.judging.scripted import ScriptedServer
from tests.servers import ROOT, RunningServer, running_server

TARGET = 1.2
AT_ONCE = 32
ITEMS = 6_000
DRAWS = 2_000
SERVE = ("-m", "app.cli", "serve")
"""As people start it: the worker is its child, and gives way as far as it does for them."""
_TICKS = os.sysconf("SC_CLK_TCK")

Round = tuple[list[float], list[float]]
"""Milliseconds of the submits alone, and of those beside a judge."""


def serve(seconds: float) -> None:
    """A judge's server until standard input ends; its address is the first line that it prints."""
    os.nice(19)
    with ScriptedServer(lambda _: script.Slow(seconds)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()
        print(server.requests, server.most_at_once, flush=True)


def p95(taken: Sequence[float]) -> float:
    """The 95th percentile of some milliseconds."""
    return sorted(taken)[int(len(taken) * 0.95)]


def ratio(rounds: Sequence[Round]) -> float:
    """p95 beside a judge over p95 alone, of all submits of these rounds."""
    return p95([one for _, beside in rounds for one in beside]) / p95([one for alone, _ in rounds for one in alone])


def interval(rounds: Sequence[Round]) -> tuple[float, float]:
    """95 % of the ratio: rounds are drawn anew, because submits of one moment are slow together."""
    drawn = random.Random(0)
    found = sorted(ratio(drawn.choices(rounds, k=len(rounds))) for _ in range(DRAWS))
    return found[int(0.025 * DRAWS)], found[int(0.975 * DRAWS)]


def processor_seconds(pids: Sequence[int]) -> float:
    """What these processes have taken so far; one that has ended counts nothing."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def children(pid: int, module: str) -> list[int]:
    """Processes below this one that run this module of ours."""
    found, below = [], [pid]
    while below:
        one = below.pop()
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            below += [int(child) for child in task.read_text().split()]
        if module.encode() in Path(f"/proc/{one}/cmdline").read_bytes():
            found.append(one)
    return found


class Judging:
    """The judge's run, which is started and cancelled; it goes on where it was."""

    def __init__(self, server: RunningServer, project_id: int, study_id: int, url: str) -> None:
        self._server, self._project_id = server, project_id
        judge = JudgeSettings("tiny-judge", url, default_prompt(), pictures=0)
        self._given = JudgeParameters(study_id=study_id, judge=judge.to_json(), concurrency=AT_ONCE)
        self._job = 0

    def start(self) -> None:
        """Queue it, and wait until it has got replies."""
        self._job = queue(self._server.db, self._server.admin, self._project_id, JUDGE, self._given).job_id
        first = None
        while first is None or self._done() == first:
            first = self._done() if first is None and self._state() == "running" else first
            time.sleep(0.2)

    def stop(self) -> None:
        """Cancel it, and wait for the replies under way."""
        assert self._state() == "running", f"it is {self._state()}: take more items, or slower replies"
        cancel_job(self._server.db, self._server.admin, self._project_id, job_id=self._job)
        while self._state() == "running":
            time.sleep(0.2)

    def _state(self) -> str:
        return str(job_facts(self._server.db, self._server.admin, self._project_id, job_id=self._job).state)

    def _done(self) -> int:
        return job_facts(self._server.db, self._server.admin, self._project_id, job_id=self._job).done


async def run(server: RunningServer, folder: Path, chosen: argparse.Namespace) -> float:
    """The ratio of the two p95; prints everything."""
    project_id, study_id = set_up(server, folder, chosen.annotators, ITEMS)
    judged = study_for_judges(server.db, server.admin, project_id, protocol=one_step())
    me = [sys.executable, "-m", "tests.bench.bench_judging_beside", "--serve", "--reply", str(chosen.reply)]
    judges = subprocess.Popen(me, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert judges.stdout is not None
    url = judges.stdout.readline().strip()
    (server.home / "assay.toml").write_text(f'judge_servers = "{url}"\n')  # its worker reads it when it starts
    judging, work = Judging(server, project_id, judged, url), Work()
    tasks = [
        asyncio.create_task(annotator(server.url, f"person{number}", study_id, chosen.every, work))
        for number in range(chosen.annotators)
    ]
    await asyncio.to_thread(judging.start)  # the worker's process starts, and the page's code is warm
    await asyncio.to_thread(judging.stop)
    rounds: list[Round] = []
    took = {"web process": 0.0, "worker": 0.0, "judge's server": 0.0}
    for number in range(chosen.rounds):
        phases: dict[bool, list[float]] = {}
        for beside in (number % 2 == 0, number % 2 == 1):
            if beside:
                await asyncio.to_thread(judging.start)
            await asyncio.sleep(1)
            worker = children(server.process.pid, "app.worker.jobs")
            pids = dict(zip(took, ([server.process.pid], worker, [judges.pid]), strict=True))
            before, begun = {name: processor_seconds(those) for name, those in pids.items()}, time.monotonic()
            await asyncio.sleep(chosen.seconds)
            phases[beside] = work.between(begun, time.monotonic())
            if beside:
                for name, those in pids.items():
                    took[name] += processor_seconds(those) - before[name]
                await asyncio.to_thread(judging.stop)
        rounds.append((phases[False], phases[True]))
        print(
            f"round {number + 1:2}  p95 alone {p95(phases[False]):7.1f} ms  beside {p95(phases[True]):7.1f} ms",
            flush=True,
        )
    work.done = True
    await asyncio.gather(*tasks)
    requests, at_once = judges.communicate("")[0].split()
    return _told(rounds, took, chosen, work, f"{requests} requests, {at_once} at once")


def _told(
    rounds: Sequence[Round], took: dict[str, float], chosen: argparse.Namespace, work: Work, requests: str
) -> float:
    """Print what was found; the ratio."""
    print(requests)
    for what, phase in (("alone", 0), ("beside a judge", 1)):
        taken = [one for both in rounds for one in both[phase]]
        print(
            f"{what:15} submits {len(taken):5}  p50 {statistics.median(taken):7.1f} ms  p95 {p95(taken):7.1f} ms  "
            f"longest {max(taken):7.1f} ms"
        )
    seconds = chosen.rounds * chosen.seconds
    print("of one processor beside the judge: " + ", ".join(f"{name} {n / seconds:.0%}" for name, n in took.items()))
    found, (low, high) = ratio(rounds), interval(rounds)
    verdict = "holds" if high <= TARGET else "does not hold" if low > TARGET else "is not decided"
    print(f"p95 beside / without: {found:.2f} ({low:.2f} to {high:.2f}); at most {TARGET:g} {verdict}")
    print(f"errors: {len(work.errors)} {work.errors[:3]}")
    assert not work.errors
    return found


def main() -> float:
    """Run it; the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--every", type=float, default=0.5)
    parser.add_argument("--reply", type=float, default=1.5)
    parser.add_argument("--serve", action="store_true", help="only the judge's server")
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.reply)
        return 0.0
    with tempfile.TemporaryDirectory() as temporary, running_server(Path(temporary) / "home", command=SERVE) as server:
        return asyncio.run(run(server, Path(temporary), chosen))


if __name__ == "__main__":
    sys.exit(main() > TARGET)
