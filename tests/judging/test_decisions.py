"""People check a sample of a judge's decisions, and settled items become examples of the next prompt."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.judges.prompts import PROMPTS, Example, Prompt, prompt_from_yaml, prompt_to_yaml
from annotators.protocols import PROTOCOLS
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.engine import Database
from db.judging.decisions import checked_decisions, study_of_decisions
from db.judging.examples import prompt_with_examples
from db.judging.judges import JudgeSettings
from db.judging.planning import plan_judging, study_for_judges
from db.judging.run import EXAMPLE, run_judge
from db.people.accounts import actor_named
from db.permissions import Actor
from db.projects import create_project
from exports.importing.items import import_paths
from tests.app.cli.command_line import write_items
from tests.judging import scripted as script
from tests.judging.schemas import filled
from tests.judging.scripted import ScriptedServer
from tests.judging.wire import Sent
from tests.makers import make_member, make_person, read_guidelines

ITEMS = 12
PROTOCOL = PROTOCOLS.get("query_review")


def item(number: int) -> dict[str, Any]:
    """An item of which the judge says A where its number is even; people say A where it divides by four."""
    question = f"Question {number:02d}, {'even' if number % 2 == 0 else 'odd'}?"
    return {"id": f"q{number:02d}", "question_key": f"k{number}", "question": question, "answer": "zanswer"}


def even(sent: Sent) -> script.Turn:
    label = "A" if ", even?" in sent.texts[-1].rpartition("# Material")[2] else "B"
    reply = filled(sent.schema or {}, lambda path, leaf: label if "enum" in leaf else _plain(leaf))
    return script.Whole(reply)


def _plain(leaf: Any) -> Any:
    return False if leaf.get("type") == "boolean" else "So it is."


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(even) as opened:
        yield opened


class Place:
    """A project of twelve questions, a judge that has judged them all, and an annotator."""

    def __init__(self, db: Database, server: ScriptedServer, folder: Any) -> None:
        self.db, self.server = db, server
        self.admin = make_person(db, admin=True)
        self.project = create_project(db, self.admin, f"Filter {uuid.uuid4().hex}")
        make_member(db, self.project, make_person(db, "ana"), "annotator")
        folder.mkdir(exist_ok=True)
        rows = [item(number) for number in range(ITEMS)]
        assert import_paths(db, self.admin, self.project, paths=[write_items(folder, *rows)]).rejected == []
        self.judged = study_for_judges(db, self.admin, self.project, protocol=PROTOCOL)
        self.judge = run_judge(db, self.admin, self.judged, judge=self.settings(PROMPTS.get("query_reviewer")))["judge"]

    def settings(self, prompt: Any) -> JudgeSettings:
        return JudgeSettings("tiny-judge", self.server.base_url, prompt, pictures=0)

    def sampled(self, per: int, seed: int = 3) -> Any:
        design = StudyDesign(name=f"Checked {per} {seed}", annotators=("ana",), overlap=1)
        return study_of_decisions(
            self.db, self.admin, self.judged,
            judge=self.judge, criterion=None, per=per, seed=seed, design=design,
        )  # fmt: skip

    def label(self, study: int, *, most: int = ITEMS) -> Counter[str]:
        """Ana's labels, by what the judge was asked of the question; nothing of the judge's is on her page."""
        ana: Actor = actor_named(self.db, "ana")
        read_guidelines(self.db, study)
        seen: Counter[str] = Counter()
        while (items := work(self.db, ana, study)["items"]) and seen.total() < most:
            given = items[0]
            assert "So it is." not in str(given)
            number = int(given["question"][9:11])
            seen["A" if number % 2 == 0 else "B"] += 1
            label = GivenLabel("query_category", "item", "A" if number % 4 == 0 else "B")
            where = [given[name] for name in ("assignment", "sitting", "step")]
            submit(self.db, ana, study, step=StepSubmission(uuid.uuid4().hex, *where, (label,), seconds=1.0))
        return seen


@pytest.fixture
def place(database: Database, server: ScriptedServer, tmp_path: Any) -> Place:
    return Place(database, server, tmp_path / "in")


def test_of_each_decision_a_sample_is_checked_and_the_share_right_has_an_interval(place: Place) -> None:
    drawn = place.sampled(4)
    assert (drawn.criterion, drawn.decided, drawn.drawn) == ("query_category", {"A": 6, "B": 6}, {"A": 4, "B": 4})
    study = drawn.study.study_id
    before = checked_decisions(place.db, place.admin, study, judge=place.judge)
    assert [(one.n, one.share, one.reason) for one in before] == [(0, None, "nothing of it is settled yet")] * 2
    assert place.label(study) == {"A": 4, "B": 4}
    yes, no = checked_decisions(place.db, place.admin, study, judge=place.judge)
    assert (no.decision, no.decided, no.drawn, no.n, no.right, no.share, no.wrong) == ("B", 6, 4, 4, 4, 1.0, {})
    assert (yes.decision, yes.n, yes.share) == ("A", 4, yes.right / 4)
    assert set(yes.wrong.values()) == {"B"}
    assert all(int(name[1:]) % 4 == 2 for name in yes.wrong)
    assert len(yes.wrong) == 4 - yes.right
    for one in (yes, no):
        assert one.share is not None
        assert 0 <= (one.low or 0) < one.share <= (one.high or 0) <= 1
        assert "Wilson" in one.method


def test_the_same_seed_draws_the_same_items_and_small_decisions_are_taken_whole(place: Place) -> None:
    def items(study: int) -> set[str]:
        with place.db.read() as session:
            rows = session.connection().exec_driver_sql(
                "SELECT i.external_id FROM study_item s JOIN item_version v ON v.id = s.item_version_id "
                f"JOIN item i ON i.id = v.item_id WHERE s.study_id = {study}"
            )
            return set(rows.scalars())

    one, other = place.sampled(2, seed=1), place.sampled(3, seed=1)
    assert items(one.study.study_id) < items(other.study.study_id)
    assert place.sampled(50, seed=1).drawn == {"A": 6, "B": 6}


def test_settled_items_become_examples_and_their_questions_are_never_judged_by_it(place: Place) -> None:
    drawn = place.sampled(6)
    study = drawn.study.study_id
    place.label(study, most=9)
    yes, no = checked_decisions(place.db, place.admin, study, judge=place.judge)
    wrong = next(iter({**yes.wrong, **no.wrong}))
    prompt = PROMPTS.get("query_reviewer")
    assert isinstance(prompt, Prompt)
    new = prompt_with_examples(place.db, place.admin, study, prompt=prompt, criterion=None, items=[wrong])
    *before, example = new.examples
    assert before == prompt.examples
    question = item(int(wrong[1:]))["question"]
    assert example == Example(criterion="query_category", shown=f"Question: {question}", label="B", item=wrong)
    assert prompt_from_yaml(prompt_to_yaml(new)) == new
    again = prompt_with_examples(place.db, place.admin, study, prompt=new, criterion=None, items=[wrong])
    assert again == new, "an item is one example"

    sent = len(place.server.sent)
    plan = plan_judging(place.db, place.admin, place.judged, judge=place.settings(new))
    assert plan.examples == (wrong,)
    found = run_judge(place.db, place.admin, place.judged, judge=place.settings(new))
    assert (found["labels"], found["unscored"]) == (ITEMS - 1, [{"reason": EXAMPLE, "n": 1}])
    asked = [one.texts[-1].rpartition("# Material")[2] for one in place.server.sent[sent:]]
    assert len(asked) == ITEMS - 1
    assert [text for text in asked if question in text] == []
    assert all(question in one.texts[-1] for one in place.server.sent[sent:]), "the example is told"


def test_what_is_not_settled_or_not_there_is_refused_by_name(place: Place) -> None:
    study = place.sampled(6).study.study_id
    prompt = PROMPTS.get("query_reviewer")
    assert isinstance(prompt, Prompt)

    def learned(*items: str, of: Prompt = prompt) -> Prompt:
        return prompt_with_examples(place.db, place.admin, study, prompt=of, criterion=None, items=items)

    with pytest.raises(InvalidInput, match=r"'q03'.*not settled there"):
        learned("q03")
    with pytest.raises(NotFound, match="has no item 'q99'"):
        learned("q03", "q99")
    with pytest.raises(InvalidInput, match="No item is named"):
        learned()
    other = PROMPTS.get("answer_grade")
    assert isinstance(other, Prompt)
    with pytest.raises(InvalidInput, match="for the protocol 'answer_grading'"):
        learned("q03", of=other)
    with pytest.raises(NotFound, match="no judge 'nobody'"):
        checked_decisions(place.db, place.admin, study, judge="nobody")
    with pytest.raises(InvalidInput, match=r"no criterion 'tone'.*Known: query_category"):
        checked_decisions(place.db, place.admin, study, judge=place.judge, criterion="tone")
