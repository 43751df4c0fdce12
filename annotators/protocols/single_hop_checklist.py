"""Checklist of a single-hop question: is it fit for a benchmark of retrieval, by four checks."""

from __future__ import annotations

from annotators.criteria.material import SOURCES, Material
from annotators.protocols._checks import check
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You check a question that one place in one document answers, with its answer and its evidence. There are four checks,
each a *Pass* or a *Fail*, and each is judged for itself: an item with a wrong answer can still be self-contained. Only
what stands in the evidence counts. What you cannot decide is *Cannot judge*, with the reason.

The examples are about a made-up report on the harbour of Saltholm, 2023, whose page 12 has a table of ferry lines.

## It names no source

The question must not say in which document, or where in it, the answer stands: whoever searches does not know that.

- **Pass**: *"How many passengers did the Saltholm ferries carry in 2023?"* Nothing says where to look.
- **Pass** also for *"What does the harbour of Saltholm charge for a berth?"*: the harbour is what is asked about, not
  a source.
- **Fail**: *"According to the 2023 report, how many passengers …"* and *"In Table 4, which line …"* name the place.
- Names of things are no sources, even where a report is called after them.

## The answer is right

Everything the answer says can be verified in the evidence, and it answers what is asked.

- **Pass**: *"1.2 million"* where the table says 1,204,000 and no more is asked for.
- **Fail**: *"1.2 million"* where the table says 1.02 million, or where the number is of another year.
- **Fail** also where the evidence neither says it nor lets it be worked out, even if it is true.

## It is self-contained

The question can be understood by somebody who has not seen the page, and has one answer.

- **Pass**: *"Which ferry line from Saltholm had most passengers in 2023?"*
- **Fail**: *"Which line had most passengers?"* Where, and when?
- **Fail**: *"What is shown by the red bar?"* It points at something that is not there.

## It is about one kind of content

What answers it is of one kind: running text, or a table, or a figure. A question that needs two of them tests two
things at once.

- **Pass**: *"Which line has its first ferry at 5:40?"* where the timetable says it.
- **Fail**: *"Which line in the map has the first ferry of the timetable?"* It needs a figure and a table.
- The words around a table or a figure (its title, its caption) belong to it.
"""

single_hop_checklist = PROTOCOLS.register(
    Protocol(
        name="single_hop_checklist",
        version=2,
        title="Single-hop checklist",
        summary="Is a question that one place answers fit for a benchmark of retrieval?",
        guidelines=_GUIDELINES,
        criteria=[
            check(
                "names_no_source",
                "It names no source",
                asks="It does not say where the answer stands",
                passes="Neither a document nor a place in one is named.",
                fails="It says in which document, or where in it, to look.",
            ),
            check(
                "answer_right",
                "The answer is right",
                asks="It can be verified, and answers the question",
                passes="All that it says is in the evidence, and it answers what is asked.",
                fails="Something in it is wrong, not in the evidence, or not what is asked.",
                judged_by=SOURCES,
            ),
            check(
                "self_contained",
                "It is self-contained",
                asks="Understood without the page, with one answer",
                passes="Somebody who has not seen the page knows what is asked, and there is one answer.",
                fails="It points at something unnamed, or several answers are right.",
            ),
            check(
                "one_modality",
                "It is about one kind of content",
                asks="Text, or a table, or a figure",
                passes="Text, or a table, or a figure answers it by itself.",
                fails="It needs two kinds of content at once.",
                judged_by=SOURCES,
            ),
        ],
        steps=[
            Step(
                name="checks",
                title="Four checks",
                shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS],
                criteria=["names_no_source", "answer_right", "self_contained", "one_modality"],
            )
        ],
        overlap=2,
        agreement=(
            "Raw agreement, Krippendorff's alpha and AC1 of each check, with specific agreement: most items pass."
        ),
        on_fail="An item that fails a check is rewritten and checked again, or left out.",
        invalidates={
            "question": ["*"],
            "answer": ["answer_right", "one_modality"],
            "evidence": ["answer_right", "one_modality"],
            "documents": ["answer_right", "one_modality"],
        },
        source="CDocRAG-Bench, section 3.2.",
    )
)
