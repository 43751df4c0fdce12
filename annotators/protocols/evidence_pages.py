"""Evidence pages: which pages of the document does the question need, for a multi-hop question hop by hop."""

from __future__ import annotations

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.derived.unit_set import UnitSet
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols.base import PROTOCOLS, Protocol, Step

_GUIDELINES = """\
You see a question and a whole document. Decide for **every page** whether it is evidence for this question. A question
that takes several steps lists them as hops: then every page is judged anew for each hop, with only that hop in mind.
What comes out is a chain: the pages of the first hop, of the second, and so on.

Leaf through the document once before you label, or search it. Give the pages that are evidence their label, then all
others *Not evidence* at once: the button below the pages, and its key, do that for the hop at hand.

The examples are about one made-up document, the 2022 report of the Ferrand foundries, and a question of two hops. Hop
1: *"In which year did Ferrand close its second foundry?"* Hop 2: *"Which division used most energy per tonne in that
year?"*

## Evidence

The page says something that the answer to the question, or to the hop at hand, is **taken or worked out from**.

- *"The second foundry was closed in March 2021"*, on page 9, is evidence for hop 1: the answer stands there.
- *"Table 7: energy per tonne, castings 1.62, rolled products 1.71"*, on page 31, is evidence for hop 2: the answer is
  read off it.
- A fact that stands on two pages makes both evidence: either of them could support the answer.
- A table or a text that runs over two pages: each page that holds a part which is needed. The page with the heads of
  the columns is needed where the numbers cannot be read without it.
- A figure that the answer is read from, also where its text does not repeat the number.
- If all of several pages are needed together (a sum, a comparison), each of them is evidence.

## Not evidence

Everything else, however close it comes.

- *"The closure of the second foundry cost 18 million"*, on page 40, names the foundry and not the year.
- *"Energy per tonne fell in castings"*, on page 30, is about the right thing, and which division used most does not
  follow from it.
- Contents, indexes and headings that only say where something stands.
- A page that is evidence for **another hop**, and says nothing for this one: page 9 in hop 2.
- A page that you need only to understand a word, unless the answer depends on what the word means.

## When it is hard

- The document may not answer the question at all. Then no page is evidence, and that is a result, not a gap.
- Do not look for as many pages as you think there should be. The number of pages is not given.
- What you know from elsewhere does not make a page evidence.
- If a page cannot be read, or is missing, take *Cannot judge* for it and say so.
"""

evidence_pages = PROTOCOLS.register(
    Protocol(
        name="evidence_pages",
        title="Evidence pages",
        summary="Which pages of the document does the question need, hop by hop?",
        guidelines=_GUIDELINES,
        criteria=[
            Choice(
                name="evidence_page",
                title="This page is",
                help="For the hop at hand, where there are hops",
                target=TargetKind.PAGE,
                per_hop=True,
                rest="not_evidence",
                positive="evidence",
                labels=[
                    Label(
                        value="evidence",
                        title="Evidence",
                        definition="The answer, or the hop's answer, is taken or worked out from what it says.",
                    ),
                    Label(
                        value="not_evidence",
                        title="Not evidence",
                        definition="Nothing on it is needed, however close its subject comes.",
                    ),
                ],
                derived=[
                    UnitSet(name="evidence_set", title="Evidence pages of the question", label="evidence"),
                    UnitSet(name="hop_evidence_set", title="Evidence pages of the hop", label="evidence", of="hop"),
                ],
            )
        ],
        steps=[
            Step(
                name="pages",
                title="Every page",
                shows=[Material.QUESTION, Material.HOPS, Material.DOCUMENTS],
                criteria=["evidence_page"],
            )
        ],
        overlap=2,
        agreement=(
            "Sets of pages, of the question and of each hop, by Jaccard, Krippendorff's alpha with MASI distance and "
            "F1; page by page alpha and specific agreement beside it, since most pages are no evidence for anybody."
        ),
        on_fail="Nothing is revised: the pages that are settled become the evidence of the item.",
        invalidates={"question": ["*"], "hops": ["*"], "documents": ["*"]},
        source="CDocRAG-Bench, sections 3.2 and 3.4 and appendix C.2.2.",
    )
)
