"""By what tasks, people and files are known there and here. It loads nothing, so that a file is recognised at once."""

from __future__ import annotations

import re
from collections.abc import Mapping

from annotators.errors import InvalidInput, shown

ITEM = "assay_item"
"""The field of a task that says which item of ours it is: a name that says nothing."""

STUDY = "assay_study"
"""The field of a task that says of which study it is."""

STEP = "assay_step"
"""The field of a task that says which of the study's projects it is of, from 2; the first does not say it."""

BEFORE = "assay_before"
"""The field of a task that has the seals of what was said before it was made."""

People = Mapping[str, str]
"""How somebody is known there → the name of the annotator here."""


def annotator_of(given: object, people: People) -> str:
    """The name of who made an annotation there: their address, unless it is to be another one."""
    if isinstance(given, dict):
        email, number = given.get("email"), given.get("id")
    else:
        email, number = None, given
    if isinstance(email, str) and email.strip():
        return people.get(email, email)
    if isinstance(number, bool) or not isinstance(number, int | str):
        raise InvalidInput(f"it does not say who made it (`completed_by` is {shown(given)})")
    return people.get(str(number), f"label-studio-{number}")


def part_key(text: object) -> str:
    """The key of a part of an item that is called so there."""
    return re.sub(r"[|\s]+", "_", str(text)).lstrip(":") or "_"


def document_of(address: object) -> str:
    """The key of the document that an image of a task is, by its address there."""
    return str(address or "").partition("?")[0].replace("\\", "/").rpartition("/")[2] or "image"
