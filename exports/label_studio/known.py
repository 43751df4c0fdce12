"""By what tasks, people and files are known there and here. It loads nothing, so that a file is recognised at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from annotators.errors import InvalidInput, shown
from annotators.times import time_of

ITEM = "assay_item"
"""The field of a task that says which item of ours it is: a name that says nothing."""

STUDY = "assay_study"
"""The field of a task that says of which study it is."""

STEP = "assay_step"
"""The field of a task that says which of the study's projects it is of, from 2; the first does not say it."""

BEFORE = "assay_before"
"""The field of a task that has the seals of what was said before it was made."""

NOBODYS = "Annotations that do not say who made them, as of accounts that were deleted there"
"""What they are called among what is lost."""

People = Mapping[str, str]
"""How somebody is known there → the name of the annotator here."""


def called_of(given: object) -> list[str]:
    """How whoever made an annotation is called there, by their address and their number, as far as it says so.

    InvalidInput where it says neither.
    """
    number, email = (given.get("id"), given.get("email")) if isinstance(given, dict) else (given, None)
    known = [email.strip()] if isinstance(email, str) and email.strip() else []
    if isinstance(number, int | str) and not isinstance(number, bool) and number != "":
        known.append(str(number))
    if not known:
        raise InvalidInput(f"it does not say who made it (`completed_by` is {shown(given)})")
    return known


def name_of(called: str) -> str:
    """The name of somebody who is known by this address, or by this number."""
    return f"label-studio-{called}" if called.isdecimal() else called


def part_key(text: object) -> str:
    """The key of a part of an item that is called so there."""
    return re.sub(r"[|\s]+", "_", str(text)).lstrip(":") or "_"


def lead_time(given: object) -> float | None:
    """The seconds that an annotation took; None for what can be none."""
    usable = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < 1e9
    return float(given) if usable else None  # type: ignore[arg-type]


def changed_at(annotation: Mapping[str, Any], *, whose: str) -> datetime | None:
    """When an annotation was changed last, or made; None where it does not say. InvalidInput for what is no time."""
    given = annotation.get("updated_at") or annotation.get("created_at")
    try:
        return time_of(given) if isinstance(given, str) else None
    except ValueError:
        raise InvalidInput(f"{whose} time is {shown(given)}; times are like 2026-11-25T02:51:40Z") from None
