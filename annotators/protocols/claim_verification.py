"""Claim verification: is each claim of an answer entailed or contradicted by each unit of the evidence, or neither."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.base import Only
from annotators.criteria.choice import Choice
from annotators.criteria.derived.precedence import Precedence
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
An answer was split into claims, each a statement that can be true or false by itself. You check every claim twice over:
first whether it is a fit claim at all, then what each unit of the evidence says about it.

Walk the grid with the arrows: a row is a claim, a column a unit of evidence. The claim at hand is marked in the answer,
and the places where its words occur are marked on the page.

The examples are about one made-up answer and its source. *"The Orla mill burned down in 1907 and was rebuilt in brick
by 1909; it employed 240 people, most of them women."* The evidence:

- **E1**, a passage: "After the fire of 1907 the Orla mill stood empty until its brick successor opened in May 1909."
- **E2**, a passage: "In 1912 the mill had 310 workers on its books, of whom 190 were women."
- **E3**, a photograph: a tall building of brick, with the words "Orla 1909" above its door.

## The claim itself

Judge the claim against **the answer**, not against the evidence.

### Well formed

One statement, made by the answer, that can be checked without reading the other claims.

- *"The Orla mill burned down in 1907."* The answer says that, and it is one thing to check.
- *"Most of the people whom the Orla mill employed were women."* In other words than the answer, and says the same.

### Not atomic

It says two things or more, so that one could be right and the other wrong.

- *"The Orla mill burned down in 1907 and was rebuilt by 1909."* Fire and rebuilding are two statements.
- *"The mill was rebuilt in brick because stone had become dear, by 1909."* Material, reason and year in one.

A condition or a comparison is one statement: *"fewer people than before the fire"* cannot be taken apart.

### Not in the answer

The answer does not say it, or says something else.

- *"The Orla mill was rebuilt by its owner's son."* The answer names nobody.
- *"The Orla mill employed 420 people."* The answer says 240: the claim was copied wrongly.

A claim that is both, two statements of which one is not in the answer, is *Not in the answer*.

## The claim against each unit

Take the claim as it is written, whatever you said about its form, and **one unit at a time**. What another unit says,
and what you know yourself, does not count. With a figure, its caption and the text that explains it belong to it.

### Entailment

Who has read only this unit must accept the claim.

- *"The Orla mill burned down in 1907."* with E1: the fire and its year are there.
- *"The new mill is built of brick."* with E3: one sees it.

Other words, rounding that the claim announces (*"about two years"*), and steps that every reader takes (190 of 310 is
most) are still entailment.

### Contradiction

Claim and unit cannot both be true.

- *"The Orla mill was rebuilt by 1908."* with E1: the new mill opened in May 1909.
- *"In 1912 the mill had 240 workers."* with E2: it had 310.

A different number, date, name or direction for **the same thing** contradicts. A number for another year or another
mill does not.

### Neutral

The unit neither supports the claim nor speaks against it.

- *"The mill employed 240 people."* with E2: the unit is about 1912, the claim names no year.
- *"The fire broke out at night."* with E1: there was a fire, and nothing about its hour.

Neutral is also right for a unit about something else, and where a page is too blurred to make out what it says. If only
**part** of a claim is supported and nothing contradicts the rest, it is neutral. If any part is contradicted, it is
contradiction.

What you do not find is not contradicted. Where most units say nothing about a claim, label those that do, and give the
rest *Neutral* at once with the key for the rest. Look at each of them first.
"""

claim_verification = PROTOCOLS.register(
    Protocol(
        name="claim_verification",
        title="Claim verification",
        summary="Does each unit of the evidence support each claim of the answer, speak against it, or neither?",
        guidelines=_GUIDELINES,
        criteria=[
            Choice(
                name="form",
                title="Form of the claim",
                help="One statement, and one that the answer makes",
                target=TargetKind.CLAIM,
                of="answer",
                rest="well_formed",
                labels=[
                    Label(
                        value="well_formed",
                        title="Well formed",
                        definition="One statement of the answer that can be checked by itself.",
                    ),
                    Label(
                        value="not_atomic",
                        title="Not atomic",
                        definition="It says several things, of which one could be right and another wrong.",
                    ),
                    Label(
                        value="not_in_answer",
                        title="Not in the answer",
                        definition="The answer does not say this, or says something else.",
                    ),
                ],
                accept=["well_formed"],
            ),
            Choice(
                name="verdict",
                title="This unit and the claim",
                help="By this unit alone, the claim as it is written",
                target=TargetKind.CLAIM_EVIDENCE,
                of="answer",
                only=Only(per_modality=3),
                rest="neutral",
                positive="entailment",
                derived=[
                    Precedence(
                        name="claim_label",
                        title="The claim by all its evidence",
                        order=["entailment", "contradiction", "neutral"],
                    )
                ],
                labels=[
                    Label(
                        value="entailment",
                        title="Entailment",
                        definition="Who has read only this unit must accept the claim.",
                    ),
                    Label(
                        value="neutral",
                        title="Neutral",
                        definition="The unit neither supports the claim nor speaks against it.",
                    ),
                    Label(
                        value="contradiction",
                        title="Contradiction",
                        definition="Claim and unit cannot both be true.",
                    ),
                ],
            ),
        ],
        steps=[
            Step(
                name="claims",
                title="Claims against the evidence",
                shows=[Material.QUESTION, Material.ANSWER, Material.CLAIMS, Material.EVIDENCE],
                criteria=["form", "verdict"],
            ),
        ],
        overlap=2,
        agreement=(
            "Krippendorff's alpha and Cohen's kappa over (item, claim) for the form and over (item, claim, unit) for "
            "the verdicts, and over (item, claim) for the claims' labels that follow from them, with the share of each."
        ),
        on_fail="An answer with a claim that is not well formed has its claims split again, and they are judged anew.",
        invalidates={
            "question": ["*"],
            "answer": ["*"],
            "claims": ["*"],
            "evidence": ["verdict"],
            "documents": ["verdict"],
        },
        source=(
            "MRAG-Suite, section 4.1 (three passages and three images by its default). The form of a "
            "claim is beyond the paper."
        ),
    )
)
