"""The form of a protocol that is being written: each field changes the draft at once, and what is wrong is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from annotators.asking.drafts import ID, Draft, Part, typed
from annotators.criteria.base import KINDS, USUAL_KIND, Criterion
from annotators.criteria.material import OF_ITEMS, Material
from annotators.criteria.suggested import OF_TARGET
from annotators.items.item import CLAIM_SIDES, EVIDENCE_KINDS, EVIDENCE_ROLES, IMAGE_SIDES
from annotators.items.targets import BY_EVIDENCE, OF_CLAIMS, OTHER_SIDE, TargetKind
from annotators.protocols.base import REVISABLE
from app import wording
from app.widgets.protocol_view import MATERIALS, TARGETS
from app.widgets.study_form import SOURCES

_SECTIONS = ("About", "Criteria", "Steps", "Rules")
_ALL = "*"


def draw(draft: Draft) -> None:
    """One section of the form at a time; the number of things to mend stands beside its name."""
    paths = {"Criteria": ("criteria",), "Steps": ("steps",), "Rules": ("consequences", "invalidates")}
    counts = {
        name: sum(bool(part.path) and part.path[0] in first for part in draft.problems) for name, first in paths.items()
    }
    counts["About"] = sum(
        not part.path or not any(part.path[0] in first for first in paths.values()) for part in draft.problems
    )
    section = st.segmented_control(
        "Part of the form",
        _SECTIONS,
        default="About",
        required=True,
        key="protocol-section",
        label_visibility="collapsed",
        format_func=lambda name: f"{name} ({counts[name]} to mend)" if counts[name] else name,
    )
    match section:
        case "Criteria":
            _criteria(draft)
        case "Steps":
            _steps(draft)
        case "Rules":
            _rules(draft)
        case _:
            _about(draft)


# Fields ---------------------------------------------------------------------------------------------------------------


class _Fields:
    """Widgets whose value is a field of one part of the draft."""

    def __init__(self, draft: Draft, part: Part) -> None:
        self.draft, self.part = draft, part

    def key(self, name: str) -> str:
        """The key of a field's widget; it stays with the part when that is moved."""
        return f"pf-{self.draft.number}-{self.part[ID]}-{name}"

    def _bound(self, name: str, shown: Any, back: Callable[[Any], Any]) -> dict[str, Any]:
        """What ties a widget to the field: the draft is what is true, and a change of the widget changes it."""
        key = self.key(name)
        st.session_state[key] = shown
        return {"key": key, "on_change": lambda: self.draft.put(self.part, name, back(st.session_state[key]))}

    def text(self, label: str, name: str, *, long: int = 0, back: Callable[[str], Any] = str, **more: Any) -> None:
        """A text, on several lines where `long` is a height."""
        value = self.part.get(name)
        bound = self._bound(name, "" if value is None else str(value), back)
        if long:
            st.text_area(label, height=long, **bound, **more)
        else:
            st.text_input(label, **bound, **more)

    def number(self, label: str, name: str, usual: float, *, whole: bool = True, **more: Any) -> None:
        """A number; what is usual is not written."""
        given = self.part.get(name, usual)
        number = int if whole else float
        shown = number(given) if isinstance(given, int | float) else number(usual)
        shown = min(max(shown, more.get("min_value", shown)), more.get("max_value", shown))
        st.number_input(
            label, **self._bound(name, shown, lambda value: None if value == usual else _plain(value)), **more
        )

    def check(self, label: str, name: str, *, usual: bool, **more: Any) -> None:
        """Yes or no; what is usual is not written."""
        given = str(self.part.get(name, usual)).lower() == "true"
        st.checkbox(label, **self._bound(name, given, lambda value: None if value == usual else value), **more)

    def one(
        self,
        label: str,
        name: str,
        options: Sequence[Any],
        *,
        usual: Any = None,
        first: Any = None,
        words: Callable[[Any], str] = str,
        **more: Any,
    ) -> None:
        """One of some, `first` where nothing is said; what is usual is not written. What is there is offered."""
        given = self.part.get(name, first or usual)
        given = given if isinstance(given, str | int | float) or given is None else str(given)
        offered = list(options) if given in options else [given, *options]
        st.selectbox(
            label,
            offered,
            format_func=words,
            **self._bound(name, given, lambda value: None if value == usual else value),
            **more,
        )

    def some(
        self, label: str, name: str, options: Sequence[Any], *, words: Callable[[Any], str] = str, **more: Any
    ) -> None:
        """Any number of some, in the order in which they are chosen."""
        given = self.part.get(name)
        chosen = [value for value in given if isinstance(value, str | int | float)] if isinstance(given, list) else []
        offered = [*options, *(value for value in dict.fromkeys(chosen) if value not in options)]
        st.multiselect(
            label, offered, format_func=words, **self._bound(name, list(dict.fromkeys(chosen)), list), **more
        )

    def inside(self, name: str) -> _Fields:
        """The fields of a part in this one, which is made when one of them is given."""
        found = self.part.get(name)
        if not isinstance(found, dict):
            found = {}
        found.setdefault(ID, f"{self.part[ID]}-{name}")
        return _Inside(self.draft, found, self.part, name)


