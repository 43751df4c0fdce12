"""The agreement report: a table of all criteria, then each criterion with its statistics, its plots and its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotators.agreement.annotators import Similarity, similarity
from annotators.agreement.remarks import benchmarks
from annotators.agreement.report import CriterionAgreement
from annotators.agreement.statistics.base import title_of
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.ratings import COMPOSED, Ratings
from annotators.intervals.result import FIXED_RATERS, RANDOM_RATERS, Statistic
from exports.agreement import plots
from exports.agreement.counts import Wanted, confusions, held_by, shares_by_rater, units_behind, word
from exports.agreement.parts import by_part, over_time, parts_plot, parts_table, time_plot, time_table
from exports.agreement.rating_tables import RatingTables
from exports.agreement.study import GROUPINGS, AgreementReport, CriterionReport
from exports.drawing.figures import between, number, share
from exports.drawing.forest import forest
from exports.drawing.report_files import Section, made_by, slug
from exports.drawing.tables import TextTable, as_text

MOST_PAIRS = 3
"""Pairs of annotators whose confusion tables a report has."""

MOST_UNITS = 50
"""Units on which annotators differ that a report lists for each criterion; the export of labels has all."""

MOST_LABELS = 20
"""More labels than this make a plot that nobody can read."""

SECOND = {
    "nominal": ("gwet_ac1", "fleiss_kappa"),
    "ordinal": ("gwet_ac2_ordinal", "light_kappa_quadratic", "cohen_kappa_quadratic"),
    "interval": ("icc_a_1", "icc_1_1"),
    "ratio": ("icc_a_1", "icc_1_1"),
    "set": ("mean_jaccard", "pairwise_f1"),
    "ranking": ("kendall_w",),
    "spans": ("pairwise_f1_characters",),
    "text": (),
}
"""What stands beside the coefficient in the first table, by scale: the first that was measured."""

Plot = tuple[str, str, Any]


@dataclass(frozen=True)
class Measured:
    """One criterion as a report shows it; `agreement` is None where nothing can be measured, and `reason` says why.

    `of` is the criterion of a study, when it is one: then the report has parts, time, and the units behind.
    """

    title: str
    scale: str
    agreement: CriterionAgreement | None
    ratings: Ratings | None
    n_units: int
    n_raters: int
    n_ratings: int
    reason: str | None = None
    of: CriterionReport | None = None


@dataclass(frozen=True)
class Report:
    """What a report of agreement says, of a study or of a table.

    Of a table `read` says what was read and how, and `cautions` what of it may make the figures wrong.
    """

    title: str
    facts: Sequence[tuple[str, str]]
    measured: Sequence[Measured]
    resamples: int = 0
    seed: int = 0
    level: float = 0.95
    read: Sequence[str] = ()
    cautions: Sequence[str] = ()

    @classmethod
    def of_study(cls, report: AgreementReport) -> Report:
        """The report of a study."""
        facts = [
            ("Study", report.study),
            ("Protocol", report.protocol),
            ("Pairs of items" if report.found.protocol.about_pairs else "Items", f"{report.n_items:,}"),
            ("Annotators", ", ".join(report.raters)),
            *_how(report.resamples, report.seed, report.level),
        ]
        measured = [
            Measured(
                criterion.title,
                criterion.criterion.scale,
                criterion.measured,
                criterion.ratings,
                criterion.n_units,
                criterion.n_raters,
                criterion.n_ratings,
                None if criterion.measured else criterion.statistics[0].reason,
                criterion,
            )
            for criterion in report.criteria
        ]
        return cls(f"Agreement in study {report.study}", facts, measured, report.resamples, report.seed, report.level)

    @classmethod
    def of_table(
        cls,
        found: RatingTables,
        criteria: Sequence[CriterionAgreement],
        *,
        resamples: int,
        seed: int,
        level: float = 0.95,
    ) -> Report:
        """The report of a table."""
        facts = [("Table", found.name), ("Rows", f"{found.n_rows:,}")]
        facts += [("Read", sentence) for sentence in found.read] + [("Caution", said) for said in found.cautions]
        facts += [(f"Left out: {reason}", f"{n:,}") for reason, n in found.left_out.items()]
        several = len({criterion.criterion for criterion in criteria}) < len(criteria)
        measured = [
            Measured(
                f"{criterion.criterion} ({criterion.target})" if several else criterion.criterion,
                criterion.scale,
                criterion,
                table.ratings,
                criterion.n_units,
                criterion.n_raters,
                criterion.n_ratings,
            )
            for criterion, table in zip(criteria, found.tables, strict=True)
        ]
        facts += _how(resamples, seed, level)
        return cls(f"Agreement in {found.name}", facts, measured, resamples, seed, level, found.read, found.cautions)

    @property
    def notes(self) -> list[str]:
        """What limits the figures, and what authors call such values."""
        found = []
        together = dict.fromkeys(one.agreement.together for one in self.measured if one.agreement and one.n_ratings)
        found += [one.in_words("--question") for one in together if one is not None]
        for criterion in self.measured:
            if criterion.agreement is None or not criterion.n_ratings:
                continue
            found += [f"{criterion.title}: {warning}" for warning in criterion.agreement.warnings]
            headline = criterion.agreement.headline
            for words in benchmarks(headline, criterion.ratings) if headline else ():
                found.append(f"{criterion.title}: {title_of(headline.name) if headline else ''} is {words}.")
        return found

    def sections(self) -> list[Section]:
        """The table of all criteria with its forest, then each criterion."""
        rows = [(criterion.title, criterion.agreement.headline) for criterion in self.measured if criterion.agreement]
        chart = forest([(name, stat) for name, stat in rows if stat], f"Coefficient, {100 * self.level:g} % interval")
        drawn = [("coefficients", "The coefficient of each criterion with its interval.", chart)] if chart else []
        words = [*raters_words(self.measured), *undefined_words(self.measured)]
        first = Section("All criteria", [summary(self.measured)], drawn, words)
        return [first, *map(self._section, self.measured)]

    def _section(self, criterion: Measured) -> Section:
        """One criterion: its statistics, shares, plots, and for a study its parts, its times and its units."""
        if criterion.agreement is None or criterion.ratings is None or not criterion.n_ratings:
            return Section(criterion.title, words=[criterion.reason or "Nobody has labelled this yet."])
        tables = [statistics_table(criterion.title, criterion.agreement.statistics, self.level)]
        if criterion.agreement.shares:
            rows = [[word(label), share(part)] for label, part in criterion.agreement.shares.items()]
            tables.append(TextTable.of(f"{criterion.title}: share of each label", ("Label", "Share"), rows))
        if criterion.agreement.weights is not None:
            tables.append(_weights_table(criterion.title, criterion.agreement.weights, criterion.ratings))
        drawn = list(_plots(criterion, criterion.ratings))
        if criterion.of is not None:
            for table, plot in _parts(criterion.of, resamples=self.resamples, seed=self.seed):
                tables.append(table)
                drawn += [plot] if plot is not None else []
            tables += _units(criterion.of)
        words = [criterion.agreement.sentence] if criterion.agreement.sentence else []
        return Section(criterion.title, tables, drawn, words)

    def in_words(self) -> str:
        """The whole in columns of text: the table, each criterion's statistics, sentences and warnings."""
        table = summary(self.measured)
        blocks = [table.caption, *raters_words(self.measured), as_text(table), *undefined_words(self.measured), ""]
        for criterion in self.measured:
            if criterion.agreement is not None and criterion.n_ratings:
                statistics = statistics_table(criterion.title, criterion.agreement.statistics, self.level)
                blocks += [statistics.caption, as_text(statistics), ""]
        blocks += [
            criterion.agreement.sentence
            for criterion in self.measured
            if criterion.agreement and criterion.agreement.sentence
        ]
        cautions = [f"Caution: {caution}" for caution in self.cautions]
        read = ["", "What was read:", *(f"  {sentence}" for sentence in self.read)] if self.read else []
        return "\n".join([*cautions, *([""] if cautions else []), *blocks, *self.notes, *read]).rstrip()


