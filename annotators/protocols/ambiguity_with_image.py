"""Ambiguity of a question with its image: do both together single out one right answer."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._ambiguity import AMBIGUITY, REASON
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question and the image that it is asked about, and nothing else. The answer is hidden on purpose: who knows it
sees in a blurred picture what they expect to see.

Ask yourself: would careful readers who look at **this question and this image** all mean the same one answer? Look at
the image at its full size before you decide.

## Clear

The words say what is asked for, and where it has to be seen it can be seen.

- *"What is the number on the front of the tram?"* One tram, and its number can be read.
- *"In which town was this tramway opened in 1911?"* The image shows its name; the rest can be looked up.

## Ambiguous

Somebody has to add or guess something before there is one right answer.

- *"What is the number on the front of the tram?"* The picture is too blurred to read it.
- *"What does the sign on the left say?"* It is cut off, or stands behind something.
- *"How many people work for the company in the picture?"* In which year?

## Hard cases

- **Unreadable**: enlarge it. If you can only guess at the word or number that is asked for, it is *Ambiguous*. If you
  can read it with some trouble, it is *Clear*.
- **Not in the image**: a question about a feature that the image does not show is *Ambiguous*, however clear its words.
- **Several candidates**: two trams and *"its number"* are *Ambiguous*, unless both have the same number.
- **Blurred elsewhere**: only what the question needs has to be visible.
- **The usual gaps** count as without an image: a missing time, place, unit, object or standard of comparison.
- **Common knowledge**: what every reader of the image recognises (a landmark, a flag) need not be written on it.
- **No image came with the item**: judge the words alone; if they lean on an image, it is *Ambiguous*.

## What is missing

For an ambiguous question, say in at most 30 words what is missing, so that it can be repaired from your note alone.

- Good: *"The number on the tram cannot be read: the front is out of focus."*
- Not enough: *"Bad picture."*
"""

ambiguity_with_image = PROTOCOLS.register(
    Protocol(
        name="ambiguity_with_image",
        version=2,
        title="Ambiguity with an image",
        summary="Do the question and its image together single out one right answer?",
        guidelines=_GUIDELINES,
        criteria=[
            AMBIGUITY.model_copy(
                update={
                    "help": "Would all mean the same answer, and can it be seen?",
                    "judged_by": [Material.IMAGES],
                }
            ),
            REASON,
        ],
        steps=[
            Step(
                name="question_and_image",
                title="Question and image",
                shows=[Material.QUESTION, Material.IMAGES],
                criteria=["ambiguity", "reason"],
            )
        ],
        overlap=2,
        agreement="Cohen's kappa of the two annotators and raw agreement; disagreements are resolved by adjudication.",
        on_fail="An ambiguous question is rewritten into one that its evidence answers, and judged again.",
        invalidates={"question": ["*"], "images": ["*"]},
        source="MRAG-Suite, section 3.4 and appendix A.1–A.3.",
    )
)
