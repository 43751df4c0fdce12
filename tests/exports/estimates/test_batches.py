"""What a study labelled without a draw and in draws, as the batches by which its labels are weighed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from annotators.estimates.drawing import Batch
from annotators.estimates.raters import LabelsByRater
from db.designing.draws import KeptDraw
from exports.estimates.data import StudyUnits

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def units(label: Sequence[float], draws: Sequence[dict[int, float]], at: Sequence[float]) -> StudyUnits:
    """Units 100, 101, … of a study with these labels, given so many hours after noon; a draw each hour from 1 on."""
    n, nothing = len(label), np.zeros(len(label), dtype=np.int64)
    kept = [
        KeptDraw(number, "right", number, (), chances, datetime(2026, 3, 2, 12 + number, tzinfo=UTC))
        for number, chances in enumerate(draws, 1)
    ]
    none: Any = None
    return StudyUnits(
        data=none, human=none, by_rater=LabelsByRater.of(np.array(label)[:, None]),
        names=[str(place) for place in range(n)], study_item=100 + np.arange(n),
        question=nothing, category=[], system=[], stratum=[], label=np.array(label), metrics=[], predictions={},
        order=np.arange(n),
        at=NOON.timestamp() + 3600 * np.array(at), draws=kept, own_chance=None, notes=[],
    )  # fmt: skip


def as_sets(batch: Batch) -> tuple[list[int], list[float], list[bool], list[int]]:
    known = np.flatnonzero(batch.known).tolist()
    return batch.places.tolist(), batch.probability.tolist(), batch.labelled.tolist(), known


def batches(made: StudyUnits) -> list[tuple[list[int], list[float], list[bool], list[int]]]:
    return [as_sets(batch) for batch in made._batches(made.labelled)]


def test_a_draw_knows_what_was_labelled_before_it_and_every_draw_before() -> None:
    """0 and 1 were labelled without a draw, 1 after the first; 2 and 3 drawn first, then 4 and 5; 3 has no label."""
    nan, inf = np.nan, np.inf
    made = units(
        [1, 0, 1, nan, 0, 1, nan, nan],
        [{102: 0.5, 103: 0.25}, {104: 0.2, 105: 0.4}],
        [0.5, 1.5, 1.2, inf, 2.2, 2.3, inf, inf],
    )
    assert batches(made) == [
        ([0, 1], [0.25, 0.25], [True, True], []),
        ([2, 3], [0.5, 0.25], [True, False], [0]),
        ([4, 5], [0.2, 0.4], [True, True], [0, 1, 2]),
    ]


def test_without_labels_of_a_draw_labels_are_weighed_by_none() -> None:
    nan, inf = np.nan, np.inf
    assert batches(units([1, 0, nan], [], [0.5, 0.6, inf])) == []
    assert batches(units([1, 0, nan], [{102: 0.5}], [0.5, 0.6, inf])) == []
    [drawn] = batches(units([nan, nan, 1], [{102: 0.5}], [inf, inf, 1.5]))
    assert drawn == ([2], [0.5], [True], [])


def test_what_can_be_drawn_has_no_label_and_was_not_drawn_before() -> None:
    made = units([1, np.nan, np.nan, np.nan], [{101: 0.5}], [0.5, np.inf, np.inf, np.inf])
    assert made.open_items.tolist() == [2, 3]
    made.study_item[3] = -1
    assert made.open_items.tolist() == [2], "an item of the project beside the study is none of its places"