def summary(measured: Sequence[Measured]) -> TextTable:
    """One row a criterion: its numbers, raw agreement, the coefficient of its scale, the one beside it, specific."""
    counted, measured_by = ("Units", "Raters", "Ratings", "Raw"), ("Coefficient", "Second coefficient", "Specific")
    columns = ("Criterion", "Scale", *counted, *measured_by)
    return TextTable.of("Agreement by criterion", columns, [_row(criterion) for criterion in measured])


RATERS_IN_WORDS = {
    FIXED_RATERS: "The intervals hold for these raters on other units, not for other raters.",
    RANDOM_RATERS: "The intervals hold for raters like these, on other units.",
}


def raters_words(measured: Sequence[Measured]) -> list[str]:
    """Which raters the intervals of a table are about, which is the same for all of them."""
    about = {
        statistic.interval.raters
        for criterion in measured
        for statistic in (criterion.agreement.statistics if criterion.agreement else ())
        if statistic.interval is not None and statistic.interval.low is not None
    }
    return [words for raters, words in RATERS_IN_WORDS.items() if raters in about]


def undefined_words(measured: Sequence[Measured]) -> list[str]:
    """Why coefficients of the first table are not defined: one sentence a reason, whatever the number of criteria."""
    about: dict[str, dict[str, list[str]]] = {}
    for criterion in measured:
        for name, reason in _reasons(criterion):
            about.setdefault(reason, {}).setdefault(criterion.title, []).append(name)
    found = []
    for reason, titles in about.items():
        several = len(titles) > 1 and len(titles) == len(measured)
        whose = "of any criterion" if several else f"of {_and(list(titles))}"
        names = list(dict.fromkeys(name for of in titles.values() for name in of if name))
        found.append(f"Not defined: {_and(names) + ' ' if names else ''}{whose}, because {reason}.")
    return found


