"""Who cancels a run is told from what goes wrong in it, and hears how far it is within a block and over all trials."""

from __future__ import annotations

import pytest

from db.judging.run import Heard, _HeardWithin
from db.judging.trying import _HeardOfAll


class Cancelled(Exception):
    pass


def cancelling(done: int, _of: int) -> None:
    """Progress that stops the work from the third on."""
    if done > 2:
        raise Cancelled


def test_what_the_one_who_hears_it_raises_cancels_and_nothing_else_does() -> None:
    heard = Heard(cancelling)
    heard(2, 5)
    assert not heard.was_told_by(Cancelled()), "nobody has cancelled anything"
    with pytest.raises(Cancelled) as raised:
        heard(3, 5)
    assert heard.was_told_by(raised.value)
    assert not heard.was_told_by(Cancelled()), "another one of the same kind"
    assert not heard.was_told_by(ValueError("the server is gone"))


def test_ctrl_c_cancels_wherever_it_comes() -> None:
    assert Heard(cancelling).was_told_by(KeyboardInterrupt())
    assert not Heard(cancelling).was_told_by(SystemExit())


def test_within_a_block_more_is_said_to_be_done_and_never_more_than_all() -> None:
    said: list[tuple[int, int]] = []
    heard = _HeardWithin(lambda done, of: said.append((done, of)))
    heard.again(0)
    heard(4, 10)
    for more in (0, 3, 99):
        heard.again(more)
    heard(8, 10)
    heard.again(1)
    assert said == [(0, 0), (4, 10), (4, 10), (7, 10), (10, 10), (8, 10), (9, 10)]


def test_who_cancels_within_a_block_is_heard_as_well() -> None:
    heard = _HeardWithin(cancelling)
    heard(2, 5)
    with pytest.raises(Cancelled) as raised:
        heard.again(1)
    assert heard.was_told_by(raised.value)


def test_of_several_trials_each_goes_on_where_the_one_before_ended() -> None:
    said: list[tuple[int, int]] = []
    heard = _HeardOfAll(lambda done, of: said.append((done, of)), 20, 30)
    heard.again()
    heard(4, 10)
    heard.again(3)
    heard(12, 10)
    assert said == [(20, 30), (24, 30), (24, 30), (30, 30)]
