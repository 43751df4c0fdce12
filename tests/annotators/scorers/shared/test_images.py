"""Image precision, recall, F1, order and insertion."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from annotators.items.item import ItemImage
from annotators.scorers.base import ScoreValue
from annotators.scorers.image_insertion import (
    ImageInsertionParameters,
    bleu,
    placed_images,
    suggest_placements,
)
from annotators.scorers.image_order import ImageOrderParameters, image_order
from annotators.scorers.image_sets import image_measures
from annotators.scorers.shared.embedder import embedder
from annotators.scorers.shared.tasks import scoring_task
from tests.annotators.scorers.records import score_records

SETS = ["image_precision", "image_recall", "image_f1"]


def record(answer: str, reference: str | None, **more: Any) -> dict[str, Any]:
    """An item whose answer and reference show the images named by letters; None: the item does not say."""
    images = [{"key": f"i{n}", "document": f"{name}.png"} for n, name in enumerate(answer)]
    images += [{"key": f"r{n}", "document": f"{name}.png", "of": "reference"} for n, name in enumerate(reference or "")]
    metadata = {} if reference != "" else {"reference_images": 0}
    return {"question": "q", "images": images, "metadata": metadata, **more}


def score(scorer: str, item: dict[str, Any], **parameters: Any) -> ScoreValue:
    return score_records(scoring_task(scorer, parameters), [item])[0][0]


class TestSets:
    def test_by_hand(self) -> None:
        # answer a, b, c; reference b, c, d, e: both b, c. P = 2/3, R = 2/4, F1 = 4/7
        item = record("abc", "bcde")
        assert [score(name, item).value for name in SETS] == [pytest.approx(2 / 3), 0.5, pytest.approx(4 / 7)]

    def test_both_empty_is_one(self) -> None:
        assert [score(name, record("", "")).value for name in SETS] == [1.0, 1.0, 1.0]

    def test_nothing_shown_though_wanted(self) -> None:
        item = record("", "ab")
        assert [score(name, item).value for name in SETS] == [None, 0.0, 0.0]
        assert score("image_precision", item).reason is not None

    def test_something_shown_though_nothing_is_wanted(self) -> None:
        assert [score(name, record("a", "")).value for name in SETS] == [0.0, 0.0, 0.0]

    @pytest.mark.parametrize("scorer", [*SETS, "image_order"])
    def test_an_item_that_does_not_say_what_is_wanted_is_unscored(self, scorer: str) -> None:
        assert score(scorer, record("a", None)).reason == (
            "the item does not say which images its reference answer has"
        )

    def test_an_image_is_known_by_document_page_and_box(self) -> None:
        item = record("a", "a")
        item["images"][0]["page"] = 2
        assert score("image_recall", item).value == 0.0
        item["images"][1]["page"] = 2
        item["images"][1]["box"] = [0, 0, 0.5, 0.5]
        assert score("image_recall", item).value == 0.0
        item["images"][0]["box"] = [0, 0, 0.5, 0.5]
        assert score("image_recall", item).value == 1.0

    def test_figures_of_the_gold_evidence_can_be_what_is_wanted(self) -> None:
        item = record(
            "a", None, evidence=[{"key": "e", "kind": "figure", "role": "gold", "document": "a.png", "pages": [1]}]
        )
        assert score("image_f1", item).value == 1.0
        assert score("image_f1", item, wanted="reference_images").reason is not None

    def test_the_measures_are_those_of_scikit_learn(self) -> None:
        from sklearn.metrics import precision_recall_fscore_support

        chance = random.Random(4)
        for _ in range(50):
            right, given = ({n for n in range(6) if chance.random() < 0.5} | {n} for n in (1, 2))
            flags = [[n in images for n in range(6)] for images in (given, right)]
            expected = precision_recall_fscore_support(*flags, average="binary", zero_division=0)[:3]
            assert image_measures(len(right), len(given), len(right & given)) == pytest.approx(expected)


class TestOrder:
    @pytest.mark.parametrize(
        ("reference", "answer", "value"),
        [
            ("abc", "ac", 4 / 9),  # b is missing: 3. 2/3 · (1 − (3/3)/3)
            ("abc", "bac", 7 / 9),  # two substitutions: 2. 3/3 · (1 − (2/3)/3)
            ("", "", 1.0),
            ("ab", "cd", 0.0),
            ("", "a", 0.0),
            ("ab", "", 0.0),
            ("abc", "abc", 1.0),
            ("ab", "abc", 7 / 9),  # one too many: 2. 2/2 · (1 − (2/3)/3)
            ("aab", "ab", 4 / 9),  # images count as often as they stand there: 2/3 · (1 − (3/3)/3)
        ],
    )
    def test_by_hand(self, reference: str, answer: str, value: float) -> None:
        assert image_order(answer, reference)[0] == pytest.approx(value)
        if reference or not answer:
            assert score("image_order", record(answer, reference)).value == pytest.approx(value)

    def test_the_distance_is_that_of_the_plain_recursion(self) -> None:
        chance = random.Random(6)
        costs = ImageOrderParameters(p1=4, p2=1, p3=2)
        for _ in range(200):
            answer, reference = ("".join(chance.choices("abcd", k=chance.randint(0, 6))) for _ in range(2))
            assert image_order(answer, reference, costs)[1] == plain_distance(answer, reference, costs)

    def test_beyond_p_an_image_costs_no_more(self) -> None:
        # a and three more wanted: distance 9, 9/4 an image; with p = 1 the score is 0
        assert image_order("a", "abcd", ImageOrderParameters(p=1.0))[0] == 0.0


def plain_distance(answer: str, reference: str, costs: ImageOrderParameters) -> int:
    if not answer or not reference:
        return len(reference) * costs.p1 + len(answer) * costs.p2
    return min(
        plain_distance(answer, reference[1:], costs) + costs.p1,
        plain_distance(answer[1:], reference, costs) + costs.p2,
        plain_distance(answer[1:], reference[1:], costs) + (costs.p3 if answer[0] != reference[0] else 0),
    )


@pytest.mark.slow
class TestInsertion:
    PARTS = ("Drain the old water first.", "Then loosen the four brass screws.", "Wait an hour.")
    IMAGES = (
        ItemImage("i1", caption="loosen the four brass screws"),
        ItemImage("i2", caption="draining old water from the tank"),
    )

    def test_bleu_is_that_of_nltk(self) -> None:
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

        chance = random.Random(8)
        for _ in range(200):
            left, right = (chance.choices("abcdef", k=chance.randint(1, 9)) for _ in range(2))
            expected = sentence_bleu([left], right, smoothing_function=SmoothingFunction().method1)
            assert bleu(left, right) == pytest.approx(expected, abs=1e-12), (left, right)

    def test_images_go_after_the_sentences_they_resemble(self) -> None:
        found = suggest_placements(self.PARTS, self.IMAGES)
        assert [(placement.image, placement.sentence) for placement in found] == [("i1", 2), ("i2", 1)]

    def test_a_weight_is_the_mix_of_both_similarities(self) -> None:
        (placement, *_) = suggest_placements(self.PARTS, self.IMAGES, ImageInsertionParameters(weight=0.25))
        caption = self.IMAGES[0].caption
        vectors = embedder().sentences([self.PARTS[1], caption])
        # the caption is the end of the sentence: 4-grams all match, brevity exp(1 − 6/5)
        alpha = np.exp(1 - 6 / 5)
        assert placement.weight == pytest.approx(0.25 * alpha + 0.75 * float(vectors[0] @ vectors[1]), abs=1e-5)

    def test_a_sentence_takes_one_image_in_a_matching_and_several_otherwise(self) -> None:
        same = [ItemImage(f"i{n}", caption="loosen the four brass screws") for n in range(2)]
        parts = ["Then loosen the four brass screws.", "Loosen the brass screws again."]
        matched = suggest_placements(parts, same)
        assert sorted(placement.sentence for placement in matched) == [1, 2]
        best = suggest_placements(parts, same, ImageInsertionParameters(method="best"))
        assert [placement.sentence for placement in best] == [1, 1]

    def test_a_matching_is_of_greatest_total_weight(self) -> None:
        from itertools import permutations

        parts = [*self.PARTS, "The tank holds twelve litres."]
        images = [*self.IMAGES, ItemImage("i3", caption="a tank of water")]
        everything = ImageInsertionParameters(alpha=0, beta=-1)
        single = {
            (n, image.key): suggest_placements([part], [image], everything)[0].weight
            for n, part in enumerate(parts, 1)
            for image in images
        }
        best = max(
            sum(single[n, image.key] for n, image in zip(chosen, images, strict=True))
            for chosen in permutations(range(1, len(parts) + 1), len(images))
        )
        assert sum(placement.weight for placement in suggest_placements(parts, images, everything)) == pytest.approx(
            best, abs=1e-4
        )

    def test_an_image_that_resembles_nothing_is_not_placed(self) -> None:
        assert suggest_placements(self.PARTS, [ItemImage("i1", caption="portrait of a tenor")]) == []
        assert suggest_placements(self.PARTS, [ItemImage("i1", caption=" ")]) == []

    def test_places_are_read_from_the_answer(self) -> None:
        images = [ItemImage("i1"), ItemImage("i2", document="b.png")]
        answer = "First. ![x](i1) Second. Third. ![y](b.png)"
        text, places = placed_images(answer, images)
        assert places == {"i1": 1, "i2": 3}
        assert "![" not in text
        assert placed_images("One. <PIC> Two. <PIC>", images)[1] == {"i1": 1, "i2": 2}
        assert placed_images("<PIC> One.", images)[1] == {"i1": 0}

    def test_the_score_is_how_often_rule_and_answer_agree(self) -> None:
        images = [{"key": image.key, "caption": image.caption} for image in self.IMAGES]
        answer = f"{self.PARTS[0]} {self.PARTS[1]} ![](i1) {self.PARTS[2]} ![](i2)"
        given = score_records(scoring_task("image_insertion"), [{"question": "q", "answer": answer, "images": images}])[
            0
        ]
        assert {score.name: score.value for score in given} == {"image_insertion": 0.5, "images_placed": 1.0}
        assert given[0].details is not None
        assert given[0].details["in_answer"] == {"i1": 2, "i2": 3}

    @pytest.mark.parametrize(
        ("answer", "images", "reason"),
        [
            ("Text.", [], "the answer has no images"),
            ("<PIC>", [{"key": "i1", "caption": "x"}], "the answer has no sentence"),
            ("Text. <PIC>", [{"key": "i1"}], "no image has a caption to compare with the sentences"),
            (
                "Text.",
                [{"key": "i1", "caption": "x"}],
                "the answer does not mark where its images stand (<PIC> or ![…](key))",
            ),
        ],
    )
    def test_without_something_to_compare_it_is_unscored(
        self, answer: str, images: list[dict[str, Any]], reason: str
    ) -> None:
        assert score("image_insertion", {"question": "q", "answer": answer, "images": images}).reason == reason
