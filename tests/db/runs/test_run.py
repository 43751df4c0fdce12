"""What all runs share, by a kind that is no scorer: blocks, going on, two at once, and what is written down of them."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotators.errors import InvalidInput
from annotators.progress import Progress, unheard
from db.engine import Database
from db.jobs import WorkerDesk, queue_job
from db.models import Event, ItemVersion, Run
from db.permissions import Actor
from db.runs.run import RunUnderWay, parameters_hash
from tests.bulk import make_items
from tests.db.runs.word_counts import COUNTS, QuestionText, WordCounts, counted, make_table
from tests.makers import make_person, make_project

N = 23


class Counted:
    """A project of 23 items, whose questions have eight words each."""

    def __init__(self, db: Database) -> None:
        make_table(db)
        self.db, self.admin, self.project_id = db, make_person(db, admin=True), make_project(db)
        make_items(db, self.project_id, N)

    def run(self, kind: WordCounts | None = None) -> RunUnderWay[QuestionText, int]:
        return RunUnderWay(self.db, self.admin, self.project_id, kind or WordCounts())

    def add(self, n: int) -> None:
        make_items(self.db, self.project_id, n, start=N)


@pytest.fixture
def project(database: Database) -> Counted:
    return Counted(database)


def test_every_item_is_done_once_in_blocks(project: Counted) -> None:
    seen: list[tuple[int, int]] = []
    run = project.run()
    assert run.has_work()
    run.over_all_items(lambda done, of: seen.append((done, of)))
    assert seen == [(0, N), (5, N), (10, N), (15, N), (20, N), (N, N)]
    assert (run.added, counted(project.db)) == (N, (N, N, 1))
    with project.db.read() as session:
        assert set(session.execute(select(COUNTS.c.n)).scalars()) == {8}
    again = project.run()
    assert not again.has_work()
    again.over_all_items(unheard)
    assert (again.added, counted(project.db)) == (0, (N, N, 1))


def test_what_a_run_that_was_stopped_has_left_is_done_by_the_next(project: Counted) -> None:
    def stop(done: int, _of: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    run = project.run()
    with pytest.raises(KeyboardInterrupt):
        run.over_all_items(stop)
    assert (run.added, counted(project.db)) == (10, (10, 10, 1))
    seen: list[tuple[int, int]] = []
    following = project.run()
    following.over_all_items(lambda done, of: seen.append((done, of)))
    assert seen[0] == (10, N)
    assert (following.added, counted(project.db)) == (N - 10, (N, N, 2))


def test_a_block_that_is_stored_is_progress_of_its_job_though_no_heartbeat_came(project: Counted) -> None:
    job = queue_job(project.db, project.admin, project.project_id, kind="count", parameters={}).job_id
    desk = WorkerDesk(project.db, "one that dies")

    def die_at(last: int) -> Progress:
        def die(done: int, _of: int) -> None:
            if done == last:
                raise KeyboardInterrupt

        return die

    for block in range(1, 5):
        assert desk.take() is not None
        run = RunUnderWay(project.db, project.admin, project.project_id, WordCounts(), job_id=job)
        with pytest.raises(KeyboardInterrupt):
            run.over_all_items(die_at(5 * block))
        desk.give_back(died=True)
    assert counted(project.db)[0] == 20
    assert desk.take() is not None


def test_items_that_come_later_are_done_and_other_parameters_beside(project: Counted) -> None:
    project.run().over_all_items(unheard)
    project.add(4)
    later = project.run()
    later.over_all_items(unheard)
    assert (later.added, counted(project.db)) == (4, (N + 4, N + 4, 2))
    longer = project.run(WordCounts(letters=5))
    longer.over_all_items(unheard)
    assert (longer.added, counted(project.db)) == (N + 4, (2 * (N + 4), N + 4, 3))
    assert not set(longer.same) & set(later.same)


def test_three_at_once_store_each_result_once(project: Counted) -> None:
    project.add(60)
    together, added = threading.Barrier(3), []

    def one_run() -> None:
        together.wait()
        run = project.run(WordCounts(seconds=0.01))
        run.over_all_items(unheard)
        added.append(run.added)

    threads = [threading.Thread(target=one_run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    n, versions, _ = counted(project.db)
    assert sum(added) == n == versions == N + 60


def test_a_run_is_recorded_by_its_kind_with_who_and_how_many(project: Counted) -> None:
    project.run(WordCounts(letters=3)).over_all_items(unheard)
    about = {"counter": "word_count", "version": "1", "parameters": {"letters": 3}}
    with project.db.read() as session:
        run = session.execute(select(Run)).scalar_one()
        events = list(session.execute(select(Event).order_by(col(Event.id))).scalars())
    assert (run.kind, run.name, run.version, run.parameters) == ("counter", "word_count", "1", {"letters": 3})
    assert (run.parameters_hash, run.person_id) == (parameters_hash({"letters": 3}), project.admin.person_id)
    assert [(event.kind, event.details) for event in events] == [
        ("counting started", about),
        ("counting finished", {**about, "counts": N}),
    ]
    assert all((event.thing, event.thing_id, event.person_id) == ("run", run.id, run.person_id) for event in events)


def test_a_new_version_of_an_item_is_done_anew(project: Counted) -> None:
    project.run().over_all_items(unheard)
    with project.db.write() as session:
        version = session.execute(select(ItemVersion).order_by(col(ItemVersion.id)).limit(1)).scalar_one()
        session.add(ItemVersion(item_id=version.item_id, number=2, question="Two words", content_hash="new"))
    run = project.run()
    run.over_all_items(unheard)
    assert (run.added, counted(project.db)) == (1, (N + 1, N + 1, 2))


def test_a_project_without_items_has_nothing_to_do(database: Database) -> None:
    admin: Actor = make_person(database, admin=True)
    make_table(database)
    with pytest.raises(InvalidInput, match=r"no items to count\. Import some first"):
        RunUnderWay(database, admin, make_project(database), WordCounts())


def test_the_hash_of_parameters_does_not_depend_on_the_order_of_names() -> None:
    assert parameters_hash({"a": 1, "b": 2}) == parameters_hash({"b": 2, "a": 1})
    assert parameters_hash({"a": 1}) != parameters_hash({"a": 2})
