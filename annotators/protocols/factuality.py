"""Factuality: does what the question takes for granted, and what the answer claims, stand in the sources."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._verification import ANSWER_FACTUAL, NO_FACT_WITHOUT_QUESTION, QUESTION_FACTUAL
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, its answer and all the evidence that there is. Read **all** of the evidence first: passages, tables,
captions, and each figure on its page. Then judge the question, and after it the answer.

Only the sources count. What you know from elsewhere makes nothing true and nothing false.

The examples are about one made-up source, the 2023 review of the Kelder Valley tramway:

- **E1**, a passage: "Passengers made 4.6 million journeys in 2023, after 4.1 million the year before. Line 2 was closed
  from 3 April to 19 May while its track was renewed."
- **E2**, a bar chart of trams on time: Line 1 94 %, Line 2 81 %, Line 3 90 %.

## Question is factual

A question takes things for granted. Each of them has to be in the sources.

- **Factual**: *"Why was Line 2 closed in April 2023?"* E1 says that it was.
- **Factual**: *"Which of the three lines was the least punctual?"* There are three lines, and E2 has how punctual they
  were.
- **Not factual**: *"Why was Line 4 closed in April 2023?"* The sources know of no Line 4.
- **Not factual**: *"By how much did journeys fall in 2023?"* They rose.

## Answer is factual

Take the answer apart into single claims. All of them must be supported; one that is not decides the label.

- **Factual**: *"Its track was renewed from 3 April to 19 May."* Both claims are in E1.
- **Factual**: *"Half a million more than in 2022."* It follows from two numbers of E1 by plain arithmetic.
- **Not factual**: *"Its track was renewed after a derailment."* The renewal is there, the derailment nowhere.
- **Not factual**: *"Line 3 was on time in 91 % of cases."* E2 says 90 %.

## Hard cases

- **The question is not factual**: then the answer is *Not factual* too. What is said about a thing that is not there
  has no support.
- **The answer corrects the question** (*"There is no Line 4."*): judge the question *Not factual*; the answer as
  well, by the rule above. Leave a comment, so that both are rewritten.
- **Rounding** to fewer digits is supported, unless the question asks for the exact number.
- **Something left out** is not a matter of truth. An answer with one claim of three can be *Factual*.
- **General knowledge** that the sources do not have (*"a tram runs on rails"*) supports nothing and harms nothing:
  leave it out of your judgement unless the answer rests on it.
- **Sources that contradict each other**: supported by one of them is enough; say so in a comment.
"""

factuality = PROTOCOLS.register(
    Protocol(
        name="factuality",
        version=3,
        title="Factuality",
        summary="Are the question and the answer supported by the sources?",
        guidelines=_GUIDELINES,
        criteria=[QUESTION_FACTUAL, ANSWER_FACTUAL],
        steps=[
            Step(
                name="with_evidence",
                title="With answer and evidence",
                shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS],
                criteria=["question_factual", "answer_factual"],
            )
        ],
        consequences=[NO_FACT_WITHOUT_QUESTION],
        overlap=3,
        agreement="Krippendorff's alpha and Cohen's kappa of each pair, a criterion at a time, beside the shares.",
        on_fail="A question or answer without support is rewritten from the sources and judged again.",
        invalidates={"question": ["*"], "answer": ["answer_factual"], "evidence": ["*"], "documents": ["*"]},
        source="UniDoc-Bench, section 3.3 and appendix C.2.",
    )
)
