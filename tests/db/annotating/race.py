"""One annotator of a race, as a thread or as a process of its own: gets work, submits, skips, and is cut off."""

from __future__ import annotations

import random
import sys
import time
import uuid
from collections.abc import Callable

from annotators.asking.submissions import GivenLabel
from annotators.errors import Conflict, NotAllowed
from db.annotating.annotations import submit, work
from db.annotating.assignments import skip
from db.annotating.committing import StepSubmission
from db.engine import Database
from db.people.accounts import actor_of

IDLE = 1.5
"""Seconds without anything to do after which an annotator goes home: a pause, or slots that are freed, come sooner."""


def labour(
    db: Database,
    study_id: int,
    person_id: int,
    seed: int,
    acknowledged: Callable[[str], None],
    *,
    idle: float = IDLE,
) -> None:
    """Annotate until nothing has come for `idle` seconds; each id that the server has acknowledged is told."""
    rng = random.Random(seed)
    with db.read() as session:
        actor = actor_of(session, person_id, "web")
    idle_since = time.monotonic()
    while True:
        try:
            items = work(db, actor, study_id, about=False)["items"]
            if not items:
                if time.monotonic() - idle_since >= idle:
                    return
                time.sleep(0.1)
                continue
            idle_since = time.monotonic()
            # Not always the first: whoever has two windows sends in any order.
            item = items[0] if rng.random() < 0.9 else items[-1]
            if rng.random() < 0.04:
                skip(db, actor, study_id, assignment_id=item["assignment"], reason="unclear")
                continue
            uid = uuid.UUID(int=rng.getrandbits(128)).hex
            labels = tuple(
                GivenLabel(name, target, rng.choice(["yes", "yes", "no"]))
                for name, targets in item["units"].items()
                for target in targets
            )
            step = StepSubmission(uid, item["assignment"], item["sitting"], item["step"], labels, seconds=1.0)
            for _ in range(1 if rng.random() < 0.95 else 2):  # an answer that was lost is asked for again
                submit(db, actor, study_id, step=step)
            acknowledged(uid)
        except (Conflict, NotAllowed):
            continue


def main() -> None:
    """`URL STUDY PERSON SEED`: labour, and print each id that was acknowledged."""
    url, study_id, person_id, seed = sys.argv[1], *map(int, sys.argv[2:])

    def say(uid: str) -> None:
        sys.stdout.write(f"{uid}\n")
        sys.stdout.flush()

    labour(Database(url), study_id, person_id, seed, say)


if __name__ == "__main__":
    main()
