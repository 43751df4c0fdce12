"""What an export may hold: tables of labels and scores, and the items in every format that has a writer."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.errors import InvalidInput
from exports.formats import FORMATS
from exports.formats._writing import Writer

ITEMS = "native"
OF_STUDIES = ("labels", "derived", "adjudicated", "questionnaires", "known")
NOT_RELEASED = ("labels", "derived", "questionnaires", "known")
"""What a release does not hold: labels of single annotators, which exports of their studies have."""
SCORES = "scores"


def writers() -> dict[str, Writer]:
    """The formats beside the native one that items can be written in, by name."""
    return {format_.name: format_ for format_ in FORMATS if isinstance(format_, Writer)}


def exported() -> tuple[str, ...]:
    """The names of all that an export may hold."""
    return (ITEMS, *OF_STUDIES, SCORES, *writers())


def check_export_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """The formats of an export, each once; InvalidInput for an unknown one, and when there is none."""
    known = exported()
    for name in formats:
        if name not in known:
            raise InvalidInput(f"{name!r} is not a format of exports. Known: {', '.join(known)}.")
    if not formats:
        raise InvalidInput(f"An export needs at least one format. Known: {', '.join(known)}.")
    return tuple(dict.fromkeys(formats))


def check_release_formats(formats: Sequence[str], study: object) -> None:
    """Raise InvalidInput where a release does not hold what is asked for, or a study is named as well."""
    if study is not None:
        raise InvalidInput("A release says itself what is in it. Leave the study out.")
    if wrong := [name for name in formats if name in NOT_RELEASED]:
        raise InvalidInput(
            f"A release holds final labels, no single annotator's: it has no {wrong[0]!r}. Export the study for that."
        )
