"""A protocol as labelling configs: a project there for each step that shows more, their lists, and what is lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotators.criteria import Condition, Criterion
from annotators.criteria.material import Material
from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from exports.label_studio.controls import ANSWER, Place, alias_of, control_of, inert
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

_PAIR = (("left", "Answer A (left)"), ("right", "Answer B (right)"))
"""The two answers of a pair, side by side: their fields and their headings."""

_LISTED = (Material.EVIDENCE, Material.CLAIMS, Material.IMAGES)


@dataclass
class Group:
    """Criteria that are asked of the same units: the name of their list in a task, and what the units are."""

    name: str
    target: TargetKind
    criteria: list[Criterion] = field(default_factory=list)


@dataclass
class Labelling:
    """What one project there asks of a protocol: its config, the steps (from 0) that are asked together, what is lost.

    `number` is that of the project among those of the protocol, from 1; `lost` is that of all of them.
    """

    protocol: Protocol
    number: int
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

    @property
    def title(self) -> str:
        """What the first of its steps is called."""
        return self.protocol.steps[self.steps[0]].title


def labelling_of(protocol: Protocol) -> Labelling:
    """The first of `labellings_of`: for most protocols the only one."""
    return labellings_of(protocol)[0]


def labellings_of(protocol: Protocol) -> list[Labelling]:
    """The protocol as projects there ask it: one for its first steps, and one from each step on that shows more.

    A task there is one page, and all that it shows is sent at once. So the steps of one project are those of which
    everything may be known from the beginning; the tasks of the next are made when its steps are labelled.
    InvalidInput where there is no control for anything that the protocol asks.
    """
    lost, found = Lost(), list[Labelling]()
    for steps in _steps_at_once(protocol):
        criteria = []
        for criterion in (one for number in steps for one in protocol.step_criteria(number)):
            if control_of(criterion) is None:
                lost.add(f"There is no control there for {criterion.name!r}, a criterion of kind {criterion.kind!r}")
            else:
                criteria.append(criterion)
        if criteria:
            shows = protocol.shown_at(steps[0]) - {Material.SUGGESTIONS}
            found.append(Labelling(protocol, len(found) + 1, steps, shows, criteria, _groups(criteria), lost))
    if not found:
        raise InvalidInput(
            f"Nothing that the protocol {protocol.name!r} asks can be asked there: " + " ".join(lost.lines())
        )
    for labelling in found:
        labelling.config = _config(labelling)
    _say_what_is_lost(protocol, found, lost)
    return found


def _steps_at_once(protocol: Protocol) -> list[list[int]]:
    """The steps (from 0) of each project: one that shows more, and those after it that show nothing more."""
    found: list[list[int]] = []
    known: set[Material] = set()
    parts = {Material.CLAIMS, Material.IMAGES}
    for number, step in enumerate(protocol.steps):
        more = any(criterion.needs() & parts for criterion in protocol.step_criteria(number))
        if found and set(step.shows) <= known and not more:
            found[-1].append(number)
        else:
            found.append([number])
        known |= set(step.shows)
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


def _say_what_is_lost(protocol: Protocol, found: Sequence[Labelling], lost: Lost) -> None:
    lost.add("Nobody can say there that they cannot judge, and why: a task is skipped as a whole")
    if protocol.consequences:
        lost.add("Rules between criteria are not checked there", len(protocol.consequences))
    for one in found:
        if len(one.steps) > 1:
            names = ", ".join(repr(protocol.steps[number].title) for number in one.steps)
            lost.add(f"The steps {names} are one page there: what is labelled first can be changed until the end")
    if len(found) > 1:
        lost.add("What somebody said in an earlier step is not shown to them beside the next one")
    for criterion in (criterion for one in found for criterion in one.criteria):
        if criterion.rest is not None:
            lost.add("There is no key there that gives all units without a label the same one")
        if criterion.kind == "spans":
            lost.add(f"Stretches of {criterion.name!r} may be marked there so that they overlap, which is refused here")
        if criterion.kind == "text" and criterion.model_dump().get("max_words"):
            lost.add(
                f"The limit of {criterion.model_dump()['max_words']} words of {criterion.name!r} is not kept there"
            )
    shown = {material for one in found for material in one.shows}
    if shown & {Material.ANSWER, Material.REFERENCES, Material.EVIDENCE}:
        lost.add("Texts are shown as they are written: Markdown, tables and formulas are not drawn there")
    if any(_shows_documents_only_in_part(one) for one in found):
        lost.add("Documents are not shown there but for the pages that evidence or images point at")
    if protocol.first_step_showing(Material.SUGGESTIONS) is not None:
        lost.add("What models propose is not shown there, unless it is sent as predictions")


def _shows_documents_only_in_part(one: Labelling) -> bool:
    return Material.DOCUMENTS in one.shows and TargetKind.PAGE not in {group.target for group in one.groups}


_STYLE = '[class*="richtext__"] { unicode-bidi: plaintext; text-align: start }'
"""Texts that are written from right to left stand so."""

_SMALL = "font-size: 14px; font-weight: 400; margin: 0"


# The config -----------------------------------------------------------------------------------------------------------


def _config(found: Labelling) -> str:
    view = Tag("View")
    view.add("Style").text = _STYLE
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
        row = view.add("View", style="display: flex; gap: 1em") if sides else view
        for name, title in _PAIR if sides else ((material.value, _SHOWN[material]),):
            box = row.add("View", style="flex: 1 1 0; min-width: 0") if sides else row
            box.add("Header", value=title, size="4")
            box.add("Text", name=f"{PREFIX}{name}", value=f"${name}", granularity="symbol")
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
        _note(box, criterion.help)
    if criterion.when is not None and not condition:
        _note(box, _in_words(found.protocol, criterion.when))
        criterion = criterion.model_copy(update={"required": False})
    control.write(box, criterion, place)


def _note(box: Tag, text: str) -> None:
    """Add what is read beside a title: smaller, as all sizes of headers below 4 look alike there."""
    box.add("Header", value=inert(text), size="6", underline="false", style=_SMALL)


def _in_words(protocol: Protocol, condition: Condition) -> str:
    """When something is asked, for a page that cannot hide it otherwise."""
    other = protocol.criterion(condition.criterion)
    called = {str(label.value): label.title or str(label.value) for label in other.label_list()}
    values = " or ".join(f"“{called.get(str(value), str(value))}”" for value in condition.values)
    return f"Only where “{other.title}” is {values}."


def _condition(found: Labelling, criterion: Criterion, group: Group | None) -> dict[str, str]:
    """The attributes of a view that is only seen under the criterion's condition; none where it has none."""
    if criterion.when is None:
        return {}
    other = next((one for one in found.criteria if one.name == criterion.when.criterion), None)
    near = other is not None and (other.target in OF_ITEM or (group is not None and other in group.criteria))
    control = None if other is None else control_of(other)
    values = [str(value) for value in criterion.when.values]
    if other is None or not near or control is None or control.type not in BY_LABELS or any("," in v for v in values):
        found.lost.add(
            f"{criterion.name!r} always stands there, with the words when it is asked: only where "
            f"{criterion.when.criterion!r} says so"
        )
        return {}
    return {
        "visibleWhen": "choice-selected",
        "whenTagName": found.control_name(other),
        "whenChoiceValue": ",".join(map(alias_of, values)),
    }


def _free_keys(found: Labelling) -> frozenset[str]:
    """The hot keys that one label of the item's criteria has: there, all of a page's are at hand at once."""
    n: dict[str, int] = defaultdict(int)
    for criterion in found.criteria:
        if criterion.target in OF_ITEM:
            for label in criterion.label_list():
                n[label.key] += 1
    return frozenset(key for key, times in n.items() if times == 1 and key)
