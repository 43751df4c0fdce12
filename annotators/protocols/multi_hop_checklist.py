"""Checklist of a multi-hop question: are its steps sound and is the whole worth asking, by four checks."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._checks import check
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You check a question that is answered in several steps (hops): the answer of each leads to the next. You see the final
question, its answer, the steps with their answers, and the evidence. There are four checks, each a *Pass* or a *Fail*,
and each is judged for itself. What you cannot decide is *Cannot judge*, with the reason.

The example is made up. Step 1: *"Which town built the Arden bridge?"* (Dunmore). Step 2: *"Who was mayor of Dunmore in
1931?"* (Ida Kerr). Final question: *"Who was mayor of the town that built the Arden bridge, in 1931?"*

## The question is clear

The final question is clear and specific, and **does not give away** what its steps are to find out.

- **Pass**: the example: one bridge, one year, and Dunmore is not named.
- **Fail**: *"Who was mayor of Dunmore, which built the Arden bridge, in 1931?"* names the answer of step 1.
- **Fail**: *"Who was mayor when the bridge was built?"* Which bridge, of which town?

## The steps are right

Every step is **necessary**, in that the final answer cannot be found without it, and **correct** by its evidence.

- **Pass**: both steps of the example, if the evidence says what they say.
- **Fail**: a third step *"In which country is Dunmore?"* that the answer does not need.
- **Fail**: step 1 answered with *"Arden"*, where the evidence says Dunmore: one wrong step is enough.

## Each step has one answer

Each step has **one** answer, and the relation that leads to the next is exact: not "is known for", but "built", "is
the mayor of".

- **Pass**: *"Which town built the Arden bridge?"* where one town built it.
- **Fail**: *"Which town lies near the Arden bridge?"* Several do.
- **Fail**: *"Which person is linked with Dunmore?"* The relation says nothing exact.

## It is worth asking

Taken as a whole it is something that a person could want to know, and the steps belong together.

- **Pass**: *"Who was mayor of the town that built the Arden bridge, in 1931?"*: somebody who writes its history would
  ask that.
- **Fail**: *"What is the third letter of the surname of the mayor of the town that built the Arden bridge?"* A riddle.
- **Fail**: two questions that are only joined by "and".
"""

multi_hop_checklist = PROTOCOLS.register(
    Protocol(
        name="multi_hop_checklist",
        version=2,
        title="Multi-hop checklist",
        summary="Are the steps of a multi-hop question sound, and is it worth asking?",
        guidelines=_GUIDELINES,
        criteria=[
            check(
                "question_clear",
                "The question is clear",
                asks="Specific, and gives nothing away",
                passes="It says exactly what is asked, and nothing that its steps are to find out.",
                fails="It is vague, or names the answer of one of its steps.",
            ),
            check(
                "steps_right",
                "The steps are right",
                asks="Each is necessary and correct",
                passes="The answer needs every step, and each is correct by its evidence.",
                fails="A step is not needed, or is wrong.",
                judged_by=[Material.HOPS],
            ),
            check(
                "steps_unique",
                "Each step has one answer",
                asks="And its relation to the next is exact",
                passes="Every step has one answer and leads to the next by an exact relation.",
                fails="A step has several answers, or its relation is loose.",
                judged_by=[Material.HOPS],
            ),
            check(
                "worth_asking",
                "It is worth asking",
                asks="A person could want to know it",
                passes="The whole seeks something useful, and its steps belong together.",
                fails="It is a riddle, or joins what does not belong together.",
            ),
        ],
        steps=[
            Step(
                name="checks",
                title="Four checks",
                shows=[Material.QUESTION, Material.ANSWER, Material.HOPS, Material.EVIDENCE, Material.DOCUMENTS],
                criteria=["question_clear", "steps_right", "steps_unique", "worth_asking"],
            )
        ],
        overlap=2,
        agreement=(
            "Raw agreement, Krippendorff's alpha and AC1 of each check, with specific agreement: most items pass."
        ),
        on_fail="An item that fails a check is rewritten and checked again, or left out.",
        invalidates={
            "question": ["*"],
            "answer": ["question_clear", "steps_right"],
            "hops": ["*"],
            "evidence": ["steps_right", "steps_unique"],
            "documents": ["steps_right", "steps_unique"],
        },
        source="CDocRAG-Bench, section 3.3.",
    )
)
