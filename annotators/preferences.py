"""What people can set for themselves: the names of the settings, and what each may be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from annotators.errors import InvalidInput
from annotators.keys import ACTIONS, ADJUDICATION, REVISION, check_action_keys, check_label_keys

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


def check_only(value: object, *, only: str, wrong: str) -> str:
    """The one value that a setting can have besides not being set; `wrong` is what any other cannot be, in words."""
    if value != only:
        raise InvalidInput(f"{wrong.format(repr(value))} {only!r} is the one value; null takes it away.")
    return only


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
    "revision_keys": partial(check_action_keys, REVISION),
    "label_keys": check_label_keys,
    "break_after": check_break_after,
    # Texts with Markdown as they were written; where nothing is set, rendered.
    "text_view": partial(check_only, only="raw", wrong="Texts cannot be shown as {}."),
    # The next step comes with the last label of the one before; where nothing is set, by the key of submit.
    "next_step": partial(check_only, only="at_once", wrong="The next step cannot come {}."),
    # What only one of the two answers of a pair says is not marked; where nothing is set, it is.
    "pair_marks": partial(check_only, only="off", wrong="Marks of pairs cannot be {}."),
    "panes": check_panes,
}
"""Name of a setting → what checks a value of it, gives it back as it is stored, or raises InvalidInput."""


def check_preference(name: str, value: object) -> object:
    """The value as it is stored; raises InvalidInput for a name that is none, or a value that cannot be."""
    if name not in PREFERENCES:
        raise InvalidInput(f"There is no setting {name!r}. Settings: {', '.join(PREFERENCES)}.")
    return PREFERENCES[name](value)
