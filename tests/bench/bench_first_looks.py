"""What the first look at a page takes that shows counts of many items, and a later one, against those of few items.

Run: .venv/bin/python -m tests.bench.bench_first_looks [--small 1000] [--large 100000] [--done 0.5] [--rounds 5]
A study of three slots an item, of which a share has its annotations; what people find wrong waits to be revised. Looked
at as its researcher: Home, the list of studies, and Fewer labels (as its process works it out). A first look is one of
a process that has kept nothing: after a start, or when labels or items have come. Printed are medians in milliseconds
and their ratio.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from db.designing import kept_plans
from db.items import read
from db.people.accounts import set_member
from db.permissions import Role
from db.releasing import revising
from db.releasing.states import keep_failing
from exports.estimates.view import fewer_labels
from tests.app.pages import Pages, installation, words
from tests.bench.big_study import BigStudy, make_big_study


def forget() -> None:
    """What a process keeps of items and studies is gone, as after its start."""
    read._kept.clear()
    kept_plans._kept.clear()
    revising._waiting.clear()


def acts(pages: Pages, name: str, big: BigStudy) -> dict[str, Callable[[], object]]:
    """What is timed, for one study and its researcher."""
    pages.person(name)
    set_member(pages.db, pages.admin, big.project_id, name=name, role=Role.RESEARCHER)
    token, project = pages.token(name), str(big.project_id)
    keep_failing(pages.db, pages.admin, big.study_id)
    assert "in revision" in words(pages.open(token))
    assert "Studies of" in words(pages.open(token, "studies", project=project))
    return {
        "home": lambda: pages.open(token),
        "list of studies": lambda: pages.open(token, "studies", project=project),
        "fewer labels": lambda: fewer_labels(pages.db, pages.admin, big.study_id),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--done", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", nargs="*", default=[], help="pages not to time")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        with installation(Path(folder), patch) as pages:
            places = {
                name: acts(pages, name, make_big_study(pages.db, size, seed=size, done=asked.done, accepting=True))
                for name, size in (("few", asked.small), ("many", asked.large))
            }
            found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
            for _ in range(asked.rounds):
                for what in places["few"]:
                    for name, timed in places.items():
                        if what in asked.skip:
                            continue
                        forget()
                        for look in ("first", "later") if what != "fewer labels" else ("first",):
                            began = time.perf_counter()
                            timed[what]()
                            found[what, look, name].append((time.perf_counter() - began) * 1000)
        print(f"{'':<24} {asked.small:>12,} {asked.large:>12,}   ratio")
        for what, look in dict.fromkeys(key[:2] for key in found):
            few, many = (statistics.median(found[what, look, name]) for name in places)
            print(f"{what + ', ' + look + ' look':<28} {few:9.1f} ms {many:9.1f} ms {many / few:7.2f}")


if __name__ == "__main__":
    main()
