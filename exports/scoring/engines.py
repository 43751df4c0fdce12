"""Where scorers compute: in this process, or on the workers of a Dask cluster. The scores are the same."""

from __future__ import annotations

import importlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.scorers.base import ScoreValue
from annotators.scorers.shared.tasks import Engine, ScoredBlock, ScoringTask, in_this_process
from exports.checks import check_engine

_AHEAD = 3
"""Blocks that are with each worker of a cluster at a time: one it computes, and two that wait for it."""


@contextmanager
def scoring_engine(name: str = "local", address: str | None = None) -> Iterator[Engine]:
    """An engine by its name; `address` is the scheduler of a running Dask cluster (`tcp://host:8786`).

    Without an address Dask gets a cluster of its own on this machine, one process a core, which ends with the block.
    Raises InvalidInput for an unknown engine, an address without Dask, or when Dask is not installed or not there.
    """
    check_engine(name, address)
    if name == "local":
        yield in_this_process
        return
    with _client(address) as client:
        yield lambda task, blocks: _on_dask(client, task, blocks)


@contextmanager
def _client(address: str | None) -> Iterator[Any]:
    try:
        distributed: Any = importlib.import_module("distributed")  # an extra, and 0.5 s
    except ImportError:
        raise InvalidInput("Dask is not installed. Install it with: pip install 'assay[dask]'.") from None
    if address is None:
        workers = os.cpu_count() or 1
        # A process each: scorers are Python, and each process keeps the embedding model once.
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"No Dask scheduler answers at {address!r}: {error}. Check the address.") from error
    with client:
        yield client


def _on_dask(client: Any, task: ScoringTask, blocks: Iterator[list[ItemContent]]) -> Iterator[ScoredBlock]:
    """The blocks in their order, computed on the cluster; so many are under way that no worker waits, and no more."""
    under_way: deque[tuple[list[ItemContent], Any]] = deque()
    try:
        for items in blocks:
            under_way.append((items, client.submit(_score, task, items, pure=False)))
            if len(under_way) >= _AHEAD * _n_threads(client):
                yield _gathered(*under_way.popleft())
        while under_way:
            yield _gathered(*under_way.popleft())
    finally:
        client.cancel([future for _, future in under_way], force=True)


def _n_threads(client: Any) -> int:
    return max(1, int(sum(client.nthreads().values())))


def _gathered(items: list[ItemContent], future: Any) -> ScoredBlock:
    scores: list[list[ScoreValue]] = future.result()
    return items, scores


def _score(task: ScoringTask, items: Sequence[ItemContent]) -> list[list[ScoreValue]]:
    """What a worker of the cluster runs."""
    return task.score(items)
