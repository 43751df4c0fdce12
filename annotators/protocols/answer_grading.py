"""Answer grading: how correct is an answer against the reference, from 0 to 10."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.derived.bands import Band, Bands
from annotators.criteria.grade import Grade
from annotators.criteria.material import Material
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, its reference answer and the answer of a system. Give the system's answer a grade from 0 to 10 for
how **correct** it is against the reference. A digit gives its grade, `t` gives ten.

Work in two turns. First list for yourself the points of the reference: each fact that answers the question is one.
Then go through the answer: which points does it have, which has it got wrong, which are missing? The share of points
that it has, in tenths, is where you begin; the rules below move it.

All examples: *"When was Line 2 closed, and what ran instead?"*, with the reference *"From 3 April to 19 May 2023; buses
every ten minutes."* It has four points: the first day, the last day, buses, every ten minutes.

## 7 to 10: correct

- **10 All right**: *"It was shut between 3 April and 19 May 2023, and buses ran every ten minutes."* Other
  words, the same points. *"3 April to 19 May 2023, buses every 10 minutes; they were free."* More than was asked
  costs nothing.
- **9 Right but for a trifle**: *"3 April to 19 May; buses every ten minutes."* The year is plain from the question's
  context. *"3/4 to 19/5 2023, busses each ten min."* Clumsy form.
- **8 Right, less exact**: *"Early April to 19 May 2023; buses every ten minutes."* One point is vague. *"3 April to
  19 May 2023; frequent buses."* Likewise.
- **7 The main points right**: *"3 April to 19 May 2023; buses."* How often they ran is missing. *"From 3 April to mid
  May; buses every ten minutes."* One date is only near.

## 4 to 6: partly correct

- **6 More right than wrong**: *"3 April to 19 May 2023; trains every ten minutes."* Three points of four. *"3 April to
  9 May; buses every ten minutes."* Likewise.
- **5 Half right**: *"From 3 April to 19 May 2023."* Two points of four. *"Buses ran every ten minutes."* The other two.
- **4 Less right than wrong**: *"In spring 2023; there were buses."* Vague about one half, short about the other. *"From
  3 April to 1 June; buses every hour."* Two points, two errors.

## 0 to 3: incorrect

- **3 A quarter right**: *"Some time in April; trains."* One point, vaguely. *"Buses were put on."* One of four.
- **2 A trace right**: *"It was closed in the spring."* Nearly nothing of it is said. *"For repairs;
  passengers had to change."* Near the subject.
- **1 Only the subject**: *"Line 2 had its track renewed."* True perhaps, and not asked for. *"The tramway publishes its
  closures."* Likewise.
- **0 Nothing right**: *"It was never closed."* The opposite. *"I cannot find this."* It declines, though there is an
  answer.

## Hard cases

- **Additional information** that the reference lacks does not lower the grade, unless it contradicts the reference.
- **A contradiction within the answer** (*"on 19 May, that is, in June"*): the point counts as wrong.
- **Rounding** that changes nothing for the asker costs one grade at most.
- **A refusal** is 0. Where the reference itself says that there is no answer, a refusal that says the same is 10.
- **A yes-or-no question** answered rightly for a wrong reason is 4 at most.
- **Format, length and style** never count.
"""

_TITLES = {
    0: ("Nothing right", "Wrong throughout, or it declines although there is an answer."),
    1: ("Only the subject", "About the subject, and none of the points is there."),
    2: ("A trace right", "A trace of a point, or only what is near it."),
    3: ("A quarter right", "About a quarter of the points, the rest wrong or missing."),
    4: ("Less right than wrong", "Fewer points right than wrong or missing."),
    5: ("Half right", "Half of the points are there."),
    6: ("More right than wrong", "Most points are there, and one of weight is wrong or missing."),
    7: ("The main points right", "What matters is there; one lesser point is missing or only near."),
    8: ("Right, less exact", "All points are there, one of them vaguely."),
    9: ("Right but for a trifle", "All points are there; something small about one is off."),
    10: ("All right", "All points of the reference, in whatever words."),
}

answer_grading = PROTOCOLS.register(
    Protocol(
        name="answer_grading",
        version=2,
        title="Answer grading",
        summary="How correct is the answer against the reference, from 0 to 10?",
        guidelines=_GUIDELINES,
        criteria=[
            Grade(
                name="grade",
                title="Grade",
                help="0–3 incorrect, 4–6 partly correct, 7–10 correct",
                judged_by=[Material.REFERENCES],
                labels=[
                    Label(value=grade, title=title, key="t" if grade == 10 else str(grade), definition=definition)
                    for grade, (title, definition) in _TITLES.items()
                ],
                tolerance=1,
                derived=[
                    Bands(
                        name="grade_band",
                        title="Band",
                        bands=[
                            Band(value="incorrect", title="Incorrect", low=0),
                            Band(value="partial", title="Partly correct", low=4),
                            Band(value="correct", title="Correct", low=7),
                        ],
                    )
                ],
            )
        ],
        steps=[
            Step(
                name="answer_and_reference",
                title="Answer and reference",
                shows=[Material.QUESTION, Material.REFERENCES, Material.ANSWER],
                criteria=["grade"],
            )
        ],
        overlap=2,
        agreement=(
            "Ordinal Krippendorff's alpha and quadratically weighted kappa of the grades; grades one apart count as "
            "agreed when settling. Means by system, and the share of each band."
        ),
        on_fail="Nothing is revised: grades are read beside the systems, and set against automatic scores.",
        invalidates={"question": ["*"], "answer": ["*"], "references": ["*"]},
        source="CDocRAG-Bench, section 4.1 and figure 9.",
    )
)
