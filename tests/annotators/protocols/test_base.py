from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from pydantic import ValidationError

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.keys import ACTIONS, RESERVED, YIELDING
from annotators.protocols import PROTOCOLS, Protocol


def fields(**changes: Any) -> dict[str, Any]:
    made = {
        "name": "tiny",
        "title": "Tiny",
        "guidelines": "Decide.",
        "criteria": [
            {"name": "right", "title": "Right", "labels": [{"value": "yes"}, {"value": "no"}]},
            {"name": "why", "kind": "text", "title": "Why", "when": {"criterion": "right", "values": ["no"]}},
        ],
        "steps": [{"name": "all", "title": "All", "shows": ["question"], "criteria": ["right", "why"]}],
    }
    return {**made, **changes}


def with_criterion(position: int, **changes: Any) -> dict[str, Any]:
    made = fields()
    made["criteria"][position] |= changes
    return made


def with_step(**changes: Any) -> dict[str, Any]:
    made = fields()
    made["steps"][0] |= changes
    return made


RIGHT = {"criterion": "right", "values": ["no"]}


def test_what_hangs_together_is_accepted() -> None:
    assert Protocol.model_validate(fields()).criterion("why").when is not None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (with_criterion(1, name="right"), "two criteria are named 'right'; rename one"),
        (with_step(criteria=["right"]), "criterion 'why' is asked in no step; add it to one"),
        (with_step(criteria=["right", "why", "right"]), "criterion 'right' is asked twice"),
        (with_step(criteria=["right", "why", "who"]), "a step asks 'who', which is no criterion; known: right, why"),
        (with_step(criteria=["why", "right"]), "'why' depends on 'right', which is not asked before it"),
        (fields(steps=[fields()["steps"][0]] * 2), "two steps are named 'all'; rename one"),
        (with_criterion(0, target="evidence"), "criterion 'right' needs evidence, but step 'all' does not show it"),
        (with_criterion(0, target="page", kind="choice"), "criterion 'right' needs documents"),
        (with_criterion(0, per_hop=True), "per_hop is for the target page only"),
        (with_criterion(0, accept=["maybe"]), "accepts 'maybe', which is none of its labels: yes, no"),
        (
            with_criterion(1, when={"criterion": "right", "values": ["never"]}),
            "'why' depends on 'right' being 'never', which is none of its labels: yes, no",
        ),
        (with_criterion(0, labels=[{"value": "yes"}, {"value": "yes"}]), "two labels have the value 'yes'"),
        (with_criterion(0, labels=[{"value": "a", "key": "ab"}]), "key 'ab' is not one character"),
        (
            with_criterion(0, labels=[{"value": "yes", "key": "y"}, {"value": "no", "key": "y"}]),
            "two labels have the key 'y'",
        ),
        (
            with_criterion(0, labels=[{"value": "yes", "key": "2"}, {"value": "no"}]),
            "two labels have the key '2'",
        ),
        (with_criterion(0, rest="yes"), "rest is for criteria that are asked of each unit; its target is the item"),
        (
            fields(
                criteria=[
                    {**fields()["criteria"][0], "target": "evidence", "only": {"roles": ["gold"]}},
                    {**fields()["criteria"][0], "name": "why", "target": "evidence"},
                ],
                steps=[{**fields()["steps"][0], "shows": ["question", "evidence"]}],
            ),
            "criteria 'right' and 'why' are about evidence of different roles, so that what is asked of a unit would",
        ),
        (
            with_criterion(0, target="claim_reference"),
            "criterion 'right' needs claims, references, but step 'all' does",
        ),
        (
            fields(consequences=[{"when": RIGHT, "then": {"criterion": "who", "values": ["no"]}}]),
            "a consequence names 'who', which is no criterion; known: right, why",
        ),
        (
            fields(consequences=[{"when": RIGHT, "then": {"criterion": "why", "values": ["no"]}}]),
            "a consequence names the value 'no' of 'why', which is none of its labels: none",
        ),
        (
            fields(consequences=[{"when": RIGHT, "then": RIGHT}]),
            "'right' is to follow from 'right', which is not asked before it; ask it earlier",
        ),
        (with_criterion(0, target="block"), "criterion 'right' needs answer, but step 'all' does not show it"),
        (fields(about_scores=True), "the protocol is about scores, but no step shows scores"),
        (fields(invalidates={"title": ["*"]}), "`invalidates` names 'title', which is no field that a revision edits"),
        (fields(invalidates={"question": ["who"]}), "an edit of 'question' invalidates 'who', which is no criterion"),
        (with_criterion(0, kind="graid"), "there is no kind of criterion named 'graid'; known: choice, grade"),
        (with_criterion(0, kind=["choice"]), "there is no kind of criterion named"),
    ],
)
def test_what_does_not_fit_is_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Protocol.model_validate(data)
    assert message in str(caught.value)


@pytest.mark.parametrize("key", sorted(RESERVED))
def test_the_keys_of_the_page_are_refused(key: str) -> None:
    with pytest.raises(ValidationError, match="is used by the page itself; take another"):
        Protocol.model_validate(with_criterion(0, labels=[{"value": "a", "key": key}, {"value": "b"}]))


def test_a_criterion_may_depend_on_one_of_the_item_but_not_of_another_part() -> None:
    about_evidence = {"target": "evidence", "when": {"criterion": "right", "values": ["no"]}}
    data = with_criterion(1, **about_evidence)
    data["steps"][0]["shows"] = ["question", "evidence"]
    assert Protocol.model_validate(data).criterion("why").target == "evidence"
    data["criteria"][0]["target"], data["criteria"][1]["target"] = "evidence", "item"
    with pytest.raises(ValidationError, match="'why' depends on 'right', which has another target"):
        Protocol.model_validate(data)


