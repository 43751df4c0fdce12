"""What QA verification asks, a criterion each: the whole protocol and its parts ask the same, with the same labels."""

from __future__ import annotations

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import SOURCES
from annotators.items.targets import TargetKind
from annotators.protocols.consequences import Consequence

SELF_CONTAINED = Choice(
    name="self_contained",
    title="Question is self-contained",
    help="It can be understood and searched for without the page",
    labels=[
        Label(
            value="true",
            title="True",
            definition="Somebody with only a large collection of documents knows what is asked.",
        ),
        Label(
            value="false",
            title="False",
            definition="It points at something unnamed: this chart, the image above, that period.",
        ),
    ],
    accept=["true"],
)

HUMAN_LIKE = Choice(
    name="human_like",
    title="Question is human-like",
    help="A person with a real need would ask it",
    labels=[
        Label(
            value="true",
            title="True",
            definition="It seeks something useful, as a person would ask for it, however it is typed.",
        ),
        Label(
            value="false",
            title="False",
            definition="It counts words, asks about fonts or logos, or sounds like a machine.",
        ),
    ],
    accept=["true"],
)

QUESTION_FACTUAL = Choice(
    name="question_factual",
    title="Question is factual",
    help="Everything it presupposes is in the sources",
    judged_by=SOURCES,
    labels=[
        Label(
            value="factual",
            title="Factual",
            definition="All that the question takes for granted is supported by the sources.",
        ),
        Label(
            value="not_factual",
            title="Not factual",
            definition="It takes something for granted that the sources do not have.",
        ),
    ],
    accept=["factual"],
)

ANSWER_FACTUAL = Choice(
    name="answer_factual",
    title="Answer is factual",
    help="Every claim is supported by the evidence",
    judged_by=SOURCES,
    labels=[
        Label(
            value="factual",
            title="Factual",
            definition="Each claim of the answer is supported by the sources.",
        ),
        Label(
            value="not_factual",
            title="Not factual",
            definition="At least one claim is not supported, or the question itself is not factual.",
        ),
    ],
    accept=["factual"],
)

NO_FACT_WITHOUT_QUESTION = Consequence(
    when=Condition(criterion="question_factual", values=["not_factual"]),
    then=Condition(criterion="answer_factual", values=["not_factual"]),
    says="What is said about a thing that the sources do not have has no support.",
)
"""UniDoc-Bench, appendix C.2."""

COMPLETE = Choice(
    name="complete",
    title="Answer is complete",
    help="Nothing the question needs is missing",
    judged_by=SOURCES,
    labels=[
        Label(
            value="complete",
            title="Complete",
            definition="Everything that the question needs and the sources have is in the answer.",
        ),
        Label(
            value="incomplete",
            title="Incomplete",
            definition="The sources have something that the question needs and the answer leaves out.",
        ),
    ],
    accept=["complete"],
)

GROUNDING = Choice(
    name="grounding",
    title="Evidence needed for this answer",
    help="Decide for each unit on its own",
    target=TargetKind.EVIDENCE,
    rest="not_required",
    labels=[
        Label(
            value="required",
            title="Required",
            definition="It has something that the answer uses, or that a right answer needs.",
        ),
        Label(
            value="not_required",
            title="Not required",
            definition="Nothing in it is used by the answer or needed for it.",
        ),
    ],
)
