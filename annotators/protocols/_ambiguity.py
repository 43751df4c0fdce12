"""What is asked about the ambiguity of a question, with an image or without: clear or not, and what is missing."""

from __future__ import annotations

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.text import Text

AMBIGUITY = Choice(
    name="ambiguity",
    title="The question is",
    help="Would all careful readers mean the same one answer?",
    labels=[
        Label(
            value="clear",
            title="Clear",
            definition="Its words single out one right answer, known to you or not.",
        ),
        Label(
            value="ambiguous",
            title="Ambiguous",
            definition="A time, place, unit, object or a picture is missing: several answers are right.",
        ),
    ],
    accept=["clear"],
)

REASON = Text(
    name="reason",
    title="What is missing",
    help="At most 30 words, enough to repair the question",
    when=Condition(criterion="ambiguity", values=["ambiguous"]),
    max_words=30,
    lines=3,
)
