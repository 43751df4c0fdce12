"""The whole report of a dataset: its parts in their order, with every number by its name, and the files it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotators.intervals.bootstrap import Resampling
from annotators.progress import Progress
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation
from db.projects import project_overview
from db.studies.design import list_studies
from exports.checks import DATASET_FORMATS, check_dataset_formats, check_export_folder, place_at
from exports.dataset.base import Numbers, OfStudy, Part, Source, figure_numbers
from exports.dataset.datasheet import datasheet
from exports.dataset.judged import agreement
from exports.dataset.judges import judges, trust
from exports.dataset.metrics import metrics, scores
from exports.dataset.people import people
from exports.dataset.protocols import protocol
from exports.dataset.quality import quality
from exports.dataset.references import references
from exports.dataset.sizes import sizes
from exports.drawing.report_files import Section, made_by, slug, write_reports
from exports.drawing.shown import shown_html, shown_text
from exports.drawing.tables import TextTable
from exports.sinks import whole_folder

STEM = "dataset"


@dataclass(frozen=True, repr=False)
class DatasetReport:
    """The report of a project's data, or of one study: sections, every number in them by its name, notes."""

    title: str
    facts: Sequence[tuple[str, str]]
    parts: Sequence[Part]
    notes: Sequence[str] = ()

    def sections(self) -> list[Section]:
        """The parts, in their order."""
        return [section for part in self.parts for section in part.sections]

    @property
    def numbers(self) -> Numbers:
        """Name → value, of every number that the sections show."""
        return {name: value for part in self.parts for name, value in part.numbers.items()}

    def write(self, folder: Path | str, formats: Sequence[str] = tuple(DATASET_FORMATS)) -> list[Path]:
        """Write the files into a folder, plots beside them; the files that were written. Conflict where it has some.

        Nothing is left of what fails.
        """
        folder, chosen = place_at(folder), check_dataset_formats(formats)
        check_export_folder(folder)
        with whole_folder(folder) as made:
            files = write_reports(self, made, STEM, [DATASET_FORMATS[name] for name in chosen])
        return [folder / path.relative_to(made) for path in files]

    def contents(self) -> TextTable:
        """Its sections, and how many tables and plots each has."""
        rows = [
            (section.title, str(len(section.tables) or ""), str(len(section.plots) or ""))
            for section in self.sections()
        ]
        return TextTable("Contents", ("Section", "Tables", "Plots"), tuple(rows))

    def __repr__(self) -> str:
        """What is in it; not the whole of it, which fills a hundred screens."""
        return shown_text(self, [self.contents()])

    def _repr_html_(self) -> str:
        """What a notebook shows: what is in it, and how to have it."""
        more = f"{len(self.numbers):,} numbers: .numbers; the files: .write(folder), or `assay report`."
        return shown_html(self, [self.contents()], more)


@operation(On.PROJECT, RESEARCHERS)
def dataset_report(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    study_id: int | None = None,
    asked: Resampling | None = None,
    progress: Progress | None = None,
) -> DatasetReport:
    """The report of a project's current items and all its studies, or of one study and its items.

    Every figure is measured by the function that the pages and commands call, with the same seed (0) and resamples.
    People have pseudonyms. Plots are charts, drawn when files are written.
    """
    asked = asked or Resampling()
    overview = project_overview(db, actor, project_id)
    rows = [row for row in list_studies(db, actor, project_id) if study_id in (None, row.study_id)]
    studies = [OfStudy(db, actor, row.study_id, asked) for row in rows]
    only = studies[0] if study_id is not None and studies else None
    source = Source(db, actor, project_id, overview.name, studies, only, asked)
    parts: list[Part] = []
    made = _parts(source)
    total = 3 + 7 * len(studies)
    for done, part in enumerate(made):
        parts.append(part)
        if progress is not None:
            progress(min(done + 1, total), total)
    numbers: Numbers = {name: value for part in parts for name, value in part.numbers.items()}
    limits = list(dict.fromkeys(limit for part in parts for limit in part.limits))
    parts += [_limits(limits), datasheet(source, numbers, limits), _references(parts)]
    title = overview.name if only is None else f"{overview.name}, study {only.name}"
    facts = [
        ("Project", overview.name),
        ("Studies", ", ".join(of.name for of in studies) or "none"),
        ("People", "under pseudonyms"),
        (
            "Intervals",
            f"{asked.kind} bootstrap, {asked.resamples:,} resamples, seed {asked.seed}, {100 * asked.level:g} %",
        ),
        made_by(),
    ]
    return DatasetReport(f"The dataset {title}", facts, parts)


def _parts(source: Source) -> Iterator[Part]:
    yield sizes(source)
    for of in source.studies:
        yield protocol(source, of)
        yield people(source, of)
        yield agreement(source, of)
        yield quality(source, of)
        yield _results(source, of)
        yield metrics(source, of)
        yield from trust(source, of)
    yield scores(source)
    yield judges(source)


def _results(source: Source, of: OfStudy) -> Part:
    """What the study's protocol is for: the reports of the page Results."""
    if not of.is_labelled:
        return Part()
    found = of.results.drawn()
    numbers: Numbers = {}
    for figure in found.figures:
        about = [figure.criterion, figure.by, figure.group, figure.label, figure.labels]
        name = ".".join([f"results.{figure.name}", *(str(part) for part in about if part is not None)])
        numbers |= figure_numbers(source.named(name, of), figure)
    sections = [
        replace(
            section,
            title=source.titled(section.title, of),
            plots=[(f"results-{of.study_id}-{name}", caption, chart) for name, caption, chart in section.plots],
            name=f"results-{of.study_id}-{slug(section.title)}",
        )
        for section in found.sections()
    ]
    return Part(sections, numbers, [f"Study {of.name}: {note}" for note in found.notes])


def _limits(limits: Sequence[str]) -> Part:
    text = "\n".join(f"- {_plain(limit)}" for limit in limits)
    words = [] if limits else ["Nothing was found in the data that limits it."]
    return Part([Section("Known limits", text=text, words=words, name="limits")], {"limits": len(limits)})


def _references(parts: Sequence[Part]) -> Part:
    found = references(name for part in parts for name in part.statistics)
    return Part([Section("References of the statistics", text="\n".join(f"- {_plain(work)}" for work in found),
                         name="references")])  # fmt: skip


def _plain(text: str) -> str:
    """A sentence as Markdown says it, letter for letter."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>#|&~" else letter for letter in " ".join(text.split()))


def to_json(files: Sequence[Path], report: DatasetReport) -> dict[str, Any]:
    """As `assay report --json` prints it."""
    return {"files": [str(path) for path in files], "numbers": report.numbers}
