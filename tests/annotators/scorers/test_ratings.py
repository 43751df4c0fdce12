"""Grades, ratings of images and shares of facts, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.criteria import Criterion
from annotators.items.item import ItemClaim, ItemContent, ItemImage
from annotators.protocols import PROTOCOLS
from annotators.scorers.base import SCORERS, parameters_of
from annotators.scorers.shared.study_labels import UnitLabel


def criterion(protocol: str, name: str) -> Criterion:
    there = PROTOCOLS.get(protocol)
    derived = [unit.criterion for unit in there.derived_criteria()]
    return next(one for one in (*there.criteria, *derived) if one.name == name)


def scores(
    scorer: str, item: ItemContent, protocol: str, *labels: tuple[str, str, Any], **parameters: Any
) -> dict[str, Any]:
    """Value, or the reason why there is none, by the names of the scorer's values."""
    found = SCORERS.get(scorer)
    assert found.labels is not None
    given = [UnitLabel(criterion(protocol, name), target, value, "gpt") for name, target, value in labels]
    assert all(found.labels.reads(label.criterion) for label in given)
    put = found.labels.put(item, given)
    assert isinstance(put, ItemContent)
    [made] = found.score([put], parameters_of(found, parameters))
    return {score.name: score.reason if score.value is None else score.value for score in made}


ANSWER = ItemContent("a", "q", "How?", "Like this.")
IMAGES = ANSWER._replace(
    images=(ItemImage("i1"), ItemImage("i2"), ItemImage("r", metadata={"of": "reference"})),
)


def test_a_grade_has_its_own_scale_and_its_share_of_it_and_a_band() -> None:
    made = scores("answer_grade", ANSWER, "answer_grading", ("grade", "item", 6), ("grade_band", "item", "partial"))
    assert made == {
        "answer_grade": 6.0, "answer_grade_share": 0.6,
        "graded_correct": 0.0, "graded_partial": 1.0, "graded_incorrect": 0.0,
    }  # fmt: skip
    overall = scores("answer_grade", ANSWER, "multimodal_answer", ("overall", "item", 4))
    assert (overall["answer_grade"], overall["answer_grade_share"]) == (4.0, 0.75)  # from 1 to 5
    assert overall["graded_correct"] == "its protocol has no bands correct, partial and incorrect"


def test_a_grade_that_is_open_or_of_several_criteria_is_no_score() -> None:
    made = scores("answer_grade", ANSWER, "answer_grading", ("grade", "item", None), ("grade_band", "item", None))
    assert set(made.values()) == {"its grade is open"}
    [bare] = SCORERS.get("answer_grade").score([ANSWER], parameters_of(SCORERS.get("answer_grade")))
    assert bare[0].reason == "it has no grade: take the labels of a study that grades answers, with --labels-of"
    found = SCORERS.get("answer_grade")
    assert found.labels is not None
    both = [
        UnitLabel(criterion("answer_grading", "grade"), "item", 6, "gpt"),
        UnitLabel(criterion("multimodal_answer", "overall"), "item", 5, "gpt"),
    ]
    put = found.labels.put(ANSWER, both)
    assert isinstance(put, ItemContent)
    [made] = found.score([put], parameters_of(found))
    assert (
        made[0].reason == "its grades are of several criteria (grade, overall): choose one with --param criterion=NAME"
    )
    [made] = found.score([put], parameters_of(found, {"criterion": "overall"}))
    assert made[0].value == 5.0


def test_the_position_of_images_is_the_share_that_is_placed_well() -> None:
    made = scores(
        "image_position", IMAGES, "multimodal_answer",
        ("placed_well", "image:i1", "yes"), ("placed_well", "image:i2", "no"),
    )  # fmt: skip
    assert made == {"image_position": 0.5}
    half = scores("image_position", IMAGES, "multimodal_answer", ("placed_well", "image:i1", "yes"))
    assert half == {"image_position": "1 of 2 images of the answer have no rating"}
    none = scores("image_position", ANSWER, "multimodal_answer", ("placed_well", "image:i1", "yes"))
    assert none == {"image_position": "the answer has no image"}


def test_a_judges_hundred_and_peoples_five_are_shares_of_their_scales() -> None:
    of_100 = scores(
        "image_position", IMAGES, "multimodal_scores",
        ("image_position", "image:i1", 90), ("image_position", "image:i2", 25),
    )  # fmt: skip
    assert of_100 == {"image_position": 0.575}
    of_5 = scores(
        "image_relevance", IMAGES, "multimodal_answer", ("relevance", "image:i1", 5), ("relevance", "image:i2", 2)
    )
    assert of_5 == {"image_relevance": 0.625}  # 1 and 1/4
    assert scores("comprehensive", ANSWER, "multimodal_scores", ("comprehensive", "item", 77)) == {
        "comprehensive": 0.77
    }
    assert scores("comprehensive", ANSWER, "multimodal_answer", ("overall", "item", 5)) == {"comprehensive": 1.0}


FACTS = ANSWER._replace(
    claims=(
        *(ItemClaim(f"c{number}", "A fact.") for number in (1, 2, 3)),
        *(ItemClaim(f"g{number}", "A statement.", "reference") for number in (1, 2)),
    )
)


@pytest.mark.parametrize(
    ("scorer", "protocol", "labels", "value"),
    [
        ("faithfulness", "faithfulness", {f"claim:c{n}|context": n < 3 for n in (1, 2, 3)}, 2 / 3),
        ("context_recall", "context_recall", {"claim:g1|context": True, "claim:g2|context": False}, 1 / 2),
        ("completeness", "claim_recall", {"claim:g1|answer": True, "claim:g2|answer": True}, 1.0),
    ],
)
def test_shares_of_facts(scorer: str, protocol: str, labels: dict[str, bool], value: float) -> None:
    [asked] = PROTOCOLS.get(protocol).criteria
    yes, no = sorted((label.value for label in asked.label_list()), key=lambda one: one != asked.as_numbers().positive)
    given = [(asked.name, target, yes if found else no) for target, found in labels.items()]
    assert scores(scorer, FACTS, protocol, *given) == {scorer: pytest.approx(value)}
    half = scores(scorer, FACTS, protocol, *given[:1], (asked.name, given[1][1], None), *given[2:])
    of = len(given)
    assert half[scorer].startswith(f"gpt gave no verdict on 1 of {of} claims (")
    without = SCORERS.get(scorer).score([ANSWER], parameters_of(SCORERS.get(scorer)))[0][0]
    assert without.reason == f"the {'answer' if scorer == 'faithfulness' else 'reference'} has no claims"


def test_a_claim_that_one_unit_entails_is_faithful_by_labels_of_units() -> None:
    given = [
        ("verdict", f"claim:c{claim}|evidence:e{unit}", "entailment" if claim == unit else "neutral")
        for claim in (1, 2, 3)
        for unit in (1, 2)
    ]
    assert scores("faithfulness", FACTS, "claim_verification", *given) == {"faithfulness": pytest.approx(2 / 3)}
