"""QA verification: is a question fit for retrieval, and is its answer true, complete and rightly grounded."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._verification import (
    ANSWER_FACTUAL,
    COMPLETE,
    GROUNDING,
    HUMAN_LIKE,
    NO_FACT_WITHOUT_QUESTION,
    QUESTION_FACTUAL,
    SELF_CONTAINED,
)
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You check one question, its answer and the evidence behind it. There are two steps. In the first you see **only the
question**, because once the sources are known a vague question looks clear. In the second you see everything.

Judge each criterion for itself: a clumsy question can have a true answer, and a true answer can leave things out.
What you know from elsewhere does not count; only what the sources in front of you say. If you cannot decide, take
*Cannot judge* and write why. Do not guess.

The examples are all about one made-up source, the 2023 review of the Kelder Valley tramway:

- **E1**, a passage: "Passengers made 4.6 million journeys in 2023, after 4.1 million the year before. Line 2 was closed
  from 3 April to 19 May while its track was renewed."
- **E2**, a table of stops with a lift: Mill Bridge yes, Old Market no, Station Square yes.
- **E3**, a bar chart of trams on time: Line 1 94 %, Line 2 81 %, Line 3 90 %.

## Step 1: the question alone

### Self-contained

Think of somebody who has a large collection of documents and a search box, and who has not seen the page that this
question was written from. Could they understand the question and know what to look for?

- **True**: names, dates or topics in the question say what is meant.
  *"How many journeys did passengers make on the Kelder Valley tramway in 2023?"* The operator and the year are there.
- **True** also for: *"What does the Kelder Valley tramway's 2023 review say about lifts?"* A source may be mentioned
  as long as it is named.
- **False**: the question points at something that only the page's reader has before them.
  *"Which line does the tallest bar in the chart stand for?"* Which chart?
- **False** also for: *"Why was the line closed in that period?"* Neither the line nor the period is named.

### Human-like

Would a person with a real need ask this? Spelling and grammar do not matter; the purpose does.

- **True**: the answer would be of use to somebody.
  *"was line 2 of the kelder valley tram shut in spring 2023"* Carelessly typed, and yet a passenger's question.
- **False**: it asks how a page looks, or what can only be counted on it.
  *"How many times is the word 'tramway' printed in the Kelder Valley review of 2023?"* Nobody needs to know that.
- **False** also for wording that no person would choose:
  *"State the entity-value pairs of the Kelder Valley 2023 lift-availability attribute."*

## Step 2: with answer and evidence

Read **all** evidence first: passages, tables, captions, and each figure in the context of its page.

### Question is factual

A question takes things for granted. Are they in the sources?

- **Factual**: *"Why was Line 2 closed in April 2023?"* E1 says that it was closed then.
- **Not factual**: *"Why was Line 4 closed in April 2023?"* The sources know no Line 4.

### Answer is factual

Take the answer apart into its claims. Each one must be supported by the sources; one that is not decides the label.

- **Factual**: *"Its track was renewed from 3 April to 19 May."* Both claims are in E1.
- **Not factual**: *"Its track was renewed after a derailment."* The renewal is in E1, the derailment nowhere.
- **Not factual** follows when the *question* is not factual: what is said about a thing that is not there has no
  support.

An answer that leaves something out can still be factual; that is the next criterion.

### Answer is complete

Does the answer contain everything that the question needs **and** the sources have?

- **Complete**: *"Which stops have a lift?" – "Mill Bridge and Station Square."* E2 has no other.
- **Incomplete**: *"Which stops have a lift?" – "Mill Bridge."* Station Square is missing.
- **Complete** also when the sources hold more than was asked: nobody asked for the stop without a lift.

### Evidence needed for this answer

Decide for every unit on its own: does it contain something that the answer uses, or that a right answer needs?
For *"Which line was closed in spring 2023, and how punctual was it that year?" – "Line 2; 81 % of its trams were on
time."*:

- **Required**: E1 (the closure) and E3 (the 81 %).
- **Not required**: E2. It is from the same report and about the same tramway, but nothing in it is used.

A unit that repeats what another one says is *Required* as well: each could support the answer. With a figure, its
caption and the text around it count as part of it.

Where there are many units, label those that are needed and then give all others *Not required* at once: the button
below them, and its key, do that. Look at each of them first.
"""

_QUESTION = ["question_factual", "answer_factual", "complete", "grounding"]
_ANSWER = ["answer_factual", "complete", "grounding"]

qa_verification = PROTOCOLS.register(
    Protocol(
        name="qa_verification",
        version=4,
        title="QA verification",
        summary="Is the question fit for retrieval, and is the answer true, complete and rightly grounded?",
        guidelines=_GUIDELINES,
        criteria=[
            SELF_CONTAINED,
            HUMAN_LIKE,
            QUESTION_FACTUAL,
            ANSWER_FACTUAL,
            COMPLETE,
            GROUNDING,
        ],
        steps=[
            Step(
                name="question_alone",
                title="Question alone",
                shows=[Material.QUESTION],
                criteria=["self_contained", "human_like"],
            ),
            Step(
                name="with_evidence",
                title="With answer and evidence",
                shows=[Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS],
                criteria=["question_factual", "answer_factual", "complete", "grounding"],
            ),
        ],
        consequences=[NO_FACT_WITHOUT_QUESTION],
        overlap=3,
        agreement=(
            "Krippendorff's alpha and Cohen's kappa of each pair, a criterion at a time, beside the share of positive "
            "labels; grounding over (item, unit), and compared with the used flags of the pipeline as accuracy."
        ),
        on_fail="An item whose settled labels are not all positive is revised and judged again.",
        invalidates={"question": ["*"], "answer": _ANSWER, "evidence": _QUESTION, "documents": _QUESTION},
        source="UniDoc-Bench, section 3.3 and appendix C.2–C.6; overlap of three from its introduction.",
    )
)
