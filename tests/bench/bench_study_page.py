"""What the pages that watch a study take when it has many items, against one of few.

Run: .venv/bin/python -m tests.bench.bench_study_page [--small 1000] [--large 1000000] [--done 0.5] [--rounds 15]
Every item has three slots; a share of the items has its three annotations, and people disagree about half of those. In
turns, as a researcher of each project: the study's page (tab Progress), Home, and the form that makes a study, opened
and at each change of its name, run as Streamlit runs them; and the operations behind `assay status`. Printed are
medians in milliseconds and their ratio.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from db.adjudicating.adjudications import settlement_counts
from db.annotating.status import study_status
from db.people.accounts import set_member
from db.permissions import Role
from db.releasing.counts import study_stages
from db.studies.design import my_studies
from tests.app.pages import Pages, installation, words
from tests.bench.big_study import BigStudy, make_big_study


def acts(pages: Pages, name: str, big: BigStudy) -> dict[str, Callable[[], object]]:
    """What is timed, for one study and its researcher."""
    pages.person(name)
    set_member(pages.db, pages.admin, big.project_id, name=name, role=Role.RESEARCHER)
    token, study = pages.token(name), big.study_id
    shown = "Annotators of big" in words(pages.open(token, "study", study=str(study)))
    assert shown and "Big" in words(pages.open(token))
    form = pages.open(token, "studies", project=str(big.project_id), new="1")
    assert "Create study" in [button.label for button in form.button]
    letters = count()

    def typed() -> None:
        form.text_input(key="study-name").input(f"Study {next(letters)}").run()

    return {
        "study page": lambda: pages.open(token, "study", study=str(study)),
        "home": lambda: pages.open(token),
        "form of a new study": lambda: pages.open(token, "studies", project=str(big.project_id), new="1"),
        "a key in this form": typed,
        "status": lambda: study_status(pages.db, pages.admin, study),
        "items by settlement": lambda: settlement_counts(pages.db, pages.admin, study),
        "stages": lambda: study_stages(pages.db, pages.admin, study),
        "list of studies": lambda: my_studies(pages.db, pages.admin),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--done", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--skip", nargs="*", default=[], help="acts not to time")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        with installation(Path(folder), patch) as pages:
            places = {}
            for name, size in (("few", asked.small), ("many", asked.large)):
                places[name] = acts(
                    pages, name, make_big_study(pages.db, size, seed=size, done=asked.done, scores=False)
                )
            found: dict[tuple[str, str], list[float]] = defaultdict(list)
            for turn in range(asked.rounds + 1):
                for what in places["few"]:
                    for name, timed in places.items():
                        if what in asked.skip:
                            continue
                        began = time.perf_counter()
                        timed[what]()
                        if turn:  # the first turn warms the caches
                            found[what, name].append((time.perf_counter() - began) * 1000)
        print(f"{'':<22} {asked.small:>12,} {asked.large:>12,}   ratio")
        for what in places["few"]:
            if what not in asked.skip:
                few, many = (statistics.median(found[what, name]) for name in places)
                print(f"{what:<22} {few:9.1f} ms {many:9.1f} ms {many / few:7.2f}")


if __name__ == "__main__":
    main()
