"""Designs of studies that nobody thought of: of every field of a design random values that a project can carry out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from annotators.asking.asides import ASIDES
from annotators.asking.planting import BELOW
from annotators.asking.rounds import ADJUDICATIONS
from annotators.criteria.number import Number
from annotators.criteria.text import Text
from annotators.designing.arms import ALLOTS, ITEMS, PEOPLE, Arm
from annotators.designing.design import BALANCED, LONGEST_LEASE, RULES, StudyDesign
from annotators.designing.known import Gold, KnownItems, Qualification, Repeats, RightLabel
from annotators.designing.own_figures import OWN_FIGURES
from annotators.designing.phases import Phases
from annotators.designing.talk import TALKS
from annotators.designing.values import MOST_SHOWN
from annotators.items.prioritised import FIRSTS
from annotators.items.sampling import BY_SCORE, ORDERS
from annotators.protocols import PROTOCOLS, Protocol
from tests.makers import tiny_protocol

PEOPLE_NAMED = tuple(f"ann{number}" for number in range(6))
ITEMS_NAMED = tuple(f"i{number}" for number in range(12))
KNOWN = tuple(f"known{number}" for number in range(4))
SYSTEMS = ("s0", "s1")
SETTLED = "settled"
JUDGE = "tiny-judge plain@1"
SCORE = "phrase_recall"

TINY = tiny_protocol()

_LETTERS = st.characters(categories=("Lu", "Ll", "Lo"), exclude_characters="\u0149")
_WORD = st.text(_LETTERS, min_size=1, max_size=12)
_TEXT = st.text(st.one_of(_LETTERS, st.sampled_from(" #:-'\"\n[]{}&*,é")), min_size=1, max_size=60)
_WHOLE = st.integers(1, MOST_SHOWN)


def _share(low: float = 0.0, high: float = 1.0, *, above: bool = False) -> st.SearchStrategy[float]:
    return st.floats(low, high, exclude_min=above, allow_subnormal=False).filter(
        lambda share: share == 0 or share > 1e-9
    )


def _some(of: tuple[str, ...], least: int = 1, most: int | None = None) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of these, each once, in any order."""
    return st.lists(st.sampled_from(of), min_size=least, max_size=most, unique=True).map(tuple)


def _labels(items: tuple[str, ...]) -> st.SearchStrategy[tuple[RightLabel, ...]]:
    one = {"value": st.sampled_from(["yes", "no"]), "explanation": st.none() | _WORD}
    return st.tuples(*(st.builds(RightLabel, item=st.just(item), criterion=st.just("right"), **one) for item in items))


_QUESTIONS = st.one_of(
    st.builds(Text, name=st.just("why"), title=_WORD, required=st.booleans()),
    st.builds(Number, name=st.just("years"), title=_WORD, maximum=st.integers(60, 90)),
).map(lambda asked: (asked,))

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "quota": _WHOLE.map(lambda n: max(n, 500)),
    "quotas": st.dictionaries(st.sampled_from(PEOPLE_NAMED[:4]), st.integers(500, MOST_SHOWN), min_size=1),
    "outside": st.integers(1, 5),
    "queue": st.just(BALANCED),
    "overlap": st.integers(1, 2),
    "part": _share(above=True),
    "part_overlap": st.just(3),
    "most_overlap": st.just(4),
    "rule": st.sampled_from(RULES),
    "suggestions": st.sampled_from(["before", "after", "never"]),
    "suggested_by": st.just(JUDGE),
    "ask": _some(tuple(ASIDES)),
    "lease_minutes": st.integers(1, LONGEST_LEASE),
    "deadline": st.datetimes(datetime(2999, 1, 1), datetime(3999, 1, 1)).map(lambda at: at.replace(tzinfo=UTC)),
    "show_names": st.just(True),
    "allow_own_adjudication": st.just(True),
    "separate_revisers": st.just(True),
    "adjudication": st.sampled_from(ADJUDICATIONS),
    "review_agreed": _share(),
    "talk": st.sampled_from(TALKS),
    "own_figures": st.sampled_from(list(OWN_FIGURES)),
    "phases": st.builds(Phases, consent=_TEXT, before=_QUESTIONS, after=_QUESTIONS),
    "gold": st.builds(
        Gold,
        file=st.none() | st.just("gold.csv"),
        labels=_labels(KNOWN[:2]),
        settled_in=st.none() | st.just(SETTLED),
        rate=_share(0, 0.25),
        mark=_share(above=True),
        mark_after=_WHOLE,
        below=st.sampled_from(BELOW),
    ),
    "repeats": st.builds(Repeats, rate=_share(0, 0.25), after=_WHOLE),
    "qualification": st.builds(
        Qualification,
        file=st.none() | st.just("qualify.csv"),
        labels=_labels(KNOWN[2:]),
        mark=_share(),
        tries=st.integers(1, 20),
    ),
    "arms": st.tuples(
        st.builds(Arm, name=st.just("a"), suggestions=st.just("never"), overlap=st.just(1)),
        st.builds(
            Arm,
            name=_WORD.filter(lambda name: name != "a"),
            protocol=st.just("ambiguity"),
            order=st.sampled_from(["given", "shuffled"]),
            rule=st.sampled_from(RULES),
            ask=_some(tuple(ASIDES)),
            talk=st.sampled_from(TALKS),
        ),
    ),
    "allot": st.sampled_from(ALLOTS),
    "stop_at": _share(above=True),
    "items": _some(ITEMS_NAMED, 4),
    "where": st.lists(st.sampled_from(["system=s0", "system=s1", f"score:{SCORE}>=0", "topic!=x"]), min_size=1).map(
        tuple
    ),
    "with_documents": st.just(True),
    "keep_lacking": st.just(True),
    "one_per_question": st.booleans(),
    "pairs": st.just(SYSTEMS) | st.just(SYSTEMS[::-1]),
    "sample": st.integers(1, MOST_SHOWN),
    "per": _some(("system", "category", "topic")).map(",".join),
    "seed": st.integers(0, MOST_SHOWN),
    "order": st.sampled_from([order for order in ORDERS if order != BY_SCORE]),
    "order_score": st.sampled_from([SCORE, f"{SCORE}/correctness"]),
    "order_first": st.sampled_from(FIRSTS),
    "show_scores": st.just((SCORE,)),
    "drawn_with": st.none(),  # by the items, see `designs`
    "not_drawn_from": _some(("far1", "far2")),
    "draw_seed": st.integers(0, 2**40),
}
"""Values of each field but for the name, the protocol and the annotators."""

_TOGETHER: tuple[tuple[str, ...], ...] = (
    ("part", "part_overlap"),
    ("suggestions", "suggested_by"),
    ("order", "order_score", "order_first"),
    ("items", "drawn_with", "not_drawn_from", "draw_seed"),
    ("arms", "allot"),
)
"""Fields of which one says nothing without the others."""

_NOT_DRAWN = ("queue", "order_score", "arms", "drawn_with")
_PLAIN = (*_NOT_DRAWN, "pairs")
_BUILT_IN = ("suggestions", "gold", "qualification", "ask")

KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "plain": ("tiny", _PLAIN),
    "allotted": ("tiny", ("quota", "quotas", "outside", "most_overlap", "order_score", "arms", "pairs", "drawn_with")),
    "drawn": ("tiny", ("queue", "order_score", "arms", "pairs", "gold", "qualification")),
    "by score": ("tiny", ("queue", "arms", "pairs", "drawn_with", "items", "where", "one_per_question", "sample")),
    "in arms": (
        "tiny",
        (
            *_NOT_DRAWN[:2],
            "outside",
            "suggestions",
            "pairs",
            "drawn_with",
            "gold",
            "qualification",
            "part",
            "most_overlap",
        ),
    ),
    "scores": ("metric_agreement", (*_PLAIN, *_BUILT_IN)),
    "pairs": ("pairwise_preference", (*_NOT_DRAWN, *_BUILT_IN, "items", "where")),
}
"""Kinds of designs: their protocol, and the fields that do not go with the rest."""

_NEEDED = {
    "allotted": ("queue",),
    "drawn": ("items", "drawn_with", "not_drawn_from", "draw_seed"),
    "by score": ("order", "order_score", "order_first"),
    "in arms": ("arms",),
    "pairs": ("pairs",),
}


@dataclass(frozen=True)
class Designed:
    """A design with its protocol, which is left out of what a failing test prints."""

    design: StudyDesign
    protocol: Protocol

    def __repr__(self) -> str:
        return f"Designed({self.design.model_dump(exclude_defaults=True)})"


@st.composite
def designs(draw: st.DrawFn, *, kind: str | None = None, whole: bool = False) -> Designed:
    """A design that can be carried out, and its protocol; of a `whole` one all fields of its kind have other values."""
    kind = kind or draw(st.sampled_from(list(KINDS)))
    protocol_name, apart = KINDS[kind]
    left_out = {*apart, *(() if kind == "scores" else ("show_scores",))}
    left_out |= {name for group in _TOGETHER if left_out & set(group) - {"order", "items"} for name in group[1:]}
    fields: dict[str, Any] = {}
    for name, values in FIELDS.items():
        if name in _NEEDED.get(kind, ()) or (name not in left_out and (whole or draw(st.booleans()))):
            default = StudyDesign.model_fields[name].get_default(call_default_factory=True)
            fields[name] = draw(values.filter(lambda value, usual=default: value != usual or usual is None))
    for group in _TOGETHER:
        if not all(name in fields for name in group):
            for name in group[1:] if group[0] in ("order", "items") else group:
                fields.pop(name, None)
    if "gold" in fields and "items" not in fields:  # every item would be in the sample
        fields["gold"] = fields["gold"].model_copy(update={"settled_in": None})
    if "part" in fields and "overlap" not in fields:  # the protocol's may be as large as that of the part
        fields["overlap"] = draw(FIELDS["overlap"])
    if kind == "by score":
        fields["order"] = BY_SCORE
    if kind == "drawn":
        fields["drawn_with"] = {item: draw(_share(above=True)) for item in fields["items"]}
    if fields.get("suggestions") == "never":
        fields.pop("suggested_by", None)
    if fields.get("allot") == ITEMS:
        fields.pop("quotas", None)
    if kind == "in arms" and fields.get("allot", PEOPLE) == PEOPLE:
        fields["overlap"] = 1
    protocol = TINY if protocol_name == "tiny" else PROTOCOLS.get(protocol_name)
    team = draw(_some(PEOPLE_NAMED[4:], 0)) + draw(st.permutations(PEOPLE_NAMED[:4]).map(tuple))
    name = draw(_TEXT.map(str.strip).filter(lambda text: text[:1].isalpha() and "\n" not in text))
    return Designed(StudyDesign(name=name, protocol=protocol.name, annotators=team, **fields), protocol)


def unsaid(found: list[StudyDesign]) -> list[str]:
    """The fields of a design, and of its parts, that have their default in all of these."""
    said: dict[str, bool] = defaultdict(bool)
    for design in found:
        for name, other in _fields_of(design):
            said[name] |= other
    parts: tuple[type[BaseModel], ...] = (StudyDesign, Gold, Repeats, Qualification, RightLabel, Arm, Phases)
    wanted = {
        f"{part.__name__}.{name}" for part in parts for name, field in part.model_fields.items() if not field.exclude
    }
    return sorted(wanted - {name for name, there in said.items() if there} - _ONE_VALUE)


_ONE_VALUE = {"RightLabel.target", "RightLabel.other_item"}
"""What tests of gold items are about; no form has a place for it apart from the label that it is part of."""


def _fields_of(part: BaseModel) -> Iterator[tuple[str, bool]]:
    """Each field of a design and its parts, and whether it has another value than its default."""
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        yield f"{type(part).__name__}.{name}", value != field.get_default(call_default_factory=True)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Gold | KnownItems | Repeats | RightLabel | Arm | Phases):
                yield from _fields_of(inner)
