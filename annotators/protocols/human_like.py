"""Human-like: would a person with a real need ask this question."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._verification import HUMAN_LIKE
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question and nothing else. Imagine the person who would type it, and ask what they could do with the answer.

You judge the **need behind the question**, not its style. A question may be long, technical, misspelt or without a
question mark.

## True

Somebody with work to do, a decision to take or plain curiosity would ask it.

- *"was line 2 of the kelder valley tram shut in spring 2023"* Carelessly typed, and yet a passenger's question.
- *"How did punctuality differ between the three lines of the Kelder Valley tramway last year?"* A planner's question.

## False

Nobody needs the answer, or nobody would put it like this.

- *"How many times is the word 'tramway' printed in the Kelder Valley review of 2023?"* It can be counted, and is of no
  use.
- *"State the entity-value pairs of the Kelder Valley 2023 lift-availability attribute."* The wording of a machine.

## Hard cases

- **How a page looks** (fonts, colours, logos, where something stands) is False. *"Which colour has Line 2 on the map?"*
  is True: a passenger looks for that colour.
- **Counting**: what is counted decides. Stops with a lift matter to people, words on a page do not.
- **Very narrow** is not unnatural. An expert asks for the third decimal place; if you can name who would, it is True.
- **Several questions in one** are True as long as one person could want all of them at the same time. Two needs that
  have nothing in common, tied together by "and", are False.
- **Examination style** (*"Explain three reasons why ..."*) is True: pupils and teachers are people.
- **A pointer to a page** (*"in the figure above"*) is not judged here, only whether the need is real.
"""

human_like = PROTOCOLS.register(
    Protocol(
        name="human_like",
        title="Human-like",
        summary="Would a person with a real need ask this question?",
        guidelines=_GUIDELINES,
        criteria=[HUMAN_LIKE],
        steps=[
            Step(
                name="question_alone",
                title="Question alone",
                shows=[Material.QUESTION],
                criteria=["human_like"],
            )
        ],
        overlap=3,
        agreement="Krippendorff's alpha and Cohen's kappa of each pair, beside the share of questions that pass.",
        on_fail="A question that nobody would ask is rewritten for a need that somebody has, or withdrawn.",
        invalidates={"question": ["*"]},
        source="UniDoc-Bench, section 3.3 and appendix C.6.",
    )
)
