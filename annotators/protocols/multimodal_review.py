"""Multimodal review: what is wrong with a question, its answer and its images, before they are corrected."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.material import SOURCES, Material
from annotators.criteria.several import Several
from annotators.criteria.text import Text
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, its answer with images, and the context that both were made from. You do not correct anything: you
say **what has to be corrected**, and somebody else does. Give every problem that you find, or **None**.

Judge against the context. What the context does not say, the answer may not say either.

All examples: *"How do I bleed the radiator?"*, with a manual of four pages as its context.

## Question wording

The question cannot be understood, asks two things at once, gives its answer away, or is not what a person would ask.

- *"How it is done with the valve of figure 3?"* Ungrammatical, and it points at a figure that nobody sees.
- *"Why must the radiator be bled with the square key at the top valve?"* It says what should be found out.

## Answer wrong

Something in the text is false by the context, or what the question needs is left out.

- *"Turn the key two full turns."* The manual says a quarter turn.
- *"Open the valve and wait."* That it is closed again when water comes is missing.

## Out of line with the context

The answer is not about what the context is about, or brings what the context does not have, be it true or not.

- *"Bleeding saves some 15 % of gas."* Nothing of that is in the manual.
- *An answer on floor heating*, with the manual of a radiator.

## Image missing

The context has an image that a reader needs for this answer, and the answer does not show it.

- *The drawing of the valve and its key* is in the manual, and the answer describes both in forty words.
- *Step 3 of four drawn steps* is not there.

## Image irrelevant

An image does not belong to this question and answer.

- *The maker's logo.* · *The drawing of the thermostat*, which is not touched.

## Image misplaced

An image belongs to the answer and stands at the wrong place, or the images are in the wrong order.

- *The drawing of the open valve*, after the paragraph on closing it.
- *Steps 1, 3, 2, 4.*

## Image description wrong

The words that go with an image, its caption or description, do not say what it shows.

- *"The key is turned to the right"*, under a drawing that turns it to the left.
- *"Figure 2: the pump"*, under a valve.

## Hard cases

- **A false number in the text that the image shows rightly**: answer wrong.
- **An image that contradicts the text, and the context agrees with the text**: image irrelevant, not misplaced.
- **Both missing and irrelevant**: the wrong image of two stands there. Give both.
- **An image that was not supplied**: judge the rest, and flag the item.
- **Wrong in the context itself**: None, and a comment.
- **Spelling and style** that nobody could misunderstand: None.
"""

_PROBLEMS = [
    Label(
        value="question_wording",
        title="Question wording",
        definition="It cannot be understood, asks two things, gives its answer away, or nobody would ask it.",
    ),
    Label(
        value="answer_wrong",
        title="Answer wrong",
        definition="False by the context, or what the question needs is left out.",
    ),
    Label(
        value="out_of_context",
        title="Out of line with the context",
        definition="About something else than the context, or with what the context does not have.",
    ),
    Label(
        value="image_missing",
        title="Image missing",
        definition="The context has an image that a reader needs here, and it is not shown.",
    ),
    Label(
        value="image_irrelevant",
        title="Image irrelevant",
        definition="An image does not belong to this question and answer.",
    ),
    Label(
        value="image_misplaced",
        title="Image misplaced",
        definition="An image stands at the wrong place, or the images in the wrong order.",
    ),
    Label(
        value="image_description_wrong",
        title="Image description wrong",
        definition="The words that go with an image do not say what it shows.",
    ),
]

multimodal_review = PROTOCOLS.register(
    Protocol(
        name="multimodal_review",
        version=2,
        title="Multimodal review",
        summary="What has to be corrected in a question, its answer and its images?",
        guidelines=_GUIDELINES,
        criteria=[
            Several(
                name="problems",
                title="Problems found",
                help="All that there are; None if nothing is to be corrected.",
                judged_by=[*SOURCES, Material.IMAGES],
                labels=_PROBLEMS,
            ),
            Text(
                name="what",
                title="What is wrong, and where",
                help="A few words for whoever corrects it.",
                required=False,
                max_words=60,
            ),
        ],
        steps=[
            Step(
                name="question_answer_context",
                title="Question, answer and context",
                shows=[
                    Material.QUESTION,
                    Material.ANSWER,
                    Material.IMAGES,
                    Material.EVIDENCE,
                    Material.DOCUMENTS,
                ],
                criteria=["problems", "what"],
            )
        ],
        overlap=2,
        agreement=(
            "Krippendorff's alpha with MASI distance and mean Jaccard similarity. Where the study's rule is majority, "
            "problems settle one by one."
        ),
        on_fail=(
            "An item with any problem goes to somebody who did not review it, and back to review when it is corrected: "
            "the three steps of MRAMG-Bench."
        ),
        invalidates={
            "question": ["*"],
            "answer": ["*"],
            "images": ["*"],
            "evidence": ["*"],
            "documents": ["*"],
        },
        source="MRAMG-Bench, section 4.3: one group finds problems, another corrects them, a third checks again.",
    )
)
