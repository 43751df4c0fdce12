"""Context recall: which statements of the reference answer are in what was retrieved."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, what a system retrieved for it, and statements. The statements are what a good answer says; they
were taken from a reference answer, which is not shown, and neither is any answer of the system. For each statement you
decide whether it can be taken from what was **retrieved**, all units together.

You judge the retrieval: could an answer that says this have been written from it? What you know yourself does not
count.

The examples are about one made-up retrieval on the glassworks of Teln: a passage (*"The furnace was lit in 1884 and
burned coal until 1951."*), a table (*"Workers: 1890: 60, 1910: 140"*), and a figure with a map of the works.

## In what was retrieved

The units say this, in whatever words, or together leave no doubt of it.

- *"The glassworks of Teln had 140 workers in 1910."* The table has it.
- *"Coal was burned there for more than sixty years."* From 1884 to 1951 are sixty-seven.

## Not in what was retrieved

It is missing, or only a part of it is there, or something else is said.

- *"The furnace was fired with gas from 1951 on."* That coal ended is there; what came after it is not.
- *"The works were founded by two brothers."* Nobody is named.
- *"The glassworks had 160 workers in 1910."* The table has another number.

## Hard cases

- A statement that is **less exact** than what was retrieved is in it; one that is **more exact** is not.
- **Several units** may be needed for one statement: that is enough.
- A picture or a page **that cannot be read** says nothing. If all else is missing too, the statement is not in it.
- That a unit is **about the subject** is not enough.
- A statement that **cannot be understood** alone is taken as the question makes it plain; else *Cannot judge*.
"""

context_recall = PROTOCOLS.register(
    Protocol(
        name="context_recall",
        title="Context recall",
        summary="Is each statement of the reference in what was retrieved?",
        guidelines=_GUIDELINES,
        criteria=[
            Choice(
                name="in_context",
                title="What was retrieved and the statement",
                help="By all that was retrieved, at once",
                target=TargetKind.CLAIM_CONTEXT,
                of="reference",
                rest="not_in_context",
                positive="in_context",
                labels=[
                    Label(
                        value="in_context",
                        title="In what was retrieved",
                        definition="The units say this, in whatever words, or together leave no doubt of it.",
                    ),
                    Label(
                        value="not_in_context",
                        title="Not in what was retrieved",
                        definition="It is missing, or only a part of it is there, or something else is said.",
                    ),
                ],
            ),
        ],
        steps=[
            Step(
                name="statements",
                title="Statements of the reference in what was retrieved",
                shows=[Material.QUESTION, Material.CLAIMS, Material.EVIDENCE],
                criteria=["in_context"],
            ),
        ],
        overlap=2,
        agreement="Krippendorff's alpha and Cohen's kappa over (item, statement), beside the share that was retrieved.",
        on_fail="Nothing is revised: the share of statements in what was retrieved is the result.",
        invalidates={
            "question": ["*"],
            "claims": ["*"],
            "evidence": ["*"],
            "documents": ["*"],
        },
        source="MRAMG-Bench, section 6.2.1, context recall; RAGAS, by which it is computed there.",
    )
)
