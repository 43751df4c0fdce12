"""Studies that nobody thought of: items, a protocol of some criteria of every kind, and what several people said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import orjson
from hypothesis import strategies as st

from annotators.criteria import Criterion, Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.number import Number
from annotators.criteria.order import Order
from annotators.criteria.place import Place
from annotators.criteria.several import Several
from annotators.criteria.spans import Spans
from annotators.criteria.text import Text
from annotators.items.normal import Normal, read_item
from annotators.items.targets import TargetKind as Target
from annotators.items.targets import Units
from annotators.protocols import Material, Protocol, Step
from db.annotating.presentations import Materials, Wire
from db.annotating.presentations import units_of as units_of_item
from exports.converting import units_of
from exports.formats._writing import OPEN, Given, Judged, PairOut, SettledOut, StudyOut, parts_of
from tests.exports.formats.any_items import ITEMS, TEXT
from tests.makers import tiny_protocol

YES_NO = [Label(value="yes"), Label(value="no")]
WORDS = [Label(value="low"), Label(value="a b"), Label(value="=1+1", title="High")]
SIDES = [Label(value=n, title=f"side {n}") for n in (-1, 0, 1)]
FIVE = [Label(value=n) for n in range(1, 6)]

ASKED: list[Criterion] = [
    Choice(name="right", title="Right", labels=YES_NO),
    Choice(name="used", title="Used", target=Target.EVIDENCE, labels=YES_NO),
    Choice(name="entailed", title="Entailed", target=Target.CLAIM_EVIDENCE, labels=WORDS),
    Choice(name="evidence_page", title="Page", target=Target.PAGE, labels=YES_NO, per_hop=True),
    Grade(name="agree", title="Agree", labels=FIVE),
    Grade(name="better", title="Better", labels=SIDES),
    Grade(name="sure", title="Sure", target=Target.CLAIM, labels=WORDS),
    Grade(name="relevance", title="Relevance", target=Target.PAGE, labels=FIVE),
    Number(name="share", title="Share", minimum=0, maximum=1, step=0.25),
    Number(name="steps", title="Steps", target=Target.HOP, minimum=-5, maximum=5),
    Several(name="problems", title="Problems", labels=WORDS),
    Several(name="parts", title="Parts", target=Target.EVIDENCE, labels=WORDS, required=False),
    Order(name="order", title="Order"),
    Place(name="place", title="Place"),
    Spans(name="wrong", title="Wrong", labels=WORDS),
    Text(name="why", title="Why", required=False),
    Text(name="seen", title="Seen", target=Target.IMAGE),
]
"""A criterion of every kind and, between them, every target of an item's."""

OF_PAIRS: list[Criterion] = [
    Grade(name="better", title="Better", target=Target.PAIR, labels=SIDES),
    Number(name="by", title="By how much", target=Target.PAIR, minimum=-9, maximum=9),
    Number(name="both", title="Both", target=Target.PAIR, minimum=0, maximum=9),
    Choice(name="same", title="Same", labels=YES_NO),
    Text(name="reason", title="Reason", target=Target.PAIR, required=False),
]

REMARK = st.one_of(
    TEXT,
    st.sampled_from(
        ['[{"start": 1}]', '[{"a": "start"', '[{"start": 0, "end": 99, "label": "low"}]', "[1]", "null", "1"]
    ),
)
"""What somebody writes, which may look like a value of another kind."""

AS_EXPORTED = ITEMS.map(lambda items: orjson.loads(orjson.dumps(items)))
"""Items as formats are given them, of whose normal form each list is one of JSON."""

TIME = st.sampled_from([None, "2026-11-25T02:51:40Z", "2026-11-25T02:51:40.250000Z"])


def value_of(criterion: Criterion, item: Normal) -> st.SearchStrategy[Any] | None:
    """The values of a criterion for an item; None where it has none."""
    labels = [label.value for label in criterion.label_list()]
    answer = str(item["answer"])
    shows = [place for place, sign in enumerate(answer) if not sign.isspace()]
    match criterion:
        case Several():
            return st.lists(st.sampled_from(labels), unique=True).map(criterion.check)
        case Order():
            return st.permutations([image["key"] for image in parts_of(item, "images")])
        case Place():
            return st.sampled_from(["nowhere", "block:1"])
        case Number():
            most = int((criterion.maximum - criterion.minimum) / criterion.step)
            return st.integers(0, most).map(lambda n: criterion.check(criterion.minimum + n * criterion.step))
        case Text():
            return REMARK.map(criterion.check)
        case Spans():
            if not shows:
                return None
            ends = st.sampled_from(shows)
            stretch = st.builds(_stretch, ends, ends, st.sampled_from(labels), st.just(answer))
            return st.lists(stretch, max_size=1).map(criterion.check)
    return st.sampled_from(labels).map(criterion.check)


