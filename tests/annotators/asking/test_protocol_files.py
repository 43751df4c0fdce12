from __future__ import annotations

import textwrap
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotators.asking.protocol_files import MAX_CHARACTERS, protocol_from_yaml, protocol_to_yaml
from annotators.criteria import KINDS, Label
from annotators.criteria.choice import Choice
from annotators.criteria.several import Several
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS, Material, Protocol, Step

SMALL = """\
name: small
title: Small
guidelines: |
  Decide.
criteria:
  - name: right
    title: Right
    labels:
      - value: yes
      - value: no
steps:
  - name: all
    title: All
    shows: [question, answer]
    criteria: [right]
"""


def refusal(text: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        protocol_from_yaml(text, "mine.yaml")
    return str(caught.value)


def with_labels(labels: str, more: str = "") -> str:
    """The small protocol with other labels, written on one line, and more fields of the criterion."""
    before, _, after = SMALL.partition("    labels:\n      - value: yes\n      - value: no\n")
    return f"{before}    labels: [{labels}]\n{more}{after}"


class TestReading:
    def test_a_small_protocol(self) -> None:
        protocol = protocol_from_yaml(SMALL)
        assert protocol.guidelines == "Decide.\n"
        assert isinstance(protocol.criterion("right"), Choice)
        assert protocol.shown_at(0) == {Material.QUESTION, Material.ANSWER}

    def test_truth_values_are_words_where_labels_are_and_yes_and_no_are_always(self) -> None:
        labels = "{value: true, title: True}, {value: False}, {value: yes}, {value: No}"
        text = with_labels(labels, "    accept: [TRUE]\n").replace("title: Small", "title: No")
        protocol = protocol_from_yaml(text)
        criterion = protocol.criterion("right")
        assert [label.value for label in criterion.label_list()] == ["true", "false", "yes", "No"]
        assert criterion.label_list()[0].title == "True"
        assert criterion.accept == ["true"]
        assert protocol.title == "No"

    def test_numbers_keep_their_meaning(self) -> None:
        labels = "{value: 1, key: 7}, {value: -2}, {value: 0.5}, {value: '3'}, {value: 2024-05-01}, {value: 010}"
        found = protocol_from_yaml(with_labels(labels)).criterion("right").label_list()
        assert [label.value for label in found] == [1, -2, "0.5", "3", "2024-05-01", "010"]
        assert found[0].key == "7"

    def test_an_empty_value_is_the_default(self) -> None:
        assert protocol_from_yaml(SMALL + "summary:\noverlap: null\n").overlap == 3


class TestErrors:
    def test_each_names_the_file_the_line_and_the_remedy(self) -> None:
        text = textwrap.dedent("""\
            name: My protocol
            guidelines: Decide.
            criteria:
              - name: tone
                kind: grade
                titel: Tone
                labels:
                  - {value: 1, key: s, colour: red}
                  - value: [2]
              - name: note
                kind: essay
                title: Note
            steps:
              - name: all
                title: All
                shows: [question, answr]
                criteria: [tone, note]
            overlap: 0
            about_scores: maybe
            """)
        assert refusal(text).splitlines() == [
            "mine.yaml, line 1: `name` is 'My protocol'. Use lower-case letters, digits and _, beginning with a "
            "letter.",
            "mine.yaml, line 1: `title` is missing. Add it.",
            "mine.yaml, line 4: `title` of criterion 1 is missing. Add it.",
            "mine.yaml, line 6: `titel` of criterion 1 is no field. Did you mean `title`? Known: kind, name, title, "
            "help, target, of, only, required, per_hop, when, accept, rest, tolerance, score, derived, suggested_by, "
            "judged_by, labels.",
            "mine.yaml, line 8: `colour` of label 1 of criterion 1 is no field. Known: value, title, key, definition.",
            "mine.yaml, line 9: `value` of label 2 of criterion 1 should be a text. Write it on one line, or after `|` "
            "on several.",
            "mine.yaml, line 11: there is no kind of criterion named 'essay'; known: choice, grade, number, order, "
            "place, several, spans, text.",
            "mine.yaml, line 16: entry 2 of `shows` of step 1 is 'answr'. Allowed: 'question', 'hops', 'answer', "
            "'references', 'claims', 'evidence', 'documents', 'images', 'roles', 'used', 'page_labels', 'system', "
            "'scores' or 'suggestions'.",
            "mine.yaml, line 18: `overlap` is 0: input should be greater than or equal to 1. Change it.",
            "mine.yaml, line 19: `about_scores` is 'maybe'. Write true or false.",
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                with_labels("{value: yes, key: s}"),
                "line 8: criterion 'right': key 's' of label 'yes' is used",
            ),
            (
                with_labels("{value: yes}", "    target: evidence\n    only: {roles: [golden]}\n"),
                "line 10: 'golden' is none of gold, retrieved, distractor; take one of these.",
            ),
            (
                with_labels("{value: yes}", "    only:\n      kind: [page]\n"),
                "line 10: `kind` of `only` of criterion 1 is no field. Did you mean `kinds`? Known: kinds, roles, "
                "per_modality.",
            ),
            (
                with_labels("{value: yes}", "    target: evidence\n    only: {per_modality: 0}\n"),
                "line 10: `per_modality` of `only` of criterion 1 is 0: input should be greater than or equal to 1.",
            ),
            (
                with_labels("{value: yes}", "    target: block\n    of: answer\n"),
                "line 10: criterion 'right': `of` is 'answer'; the target block has no sides; leave it out.",
            ),
            (SMALL.replace("title: Right", "title: [a]"), "line 7: `title` of criterion 1 should be a text."),
            (SMALL + "invalidates: {title: ['*']}\n", "line 16: `invalidates` names 'title'"),
            (SMALL + "about_scores: true\n", "line 16: the protocol is about scores, but no step shows scores"),
            (
                SMALL.replace("[right]", "[right, why]"),
                "line 15: a step asks 'why', which is no criterion; known: right.",
            ),
            (SMALL.replace("name: right", "name: wrong"), "line 15: a step asks 'right'"),
        ],
    )
    def test_what_does_not_hang_together_has_its_line(self, text: str, message: str) -> None:
        assert message in refusal(text)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "line 1: a protocol file is a list of fields"),
            ("- a\n- b\n", "line 1: a protocol file is a list of fields"),
            ("name: a\ntitle: b\nname: c\n", "line 3: `name` stands here again; it is on line 1 already. Remove one."),
            ("a: {b: 1,\n  b: 2}\n", "line 2: `b` stands here again; it is on line 1 already."),
            ("name: a\n  title: b\n", "line 2: this is not YAML: mapping values are not allowed here."),
            ("name: [a\n", "this is not YAML"),
            ("name: a\n\ttitle: b\n", "line 2: this is not YAML"),
            ("name: a\n---\nname: b\n", "this is not YAML"),
            ("name: a\ntitle: b\x07\n", "line 2: there is a control character in the text"),
            ("? [a, b]\n: c\n", "line 1: a field's name is a word"),
            ("name: &n a\ntitle: *n\n", "line 1: anchors and aliases"),
            ("name: a\ntitle: !!python/object/apply:os.system [id]\n", "line 2: the tag"),
            ("name: a\ntitle: !secret b\n", "line 2: the tag"),
            ("name: " + "[" * 5_000, "line 1: more than 16 levels are nested here"),
            ("x" * (MAX_CHARACTERS + 1), f"has {MAX_CHARACTERS + 1} characters; a protocol file may have"),
        ],
    )
    def test_what_is_no_plain_yaml_is_refused(self, text: str, message: str) -> None:
        assert message in refusal(text)
        assert refusal(text).startswith("mine.yaml")

    def test_at_most_ten_are_listed(self) -> None:
        lines = refusal(SMALL + "".join(f"x{number}: 1\n" for number in range(15))).splitlines()
        assert len(lines) == 11
        assert lines[-1] == "… and 5 more. Correct these first."

    @pytest.mark.slow
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.integers(0, len(SMALL)), st.text(alphabet="ab:-[]{}#&*!|>'\"%@` \n\t,?0", max_size=6))
    def test_a_damaged_file_is_refused_or_read(self, at: int, noise: str) -> None:
        try:
            protocol = protocol_from_yaml(SMALL[:at] + noise + SMALL[at:])
        except InvalidInput as error:
            assert "line " in str(error)
        else:
            assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol


