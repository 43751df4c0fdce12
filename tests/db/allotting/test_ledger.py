"""Random sequences of everything that may happen to a study, after each act held to a model in plain Python."""

from __future__ import annotations

import pytest

from db.engine import Database
from tests.db.allotting.walk import Walk


def walked(database: Database, seed: int, steps: int) -> Walk:
    walk = Walk(database, seed)
    for _ in range(steps):
        walk.step()
    return walk


@pytest.mark.parametrize("seed", [1, 4, 10])
def test_every_state_and_count_is_what_the_model_says(database: Database, seed: int) -> None:
    walk = walked(database, seed, 60)
    assert sum(walk.done.values()) > 20


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 160))
def test_thousands_of_acts_leave_every_state_and_count_as_the_model_says(database: Database, seed: int) -> None:
    walked(database, seed, 150)
