"""An annotator whose server comes and goes: each stint is a process, forked off this one, that is killed or leaves."""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time

from db.engine import Database
from tests.db.annotating.race import labour


def main() -> None:
    """`URL STUDY PERSON SEED SECONDS`: stints of about so many seconds with as long rests, until standard input ends;
    each id that was acknowledged is printed."""
    url, study_id, person_id, seed, seconds = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])
    rng = random.Random(seed)
    while True:
        given, leaves = rng.getrandbits(31), rng.random() < 0.3
        child = os.fork()
        if child == 0:
            until = time.monotonic() + (rng.uniform(0.3, 1.0) * seconds if leaves else 3600)
            _work(url, study_id, person_id, given, until)
        time.sleep(rng.uniform(0.3, 1.5) * seconds)
        if not leaves:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if select.select([0], [], [], rng.uniform(0.1, 1.0) * seconds)[0]:
            return


def _work(url: str, study_id: int, person_id: int, seed: int, until: float) -> None:
    db = Database(url, wait_seconds=5)

    def say(uid: str) -> None:
        os.write(1, f"{uid}\n".encode())
        if time.monotonic() > until:
            db.dispose()
            os._exit(0)

    try:
        labour(db, study_id, person_id, seed, say)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
