"""Figures in words, and tables as CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from annotators.figures import duration
from app import wording
from exports.drawing.tables import (
    LONGEST_WORD,
    TextTable,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    cell_html,
    identifier_html,
)


def test_what_stands_in_backticks_is_code_and_all_else_as_it_is_written() -> None:
    told = "`overlap` of <b>*x*</b> is '`': write `- ` before it"
    assert wording.markdown("`over_lap` is *no* field.") == r"`over_lap` is \*no\* field."
    assert wording.html(told) == (
        "<code>overlap</code> of &lt;b&gt;*x*&lt;/b&gt; is &#x27;<code>&#x27;: write </code>- ` before it"
    )


def test_what_is_counted_up_to_a_limit_says_that_there_may_be_more() -> None:
    assert wording.at_least([3, 4], "item", most=10) == "7 items"
    assert wording.at_least([1], "item", most=10) == "1 item"
    assert wording.at_least([1000, 4], "item", most=1000) == "1,004+ items"
    assert wording.at_least([1000], most=1000) == "1,000+"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.7249, 2, "0.72"),
        (0.725001, 2, "0.73"),
        (-0.05, 2, "−0.05"),
        (-0.001, 2, "0.00"),
        (1234.5, 1, "1,234.5"),
        (None, 2, "not defined"),
        (float("nan"), 2, "not defined"),
    ],
)
def test_numbers_are_rounded_as_papers_do(value: float | None, digits: int, text: str) -> None:
    assert wording.number(value, digits) == text


def test_what_is_not_defined_says_why() -> None:
    reason = "no page was rated by two annotators"
    assert wording.number(None, reason=reason) == f"not defined: {reason}"
    assert wording.interval(None, None, None, reason=reason) == f"not defined: {reason}"
    assert wording.percent(None, reason=reason) == f"not defined: {reason}"


def test_intervals_and_shares() -> None:
    assert wording.interval(0.7201, 0.64, 0.789) == "0.72 [0.64, 0.79]"
    assert wording.interval(-0.1, -0.2, 0.05) == "−0.10 [−0.20, 0.05]"
    assert wording.interval(0.7201, None, None) == "0.72"
    assert wording.percent(0.9681) == "96.8\N{NARROW NO-BREAK SPACE}%"


def test_counts_and_durations() -> None:
    assert [wording.count(n, "item") for n in (0, 1, 1200)] == ["no items", "1 item", "1,200 items"]
    assert wording.count(2, "study", "studies") == "2 studies"
    assert [duration(s) for s in (None, 42, 185, 7800)] == ["", "42 s", "3 min 05 s", "2 h 10 min"]


def test_waiting_is_called_the_rest_only_where_something_is_there() -> None:
    assert "Measuring … 3" in wording.measuring(3.2, more=False)
    assert "The rest follows … 12" in wording.measuring(12, more=True)


def test_times_are_the_readers_own() -> None:
    at = datetime(2026, 11, 18, 23, 30, tzinfo=UTC)
    assert wording.moment(at, "Europe/Berlin") == "19 Nov 2026, 00:30"
    assert wording.moment(at, "America/New_York") == "18 Nov 2026, 18:30"
    assert wording.moment(at, "No/Such_Zone") == wording.moment(at)
    assert wording.moment(None) == ""


TABLE = TextTable.of(
    "Agreement of A & B",
    ("Criterion", "Units", "Krippendorff's α"),
    [
        ("Answer | factual", 200, "0.72 [0.64, 0.79]"),
        ("100 % sure_", 3, "−0.05 [−0.20, 0.10]"),
        ("<b>=1+1</b>", None, "not defined: nobody rated it"),
    ],
)


def test_a_table_as_csv_is_read_back_as_it_was() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert rows == [list(TABLE.columns), *(list(row) for row in TABLE.rows)]


@pytest.mark.parametrize("cell", ["=HYPERLINK(1)", "+1+cmd", "@SUM(A1)", "-2+3"])
def test_no_cell_of_a_csv_is_run_by_a_spreadsheet(cell: str) -> None:
    assert as_csv(TextTable.of("t", ("a",), [(cell,)])).splitlines()[1].lstrip('"')[0] == "'"


def test_numbers_stay_numbers_in_a_csv() -> None:
    assert as_csv(TextTable.of("t", ("a",), [("-2.5",), ("−2.5",)])).splitlines() == ["a", "-2.5", "−2.5"]


def test_a_dash_for_a_figure_that_is_not_there_stands_where_the_figures_stand() -> None:
    table = TextTable.of("Shares", ("Label", "a", "b"), [("yes", "–", "–"), ("no", "–", "–"), ("both", "12.5 %", "–")])
    assert [table.numeric(place) for place in range(3)] == [False, True, True]


def test_a_table_as_markdown_aligns_numbers_and_keeps_its_cells_apart() -> None:
    assert as_markdown(TABLE).splitlines()[:3] == [
        "| Criterion | Units | Krippendorff's α |",
        "| --- | ---: | ---: |",
        "| Answer \\| factual | 200 | 0.72 [0.64, 0.79] |",
    ]


def test_a_table_as_latex_escapes_what_latex_would_read() -> None:
    text = as_latex(TABLE)
    assert r"\begin{tabular}{lrr}" in text
    assert r"\caption{Agreement of A \& B}" in text
    assert r"100 \% sure\_ & 3 & $-$0.05 [$-$0.20,~0.10] \\" in text
    assert r"Krippendorff's $\alpha$" in text


def test_a_table_as_html_is_text_only() -> None:
    html = as_html(TABLE)
    assert "&lt;b&gt;=1+1&lt;/b&gt;" in html
    assert '<th scope="col" class=n>Units</th>' in html
    assert "<caption>Agreement of A &amp; B</caption>" in html


# Cells that wrap at spaces only ---------------------------------------------------------------------------------------


def as_read(html: str) -> str:
    """What a reader of the page, and the clipboard, get."""
    return unescape(re.sub(r"<[^>]+>", "", html))


@pytest.mark.parametrize("text", ["0.72 [0.64, 0.79]", "−0.05 [−0.20, 0.10]", "12 s", "96.8 % [95.1, 97.9]"])
def test_a_figure_stays_with_its_unit_and_its_interval(text: str) -> None:
    assert cell_html(f"about {text}, then more").startswith(f'about <span class="assay-w">{text}</span>')


def test_a_word_that_a_browser_would_break_is_kept_whole_and_others_are_left_alone() -> None:
    assert cell_html("a self-contained answer, and/or more.") == (
        'a <span class="assay-w">self-contained</span> answer, <span class="assay-w">and/or</span> more.'
    )
    assert cell_html("Multimodality") == "Multimodality"


def test_a_long_id_has_its_middle_hidden_and_loses_nothing() -> None:
    name = "doc-2024-0123456789-annual-report-17.pdf"
    html = cell_html(name)
    assert html.startswith(f'<span class="assay-id" title="{name}">doc-2024-')
    assert html.endswith("-17.pdf</span>")
    assert as_read(html) == name
    hidden = html.split("<span>")[1].split("</span>")[0]
    assert len(name) - len(hidden) < LONGEST_WORD
    assert as_read(identifier_html("q-1:a system with <b> & spaces in it")) == "q-1:a system with <b> & spaces in it"


def test_words_of_a_script_without_spaces_wrap_as_that_script_does() -> None:
    text = "東京湾の年次報告書に記載された風力発電所の数はいくつですか、そして誰が"
    assert cell_html(text) == text
    assert cell_html("كم عدد التوربينات؟").startswith('<span dir="auto"')


def test_a_long_word_of_letters_is_no_id() -> None:
    assert "assay-id" not in cell_html("Donaudampfschifffahrtsgesellschaft")
    assert "assay-id" in cell_html("a" * 80)


def test_how_long_ago_is_said_in_the_largest_unit() -> None:
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    said = [wording.ago(now - timedelta(seconds=seconds), now) for seconds in (5, 60, 7300, 3 * 86400)]
    assert said == ["just now", "1 minute ago", "2 hours ago", "3 days ago"]
    assert wording.ago(None) == ""
