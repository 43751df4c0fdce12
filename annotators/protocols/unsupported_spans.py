"""Unsupported stretches: what of an answer the evidence does not bear out, marked word for word."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.material import SOURCES, Material
from annotators.criteria.spans import Spans
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, the answer that a system gave, and the evidence that it had. Mark **every stretch of the answer
that the evidence does not support**, and say of each what kind it is. What the evidence supports stays unmarked. When
nothing is to be marked, give **None**.

Judge by the evidence alone. That you know something to be true does not make it supported; that you doubt something
the evidence says does not make it unsupported.

All examples: *"When was the mill at Orsted rebuilt, and by whom?"* The evidence: *"Fire took the mill in 1911. Two
years later the brothers Hald had it working again, with a steel wheel from Aarhus."*

## What to mark

**The smallest stretch without which the rest would be supported.** Mark the words that go too far, not the sentence
around them.

- *"The brothers Hald rebuilt the mill in **1912**."* One word is wrong, and one word is marked.
- *"They were helped by **the parish council**."* The whole claim hangs on these words; *They were helped by* adds
  nothing.
- A sentence of which nothing is supported is marked from its first word to its last.
- The same mistake made three times is marked three times. Two mistakes side by side are two stretches if they are of
  two kinds, and one if they are of one kind.

Do not mark: the question said over again; words that hold an answer together (*in short*, *as the text says*); a
refusal to answer; what follows from the evidence by counting or simple arithmetic (*"two years later"*, so **1913**);
a faithful summary in other words; a mistake of grammar or style.

## Contradicted

The evidence says otherwise. Somebody who believes these words believes something that the evidence shows to be false.

- *"It was rebuilt in **1911**."* In 1911 it burned; it was working again in 1913.
- *"The brothers fitted **a wheel of oak**."* The evidence has a steel one.

## Unfounded

The evidence does not say it, says nothing against it, and a reader would take it for a fact of the sources: names,
numbers, causes, judgements that are nowhere in it. It may be true.

- *"The brothers, **who had learned their trade in Kiel**, rebuilt it."* Nothing is said of where they learned it.
- *"The fire **was caused by a lamp**."* The evidence gives no cause.

## Debatable

Whether the evidence supports it depends on how one reads it: an inference that is likely but not forced, a stronger
or weaker word than the evidence has, a vague place. Two careful readers could differ.

- *"The mill was **completely destroyed** in 1911."* *Fire took the mill* may mean that, or not quite.
- *"The brothers **owned** the mill."* They had it working again, which owners do, and tenants, too.

## Benign

Not in the evidence, and nobody is misled: common knowledge, a definition, something that every reader of the question
knows, or that cannot matter for what was asked.

- *"Orsted, **a village in Denmark**, …"* The evidence does not say it; a map does, and the question is not about it.
- *"Aarhus, **the port town**, …"* Well known, and beside the point.

## Hard cases

- **Contradicted or unfounded?** Point at the words of the evidence that cannot be true together with the answer. If
  you find them it is contradicted, else unfounded.
- **Unfounded or benign?** Ask whether somebody who acts on the answer could come to harm, or be embarrassed, if the
  words were wrong. If so it is unfounded, however well known it seems to you. Numbers and names are never benign.
- **Unfounded or debatable?** Name the words of the evidence from which it could be inferred. If there are none it is
  unfounded.
- **Two kinds fit**: take the one that comes first here: contradicted, unfounded, debatable, benign.
- **Something is missing** from the answer: that is not marked. Incomplete answers are another protocol's business.
- **The evidence is wrong or contradicts itself**: what one of its passages supports is supported. Say it in a
  comment.
- **A source is cited wrongly** (*[2]* for what passage 1 says): mark the citation as contradicted if the passage says
  otherwise, as unfounded if it says nothing of it.
- **Tables and formulas**: a cell or a formula is marked as a whole.
"""

unsupported_spans = PROTOCOLS.register(
    Protocol(
        name="unsupported_spans",
        version=2,
        title="Unsupported stretches",
        summary="Which words of the answer does the evidence not support, and how bad is each?",
        guidelines=_GUIDELINES,
        criteria=[
            Spans(
                name="unsupported",
                title="Not supported by the evidence",
                help="Mark the smallest stretches; None if there are none.",
                judged_by=SOURCES,
                labels=[
                    Label(
                        value="contradicted",
                        title="Contradicted",
                        definition="The evidence says otherwise.",
                    ),
                    Label(
                        value="unfounded",
                        title="Unfounded",
                        definition="The evidence does not say it, and it passes for a fact of the sources.",
                    ),
                    Label(
                        value="debatable",
                        title="Debatable",
                        definition="It depends on how one reads the evidence; careful readers could differ.",
                    ),
                    Label(
                        value="benign",
                        title="Benign",
                        definition="Not in the evidence, but common knowledge that misleads nobody.",
                    ),
                ],
                accept=["benign", "debatable"],
            ),
        ],
        steps=[
            Step(
                name="answer_and_evidence",
                title="Answer and evidence",
                shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS],
                criteria=["unsupported"],
            )
        ],
        overlap=3,
        agreement=(
            "Krippendorff's alpha for unitizing, with labels and for marked or not alone; F1 of characters and of "
            "boundaries between annotators. Where the study's rule is majority, answers settle character by character."
        ),
        on_fail=(
            "An answer with a contradicted or unfounded stretch goes to revision: the words are taken out or the "
            "evidence for them is added. What is debatable or benign may stand."
        ),
        invalidates={"question": ["*"], "answer": ["*"], "evidence": ["*"], "documents": ["*"]},
        source=(
            "Beyond the five papers. FaithBench (Bao et al., 2024) has raters mark spans as unwanted, questionable or "
            "benign; `unwanted` is two labels here, what the evidence contradicts and what it does not have, as they "
            "call for different repairs."
        ),
    )
)
