"""Several predictions combined, each unit's by the labels of others."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.arrays import FloatArray
from annotators.estimates.combined import Combined, combined


def made(human: FloatArray, predictions: FloatArray, cluster: FloatArray | None = None) -> Combined:
    places = np.arange(len(human)) if cluster is None else cluster.astype(np.int64)
    return combined(human, predictions, cluster=places, stratum=np.zeros(len(human), dtype=np.int64))


def test_a_prediction_never_saw_its_own_label_or_one_of_its_cluster() -> None:
    rng = np.random.default_rng(0)
    human, scores = rng.normal(size=60), rng.normal(size=(60, 1))
    human += scores[:, 0]
    cluster = np.repeat(np.arange(20), 3).astype(np.float64)
    before = made(human, scores, cluster)
    changed = human.copy()
    changed[:3] += 100
    after = made(changed, scores, cluster)
    assert (before.fold[:3] == before.fold[0]).all()
    same = before.fold == before.fold[0]
    assert after.values[same] == pytest.approx(before.values[same])
    assert not np.allclose(after.values[~same], before.values[~same])


def test_two_weak_scores_together_predict_better_than_the_best() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    scores = y[:, None] + 1.5 * rng.normal(size=(2000, 3))
    human = np.where(np.arange(2000) < 200, y, np.nan)
    both = np.corrcoef(made(human, scores).values[200:], y[200:])[0, 1]
    assert both > np.corrcoef(scores[200:, 0], y[200:])[0, 1] + 0.1


def test_noise_is_left_out() -> None:
    rng = np.random.default_rng(2)
    human = np.where(np.arange(500) < 60, rng.normal(size=500), np.nan)
    found = [made(human, rng.normal(size=(500, 4))).fitted for _ in range(20)]
    assert sum(found) <= 6
    assert not made(human[:70], rng.normal(size=(70, 0))).fitted
    assert not made(np.where(np.arange(500) < 5, human, np.nan), human[:, None] * 0).fitted


def test_missing_scores_are_no_reason_to_do_without_the_others() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=800)
    scores = y[:, None] + 0.4 * rng.normal(size=(800, 2))
    scores[::2, 0] = np.nan
    scores[::5, 1] = np.nan
    human = np.where(np.arange(800) < 150, y, np.nan)
    found = made(human, scores)
    assert np.isfinite(found.values).all()
    assert np.corrcoef(found.values[150:], y[150:])[0, 1] > 0.75
    assert (found.used > 0.5).all()
