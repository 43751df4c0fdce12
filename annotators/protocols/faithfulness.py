"""Faithfulness: is each fact of the answer grounded in the evidence, taken all together."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, the answer of a system, the facts into which that answer was split, and the evidence. Take the
evidence **all together**, as one source: a fact may rest on several of its units at once. For each fact you decide
whether that source bears it out.

Neither the reference answer nor what you know yourself counts. That a fact is true is not enough.

The examples are about one made-up source, three units on the ferry between Arvik and Holm: a timetable (*"Arvik, from
06:10, every 40 minutes"*), a passage (*"The crossing takes 25 minutes. Bicycles travel free."*), and a photograph of a
white ferry with the name "Tern".

## Grounded

Somebody who has this evidence, and nothing else, must accept the whole fact.

- *"The first ferry leaves Arvik at ten past six."* The timetable says so.
- *"Who takes the first ferry is in Holm at 06:35."* It takes two units: when it leaves, and how long it takes.
- *"The Tern is white."* One sees it.

## Not grounded

The evidence leaves the fact open, bears out only a part of it, or speaks against it.

- *"The ferry runs until midnight."* Nothing says when it ends.
- *"Bicycles and dogs travel free."* Half of it is there.
- *"The crossing takes 35 minutes."* The passage has another number.

## Hard cases

- A fact that is **less exact** than the evidence is grounded, one that is **more exact** is not.
- A **step that every reader takes** (a sum of two numbers that stand there) is grounded; what one knows from elsewhere
  is not.
- Two units that **contradict each other** ground neither.
- What **everybody knows** needs the evidence as anything else does.
- A fact that **cannot be understood** alone is taken as the answer has it; if that does not help, *Cannot judge*.
"""

faithfulness = PROTOCOLS.register(
    Protocol(
        name="faithfulness",
        title="Faithfulness by facts",
        summary="Is each fact of the answer grounded in the evidence, taken all together?",
        guidelines=_GUIDELINES,
        criteria=[
            Choice(
                name="grounded",
                title="The evidence and the fact",
                help="By all of the evidence at once",
                target=TargetKind.CLAIM_CONTEXT,
                of="answer",
                rest="grounded",
                positive="grounded",
                labels=[
                    Label(
                        value="grounded",
                        title="Grounded",
                        definition="Who has all of the evidence must accept the whole fact.",
                    ),
                    Label(
                        value="not_grounded",
                        title="Not grounded",
                        definition="The evidence leaves it open, has only a part of it, or speaks against it.",
                    ),
                ],
            ),
        ],
        steps=[
            Step(
                name="facts",
                title="Facts against all evidence",
                shows=[Material.QUESTION, Material.ANSWER, Material.CLAIMS, Material.EVIDENCE],
                criteria=["grounded"],
            ),
        ],
        overlap=2,
        agreement="Krippendorff's alpha and Cohen's kappa over (item, fact), beside the share that is grounded.",
        on_fail="Nothing is revised: the share of grounded facts is the result.",
        invalidates={
            "question": ["*"],
            "answer": ["*"],
            "claims": ["*"],
            "evidence": ["*"],
            "documents": ["*"],
        },
        source="UniDoc-Bench, section 4.2, faithfulness.",
    )
)