class _Inside(_Fields):
    """The fields of a part that is there only while one of its fields has a value."""

    def __init__(self, draft: Draft, part: Part, owner: Part, name: str) -> None:
        super().__init__(draft, part)
        self._owner, self._name = owner, name

    def _bound(self, name: str, shown: Any, back: Callable[[Any], Any]) -> dict[str, Any]:
        key = self.key(name)
        st.session_state[key] = shown

        def change() -> None:
            self._owner[self._name] = self.part
            self.draft.put(self.part, name, back(st.session_state[key]))
            if set(self.part) <= {ID}:
                self.draft.put(self._owner, self._name, None)

        return {"key": key, "on_change": change}


def _done(_made: Part) -> None:
    """What was made is in the draft."""


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number


def _wrong(draft: Draft, *path: str | int) -> None:
    """What is wrong with what stands here, beneath it."""
    lines = "".join(
        f"<li>{wording.html(found.problem)} <span class='assay-soft'>{wording.html(found.remedy)}</span></li>"
        for found in draft.about(*path)
    )
    if lines:
        st.html(f'<ul class="assay-left-out" role="status" data-testid="field-problems">{lines}</ul>')


def _order_buttons(draft: Draft, parts: list[Part], part: Part, noun: str, *, down: bool = True) -> None:
    """Up, down and away, for one part of a list."""
    at = next(place for place, other in enumerate(parts) if other is part)
    key = f"pf-{draft.number}-{part[ID]}"
    named = str(part.get("title") or part.get("value") or part.get("name") or f"{noun} {at + 1}")
    for label, arrow, by, off in (
        ("up", "↑", -1, at == 0),
        ("down", "↓", 1, at == len(parts) - 1),
    ):
        if label == "down" and not down:
            continue
        st.button(
            arrow,
            key=f"{key}-{label}",
            help=f"Move {noun} {named} {label}",
            disabled=off,
            on_click=draft.move,
            args=(parts, part, by),
        )
    st.button(
        "✕",
        key=f"{key}-remove",
        help=f"Remove {noun} {named}",
        on_click=draft.remove,
        args=(parts, part),
    )


# About ----------------------------------------------------------------------------------------------------------------


def _about(draft: Draft) -> None:
    fields = _Fields(draft, draft.data)
    left, right = st.columns(2)
    with left:
        fields.text("Title", "title")
    with right:
        fields.text("Name in data and commands", "name", help="Lower-case letters, digits and _.")
    fields.text("What is asked, in one sentence", "summary")
    fields.text("Guidelines", "guidelines", long=260, help="Markdown: headings, lists, bold, italic.")
    left, right = st.columns(2)
    with left:
        fields.number("People who judge each item", "overlap", 3, min_value=1, step=1)
    with right:
        fields.text("Source", "source", help="Where the protocol is from.")
    fields.text("How agreement is reported", "agreement")
    fields.text("What happens to an item that fails", "on_fail")
    fields.check("Scores are what is judged", "about_scores", usual=False)
    known = {"criteria", "steps", "consequences", "invalidates"}
    for name in dict.fromkeys(found.path[0] for found in draft.problems if found.path):
        if name not in known:
            _wrong(draft, name)


# Criteria -------------------------------------------------------------------------------------------------------------


def _criteria(draft: Draft) -> None:
    criteria = draft.parts("criteria")
    key = f"pf-{draft.number}-criterion"

    def add() -> None:
        st.session_state[key] = draft.add_criterion()[ID]

    ids = {part[ID]: part for part in criteria}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if ids:
            if st.session_state.get(key) not in ids:
                st.session_state[key] = next(iter(ids))
            numbers = {part_id: number for number, part_id in enumerate(ids, 1)}
            chosen = st.selectbox(
                "Criterion",
                list(ids),
                format_func=lambda part_id: f"{numbers[part_id]}. {ids[part_id].get('title') or 'Untitled'}",
                key=key,
            )
            _order_buttons(draft, criteria, ids[chosen], "criterion")
        st.button("Add a criterion", key="protocol-add-criterion", on_click=add)
    if ids:
        _criterion(draft, ids[chosen], numbers[chosen] - 1)


