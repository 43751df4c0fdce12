"""What tells two requests, and two judges, apart: each thing by itself."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest

from annotators.judges.asking import key_of
from annotators.judges.base import Call, Message, Picture, Text
from annotators.judges.client import STRUCTURED, Client
from annotators.judges.prompts import Example, Prompt
from db.engine import Database
from db.judging.judges import JudgeSettings, judge_for, settings_digest
from tests.makers import make_project

SCHEMA = {"type": "object", "properties": {"label": {"enum": ["yes", "no"]}}}
PICTURE = Picture(b"\x89PNG 1", "image/png")
CALL = Call(
    (Message("system", (Text("Judge."),)), Message("user", (Text("Is it so?"), PICTURE))),
    SCHEMA, "right", (("right", "item"),),
)  # fmt: skip
SYSTEM, USER = CALL.messages
SERVER = {"base_url": "http://127.0.0.1:9/v1", "model": "tiny", "key": "k"}

OTHERWISE: dict[str, dict[str, Any]] = {
    "the server": {"base_url": "http://127.0.0.1:10/v1"},
    "its path": {"base_url": "http://127.0.0.1:9/v2"},
    "the model": {"model": "tiny-2"},
    "the longest reply": {"most": 1025},
    "the seed": {"seed": 1},
    "log-probabilities": {"chances": True},
    "held by words": {"structured": "prompt"},
    "held by the server": {"structured": "schema"},
    "what is said first": {"call": replace(CALL, messages=(Message("system", (Text("Judge!"),)), USER))},
    "who says it": {"call": replace(CALL, messages=(replace(SYSTEM, role="user"), USER))},
    "the words": {"call": replace(CALL, messages=(SYSTEM, Message("user", (Text("Is it?"), PICTURE))))},
    "a message less": {"call": replace(CALL, messages=(USER,))},
    "no picture": {"call": replace(CALL, messages=(SYSTEM, Message("user", (Text("Is it so?"),))))},
    "a picture": {
        "call": replace(CALL, messages=(SYSTEM, replace(USER, parts=(USER.parts[0], replace(PICTURE, data=b"2")))))
    },
    "a picture twice": {"call": replace(CALL, messages=(SYSTEM, replace(USER, parts=(*USER.parts, PICTURE))))},
    "its place": {"call": replace(CALL, messages=(SYSTEM, replace(USER, parts=(PICTURE, USER.parts[0]))))},
    "parts that are together": {
        "call": replace(CALL, messages=(replace(SYSTEM, parts=(Text("Jud"), Text("ge."))), USER))
    },
    "a label": {"call": replace(CALL, schema={**SCHEMA, "properties": {"label": {"enum": ["yes", "no", "?"]}}})},
    "the order of labels": {"call": replace(CALL, schema={**SCHEMA, "properties": {"label": {"enum": ["no", "yes"]}}})},
    "settings": {"settings": {"prompt": 2}},
}
"""What is otherwise, by itself → with what a request is made."""


def key(call: Call = CALL, settings: dict[str, Any] | None = None, **client: Any) -> str:
    return key_of(opened(**{**SERVER, **client}), call, settings or {})


opened = cache(Client)


def test_two_requests_are_one_only_where_nothing_of_them_is_otherwise() -> None:
    keys = {"as it is": key(), **{what: key(**given) for what, given in OTHERWISE.items()}}
    assert len(set(keys.values())) == len(keys), keys
    assert key() == keys["as it is"] == key(key="another", seconds=1.0), "who pays, and how long one waits, is no part"


def test_every_way_of_holding_a_reply_to_its_schema_is_a_request_of_its_own() -> None:
    assert len({key(structured=way) for way in STRUCTURED}) == len(STRUCTURED)


JUDGE = JudgeSettings("tiny", "http://127.0.0.1:9/v1", Prompt(name="plain"))
ANOTHER: dict[str, Any] = {
    "model": "tiny-2", "server": "http://127.0.0.1:10/v1", "prompt": Prompt(name="plain", guidelines=False),
    "samples": 3, "seed": 1, "most": 1025, "pictures": 7, "structured": "schema", "probabilities": True,
}  # fmt: skip


def test_each_setting_makes_another_judge_which_is_found_again(sqlite_database: Database) -> None:
    assert {field.name for field in fields(JudgeSettings)} == {*ANOTHER, "letters"}
    judges = [JUDGE, *(replace(JUDGE, **{name: value}) for name, value in ANOTHER.items())]
    judges.append(replace(JUDGE, probabilities=True, letters=False))  # letters matter only with probabilities
    assert settings_digest(replace(JUDGE, letters=False)) == settings_digest(JUDGE)
    assert len({settings_digest(one) for one in judges}) == len(judges)
    first, second = make_project(sqlite_database), make_project(sqlite_database)
    with sqlite_database.write() as session:
        found = [judge_for(session, project, one) for project in (first, second) for one in judges]
        assert [judge_for(session, project, one) for project in (first, second) for one in judges] == found
    assert len({person for person, _ in found}) == len({name for _, name in found}) == 2 * len(judges)


def test_settings_are_read_as_they_were_kept() -> None:
    for name, value in ANOTHER.items():
        judge = replace(JUDGE, **{name: value})
        back = JudgeSettings.from_json(judge.to_json())
        assert replace(back, letters=judge.letters) == judge, name
        assert back.gives_letters == judge.gives_letters
    before_letters = {**replace(JUDGE, probabilities=True).to_json()}
    del before_letters["letters"]
    assert not JudgeSettings.from_json(before_letters).gives_letters


@pytest.mark.parametrize("field", [name for name in Prompt.model_fields if name not in ("name", "version", "title")])
def test_a_prompt_that_says_something_else_has_another_hash(field: str) -> None:
    prompt = Prompt(name="plain")
    said: dict[str, Any] = {
        "source": "a paper", "system": "Judge well.", "rationale": "none", "protocol": "tiny", "guidelines": False,
        "criteria": {"right": "Look twice."}, "examples": [Example(criterion="right", shown="x", label="yes")],
    }  # fmt: skip
    assert (prompt.model_copy(update={field: said[field]}).hash == prompt.hash) == (field == "source")


@pytest.mark.parametrize("field", ["criterion", "shown", "label", "why", "item"])
def test_an_example_that_says_something_else_makes_another_prompt(field: str) -> None:
    example = Example(criterion="right", shown="x", label="yes", why="so", item="i1")
    changed = example.model_copy(update={field: "other"})
    assert Prompt(name="p", examples=[example]).hash != Prompt(name="p", examples=[changed]).hash
