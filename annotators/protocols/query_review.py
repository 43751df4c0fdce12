"""Query review: do the words of a question lead to one document, or to many."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question and nothing else. It was asked about one document; now it has to do its work in a collection of many.
Would a search with its words bring up the one document that answers it?

The question is **A** or **B**. There is nothing between them; if you waver, look at the hard cases.

## A: locates one document

Some word in it belongs to few documents only: a name, a product, a code, an event, a technical term, a rare
combination.

- *"Which depot stores the spare bogies of the Kelder Valley tramway?"* The tramway has a name, and bogies are seldom
  written about.
- *"What does the abbreviation LRT-7 stand for?"* A code that hardly stands in a second document.

## B: does not

Its words fit a great number of documents, each with an answer of its own.

- *"What is the total at the foot of the second column?"* Every table has one.
- *"On which date was the meeting held?"* Which meeting is not said.

## Hard cases

- **A page number, a position, a format** (*"in the footer"*, *"printed in italics"*) locates nothing. Without another
  word that does, it is B.
- **A well-known name** alone can be too wide: *"What did the United Nations decide?"* is B, and with the year and the
  subject it becomes A.
- **A personal name** that is rare enough to search for makes it A, even if you have never heard of the person.
- **Two common words together** can be rare. Judge the combination: *"odour of a hydrogen tram"* is A.
- **One document but several answers in it**: the question locates the document, yet its answer is not one. Take B.
- **Facts from everywhere** (*"What is the boiling point of water?"*) have one answer in many documents: B.
"""

query_review = PROTOCOLS.register(
    Protocol(
        name="query_review",
        title="Query review",
        summary="Does the question by itself lead to one document and one answer?",
        guidelines=_GUIDELINES,
        criteria=[
            Choice(
                name="query_category",
                title="The question",
                help="Would its words find one document with one answer?",
                labels=[
                    Label(
                        value="A",
                        title="A: locates one document",
                        definition="Some of its words belong to few documents, and there it has one answer.",
                    ),
                    Label(
                        value="B",
                        title="B: does not",
                        definition="Many documents fit its words, with answers of their own.",
                    ),
                ],
                accept=["A"],
            )
        ],
        steps=[
            Step(
                name="question_alone",
                title="Question alone",
                shows=[Material.QUESTION],
                criteria=["query_category"],
            )
        ],
        overlap=2,
        agreement="Cohen's kappa of the two annotators and raw agreement, beside the share of A.",
        on_fail="A question of category B is rewritten with words that locate its document, or left out of the set.",
        invalidates={"question": ["*"]},
        source="CDocRAG-Bench, section 3.2 and figure 7.",
    )
)
