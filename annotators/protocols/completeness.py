"""Completeness: is everything that the question needs, and the sources have, in the answer."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._verification import COMPLETE
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, its answer and all the evidence that there is. Write down for yourself what the question asks for,
find every piece of it in the sources, and then look whether each piece is in the answer.

You judge what is **missing**, not what is wrong: a false answer can be complete, and a true one can leave things out.

The examples are about one made-up source, the 2023 review of the Kelder Valley tramway:

- **E1**, a passage: "Line 2 was closed from 3 April to 19 May while its track was renewed. Buses ran in its place every
  ten minutes."
- **E2**, a table of stops with a lift: Mill Bridge yes, Old Market no, Station Square yes.

## Complete

- *"Which stops have a lift?" – "Mill Bridge and Station Square."* E2 has no other.
- *"Until when was Line 2 closed?" – "19 May 2023."* E1 has more about the closure, and nobody asked for it.

## Incomplete

- *"Which stops have a lift?" – "Mill Bridge."* Station Square is missing.
- *"When and why was Line 2 closed?" – "Its track was renewed."* One half of the question has no answer.

## Hard cases

- **The sources do not have it**: what is nowhere in the evidence cannot be missing. An answer that has all of the
  rest is *Complete*.
- **A summary** is *Complete* when each of the main points is there; details of a point may be absent.
- **"For example", "such as"** in the question: any fitting example will do.
- **An open list** (*"What did the operator do for passengers?"*): everything the sources have counts, in however few
  words.
- **Said otherwise**: the same in other words, or as a number that contains it, is there.
- **A refusal** although the sources have the answer is *Incomplete*.
- **More than was asked** never makes an answer *Incomplete*.
"""

completeness = PROTOCOLS.register(
    Protocol(
        name="completeness",
        version=2,
        title="Completeness",
        summary="Is everything that the question needs in the answer?",
        guidelines=_GUIDELINES,
        criteria=[COMPLETE],
        steps=[
            Step(
                name="with_evidence",
                title="With answer and evidence",
                shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS],
                criteria=["complete"],
            )
        ],
        overlap=3,
        agreement="Krippendorff's alpha and Cohen's kappa of each pair, beside the share of complete answers.",
        on_fail="What is missing is added to the answer from the sources, and it is judged again.",
        invalidates={"question": ["*"], "answer": ["*"], "evidence": ["*"], "documents": ["*"]},
        source="UniDoc-Bench, section 3.3 and appendix C.3.",
    )
)
