"""Metric agreement after a blind judgement: what people think of the answer before, and of its scores after."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.grade import Grade
from annotators.criteria.material import Material
from annotators.protocols.abstention import abstention
from annotators.protocols.base import PROTOCOLS, Protocol, Step
from annotators.protocols.metric_agreement import metric_agreement

_GUIDELINES = """\
You judge an answer twice: first on your own, then together with the values that a program gave it. The first judgement
shows whether people who have seen a value are pulled towards it, so **take it seriously: it can not be changed once the
values are shown**.

All examples: *"Which two metals is the Tarn Street statue cast from?"*, reference **copper** and **tin**.

## On your own: how correct is the answer?

Compare it with the reference answers. A reference answer is a text, or a set of phrases of which each has to be there
in some wording. Of several acceptable references take the one that fits best.

- **Wrong**: nothing that was asked for is right. *"Marble."*
- **Mostly wrong**: something is right, most is not. *"Three metals, among them a little tin."*
- **Half right**: about half of what was asked for. *"Copper and zinc."*
- **Mostly right**: all that matters but for a slip. *"Copper and tin, and a trace of lead."*
- **Right**: everything, in whatever words. *"Cu and Sn."*

## On your own: does it state or decline?

- **Statement**: it says something as the answer, hedged or wrong as it may be. *"Bronze, I suppose."*
- **Abstention**: it gives nothing as the answer. *"The text does not name the metals."*

## With the scores

Now you see the **correctness** score, from 0 to 1, and the **hallucination** flag, which is raised when an answer
states something and its correctness is below 1. You judge **the value, not the answer**: a wrong answer with a score of
0 is scored rightly, and deserves a 5. You need not agree with your own first judgement; say what you think now.

For the correctness score:

- **Strongly disagree**: it says the opposite of the truth. *"Cu and Sn."*, score 0.
- **Disagree**: it is off, though not upside down. *"Copper and a little stannum."*, score 0.5.
- **Neutral**: as much speaks for it as against it. *"Bronze."*, score 0.
- **Agree**: it fits, with something to object to. *"Copper and tin, perhaps some lead."*, score 1.
- **Strongly agree**: it is what you would have given. *"Copper and zinc."*, score 0.5.

For the hallucination flag:

- **Strongly disagree**: it is plainly wrong. *"The text does not say which metals."*, flag raised.
- **Disagree**: it is rather wrong. *"Probably bronze, but the page is cut off."*, flag raised.
- **Neutral**: it could be argued either way. *"Bronze."*, flag raised.
- **Agree**: it is right, with something to object to. *"Copper, tin and lead."*, flag down.
- **Strongly agree**: it is plainly right. *"Marble."*, flag raised; *"I could not find it."*, flag down.

When a value is missing, its reason is shown in its place. Grade a missing value with *Cannot judge*.
"""

metric_agreement_blind = PROTOCOLS.register(
    Protocol(
        name="metric_agreement_blind",
        version=3,
        title="Metric agreement, judged blind first",
        summary="How correct is the answer, and how far do you agree with its scores once you see them?",
        guidelines=_GUIDELINES,
        criteria=[
            Grade(
                name="correctness",
                title="How correct is the answer?",
                help="In quarters, against the best fitting reference",
                judged_by=[Material.REFERENCES],
                labels=[
                    Label(value=0, title="Wrong", definition="Nothing that was asked for is right."),
                    Label(value="0.25", title="Mostly wrong", definition="Something is right, most is not."),
                    Label(value="0.5", title="Half right", definition="About half of what was asked for is right."),
                    Label(value="0.75", title="Mostly right", definition="All that matters is right but for a slip."),
                    Label(value=1, title="Right", definition="Everything that was asked for is right."),
                ],
                tolerance=0.25,
            ),
            abstention.criterion("abstention"),
            metric_agreement.criterion("correctness_agreement"),
            metric_agreement.criterion("hallucination_agreement"),
        ],
        steps=[
            Step(
                name="answer_alone",
                title="On your own",
                shows=[Material.QUESTION, Material.REFERENCES, Material.ANSWER],
                criteria=["correctness", "abstention"],
            ),
            Step(
                name="with_scores",
                title="With the scores",
                shows=[Material.SCORES],
                criteria=["correctness_agreement", "hallucination_agreement"],
            ),
        ],
        overlap=2,
        agreement=(
            "As metric_agreement; for the first step quadratically weighted kappa and Cohen's kappa. The anchoring "
            "effect is the difference to a metric_agreement study of the same scores."
        ),
        on_fail="Nothing is revised: low grades are read beside the answers, to improve the scorer.",
        invalidates={"question": ["*"], "answer": ["*"], "references": ["*"]},
        about_scores=True,
        compared_with="metric_agreement",
        judged_blind={"correctness_agreement": "correctness"},
        source="Beyond the papers: FATHOMS-RAG, section IV.D, after a judgement made without the scores.",
    )
)
