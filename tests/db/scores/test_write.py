from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from annotators.errors import InvalidInput, NotAllowed, NotFound
from annotators.scorers.base import Part
from annotators.scorers.shared import tasks
from annotators.scorers.shared.offered_models import offer
from db.engine import Database
from db.items.scored import read_next
from db.models import Batch, Claim, Event, Image, Item, ItemVersion, Question, Run, Score, Withdrawal
from db.runs.run import parameters_hash
from db.scores.summaries import ScoreSummary, list_scorers_in, score_summary
from db.scores.write import plan_scoring, run_scorer
from tests.makers import make_item, make_member, make_person, make_project

COPPER: list[Any] = [["copper", "tin"]]


class Scored:
    """A project with a researcher and four items of two systems and two categories."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.project_id = make_project(db)
        self.researcher = make_person(db)
        make_member(db, self.project_id, self.researcher, "researcher")
        self.versions = [
            self.item("copper and tin", "alpha", "Tables"),
            self.item("copper", "alpha", "Tables"),
            self.item("copper", "alpha", "Text"),
            self.item("lead", "beta", "Text"),
        ]

    def item(self, answer: str, system: str, category: str | None, references: list[Any] = COPPER) -> int:
        return make_item(
            self.db, self.project_id, answer=answer, system=system, category=category, references=references
        )

    def run(self, **changes: Any) -> ScoreSummary:
        return run_scorer(self.db, self.researcher, self.project_id, **{"scorer": "phrase_recall", **changes})

    def summary(self, **changes: Any) -> ScoreSummary:
        return score_summary(self.db, self.researcher, self.project_id, **{"scorer": "phrase_recall", **changes})

    def rows(self) -> list[Score]:
        with self.db.read() as session:
            return list(session.execute(select(Score).order_by(col(Score.id))).scalars())

    def count(self, table: type[Any]) -> int:
        with self.db.read() as session:
            return int(session.execute(select(func.count()).select_from(table)).scalar_one())


@pytest.fixture
def project(database: Database) -> Scored:
    return Scored(database)


def test_the_summary_has_means_by_system_and_by_category(project: Scored) -> None:
    # alpha: Tables (1 + 0.5) / 2 = 0.75, Text 0.5; beta: Text 0. Over all, Text: (0.5 + 0) / 2 = 0.25.
    assert project.run().to_json() == {
        "scorer": "phrase_recall",
        "version": "1",
        "parameters": {"mode": "fathoms_code"},
        "n_scored": 4,
        "n_unscored": 0,
        "mean": 0.5,
        "macro_mean": 0.5,
        "groups": [
            {"by": "system", "group": "alpha", "n": 3, "mean": pytest.approx(2 / 3), "macro_mean": 0.625},
            {"by": "system", "group": "beta", "n": 1, "mean": 0.0, "macro_mean": 0.0},
            {"by": "category", "group": "Tables", "n": 2, "mean": 0.75, "macro_mean": 0.75},
            {"by": "category", "group": "Text", "n": 2, "mean": 0.25, "macro_mean": 0.25},
        ],
    }
    assert project.summary().to_json() == project.run().to_json()


def test_a_score_keeps_what_was_found(project: Scored) -> None:
    project.run()
    first, second, *_ = project.rows()
    assert (first.item_version_id, first.name, first.target) == (project.versions[0], "correctness", "item")
    assert second.value == 0.5
    assert second.details == {"reference": 0, "found": ["copper"], "missing": ["tin"]}


def test_items_without_references_are_unscored_with_the_reason(project: Scored) -> None:
    project.item("copper", "beta", None, references=[])
    summary = project.run()
    assert (summary.n_scored, summary.n_unscored, summary.mean) == (4, 1, 0.5)
    assert project.rows()[-1].value is None
    assert project.rows()[-1].reason == "the item has no reference"
    without = next(group for group in summary.groups if group.by == "category" and group.group is None)
    assert (without.n, without.mean, without.macro_mean) == (0, None, None)


def test_a_second_run_adds_nothing(project: Scored) -> None:
    assert project.run().added == 4
    before = project.count(Run), project.count(Score), project.count(Event)
    assert project.run().added == 0
    assert (project.count(Run), project.count(Score), project.count(Event)) == before


def test_a_run_after_new_items_adds_only_theirs(project: Scored) -> None:
    project.run()
    project.item("tin", "beta", "Text")
    summary = project.run()
    assert (summary.added, summary.n_scored) == (1, 5)
    assert project.count(Run) == 2


def test_other_parameters_are_scored_beside(project: Scored) -> None:
    project.item("uncoppered setting", "beta", "Text")
    assert project.run().mean == pytest.approx(3 / 5)
    bounded = project.run(parameters=["mode=word_boundary"])
    assert (bounded.added, bounded.mean) == (5, pytest.approx(2 / 5))
    assert project.summary().mean == pytest.approx(3 / 5)
    assert project.summary(parameters={"mode": "word_boundary"}).mean == pytest.approx(2 / 5)


def test_a_new_version_of_an_item_is_scored_anew_and_counts_alone(project: Scored) -> None:
    project.run()
    with project.db.write() as session:
        item_id = session.get_one(ItemVersion, project.versions[3]).item_id
        session.add(
            ItemVersion(
                item_id=item_id,
                number=2,
                question="Which metals?",
                answer="copper and tin",
                category="Text",
                references=COPPER,
                content_hash="new",
            )
        )
    assert project.summary().n_scored == 3  # the old version is no longer current, the new one not yet scored
    summary = project.run()
    assert (summary.added, summary.n_scored, summary.mean) == (1, 4, 0.75)


def test_items_of_withdrawn_batches_are_left_out_until_they_are_put_back(project: Scored) -> None:
    project.run()
    with project.db.write() as session:
        batch = Batch(project_id=project.project_id, format="native", source="x.jsonl")
        session.add(batch)
        session.flush()
        session.get_one(Item, session.get_one(ItemVersion, project.versions[3]).item_id).batch_id = batch.id
        batch_id = batch.id
        assert batch_id is not None
        session.add(Withdrawal(batch_id=batch_id, reason="wrong file"))
    assert project.summary().n_scored == 3
    with project.db.write() as session:
        session.add(Withdrawal(batch_id=batch_id, reinstates=True, reason="it was right"))
    assert project.summary().n_scored == 4


def test_other_projects_are_not_touched(project: Scored) -> None:
    other = Scored(project.db)
    other.run()
    assert project.run().added == 4
    assert project.count(Score) == 8
    assert project.summary().n_scored == 4


def test_blocks_cover_every_item_once_and_report_progress(project: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BLOCK", 3)
    for _ in range(6):
        project.item("copper", "beta", "Text")
    seen: list[tuple[int, int]] = []
    summary = project.run(progress=lambda done, of: seen.append((done, of)))
    assert seen == [(0, 10), (3, 10), (6, 10), (9, 10), (10, 10)]
    assert sorted(row.item_version_id for row in project.rows()) == sorted({r.item_version_id for r in project.rows()})
    assert (summary.added, project.count(Run)) == (10, 1)


def test_a_run_that_was_interrupted_is_continued(project: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BLOCK", 1)

    def stop(done: int, _of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.run(progress=stop)
    assert project.count(Score) == 2
    summary = project.run()
    assert (summary.added, summary.n_scored, project.count(Score)) == (2, 4, 4)


def test_two_runs_at_once_score_each_item_once(project: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BLOCK", 2)
    for _ in range(20):
        project.item("copper", "beta", "Text")
    together = threading.Barrier(3)
    added: list[int] = []

    def one_run() -> None:
        together.wait()
        added.append(project.run().added)

    threads = [threading.Thread(target=one_run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(added) == project.count(Score) == 24
    assert len({row.item_version_id for row in project.rows()}) == 24


def test_a_run_is_recorded_with_who_and_how_many(project: Scored) -> None:
    project.run()
    with project.db.read() as session:
        run = session.execute(select(Run)).scalar_one()
        events = list(session.execute(select(Event).order_by(col(Event.id))).scalars())
    assert (run.name, run.version, run.parameters, run.person_id) == (
        "phrase_recall",
        "1",
        {"mode": "fathoms_code"},
        project.researcher.person_id,
    )
    assert [event.kind for event in events] == ["scoring started", "scoring finished"]
    assert all(event.thing_id == run.id and event.person_id == run.person_id for event in events)
    assert events[-1].details["scores"] == 4


def test_a_project_without_items_has_nothing_to_score(database: Database) -> None:
    project_id, admin = make_project(database), make_person(database, admin=True)
    with pytest.raises(InvalidInput, match="no items to score"):
        run_scorer(database, admin, project_id, scorer="phrase_recall")


def test_wrong_names_and_parameters_say_what_is_right(project: Scored) -> None:
    with pytest.raises(NotFound, match=r"Known: .*phrase_recall"):
        project.run(scorer="phrase")
    with pytest.raises(InvalidInput, match="Allowed: fathoms_code, paper, word_boundary"):
        project.run(parameters=["mode=exact"])
    with pytest.raises(NotFound, match="assay score PROJECT --scorer phrase_recall --param mode=paper"):
        project.summary(parameters=["mode=paper"])
    with pytest.raises(NotFound, match="It has scores of: nobody"):
        project.summary(scorer="imported:fathoms")


@pytest.mark.parametrize("role", ["viewer", "annotator", "adjudicator"])
def test_only_researchers_score(project: Scored, role: str) -> None:
    somebody = make_person(project.db)
    make_member(project.db, project.project_id, somebody, role)
    with pytest.raises(NotAllowed):
        run_scorer(project.db, somebody, project.project_id, scorer="phrase_recall")


def test_annotators_do_not_see_scores(project: Scored) -> None:
    annotator = make_person(project.db)
    make_member(project.db, project.project_id, annotator, "annotator")
    project.run()
    with pytest.raises(NotAllowed):
        score_summary(project.db, annotator, project.project_id, scorer="phrase_recall")
    with pytest.raises(NotAllowed):
        list_scorers_in(project.db, annotator, project.project_id)


class TestImportedScores:
    @pytest.fixture
    def imported(self, project: Scored) -> Scored:
        with project.db.write() as session:
            batch = Batch(project_id=project.project_id, format="native", source="x.jsonl")
            session.add(batch)
            session.flush()
            self.batch_id = batch.id
            run = Run(
                project_id=project.project_id,
                kind="import",
                name="imported:native",
                version="1",
                parameters_hash=parameters_hash({}),
                batch_id=batch.id,
            )
            session.add(run)
            session.flush()
            for version, value in zip(project.versions, [1.0, 1.0, 0.0, 0.0], strict=True):
                session.add(Score(run_id=run.id, item_version_id=version, name="correctness", value=value))
                session.add(Score(run_id=run.id, item_version_id=version, name="hallucination", value=1 - value))
            session.add(
                Score(
                    run_id=run.id, item_version_id=project.versions[0], name="correctness", target="claim:c1", value=0
                )
            )
            later = Run(
                project_id=project.project_id,
                kind="import",
                name="imported:native",
                version="1",
                parameters_hash=parameters_hash({}),
            )
            session.add(later)
            session.flush()
            session.add(Score(run_id=later.id, item_version_id=project.versions[3], name="correctness", value=1.0))
        return project

    def test_correctness_is_the_main_value_and_the_latest_score_counts(self, imported: Scored) -> None:
        summary = imported.summary(scorer="imported:native")
        assert (summary.value, summary.n_scored, summary.mean) == ("correctness", 4, 0.75)

    def test_another_value_can_be_asked_for(self, imported: Scored) -> None:
        assert imported.summary(scorer="imported:native", value="hallucination").mean == 0.5
        with pytest.raises(InvalidInput, match="It gives: correctness, hallucination"):
            imported.summary(scorer="imported:native", value="fluency")

    def test_scores_of_a_withdrawn_import_are_left_out(self, imported: Scored) -> None:
        with imported.db.write() as session:
            session.add(Withdrawal(batch_id=self.batch_id, reason="wrong file"))
        assert imported.summary(scorer="imported:native").n_scored == 1

    def test_they_do_not_count_as_scored_by_a_scorer(self, imported: Scored) -> None:
        assert imported.run().added == 4

    def test_scorers_in_use_are_listed(self, imported: Scored) -> None:
        imported.run(parameters=["mode=paper"])
        imported.run()
        found = list_scorers_in(imported.db, imported.researcher, imported.project_id)
        assert [(scorer.scorer, scorer.kind, scorer.parameters, scorer.values) for scorer in found] == [
            ("imported:native", "import", {}, ("correctness", "hallucination")),
            ("phrase_recall", "scorer", {"mode": "fathoms_code"}, ("correctness",)),
            ("phrase_recall", "scorer", {"mode": "paper"}, ("correctness",)),
        ]

    def test_of_several_versions_the_last_one_is_listed_with_its_own_values(self, imported: Scored) -> None:
        with imported.db.write() as session:
            of = {"project_id": imported.project_id, "kind": "scorer", "parameters_hash": parameters_hash({})}
            for version, name in (("1", "old"), ("2", "new")):
                run = Run(**of, name="own", version=version)
                session.add(run)
                session.flush()
                session.add(Score(run_id=run.id, item_version_id=imported.versions[0], name=name, value=float(version)))
        listed = list_scorers_in(imported.db, imported.researcher, imported.project_id)
        assert [(one.version, one.values, one.newest) for one in listed if one.scorer == "own"] == [
            ("2", ("new",), True)
        ]
        assert imported.summary(scorer="own").mean == 2.0


def test_a_scorer_sees_the_parts_it_needs(database: Database) -> None:
    project_id = make_project(database)
    version_id = make_item(database, project_id, "one", n_evidence=2, category="Tables", language="en")
    with database.write() as session:
        session.add(Claim(item_version_id=version_id, key="c1", position=0, text="It is copper."))
        session.add(Image(item_version_id=version_id, key="i1", position=0, caption="A statue"))
    with database.read() as session:
        (bare,) = read_next(session, project_id, None, after=0, limit=9, needs=frozenset())
        (full,) = read_next(session, project_id, None, after=0, limit=9, needs=frozenset(Part))
    assert (bare.evidence, bare.claims, bare.images, bare.documents) == ((), (), (), ())
    assert (full.question, full.category, full.language) == ("Question of one?", "Tables", "en")
    assert [(unit.key, unit.document, unit.pages) for unit in full.evidence] == [
        ("gold-1", "one.pdf", (2,)),
        ("distractor-2", "one.pdf", (1,)),
    ]
    assert [claim.text for claim in full.claims] == ["It is copper."]
    assert [image.caption for image in full.images] == ["A statue"]
    assert full.documents == ("one.pdf",)


def test_the_overall_scores_of_fathoms_are_the_macro_means_of_its_systems(
    sqlite_database: Database, shared_data: Path
) -> None:
    project_id, admin = make_project(sqlite_database), make_person(sqlite_database, admin=True)
    published: dict[str, float] = {}
    with sqlite_database.write() as session:
        question = Question(project_id=project_id, key="q")
        session.add(question)
        session.flush()
        for file in sorted((shared_data / "fathoms" / "results").glob("*/*.json")):
            result = json.loads(file.read_text())
            published[file.stem] = result["overall_score"]
            for number, response in enumerate(result["responses"]):
                item = Item(
                    project_id=project_id,
                    external_id=f"{file.stem}:{number}",
                    question_id=question.id,
                    system=file.stem,
                )
                session.add(item)
                session.flush()
                session.add(
                    ItemVersion(
                        item_id=item.id,
                        question=response["question"],
                        answer=response["pred_answer"],
                        category=response["category"],
                        references=response["ground_truth"],
                        content_hash="",
                    )
                )
    summary = run_scorer(sqlite_database, admin, project_id, scorer="phrase_recall")
    assert (summary.n_scored, summary.n_unscored) == (930, 0)
    found = {group.group: group.macro_mean for group in summary.groups if group.by == "system"}
    assert found == pytest.approx(published, abs=1e-12)


def test_an_embedding_model_is_one_that_an_administrator_offers(project: Scored, tmp_path: Path) -> None:
    where = str(tmp_path)
    with pytest.raises(InvalidInput, match="ASSAY_EMBEDDING_MODELS"):
        plan_scoring(
            project.db,
            project.researcher,
            project.project_id,
            scorer="semantic_similarity",
            parameters={"model": where},
        )
    with pytest.raises(InvalidInput, match="ASSAY_EMBEDDING_MODELS"):
        run_scorer(project.db, project.researcher, project.project_id, scorer="bert_score", parameters={"model": where})
    offer([where])
    try:
        complete, _ = plan_scoring(
            project.db,
            project.researcher,
            project.project_id,
            scorer="semantic_similarity",
            parameters={"model": where},
        )
    finally:
        offer([])
    assert complete == {"model": where}
