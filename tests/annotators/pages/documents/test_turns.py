"""Who comes next with the processes that draw: shares a person and a project, heavy documents behind others."""

from __future__ import annotations

import pytest

from annotators.pages.documents import turns
from annotators.pages.documents.turns import REMEMBERED_SECONDS, Turn, Turns, drawing_for


class Clock:
    """A clock that only the test moves."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(turns, "time", clock)
    return clock


class Drawing:
    """Processes that draw: people ask, whoever may begins, and ends after so many seconds."""

    def __init__(self, clock: Clock, places: int) -> None:
        self.clock, self.turns, self.free = clock, Turns(places), places
        self.begun: list[Turn] = []

    def ask(self, person: str, path: str, project: str = "theirs", page: int = 1) -> Turn:
        with drawing_for(person, project):
            turn = Turn(path, page)
        self.turns.wait(turn)
        self.begin()
        return turn

    def begin(self) -> None:
        while self.free and (turn := self.turns.next()) is not None:
            self.turns.leave(turn)
            self.turns.begin(turn)
            self.begun.append(turn)
            self.free -= 1

    def end(self, turn: Turn, seconds: float) -> None:
        self.clock.now += seconds
        self.begun.remove(turn)
        self.turns.end(turn)
        self.free += 1
        self.begin()


def test_who_draws_a_document_that_nobody_knows_leaves_a_process_to_others(clock: Clock) -> None:
    drawing = Drawing(clock, 2)
    heavy = [drawing.ask("greedy", "heavy.pdf") for _ in range(3)]
    assert drawing.begun == heavy[:1]
    other = drawing.ask("patient", "light.pdf", "another project")
    assert drawing.begun == [heavy[0], other]


def test_a_document_that_was_heavy_once_leaves_a_process_free_whoever_asks_for_it(clock: Clock) -> None:
    drawing = Drawing(clock, 2)
    drawing.end(drawing.ask("greedy", "heavy.pdf"), 20)
    first = drawing.ask("greedy", "heavy.pdf")
    drawing.ask("their friend", "heavy.pdf")
    drawing.end(drawing.ask("patient", "light.pdf", "another project"), 0.1)
    drawing.ask("of a third project", "heavy.pdf", "a third")
    assert drawing.begun == [first]
    light = drawing.ask("patient", "light.pdf", "another project")
    assert drawing.begun == [first, light]
    clock.now += REMEMBERED_SECONDS
    assert drawing.turns.next() is not None, "after a while it may have been mended"


def test_what_takes_long_on_a_busy_machine_is_not_heavy_for_it(clock: Clock) -> None:
    drawing = Drawing(clock, 2)
    slow = drawing.ask("reader", "light.pdf")
    clock.now += 8
    drawing.begun.remove(slow)
    drawing.turns.end(slow, cost=0.1)
    drawing.free += 1
    pages = [drawing.ask("reader", "light.pdf") for _ in range(2)]
    assert drawing.begun == pages


def test_light_documents_are_drawn_by_all_processes_for_one_person(clock: Clock) -> None:
    drawing = Drawing(clock, 2)
    drawing.end(drawing.ask("reader", "light.pdf"), 0.1)
    pages = [drawing.ask("reader", "light.pdf") for _ in range(3)]
    assert drawing.begun == pages[:2]


def test_whoever_used_least_comes_first_and_what_was_used_fades(clock: Clock) -> None:
    drawing = Drawing(clock, 1)
    drawing.end(drawing.ask("greedy", "heavy.pdf"), 20)
    at_work = drawing.ask("greedy", "heavy.pdf")
    waiting = [drawing.ask("greedy", "heavy.pdf"), drawing.ask("patient", "light.pdf")]
    drawing.end(at_work, 20)
    assert drawing.begun == [waiting[1]]
    drawing.end(waiting[1], 1)
    assert drawing.begun == [waiting[0]]
    drawing.end(waiting[0], 0)
    clock.now += 3600
    again = drawing.ask("patient", "light.pdf")
    same = [drawing.ask("greedy", "light.pdf"), drawing.ask("patient", "light.pdf")]
    drawing.end(again, 0)
    assert drawing.begun == same[:1], "after an hour both have used nothing: who came first comes first"


def test_one_process_is_never_left_idle_and_nobody_in_particular_has_no_share(clock: Clock) -> None:
    alone = Drawing(clock, 1)
    assert alone.begun == [alone.ask("greedy", "heavy.pdf")]
    drawing = Drawing(clock, 2)
    for _ in range(2):
        turn = Turn("unknown.pdf")
        drawing.turns.wait(turn)
        drawing.begin()
        assert turn in drawing.begun


def test_half_of_four_processes_is_a_share(clock: Clock) -> None:
    drawing = Drawing(clock, 4)
    pages = [drawing.ask("greedy", f"{number}.pdf") for number in range(4)]
    assert drawing.begun == pages[:2]
    drawing.ask("friend", "0.pdf")
    assert len(drawing.begun) == 3, "of a project not more than half where they are known to be heavy"
    clock.now += 5  # now all three are heavy
    drawing.ask("another friend", "0.pdf")
    assert len(drawing.begun) == 4, "what is not known yet may begin once"


def test_a_page_that_somebody_else_waits_for_as_well_comes_when_they_would_have_it(clock: Clock) -> None:
    drawing = Drawing(clock, 1)
    drawing.end(drawing.ask("greedy", "heavy.pdf"), 20)
    at_work = drawing.ask("other", "other.pdf")
    waiting = [drawing.ask("greedy", "heavy.pdf", page=page) for page in (1, 2, 3)]
    drawing.ask("other", "other.pdf")
    with drawing_for("patient", "theirs"):
        drawing.turns.also("heavy.pdf", 3)
    drawing.end(at_work, 1)
    assert drawing.begun == [waiting[2]]
