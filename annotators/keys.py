"""The keys that the annotator's page uses itself, in one place: a protocol's label keys may not be among them."""

from __future__ import annotations

ACTIONS: dict[str, tuple[str, str]] = {
    "submit": ("Enter", "Submit"),
    "back": ("z", "Back to the last item"),
    "skip": ("s", "Skip this item"),
    "cannot_judge": ("x", "Cannot judge"),
    "comment": ("c", "Comment"),
    "flag": ("f", "Flag for the researcher"),
    "guidelines": ("g", "Guidelines"),
    "keys": ("?", "This list of keys"),
    "previous_criterion": ("ArrowUp", "Criterion above"),
    "next_criterion": ("ArrowDown", "Criterion below"),
    "previous_label": ("ArrowLeft", "Label to the left"),
    "next_label": ("ArrowRight", "Label to the right"),
    "previous_page": ("[", "Page before"),
    "next_page": ("]", "Page after"),
    "zoom_in": ("+", "Zoom in"),
    "zoom_out": ("-", "Zoom out"),
    "fit_width": ("w", "Fit width"),
    "fit_page": ("p", "Fit page"),
    "rotate": ("r", "Rotate"),
    "previous_evidence": ("{", "Evidence unit before"),
    "next_evidence": ("}", "Evidence unit after"),
    "clear": ("Backspace", "Clear this label"),
    "close": ("Escape", "Close, or back to the labels"),
}
"""Action → (key as `KeyboardEvent.key` gives it, its name for people)."""

RESERVED = {key for key, _ in ACTIONS.values()} | {"Tab", " ", "/", "=", "_"}
"""Keys no label may have; `/` is kept for search, `=` and `_` are `+` and `-` on other keyboards."""