def _reasons(criterion: Measured) -> Iterator[tuple[str, str]]:
    """(coefficient, why it is not defined) of what a row of the first table shows; "" is the whole row."""
    if criterion.agreement is None or not criterion.n_ratings:
        yield "", criterion.reason or "nobody has labelled it yet"
        return
    for stat in (criterion.agreement.headline, _second(criterion.agreement)):
        if stat is not None and stat.value is None:
            yield title_of(stat.name, short=True), stat.reason or "it has no value"


def _second(found: CriterionAgreement) -> Statistic | None:
    return next((hit for name in SECOND[found.scale] if (hit := found.find(name)) is not None), None)


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _row(criterion: Measured) -> list[str]:
    numbers = [f"{n:,}" for n in (criterion.n_units, criterion.n_raters, criterion.n_ratings)]
    found = criterion.agreement
    if found is None or not criterion.n_ratings:
        return [criterion.title, criterion.scale, *numbers, "", "not defined", "", ""]
    raw = found.find("percent_agreement") or found.find("exact_match") or found.find("text_identical")
    second = _second(found)
    specific = [stat for stat in found.statistics if stat.name == "specific_agreement"]
    return [
        criterion.title,
        criterion.scale,
        *numbers,
        share(None if raw is None else raw.value),
        _named(found.headline),
        _named(second),
        " / ".join("–" if stat.value is None else f"{100 * stat.value:.0f}" for stat in specific),
    ]


def _named(statistic: Statistic | None) -> str:
    if statistic is None:
        return ""
    short = title_of(statistic.name, short=True)
    if statistic.value is None:
        return f"{short} not defined"
    return f"{short} {number(statistic.value, 2)}{between(statistic, 2)}"


def statistics_table(
    title: str, statistics: Sequence[Statistic], level: float = 0.95, usual: Usual | None = None
) -> TextTable:
    """Every statistic of a criterion: its value and interval or why there is none, and what it rests on.

    What the `usual` methods say, which stand elsewhere, is not said again.
    """
    usual = usual or Usual()
    interval = f"{100 * level:g} % interval"
    columns = ("Statistic", "About", "Value", interval, "Units", "Raters", "Ratings", "How, or why not")
    rows = [
        [
            title_of(statistic.name),
            " and ".join(map(str, statistic.raters))
            if statistic.raters
            else ""
            if statistic.label is None
            else str(statistic.label),
            "not defined" if statistic.value is None else number(statistic.value),
            between(statistic).strip(),
            f"{statistic.n_units:,}",
            str(statistic.n_raters),
            f"{statistic.n_ratings:,}",
            (statistic.reason or "") if statistic.value is None else usual.besides(statistic),
        ]
        for statistic in statistics
    ]
    kept = len(columns) if not rows or any(row[-1] for row in rows) else -1
    return TextTable.of(f"{title}: statistics", columns[:kept], [row[:kept] for row in rows])


@dataclass(frozen=True)
class Usual:
    """How most intervals of a table were made, in words: those of two raters, and the others; empty where none was."""

    of_two: str = ""
    of_all: str = ""

    @classmethod
    def of(cls, statistics: Sequence[Statistic]) -> Usual:
        """Of these statistics."""
        two, others = Counter[str](), Counter[str]()
        for statistic in statistics:
            if statistic.value is not None and (method := _method(statistic)):
                (two if statistic.raters else others)[method] += 1
        return cls(*(counted.most_common(1)[0][0] if counted else "" for counted in (two, others)))

    def in_words(self) -> str:
        """Both, in a sentence."""
        two = f"of two raters: {self.of_two}" if self.of_two and self.of_two != self.of_all else ""
        return "; ".join(filter(None, [self.of_all, two])) + "."

    def besides(self, statistic: Statistic) -> str:
        """What the method of a statistic says that this does not."""
        method, usual = _method(statistic), self.of_two if statistic.raters else self.of_all
        return (
            method.removeprefix(usual).removeprefix("; ") if usual and f"{method};".startswith(f"{usual};") else method
        )


