"""Pairwise preference: two systems' answers to one question held against each other, without their names."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.grade import Grade
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
Two systems have answered the same question. You see the question, the reference answer, and the two answers side by
side as **A** (left) and **B** (right). Which system stands where is drawn by lot for every pair; judge the texts,
and do not guess who wrote them.

You decide three things, each by itself, on the same scale. Say *much better* when one answer alone would serve the
reader, *better* when both would serve and one serves more, and *The same* when you would not mind which you got. A
pair in which both answers are equally bad is *The same*, too.

The examples are about *"When does the Tarn lido open, and what is a day ticket?"*, reference: it opens on 1 May, if
the water has 14 degrees by then; a day ticket costs 4 euros.

## Correctness: is what is said right?

Hold every statement against the reference, and against the evidence where there is some. Count what is **wrong**,
and how much the question hangs on it; what is missing is the next criterion's. A statement that the reference
neither supports nor contradicts counts only if you know it to be wrong. An answer that declines states nothing
wrong, so that it beats one that is wrong, and is the same as one that is right.

- **A is much better**: A is right and B misleads. A *"It opens on 1 May."*, B *"It opens on 1 June."* Or A *"I do
  not know."*, B *"It is closed for good."*
- **A is better**: B has a slip beside what matters. A *"4 euros."*, B *"4 euros, children 2"*, and children are
  free. Or A *"1 May."*, B *"1 May, at 12 degrees."*
- **The same**: nothing wrong in either, or equally wrong. A *"1 May."*, B *"On the first of May, for 4 euros."* Or
  A *"In June."*, B *"In July."*
- **B is better**: the slip is in A. A *"About 5 euros."*, B *"4 euros."* Or A *"1 May, in any weather."*, B *"1
  May."*
- **B is much better**: A misleads and B is right. A *"Free for all."*, B *"4 euros."* Or A *"It stays shut in
  May."*, B *"On 1 May, if the water is warm enough."*

## Completeness: is what the question needs there?

List the parts of the reference that the question asks for: here the day, the condition, the price. Count how many
of them each answer **attempts**, whether or not they are right. More words are not more parts, and what nobody
asked for adds nothing.

- **A is much better**: B lacks a part without which it is no answer. A *"1 May, from 14 degrees, 4 euros."*, B *"It
  is a fine lido."* Or A *"1 May; 4 euros."*, B *"Ask at the gate."*
- **A is better**: A has one part more. A *"1 May from 14 degrees; 4 euros."*, B *"1 May; 4 euros."* Or A *"1 May, 4
  euros."*, B *"4 euros."*
- **The same**: the same parts, in whatever words. A *"1 May; 4 euros."*, B *"Four euros from the first of May on."*
  Or A *"1 May."*, B *"4 euros."*: each has one.
- **B is better**: B has one part more. A *"4 euros."*, B *"4 euros; from 1 May."* Or A *"1 May; 4 euros."*, B *"1
  May at 14 degrees; 4 euros."*
- **B is much better**: A lacks what makes an answer. A *"I cannot say."*, B *"1 May; 4 euros."* Or A *"In
  spring."*, B *"1 May, from 14 degrees, 4 euros."*

## Overall: which would you rather get?

Weigh correctness before completeness, and both before style. Only where these two are level may it count that one
answer is shorter, clearer or better ordered, and then as *better*, not *much better*.

- **A is much better**: A can be used, B would have to be checked. A *"1 May; 4 euros."*, B *"1 June; 4 euros."* Or
  A *"1 May."*, B *"Opening times may vary."*
- **A is better**: both can be used. A *"1 May from 14 degrees; 4 euros."*, B *"1 May; 4 euros."* Or both say the
  same, A *"1 May."* and B *"As to the date, one finds that it is 1 May."*
- **The same**: you would toss a coin. A *"1 May; 4 euros."*, B *"4 euros; 1 May."* Or A *"It opens in June."*, B
  *"It costs 9 euros."*
- **B is better**: both can be used, B rather. A *"1 May."*, B *"1 May, if the water has 14 degrees."* Or A *"4
  euros, I think."*, B *"4 euros."*
- **B is much better**: B can be used, A cannot. A *"No lido is named."*, B *"1 May; 4 euros."* Or A *"1 June;
  free."*, B *"1 May."*

## Hard cases

- **Long against short**: go by the parts of the reference, not by the length. Read both to their ends.
- **One wrong statement in a long right answer**: *better* for the other side if the reader would hardly use it,
  *much better* if it is what was asked for.
- **Another language than the question's**: judge what is said; the language counts in *Overall*.
- **An answer that is cut off**: judge what is there.
- **The reference seems wrong**: judge by the evidence, and flag the pair for the researcher.
"""

_BETTER = [
    Label(value=-2, title="A is much better", definition="A alone would serve the reader."),
    Label(value=-1, title="A is better", definition="Both would serve; A serves more."),
    Label(value=0, title="The same", definition="You would not mind which of them you got."),
    Label(value=1, title="B is better", definition="Both would serve; B serves more."),
    Label(value=2, title="B is much better", definition="B alone would serve the reader."),
]


def _which(name: str, title: str, words: str) -> Grade:
    return Grade(name=name, title=title, help=words, target=TargetKind.PAIR, labels=_BETTER)


pairwise_preference = PROTOCOLS.register(
    Protocol(
        name="pairwise_preference",
        title="Pairwise preference",
        summary="Which of two systems' answers is more correct, more complete, and better overall, from -2 to 2.",
        guidelines=_GUIDELINES,
        criteria=[
            _which("correctness", "Correctness", "What is said is right."),
            _which("completeness", "Completeness", "What the question needs is there."),
            _which("overall", "Overall", "Which would you rather get?"),
        ],
        steps=[
            Step(
                name="compare",
                title="The two answers",
                shows=[Material.QUESTION, Material.REFERENCES, Material.ANSWER],
                criteria=["correctness", "completeness", "overall"],
            )
        ],
        overlap=2,
        agreement="Krippendorff's alpha for ordinal labels and quadratic weighted kappa per criterion, from the first "
        "system of the pair to the second, whichever stood left.",
        on_fail="No pair fails: the labels say which system is preferred, and how often it stood left.",
        invalidates={"question": ["*"], "answer": ["*"], "references": ["*"]},
        source="RAGChecker's human study: two raters compare two systems' answers on correctness, completeness and "
        "overall, from -2 to 2.",
    )
)