def test_an_order_of_images_needs_the_images() -> None:
    data = with_criterion(1, kind="order", when=None)
    with pytest.raises(ValidationError, match="criterion 'why' needs images"):
        Protocol.model_validate(data)


def of_each_unit(**changes: Any) -> dict[str, Any]:
    made = with_criterion(0, target="evidence", **changes)
    made["steps"][0]["shows"] = ["question", "evidence"]
    made["criteria"][1]["when"] = None
    return made


def test_the_rest_of_the_units_get_one_of_the_labels() -> None:
    assert Protocol.model_validate(of_each_unit(rest="no")).criterion("right").rest == "no"
    for wrong in (of_each_unit(rest="never"), of_each_unit(rest="no", kind="several")):
        with pytest.raises(ValidationError, match=r"'right': rest is '(never|no)', which is none of the labels of a"):
            Protocol.model_validate(wrong)


def test_a_protocol_that_is_older_than_the_rest_keeps_its_hash_and_its_snapshot() -> None:
    """The hash is the one that these fields had before there was `rest`."""
    protocol = Protocol.model_validate(fields())
    assert protocol.digest() == "2e4342ec226bc13f9730435719732b627dbf83343445fb0c3b2373f72dbc1982"
    assert all("rest" not in criterion for criterion in protocol.model_dump(mode="json")["criteria"])
    assert Protocol.model_validate(of_each_unit(rest="no")).digest() != Protocol.model_validate(of_each_unit()).digest()


@pytest.mark.parametrize("action", sorted(YIELDING))
def test_a_label_of_an_older_protocol_keeps_a_key_that_the_page_has_taken_since(action: str) -> None:
    key = ACTIONS[action][0]
    data = with_criterion(0, labels=[{"value": "yes", "key": key}, {"value": "no"}])
    assert Protocol.model_validate(data).criterion("right").label_list()[0].key == key


def digest_of(data: dict[str, Any]) -> str:
    """The digest of a definition as it stands in a database."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class TestWhatHidesInNames:
    """Protocols say which arm they are compared with and what is judged blind; older ones are taken at their names."""

    BLIND = PROTOCOLS.get("metric_agreement_blind")

    def frozen(self, **changes: Any) -> dict[str, Any]:
        """The protocol as a study froze it before there were fields for these."""
        data = self.BLIND.model_dump(mode="json")
        assert not {"compared_with", "judged_blind"} & set(data)
        return data | changes

    def test_a_built_in_protocol_says_it(self) -> None:
        assert self.BLIND.model_fields_set >= {"compared_with", "judged_blind"}
        assert self.BLIND.compared_with == "metric_agreement"
        assert self.BLIND.judged_blind == {"correctness_agreement": "correctness"}
        assert [protocol.compared_with for protocol in PROTOCOLS if protocol is not self.BLIND] == [""] * (
            len(PROTOCOLS.names()) - 1
        )

    def test_one_from_before_is_filled_in_by_its_names_and_keeps_its_hash(self) -> None:
        old = Protocol.model_validate(self.frozen(name="own_blind"))
        assert (old.compared_with, old.judged_blind) == ("own", {"correctness_agreement": "correctness"})
        assert old.digest() == digest_of(self.frozen(name="own_blind"))
        assert Protocol.model_validate(self.frozen()) == self.BLIND
        assert Protocol.model_validate(self.frozen()).digest() == self.BLIND.digest() == digest_of(self.frozen())

    def test_what_is_said_otherwise_than_by_the_names_is_stored(self) -> None:
        said = {"name": "own", "compared_with": "tone", "judged_blind": {"correctness_agreement": "abstention"}}
        own = Protocol.model_validate(self.frozen(**said))
        stored = own.model_dump(mode="json")
        assert {name: stored[name] for name in said} == said
        assert own.digest() != digest_of(self.frozen(name="own"))
        assert Protocol.model_validate(stored) == own
        nothing = Protocol.model_validate(self.frozen(compared_with="", judged_blind={}))
        assert (nothing.compared_with, nothing.judged_blind) == ("", {})
        assert Protocol.model_validate(nothing.model_dump()) == nothing

    @pytest.mark.parametrize("said", [{}, {"name": "own", "compared_with": "tone", "judged_blind": {}}])
    def test_a_file_says_it_where_the_names_do_not(self, said: dict[str, Any]) -> None:
        own = Protocol.model_validate(self.frozen(**said))
        written = protocol_to_yaml(own)
        assert protocol_from_yaml(written) == own
        assert [name in written for name in ("compared_with", "judged_blind")] == [bool(said)] * 2

    def test_a_copy_with_other_criteria_is_read_off_those(self) -> None:
        seen = PROTOCOLS.get("metric_agreement")
        copy = seen.model_copy(update={"name": "own_blind", "criteria": self.BLIND.criteria, "steps": self.BLIND.steps})
        again = Protocol.model_validate(copy.model_dump())
        assert (again.compared_with, again.judged_blind) == ("own", {"correctness_agreement": "correctness"})

    @pytest.mark.parametrize(
        ("judged_blind", "words"),
        [
            ({"correctness_agreement": "truth"}, "names 'truth', which is no criterion; known: correctness, abst"),
            ({"tone": "correctness"}, "names 'tone', which is no criterion"),
            ({"correctness": "correctness_agreement"}, "is not asked in a step before that of 'correctness'; ask it"),
        ],
    )
    def test_what_is_judged_blind_is_a_criterion_of_an_earlier_step(
        self, judged_blind: dict[str, str], words: str
    ) -> None:
        with pytest.raises(ValidationError, match=words):
            Protocol.model_validate(self.frozen(judged_blind=judged_blind))
