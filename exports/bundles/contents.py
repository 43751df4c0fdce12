"""What an export may hold: tables of labels and scores, and the items in every format that has a writer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from annotators.errors import InvalidInput
from annotators.items.normal import Normal, to_json
from annotators.items.parsed import ForeignLabel, Rejected, items_in
from annotators.times import time_of
from exports.formats import FORMATS
from exports.formats._losing import WORDS, Lost, losses_of, lost_between, statements
from exports.formats._lost_labels import FINAL_WORDS, SameItems, lost_labels, plain_by
from exports.formats._writing import (
    LabelledWriter,
    SettledOut,
    SettledWriter,
    StudyOut,
    StudyWriter,
    VerdictWriter,
    Writer,
    cell_of,
    takes_pictures,
)
from exports.reading.sources import open_sources

if TYPE_CHECKING:
    from annotators.criteria import Criterion

ITEMS = "native"
FINAL = "adjudicated"
"""The table of final labels; few of them may have been decided by adjudicators."""

OF_LABELS = frozenset({"labels", "derived", FINAL})
"""Tables whose rows say for which version of an item they were given."""

OF_STUDIES = ("labels", "derived", FINAL, "questionnaires", "known", "agreement", "alignment")
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


def measured_losses(
    name: str, folder: Path, items: Iterable[Normal], left_out: Collection[str], said: LabelsOut | None = None
) -> list[Lost]:
    """What the files that a format has written do not say of these items any more, as its own reader finds it.

    Items that it cannot hold, whose ids are `left_out`, count once. With the labels that went out with them, those that
    do not come back, or come back otherwise, and those that fell with a revision and did not go out.
    """
    n = n_labels = 0

    def held() -> Iterator[Normal]:
        nonlocal n
        for item in items:
            n += 1
            if item["id"] not in left_out:
                yield item

    def given(labels: Iterable[ForeignLabel]) -> Iterator[ForeignLabel]:
        nonlocal n_labels
        for label in labels:
            n_labels += 1
            yield label

    same = SameItems()
    before = statements(same.before(held()))
    lost: list[Lost] = []
    if n > len(left_out):
        with open_sources([folder]) as sources:
            reading = FORMATS.get(name).read(sources)
            rows = (row for row in items_in(reading) if not isinstance(row, Rejected))
            lost = lost_between(before, statements(same.after(to_json(row.item) for row in rows)))
            if said is not None:
                went = (label for label in given(said.labels) if said.annotator is None or label.item not in left_out)
                back = (label for row in items_in(reading) if not isinstance(row, Rejected) for label in row.labels)
                if said.annotator is not None:
                    back = (label._replace(annotator=said.annotator) for label in back)
                is_final = said.annotator is not None
                lost += lost_labels(went, back, plain_by(said.criteria), moved=same.moved, final=is_final)
                if said.fell:
                    words = FINAL_WORDS if is_final else WORDS
                    lost.append(Lost("labels.fell", words["labels.fell"], said.fell, n_labels + said.fell))
    return [Lost("items", WORDS["items"], len(left_out), n), *lost] if left_out else lost


class LabelsOut(NamedTuple):
    """Labels that a format was given to write, and the criteria that they answer, by name.

    Final labels are of one `annotator`, whatever the format calls who gave them. So many more `fell` with a revision.
    """

    labels: Iterable[ForeignLabel]
    criteria: Mapping[str, Criterion]
    annotator: str | None = None
    fell: int = 0


def labels_of_study(study: StudyOut) -> LabelsOut:
    """What everybody said in a study, as far as it holds for its items as they are now."""

    def labels() -> Iterator[ForeignLabel]:
        for judged in study.judged():
            for label in judged.labels:
                time = time_of(label.time) if label.time else None
                about = (judged.item["id"], label.annotator, label.criterion, label.target, cell_of(label.value))
                yield ForeignLabel(
                    0, *about, time, label.comment, label.other, seconds=label.seconds, rationale=label.rationale
                )

    return LabelsOut(labels(), study.protocol.criteria_by_name())


_ANNOTATOR = "final"
"""Who gave final labels, where labels are told by their annotators."""


def final_labels_out(settled: SettledOut) -> LabelsOut:
    """The final labels of items and pairs."""
    labels = (
        ForeignLabel(
            0, row.item["id"], _ANNOTATOR, unit.criterion, unit.target, cell_of(unit.label), None, None, unit.other
        )
        for row in settled.judged()
        for unit in row.settled.values()
    )
    return LabelsOut(labels, settled.criteria, _ANNOTATOR)


def has_place_for_labels(writer: Writer) -> bool:
    """Whether a format has a place for final labels of studies."""
    return isinstance(writer, LabelledWriter | VerdictWriter | SettledWriter | StudyWriter)


def takes_one_study(writer: Writer) -> bool:
    """Whether a format has a place for labels of one study, and none for final labels of several."""
    return isinstance(writer, StudyWriter) and not isinstance(writer, LabelledWriter | SettledWriter)


def check_labels_of(formats: Sequence[str], labels_of: Sequence[str], release: object) -> tuple[str, ...]:
    """The studies whose final labels go into the items, each once.

    InvalidInput where no format has a place for any, or one has a place for those of one study alone and several are
    named.
    """
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
    named = tuple(dict.fromkeys(labels_of))
    of_one = [name for name, writer in writers().items() if name in formats and takes_one_study(writer)]
    if len(named) > 1 and of_one:
        raise InvalidInput(
            f"{', '.join(of_one)} has a place for the labels of one study; {', '.join(named)} are {len(named)}. Name "
            "one, or leave the format out."
        )
    return named


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
