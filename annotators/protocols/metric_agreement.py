"""Metric agreement: how far a person agrees with the correctness score and the hallucination flag of an answer."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.grade import Grade
from annotators.criteria.material import Material
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
A program has scored the answer of a system. You judge **the score, not the answer**: a wrong answer with a score of 0
is scored rightly, and deserves a 5.

You see the question, the reference answers, the system's answer, and two values:

- the **correctness** score, from 0 to 1. A reference answer is a set of phrases, and the score is the share of them
  that the program found in the answer; of several acceptable references the best one counts.
- the **hallucination** flag. It is raised when the answer states something as a fact and its correctness is below 1. An
  answer that declines to answer is an abstention, and the flag should stay down.

First decide for yourself how right the answer is; then look at the value; then say how far you agree with it. The two
grades are independent of each other.

## Agreement with the correctness score

All examples: *"Which two metals is the Tarn Street statue cast from?"*, reference **copper** and **tin**.

- **1 Strongly disagree**: the score says the opposite of the truth. *"Cu and Sn."*, score 0: both metals are there.
- **2 Disagree**: the score is off, though not upside down. *"Copper and a little stannum."*, score 0.5: tin has its
  Latin name.
- **3 Neutral**: as much speaks for the score as against it. *"Bronze."*, score 0: true, but no metal is named.
- **4 Agree**: the score fits, with something to object to. *"Copper and tin, perhaps some lead."*, score 1.
- **5 Strongly agree**: the score is what you would have given. *"Copper and zinc."*, score 0.5.

Look out for phrases that were found by accident: the phrase *tin* is in "setting", and *8* is in "18". A score that is
too high for such a reason is as wrong as one that is too low.

## Agreement with the hallucination flag

- **1 Strongly disagree**: the flag is plainly wrong. *"The text does not say which metals."*, flag raised.
- **2 Disagree**: it is rather wrong. *"Probably bronze, but the page is cut off."*, flag raised.
- **3 Neutral**: it could be argued either way. *"Bronze."*, flag raised: no metal is named, yet nothing is false.
- **4 Agree**: it is right, with something to object to. *"Copper, tin and lead."*, flag down: one metal too many.
- **5 Strongly agree**: it is plainly right. *"Marble."*, flag raised; *"I could not find it."*, flag down.

The value stands in the row of its grade, and the phrases that were found are marked. When a value is missing, its
reason is shown in its place. Grade a missing value with *Cannot judge*.
"""


_AGREEMENT = [
    Label(value=1, title="Strongly disagree", definition="The value is plainly wrong."),
    Label(value=2, title="Disagree", definition="The value is rather wrong."),
    Label(value=3, title="Neutral", definition="As much speaks for the value as against it."),
    Label(value=4, title="Agree", definition="The value is right, with something to object to."),
    Label(value=5, title="Strongly agree", definition="The value is what you would have given."),
]

metric_agreement = PROTOCOLS.register(
    Protocol(
        name="metric_agreement",
        version=3,
        title="Metric agreement",
        summary="How far do you agree with the correctness score and the hallucination flag?",
        guidelines=_GUIDELINES,
        criteria=[
            Grade(
                name="correctness_agreement",
                title="Correctness score",
                help="Is this the score you would have given?",
                judged_by=[Material.REFERENCES],
                labels=_AGREEMENT,
                tolerance=1,
                score=["correctness"],
            ),
            Grade(
                name="hallucination_agreement",
                title="Hallucination flag",
                help="Is the flag up or down as it should be?",
                labels=_AGREEMENT,
                tolerance=1,
                score=["hallucination"],
            ),
        ],
        steps=[
            Step(
                name="answer_and_scores",
                title="Answer and scores",
                shows=[Material.QUESTION, Material.REFERENCES, Material.ANSWER, Material.SCORES],
                criteria=["correctness_agreement", "hallucination_agreement"],
            )
        ],
        overlap=2,
        agreement=(
            "Mean grade of each group of systems and the unweighted mean of the groups; between annotators the ordinal "
            "Krippendorff's alpha and quadratically weighted kappa. Grades one apart count as agreed when settling."
        ),
        on_fail="Nothing is revised: low grades are read beside the answers, to improve the scorer.",
        invalidates={"question": ["*"], "answer": ["*"], "references": ["*"]},
        about_scores=True,
        source="FATHOMS-RAG, section IV.D and table I (one reviewer there; two by default here).",
    )
)