def _stretch(one: int, other: int, label: str, answer: str) -> dict[str, Any]:
    start, end = min(one, other), max(one, other) + 1
    return {"start": start, "end": end, "label": label, "text": answer[start:end]}


def protocol_of(criteria: Sequence[Criterion]) -> Protocol:
    """A protocol of one step that asks all of these and shows whatever they need."""
    needed = {material for criterion in criteria for material in criterion.needs()}
    shows = [material for material in Material if material in needed | {Material.QUESTION, Material.ANSWER}]
    names = [criterion.name for criterion in criteria]
    step = Step(name="s", title="S", shows=shows, criteria=names)
    return tiny_protocol(name="any", criteria=list(criteria), steps=[step])


@st.composite
def studies(draw: st.DrawFn, protocol: Protocol | None = None, people: int = 3) -> StudyOut:
    """A study of some items by up to so many people, by the protocol or one of up to five of the criteria."""
    items = draw(AS_EXPORTED)
    if protocol is None:
        asked = st.lists(st.sampled_from(ASKED), min_size=1, max_size=5, unique_by=lambda one: one.name)
        protocol = protocol_of(draw(asked))
    said = {item["id"]: _said(draw, item, protocol.criteria, people) for item in items}
    asked = protocol.criteria_by_name()
    judged = [
        Judged(item, said[item["id"]], units_of(said[item["id"]]), n, asked=asked) for n, item in enumerate(items, 1)
    ]
    return study(protocol, judged)


def _said(draw: st.DrawFn, item: Normal, asked: Sequence[Criterion], people: int) -> list[Given]:
    found = []
    for criterion in asked:
        values = value_of(criterion, item)
        for target in criterion.targets(_units_of(item)) if values is not None else ():
            for who in draw(st.lists(st.sampled_from(["ada", "b/e n", "../chloé"][:people]), unique=True)):
                remark = draw(st.one_of(st.none(), REMARK))
                found.append(Given(who, criterion.name, target, draw(values), draw(TIME), remark))
    return found


def _units_of(item: Normal) -> Units:
    """Every part of an item that a label can be about, shown by a protocol or not; of pages those of its evidence."""
    content = read_item(item)
    pages = dict.fromkeys((unit.document, page) for unit in content.evidence for page in unit.pages if unit.document)
    found = units_of_item(Materials(0, content, ()), Wire(content, roles_shown=True))
    return replace(found, pages=tuple(pages))


@st.composite
def studies_of_pairs(draw: st.DrawFn) -> StudyOut:
    """A study of pairs of items, either of which may stand left before the annotators."""
    items = draw(AS_EXPORTED.filter(lambda found: len(found) > 1))
    asked = [OF_PAIRS[0], *draw(st.lists(st.sampled_from(OF_PAIRS[1:]), unique_by=lambda one: one.name))]
    pairs = [PairOut(one["id"], other["id"], draw(st.booleans())) for one, other in pairwise(items)]
    judged = []
    for item in items:
        said = []
        for pair in pairs:
            for who in draw(st.lists(st.sampled_from(["ada", "ben"]), unique=True)) if pair.item == item["id"] else ():
                for criterion in asked:
                    target = "pair" if criterion.target == Target.PAIR else "item"
                    value = draw(value_of(criterion, item))  # type: ignore[arg-type]
                    said.append(Given(who, criterion.name, target, value, draw(TIME), None, pair.other))
        judged.append(Judged(item, said, units_of(said)))
    return study(protocol_of(asked), judged, pairs)


def study(protocol: Protocol, judged: Sequence[Judged], pairs: Sequence[PairOut] = ()) -> StudyOut:
    """As formats take it; items are called by numbers where people judge them."""
    numbers = {one.item["id"]: f"n{number}" for number, one in enumerate(judged)}
    known_as: Callable[[str], str] = numbers.__getitem__
    return StudyOut("any", protocol, lambda: iter(judged), known_as=known_as, pairs=lambda: pairs)


def settled(*studies: StudyOut) -> SettledOut:
    """The items of the first study with the final labels of all of these, which are called by numbers from 0."""

    def judged() -> Iterator[Judged]:
        for rows in zip(*(study.judged() for study in studies), strict=True):
            units = [unit._replace(study=str(n)) for n, row in enumerate(rows) for unit in row.units]
            yield rows[0]._replace(labels=(), units=[unit for unit in units if unit.how != OPEN])

    return SettledOut("any", {str(n): study.protocol for n, study in enumerate(studies)}, judged)
