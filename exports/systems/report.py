"""The comparison of systems as tables and sentences, conclusions first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotators.figures import NOT_DEFINED, count, ends, number, p_in_words, p_value
from annotators.intervals.result import Aligned
from annotators.mixed.systems import TITLES, SystemComparison
from exports.drawing.report_files import Section, made_by
from exports.drawing.tables import TextTable, as_text


@dataclass(frozen=True)
class SystemsReport:
    """Systems compared by each criterion: (title, comparison); `read` and `cautions` are of a table."""

    title: str
    facts: Sequence[tuple[str, str]]
    criteria: Sequence[tuple[str, SystemComparison]]
    level: float
    about: Mapping[str, Any]
    read: Sequence[str] = ()
    cautions: Sequence[str] = ()
    notes: Sequence[str] = field(default=())

    @classmethod
    def of(
        cls,
        title: str,
        facts: Sequence[tuple[str, str]],
        criteria: Sequence[tuple[str, SystemComparison]],
        level: float,
        about: Mapping[str, Any],
        **of_table: Any,
    ) -> SystemsReport:
        """The report with what every file says of how it was made."""
        return cls(title, [*facts, ("Intervals", f"{100 * level:g} %"), made_by()], criteria, level, about, **of_table)

    def sections(self) -> list[Section]:
        """A section a criterion."""
        return [section_of(title, comparison, self.level) for title, comparison in self.criteria]

    def to_json(self) -> dict[str, Any]:
        """As `assay systems --json` prints it."""
        return {
            **self.about,
            "level": self.level,
            "criteria": [comparison.to_json() for _, comparison in self.criteria],
            "read": list(self.read),
            "cautions": list(self.cautions),
            "notes": list(self.notes),
        }

    def in_words(self) -> str:
        """The whole in columns of text."""
        blocks = [self.title, ""]
        for section in self.sections():
            blocks.append(section.title)
            for table in section.tables:
                blocks += [table.caption, as_text(table), ""]
            blocks += [*section.words, ""]
        said = [*(f"Caution: {caution}" for caution in self.cautions), *self.notes]
        read = ["", "What was read:", *(f"  {sentence}" for sentence in self.read)] if self.read else []
        return "\n".join([*blocks, *said, *read]).rstrip()


def section_of(title: str, found: SystemComparison, level: float = 0.95) -> Section:
    """The differences, the means, what else labels differ by; what the figures say and do not say in words."""
    if found.reason is not None:
        return Section(title, [], words=[f"Systems are not compared: {found.reason}."])
    if all(entry.low is None for entry in found.differences):
        why = next((entry.reason or entry.method or "" for entry in found.differences), "")
        return Section(title, [], words=[f"Systems are not compared: no difference has an interval ({why})."])
    # What it comes to heads the first table, where a reader begins.
    tables = [_differences(f"{title}: {_conclusion(found, level)}", found), _means(title, found)]
    if found.equivalences:
        tables.append(_equivalences(title, found))
    if found.components:
        tables.append(_components(title, found))
    words = _summary(found)
    words += [f"Caution: {warning}." for warning in found.warnings]
    words.append(
        f"Mixed models of {count(found.n, 'label')} by {count(found.n_raters, 'rater')}, about {found.about}: what "
        "questions, answers and raters differ by is in the intervals; each difference is of a model of its two systems."
    )
    words += [f"{note[:1].upper()}{note[1:]}." for note in found.notes]
    return Section(title, tables, words=words)


def _conclusion(found: SystemComparison, level: float) -> str:
    """Which systems differ, by p adjusted by Holm."""
    judged = [entry for entry in found.differences if entry.p_value is not None]
    clear = [entry for entry in judged if _p(entry) <= 1 - level]
    if len(judged) == 1:
        [entry] = judged
        say = (
            f"{entry.group} is above {entry.against}"
            if clear
            else (f"{entry.group} and {entry.against} are not shown to differ")
        )
        return f"{say}: {_value(entry)}, {p_in_words(_p(entry))}."
    said = [f"{entry.group} above {entry.against}" if (entry.value or 0) > 0 else f"{entry.against} above {entry.group}"
            for entry in clear]  # fmt: skip
    named = f": {', '.join(said[:6])}{' …' if len(said) > 6 else ''}" if said else ""
    return f"{len(clear)} of {len(judged)} differences are clear of 0 after Holm's adjustment{named}."


def _summary(found: SystemComparison) -> list[str]:
    """How many differences are shown to be within the margin."""
    decided = [entry for entry in found.equivalences if entry.verdict is not None]
    if not decided:
        return []
    within = sum((entry.verdict or "").startswith("equivalent") for entry in decided)
    if len(decided) == 1:
        return []  # the table of one row says it
    return [f"{within} of {len(decided)} differences are shown to be within ±{decided[0].margin:g}."]


def _p(entry: Aligned) -> float:
    return (entry.p_value or 0.0) if entry.p_holm is None else entry.p_holm


def _value(entry: Aligned, digits: int = 3) -> str:
    if entry.value is None:
        return f"{NOT_DEFINED}: {entry.reason}"
    return f"{number(entry.value, digits)}{ends(entry.low, entry.high, digits)}"


def _differences(caption: str, found: SystemComparison) -> TextTable:
    rows = [
        [
            f"{entry.group} − {entry.against}",
            _value(entry),
            "" if entry.p_value is None else p_value(_p(entry)),
            f"{entry.n:,}",
            entry.method or "",
        ]
        for entry in found.differences
    ]
    p = "p (Holm)" if len(found.differences) > 1 else "p"
    return TextTable.of(caption, ("Systems", "Difference", p, "Labels", "How"), rows)


def _means(title: str, found: SystemComparison) -> TextTable:
    rows = [[entry.group or "", _value(entry), f"{entry.n:,}", entry.method or ""] for entry in found.means]
    return TextTable.of(f"{title}: means of systems", ("System", "Mean", "Labels", "How"), rows)


def _equivalences(title: str, found: SystemComparison) -> TextTable:
    rows = [
        [
            f"{entry.group} / {entry.against}",
            entry.verdict or f"not tested: {entry.reason}",
            "" if entry.value is None else _value(entry),
            "" if entry.p_value is None else p_value(_p(entry)),
        ]
        for entry in found.equivalences
    ]
    caption = f"{title}: are two systems equivalent within ±{found.equivalences[0].margin:g}?"
    return TextTable.of(caption, ("Systems", "Verdict", "Difference", "p"), rows)


def _components(title: str, found: SystemComparison) -> TextTable:
    said = any(component.reason for component in found.components)
    rows = [
        [
            TITLES[component.name].capitalize(),
            f"{number(component.variance, 3)}{ends(component.low, component.high, 3)}",
            f"{100 * component.share:.0f} %",
            *([component.reason or ""] if said else []),
        ]
        for component in found.components
    ]
    columns = ("Source", "Variance", "Of all", *(["No interval, as"] if said else []))
    return TextTable.of(f"{title}: what labels differ by, beside the systems", columns, rows)