def _criterion(draft: Draft, part: Part, position: int) -> None:
    fields = _Fields(draft, part)
    kind = KINDS.get(str(part.get("kind", USUAL_KIND)))
    _wrong(draft, "criteria", position)
    left, right = st.columns(2)
    with left:
        fields.text("Title", "title")
        fields.one("Kind", "kind", sorted(KINDS), first=USUAL_KIND, words=_kind_in_words)
    with right:
        fields.text("Name in the data", "name", help="Lower-case letters, digits and _.")
        usual = kind.model_fields["target"].default if kind is not None else TargetKind.ITEM
        targets = [target.value for target in TargetKind if target is not TargetKind.HOP]
        fields.one("About", "target", targets, usual=usual.value, words=_target_in_words)
    fields.text("One short line below the title", "help")
    _which(fields, str(part.get("target", usual.value)))
    if kind is None:
        return
    if "labels" in kind.model_fields:
        _labels(draft, part, kind)
        _of_labels(fields, kind)
    _of_numbers(fields, kind)
    _when(draft, part, position)
    with st.container(horizontal=True, vertical_alignment="center"):
        fields.check("Has to be answered", "required", usual=True)
        if part.get("target") == TargetKind.PAGE:
            fields.check("For each step of a multi-hop question", "per_hop", usual=False)
    if draft.data.get("about_scores"):
        fields.text(
            "Score that is judged",
            "score",
            help="The name of a value (correctness) or a scorer (rouge_l).",
            back=lambda text: text or None,
        )
    _suggested(fields, str(part.get("target", usual.value)))
    fields.some(
        "Judged by",
        "judged_by",
        [material.value for material in OF_ITEMS],
        placeholder="Nothing that an item may lack",
        help="What of the item decides. A study leaves out items that have none of it.",
    )
    if part.get("derived"):
        st.caption("What its labels amount to (derived) is written in the YAML.")


def _which(fields: _Fields, target: str) -> None:
    """Whose claims or images, and which evidence."""
    sides: tuple[str, ...] = ()
    if target in OF_CLAIMS and target not in OTHER_SIDE:
        sides = CLAIM_SIDES
    elif target == TargetKind.IMAGE:
        sides = IMAGE_SIDES
    if sides:
        fields.one(
            "Of", "of", [None, *sides], words=lambda side: "all that are shown" if side is None else f"the {side}"
        )
    if target in BY_EVIDENCE:
        only = fields.inside("only")
        left, middle, right = st.columns(3)
        with left:
            only.some("Only these kinds", "kinds", EVIDENCE_KINDS, placeholder="All")
        with middle:
            only.some("Only these roles", "roles", EVIDENCE_ROLES, placeholder="All", help="Roles are not told.")
        with right:
            only.number("The first of text and images", "per_modality", 0, min_value=0, help="0: all units.")


def _kind_in_words(kind: Any) -> str:
    found = KINDS.get(str(kind))
    return str(kind) if found is None else f"{kind}: {found.about}"


def _target_in_words(target: Any) -> str:
    return TARGETS.get(str(target), str(target)) or "the item"


def _labels(draft: Draft, part: Part, kind: type[Criterion]) -> None:
    labels = part.get("labels")
    rows = labels if isinstance(labels, list) else []
    st.markdown("Labels" + (", the lowest first" if kind.ordered else ""))
    for row in rows:
        fields = _Fields(draft, row)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            for label, name, width in (("Value", "value", 110), ("Title", "title", 130), ("Key", "key", 52)):
                back = typed if name == "value" else str
                fields.text(label, name, back=back, label_visibility="collapsed", placeholder=label, width=width)
            fields.text("Definition", "definition", label_visibility="collapsed", placeholder="Definition")
            _order_buttons(draft, rows, row, "label", down=False)
    st.button(
        "Add a label", key=f"pf-{draft.number}-{part[ID]}-add-label", on_click=lambda: _done(draft.add_label(part))
    )


def _suggested(fields: _Fields, target: str) -> None:
    """Where a model's suggestions are from: what says something of the target, or a score of the item."""
    known = [source for source, targets in OF_TARGET.items() if target in targets]
    if known:
        fields.one("Suggestions are from", "suggested_by", [None, *known], words=_source_in_words)
    elif target == TargetKind.ITEM and not fields.draft.data.get("about_scores"):
        fields.text("Suggestions are from the score", "suggested_by", placeholder="None", help="Such as abstention.")


def _source_in_words(source: str | None) -> str:
    return "what its labels are made for, if anything" if source is None else SOURCES.get(source, source)


def _values(part: Part | None) -> list[Any]:
    """The values of a criterion's labels."""
    labels = part.get("labels") if part is not None else None
    return [label["value"] for label in labels if "value" in label] if isinstance(labels, list) else []


