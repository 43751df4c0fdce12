"""Annotators at work through HTTP while a judge has 32 requests under way, on SQLite.

    python -m tests.bench.bench_judging_beside [--annotators 6] [--every 1.0] [--alone 30] [--reply 1.5]

Annotators work alone, then beside a run that the server's own worker carries out, as the page starts it, with 32
requests at once of a server that takes `--reply` seconds for each (another process, as a judge's server is another
machine), then alone again. Target: p95 of submit → next item beside the run at most 1.2 times that without.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
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


def serve(seconds: float) -> None:
    """A judge's server until standard input ends; its address is the first line that it prints."""
    with ScriptedServer(lambda _: script.Slow(seconds)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()
        print(server.requests, server.most_at_once, flush=True)


async def run(server: RunningServer, folder: Path, chosen: argparse.Namespace) -> float:
    """The ratio of the two p95; prints everything."""
    project_id, study_id = set_up(server, folder, chosen.annotators)
    judged = study_for_judges(server.db, server.admin, project_id, protocol=one_step())
    me = [sys.executable, "-m", "tests.bench.bench_judging_beside", "--serve", "--reply", str(chosen.reply)]
    judges = subprocess.Popen(me, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert judges.stdout is not None
    url = judges.stdout.readline().strip()
    (server.home / "assay.toml").write_text(f'judge_servers = "{url}"\n')  # its worker reads it when it starts
    work = Work()
    tasks = [
        asyncio.create_task(annotator(server.url, f"person{number}", study_id, chosen.every, work))
        for number in range(chosen.annotators)
    ]
    await asyncio.sleep(5)
    marks = [time.monotonic()]
    await asyncio.sleep(chosen.alone)
    marks.append(time.monotonic())
    judge = JudgeSettings("tiny-judge", url, default_prompt(), pictures=0)
    given = JudgeParameters(study_id=judged, judge=judge.to_json(), concurrency=AT_ONCE)
    job = queue(server.db, server.admin, project_id, JUDGE, given)
    await asyncio.sleep(15)  # until its worker has started and all are under way
    marks.append(time.monotonic())
    await asyncio.sleep(2 * chosen.alone)
    found = job_facts(server.db, server.admin, project_id, job_id=job.job_id)
    assert found.state == "running", f"it is {found.state}: take more items, or slower replies"
    marks.append(time.monotonic())
    cancel_job(server.db, server.admin, project_id, job_id=job.job_id)
    await asyncio.sleep(8)
    marks.append(time.monotonic())
    await asyncio.sleep(chosen.alone)
    marks.append(time.monotonic())
    work.done = True
    await asyncio.gather(*tasks)
    requests, at_once = judges.communicate("")[0].split()
    print(f"{requests} requests, {at_once} at once")
    assert int(at_once) == AT_ONCE
    for what, first, last in (("alone", 0, 1), ("beside a judge", 2, 3), ("alone again", 4, 5)):
        taken = work.between(marks[first], marks[last])
        print(
            f"{what:15} submits {len(taken):5}  p50 {statistics.median(taken):7.1f} ms  "
            f"p95 {taken[int(len(taken) * 0.95)]:7.1f} ms  longest {taken[-1]:7.1f} ms"
        )
    alone = sorted(work.between(marks[0], marks[1]) + work.between(marks[4], marks[5]))
    beside = work.between(marks[2], marks[3])
    ratio = beside[int(len(beside) * 0.95)] / alone[int(len(alone) * 0.95)]
    print(
        f"p95 beside / without: {ratio:.2f} (target: at most {TARGET:g}); errors: {len(work.errors)} {work.errors[:3]}"
    )
    assert not work.errors
    return ratio


def main() -> float:
    """Run it; the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=6)
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--alone", type=float, default=30)
    parser.add_argument("--reply", type=float, default=1.5)
    parser.add_argument("--serve", action="store_true", help="only the judge's server")
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.reply)
        return 0.0
    with tempfile.TemporaryDirectory() as temporary, running_server(Path(temporary) / "home") as server:
        return asyncio.run(run(server, Path(temporary), chosen))


if __name__ == "__main__":
    sys.exit(main() > TARGET)
