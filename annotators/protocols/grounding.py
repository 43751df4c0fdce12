"""Grounding: which units of evidence does the answer use or need."""

from __future__ import annotations

from annotators.criteria.material import Material
from annotators.protocols._verification import GROUNDING
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question, its answer, and the units of evidence one by one, each on its page. For every unit you decide by
itself: is there something in it that the answer uses, or that a right answer needs?

The pipeline that made the question has its own opinion, which you are not shown; yours is compared with it.

The examples belong to *"Which line was closed in spring 2023, and how punctual was it that year?" – "Line 2; 81 % of
its trams were on time."*, from a made-up review of a tramway:

- **E1**, a passage: "Line 2 was closed from 3 April to 19 May while its track was renewed."
- **E2**, a table of stops with a lift.
- **E3**, a bar chart of trams on time: Line 1 94 %, Line 2 81 %, Line 3 90 %.
- **E4**, a photograph of a tram of Line 2.

## Required

- E1: *"closed from 3 April"* names the line of the first half.
- E3: *"Line 2 81 %"* is the second half.

## Not required

- E2: *"Old Market no"* is from the same report, and nothing of it is used.
- E4: its caption *"A tram of Line 2 at Mill Bridge"* names the line, but tells neither when it was closed nor how
  punctual it was.

## Hard cases

- **The same thing twice**: a unit that repeats what another one says is *Required* as well. Each could carry the
  answer.
- **A figure** is judged with its caption and the text around it on the page.
- **A heading or a definition** that is needed to read another unit rightly is *Required*.
- **Same subject** is not enough: name the piece that is used, or take *Not required*.
- **The answer is wrong**: judge by what a right answer to the question would need.
- **A number that can be computed** from a unit makes it *Required*, if the answer has that number.

Where there are many units, label those that are needed and give all others *Not required* at once with the button below
them, or its key. Look at each of them first.
"""

grounding = PROTOCOLS.register(
    Protocol(
        name="grounding",
        title="Grounding",
        summary="Which units of evidence does the answer use or need?",
        guidelines=_GUIDELINES,
        criteria=[GROUNDING],
        steps=[
            Step(
                name="with_evidence",
                title="With answer and evidence",
                shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS],
                criteria=["grounding"],
            )
        ],
        overlap=3,
        agreement=(
            "Krippendorff's alpha and Cohen's kappa of each pair over (item, unit); accuracy of the pipeline's used "
            "flags against the settled labels."
        ),
        on_fail="No label fails; where people and the pipeline differ, the role of the unit is revised.",
        invalidates={"question": ["*"], "answer": ["*"], "evidence": ["*"], "documents": ["*"]},
        source="UniDoc-Bench, section 3.3 and appendix C.4.",
    )
)
