"""The page Prompts: the library, a prompt in full, two compared, one written, and what is sent of an item."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from html import escape
from typing import Any

import pytest

from annotators.asking.submissions import GivenLabel
from annotators.judges.prompts import PROMPTS, AnyPrompt, Prompt
from annotators.protocols import PROTOCOLS
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.judging.judges import JudgeSettings
from db.judging.library import add_prompt, list_prompts
from db.judging.planning import study_for_judges
from db.judging.run import run_judge
from db.libraries import Entry
from db.studies.design import list_studies
from tests.app.filled import Filled, no_problem, press
from tests.app.pages import Pages
from tests.judging.schemas import filled as filled_by
from tests.judging.scripted import ScriptedServer, Whole
from tests.judging.wire import Sent
from tests.makers import read_guidelines

HOSTILE = "<script>alert(1)</script> **bold** هل؟"


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def own(filled: Filled) -> list[Entry[AnyPrompt]]:
    return list_prompts(filled.pages.db, filled.study.researcher, filled.project_id)


def strict(said: str = "Mind the year.") -> Prompt:
    return Prompt(name="strict", title=HOSTILE, protocol="ambiguity", criteria={"ambiguity": said})


def added(filled: Filled, prompt: AnyPrompt, on: int | None = None) -> None:
    add_prompt(filled.pages.db, filled.study.researcher, filled.project_id, prompt=prompt, on=on)


def test_the_library_lists_own_prompts_beside_built_in_ones(filled: Filled) -> None:
    said = no_problem(filled.open("rosa", "prompts"))
    assert "The project has no prompt of its own" in said
    assert all(prompt.name in said for prompt in PROMPTS)
    added(filled, strict())
    added(filled, strict("Mind the place."), on=1)
    page = filled.open("vera", "prompts")
    assert "1 prompt of the project’s own" in no_problem(page)
    assert [button.label for button in page.button] == []
    said = no_problem(filled.open("vera", "prompts", prompt="strict@1"))
    assert "Version 2" in said
    assert "Mind the year." in said
    assert HOSTILE.partition(" **")[0] not in said.replace(escape(HOSTILE), "")
    assert "no version 9" in filled.open("rosa", "prompts", prompt="strict@9").error[0].value


def test_every_built_in_prompt_is_shown_in_full(filled: Filled) -> None:
    for name in ("plain", "multimodal_answer", "claim_splitting", "question_rewriting", "answer_rewriting"):
        prompt = PROMPTS.get(name)
        said = no_problem(filled.open("vera", "prompts", prompt=name))
        for text in (prompt.system, *(example.shown for example in prompt.examples)):
            assert escape(text.strip().splitlines()[0]) in said


def test_two_versions_are_compared_in_two_colours(filled: Filled) -> None:
    added(filled, strict("Mind the year.\nAnd <b>."))
    added(filled, strict("Mind the place.\nAnd <b>."))
    said = no_problem(filled.open("vera", "prompts", prompt="strict@1", **{"with": "strict@2"}))
    assert '<tr class="removed"><td aria-hidden="true">−</td>' in said
    assert "Mind the year.</del>" in said
    assert "Mind the place.</ins>" in said
    assert "lines in both" in said
    assert "<b>." not in said
    [same] = filled.open("vera", "prompts", prompt="plain", **{"with": "plain"}).info
    assert "To a judge they are one" in same.value


def test_a_built_in_prompt_is_changed_as_a_copy_and_saved_as_versions(filled: Filled) -> None:
    page = filled.open("rosa", "prompts", edit="answer_grade")
    assert "Nothing is wrong: 3 examples." in no_problem(page)
    [text] = page.text_area
    assert "name: my_answer_grade" in text.value
    assert "Changed so far" in " ".join(header.value for header in page.subheader)
    text.input(text.value.replace("rationale: before", "rationale: none")).run()
    assert "rationale: none</ins>" in no_problem(page)
    press(page, "Save to the project")
    [entry] = own(filled)
    assert (entry.kept.name, entry.kept.version, entry.kept.rationale) == ("my_answer_grade", 1, "none")
    page = filled.open("rosa", "prompts", edit="my_answer_grade@1")
    page.text_area[0].input(page.text_area[0].value.replace("title: ", "title: My ")).run()
    press(page, "Save to the project")
    assert [entry.kept.version for entry in own(filled)] == [2, 1]


def test_what_is_wrong_is_named_and_cannot_be_saved(filled: Filled) -> None:
    page = filled.open("rosa", "prompts", edit="new")
    assert "Nothing is wrong" in no_problem(page)

    page.text_area[0].input(page.text_area[0].value.replace("name: my_prompt", "name: plain")).run()
    assert "<b>Line 1</b>" in no_problem(page)
    assert "the name of a built-in prompt" in no_problem(page)
    assert page.button(key="prompt-save").disabled
    page.text_area[0].input("name: mine\nprotocol: ambiguity\ncriteria:\n  tone: Listen.\n").run()
    assert "<b>Line 4</b>" in no_problem(page)
    page.text_area[0].input("name: mine\nprotocol: nothing\n").run()
    assert "There is no protocol named" in no_problem(page)
    page.text_area[0].input("name: [broken\n").run()
    assert "this is not YAML" in no_problem(page)
    again = filled.open("rosa", "prompts", edit="new")
    assert again.text_area[0].value == "name: [broken\n"
    assert "You have written and not saved" in no_problem(filled.open("rosa", "prompts"))
    press(again, "Discard")
    assert "You have written" not in no_problem(filled.open("rosa", "prompts"))


def test_what_is_sent_of_an_item_is_shown_and_nothing_of_later_steps(filled: Filled) -> None:
    page = filled.open("rosa", "prompts", prompt="ambiguity_prefilter")
    page.selectbox(key="prompt-item").set_value("i00001").run()
    press(page, "Show what is sent")
    said = no_problem(page)
    assert "Question of i00001?" in said
    assert "data-0000" in said
    assert "Answer:" not in said
    press(page, "Close")
    assert "data-0000" not in no_problem(page)


def odd(sent: Sent) -> Whole:
    """A judge that says A of the questions with an odd number, else B."""
    question = sent.texts[-1].rpartition("# Material")[2]
    label = "A" if re.search(r"i0000[13]\?", question) else "B"

    def fill(_path: object, leaf: Mapping[str, Any]) -> Any:
        return label if "enum" in leaf else (False if leaf.get("type") == "boolean" else "So it is.")

    return Whole(filled_by(sent.schema or {}, fill))


def test_a_sample_of_a_judges_decisions_is_checked_and_makes_the_next_version(filled: Filled) -> None:
    db, project = filled.pages.db, filled.project_id
    prompt = PROMPTS.get("query_reviewer")
    assert isinstance(prompt, Prompt)
    assert "Checked by people" not in no_problem(filled.open("rosa", "prompts", prompt=prompt.name))
    judged = study_for_judges(db, filled.study.researcher, project, protocol=PROTOCOLS.get("query_review"))
    with ScriptedServer(odd) as server:
        settings = JudgeSettings("tiny-judge", server.base_url, prompt, pictures=0)
        run_judge(db, filled.study.researcher, judged, judge=settings)
    page = filled.open("rosa", "prompts", prompt=prompt.name)
    assert "Nobody has checked it yet" in no_problem(page)
    ana = filled.study.annotators[0]
    page.multiselect(key="prompt-sample-people").set_value([ana.name])
    page.number_input(key="prompt-sample-overlap").set_value(1)
    page.text_input(key="prompt-sample-name").set_value("By hand")
    press(page, "Make the study")
    study = next(row.study_id for row in list_studies(db, filled.study.researcher, project) if row.name == "By hand")

    assert "nothing of it is settled yet" in no_problem(filled.open("vera", "prompts", prompt=prompt.name))
    read_guidelines(db, study)
    while items := work(db, ana, study)["items"]:
        where = [items[0][name] for name in ("assignment", "sitting", "step")]
        label = GivenLabel("query_category", "item", "B")
        submit(db, ana, study, step=StepSubmission(uuid.uuid4().hex, *where, (label,), seconds=1.0))
    page = filled.open("rosa", "prompts", prompt=prompt.name)
    said = no_problem(page)
    assert "0.0" in said
    assert "100.0" in said
    assert "i00001" in said
    page.multiselect(key=f"prompt-learn-{study}").set_value(["i00003"]).run()
    press(page, "Make the next version")
    [entry] = own(filled)
    assert isinstance(entry.kept, Prompt)
    assert (entry.kept.name, entry.kept.version) == ("my_query_reviewer", 1)
    assert [(one.item, one.label) for one in entry.kept.examples if one.item] == [("i00003", "B")]
    assert [button.label for button in filled.open("vera", "prompts", prompt=prompt.name).button] == []
