"""Many at once on one study that is amended under way: what is wanted of each item comes, and nothing twice.

Overlap of two sorts, gold items and repeats, skips, leases that run out, items that are returned, annotators who are
cut off at any moment, and meanwhile amendments, labels left out and put back, items revised and sent back.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlmodel import Session, col, select

from annotators.errors import AssayError
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.annotating.assignments import return_to_annotator
from db.annotating.status import study_status
from db.engine import Database
from db.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Purpose,
    Settlement,
    StudyItem,
    StudyState,
    Submission,
    now,
)
from db.quality.gold import GoldRow, set_gold
from db.quality.omissions import leave_out, restore
from db.releasing.recheck import send_to_recheck
from db.studies import tallies
from db.studies.revisions import revise_item
from tests.db.annotating.race import labour
from tests.db.releasing.test_states import accepting
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, make_item

PEOPLE = 20


def prepared(database: Database, items: int, queue: str = "dynamic") -> StudyInUse:
    """Of a tenth of the items three annotations are wanted, of the others two; up to four where people disagree.

    In a `balanced` queue slots belong to people, and nobody more is asked.
    """
    more = {"most_overlap": 4} if queue == "dynamic" else {}
    study = StudyInUse(
        database, items=items, annotators=PEOPLE, overlap=2, protocol=accepting(),
        part=0.1, part_overlap=3, queue=queue, lease_minutes=5, **more,
    )  # fmt: skip
    n = max(8, items // 20)
    for number in range(n):
        make_item(database, study.project_id, f"g{number}")
    rows = [GoldRow(None, f"g{number}", "right", "item", "yes") for number in range(n)]
    rates = {"gold_rate": 0.05, "repeat_rate": 0.05}
    set_gold(database, study.researcher, study.study_id, rows=rows, rates=rates, reason="who reads")
    return study


class Meddling:
    """What a researcher does meanwhile, a random act at a time."""

    def __init__(self, study: StudyInUse, seed: int) -> None:
        self.study, self.rng = study, random.Random(seed)
        self.done: Counter[str] = Counter()
        self.over = threading.Event()
        self.problems: list[BaseException] = []

    def __call__(self) -> None:
        acts = [self.expire, self.send_home, self.drop, self.pause, self.give_back, self.revise, self.raise_overlap]
        while not self.over.wait(0.15):
            act: Callable[[], None] = self.rng.choice(acts)
            try:
                act()
                self.done[act.__name__] += 1
            except AssayError:
                continue  # nothing to return, nothing settled yet, too few left
            except BaseException as error:
                self.problems.append(error)
                return

    def _about(self) -> tuple[Database, object, int]:
        return self.study.db, self.study.researcher, self.study.study_id

    def expire(self) -> None:
        with self.study.db.write() as session:
            session.execute(
                text("UPDATE assignment SET lease_until = :past WHERE state = 'leased' AND id % 3 = :third"),
                {"past": now() - timedelta(minutes=9), "third": self.rng.randrange(3)},
            )

    def send_home(self) -> None:
        name = self.rng.choice(self.study.annotators[2:]).name
        amend_study(*self._about(), change=StudyChange(remove=(name,)), reason="a break")
        amend_study(*self._about(), change=StudyChange(add=(name,)), reason="back")

    def drop(self) -> None:
        name = self.rng.choice(self.study.annotators).name
        since = datetime.now(UTC) - timedelta(seconds=self.rng.random() * 3)
        leave_out(*self._about(), annotator=name, since=since, reason="at random")
        if self.rng.random() < 0.8:
            restore(*self._about(), annotator=name, reason="a mistake")

    def pause(self) -> None:
        set_state(*self._about(), state=StudyState.PAUSED, reason="a moment")
        set_state(*self._about(), state=StudyState.RUNNING, reason="go on")

    def give_back(self) -> None:
        with self.study.db.read() as session:
            done = select(Assignment.id).where(Assignment.kind == "slot", Assignment.state == AssignmentState.SUBMITTED)
            ids = session.exec(done.limit(200)).all()
        if ids:
            return_to_annotator(
                self.study.db, self.study.researcher, self.rng.choice(ids) or 0, reason="look at it again"
            )

    def revise(self) -> None:
        with self.study.db.read() as session:
            settled = select(Settlement.study_item_id).where(col(Settlement.state) == "agreed").limit(300)
            ids = session.exec(settled).all()
        latest = {of: name for name, of in self._names().items()}
        if places := [place for place in ids if place in latest]:
            item = latest[self.rng.choice(places)]
            self.study_revision(item)
            send_to_recheck(*self._about(), items=(item,), reason="rewritten")

    def study_revision(self, item: str) -> None:
        about = (self.study.db, self.study.researcher, self.study.project_id)
        revise_item(*about, external_id=item, fields={"answer": f"{self.rng.random()}"}, reason="wrong")

    def raise_overlap(self) -> None:
        if self.rng.random() < 0.05:
            amend_study(*self._about(), change=StudyChange(overlap=3), reason="more")

    def _names(self) -> dict[str, int]:
        with self.study.db.read() as session:
            return dict(
                session.execute(
                    text(
                        "SELECT i.external_id, max(x.id) FROM study_item x "
                        "JOIN item_version v ON v.id = x.item_version_id JOIN item i ON i.id = v.item_id "
                        "WHERE x.study_id = :study GROUP BY i.external_id"
                    ),
                    {"study": self.study.study_id},
                ).all()
            )


@contextmanager
def meddled_with(study: StudyInUse, seed: int) -> Iterator[Meddling]:
    meddling = Meddling(study, seed)
    thread = threading.Thread(target=meddling)
    thread.start()
    try:
        yield meddling
    finally:
        meddling.over.set()
        thread.join()
    assert meddling.problems == []


def finish(study: StudyInUse) -> None:
    """Everybody is let go on, and all that is left is done."""
    with suppress(AssayError):
        set_state(study.db, study.researcher, study.study_id, state=StudyState.RUNNING, reason="go on")
    for actor in study.annotators:
        with suppress(AssayError):
            restore(study.db, study.researcher, study.study_id, annotator=actor.name, reason="all count")
        with suppress(AssayError):
            amend_study(
                study.db,
                study.researcher,
                study.study_id,
                change=StudyChange(add=(actor.name,)),
                reason="all are there",
            )
    for turn in range(3):
        for who, actor in enumerate(study.annotators):
            labour(study.db, study.study_id, actor.person_id, 1_000_000 * (turn + 1) + who, lambda _uid: None, idle=0)


def check(study: StudyInUse, acknowledged: list[str]) -> None:
    """Exactly what is wanted of each item, by as many people; nothing acknowledged is missing or there twice."""
    status = study_status(study.db, study.researcher, study.study_id)
    with study.db.read() as session:
        stored = session.exec(select(Submission.uid)).all()
        assert set(acknowledged) <= set(stored)
        assert len(stored) == len(set(stored))
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)
        overlap = session.execute(text("SELECT overlap FROM study WHERE id = :id"), {"id": study.study_id}).scalar_one()
        gone = set(session.exec(select(StudyItem.earlier_id).where(col(StudyItem.earlier_id).is_not(None))).all())
        rows = session.exec(
            select(Assignment.study_item_id, Assignment.person_id, Assignment.kind, Assignment.state)
        ).all()
        counting: dict[int, list[int]] = defaultdict(list)
        for item, person, kind, state in rows:
            if kind == "slot" and state == AssignmentState.SUBMITTED:
                counting[item].append(person or 0)
        for item, people in counting.items():
            assert len(people) == len(set(people)), f"item {item} twice by one"
        left = Counter(item for item, _, kind, state in rows if kind == "slot" and state == AssignmentState.OPEN)
        wanted = wanted_of_each(session, overlap)
        # Who was asked for more as others disagreed may have come before one of these changed their mind.
        asked = {item: n or 0 for item, n in session.exec(select(Settlement.study_item_id, Settlement.wanted))}
        for item, n in wanted.items():
            if item in gone:
                continue
            there = len(counting.get(item, ()))
            assert there + left[item] >= n, f"item {item}: {there} and {left[item]} open of {n}"
            assert there <= max(n, asked.get(item, 0), 3 if overlap == 2 else 4), f"item {item}: {there} of {n}"
        # What is still open is so because everybody has had or skipped it, and that is what the status says.
        assert len(left) == status["stuck"]
        judged = session.exec(
            select(Annotation.study_item_id, Annotation.person_id).where(Annotation.kind == "gold")
        ).all()
        corrections = Counter(judged)
        assert corrections and max(corrections.values()) == 1
        _nobody_rechecks_what_they_know(session)


def wanted_of_each(session: Session, overlap: int) -> dict[int, int]:
    """How many annotations each item is to have: as planned, and one more where its annotators disagree.

    Where one of them, to whom the item was returned, agreed before another came, nobody more is needed.
    """
    asked = select(Settlement.study_item_id, Settlement.wanted).where(col(Settlement.state) != "agreed")
    more = {item: n or 0 for item, n in session.exec(asked)}
    items = select(StudyItem.id, StudyItem.purpose, StudyItem.overlap).where(
        col(StudyItem.purpose).in_((Purpose.SAMPLE, Purpose.RECHECK))
    )
    planned = {
        item or 0: max(own or 0, overlap) if purpose == Purpose.SAMPLE else own or overlap
        for item, purpose, own in session.exec(items)
    }
    return {item: max(n, more.get(item, 0)) for item, n in planned.items()}


def _nobody_rechecks_what_they_know(session: object) -> None:
    known = text(
        "SELECT count(*) FROM study_item r JOIN item_version rv ON rv.id = r.item_version_id "
        "JOIN assignment a ON a.study_item_id = r.id AND a.kind = 'slot' AND a.person_id IS NOT NULL "
        "JOIN item_version ev ON ev.item_id = rv.item_id AND ev.number < rv.number "
        "JOIN study_item e ON e.item_version_id = ev.id "
        "JOIN assignment b ON b.study_item_id = e.id AND b.person_id = a.person_id AND b.kind <> 'barred' "
        "WHERE r.purpose = 'recheck'"
    )
    assert session.execute(known).scalar_one() == 0  # type: ignore[attr-defined]


def raced_by_threads(database: Database, items: int, queue: str = "dynamic") -> None:
    study = prepared(database, items, queue)
    acknowledged: list[str] = []
    problems: list[BaseException] = []

    def one(who: int) -> None:
        try:
            labour(study.db, study.study_id, study.annotators[who].person_id, who, acknowledged.append)
        except BaseException as error:
            problems.append(error)

    with meddled_with(study, items) as meddling:
        threads = [threading.Thread(target=one, args=(who,)) for who in range(PEOPLE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert problems == []
    assert len(meddling.done) > 3
    finish(study)
    check(study, acknowledged)


def raced_by_processes(database: Database, items: int, kills: int, queue: str = "dynamic") -> None:
    """Eight processes, of which one after the other is killed wherever it is, and begun again."""
    study = prepared(database, items, queue)
    url = database.engine.url.render_as_string(hide_password=False)
    rng, outputs = random.Random(items), []

    def begin(who: int, seed: int) -> subprocess.Popen[str]:
        person = study.annotators[who].person_id
        words = [sys.executable, "-m", "tests.db.annotating.race", url, str(study.study_id), str(person), str(seed)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    with meddled_with(study, items):
        running = {who: begin(who, who) for who in range(8)}
        for kill in range(kills):
            time.sleep(rng.random() * 0.6)
            who = rng.randrange(8)
            running[who].send_signal(signal.SIGKILL)
            outputs.append(running[who].communicate()[0])
            running[who] = begin(who, 100 + kill)
        outputs += [process.communicate()[0] for process in running.values()]
    acknowledged = [line for output in outputs for line in output.splitlines() if len(line) == 32]
    # Of a balanced queue these eight of twenty people do what is theirs, and some of what others hand on.
    assert len(acknowledged) > (items if queue == "dynamic" else items // 2)
    finish(study)
    check(study, acknowledged)


@pytest.mark.slow
def test_twenty_threads(database: Database) -> None:
    raced_by_threads(database, 120)


@pytest.mark.slow
def test_eight_processes_that_are_killed(database: Database) -> None:
    raced_by_processes(database, 80, 6)


@pytest.mark.slow
def test_twenty_threads_on_items_that_are_allotted(database: Database) -> None:
    raced_by_threads(database, 60, "balanced")


@pytest.mark.nightly
def test_eight_processes_that_are_killed_on_items_that_are_allotted(database: Database) -> None:
    raced_by_processes(database, 80, 6, "balanced")


@pytest.mark.nightly
def test_twenty_threads_on_two_thousand_items(database: Database) -> None:
    raced_by_threads(database, 2_000)


@pytest.mark.nightly
def test_eight_processes_and_two_hundred_kills_on_two_thousand_items(database: Database) -> None:
    raced_by_processes(database, 2_000, 200)
