"""What people said comes back from every format that has a place for it, but for what it says that it loses."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from annotators.items.normal import Normal
from annotators.items.parsed import ForeignLabel, Rejected
from annotators.protocols import Protocol
from exports.bundles.contents import final_labels_out, labels_of_study, measured_losses
from exports.bundles.typed import first_difference
from exports.formats import FORMATS
from exports.formats._losing import losses_of
from exports.formats._writing import Files, FinalLabels, LabelledWriter, StudyOut, StudyWriter, takes_pairs
from exports.formats.base import LabelledFormat
from exports.reading.sources import open_sources
from exports.sinks import FolderSink
from tests.exports.formats.any_labels import studies, studies_of_pairs
from tests.exports.formats.test_writing import SAID

tried = settings(
    max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)
"""Few, of which each writes a folder: runs outside of CI look further. What fails is not made smaller, for minutes."""

WHOLE = ("argilla", "huggingface", "potato")
"""What has a place for every label but for those that say that it cannot be judged, which studies do not hand out."""

EVERYBODYS = [format_.name for format_ in FORMATS if isinstance(format_, StudyWriter)]


def written(name: str, study: StudyOut, folder: Path) -> set[str]:
    """Write a study in a format; the ids of the items that it cannot hold."""
    format_: Any = FORMATS.get(name)
    sink = FolderSink(folder)
    with Files(sink.open, partial(sink.put, difference=first_difference), SAID) as files:
        format_.write_study(study, files)
        return files.left_out


def read(name: str, folder: Path) -> list[ForeignLabel]:
    with open_sources([folder]) as sources:
        rows = list(FORMATS.get(name).read(sources).items())
    assert [row for row in rows if isinstance(row, Rejected)] == []
    return [label for row in rows if not isinstance(row, Rejected) for label in row.labels]


def only_declared(name: str, study: StudyOut) -> None:
    """Write and read: no label is gone, or otherwise, unless the format says so, and none is there that nobody gave."""
    loses = losses_of(FORMATS.get(name))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        left_out = written(name, study, folder)
        items = [judged.item for judged in study.judged()]
        lost = measured_losses(name, folder, items, left_out, labels_of_study(study))
        gone = {one.path for one in lost if one.path.startswith("labels")}
        assert gone <= set(loses) - ({"labels"} if name in WHOLE else set())
        back = [] if len(left_out) == len(items) else read(name, folder)
    units = Counter(unit_of(label) for label in labels_of_study(study).labels)
    assert Counter(map(unit_of, back)) - units == Counter()


def unit_of(label: ForeignLabel) -> tuple[str, str, str]:
    """Who said something of what; a pair is the same from either side."""
    return label.annotator, " and ".join(sorted([label.item, label.other or ""])), f"{label.criterion} {label.target}"


@pytest.mark.parametrize("name", EVERYBODYS)
def test_only_labels_that_a_format_says_that_it_loses_are_lost(name: str) -> None:
    @tried
    @given(studies())
    def holds(study: StudyOut) -> None:
        only_declared(name, study)

    holds()


@pytest.mark.parametrize("name", [name for name in EVERYBODYS if takes_pairs(FORMATS.get(name))])
def test_only_labels_of_pairs_that_a_format_says_that_it_loses_are_lost(name: str) -> None:
    @tried
    @given(studies_of_pairs())
    def holds(study: StudyOut) -> None:
        only_declared(name, study)

    holds()


# Final labels ---------------------------------------------------------------------------------------------------------

FINAL = [format_.name for format_ in FORMATS if isinstance(format_, LabelledWriter)]


def only_declared_of_final(name: str, study: StudyOut) -> None:
    """Write the items with what is settled of them, and read: none of that is gone or otherwise, unless it is said."""
    format_: Any = FORMATS.get(name)
    final = {judged.item["id"]: judged.final for judged in study.judged()}

    def items() -> Iterator[Normal]:
        return (
            format_.with_labels(judged.item, FinalLabels(judged.final, study.protocol.criteria_by_name()))
            for judged in study.judged()
        )

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        sink = FolderSink(folder)
        with Files(sink.open, partial(sink.put, difference=first_difference)) as files:
            format_.write(items, files)
            left_out = files.left_out
        said = final_labels_out(final.items(), study.protocol.criteria_by_name())
        lost = measured_losses(name, folder, [judged.item for judged in study.judged()], left_out, said)
        back = [] if len(left_out) == len(final) else read(name, folder)
    assert {one.path for one in lost if one.path.startswith("labels")} <= set(losses_of(format_))
    there = Counter(criterion for labels in final.values() for criterion, _ in labels)
    assert Counter(label.criterion for label in back) <= there


@pytest.mark.parametrize("name", FINAL)
def test_only_final_labels_that_a_format_says_that_it_loses_are_lost(name: str) -> None:
    @tried
    @given(studies(protocol_of_format(name), people=1))
    def holds(study: StudyOut) -> None:
        only_declared_of_final(name, study)

    holds()


def protocol_of_format(name: str) -> Protocol | None:
    """What a study asks that is made for the labels of this format; None where it may be anything."""
    found = FORMATS.get(name)
    assert isinstance(found, LabelledFormat)
    return found.label_protocol()
