"""The keys that our full-screen pages use themselves, and which changes of them a person may make for themselves.

A protocol's label keys may not be among the keys of the annotator's page.
"""

from __future__ import annotations

from collections.abc import Mapping

from annotators.errors import InvalidInput

ACTIONS: dict[str, tuple[str, str]] = {
    "submit": ("Enter", "Submit"),
    "back": ("z", "Back to the last item"),
    "skip": ("s", "Skip this item"),
    "cannot_judge": ("x", "Cannot judge"),
    "comment": ("c", "Comment"),
    "flag": ("f", "Flag for the researcher"),
    "flag_reason": ("F", "Say why it is flagged"),
    "rest": ("A", "All the rest: one label for every unit without one"),
    "next_hop": ("h", "Next hop of the pages"),
    "pair_marks": ("v", "Marks of what only one of two answers says, on or off"),
    "references": ("u", "Unfold the reference above two answers, or fold it"),
    "raw_text": ("m", "Raw text of the answer and the passages, or rendered again"),
    "guidelines": ("g", "Guidelines"),
    "keys": ("?", "This list of keys"),
    "previous_criterion": ("ArrowUp", "Criterion above"),
    "next_criterion": ("ArrowDown", "Criterion below"),
    "previous_label": ("ArrowLeft", "Label to the left"),
    "next_label": ("ArrowRight", "Label to the right"),
    "read_on": ("Space", "Read on: a screen further in the answer"),
    "read_back": ("Shift+Space", "Read back: a screen up in the answer"),
    "read_end": ("End", "End of the answer"),
    "read_start": ("Home", "Start of the answer"),
    "previous_page": ("[", "Page before"),
    "next_page": ("]", "Page after"),
    "zoom_in": ("+", "Zoom in"),
    "zoom_out": ("-", "Zoom out"),
    "fit_width": ("w", "Fit width"),
    "fit_page": ("p", "Fit page"),
    "rotate": ("r", "Rotate"),
    "two_pages": ("D", "Double: two pages beside each other"),
    "enlarge": ("E", "Enlarge the table or figure, and back"),
    "search": ("/", "Search the document"),
    "previous_hit": (",", "Hit before"),
    "next_hit": (".", "Next hit of the search or of a phrase"),
    "mark": ("M", "Mark what supports this label"),
    "previous_evidence": ("{", "Evidence unit before"),
    "next_evidence": ("}", "Evidence unit after"),
    "clear": ("Backspace", "Clear this label"),
    "close": ("Escape", "Close, or back to the labels"),
}
"""Action of the annotator's page → (key as `KeyboardEvent.key` gives it, its name for people).

The space bar is `Space`, and `Shift+Space` with Shift: the names that `aria-keyshortcuts` has for it.
"""

_SHARED = (
    "raw_text",
    "guidelines",
    "keys",
    "previous_criterion",
    "next_criterion",
    "previous_label",
    "next_label",
    "read_on",
    "read_back",
    "read_end",
    "read_start",
    "previous_page",
    "next_page",
    "zoom_in",
    "zoom_out",
    "fit_width",
    "fit_page",
    "two_pages",
    "enlarge",
    "search",
    "previous_hit",
    "next_hit",
    "previous_evidence",
    "next_evidence",
    "close",
)

ADJUDICATION: dict[str, tuple[str, str]] = {
    "settle": ("Enter", "Settle the item"),
    "back": ("z", "Back to the item settled last"),
    "later": ("s", "Later: the item moves to the end for now"),
    "return": ("r", "Return the item to an annotator"),
    "reason": ("c", "Reason for this decision"),
    "rest": ("A", "All the rest: as one annotator said, or most"),
    "clear": ("Backspace", "Take this decision back"),
    "rotate": ("R", "Rotate the page"),
    **{name: ACTIONS[name] for name in _SHARED},
}
"""The same for the adjudicator's page. The keys are among those that no label may have, but for `A` and `R`."""