def _of_labels(fields: _Fields, kind: type[Criterion]) -> None:
    values, target = _values(fields.part), str(fields.part.get("target", "item"))
    left, right = st.columns(2)
    with left:
        fields.some("An item passes with", "accept", values, placeholder="Any label")
    with right:
        if kind.for_the_rest and target not in (TargetKind.ITEM, TargetKind.PAIR):
            fields.one("All the rest, at one key", "rest", [None, *values], words=_none_or("no such button"))
        elif "positive" in kind.model_fields:
            fields.one("Counts as 1", "positive", [None, *values], words=_none_or("as the labels say"))
        elif kind.ordered:
            fields.number("Labels so far apart agree", "tolerance", 0, whole=False, min_value=0.0, step=1.0)


def _none_or(words: str) -> Callable[[Any], str]:
    return lambda value: words if value is None else str(value)


def _of_numbers(fields: _Fields, kind: type[Criterion]) -> None:
    """The limits of a number or of a text."""
    if "minimum" in kind.model_fields:
        columns = st.columns(4)
        names = (
            ("Lowest", "minimum", 0),
            ("Highest", "maximum", 10),
            ("In steps of", "step", 1),
            ("So far apart agree", "tolerance", 0),
        )
        for column, (label, name, usual) in zip(columns, names, strict=True):
            with column:
                fields.number(label, name, usual, whole=False)
    if "max_words" in kind.model_fields:
        left, right = st.columns(2)
        with left:
            fields.number("At most so many words", "max_words", 0, min_value=0, help="0: no limit.")
        with right:
            fields.number("Lines of its field", "lines", 2, min_value=1, max_value=40)


def _when(draft: Draft, part: Part, position: int) -> None:
    """Asked only when an earlier criterion has one of some labels."""
    others = {other["name"]: other for other in draft.parts("criteria")[:position] if other.get("name")}
    if not others and not part.get("when"):
        return
    when = _Fields(draft, part).inside("when")
    left, right = st.columns(2)
    with left:
        when.one("Asked only when", "criterion", [None, *others], words=_title_in(others, "always"))
    chosen = when.part.get("criterion")
    if chosen:
        with right:
            when.some("is one of", "values", _values(others.get(chosen)))


def _title_in(criteria: dict[str, Part], nothing: str) -> Callable[[Any], str]:
    return lambda name: nothing if not name else str(criteria.get(name, {}).get("title") or name)


# Steps ----------------------------------------------------------------------------------------------------------------


def _steps(draft: Draft) -> None:
    steps = draft.parts("steps")
    titles = {str(part.get("name")): part for part in draft.parts("criteria")}
    for position, step in enumerate(steps):
        fields = _Fields(draft, step)
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="bottom"):
                fields.text(f"Title of step {position + 1}", "title")
                fields.text("Name", "name", width=150)
                _order_buttons(draft, steps, step, "step")
            fields.some(
                "Shows, beside what earlier steps show",
                "shows",
                [material.value for material in Material],
                words=lambda material: MATERIALS.get(material, material),
            )
            fields.some("Asks", "criteria", list(titles), words=_title_in(titles, ""))
            _wrong(draft, "steps", position)
    st.button("Add a step", key="protocol-add-step", on_click=lambda: _done(draft.add_step()))
    st.caption("What no step shows never reaches the browser. A step’s labels are final before the next one is shown.")


# Rules ----------------------------------------------------------------------------------------------------------------


def _rules(draft: Draft) -> None:
    st.markdown("**What follows from a label.** A label that breaks a rule is refused with its sentence.")
    rules = draft.parts("consequences")
    criteria = {str(part.get("name")): part for part in draft.parts("criteria") if _values(part)}
    for position, rule in enumerate(rules):
        with st.container(border=True):
            for name, label, then in (("when", "When", "is one of"), ("then", "then", "can only be one of")):
                fields = _Fields(draft, rule).inside(name)
                left, right = st.columns(2)
                with left:
                    fields.one(label, "criterion", ["", *criteria], words=_title_in(criteria, "choose a criterion"))
                with right:
                    fields.some(then, "values", _values(criteria.get(str(fields.part.get("criterion")))))
            with st.container(horizontal=True, vertical_alignment="bottom"):
                _Fields(draft, rule).text("Why, as the annotator reads it", "says")
                _order_buttons(draft, rules, rule, "rule")
            _wrong(draft, "consequences", position)
    st.button("Add a rule", key="protocol-add-rule", on_click=lambda: _done(draft.add_consequence()))
    st.markdown("**Which labels fall when a revision edits a field of the item.**")
    names = [_ALL, *(str(part.get("name")) for part in draft.parts("criteria"))]
    falls = _Fields(draft, draft.data).inside("invalidates")
    for start in range(0, len(REVISABLE), 2):
        for column, field in zip(st.columns(2), REVISABLE[start : start + 2], strict=True):
            with column:
                falls.some(field.capitalize(), field, names, words=_fall_in_words, placeholder="None")
    _wrong(draft, "invalidates")


def _fall_in_words(name: str) -> str:
    return "all of them" if name == _ALL else name
