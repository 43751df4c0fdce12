"""Ambiguity: does the question alone have one right answer, or is something missing that would single it out."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._ambiguity import AMBIGUITY, REASON
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question and nothing else. The answer is hidden on purpose: who knows it reads the question as it was meant,
not as it stands.

Ask yourself: if careful readers answered this question independently, each with every document in the world at hand,
would they all mean **the same one answer**? It does not matter whether you know it, or whether it is hard to find.

## Clear

One answer is right, and the words of the question are enough to say which.

- *"In which year did the Pellworth lighthouse change from oil to electric light?"* One lighthouse, one event, one year.
- *"What was the median rent in Dunmore in 2019, in euros a square metre?"* Place, year and unit are given.
- *"Which ferries call at both Arden Quay and Saltholm?"* The answer is a list, but only one list is right.

## Ambiguous

A reader has to add something before there is one right answer. Usually one of these is missing:

- **time**: *"How many people live in Dunmore?"* In which year?
- **place**: *"When does the spring market open?"* Market towns have one each.
- **unit or measure**: *"How large is the Saltholm reserve?"* In area, in species, or in visitors?
- **object**: *"Who designed the bridge?"* Which bridge?
- **standard of comparison**: *"Is the new timetable better?"* Better than which, and in what?
- **something to look at**: *"What colour is the second curve?"* The question leans on a picture that is not here. If a
  picture is here, but too blurred to make out what is asked for, or without it, the question is ambiguous as well.

A name that could in theory belong to several things is not enough. *"Which river flows through Cologne?"* is clear:
every reader thinks of the same city.

## Why

For an ambiguous question, say in at most 30 words what is missing, so that it can be repaired from your note alone.

- Good: *"No year: the population of Dunmore has changed, and several censuses would give different answers."*
- Not enough: *"Unclear."*
"""

REFUSALS = ("Evidence inconclusive.", "Insufficient evidence to answer.")
"""What a rewritten answer may say where the evidence settles nothing (MRAG-Suite, appendix A.5)."""

ambiguity = PROTOCOLS.register(
    Protocol(
        name="ambiguity",
        title="Ambiguity",
        summary="Does the question, as it stands, single out one right answer?",
        guidelines=_GUIDELINES,
        criteria=[
            AMBIGUITY,
            REASON,
        ],
        steps=[
            Step(
                name="question_alone",
                title="Question alone",
                shows=[Material.QUESTION],
                criteria=["ambiguity", "reason"],
            )
        ],
        overlap=2,
        agreement="Cohen's kappa of the two annotators and raw agreement; disagreements are resolved by adjudication.",
        on_fail="An ambiguous question is rewritten into one that its evidence answers, and judged again.",
        invalidates={"question": ["*"]},
        source="MRAG-Suite, section 3.4 and appendix A.1–A.4.",
    )
)
