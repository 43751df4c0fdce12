"""What an export may hold: tables of labels and scores, and the items in every format that has a writer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from annotators.errors import InvalidInput
from annotators.items.normal import Normal, to_json
from annotators.items.parsed import Rejected
from exports.formats import FORMATS
from exports.formats._losing import WORDS, Lost, losses_of, lost_between, statements
from exports.formats._writing import LabelledWriter, StudyWriter, VerdictWriter, Writer, takes_pictures
from exports.reading.sources import open_sources

ITEMS = "native"
OF_STUDIES = ("labels", "derived", "adjudicated", "questionnaires", "known", "agreement", "alignment")
OF_PROJECTS = ("revisions", "events")
NOT_RELEASED = ("labels", "derived", "questionnaires", "known", "agreement", "alignment", *OF_PROJECTS)
"""What a release does not hold: labels of single annotators, which exports of their studies have."""
SCORES = "scores"
REPORT = "report"
"""The report of the dataset (`exports.dataset`)."""


def writers() -> dict[str, Writer]:
    """The formats beside the native one that items can be written in, by name."""
    return {format_.name: format_ for format_ in FORMATS if isinstance(format_, Writer) and format_.name != ITEMS}


def exported() -> tuple[str, ...]:
    """The names of all that an export may hold."""
    return (ITEMS, *OF_STUDIES, SCORES, REPORT, *OF_PROJECTS, *writers())


def check_export_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """The formats of an export, each once; InvalidInput for an unknown one, and when there is none."""
    known = exported()
    for name in formats:
        if name not in known:
            raise InvalidInput(f"{name!r} is not a format of exports. Known: {', '.join(known)}.")
    if not formats:
        raise InvalidInput(f"An export needs at least one format. Known: {', '.join(known)}.")
    return tuple(dict.fromkeys(formats))


def losses(formats: Sequence[str]) -> dict[str, list[str]]:
    """Format → what it cannot carry, in words; of those that are asked for, the ones that lose something."""
    said = {name: list(losses_of(writer).values()) for name, writer in writers().items() if name in formats}
    return {name: lost for name, lost in said.items() if lost}


def check_pictures(formats: Sequence[str], data_folder: object) -> None:
    """InvalidInput where no format has a place for pictures of pages, or documents are left out."""
    places = [name for name, writer in writers().items() if takes_pictures(writer)]
    if not set(places) & set(formats):
        raise InvalidInput(
            f"{', '.join(formats)}: none of these formats has a place for pictures of pages; {', '.join(places)} has."
        )
    if data_folder is None:
        raise InvalidInput("Pictures of pages are drawn from the documents. Let the documents' bytes go along.")


def measured_losses(name: str, folder: Path, items: Iterable[Normal], left_out: Collection[str]) -> list[Lost]:
    """What the files that a format has written do not say of these items any more, as its own reader finds it.

    Items that it cannot hold, whose ids are `left_out`, count once.
    """
    n = 0

    def held() -> Iterator[Normal]:
        nonlocal n
        for item in items:
            n += 1
            if item["id"] not in left_out:
                yield item

    before = statements(held())
    lost: list[Lost] = []
    if n > len(left_out):
        with open_sources([folder]) as sources:
            rows = FORMATS.get(name).read(sources).items()
            lost = lost_between(before, statements(to_json(row.item) for row in rows if not isinstance(row, Rejected)))
    return [Lost("items", WORDS["items"], len(left_out), n), *lost] if left_out else lost


def has_place_for_labels(writer: Writer) -> bool:
    """Whether a format has a place for final labels of studies."""
    return isinstance(writer, LabelledWriter | VerdictWriter | StudyWriter)


def check_labels_of(formats: Sequence[str], labels_of: Sequence[str], release: object) -> tuple[str, ...]:
    """The studies whose final labels go into the items, each once; InvalidInput where no format has a place for any."""
    if not labels_of:
        return ()
    if release is not None:
        raise InvalidInput("A release has its own final labels. Name no studies that they are to be of.")
    places = [name for name, writer in writers().items() if has_place_for_labels(writer)]
    if not set(places) & set(formats):
        raise InvalidInput(
            f"{', '.join(formats)}: none of these formats has a place for final labels of {labels_of[0]!r}. "
            f"Those that have: {', '.join(places)}."
        )
    return tuple(dict.fromkeys(labels_of))


def check_release_formats(formats: Sequence[str], study: object) -> None:
    """Raise InvalidInput where a release does not hold what is asked for, or a study is named as well."""
    if study is not None:
        raise InvalidInput("A release says itself what is in it. Leave the study out.")
    if REPORT in formats:
        raise InvalidInput("The report is of the data as it is now, not of a release. Leave it out.")
    if wrong := [name for name in formats if name in NOT_RELEASED]:
        raise InvalidInput(
            f"A release holds final labels, no single annotator's: it has no {wrong[0]!r}. Export the study for that."
        )
