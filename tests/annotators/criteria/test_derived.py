"""Units that are never asked: what follows from one person's labels, and what cannot be derived from what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.asking.settling import settle_derived
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.derived.bands import Bands
from annotators.criteria.derived.base import WAYS
from annotators.criteria.derived.unit_set import UnitSet
from annotators.criteria.grade import Grade
from annotators.criteria.number import Number
from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind, Units, target_kind
from annotators.protocols import DerivedCriterion, Material, Protocol, Step
from tests.makers import tiny_protocol

LABELS = [Label(value="evidence"), Label(value="not_evidence")]
OF_ITEM = {"how": "set", "name": "pages", "title": "Pages", "label": "evidence"}
OF_HOP = {**OF_ITEM, "name": "hop_pages", "of": "hop"}
BANDS: list[dict[str, Any]] = [
    {"value": "wrong", "low": 0},
    {"value": "partial", "low": 4},
    {"value": "right", "low": 7},
]
VERDICT = {"how": "bands", "name": "verdict", "title": "Verdict", "bands": BANDS}


def of_pages(*derived: dict[str, Any], **changes: Any) -> Choice:
    fields = {"name": "page", "title": "Page", "target": "page", "per_hop": True, "labels": LABELS}
    return Choice.model_validate({**fields, "derived": list(derived), **changes})


def out_of_ten(*derived: dict[str, Any], **changes: Any) -> Number:
    return Number.model_validate({"name": "grade", "title": "Grade", "derived": list(derived), **changes})


def asked(*criteria: Any) -> Protocol:
    shows = [Material.QUESTION, Material.HOPS, Material.ANSWER, Material.DOCUMENTS]
    step = Step(name="all", title="All", shows=shows, criteria=[criterion.name for criterion in criteria])
    return tiny_protocol(criteria=list(criteria), steps=[step])


def derived_of(protocol: Protocol, name: str) -> DerivedCriterion:
    return next(unit for unit in protocol.derived_criteria() if unit.criterion.name == name)


class TestSets:
    units = asked(of_pages(OF_ITEM, OF_HOP)).derived_criteria()

    def test_each_hop_has_its_pages_and_the_item_those_of_all_hops(self) -> None:
        labels = {
            "page:a.pdf:10|hop:h1": "evidence",
            "page:a.pdf:2|hop:h1": "evidence",
            "page:b:1|hop:h1": "not_evidence",
            "page:a.pdf:2|hop:h2": "evidence",
            "page:a.pdf:10|hop:h2": "not_evidence",
            "page:b:1|hop:h2": "not_evidence",
        }
        item, hops = (unit.derived.values(labels) for unit in self.units)
        assert item == {"item": ["page:a.pdf:2", "page:a.pdf:10"]}
        assert hops == {"hop:h1": ["page:a.pdf:2", "page:a.pdf:10"], "hop:h2": ["page:a.pdf:2"]}

    def test_a_question_without_hops_has_the_item_s_set_only(self) -> None:
        item, hops = (unit.derived.values({"page:a:1": "evidence", "page:a:2": "not_evidence"}) for unit in self.units)
        assert item == {"item": ["page:a:1"]}
        assert hops == {}

    def test_no_evidence_at_all_is_a_set_and_a_gap_is_none(self) -> None:
        none = {"page:a:1|hop:h1": "not_evidence", "page:a:1|hop:h2": "not_evidence"}
        assert self.units[0].derived.values(none) == {"item": []}
        assert self.units[0].derived.values(none, ["page:a:2|hop:h2"]) == {"item": None}
        assert self.units[1].derived.values(none, ["page:a:2|hop:h2"]) == {"hop:h1": [], "hop:h2": None}

    def test_what_they_are_measured_as(self) -> None:
        item, hops = (unit.criterion for unit in self.units)
        assert (item.name, item.target, item.measured_scale) == ("pages", TargetKind.ITEM, "set")
        assert (hops.name, hops.target, hops.measured_scale) == ("hop_pages", TargetKind.HOP, "set")
        assert target_kind("hop:h1") == hops.target
        assert Units(hops=("h1", "h2")).targets(hops.target) == ["hop:h1", "hop:h2"]
        assert item.check(["page:a:10", "page:a:2", "page:a:2"]) == ["page:a:2", "page:a:10"]
        assert item.parse('["page:a:2"]') == ["page:a:2"]
        with pytest.raises(InvalidInput, match="is not a label of criterion 'pages'"):
            item.check("page:a:2")

    @given(st.dictionaries(st.tuples(st.integers(1, 12), st.sampled_from(["x", "y"])), st.booleans(), min_size=1))
    def test_the_item_s_set_is_the_union_of_those_of_its_hops(self, pages: dict[tuple[int, str], bool]) -> None:
        labels = {f"page:d:{n}|hop:{hop}": "evidence" if yes else "not_evidence" for (n, hop), yes in pages.items()}
        item, hops = (unit.derived.values(labels) for unit in self.units)
        assert set(item["item"]) == {page for found in hops.values() for page in found}


class TestBands:
    @pytest.mark.parametrize(
        ("grade", "band"), [(0, "wrong"), (3, "wrong"), (4, "partial"), (6, "partial"), (7, "right"), (10, "right")]
    )
    def test_a_band_begins_at_its_lowest_number(self, grade: int, band: str) -> None:
        (unit,) = asked(out_of_ten(VERDICT)).derived_criteria()
        assert unit.derived.values({"item": grade}) == {"item": band}

    def test_they_are_ordered_labels_about_what_the_number_is_about(self) -> None:
        labels = [Label(value=n) for n in range(11)]
        grade = Grade.model_validate(
            {"name": "g", "title": "G", "target": "claim", "labels": labels, "derived": [VERDICT]}
        )
        made = grade.derived[0].criterion(grade)
        assert (made.name, made.scale, made.target) == ("verdict", "ordinal", TargetKind.CLAIM)
        assert made.stored_labels() == ["wrong", "partial", "right"]
        assert made.as_numbers().number("right") == 2
        assert grade.derived[0].values({"claim:c1": 5, "claim:c2": 9}) == {"claim:c1": "partial", "claim:c2": "right"}


class TestPrecedence:
    ORDER = ("entailment", "contradiction", "neutral")
    source = Choice.model_validate({
        "name": "verdict", "title": "Verdict", "target": "claim_evidence", "of": "answer", "positive": "entailment",
        "labels": [Label(value=value) for value in ("entailment", "neutral", "contradiction")],
        "derived": [{"how": "precedence", "name": "claim_label", "title": "Claim", "order": list(ORDER)}],
    })  # fmt: skip

    @pytest.mark.parametrize(
        ("labels", "missing", "label"),
        [
            (["neutral", "contradiction", "entailment"], 0, "entailment"),
            (["neutral", "contradiction"], 0, "contradiction"),
            (["neutral", "neutral"], 0, "neutral"),
            (["neutral", "entailment"], 1, "entailment"),
            (["contradiction"], 1, None),  # the one that is missing may entail it
            (["neutral"], 2, None),
        ],
    )
    def test_the_first_label_of_the_order_that_any_unit_has(
        self, labels: list[str], missing: int, label: str | None
    ) -> None:
        given = {f"claim:c1|evidence:e{number}": value for number, value in enumerate(labels)}
        found = self.source.derived[0].values(given, [f"claim:c1|evidence:m{number}" for number in range(missing)])
        assert found == {"claim:c1|context": label}

    @given(st.lists(st.sampled_from(ORDER), min_size=1))
    def test_the_order_of_the_evidence_does_not_matter(self, labels: list[str]) -> None:
        def label(values: list[str]) -> object:
            return self.source.derived[0].values({f"claim:c|evidence:{n}": value for n, value in enumerate(values)})

        assert label(labels) == label(labels[::-1]) == label(sorted(labels))

    def test_it_is_a_label_of_the_claim_against_all_evidence(self) -> None:
        made = self.source.derived[0].criterion(self.source)
        assert (made.name, made.target, made.of) == ("claim_label", TargetKind.CLAIM_CONTEXT, "answer")
        assert made.as_numbers().number("entailment") == 1
        assert self.source.derived[0].in_words() == "any entailment, else any contradiction, else neutral"

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"target": "claim"}, "is not one label for each claim and evidence unit; give it the target claim_evid"),
            (
                {"labels": [{"value": "yes"}, {"value": "no"}], "positive": "yes"},
                "each label of 'verdict' once: yes, no",
            ),
        ],
    )
    def test_it_needs_one_of_known_labels_for_each_claim_and_unit(self, change: dict[str, Any], message: str) -> None:
        changed = Choice.model_validate({**self.source.model_dump(), **change})
        step = Step(name="all", title="All", shows=list(Material)[:8], criteria=["verdict"])
        with pytest.raises(ValidationError, match=message):
            tiny_protocol(criteria=[changed], steps=[step])


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        (
            [(of_pages, {"how": "guess", "name": "x", "title": "X"})],
            "no way of deriving units named 'guess'; known: bands",
        ),
        (
            [(of_pages, {**OF_ITEM, "label": "maybe"})],
            "'maybe', which is none of those of 'page': evidence, not_evidence",
        ),
        ([(of_pages, {**OF_ITEM, "name": "page"})], "'page', which is derived from 'page', has the name of something"),
        ([(of_pages, OF_ITEM, OF_ITEM)], "'pages', which is derived from 'page', has the name of something else"),
        ([(lambda one: of_pages(one, per_hop=False), OF_HOP)], "'page' is not asked of each; add `per_hop: true`"),
        ([(lambda one: of_pages(one, per_hop=False, target="item"), OF_ITEM)], "asked of the whole item"),
        ([(of_pages, VERDICT)], "has bands of numbers, but the labels of 'page' are none"),
        ([(lambda one: out_of_ten(one, minimum=-1), VERDICT)], "first band begins at 0, but 'grade' begins at -1"),
        ([(lambda one: out_of_ten(one, maximum=5), VERDICT)], "last band begins at 7, but 'grade' ends at 5"),
        ([(out_of_ten, {**VERDICT, "bands": BANDS[::-1]})], "list bands from the lowest up"),
        ([(out_of_ten, {**VERDICT, "bands": [*BANDS, {"value": "right", "low": 9}]})], "two bands have the same value"),
        ([(out_of_ten, {**VERDICT, "bands": BANDS[:1]})], "at least 2 items"),
    ],
)
def test_what_cannot_be_derived_is_refused(criteria: list[Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        asked(*(make(*derived) for make, *derived in criteria))


def test_a_protocol_without_derived_units_is_stored_as_before_and_one_with_them_comes_back() -> None:
    assert "derived" not in asked(of_pages()).model_dump(mode="json")["criteria"][0]
    protocol = asked(of_pages(OF_ITEM, OF_HOP), out_of_ten(VERDICT))
    assert Protocol.model_validate(protocol.model_dump(mode="json")) == protocol
    assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol
    assert {type(unit.derived) for unit in protocol.derived_criteria()} == {UnitSet, Bands} <= set(WAYS.values())


def test_annotators_are_not_told_of_them() -> None:
    assert "derived" not in of_pages(OF_ITEM).for_browser()


def test_a_file_with_a_wrong_field_says_where_and_which_there_are() -> None:
    text = protocol_to_yaml(asked(out_of_ten(VERDICT))).replace("low: 4", "lowest: 4")
    with pytest.raises(InvalidInput) as caught:
        protocol_from_yaml(text, "mine.yaml")
    assert "`lowest` of band 2 of derived unit 1 of criterion 1 is no field" in str(caught.value)
    wrong = protocol_to_yaml(asked(of_pages(OF_ITEM))).replace("label: evidence", "lable: evidence")
    with pytest.raises(InvalidInput, match=r"Did you mean `label`\? Known: how, name, title, help, label, of"):
        protocol_from_yaml(wrong, "mine.yaml")


class TestSettling:
    """(how it was reached, value) of the verdict on a 0–10 grade, by the final grade and two people's grades."""

    unit = derived_of(asked(out_of_ten(VERDICT)), "verdict")

    @pytest.mark.parametrize(
        ("final", "votes", "rule", "reached"),
        [
            (("unanimous", 8), [8, 8], "unanimous", ("unanimous", "right")),
            (("open", None), [8, 10], "unanimous", ("unanimous", "right")),  # two grades, one band
            (("open", None), [6, 7], "unanimous", ("open", None)),
            (("open", None), [6, 7, 9], "unanimous", ("open", None)),
            (("open", None), [6, 7, 9], "majority", ("majority", "right")),
            (("open", None), [8, 10], None, ("open", None)),  # annotations are still missing
            (("adjudicated", 6), [8, 10], "unanimous", ("adjudicated", "partial")),  # the decision, not the votes
        ],
    )
    def test_bands(self, final: tuple[str, Any], votes: list[int], rule: str | None, reached: tuple[str, Any]) -> None:
        given = [{"item": grade} for grade in votes]
        ((target, how, value, settled),) = settle_derived(self.unit, {"item": final}, given, len(votes), rule)
        assert (target, (how, value)) == ("item", reached)
        assert sum(settled.votes.values()) == len(votes)

    def test_a_set_is_as_certain_as_the_least_certain_of_its_pages(self) -> None:
        unit = derived_of(asked(of_pages(OF_HOP)), "hop_pages")
        final = {
            "page:a:1|hop:h1": ("unanimous", "evidence"),
            "page:a:2|hop:h1": ("adjudicated", "evidence"),
            "page:a:1|hop:h2": ("unanimous", "not_evidence"),
            "page:a:2|hop:h2": ("majority", "evidence"),
            "page:a:1|hop:h3": ("unanimous", "evidence"),
            "page:a:2|hop:h3": ("open", None),
        }
        found = {target: (how, value) for target, how, value, _ in settle_derived(unit, final, [], 2, "majority")}
        assert found == {
            "hop:h1": ("adjudicated", ["page:a:1", "page:a:2"]),
            "hop:h2": ("majority", ["page:a:2"]),
            "hop:h3": ("open", None),
        }
