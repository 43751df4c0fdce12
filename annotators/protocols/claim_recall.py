"""Claim recall: does the answer say what each claim of the reference answer says."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, the answer of a system, and a list of claims. The claims are what a good answer says; they were
taken from a reference answer, which is not shown. For each claim you look for it **in the answer**.

Whether a claim is true does not matter here, nor whether the answer is right. What you know yourself does not count.

The examples are about one made-up answer to *"When did the Vessel Street library open, and what does it hold?"*: *"The
library on Vessel Street has been open since the spring of 1931. It holds some 80,000 volumes, among them the town's
charters."*

## In the answer

The answer says this, in whatever words, or says something from which every reader takes it.

- *"The Vessel Street library opened in 1931."* In the answer: open since that spring.
- *"Its holdings are about eighty thousand books."* In the answer, though it says volumes.
- *"The charters of the town are kept in the library."* In the answer: they are among the volumes.

## Not in the answer

The answer leaves it out, says only part of it, or says something else.

- *"The library was paid for by subscription."* Not in the answer: it says nothing about money.
- *"The library opened on 12 April 1931."* Not in the answer: spring is less than the day.
- *"The library holds 95,000 volumes."* Not in the answer, which has another number.

## Hard cases

- A claim that is **less exact** than the answer is in it: *"The library opened in the 1930s."* One that is **more
  exact** is not.
- A claim of **several parts** is in the answer only with all of them.
- The answer **names a doubt** (*"it is said to hold the charters"*): a claim that has no doubt is not in it.
- The answer **denies** the claim: not in the answer.
- The answer **declines** to answer: none of the claims is in it.
"""

claim_recall = PROTOCOLS.register(
    Protocol(
        name="claim_recall",
        title="Claim recall",
        summary="Does the answer say what each claim of the reference says?",
        guidelines=_GUIDELINES,
        criteria=[
            Choice(
                name="recalled",
                title="The answer says this claim",
                help="In whatever words; true or not does not matter",
                target=TargetKind.CLAIM_ANSWER,
                of="reference",
                rest="not_in_answer",
                positive="in_answer",
                labels=[
                    Label(
                        value="in_answer",
                        title="In the answer",
                        definition="The answer says this, in whatever words, or every reader takes it from it.",
                    ),
                    Label(
                        value="not_in_answer",
                        title="Not in the answer",
                        definition="The answer leaves it out, says only part of it, or says something else.",
                    ),
                ],
            ),
        ],
        steps=[
            Step(
                name="claims",
                title="Claims of the reference in the answer",
                shows=[Material.QUESTION, Material.ANSWER, Material.CLAIMS],
                criteria=["recalled"],
            ),
        ],
        overlap=2,
        agreement="Krippendorff's alpha and Cohen's kappa over (item, claim), beside the share in the answer.",
        on_fail="Nothing is revised: the share of claims in the answer is the result.",
        invalidates={"question": ["*"], "answer": ["*"], "claims": ["*"]},
        source="MRAG-Suite, section 4.2, equation 3.",
    )
)
