"""Multimodal scores: the images of an interleaved answer and the whole, each on a scale from 0 to 100."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.criteria.number import Number
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, a reference answer, and the answer of a system in which text and images alternate. Give each image
three scores from 0 to 100, and the whole answer one. Judge an image by what it shows, not by its caption.

The scale has fixed points. Go to the nearest one first, then move from there by as much as it takes. The examples are
about *"How do I sharpen a chisel?"*, with an answer that flattens the back, grinds the bevel and takes off the burr.

## Relevance

How far does the image belong to what is asked and answered?

- **100**, about this very thing: *"A bevel on the stone, at its angle."*
- **50**, about the subject, not the question: *"A set of chisels in a rack."*
- **0**, about something else: *"The logo of a shop."*

## Effectiveness

How much better does a reader understand or do it with the image?

- **100**, it shows what words can hardly say: *"A section through bevel and stone."*
- **50**, it confirms what the text says: *"A sharp chisel."*
- **0**, it misleads or stands in the way: *"A chisel held at the wrong angle."*

## Position

How near does it stand to where it is needed?

- **100**, right beside the paragraph that speaks of it: *"The bevel, directly after the grinding."*
- **50**, a paragraph or two away: *"The bevel, after the burr is off."*
- **0**, nowhere near it, or it belongs nowhere: *"All pictures below the last sentence."*

## Comprehensive score

Do text and images together answer the question, completely and truly, and as one piece?

- **100**, one would print it: *"All three steps, each with its picture."*
- **50**, it serves: *"The steps are right, the pictures hardly help."*
- **0**, it does not answer, or would do harm: *"How to sharpen a saw."*

An image that cannot be seen, or was not supplied, is *Cannot judge*. A number between two points is right where both
apply in part; use whole numbers.
"""


def _score(name: str, title: str, question: str, target: TargetKind) -> Number:
    of = "answer" if target == TargetKind.IMAGE else None
    return Number(name=name, title=title, help=question, target=target, of=of, minimum=0, maximum=100, step=1)


multimodal_scores = PROTOCOLS.register(
    Protocol(
        name="multimodal_scores",
        title="Multimodal scores",
        summary="How relevant, effective and well placed are the images of an answer, from 0 to 100?",
        guidelines=_GUIDELINES,
        criteria=[
            _score("image_relevance", "Relevance", "0 to 100: does it belong to it?", TargetKind.IMAGE),
            _score("image_effectiveness", "Effectiveness", "0 to 100: does it help?", TargetKind.IMAGE),
            _score("image_position", "Position", "0 to 100: does it stand where it is needed?", TargetKind.IMAGE),
            _score("comprehensive", "Comprehensive score", "0 to 100: text and images as one", TargetKind.ITEM),
        ],
        steps=[
            Step(
                name="answer_and_images",
                title="Answer and images",
                shows=[Material.QUESTION, Material.ANSWER, Material.REFERENCES, Material.IMAGES],
                criteria=["image_relevance", "image_effectiveness", "image_position", "comprehensive"],
            )
        ],
        overlap=2,
        agreement="Interval Krippendorff's alpha and intraclass correlations, with the mean of each score.",
        on_fail="Nothing is revised: the scores are the result.",
        invalidates={
            "question": ["*"],
            "answer": ["*"],
            "references": ["*"],
            "images": ["*"],
        },
        source="MRAMG-Bench, section 6.2.2: scores of 0 to 100.",
    )
)
