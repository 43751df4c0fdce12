"""The coefficients: all criteria in one table with their forest, and one criterion with everything about it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from annotators.agreement.remarks import benchmarks
from annotators.agreement.statistics.base import title_of
from annotators.agreement.tables.ratings import COMPOSED
from annotators.intervals.result import Statistic
from app import ui, wording
from app.pages.agreement.shared import View, caution, kept, nobody, note, table, units_link
from app.widgets import report_menu
from app.widgets.plots import plot
from app.worker.report_tasks import AgreementFile
from exports.agreement import plots as agreement_plots
from exports.agreement.counts import LabelCounts, label_counts, titled, word
from exports.agreement.report import MOST_LABELS, Report, raters_words, statistics_table, summary, undefined_words
from exports.agreement.study import CriterionReport
from exports.drawing.forest import forest
from exports.drawing.tables import TextTable


def all_criteria(view: View) -> None:
    """One row a criterion, what limits the figures, a sentence to paste, the forest, and the report as files."""
    document = Report.of_study(view.report)
    shown = summary(document.measured)
    names = [criterion.criterion.name for criterion in view.report.criteria]
    rows: list[list[object]] = [
        [units_link(view, row[0], name), *row[1:]] for name, row in zip(names, shown.rows, strict=True)
    ]
    table(shown, f"agreement-{view.study.study_id}", rows)
    for words in [*raters_words(document.measured), *undefined_words(document.measured)]:
        note(words)
    cautions: dict[str, list[str]] = {}
    for criterion in view.report.criteria:
        if criterion.warnings:
            cautions.setdefault(" ".join(criterion.warnings), []).append(criterion.title)
    for words, titles in cautions.items():
        everywhere = len(titles) > 1 and len(titles) == len(view.report.criteria)
        caution("All criteria" if everywhere else ", ".join(titles), words)
    _to_paste(view)
    headlines = [(criterion.title, criterion.headline) for criterion in view.report.criteria]
    chart = forest([(name, stat) for name, stat in headlines if stat], "Coefficient, 95 % interval")
    plot(
        chart,
        "agreement-forest",
        "The coefficient of every criterion with its 95 % interval.",
        otherwise="There is no plot of coefficients, because none is defined: it takes items that two people labelled.",
    )
    unjudged = [
        [criterion.title, f"{criterion.column.cannot_judge:,}"]
        for criterion in view.report.criteria
        if criterion.column.cannot_judge
    ]
    if unjudged:
        table(
            TextTable.of("Cannot judge: counted, and left out of agreement", ("Criterion", "Count"), unjudged),
            f"cannot-judge-{view.study.study_id}",
        )
    note(
        "The report has all tables and plots; Markdown and LaTeX come in a ZIP with their pictures. People are A1, A2 "
        "… there, as in exports."
    )
    report_menu.offer(
        document.title, partial(AgreementFile, view.task), ui.reports(), view.key, name="agreement-report"
    )


def one_criterion(view: View) -> None:
    """All statistics of the chosen criterion, the share of each label, and who labels how often what."""
    criterion = view.criterion
    if criterion is None or criterion.ratings is None:
        nobody(view)
        if criterion is not None:
            note(criterion.statistics[0].reason or "")
        return
    shown = statistics_table(criterion.title, criterion.statistics)
    rows = [
        [row[0], _about(view, criterion, statistic, row[1]), *row[2:]]
        for row, statistic in zip(shown.rows, criterion.statistics, strict=True)
    ]
    table(shown, f"statistics-{view.slug}", rows)
    headline = criterion.headline
    for words in benchmarks(headline, criterion.ratings) if headline else ():
        assert headline is not None
        note(f"{title_of(headline.name)} is {words}. These are conventions, not tests.")
    for warning in criterion.warnings:
        caution(criterion.title, warning)
    _labels(view, criterion)


def _about(view: View, criterion: CriterionReport, statistic: Statistic, words: str) -> object:
    """What a statistic is about, as a link to the units behind it."""
    name = criterion.criterion.name
    if statistic.raters is not None:
        first, second = map(str, statistic.raters)
        return units_link(view, words, name, first=first, second=second)
    if statistic.label is not None:
        return units_link(view, words, name, label=word(statistic.label))
    return units_link(view, "all units" if statistic.name != "percent_agreement" else "units that differ", name, **(
        {"all": "1"} if statistic.name != "percent_agreement" else {}
    ))  # fmt: skip


def _labels(view: View, criterion: CriterionReport) -> None:
    assert criterion.ratings is not None
    rows = [
        [units_link(view, label, criterion.criterion.name, label=label, all="1"),
         f"{round(share * criterion.n_ratings):,}", wording.percent(share)]
        for label, share in criterion.most_given(100)
    ]  # fmt: skip
    caption = f"{criterion.title}: share of each label"
    if len(criterion.shares) > 100:
        caption += f" (the 100 most frequent of {len(criterion.shares):,})"
    table(TextTable.of(caption, ("Label", "Labels", "Share"), rows), f"labels-{view.slug}", rows)
    if criterion.ratings.scale not in COMPOSED and len(criterion.ratings.labels) <= MOST_LABELS:
        labels = [word(label) for label in criterion.ratings.labels]
        counts = kept(view, "label-counts", None, label_counts, criterion.ratings)
        chart = agreement_plots.shares(counts.shares, labels, ordered=criterion.ratings.scale == "ordinal")
        plot(chart, f"labels-{view.slug}", f"{criterion.title}: the share of each label by annotator.")
        _confusion(view, criterion, labels, counts)


def _confusion(view: View, criterion: CriterionReport, labels: list[str], counted: LabelCounts) -> None:
    """How often two annotators gave which labels: the pair that shares most units, unless another is chosen."""
    if view.hidden:
        note("What two annotators gave is shown when you have judged everything in this study.")
        return
    pairs = counted.confusions
    if not pairs:
        note("There is no confusion of two annotators: no two of them have labelled the same unit.")
        return
    most = max(pairs, key=lambda pair: sum(pairs[pair].values()))
    first, second = picked = st.selectbox(
        "Confusion of",
        list(pairs),
        index=list(pairs).index(most),
        format_func=lambda pair: f"{pair[0]} and {pair[1]} ({wording.count(sum(pairs[pair].values()), 'unit')})",
        key=f"agreement-confusion-{criterion.criterion.name}",
    )
    words = [titled(criterion, label) for label in labels]
    counts = {(titled(criterion, a), titled(criterion, b)): n for (a, b), n in pairs[picked].items()}
    chart = agreement_plots.confusion(counts, picked, words)
    held = counted.held[picked]
    caption = f"{criterion.title}: how often {first} (rows) and {second} (columns) gave which labels; {held}."
    plot(chart, f"confusion-of-pair-{view.slug}", caption, stretch=False)


def _to_paste(view: View) -> None:
    """The sentence for a paper, for one criterion at a time."""
    said = {
        criterion.title: criterion.sentence
        for criterion in view.report.criteria
        if criterion.sentence and criterion.n_ratings
    }
    if not said:
        return
    with st.container(border=True):
        picked = st.selectbox("A sentence to paste, for", list(said), key="agreement-sentence")
        st.code(said[picked], language=None, wrap_lines=True)
