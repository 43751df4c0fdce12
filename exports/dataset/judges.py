"""Judges: which models were asked with which prompts, what each is worth beside people, and panels of them."""

from __future__ import annotations

from collections.abc import Iterator

from annotators.alignment import title_of
from annotators.alignment.statistics.alternative_annotator import WINNING_RATE
from annotators.figures import number
from annotators.judges.trust.panel import Rule
from db.judging.judges import list_judges
from exports.dataset.base import Numbers, OfStudy, Part, Source, figure_numbers
from exports.drawing.report_files import Section, slug
from exports.drawing.tables import TextTable
from exports.judging.check import CheckReport, check_report
from exports.judging.panel import panel_report, panel_table

PASSES = 0.5
"""The winning rate from which on the alternative annotator test lets a judge replace people (Calderon et al., 2025)."""

HAS_RULE: Rule = "majority"
"""The rule by which the report combines judges; the page Judges has the others."""


def judges(source: Source) -> Part:
    """The judges of the project: which model, asked with which prompt, how often; and their agreement with people."""
    studies = {of.study_id: of for of in source.studies}
    found = list_judges(source.db, source.actor, source.project_id)
    if source.only is not None:
        found = [judge for judge in found if studies.keys() & judge.labelled.keys()]
    if not found:
        return Part()
    numbers: Numbers = {"judges": len(found)}
    rows, beside = [], []
    for judge in found:
        counts = {of: n for of, n in judge.labelled.items() if of in studies}
        settings = judge.settings
        rows.append(
            [judge.name, judge.model, judge.prompt, str(settings.get("samples", "")), str(settings.get("seed", "")),
             f"{sum(counts.values()):,}"]
        )  # fmt: skip
        for study_id in counts:
            for entry in studies[study_id].alignment.statistics:
                if entry.metric and judge.name in entry.metric and entry.group is None and entry.against is None:
                    figure = "" if entry.value is None else number(entry.value, 3)
                    if figure and entry.low is not None and entry.high is not None:
                        figure += f" [{number(entry.low, 3)}, {number(entry.high, 3)}]"
                    why = entry.reason if entry.value is None else entry.method
                    beside.append([judge.name, studies[study_id].name, entry.criterion or "", title_of(entry.name),
                                   figure or "not defined", f"{entry.n:,}", why or ""])  # fmt: skip
    columns = ("Judge", "Model", "Prompt", "Samples", "Seed", "Items judged")
    tables = [TextTable.of("Judges", columns, rows, words=columns[:3])]
    if beside:
        columns_of = ("Judge", "Study", "Criterion", "Statistic", "Value", "n", "How, or why not")
        words = (*columns_of[:4], columns_of[-1])
        tables.append(TextTable.of("Judges against people", columns_of, beside, words=words))
    limits = ["Judges are models: their labels are in no coefficient of agreement among people."]
    return Part([Section("Judges", tables, name="judges")], numbers, limits)


def trust(source: Source, of: OfStudy) -> Iterator[Part]:
    """What each judge of a study is worth beside its people, and a panel of them: the figures of the page Judges."""
    if not of.is_labelled:
        return
    held = [judge for judge in of.judged.judges if any(labels.judges.get(judge) for labels in of.judged.criteria)]
    for judge in of.judged.judges:
        if judge in held:
            yield _check(source, of, judge)
        else:
            yield Part(limits=[f"In study {of.name} the judge {judge} labelled nothing that judges are held against."])
    if len(held) > 1:
        yield _panel(source, of, held)


def _check(source: Source, of: OfStudy, judge: str) -> Part:
    found = check_report(of.db, of.actor, of.study_id, judge=judge, asked=source.asked, named=False)
    numbers: Numbers = {}
    for entry in found.statistics:
        about = [judge, entry.criterion, entry.name, entry.against, entry.by, entry.group]
        numbers |= figure_numbers(source.named(".".join(["judge", *(str(part) for part in about if part)]), of), entry)
    sections = found.sections(by_group=False)
    section = Section(
        source.titled(f"The judge {judge}", of),
        [table for one in sections for table in one.tables],
        words=[" · ".join(f"{name}: {value}" for name, value in found.facts[:-1]), *_notes(found)],
        name=f"judge-{of.study_id}-{slug(judge)}",
    )
    return Part([section], numbers, list(_limits(of, found)), [entry.name for entry in found.statistics])


def _notes(found: CheckReport) -> list[str]:
    return [f"{note[:1].upper()}{note[1:]}." for note in dict.fromkeys(found.notes)]


def _limits(of: OfStudy, found: CheckReport) -> Iterator[str]:
    for entry in found.statistics:
        if entry.name == WINNING_RATE.name and entry.group is None and entry.value is not None and entry.value < PASSES:
            yield (
                f"In study {of.name} the judge {found.judge} does not pass the alternative annotator test on "
                f"{entry.criterion}: its winning rate is {number(entry.value, 2)}, below {PASSES:g}."
            )
    for warning in found.warnings:
        yield f"Study {of.name}, judge {found.judge}: {warning}"


def _panel(source: Source, of: OfStudy, judges: list[str]) -> Part:
    """All judges of the study as one, or why they are not combined; nothing where there is nothing to say of it."""
    found = panel_report(of.db, of.actor, of.study_id, judges=judges, rule=HAS_RULE, asked=source.asked)
    if not found.statistics and not found.notes:
        return Part()
    numbers: Numbers = {}
    for entry in found.statistics:
        about = [HAS_RULE, entry.criterion, entry.name, entry.group]
        numbers |= figure_numbers(source.named(".".join(["panel", *(str(part) for part in about if part)]), of), entry)
    title = source.titled("All judges as a panel", of)
    words = [f"{note[:1].upper()}{note[1:]}." for note in found.notes]
    tables = [panel_table(found)] if found.statistics else []
    section = Section(title, tables, words=words, name=f"panel-{of.study_id}")
    return Part([section], numbers, [], [entry.name for entry in found.statistics])
