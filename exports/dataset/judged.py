"""How far people agreed, the rule that settled, and what moved at each stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from annotators.figures import count, number, percent
from db.adjudicating.causes import CAUSES, cause_counts
from db.adjudicating.stages import double_decided, is_double
from db.releasing.counts import ENDS, study_stages
from exports.agreement.report import Usual, statistics_table
from exports.dataset.base import Numbers, OfStudy, Part, Source, figure_numbers, once
from exports.dataset.protocols import RULES
from exports.drawing.report_files import Section
from exports.drawing.tables import DASH, TextTable

SETTLED = {"unanimous": "Unanimous", "majority": "By majority", "adjudicated": "Adjudicated", "open": "Open"}
LOW = 0.667
"""The coefficient below which Krippendorff draws no conclusions (2004, p. 241)."""


def agreement(source: Source, of: OfStudy) -> Part:
    """The table of all criteria, every statistic of each, how units were settled, what moved at each stage."""
    if not of.is_labelled:
        return Part()
    report = of.agreement_document
    first, *_ = report.sections()
    measured = [
        (one.title, one.agreement.statistics) for one in report.measured if one.agreement is not None and one.n_ratings
    ]
    methods = [Usual.of(some) for _, some in measured]
    tables = [
        statistics_table(title, some, report.level, usual)
        for (title, some), usual in zip(measured, methods, strict=True)
    ]
    usually = once(
        (title, usual.in_words()) for (title, _), usual in zip(measured, methods, strict=True) if usual != Usual()
    )
    said_once = [f"Intervals of which nothing else is said, {words}" for words in usually]
    numbers: Numbers = {}
    statistics: list[str] = []
    for one in of.agreement.criteria:
        for found in one.statistics if one.n_ratings else ():
            statistics.append(found.name)
            about = [part for part in (found.raters and " and ".join(map(str, found.raters)), found.label) if part]
            name = ".".join([f"agreement.{one.criterion.name}.{found.name}", *map(str, about)])
            numbers |= figure_numbers(source.named(name, of), found)
    settling, counts = _settling(source, of)
    words = [f"The rule of the study: {RULES.get(of.study.rule, of.study.rule)}"]
    stages, moved = _stages(source, of)
    sections = [
        replace(first, title=source.titled("Agreement", of), name=f"agreement-{of.study_id}",
                plots=[(f"agreement-{of.study_id}-{name}", caption, chart) for name, caption, chart in first.plots]),
        Section(source.titled("Agreement: every statistic", of), tables, words=said_once,
                name=f"statistics-{of.study_id}"),
        Section(source.titled("How units were settled", of), settling, words=words, name=f"settled-{of.study_id}"),
        Section(source.titled("What moved at each stage", of), stages, name=f"stages-{of.study_id}"),
    ]  # fmt: skip
    return Part(sections, numbers | counts | moved, list(_limits(of)), statistics)


def _settling(source: Source, of: OfStudy) -> tuple[list[TextTable], Numbers]:
    rows: list[list[str]] = []
    numbers: Numbers = {}
    titles = {column.criterion.name: column.criterion.title for column in of.labels.found.criteria}
    states = [state for state in SETTLED if any(state in of.labels.states(name) for name in titles)]
    for name, title in titles.items():
        counts: Counter[str] = of.labels.states(name)
        total = counts.total()
        if not total:
            continue
        cells = [f"{counts[state]:,} ({percent(counts[state] / total)})" for state in states]
        rows.append([title, f"{total:,}", *cells])
        numbers |= {source.named(f"settled.{name}.{state}", of): counts[state] for state in states}
    columns = ("Criterion", "Units", *(SETTLED[state] for state in states))
    return [TextTable.of("Units by how they were settled", columns, rows)] if rows else [], numbers


def _stages(source: Source, of: OfStudy) -> tuple[list[TextTable], Numbers]:
    found = study_stages(of.db, of.actor, of.study_id)
    numbers: Numbers = {}
    rows = []
    for stage in found.stages:
        rows.append(
            [
                stage.stage,
                f"{stage.reached:,}",
                percent(stage.reached / found.items) if found.items else "",
                DASH if stage.stage in ENDS else f"{stage.moved:,}",
                DASH if stage.stage in ENDS else percent(stage.moved / stage.reached) if stage.reached else "",
            ]
        )
        numbers |= {
            source.named(f"stages.{stage.stage}.reached", of): stage.reached,
            source.named(f"stages.{stage.stage}.moved", of): stage.moved,
        }
    tables = []
    if found.items:
        what = "Pairs" if found.pairs else "Items"
        columns = ("Stage", f"{what} that reached it", "Share of all", "Went on", "Share of those")
        tables.append(TextTable.of(f"{what} by stage", columns, rows))
        states = [
            [state.replace("_", " "), f"{n:,}", percent(n / found.items)] for state, n in found.states.items() if n
        ]
        tables.append(TextTable.of(f"Where {what.lower()} stand", ("State", what, "Share"), states))
        numbers |= {source.named(f"items.state.{state}", of): n for state, n in found.states.items()}
    tables += _decisions(source, of, numbers)
    return tables, numbers


def _decisions(source: Source, of: OfStudy, numbers: Numbers) -> list[TextTable]:
    """What adjudicators found, where anything is decided."""
    tables = []
    causes = cause_counts(of.db, of.actor, of.study_id)
    rows = [
        [found.title, f"{found.units:,}", *(f"{found.causes.get(cause, 0):,}" for cause in CAUSES)]
        for found in causes
        if found.units
    ]
    if rows:
        columns = ("Criterion", "Units", *CAUSES.values())
        tables.append(TextTable.of("Units that were adjudicated, and what the disagreement came from", columns, rows))
        numbers |= {source.named(f"adjudicated.{found.criterion}", of): found.units for found in causes}
    if is_double(of.study):
        twice = double_decided(of.db, of.actor, of.study_id)
        alike = sum(unit.first == unit.second for unit in twice.units)
        two = [["Items that two decided", f"{twice.items:,}"], ["Units", f"{len(twice.units):,}"],
               ["Decided alike", f"{alike:,}"], ["Items with a final round", f"{twice.finals:,}"]]  # fmt: skip
        tables.append(TextTable.of("Two adjudicators, blind to each other", ("What", "Number"), two))
        numbers[source.named("adjudication.alike", of)] = alike
    return tables


def _limits(of: OfStudy) -> Iterator[str]:
    weak = []
    for one in of.agreement.criteria:
        found = one.headline
        if found is not None and found.value is not None and found.value < LOW:
            weak.append(f"{one.title} ({number(found.value, 2)})")
    if weak:
        yield (
            f"In study {of.name} the {'coefficient' if len(weak) == 1 else 'coefficients'} of {', '.join(weak)} "
            f"{'is' if len(weak) == 1 else 'are'} below {LOW:g}, from which on Krippendorff draws tentative "
            "conclusions."
        )
    undefined = [one.title for one in of.agreement.criteria if one.headline is None or one.headline.value is None]
    if undefined and of.is_labelled:
        yield f"Agreement in study {of.name} is not defined for {', '.join(undefined)}; the tables say why."
    open_ = Counter[str]()
    for column in of.labels.found.criteria:
        open_.update({column.criterion.title: of.labels.states(column.criterion.name)["open"]})
    left = sum(open_.values())
    if left:
        yield f"{count(left, 'unit')} of study {of.name} {'is' if left == 1 else 'are'} not settled yet."
    warnings = ((one.title, warning) for one in of.agreement.criteria for warning in one.warnings)
    yield from (f"Study {of.name}, {limit}" for limit in once(warnings))
