"""What people can set for themselves: the names of the settings, and what each may be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from annotators.errors import InvalidInput
from annotators.keys import ACTIONS, ADJUDICATION, check_action_keys, check_label_keys

BREAK_AFTER = 50
"""Minutes of work after which a break is suggested, unless a person has set something else."""

LONGEST_WORK = 240


def check_break_after(value: object) -> int:
    """Minutes of work after which a break is suggested; 0 switches the reminder off."""
    if isinstance(value, bool) or not isinstance(value, int) or not (value == 0 or 10 <= value <= LONGEST_WORK):
        raise InvalidInput(
            f"A break after {value!r} minutes cannot be set: 0 (never), or 10 to {LONGEST_WORK} minutes."
        )
    return value


RAW_TEXT = "raw"
"""How texts are shown to a person who wants them as they were written; otherwise their Markdown is rendered."""


def check_text_view(value: object) -> str:
    """How texts with Markdown are shown: as they were written, or (where nothing is set) rendered."""
    if value != RAW_TEXT:
        raise InvalidInput(f"Texts cannot be shown as {value!r}: {RAW_TEXT!r} shows them as they were written.")
    return RAW_TEXT


STEP_AT_ONCE = "at_once"
"""The next step comes with the last label of the one before; where nothing is set, by the key of submit."""


def check_next_step(value: object) -> str:
    """When an annotator's next step comes: with the last label of a step, or (nothing set) by the key of submit."""
    if value != STEP_AT_ONCE:
        raise InvalidInput(f"The next step cannot come {value!r}: {STEP_AT_ONCE!r} is with the last label of a step.")
    return STEP_AT_ONCE


NO_MARKS = "off"
"""How the two answers of a pair are shown without marks; where nothing is set, what only one says is marked."""


def check_pair_marks(value: object) -> str:
    """Whether what only one of two answers says is marked: off, or (where nothing is set) on."""
    if value != NO_MARKS:
        raise InvalidInput(f"Marks of pairs cannot be {value!r}: {NO_MARKS!r} takes them away.")
    return NO_MARKS


PANES = ("side", "reading", "references")
"""The dividers of the annotator's page: between its two sides; above the criteria, beside evidence and without."""


def check_panes(value: object) -> dict[str, float]:
    """Where the dividers stand: name → percent of the whole before it, from 1 to 99."""
    if not isinstance(value, dict) or not set(value) <= set(PANES):
        raise InvalidInput(f"{value!r} does not say where dividers stand. Dividers: {', '.join(PANES)}.")
    for name, share in value.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 1 <= share <= 99:
            raise InvalidInput(f"The divider {name!r} cannot stand at {share!r}: give 1 to 99 percent.")
    return {name: float(share) for name, share in value.items()}


PREFERENCES: dict[str, Callable[[object], object]] = {
    "keys": partial(check_action_keys, ACTIONS),
    "adjudication_keys": partial(check_action_keys, ADJUDICATION),
    "label_keys": check_label_keys,
    "break_after": check_break_after,
    "text_view": check_text_view,
    "next_step": check_next_step,
    "pair_marks": check_pair_marks,
    "panes": check_panes,
}
"""Name of a setting → what checks a value of it, gives it back as it is stored, or raises InvalidInput."""


def check_preference(name: str, value: object) -> object:
    """The value as it is stored; raises InvalidInput for a name that is none, or a value that cannot be."""
    if name not in PREFERENCES:
        raise InvalidInput(f"There is no setting {name!r}. Settings: {', '.join(PREFERENCES)}.")
    return PREFERENCES[name](value)