def _weights_table(title: str, weights: OwnWeights, ratings: Ratings) -> TextTable:
    """The agreement weights that κ was measured with."""
    labels = [word(label) for label in weights.labels or ratings.labels]
    rows = [[label, *(f"{weight:g}" for weight in row)] for label, row in zip(labels, weights.rows, strict=True)]
    return TextTable.of(f"{title}: own weights, how far two labels agree", ("Label", *labels), rows)


def _method(statistic: Statistic) -> str:
    return statistic.interval.in_words() if statistic.interval is not None else statistic.method or ""


def _parts(report: CriterionReport, *, resamples: int, seed: int) -> Iterator[tuple[TextTable, Plot | None]]:
    """By category, by system, over time, as far as there are parts."""
    name = slug(report.title)
    for by in GROUPINGS:
        found = by_part(report, by, resamples=resamples, seed=seed)
        if found:
            table, chart = parts_table(report, by, found), parts_plot(by, found)
            plot = (f"{name}-by-{by}", f"{table.caption}: {table.columns[-1]}.", chart)
            yield table, None if chart is None else plot
    found = over_time(report, resamples=resamples, seed=seed)
    if found:
        table, chart = time_table(report, found), time_plot(found)
        caption = f"{report.title}: {table.columns[-1]} in stretches of units, in the order of their last label."
        yield table, None if chart is None else (f"{name}-over-time", caption, chart)


def _units(report: CriterionReport) -> list[TextTable]:
    """The first units on which annotators differ, with what each of them gave."""
    found = units_behind(report, Wanted(), MOST_UNITS)
    if not found.total:
        return []
    raters = sorted({rater for unit in found.units for rater in unit.labels})
    rows = [[unit.item, unit.target, *(unit.labels.get(rater, "") for rater in raters)] for unit in found.units]
    which = f"{found.total:,}" if found.total <= MOST_UNITS else f"the first {MOST_UNITS} of {found.total:,}"
    return [
        TextTable.of(f"{report.title}: {which} units on which annotators differ", ["Item", "Target", *raters], rows)
    ]


def _plots(criterion: Measured, ratings: Ratings) -> Iterator[Plot]:
    """Labels by annotator, who labels alike, and the confusion of the first pairs."""
    name = slug(criterion.title)
    if ratings.scale in COMPOSED or len(ratings.labels) > MOST_LABELS:
        return
    labels = [word(label) for label in ratings.labels]
    given = shares_by_rater(ratings)
    chart = plots.shares(given, labels, ordered=ratings.scale == "ordinal")
    if chart is not None:
        yield f"{name}-labels", f"{criterion.title}: the share of each label by annotator.", chart
    if len(ratings.raters) > 2:
        found, called = _alike(criterion, ratings)
        alike = plots.similarity(found, called)
        if alike is not None:
            yield f"{name}-annotators", f"{criterion.title}: {called} of each pair of annotators.", alike
    for place, (pair, counts) in enumerate(confusions(ratings)):
        if place == MOST_PAIRS:
            return
        caption = f"{criterion.title}: rows {pair[0]}, columns {pair[1]}; {held_by(ratings, pair)}."
        yield f"{name}-confusion-{place + 1}", caption, plots.confusion(counts, pair, labels)


_OF_PAIRS = ("cohen_kappa_weighted", "cohen_kappa_quadratic", "cohen_kappa_linear", "cohen_kappa")
"""Cohen's κ as it is drawn of pairs: the first of these that the table of statistics has."""


def _alike(criterion: Measured, ratings: Ratings) -> tuple[Similarity, str]:
    """How alike each pair labels by the κ that the table has of pairs, and its name; unweighted where it has none."""
    plain = similarity(ratings, "cohen_kappa")
    statistics = criterion.agreement.statistics if criterion.agreement else ()
    for name in _OF_PAIRS:
        pairs = {
            found.raters: found.value
            for found in statistics
            if found.name == name and found.raters is not None and found.value is not None
        }
        if pairs:
            return plain.by(name, pairs), title_of(name)
    return plain, title_of("cohen_kappa") if ratings.scale == "nominal" else f"{title_of('cohen_kappa')} (unweighted)"


def _how(resamples: int, seed: int, level: float) -> list[tuple[str, str]]:
    drawn = f"each by its own method; those of the bootstrap from {resamples:,} resamples, seed {seed}"
    made = f"{100 * level:g} %, {drawn}" if resamples else "none"
    return [("Intervals", made), made_by()]
