"""Multimodal answer: each image of an interleaved answer, their order, and text and images as one answer."""

from __future__ import annotations

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.material import Material
from annotators.criteria.order import Order
from annotators.criteria.place import Place
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, a reference answer, and the answer of a system in which text and images alternate, as its reader
would see it. You judge **every image where it stands**, then the order of the images, then the whole.

Judge the image by what it shows. A caption may promise what the picture does not have. Judge each image as if it were
the only one: that another shows the same does not make it worse, but see *Effectiveness*.

All examples: *"How do I replace a broken pane in an old sash window?"* The answer takes the sash out, beds the new
pane in putty, and says when to paint.

## Relevance: does the image belong to what is asked and answered?

- **5**, about this very thing. *The broken pane in its rebate, with the old putty named.* *A knife that draws putty
  at 45°, beside the sentence that says so.*
- **4**, about the same thing, with a part that does not matter. *The whole window, of which one pane is broken.* *A
  table of putties, one row of which is the one to use.*
- **3**, about the subject, not about the question. *A sash window seen from the street.* *The tools of a glazier on a
  bench, most of which are not needed.*
- **2**, loosely connected. *A modern double-glazed window.* *A craftsman's portrait.*
- **1**, about something else. *A logo.* *A door handle.*

## Effectiveness: does a reader understand or do it better with the image?

- **5**, it shows what words can hardly say. *A section through rebate, pane and putty.* *The hand that holds the
  knife.*
- **4**, it makes the text clearer or quicker to take in. *The four steps as drawings.* *The drying times as a bar
  each.*
- **3**, it confirms what the text says. *A pane in its frame, finished.* *A tin of linseed putty.*
- **2**, it adds nothing, or is hard to read. *A second picture of the same step.* *A drawing so small that its labels
  blur.*
- **1**, it misleads, or stands in the way. *A silicone joint where the text speaks of putty.* *A picture that shows
  the putty on the wrong side.*

An image can be relevant and useless (*a tin of putty*: 4 and 3), and hardly an image is effective that is not
relevant.

## Placed well: does it stand where a reader needs it?

- **Yes**: right before, within or right after the paragraph that speaks of it. *The section, after "bed the pane in
  putty".* *An overview, before the first step.*
- **No**: elsewhere. *All images together at the end.* *The picture of painting, before the pane is in.* Then say
  after which paragraph it belongs, by the number of the paragraph, or `0` if it belongs **nowhere** in this answer.

An image that should not be in the answer at all is not placed well, and belongs nowhere. If two places are equally
good and it stands at one of them, it is placed well.

## Right order

The order in which the images should come if all of them stay, whatever their places in the text: that of the steps,
of time, from the whole to its parts. `0` if it is right as shown, else their numbers one after the other. What
belongs nowhere comes last. Images whose order does not matter stay as shown.

## Overall: text and images as one answer

Does it answer the question, completely and truly, and do text and images belong together?

- **5**: one would print it. *Every step right, each image where it is needed.* *A short answer with the one section
  that explains it.*
- **4**: good, with one blemish. *Right and complete; one image too many.* *All there, one image a paragraph too
  late.*
- **3**: it serves. *The text answers; the images hardly help.* *Good images; the text leaves the drying time out.*
- **2**: parts can be used. *Half of the steps, with fitting images.* *Right text, images of another window.*
- **1**: it does not answer, or would do harm. *The wrong material throughout.* *Images without an answer.*

## Hard cases

- **An image that was not supplied or cannot be seen**: *cannot judge* (`x`). Do not judge it by its caption.
- **The text around it is wrong**: relevance is to question *and* answer; an image of what was asked is relevant,
  although the answer goes astray.
- **A table as an image** is judged by the cells that matter.
- **A page with several figures**: by the one that is meant; it is at most 4 in effectiveness if one has to search for
  it.
"""

_RELEVANCE = (
    "About something else",
    "Loosely connected",
    "About the subject",
    "About the same thing",
    "About this very thing",
)
_EFFECTIVENESS = (
    "Misleads or stands in the way",
    "Adds nothing",
    "Confirms the text",
    "Makes it clearer",
    "Shows what words can hardly say",
)
_OVERALL = ("Very poor", "Poor", "Fair", "Good", "Very good")


def _one_to_five(definitions: tuple[str, ...], *, titled: bool = False) -> list[Label]:
    return [
        Label(value=grade, title=definition if titled else str(grade), key=str(grade), definition=definition)
        for grade, definition in enumerate(definitions, 1)
    ]


multimodal_answer = PROTOCOLS.register(
    Protocol(
        name="multimodal_answer",
        title="Multimodal answer",
        summary="Do the images of an answer belong there, help, and stand in the right place and order?",
        guidelines=_GUIDELINES,
        criteria=[
            Grade(
                name="relevance",
                title="Relevance",
                help="Does it belong to what is asked and answered?",
                target=TargetKind.IMAGE,
                of="answer",
                labels=_one_to_five(_RELEVANCE),
                tolerance=1,
                accept=[4, 5],
            ),
            Grade(
                name="effectiveness",
                title="Effectiveness",
                help="Does one understand or do it better with it?",
                target=TargetKind.IMAGE,
                of="answer",
                labels=_one_to_five(_EFFECTIVENESS),
                tolerance=1,
                accept=[3, 4, 5],
            ),
            Choice(
                name="placed_well",
                title="Placed well",
                help="Does it stand where a reader needs it?",
                target=TargetKind.IMAGE,
                of="answer",
                labels=[
                    Label(value="yes", title="Yes", key="y", definition="Beside the paragraph that speaks of it."),
                    Label(value="no", title="No", key="n", definition="It belongs elsewhere, or nowhere."),
                ],
                positive="yes",
                accept=["yes"],
            ),
            Place(
                name="place",
                title="It belongs after",
                help="The number of the paragraph, or 0 for nowhere.",
                target=TargetKind.IMAGE,
                of="answer",
                when=Condition(criterion="placed_well", values=["no"]),
            ),
            Order(
                name="image_order",
                title="Right order of the images",
                help="0 if it is right as shown, else one number after the other.",
            ),
            Grade(
                name="overall",
                title="Overall",
                help="Text and images as one answer.",
                labels=_one_to_five(_OVERALL, titled=True),
                tolerance=1,
                accept=[4, 5],
            ),
        ],
        steps=[
            Step(
                name="answer_and_images",
                title="Answer and images",
                shows=[Material.QUESTION, Material.ANSWER, Material.REFERENCES, Material.IMAGES],
                criteria=["relevance", "effectiveness", "placed_well", "place", "image_order", "overall"],
            )
        ],
        overlap=3,
        agreement=(
            "Krippendorff's ordinal alpha and quadratically weighted kappa of the grades, nominal alpha and AC1 of the "
            "places, mean pairwise Spearman's rho and Kendall's W of the orders. Grades one apart count as agreed when "
            "settling."
        ),
        on_fail=(
            "An answer with an image of relevance below 4 or effectiveness below 3, or one that is not placed well, "
            "goes to revision: the image is taken out or moved."
        ),
        invalidates={"question": ["*"], "answer": ["*"], "images": ["*"], "references": ["overall"]},
        source=(
            "MRAMG-Bench, section 6.2.2: image relevance, image effectiveness, image position score and comprehensive "
            "score, which a model gave there from 1 to 5; and its image ordering score."
        ),
    )
)
