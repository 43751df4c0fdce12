"""A project's own prompts: versions, names of built-in ones, and what tells two apart."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from annotators.errors import InvalidInput, NotFound
from annotators.judges.prompts import PROMPTS, AnyPrompt, Prompt, default_prompt, prompt_to_yaml
from annotators.judges.prompts.comparing import compared, unified
from db import guards
from db.engine import Database
from db.judging.judges import JudgeSettings, judge_for
from db.judging.library import add_prompt, list_prompts, named_prompt
from db.libraries import NameTaken
from db.upkeep.maintenance import delete_project
from db.upkeep.soundness import wrong_hashes
from tests.makers import make_person, make_project


def own(said: str = "Mind the year.", *, version: int = 1, name: str = "strict") -> Prompt:
    """A small prompt of one's own."""
    return Prompt(
        name=name, version=version, title="صارم", protocol="ambiguity", criteria={"ambiguity": said}
    )  # fmt: skip


def test_what_differs_from_the_newest_version_is_the_next_one(database: Database) -> None:
    actor, project = make_person(database, admin=True), make_project(database)
    made = [
        (added.kept.version, added.new)
        for said in ("Mind the year.", "Mind the year.", "Mind the place.", "Mind the year.")
        for added in (add_prompt(database, actor, project, prompt=own(said)),)
    ]
    assert made == [(1, True), (1, False), (2, True), (3, True)]
    split = PROMPTS.get("claim_splitting").model_copy(update={"name": "my_split"})
    assert add_prompt(database, actor, project, prompt=split).kept == split
    entries = list_prompts(database, actor, project)
    assert [(entry.kept.name, entry.kept.version, entry.who, entry.used) for entry in entries] == [
        ("my_split", 1, actor.name, 0), ("strict", 3, actor.name, 0), ("strict", 2, actor.name, 0),
        ("strict", 1, actor.name, 0),
    ]  # fmt: skip
    assert entries[1].hash == entries[3].hash == own().hash != entries[2].hash
    assert list(wrong_hashes(database)) == []


def test_a_prompt_is_found_by_name_and_version_and_a_built_in_name_stands_for_that_one(
    sqlite_database: Database,
) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    for said in ("Mind the year.", "Mind the place."):
        add_prompt(sqlite_database, actor, project, prompt=own(said))

    def found(name: str) -> AnyPrompt:
        return named_prompt(sqlite_database, actor, project, name=name)

    assert (found("strict"), found("strict@1")) == (own("Mind the place.", version=2), own())
    assert found("answer_grade") == PROMPTS.get("answer_grade")
    with pytest.raises(NotFound, match=r"The project's prompt 'strict' has no version 3\. It has: 1, 2\."):
        found("strict@3")
    with pytest.raises(NotFound, match=r"no prompt named 'lax'.*Of this project: strict\."):
        found("lax")
    with pytest.raises(InvalidInput, match="NAME@VERSION as in strict_grades@2"):
        found("strict@0")
    with pytest.raises(NameTaken, match="as in my_plain"):
        add_prompt(sqlite_database, actor, project, prompt=own(name="plain"))
    same = add_prompt(sqlite_database, actor, project, prompt=PROMPTS.get("plain"))
    assert (same.kept, same.new) == (PROMPTS.get("plain"), False)


def test_judges_of_a_prompt_are_counted_it_goes_with_its_project_and_a_changed_one_is_found(
    sqlite_database: Database,
) -> None:
    db = sqlite_database
    actor, project = make_person(db, admin=True), make_project(db)
    added = add_prompt(db, actor, project, prompt=own())
    with db.write() as session:
        judge_for(session, project, JudgeSettings("m", "http://s/v1", own(name="other", version=4)))
        name = session.execute(text("SELECT name FROM project")).scalar_one()
    [entry] = list_prompts(db, actor, project)
    assert (entry.used, entry.hash) == (1, added.hash)
    with db.write() as session, guards.lifted(session.connection()):
        session.execute(text("UPDATE prompt_version SET prompt = REPLACE(prompt, 'year', 'day')"))
    assert list(wrong_hashes(db)) == ["version 1 of the prompt 'strict'"]
    assert delete_project(db, actor, project, name=name).rows["prompt_version"] == 1


def test_two_prompts_are_compared_line_by_line() -> None:
    one, other = own("Mind the year.\nAnd the unit."), own("Mind the place.\nAnd the unit.", version=2)
    lines = [(line.change, line.text.strip()) for line in compared(one, other)]
    assert ("same", "And the unit.") in lines
    at = lines.index(("removed", "Mind the year."))
    assert lines[at + 1] == ("added", "Mind the place.")
    assert "\n".join(line.text for line in compared(one, other) if line.change != "added") + "\n" == prompt_to_yaml(one)
    assert unified(one, other).startswith("--- strict@1\n+++ strict@2\n")
    assert unified(one, one) == ""


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("vendor/model-7b", "vendor/model-7b"),
        ("a\nb\t c", "a b c"),
        ("qwen, 7b", "qwen 7b"),
        ("x\u202ey\x00", "xy"),
        ("\n", "model"),
    ],
)
def test_a_judge_is_called_what_can_be_named_on_one_line_whatever_its_model_is_called(
    sqlite_database: Database, model: str, name: str
) -> None:
    project = make_project(sqlite_database)
    with sqlite_database.write() as session:
        _, found = judge_for(session, project, JudgeSettings(model, "http://s/v1", default_prompt()))
    assert found == f"{name} plain@1"


def test_a_judge_whose_name_is_taken_is_called_by_what_tells_it_apart_and_not_by_a_number(
    sqlite_database: Database,
) -> None:
    here, elsewhere = (make_project(sqlite_database, name) for name in ("harbour", "piers, old"))
    base: dict[str, Any] = {"model": "m", "server": "http://s/v1", "prompt": default_prompt()}

    def named(project: int, **changes: Any) -> str:
        with sqlite_database.write() as session:
            return judge_for(session, project, JudgeSettings(**{**base, **changes}))[1]

    assert named(here) == named(here) == "m plain@1"
    assert named(here, server="http://other:8000/v1") == "m plain@1 · other:8000"
    assert named(here, seed=7) == "m plain@1 · seed 7"
    assert named(here, seed=7, samples=5) == "m plain@1 · 5 samples · seed 7"
    assert named(here, probabilities=True) == "m plain@1 · with probabilities"
    assert named(here, server="http://other:8000/v1", seed=7) == "m plain@1 · other:8000 · seed 7"
    assert named(elsewhere) == "m plain@1 of piers old", "another project's judge is nobody's business: no number"
    assert named(elsewhere, seed=7) == "m plain@1 · seed 7 of piers old"
    assert named(elsewhere) == "m plain@1 of piers old", "found again"