class TestWriting:
    @pytest.mark.parametrize("name", PROTOCOLS.names())
    def test_every_built_in_protocol_comes_back_equal(self, name: str) -> None:
        protocol = PROTOCOLS.get(name)
        text = protocol_to_yaml(protocol)
        assert protocol_from_yaml(text) == protocol
        assert protocol_from_yaml(text).digest() == protocol.digest()
        assert yaml.safe_load(text)["name"] == name  # any YAML reader can read it

    def test_texts_are_blocks_and_defaults_are_left_out(self) -> None:
        assert protocol_to_yaml(protocol_from_yaml(SMALL)) == SMALL.replace(
            "- name: right\n", "- name: right\n    kind: choice\n"
        ).replace("value: yes", "value: 'yes'").replace("value: no\n", "value: 'no'\n")

    def test_every_kind_of_criterion_comes_back_equal(self) -> None:
        yes_no = [{"value": "true"}, {"value": 0, "key": "q", "definition": "No: «nothing»"}]
        criteria: list[dict[str, Any]] = []
        for number, kind in enumerate(sorted(KINDS)):
            labels = {"labels": yes_no} if "labels" in KINDS[kind].model_fields else {}
            criteria.append({"name": f"c{number}", "kind": kind, "title": kind, "required": False, **labels})
        criteria[1] |= {"when": {"criterion": "c0", "values": ["true"]}, "tolerance": 0.5}
        protocol = Protocol.model_validate(
            {
                "name": "all_kinds",
                "title": "On",
                "guidelines": "# All\n\n- kinds\n",
                "criteria": criteria,
                "steps": [
                    {
                        "name": "all",
                        "title": "null",
                        "shows": ["images", "answer"],
                        "criteria": [criterion["name"] for criterion in criteria],
                    }
                ],
                "invalidates": {"question": ["*"], "answer": ["c1"]},
            }
        )
        assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(texts, min_size=5, max_size=5), st.lists(texts | st.integers(-99, 99), min_size=2, max_size=3))
@example([" a\n\n b \n", "\n", "a\r\nb", "x\x85y\u2028z", "\ttab\n\ttab"], ["true", 1])
@example(["#", "- a", "a: b", "'", '"'], ["0.5", "~"])
@example(["1e5", "0x1F", "1_000", "1:30", "<<"], ["=", "2024-01-01"])
def test_any_text_comes_back_equal(words: list[str], values: list[str | int]) -> None:
    guidelines, title, help_text, definition, source = words
    distinct = list({str(value): value for value in values}.values())
    protocol = Protocol(
        name="words",
        title=title,
        guidelines=guidelines + "\nend",
        criteria=[
            Several(
                name="c",
                title="C",
                help=help_text,
                labels=[Label(value=value, definition=definition) for value in [*distinct, "other\nlabel"]],
            )
        ],
        steps=[Step(name="all", title="All", shows=[], criteria=["c"])],
        source=source,
    )
    assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol
