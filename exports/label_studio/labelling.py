"""A protocol as a labelling config: what of it one project there can ask, in which lists, and what is lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotators.criteria import Criterion
from annotators.criteria.material import Material
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from exports.label_studio.controls import ANSWER, Place, control_of, inert
from exports.label_studio.lost import Lost
from exports.label_studio.xml import Tag

INDEX = "{{idx}}"
OF_ITEM = (TargetKind.ITEM, TargetKind.PAIR)
BY_LABELS = ("choices",)
"""The types of controls that a condition there can be about."""

PREFIX = "shown-"

_UNITS = {
    TargetKind.EVIDENCE: "Evidence",
    TargetKind.CLAIM: "Claims",
    TargetKind.CLAIM_EVIDENCE: "Each claim against each evidence unit",
    TargetKind.CLAIM_CONTEXT: "Each claim against all of the evidence",
    TargetKind.CLAIM_ANSWER: "Each claim of the reference answer against the answer",
    TargetKind.CLAIM_REFERENCE: "Each claim of the answer against the reference answer",
    TargetKind.BLOCK: "Paragraphs of the answer",
    TargetKind.PAGE: "Pages",
    TargetKind.IMAGE: "Images",
    TargetKind.HOP: "Hops",
}

_SHOWN: dict[Material, str] = {
    Material.QUESTION: "Question",
    Material.HOPS: "Hops",
    Material.ANSWER: "Answer",
    Material.REFERENCES: "Reference answers",
    Material.SYSTEM: "System",
    Material.SCORES: "Scores",
    Material.PAGE_LABELS: "Pages that came as evidence",
}
"""The materials that are texts, in the order in which they stand, each with its heading."""

_LISTED = (Material.EVIDENCE, Material.CLAIMS, Material.IMAGES)


@dataclass
class Group:
    """Criteria that are asked of the same units: the name of their list in a task, and what the units are."""

    name: str
    target: TargetKind
    criteria: list[Criterion] = field(default_factory=list)


@dataclass
class Labelling:
    """A protocol as it is asked there: its config, the steps (from 0) that are asked together, and what is lost."""

    protocol: Protocol
    steps: list[int]
    shows: set[Material]
    criteria: list[Criterion]
    groups: list[Group]
    lost: Lost
    config: str = ""
    about: str = ""
    """The name of the object that criteria of the item are about."""

    def control_name(self, criterion: Criterion) -> str:
        """The name of a criterion's control, with a place for the number of the unit where it has many."""
        return criterion.name if criterion.target in OF_ITEM else f"{criterion.name}-{INDEX}"

    def listed(self) -> list[Material]:
        """The materials that are lists and that no criterion is about, so that they are only shown."""
        asked = {group.target for group in self.groups}
        by_target = {Material.EVIDENCE: TargetKind.EVIDENCE, Material.CLAIMS: TargetKind.CLAIM,
                     Material.IMAGES: TargetKind.IMAGE}  # fmt: skip
        return [one for one in _LISTED if one in self.shows and by_target[one] not in asked]

    def texts(self) -> list[Material]:
        """The materials that are texts."""
        return [one for one in _SHOWN if one in self.shows]


def labelling_of(protocol: Protocol) -> Labelling:
    """The protocol as one project there asks it.

    A task there is one page, and all that it shows is sent at once. So only those steps are asked of which everything
    may be known from the beginning; later ones, and what they show, are lost rather than told too early.
    """
    lost = Lost()
    steps = _steps_at_once(protocol)
    criteria: list[Criterion] = []
    for number, step in enumerate(protocol.steps):
        for criterion in protocol.step_criteria(number):
            if number not in steps:
                lost.add(
                    f"Step {step.title!r} shows what the steps before it hide, and a task there is sent as a whole: "
                    f"{criterion.name!r} is not asked"
                )
            elif control_of(criterion) is None:
                lost.add(f"There is no control there for {criterion.name!r}, a criterion of kind {criterion.kind!r}")
            else:
                criteria.append(criterion)
    shows = protocol.shown_at(0) - {Material.SUGGESTIONS}
    found = Labelling(protocol, steps, shows, criteria, _groups(criteria), lost)
    if len(steps) > 1:
        lost.add(
            f"The first {len(steps)} steps are one page there: what is labelled first can be changed until the end"
        )
    found.config = _config(found)
    _say_what_is_lost(found)
    return found


def _steps_at_once(protocol: Protocol) -> list[int]:
    """The first step, and those after it that show nothing more."""
    found = [0]
    known = set(protocol.steps[0].shows)
    for number in range(1, len(protocol.steps)):
        parts = {Material.CLAIMS, Material.IMAGES}
        more = any(criterion.needs() & parts for criterion in protocol.step_criteria(number))
        if not set(protocol.steps[number].shows) <= known or more:
            break
        found.append(number)
    return found


def _groups(criteria: Sequence[Criterion]) -> list[Group]:
    by_units: dict[tuple[object, ...], Group] = {}
    n: dict[TargetKind, int] = defaultdict(int)
    for criterion in criteria:
        if criterion.target in OF_ITEM:
            continue
        only = criterion.only.model_dump_json() if criterion.only else ""
        key = (criterion.target, criterion.side, only, criterion.per_hop)
        if key not in by_units:
            n[criterion.target] += 1
            number = n[criterion.target]
            name = f"units_{criterion.target.value}" + (f"_{number}" if number > 1 else "")
            by_units[key] = Group(name, criterion.target)
        by_units[key].criteria.append(criterion)
    return list(by_units.values())


def _say_what_is_lost(found: Labelling) -> None:
    lost, protocol = found.lost, found.protocol
    lost.add("Nobody can say there that they cannot judge, and why: a task is skipped as a whole")
    if protocol.consequences:
        lost.add("Rules between criteria are not checked there", len(protocol.consequences))
    for criterion in found.criteria:
        if criterion.rest is not None:
            lost.add("There is no key there that gives all units without a label the same one")
        if criterion.kind == "text" and criterion.model_dump().get("max_words"):
            lost.add(
                f"The limit of {criterion.model_dump()['max_words']} words of {criterion.name!r} is not kept there"
            )
    if found.shows & {Material.ANSWER, Material.REFERENCES, Material.EVIDENCE}:
        lost.add("Texts are shown as they are written: Markdown, tables and formulas are not drawn there")
    if Material.DOCUMENTS in found.shows and TargetKind.PAGE not in {group.target for group in found.groups}:
        lost.add("Documents are not shown there but for the pages that evidence or images point at")


# The config -----------------------------------------------------------------------------------------------------------


def _config(found: Labelling) -> str:
    view = Tag("View")
    keys = _free_keys(found)
    about = found.about = _texts(view, found)
    for material in found.listed():
        _repeat(view, f"listed_{material.value}", material.value.capitalize())
    for criterion in found.criteria:
        if criterion.target in OF_ITEM:
            _ask(view, found, criterion, Place(criterion.name, about, f"order_{criterion.name}", keys))
    for group in found.groups:
        inner = _repeat(view, group.name, _UNITS[group.target])
        for criterion in group.criteria:
            place = Place(found.control_name(criterion), f"{PREFIX}{group.name}-{INDEX}", f"order_{criterion.name}")
            _ask(inner, found, criterion, place, group)
    return view.written()


def _texts(view: Tag, found: Labelling) -> str:
    """Add what is read; the name of the object that criteria of the item are about."""
    names = []
    for material in found.texts():
        sides = found.protocol.about_pairs and material == Material.ANSWER
        for name, title in (("left", "Answer on the left"), ("right", "Answer on the right")) if sides else (
            (material.value, _SHOWN[material]),
        ):  # fmt: skip
            view.add("Header", value=title, size="4")
            view.add("Text", name=f"{PREFIX}{name}", value=f"${name}", granularity="symbol")
            names.append(f"{PREFIX}{name}")
    if not names:
        view.add("Text", name=f"{PREFIX}about", value="$about")
        names.append(f"{PREFIX}about")
    return ANSWER if ANSWER in names else names[0]


def _repeat(view: Tag, name: str, title: str) -> Tag:
    view.add("Header", value=title, size="4")
    repeater = view.add("Repeater", on=f"${name}", indexFlag=INDEX)
    inner = repeater.add("View", style="border-top: 1px solid #ccc; padding: 0.6em 0")
    inner.add("HyperText", name=f"{PREFIX}{name}-{INDEX}", value=f"${name}[{INDEX}].html", inline="true")
    return inner


def _ask(view: Tag, found: Labelling, criterion: Criterion, place: Place, group: Group | None = None) -> None:
    control = control_of(criterion)
    assert control is not None
    condition = _condition(found, criterion, group)
    box = view.add("View", **condition) if condition else view.add("View")
    box.add("Header", value=inert(criterion.title), size="5")
    if criterion.help:
        box.add("Header", value=inert(criterion.help), size="6", underline="false")
    control.write(box, criterion, place)


def _condition(found: Labelling, criterion: Criterion, group: Group | None) -> dict[str, str]:
    """The attributes of a view that is only seen under the criterion's condition; none where it has none."""
    if criterion.when is None:
        return {}
    other = next((one for one in found.criteria if one.name == criterion.when.criterion), None)
    near = other is not None and (other.target in OF_ITEM or (group is not None and other in group.criteria))
    control = None if other is None else control_of(other)
    values = [str(value) for value in criterion.when.values]
    if other is None or not near or control is None or control.type not in BY_LABELS or any("," in v for v in values):
        found.lost.add(f"{criterion.name!r} is always asked there, not only where {criterion.when.criterion!r} says so")
        return {}
    return {
        "visibleWhen": "choice-selected",
        "whenTagName": found.control_name(other),
        "whenChoiceValue": ",".join(values),
    }


def _free_keys(found: Labelling) -> frozenset[str]:
    """The hot keys that one label of the item's criteria has: there, all of a page's are at hand at once."""
    n: dict[str, int] = defaultdict(int)
    for criterion in found.criteria:
        if criterion.target in OF_ITEM:
            for label in criterion.label_list():
                n[label.key] += 1
    return frozenset(key for key, times in n.items() if times == 1 and key)
