"""The items behind scores: cells, distributions, and two scorers against each other."""

from __future__ import annotations

import pytest

from annotators.errors import NotAllowed, NotFound
from db.engine import Database
from db.models import Run, Score
from db.runs.run import parameters_hash
from db.scores.items import (
    BINS,
    ScoredItem,
    ScoresOf,
    compare_scores,
    list_differences,
    list_scored,
    score_distribution,
)
from db.scores.summaries import score_summary
from db.scores.write import run_scorer
from tests.makers import make_item, make_member, make_person, make_project

WANTED = [["copper", "tin"]]
PAPER, BOUND = ScoresOf("phrase_recall", {"mode": "paper"}), ScoresOf("phrase_recall", {"mode": "word_boundary"})


class Scored:
    """Six items of two systems, scored in two modes that differ on "uncoppered"."""

    def __init__(self, db: Database) -> None:
        self.db, self.project_id = db, make_project(db)
        self.admin = make_person(db, admin=True)
        for external_id, answer, system, category in (
            ("a1", "copper and tin", "alpha", "Text"),
            ("a2", "copper", "alpha", "Text"),
            ("a3", "uncoppered tin", "alpha", "Tables"),
            ("b1", "uncoppered", "beta", "Text"),
            ("b2", "lead", "beta", None),
        ):
            make_item(
                db, self.project_id, external_id, answer=answer, system=system, category=category, references=WANTED
            )
        make_item(db, self.project_id, "b3", answer="copper", system="beta", category="Text", references=[])
        for mode in ("paper", "word_boundary"):
            run_scorer(db, self.admin, self.project_id, scorer="phrase_recall", parameters={"mode": mode})

    def listed(self, of: ScoresOf = PAPER, **given: object) -> list[ScoredItem]:
        return list_scored(self.db, self.admin, self.project_id, of=of, **given)  # type: ignore[arg-type]


@pytest.fixture
def scored(database: Database) -> Scored:
    return Scored(database)


def ids(rows: list[ScoredItem]) -> list[str]:
    return [row.external_id for row in rows]


def test_items_come_with_the_lowest_score_first_and_page_by_page(scored: Scored) -> None:
    rows = scored.listed()
    assert [(row.external_id, row.value) for row in rows] == [
        ("b2", 0.0),
        ("a2", 0.5),
        ("b1", 0.5),
        ("a1", 1.0),
        ("a3", 1.0),
    ]
    paged: list[ScoredItem] = []
    while page := scored.listed(after=paged[-1].key if paged else None, limit=2):
        paged += page
    assert paged == rows
    assert rows[1].details == {"reference": 0, "found": ["copper"], "missing": ["tin"]}


def test_a_cell_has_its_items(scored: Scored) -> None:
    assert ids(scored.listed(system="alpha", category="Text")) == ["a2", "a1"]
    assert ids(scored.listed(category="")) == ["b2"]
    assert ids(scored.listed(low=0.5, high=0.9)) == ["a2", "b1"]
    [without] = scored.listed(unscored=True)
    assert (without.external_id, without.value, without.reason) == ("b3", None, "the item has no reference")


def test_the_cells_of_a_summary_count_the_same_items(scored: Scored) -> None:
    summary = score_summary(
        scored.db, scored.admin, scored.project_id, scorer="phrase_recall", parameters={"mode": "paper"}
    )
    for cell in summary.cells:
        rows = scored.listed(system=cell.system, category=cell.category or "")
        assert cell.sums.n == len(rows)
        assert cell.sums.total == sum(row.value or 0 for row in rows)
    assert summary.interval is not None
    assert summary.interval.low < (summary.mean or 0) < summary.interval.high


def test_a_distribution_counts_every_value_once(scored: Scored) -> None:
    found = score_distribution(scored.db, scored.admin, scored.project_id, of=PAPER)
    assert {system: sum(counts) for system, counts in found.counts.items()} == {"alpha": 3, "beta": 2}
    assert found.counts["alpha"][BINS // 2] == 1
    assert found.counts["alpha"][-1] == 2
    assert found.counts["beta"][0] == 1
    assert found.edges(0) == (0.0, 0.05)
    assert found.reasons == [("the item has no reference", 1)]


def test_values_at_the_ends_of_bins_fall_on_the_same_side_on_both_databases(scored: Scored) -> None:
    digest = parameters_hash({})
    with scored.db.write() as session:
        run = Run(project_id=scored.project_id, kind="import", name="imported:x", version="1", parameters_hash=digest)
        session.add(run)
        session.flush()
        for version, value in enumerate((0.05, 0.15, 0.3, 0.95, 1.0), 1):
            session.add(Score(run_id=run.id, item_version_id=version, name="correctness", value=value))
    found = score_distribution(scored.db, scored.admin, scored.project_id, of=ScoresOf("imported:x", {}))
    places = sorted(place for counts in found.counts.values() for place, n in enumerate(counts) if n)
    assert places == [1, 3, 6, 19]


def test_two_scorers_against_each_other(scored: Scored) -> None:
    found = compare_scores(scored.db, scored.admin, scored.project_id, first=PAPER, second=BOUND)
    # paper: 1, .5, 1, .5, 0; word_boundary: 1, .5, .5, 0, 0.
    assert (found.sums.n, found.sums.x, found.sums.y, found.n_one_only) == (5, 3.0, 2.0, 0)
    assert found.sums.xy == 1 + 0.25 + 0.5
    assert sum(found.joint.values()) == 5
    assert found.joint[BINS - 1, BINS // 2] == 1
    rows = list_differences(scored.db, scored.admin, scored.project_id, first=PAPER, second=BOUND, limit=3)
    assert [(row.external_id, row.first, row.second) for row in rows[:2]] == [("a3", 1.0, 0.5), ("b1", 0.5, 0.0)]
    rest = list_differences(scored.db, scored.admin, scored.project_id, first=PAPER, second=BOUND, after=rows[-1].key)
    assert sorted(item.external_id for item in [*rows, *rest]) == ["a1", "a2", "a3", "b1", "b2"]
    tile = list_differences(scored.db, scored.admin, scored.project_id, first=PAPER, second=BOUND, bins=(BINS // 2, 0))
    assert [item.external_id for item in tile] == ["b1"]


def test_scores_that_are_not_there_are_named(scored: Scored) -> None:
    with pytest.raises(NotFound, match="phrase_recall"):
        scored.listed(ScoresOf("imported:fathoms"))


def test_annotators_see_none_of_it(scored: Scored) -> None:
    annotator = make_person(scored.db)
    make_member(scored.db, scored.project_id, annotator, "annotator")
    with pytest.raises(NotAllowed):
        list_scored(scored.db, annotator, scored.project_id, of=PAPER)
