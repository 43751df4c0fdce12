"""Labels of studies in place of what came with the items: whose, in which state, and items that have none."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session, col, select

from annotators.designing.design import StudyDesign
from annotators.errors import AssayError, Conflict, InvalidInput, NotFound
from annotators.items.parsed import ForeignLabel, ParsedDocument, ParsedItem, Rejected
from annotators.protocols import PROTOCOLS
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.designing.making import create_study
from db.elsewhere.foreign import import_study_of_labels
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Item, ItemVersion, Project, Run, Score, Study, StudyItem
from db.scores.label_states import labels_state_now
from db.scores.labels import labels_for_scorer
from db.scores.summaries import list_scorers_in, score_summary
from db.scores.write import plan_scoring, run_scorer
from exports.alignment.scores import scores_of
from exports.importing.items import import_paths
from tests.makers import make_member, make_person, make_project

Label = tuple[str, str, str, str, str]
"""Item, annotator, criterion, target, value."""


class NoItems:
    """A reading without items: the project has them all."""

    format, source = "labels", "table"

    def items(self) -> Iterator[ParsedItem | Rejected]:
        return iter(())

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        return iter(())

    def notes(self) -> Sequence[str]:
        return ()


def verdict(claim: str, about: str, label: str, source: str) -> dict[str, str]:
    return {"claim": claim, "label": label, "source": source, "evidence" if about[0] == "e" else "against": about}


def record(item: str, **changes: Any) -> dict[str, Any]:
    """Two claims, two retrieved pages; people's verdicts and a judge's came with it, the gold page is not retrieved."""
    said = [verdict(claim, "context", "contradiction", "people") for claim in ("c1", "c2")]
    judged = [verdict("c1", "e1", "entailment", "gpt"), verdict("c2", "e1", "neutral", "gpt")]
    return {
        "id": item,
        "question": f"{item}?",
        "answer": "Red and old.",
        "claims": [{"key": "c1", "text": "Red."}, {"key": "c2", "text": "Old."}],
        "evidence": [
            {"key": "e1", "document": "d.pdf", "pages": [1], "rank": 1},
            {"key": "e2", "document": "d.pdf", "pages": [2], "rank": 2},
            {"key": "g", "document": "d.pdf", "pages": [9], "role": "gold"},
        ],
        "verdicts": [*said, *judged],
        **changes,
    }


class Place:
    """A project with items a and b, its researcher, and studies of labels that were made elsewhere."""

    def __init__(self, db: Database, folder: Path, *records: dict[str, Any]) -> None:
        self.db = db
        self.project_id, self.researcher = make_project(db), make_person(db)
        make_member(db, self.project_id, self.researcher, "researcher")
        path = folder / "items.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in records or (record("a"), record("b"))))
        assert import_paths(db, self.researcher, self.project_id, paths=[path]).added

    def study(self, name: str, protocol: str, *labels: Label, overlap: int = 1) -> int:
        rows = self.rows(labels)
        made = import_study_of_labels(
            self.db, self.researcher, self.project_id,
            name=name, protocol=PROTOCOLS.get(protocol), overlap=overlap, items=NoItems(), rows=rows,
        )  # fmt: skip
        return made.study_id

    def rows(self, labels: Sequence[Label]) -> list[ForeignLabel]:
        return [
            ForeignLabel(number, item, annotator, criterion, target, value)
            for number, (item, annotator, criterion, target, value) in enumerate(labels, 2)
        ]

    def run(self, scorer: str, *studies: str, **parameters: Any) -> dict[str, Any]:
        """The parameters that the run had."""
        options = {"scorer": scorer, "parameters": parameters or None, "labels_of": studies}
        complete, _ = plan_scoring(self.db, self.researcher, self.project_id, **options)  # type: ignore[arg-type]
        run_scorer(self.db, self.researcher, self.project_id, scorer=scorer, parameters=complete)
        return complete

    def scores(self, name: str) -> dict[str, tuple[float | None, str | None]]:
        """Item → the latest score of this name, and why there is none."""
        query = (
            select(Item.external_id, Score.value, Score.reason)
            .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
            .join(Score, col(Score.item_version_id) == ItemVersion.id)
            .where(Score.name == name, Item.project_id == self.project_id)
            .order_by(col(Score.id))
        )
        with self.db.read() as session:
            return {item: (value, reason) for item, value, reason in session.exec(query)}

    def count(self, table: type[Any]) -> int:
        with self.db.read() as session:
            return len(session.exec(select(table)).all())


@pytest.fixture
def place(database: Database, tmp_path: Path) -> Place:
    return Place(database, tmp_path)


def verdicts(item: str, annotator: str, **labels: str) -> list[Label]:
    """Labels of claim verification: `c1e2="neutral"`."""
    return [
        (item, annotator, "verdict", f"claim:{about[:2]}|evidence:{about[2:]}", label)
        for about, label in labels.items()
    ]


# Claims ---------------------------------------------------------------------------------------------------------------


def test_people_s_labels_stand_in_place_of_what_came_and_a_judge_s_beside_them(place: Place) -> None:
    labels = verdicts("a", "ada", c1e1="neutral", c1e2="entailment", c2e1="neutral", c2e2="neutral")
    place.study("claims", "claim_verification", *labels)
    complete = place.run("claim_metrics", "claims")
    assert complete["labels_of"] == ["claims"]
    assert len(complete["labels_state"]) == 16
    # c1 is entailed (by e2), c2 neutral; the judge supports c1 by e1.
    assert place.scores("faithfulness")["a"] == (0.5, None)
    assert place.scores("contradiction_rate")["a"] == (0.0, None)
    assert place.scores("self_knowledge")["a"] == (0.0, None)
    assert place.scores("context_precision")["a"] == (1.0, None)  # e1 alone has a verdict of the judge
    assert place.scores("faithfulness")["b"] == (None, "nobody has labelled it in claims")
    place.run("claim_metrics")
    assert {item: value for item, (value, _) in place.scores("contradiction_rate").items()} == {"a": 1.0, "b": 1.0}
    in_use = list_scorers_in(place.db, place.researcher, place.project_id)
    assert [found.parameters.get("labels_of") for found in in_use] == [["claims"], None]
    summary = score_summary(
        place.db, place.researcher, place.project_id,
        scorer="claim_metrics", parameters=complete, value="faithfulness",
    )  # fmt: skip
    assert (summary.n_scored, summary.n_unscored, summary.mean) == (1, 1, 0.5)


def test_alignment_names_whose_labels_a_metric_took(place: Place) -> None:
    study_id = place.study("grades", "answer_grading", *((item, "ada", "grade", "item", "7") for item in ("a", "b")))
    place.study("claims", "claim_verification", *verdicts("a", "ada", c1e1="neutral", c2e1="entailment"))
    place.run("claim_metrics", "claims")
    with place.db.read() as session:
        study = session.get_one(Study, study_id)
        assert {metric.name.partition(":")[0] for metric in scores_of(session, study, ())} == {
            "claim_metrics (labels_of=claims)"
        }
    place.run("claim_metrics")
    with place.db.read() as session:
        names = {metric.name.partition("):")[0] for metric in scores_of(session, session.get_one(Study, study_id), ())}
    assert len(names) == 2
    assert len([name for name in names if "labels_of=claims, labels_state=" in name]) == 1


def test_a_claim_whose_label_is_open_leaves_its_item_unscored_unless_it_follows(place: Place) -> None:
    agreed = {"c1e1": "neutral", "c1e2": "neutral", "c2e1": "neutral"}
    labels = [
        *(row for who in ("ada", "ben") for item in ("a", "b") for row in verdicts(item, who, **agreed)),
        *verdicts("a", "ada", c2e2="neutral"),
        *verdicts("a", "ben", c2e2="contradiction"),
        *(row for who in ("ada", "ben") for row in verdicts("b", who, c2e2="entailment")),
    ]
    place.study("claims", "claim_verification", *labels, overlap=2)
    place.run("claim_metrics", "claims")
    assert place.scores("faithfulness") == {
        "a": (None, "adjudicated gave no verdict on 1 of 2 claims (c2 …)"),
        "b": (0.5, None),
    }


def test_adjudicated_labels_are_taken_unless_the_votes_are_asked_for(place: Place) -> None:
    agreed = {"c1e1": "entailment", "c2e1": "neutral"}
    labels = [row for who in ("ada", "ben") for row in verdicts("a", who, **agreed)]
    disputed = [*verdicts("a", "ada", c2e2="entailment"), *verdicts("a", "ben", c2e2="neutral")]
    study_id = place.study("claims", "claim_verification", *labels, *disputed, overlap=2)
    before = place.run("claim_metrics", "claims")
    assert place.scores("faithfulness")["a"][1] == "adjudicated gave no verdict on 1 of 2 claims (c2 …)"
    judge = make_person(place.db)
    make_member(place.db, place.project_id, judge, "adjudicator")
    with place.db.read() as session:
        study_item = session.exec(select(StudyItem.id).where(StudyItem.study_id == study_id)).one()
    decision = UnitDecision("verdict", "claim:c2|evidence:e2", "entailment")
    adjudicate(place.db, judge, study_item or 0, uid=uuid.uuid4().hex, decisions=[decision])
    after = place.run("claim_metrics", "claims")
    assert after["labels_state"] != before["labels_state"]
    assert place.scores("faithfulness")["a"] == (1.0, None)
    place.run("claim_metrics", "claims", labels_from="people")
    assert place.scores("faithfulness")["a"][1] == "people gave no verdict on 1 of 2 claims (c2 …)"


def test_votes_so_far_are_taken_where_people_are_asked_for(place: Place) -> None:
    both = [row for who in ("ada", "ben") for row in verdicts("b", who, c1e1="entailment", c2e1="entailment")]
    one = verdicts("a", "ada", c1e1="entailment", c2e1="neutral")
    place.study("claims", "claim_verification", *one, *both, overlap=2)
    place.run("claim_metrics", "claims")
    assert place.scores("faithfulness") == {
        "a": (None, "no label of its claims is settled (labels of claims)"),
        "b": (1.0, None),
    }
    place.run("claim_metrics", "claims", labels_from="people")
    assert place.scores("faithfulness") == {"a": (0.5, None), "b": (1.0, None)}


def test_labels_of_several_studies_come_together(place: Place) -> None:
    place.study("right", "claim_correctness", ("a", "ada", "correctness", "claim:c1|reference", "entailment"))
    place.study("by evidence", "claim_verification", *verdicts("a", "ada", c1e1="entailment", c1e2="neutral"))
    place.run("ragchecker", "right", "by evidence")
    assert place.scores("ragchecker_precision")["a"] == (1.0, None)
    assert place.scores("supported")["a"] == (1.0, None)
    assert place.scores("ragchecker_recall")["a"] == (None, "the reference has no claims with verdicts")
    assert place.scores("ragchecker_precision")["b"] == (None, "nobody has labelled it in right, by evidence")


# Runs -----------------------------------------------------------------------------------------------------------------


def test_new_labels_are_a_new_run_and_the_same_labels_the_same(place: Place) -> None:
    study_id = place.study("claims", "claim_verification", *verdicts("a", "ada", c1e1="neutral", c2e1="neutral"))
    first = place.run("claim_metrics", "claims")
    n_scores = place.count(Score)
    assert place.run("claim_metrics", "claims") == first
    assert (place.count(Run), place.count(Score)) == (1, n_scores)
    more = verdicts("a", "ben", c1e1="neutral", c2e1="neutral")  # they agree, and are other labels all the same
    import_labels(place.db, place.researcher, study_id, rows=place.rows(more), source="more.csv")
    second = place.run("claim_metrics", "claims")
    assert {**second, "labels_state": first["labels_state"]} == first
    assert second["labels_state"] != first["labels_state"]
    assert (place.count(Run), place.count(Score)) == (2, 2 * n_scores)
    with pytest.raises(Conflict, match="have changed since"):
        run_scorer(place.db, place.researcher, place.project_id, scorer="claim_metrics", parameters=first)


def test_of_several_states_of_one_studys_labels_the_newest_is_known_and_whether_they_changed_since(
    place: Place,
) -> None:
    study_id = place.study("claims", "claim_verification", *verdicts("a", "ada", c1e1="neutral", c2e1="neutral"))

    def standing() -> list[tuple[str, bool, bool]]:
        """(State, whether it is the newest of its kind, whether the labels are still in it) of every run on labels."""
        found = []
        for used in list_scorers_in(place.db, place.researcher, place.project_id):
            now = labels_state_now(
                place.db, place.researcher, place.project_id, scorer=used.scorer, parameters=used.parameters
            )
            state = used.parameters.get("labels_state", "")
            assert (now is None) == (not state)
            found += [(state, used.newest, now == state)] * bool(state)
        return sorted(found)

    def taken(*labels: Label, source: str) -> None:
        import_labels(place.db, place.researcher, study_id, rows=place.rows(labels), source=source)

    place.run("claim_metrics")
    first = place.run("claim_metrics", "claims")["labels_state"]
    assert standing() == [(first, True, True)]
    taken(*verdicts("a", "ben", c1e1="neutral", c2e1="neutral"), source="more.csv")
    assert standing() == [(first, True, False)]
    second = place.run("claim_metrics", "claims")["labels_state"]
    of_votes = place.run("claim_metrics", "claims", labels_from="people")["labels_state"]
    assert standing() == sorted([(first, False, False), (second, True, True), (of_votes, True, True)])
    taken(*verdicts("a", "cem", c1e1="neutral", c2e1="neutral"), source="yet more.csv")
    assert standing() == sorted([(first, False, False), (second, True, False), (of_votes, True, False)])
    with place.db.write() as session:
        session.get_one(Study, study_id).name = "renamed"
    assert [(newest, same) for _, newest, same in standing()].count((True, False)) == 2


def test_labels_of_an_earlier_version_are_not_about_the_item(place: Place) -> None:
    place.study("claims", "claim_verification", *verdicts("a", "ada", c1e1="neutral", c2e1="neutral"))
    with place.db.write() as session:
        version = session.exec(select(ItemVersion).join(Item).where(Item.external_id == "a")).one()
        changed = {**version.model_dump(exclude={"id"}), "number": 2, "content_hash": "other", "answer": "Blue."}
        session.add(ItemVersion(**changed))
    place.run("claim_metrics", "claims")
    assert place.scores("faithfulness")["a"] == (None, "the labels of claims are about another version of the item")


# Evidence pages -------------------------------------------------------------------------------------------------------


def pages(item: str, annotator: str, *evidence: int, of: int = 3, hop: str = "") -> list[Label]:
    return [
        (item, annotator, "evidence_page", f"page:d.pdf:{page}{hop}", label)
        for page in range(1, of + 1)
        for label in ["evidence" if page in evidence else "not_evidence"]
    ]


def test_verified_pages_are_the_gold_pages_of_retrieval(place: Place) -> None:
    place.study("pages", "evidence_pages", *pages("a", "ada", 2, 3))
    for scorer in ("recall_at_k", "precision_at_k", "hit_at_k"):
        place.run(scorer, "pages", k=2)
    assert place.scores("recall_at_k") == {"a": (0.5, None), "b": (None, "nobody has labelled it in pages")}
    assert place.scores("precision_at_k")["a"] == (0.5, None)
    assert place.scores("hit_at_k")["a"] == (1.0, None)
    place.run("recall_at_k", k=2)
    assert place.scores("recall_at_k")["a"] == (0.0, None)  # page 9, as the item has it


def test_pages_that_are_open_or_none_leave_an_item_unscored(place: Place) -> None:
    labels = [*pages("a", "ada", 2), *pages("a", "ben", 3), *pages("b", "ada"), *pages("b", "ben")]
    place.study("pages", "evidence_pages", *labels, overlap=2)
    place.run("recall_at_k", "pages")
    assert place.scores("recall_at_k") == {
        "a": (None, "2 of 3 labels of its pages or units of evidence are open (labels of pages)"),
        "b": (None, "people found no evidence for it (labels of pages)"),
    }


def test_pages_of_each_hop_are_the_gold_of_their_hop(database: Database, tmp_path: Path) -> None:
    hops = [{"key": key, "question": f"{key}?"} for key in ("first", "second")]
    place = Place(database, tmp_path, record("a", hops=hops), record("b", hops=hops))
    chain = {"a": (1, 3), "b": (1, 2)}
    place.study(
        "chain",
        "evidence_pages",
        *(
            row
            for item, found in chain.items()
            for hop, page in zip(("first", "second"), found, strict=True)
            for row in pages(item, "ada", page, hop=f"|hop:{hop}")
        ),
    )
    place.run("hit_at_k", "chain")
    assert place.scores("hit_at_k") == {"a": (0.0, None), "b": (1.0, None)}


def test_units_that_people_require_are_gold_wherever_they_were_retrieved(place: Place) -> None:
    answers = {"e1": "not_required", "e2": "required", "g": "not_required"}
    place.study("needed", "grounding", *(("a", "ada", "grounding", f"evidence:{key}", answers[key]) for key in answers))
    place.run("precision_at_k", "needed", k=2)
    place.run("recall_at_k", "needed", k=2)
    assert (place.scores("precision_at_k")["a"], place.scores("recall_at_k")["a"]) == ((0.5, None), (1.0, None))


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        (
            ("claim_metrics", "pages"),
            InvalidInput,
            "'pages' asks evidence_page, by which claim_metrics can give no",
        ),
        (("claim_metrics", "right"), InvalidInput, "asks correctness, by which claim_metrics can give nothing"),
        (("claim_metrics", "recall"), InvalidInput, "recall ask recalled, by which claim_metrics can give nothing"),
        (("recall_at_k", "right"), InvalidInput, "two labels for each page or each unit of evidence"),
        (
            ("token_f1", "right"),
            InvalidInput,
            "'token_f1' takes no labels of studies. Those that do: answer_grade, claim_metrics",
        ),
        (("claim_metrics", "nobody"), InvalidInput, "Nobody has labelled verdict, claim_label in the study 'nobody'"),
        (("claim_metrics", "elsewhere"), InvalidInput, "'elsewhere' is a study of the project 'other'"),
        (("claim_metrics", "secret"), NotFound, "There is no study named 'secret'. Known: nobody, pages"),
        (("claim_metrics", "nowhere"), NotFound, "There is no study named 'nowhere'"),
    ],
)
def test_a_study_that_does_not_fit_is_refused_with_what_would(
    sqlite_database: Database, tmp_path: Path, asked: tuple[str, str], kind: type[AssayError], words: str
) -> None:
    place = Place(sqlite_database, tmp_path)
    place.study("pages", "evidence_pages", *pages("a", "ada", 2))
    place.study("right", "claim_correctness", ("a", "ada", "correctness", "claim:c1|reference", "entailment"))
    place.study("recall", "claim_recall", ("a", "ada", "recalled", "claim:c1|answer", "in_answer"))
    admin = make_person(sqlite_database, "ann", admin=True)
    nobody = StudyDesign(name="nobody", annotators=("ann",), overlap=1, order="given", keep_lacking=True)
    create_study(
        sqlite_database, admin, place.project_id, protocol=PROTOCOLS.get("claim_verification"), design=nobody
    )  # fmt: skip
    for name, project in (("elsewhere", "other"), ("secret", "hidden")):
        theirs = Place(sqlite_database, tmp_path)
        theirs.study(name, "claim_verification", *verdicts("a", "ada", c1e1="neutral"))
        with sqlite_database.write() as session:
            rename(session, theirs.project_id, project)
        if name == "elsewhere":
            make_member(sqlite_database, theirs.project_id, place.researcher, "viewer")
    with pytest.raises(kind) as refused:
        place.run(*asked)
    assert words in str(refused.value)
    assert place.count(Run) == 0


def rename(session: Session, project_id: int, name: str) -> None:
    session.get_one(Project, project_id).name = name


def test_the_state_of_labels_is_not_set_by_hand(place: Place) -> None:
    with pytest.raises(InvalidInput, match=r"'labels_of' is not set by hand\. Name the study with --labels-of, "):
        plan_scoring(
            place.db, place.researcher, place.project_id, scorer="recall_at_k", parameters=["labels_of=claims"]
        )


def test_studies_that_fit_a_scorer_are_offered(place: Place) -> None:
    place.study("pages", "evidence_pages", *pages("a", "ada", 2))
    place.study("claims", "claim_verification", *verdicts("a", "ada", c1e1="neutral"))
    place.study("mine", "factuality", ("a", "ada", "answer_factual", "item", "factual"))
    offered = {
        scorer: [one.study for one in labels_for_scorer(place.db, place.researcher, place.project_id, scorer=scorer)]
        for scorer in ("claim_metrics", "ragchecker", "recall_at_k", "token_f1")
    }
    assert offered == {
        "claim_metrics": ["claims"], "ragchecker": ["claims"], "recall_at_k": ["pages"], "token_f1": [],
    }  # fmt: skip
