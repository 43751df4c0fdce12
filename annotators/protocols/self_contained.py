"""Self-contained: can a question be understood, and searched for, without the page that it was written from."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._verification import SELF_CONTAINED
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question and nothing else, neither its answer nor the page behind it. Read it as somebody does who has a large
collection of documents and a search box, and who has never seen that page.

You judge one thing: do the words of the question say **what it is about**, so that this reader knows what to look for?
Whether it is a good question, or easy to answer, does not matter.

## True

Names, dates, places or a topic of its own tell the reader what is meant.

- *"How many journeys did passengers make on the Kelder Valley tramway in 2023?"* Who and when are both there.
- *"What does the Kelder Valley tramway's 2023 review say about lifts?"* A source may be mentioned if it has its name.

## False

It leans on something that only the reader of one page has before them.

- *"Which line does the tallest bar in the chart stand for?"* Nobody else knows which chart.
- *"Why was the line closed in that period?"* Neither the line nor the period has a name.

## Hard cases

- **A pointer beside a name** decides nothing by itself. *"In the table of Kelder Valley stops, which have a lift?"* is
  True: without the words about a table everything is still said. *"Which stops in the table have a lift?"* is False.
- **A year that is missing** makes it False only where the subject cannot be searched for without it. A missing year
  that leaves several answers right is a matter of ambiguity, which is not judged here.
- **An abbreviation** is a name. If you can search for it, it need not be spelt out.
- **A subject that many documents share** (*"What was the revenue?"*) is no subject: False.
- **Several parts**: one part that cannot be understood makes the whole question False.
- Spelling, grammar and politeness never count.

If the language is not one you read, take *Cannot judge* and say so.
"""

self_contained = PROTOCOLS.register(
    Protocol(
        name="self_contained",
        title="Self-contained",
        summary="Can the question be understood and searched for without its page?",
        guidelines=_GUIDELINES,
        criteria=[SELF_CONTAINED],
        steps=[
            Step(
                name="question_alone",
                title="Question alone",
                shows=[Material.QUESTION],
                criteria=["self_contained"],
            )
        ],
        overlap=3,
        agreement="Krippendorff's alpha and Cohen's kappa of each pair, beside the share of questions that pass.",
        on_fail="A question that is not self-contained is rewritten, with what it points at named, and judged again.",
        invalidates={"question": ["*"]},
        source="UniDoc-Bench, section 3.3 and appendix C.5.",
    )
)