REVISION: dict[str, tuple[str, str]] = {
    "save": ("Enter", "Save the new version; Ctrl + Enter while typing"),
    "edit_question": ("1", "Edit the question"),
    "edit_answer": ("2", "Edit the answer"),
    "edit_references": ("3", "Edit the reference answers"),
    "edit_claims": ("4", "Edit the claims"),
    "edit_evidence": ("5", "Evidence units: their roles and texts"),
    "edit_images": ("6", "Edit the captions of images"),
    "edit_others": ("7", "Edit everything else, as JSON"),
    "reason": ("c", "Reason of the revision"),
    "split": ("k", "Split the answer into claims, a sentence each"),
    "add_page": ("a", "Add the page in view as evidence"),
    "mark": ("M", "Draw a box on a page as new evidence; with text selected, take that passage"),
    "mark_image": ("I", "Draw a box on a page as a new image of the item"),
    "quote": ("q", "Quote what is selected in the field that was edited last"),
    "undo": ("Backspace", "Put the field back as it was"),
    "differences": ("h", "Differences, shown or not"),
    "back": ("z", "Back to the item revised last"),
    "later": ("s", "Later: the item moves to the end for now"),
    "keep": ("o", "Keep the original: accept the item as it is"),
    "reject": ("d", "Reject the item"),
    "withdraw": ("W", "Withdraw the item"),
    "history": ("i", "The story of the item"),
    "rotate": ("R", "Rotate the page"),
    **{name: ACTIONS[name] for name in _SHARED if name not in ("raw_text", "read_on", "read_back")},
}
"""The same for the reviser's page, on which no label is given."""

YIELDING = frozenset({"flag_reason", "rest", "next_hop", "pair_marks", "references", "raw_text"})
"""Actions that came when studies had been made: a label may have their key, and wins it; each has a button as well."""

RESERVED = {key for action, (key, _) in ACTIONS.items() if action not in YIELDING} | {"Tab", " ", "=", "_"}
"""Keys no label may have; `=` and `_` are `+` and `-` on other keyboards."""

FIXED = frozenset({"close", "previous_criterion", "next_criterion", "previous_label", "next_label"})
"""Actions whose key nobody can change: without them one could not find the way back to the labels."""

NAMED_KEYS = frozenset({"Enter", "Backspace", "Delete", "Insert", "Home", "End", "F2", "F4", "F6", "F7", "F8", "F9"})
"""Keys without a character that an action can have. The rest belongs to the browser, or to moving about."""

_SAME = {"=": "+", "_": "-"}


def check_action_keys(actions: Mapping[str, tuple[str, str]], changes: object) -> dict[str, str]:
    """A person's own keys for these actions, action → key; raises InvalidInput where two actions would share one."""
    checked = _texts(changes, "keys")
    for action, key in checked.items():
        if action not in actions:
            raise InvalidInput(f"There is no action {action!r}. Actions: {', '.join(sorted(actions))}.")
        if action in FIXED:
            raise InvalidInput(f"The key of {actions[action][1]!r} cannot be changed.")
        if not (is_letter(key) or key in NAMED_KEYS) or key in "0123456789":
            raise InvalidInput(
                f"{key!r} cannot be the key of {actions[action][1]!r}: digits are for labels, the space bar and Tab "
                f"belong to the browser. Use a letter, a sign, or one of {', '.join(sorted(NAMED_KEYS))}."
            )
    holders: dict[str, str] = {}
    for action, (key, title) in actions.items():
        own = checked.get(action, key)
        holder = holders.setdefault(_SAME.get(own, own), title)
        if holder != title:
            raise InvalidInput(
                f"{own!r} would be the key of {holder!r} and of {title!r}. Give one of them another key."
            )
    return checked


def check_label_keys(changes: object) -> dict[str, dict[str, dict[str, str]]]:
    """A person's own keys for labels: protocol → criterion → value → key; raises InvalidInput for two alike."""
    checked: dict[str, dict[str, dict[str, str]]] = {}
    for protocol, criteria in _mapping(changes, "label keys").items():
        for criterion, labels in _mapping(criteria, f"label keys of {protocol!r}").items():
            keys = _texts(labels, f"label keys of {criterion!r}")
            for value, key in keys.items():
                if not is_letter(key):
                    raise InvalidInput(
                        f"{key!r} cannot be the key of the label {value!r}. Use a letter, digit or sign."
                    )
            if len(set(keys.values())) < len(keys):
                raise InvalidInput(f"Two labels of {criterion!r} would have the same key. Give one of them another.")
            checked.setdefault(protocol, {})[criterion] = keys
    return checked


def is_letter(key: str) -> bool:
    """Whether a key types one character that shows: a letter, a digit or a sign."""
    return len(key) == 1 and key.isprintable() and not key.isspace()


def _mapping(given: object, what: str) -> dict[str, object]:
    if not isinstance(given, dict) or not all(isinstance(name, str) and len(name) <= 200 for name in given):
        raise InvalidInput(f"The {what} must be an object whose names are texts of at most 200 characters.")
    return given


def _texts(given: object, what: str) -> dict[str, str]:
    checked = _mapping(given, what)
    if len(checked) > 200 or not all(isinstance(key, str) and len(key) <= 20 for key in checked.values()):
        raise InvalidInput(f"The {what} must be at most 200 keys as the browser names them.")
    return {name: str(key) for name, key in checked.items()}
