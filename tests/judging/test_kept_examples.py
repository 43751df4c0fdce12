"""Examples of items whose documents must not leave this machine: no judge elsewhere is told them, whoever is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.judges.prompts import PROMPTS, AnyPrompt, Example, GeneratingPrompt, Prompt, default_prompt
from annotators.judges.prompts.generating import Written
from annotators.judges.trust.trials import Trial
from annotators.protocols import PROTOCOLS
from db.engine import Database
from db.items.documents import keep_documents
from db.judging.drafting import Asked, WriterSettings, WritingMeans, write_draft
from db.judging.judges import JudgeSettings
from db.judging.planning import plan_judging, study_for_judges
from db.judging.run import run_judge
from db.judging.trying import plan_trials, try_judge
from tests.app.cli.command_line import write_items
from tests.exports.formats.places import Place
from tests.judging.scripted import ScriptedServer

SECRET = "The margin of the contract is eleven percent."


def item(name: str, **more: Any) -> dict[str, Any]:
    about = {"question": f"What was the rent of house {name}?", "references": ["600 euros"]}
    return {"id": name, "question_key": name, "answer": f"It was 600 euros, {name}.", **about, **more}


class Judged(Place):
    """A project of three items, of which b has a document, and a study in which they are graded."""

    def __init__(self, db: Database, folder: Path) -> None:
        super().__init__(db, folder)
        cited = [{"document": "contract.pdf", "pages": [1], "text": SECRET, "role": "gold"}]
        self.take(write_items(folder / "in", item("a"), item("b", evidence=cited), item("c")))
        self.study = study_for_judges(db, self.actor, self.project, protocol=PROTOCOLS.get("answer_grading"))

    def keep(self) -> None:
        keep_documents(self.db, self.actor, self.project, keys=["contract.pdf"], kept=True)


@pytest.fixture
def judged(database: Database, tmp_path: Path) -> Judged:
    return Judged(database, tmp_path)


def told(shown: str, of: str = "") -> Prompt:
    example = Example(criterion="grade", shown=shown, label="5", item=of)
    return Prompt(name="ex", examples=[example])


def elsewhere(server: ScriptedServer) -> str:
    return server.base_url.replace("127.0.0.1", "0.0.0.0")  # it leads to this machine, and does not say so


@pytest.mark.parametrize(
    ("prompt", "whose"),
    [
        (told("Words of my own.", of="b"), r"is of the item 'b'"),
        (told(f"Evidence 1 (passage): {SECRET}"), r"has words of the item 'b'.*say by its `item` of which other"),
        (told("Question: What was the rent of house b?"), r"has words of the item 'b'"),
        (told("Answer: It was 600 euros, b."), r"has words of the item 'b'"),
        (told("Answer: It was 600 euros, b.", of="of another project"), r"has words of the item 'b'"),
    ],
)
def test_no_judge_elsewhere_is_asked_with_an_example_that_stays_here(
    judged: Judged, prompt: Prompt, whose: str
) -> None:
    db, actor, study = judged.db, judged.actor, judged.study
    with ScriptedServer() as server:
        before = JudgeSettings("tiny-judge", elsewhere(server), default_prompt(), pictures=0)
        name = run_judge(db, actor, study, judge=before)["judge"]
        judge, trials = JudgeSettings("tiny-judge", before.server, prompt, pictures=0), [Trial("prompt", prompt)]
        assert plan_judging(db, actor, study, judge=judge).shows
        judged.keep()
        n = server.requests
        for ask in (
            lambda: plan_judging(db, actor, study, judge=judge),
            lambda: run_judge(db, actor, study, judge=judge),
            lambda: plan_trials(db, actor, study, judge=name, trials=trials),
            lambda: try_judge(db, actor, study, judge=name, trials=trials),
        ):
            with pytest.raises(InvalidInput, match=f"Example 1 of the prompt 'ex' {whose}") as refused:
                ask()
            assert "Take a prompt without this example" in str(refused.value)
        assert server.requests == n
        here = JudgeSettings("tiny-judge", server.base_url, prompt, pictures=0)
        assert run_judge(db, actor, study, judge=here)["requests"] > 0


@pytest.mark.parametrize("prompt", [told("A rent.", of="a"), told("A rent of a house, made up."), told(SECRET, of="a")])
def test_examples_of_other_items_may_leave(judged: Judged, prompt: Prompt) -> None:
    judged.keep()
    with ScriptedServer() as server:
        judge = JudgeSettings("tiny-judge", elsewhere(server), prompt, pictures=0)
        assert run_judge(judged.db, judged.actor, judged.study, judge=judge)["requests"] > 0


def test_a_run_ends_when_a_document_of_an_example_is_marked_meanwhile(judged: Judged) -> None:
    more = [item(f"more{n:02d}") for n in range(20)]
    judged.take(write_items(judged.home / "more", *more))
    study = study_for_judges(judged.db, judged.actor, judged.project, protocol=PROTOCOLS.get("answer_grading"))
    with ScriptedServer() as server:
        judge = JudgeSettings("tiny-judge", elsewhere(server), told("Words of my own.", of="b"), pictures=0)

        def marked(done: int, _of: int) -> None:
            if done:
                judged.keep()

        with pytest.raises(InvalidInput, match="is of the item 'b'"):
            run_judge(judged.db, judged.actor, study, judge=judge, progress=marked)
        assert 0 < server.requests < len(more)


def test_no_writer_elsewhere_is_asked_with_an_example_that_stays_here(judged: Judged) -> None:
    judged.keep()
    of_answers: AnyPrompt = PROMPTS.get("answer_rewriting")
    assert isinstance(of_answers, GeneratingPrompt)
    prompt = of_answers.model_copy(update={"name": "mine", "examples": [Written(shown=SECRET, written="Eleven.")]})
    with ScriptedServer() as server:
        writer = WriterSettings("tiny-judge", elsewhere(server), prompt)
        with pytest.raises(InvalidInput, match="Example 1 of the prompt 'mine' has words of the item 'b'"):
            write_draft(
                judged.db, judged.actor, judged.project,
                asked=Asked("a", "answer"), writer=writer, means=WritingMeans(),
            )  # fmt: skip
        assert server.requests == 0
