"""A protocol while it is written: form and YAML as one object, names that change everywhere, nothing silently lost."""

from __future__ import annotations

import pytest
import yaml

from annotators.asking.drafts import Draft
from annotators.asking.protocol_files import protocol_to_yaml
from annotators.protocols import PROTOCOLS
from tests.app.cli.command_line import ROOT

HOSTILE = [
    "<script>alert(1)</script>",
    "=1+1",
    "- a: [b",
    "#",
    "'\"`",
    "النبرة\u202e",
    "a\u2028b",
    "null",
    "01",
    "{}: &x",
]


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_a_built_in_protocol_is_the_same_text_before_and_after_the_form(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    draft = Draft.of(protocol, on=protocol.version)
    assert draft.text == protocol_to_yaml(protocol)
    draft.changed()
    assert draft.text == protocol_to_yaml(protocol)
    assert draft.protocol is not None
    assert draft.protocol.digest() == protocol.digest()


def test_a_new_one_is_a_protocol_at_once_and_a_copy_has_a_name_of_its_own() -> None:
    assert Draft.new().protocol is not None
    copy = Draft.of(PROTOCOLS.get("ambiguity"), on=None)
    assert copy.protocol is not None
    assert (copy.protocol.name, copy.protocol.version) == ("my_ambiguity", 1)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_in_any_field_comes_back_as_it_is(text: str) -> None:
    draft = Draft.new()
    [criterion] = draft.parts("criteria")
    for part, name in (
        (draft.data, "title"),
        (draft.data, "guidelines"),
        (criterion, "title"),
        (criterion["labels"][0], "definition"),
        (criterion["labels"][1], "value"),
        (draft.parts("steps")[0], "title"),
    ):
        draft.put(part, name, text)
    assert draft.protocol is not None, draft.problems
    made = draft.protocol
    assert {made.title, made.guidelines, made.criteria[0].title, made.steps[0].title} == {text}
    assert made.criteria[0].label_list()[0].definition == text
    assert str(made.criteria[0].label_list()[1].value) == text


def test_a_criterion_that_is_renamed_moved_or_removed_is_so_everywhere() -> None:
    draft = Draft.new()
    draft.put(draft.data, "invalidates", {"answer": ["right"]})
    second = draft.add_criterion()
    draft.put(second, "when", {"criterion": "right", "values": ["yes"]})
    rule = draft.add_consequence()
    for name, value in (("when", "right"), ("then", "criterion_1")):
        draft.put(rule[name], "criterion", value)
        draft.put(rule[name], "values", ["yes"])
    first = draft.parts("criteria")[0]
    draft.put(first, "name", "correct")
    draft.put(first["labels"][0], "value", "aye")
    draft.put(first, "accept", ["aye"])
    assert draft.protocol is not None, draft.problems
    made = draft.protocol
    assert made.steps[0].criteria == ["correct", "criterion_1"]
    condition = made.criteria[1].when
    assert condition is not None
    assert (condition.criterion, condition.values) == ("correct", ["aye"])
    assert (made.consequences[0].when.criterion, made.consequences[0].when.values) == ("correct", ["aye"])
    assert made.invalidates == {"answer": ["correct"]}

    draft.move(draft.parts("criteria"), second, -1)
    assert draft.parts("steps")[0]["criteria"] == ["criterion_1", "correct"]
    paths = [problem.path for problem in draft.problems]
    assert paths == [("criteria", 0, "when"), ("consequences", 0, "then", "criterion")]
    draft.move(draft.parts("criteria"), second, 1)
    assert draft.protocol is not None
    draft.remove(draft.parts("criteria"), first)
    assert draft.protocol is not None, draft.problems
    assert [criterion.name for criterion in draft.protocol.criteria] == ["criterion_1"]
    assert draft.protocol.criteria[0].when is None
    assert (draft.protocol.consequences, draft.protocol.invalidates) == ([], {})


def test_a_kind_takes_only_the_fields_that_it_has() -> None:
    draft = Draft.new()
    [criterion] = draft.parts("criteria")
    draft.put(criterion, "positive", "yes")
    draft.put(criterion, "accept", ["yes"])
    draft.put(criterion, "kind", "number")
    assert draft.protocol is not None, draft.problems
    assert "labels" not in criterion
    assert "accept" not in criterion


def test_text_that_is_no_yaml_leaves_the_form_as_it_was_and_names_the_line() -> None:
    draft = Draft.new()
    draft.write("name: a\ntitle: [b\n")
    assert draft.unreadable is not None
    assert draft.unreadable.line == 3
    assert draft.protocol is None
    assert draft.data["name"] == "my_protocol"
    draft.write(Draft.new().text)
    assert draft.unreadable is None
    assert draft.protocol is not None


def test_a_file_of_twenty_mistakes_has_each_at_its_place_and_survives_the_form() -> None:
    draft = Draft((ROOT / "tests" / "data" / "twenty_mistakes.yaml").read_text())
    assert len(draft.problems) > 20
    assert all(problem.remedy and problem.line for problem in draft.problems)
    assert {problem.path[0] for problem in draft.problems if problem.path} >= {"criteria", "steps"}
    assert draft.about("criteria", 0)
    before = len(draft.problems)
    draft.put(draft.data, "summary", "Changed by the form.")
    assert draft.data["summary"] == "Changed by the form."
    assert abs(len(draft.problems) - before) <= 2, "a line that stood twice is gone, and nothing else is"


def test_what_is_no_part_where_one_belongs_is_a_part_with_that_title() -> None:
    draft = Draft("name: a\ntitle: A\nguidelines: g\ncriteria: [just words, {name: b, labels: [x]}]\nsteps: 3\n")
    assert [part.get("title") for part in draft.parts("criteria")] == ["just words", None]
    assert draft.parts("criteria")[1]["labels"][0]["title"] == "x"
    assert draft.protocol is None
    draft.put(draft.data, "title", "B")
    assert yaml.safe_load(draft.text)["title"] == "B"


def test_parts_keep_their_ids_when_the_text_is_written_anew() -> None:
    draft = Draft.new()
    draft.add_criterion()
    before = [part["#"] for part in draft.parts("criteria")]
    draft.write(draft.text.replace("Right", "Correct"))
    assert [part["#"] for part in draft.parts("criteria")] == before
    assert len({part["#"] for part in (*draft.parts("criteria"), *draft.parts("steps"), draft.data)}) == 4
