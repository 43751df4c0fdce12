"""Claim correctness: does the reference answer entail each claim of an answer, contradict it, or leave it open."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, its reference answer, and the claims into which the answer of a system was split. The reference is
taken to be right. For each claim you decide what follows from **the reference**, and from nothing else: neither what
you know nor what sounds likely.

The examples are about one made-up reference answer to *"What does the Marl line carry, and how fast?"*: *"The Marl line
carries gravel and, since 2014, passengers on Sundays. Its trains may run at 40 km/h, and at 25 km/h over the bridge."*

## Entailment

Who accepts the reference has to accept the claim.

- *"Passengers can use the Marl line on Sundays."* The reference says so.
- *"Trains have to slow down for the bridge of the Marl line."* From 40 to 25 km/h: it follows at once.

## Contradiction

Reference and claim cannot both be true.

- *"The Marl line has carried passengers since 2004."* The reference has 2014.
- *"The Marl line carries goods only."* There are passengers on Sundays.

## Neutral

The reference leaves open whether the claim is true.

- *"The bridge of the Marl line was built in 1898."* Nothing about its age is said.
- *"The Marl line carries 900 passengers a Sunday."* Passengers are there, their number is not.

## Hard cases

- A claim that is **more exact** than the reference is neutral, not entailed. One that is **less exact** is entailed.
- A claim of **several parts** is entailed only with all of them, and contradicted with one.
- A claim that is **true but beside the question** is judged like any other: by the reference.
- Where a reference gives **several possibilities**, a claim that is one of them is entailed.
- With **several references**, one that entails the claim is enough; else one that contradicts it.
- A claim that **cannot be understood** by itself (*"It rose."*) is judged as the question makes it plain; if that does
  not help either, take *Cannot judge*.
"""

claim_correctness = PROTOCOLS.register(
    Protocol(
        name="claim_correctness",
        title="Claim correctness",
        summary="Is each claim of the answer right by the reference answer?",
        guidelines=_GUIDELINES,
        criteria=[
            Choice(
                name="correctness",
                title="The reference and the claim",
                help="By the reference alone",
                target=TargetKind.CLAIM_REFERENCE,
                of="answer",
                positive="entailment",
                labels=[
                    Label(
                        value="entailment",
                        title="Entailment",
                        definition="Who accepts the reference has to accept the claim.",
                    ),
                    Label(
                        value="neutral",
                        title="Neutral",
                        definition="The reference leaves open whether the claim is true.",
                    ),
                    Label(
                        value="contradiction",
                        title="Contradiction",
                        definition="Reference and claim cannot both be true.",
                    ),
                ],
            ),
        ],
        steps=[
            Step(
                name="claims",
                title="Claims of the answer by the reference",
                shows=[Material.QUESTION, Material.REFERENCES, Material.CLAIMS],
                criteria=["correctness"],
            ),
        ],
        overlap=2,
        agreement="Krippendorff's alpha and Cohen's kappa over (item, claim), beside the share of each label.",
        on_fail="Nothing is revised: the share of entailed claims is the result.",
        invalidates={"question": ["*"], "answer": ["*"], "references": ["*"], "claims": ["*"]},
        source="RAGChecker: precision and recall of claims, by which its metrics are made.",
    )
)
