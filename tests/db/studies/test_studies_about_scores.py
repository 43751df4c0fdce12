"""Studies about scores: which items are taken, what each criterion is about, and what the browser is sent of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from db.annotating.annotations import work
from db.designing.making import create_study, plan_study
from db.engine import Database
from db.models import Event, Run, Score, Study
from db.permissions import Actor
from db.studies.design import StudyMade
from tests.makers import make_item, make_member, make_person, make_project, tiny_protocol

METRIC = PROTOCOLS.get("metric_agreement")


class Scored:
    """A project whose items have scores."""

    def __init__(
        self,
        db: Database,
        scores: list[dict[tuple[str, str], float | str]],
        answer: str = "It is copper, copper.",
        phrases: tuple[str, ...] = ("copper", "tin"),
    ) -> None:
        """For each item (scorer, name) → its value, or the reason why there is none."""
        self.db = db
        self.project_id = make_project(db)
        self.researcher, self.annotator = make_person(db), make_person(db)
        make_member(db, self.project_id, self.researcher, "researcher")
        make_member(db, self.project_id, self.annotator, "annotator")
        for number, given in enumerate(scores, 1):
            version = make_item(
                db,
                self.project_id,
                f"i{number}",
                answer=answer,
                references=[list(phrases), ["iron"]],
            )
            for (scorer, name), value in given.items():
                self.add(version, scorer, name, value)

    def add(self, version: int, scorer: str, name: str, value: float | str) -> None:
        with self.db.write() as session:
            run = session.exec(select(Run).where(Run.project_id == self.project_id, Run.name == scorer)).first()
            if run is None:
                kind = "import" if scorer.startswith("imported:") else "scorer"
                run = Run(project_id=self.project_id, kind=kind, name=scorer, version="1", parameters_hash="h")
                session.add(run)
                session.flush()
            said: dict[str, Any] = {"reason": value} if isinstance(value, str) else {"value": value}
            session.add(Score(run_id=run.id, item_version_id=version, name=name, **said))

    def design(self, name: str = "s", **fields: Any) -> StudyDesign:
        return StudyDesign(name=name, annotators=(self.annotator.name,), overlap=1, **{"order": "given", **fields})

    def make(self, protocol: Protocol = METRIC, **fields: Any) -> StudyMade:
        design = self.design(**fields)
        return create_study(self.db, self.researcher, self.project_id, protocol=protocol, design=design)

    def work(self, made: StudyMade, who: Actor | None = None) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = work(self.db, who or self.annotator, made.study_id)["items"]
        return items


RECALL, FLAG = ("phrase_recall", "correctness"), ("hallucination", "hallucination")
FATHOMS, RAISED = ("imported:fathoms", "correctness"), ("imported:fathoms", "hallucination")


class TestSampling:
    def test_items_without_a_score_are_left_out_and_counted(self, database: Database) -> None:
        there = Scored(database, [{RECALL: 0.5, FLAG: 1.0}, {}, {FLAG: 0.0}, {RECALL: "the item has no reference"}])
        plan = plan_study(database, there.researcher, there.project_id, protocol=METRIC, design=there.design())
        made = there.make()
        assert (plan.n_items, plan.left_out) == (made.n_items, made.left_out) == (2, 2)
        assert plan.notes == (
            "2 items have no score (1 with a reason: unscored). This study is about Correctness score and "
            "Hallucination flag. Left out.",
        )
        assert plan.sample_hash == made.sample_hash
        with database.read() as session:
            study = session.get_one(Study, made.study_id)
            event = session.exec(
                select(Event).where(Event.kind == "study created").order_by(col(Event.id).desc())
            ).first()
        assert study.settings["left_out"] == 2
        assert event is not None
        assert event.details["left_out"] == 2

    def test_a_sample_is_drawn_of_those_that_have_one(self, database: Database) -> None:
        there = Scored(database, [{RECALL: 0.5} if number % 2 else {} for number in range(10)])
        assert there.make(sample=5).n_items == 5
        with pytest.raises(InvalidInput, match="None of the 1 items has a score"):
            there.make(name="other", items=("i1",))

    def test_a_study_of_something_else_takes_all_items(self, database: Database) -> None:
        there = Scored(database, [{RECALL: 0.5}, {}])
        assert there.make(tiny_protocol()).n_items == 2

    def test_scores_that_no_criterion_is_about_cannot_be_judged_alone(self, database: Database) -> None:
        there = Scored(database, [{("imported:native", "answer_length"): 9.0}])
        with pytest.raises(InvalidInput, match="No criterion of protocol 'metric_agreement' is about a score of"):
            there.make()

    def test_a_criterion_without_scores_is_said_beforehand(self, database: Database) -> None:
        made = Scored(database, [{RECALL: 0.5}]).make()
        assert made.notes == (
            "None of these scores is about Hallucination flag: it can only be answered with Cannot judge.",
        )


class TestWhatIsSent:
    def test_each_criterion_gets_its_value_in_words_and_others_come_behind(self, database: Database) -> None:
        there = Scored(database, [{FATHOMS: 0.5, RAISED: 1.0, ("imported:fathoms", "latency"): 3.5}])
        [item] = there.work(there.make())
        assert [(score["criterion"], score["title"], score["words"]) for score in item["scores"]] == [
            ("correctness_agreement", "Correctness", "0.50"),
            ("hallucination_agreement", "Hallucination", "up"),
            (None, "Latency", "3.500"),
        ]
        assert item["scores"][0]["meaning"].startswith("1 of 2: share of the best set")
        best, other = item["phrase_sets"]["sets"]
        assert best == {"best": True, "phrases": [{"text": "copper", "count": 2}, {"text": "tin", "count": 0}]}
        assert other["best"] is False

    def test_the_places_of_the_best_set_are_as_a_browser_counts(self, database: Database) -> None:
        """In UTF-16: the drawing of a penguin counts two. What overlaps is marked once."""
        there = Scored(database, [{RECALL: 1.0}], "\U0001f427 Copper, and copper-top.", ("copper", "copper-top"))
        [item] = there.work(there.make())
        assert [phrase["count"] for phrase in item["phrase_sets"]["sets"][0]["phrases"]] == [2, 1]
        assert item["phrase_sets"]["places"] == [[3, 9], [15, 25]]

    def test_a_missing_or_unscored_one_says_so(self, database: Database) -> None:
        there = Scored(database, [{RECALL: "no phrase", FLAG: 0.0}, {RECALL: 0.5}])
        first, second = there.work(there.make())
        assert [score["words"] for score in first["scores"]] == ["unscored: no phrase", "down"]
        assert [score["words"] for score in second["scores"]] == ["0.50", "unscored: this item has no such score"]
        assert "phrase_sets" not in first

    def test_the_study_s_order_of_scorers_decides_what_is_judged(self, database: Database) -> None:
        there = Scored(database, [{FATHOMS: 0.5, RECALL: 0.25}])
        for order, words in (
            (("phrase_recall", "imported:fathoms"), "0.25"),
            (("imported:fathoms", "phrase_recall"), "0.50"),
        ):
            [item] = there.work(there.make(name=order[0], show_scores=order))
            assert item["scores"][0]["words"] == words
            assert [score["criterion"] for score in item["scores"]][-1] is None

    def test_a_study_from_before_judges_the_same(self, database: Database) -> None:
        there = Scored(database, [{RECALL: 0.5, FLAG: 1.0}])
        made = there.make()
        with database.write() as session:
            study = session.get_one(Study, made.study_id)
            old = json.loads(json.dumps(study.protocol))
            for criterion in old["criteria"]:
                del criterion["score"]
            study.protocol, study.protocol_hash = old, Protocol.model_validate(old).digest()
            study.settings = {"sample": None, "per": None}
        [item] = there.work(made)
        assert [(score["criterion"], score["words"]) for score in item["scores"]] == [
            ("correctness_agreement", "0.50"),
            ("hallucination_agreement", "up"),
        ]

    def test_a_blind_step_has_neither_scores_nor_counted_phrases(self, database: Database) -> None:
        there = Scored(database, [{RECALL: 0.5}])
        [item] = there.work(there.make(PROTOCOLS.get("metric_agreement_blind")))
        assert item["references"] == [["copper", "tin"], ["iron"]]
        assert not {"scores", "phrase_sets"} & set(item)


def of(target: str, *shows: Material) -> Protocol:
    labels = [Label(value="yes"), Label(value="no")]
    criterion = Choice(name="right", title="Right", target=target, labels=labels)
    step = Step(name="all", title="All", shows=[Material.QUESTION, *shows], criteria=["right"])
    return tiny_protocol(criteria=[criterion], steps=[step])


class TestRefusals:
    @pytest.mark.parametrize(
        ("protocol", "words"),
        [
            (of("pair"), r"A pair is the answers of two systems; none is named\. Name two or more"),
            (of("item", Material.PAGE_LABELS), "shows page_labels, which are shown on pages only. Add documents"),
            (of("hop", Material.HOPS), "'right' is about each hop of the question, which .* Give it another target"),
            (of("item", Material.SUGGESTIONS), "shows suggestions, but no criterion .* Say where they are from with"),
            (of("claim", Material.CLAIMS), "about claims, which are shown only with the answer or the references"),
            (of("image", Material.IMAGES), "about images, which are shown only with the answer or the references"),
        ],
    )
    def test_what_does_not_work_yet_is_no_study(self, database: Database, protocol: Protocol, words: str) -> None:
        there = Scored(database, [{}])
        with pytest.raises(InvalidInput, match=words):
            there.make(protocol)
        with pytest.raises(InvalidInput, match=words):
            plan_study(database, there.researcher, there.project_id, protocol=protocol, design=there.design())

    def test_built_in_protocols_work(self) -> None:
        assert [protocol.not_yet() for protocol in PROTOCOLS] == [[] for _ in PROTOCOLS]
