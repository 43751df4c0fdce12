"""Abstention: does an answer state something or decline to answer, and if it declines, why."""

from __future__ import annotations

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question and the answer that a system gave. You do not judge whether the answer is right: you judge **what it
does**. Does it put something forward as the answer, or does it decline?

All examples: *"In which year did the Pellworth lighthouse change to electric light?"*

## Statement

The answer says something as the answer to the question. It may be wrong, vague, hedged or incomplete.

- *"1926."* Short, but an answer.
- *"Probably in the twenties, after the harbour was rebuilt."* Hedged: it still gives an answer.
- *"It changed to electric light, and later to LED; the text has no year for the second change."* Partly answered.
- *"It never did; it burns oil to this day."* That something is absent or never happened can be the answer.
- *"The text does not name the year, but it was two years after the fire of 1924."* The answer follows after all.

## Abstention

The answer gives nothing as the answer. It may talk about the subject at length.

- *"I don't know."*
- *"The excerpt does not contain the year."*
- *"The document describes the lighthouse, but not when its light was changed."* Related facts, no answer.
- *"You could look into the harbour register."* A hint where to look is no answer.

When an answer both declines and guesses, ask whether somebody who reads it comes away with an answer to the question.
If so, it is a statement.

## Why it declines

- **Not enough information**: it says, or lets you see, that what it knows or was given does not suffice. *"The figure
  is not part of the text."*
- **Refused on principle**: it could perhaps answer but will not, for reasons of safety, law, privacy or taste. *"I
  can't give details of security installations."*
"""

_ABSTENTION = Choice(
    name="abstention",
    title="The answer",
    help="Does it put something forward as the answer?",
    labels=[
        Label(
            value="statement",
            title="Statement",
            definition="It says something as the answer: right or wrong, hedged or partial.",
        ),
        Label(
            value="abstention",
            title="Abstention",
            definition="It gives nothing as the answer: it does not know, cannot find it, or will not say.",
        ),
    ],
)

abstention = PROTOCOLS.register(
    Protocol(
        name="abstention",
        title="Abstention",
        summary="Does the answer state something, or does it decline to answer?",
        guidelines=_GUIDELINES,
        criteria=[
            _ABSTENTION,
            Choice(
                name="abstention_reason",
                title="Why it declines",
                help="For want of information, or on principle?",
                when=Condition(criterion="abstention", values=["abstention"]),
                labels=[
                    Label(
                        value="not_enough_information",
                        title="Not enough information",
                        definition="What it knows or was given does not suffice.",
                    ),
                    Label(
                        value="on_principle",
                        title="Refused on principle",
                        definition="It will not answer, for reasons of safety, law, privacy or taste.",
                    ),
                ],
            ),
        ],
        steps=[
            Step(
                name="question_and_answer",
                title="Question and answer",
                shows=[Material.QUESTION, Material.ANSWER],
                criteria=["abstention", "abstention_reason"],
            )
        ],
        overlap=2,
        agreement="Cohen's kappa of each pair of annotators and raw agreement, beside the share of each label.",
        on_fail="Nothing is revised: settled labels can be added to the examples of the abstention classifier.",
        invalidates={"question": ["*"], "answer": ["*"]},
        source="FATHOMS-RAG, section III.C; the two kinds of abstention are the future work of its section V.",
    )
)
