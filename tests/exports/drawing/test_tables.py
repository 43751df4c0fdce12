"""Tables as text: in columns that fit the terminal where there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from exports.drawing.tables import TextTable, as_text
from exports.drawing.terminal import LINE, in_columns

LONG = "times of labels, seconds that labels took, remarks beside labels"
TABLE = TextTable.of(
    "Losses",
    ("Format", "What", "Value", "n"),
    [("argilla", LONG, "0.90 [0.60, 1.00]", "12"), ("a", "nothing", "", "3")],
    words=("Format", "What"),
)


@pytest.fixture
def terminal() -> Iterator[None]:
    before = LINE.set(50)
    yield
    LINE.reset(before)


def test_in_a_file_a_row_is_a_line() -> None:
    title, rule, first, second = as_text(TABLE).splitlines()
    assert len(rule) > 90
    assert LONG in first
    assert (title.split(), second.split()) == (["Format", "What", "Value", "n"], ["a", "nothing", "3"])


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_long_cells_go_on_below_and_intervals_and_words_stay_whole() -> None:
    text = as_text(TABLE)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 50
    assert "[0.60, 1.00]" in text
    width = lines[1].split()[0]
    what = " ".join(line[len(width) + 2 :].split("  ")[0].strip() for line in lines[2:-1])
    assert " ".join(what.split()) == LONG
    assert [line[: len(width)].strip() for line in lines[2:]] == ["argilla", *[""] * (len(lines) - 4), "a"]
    assert in_columns(["Id"], [["x" * 70]], [False]) == "Id  " + "x" * 70, "a word is never broken"


@pytest.mark.usefixtures("terminal")
def test_numbers_are_never_narrowed_and_wide_letters_count_twice() -> None:
    _, rule, first, second = in_columns(["語", "Number"], [["日本", "1"], ["abcd", "22"]], [False, True]).splitlines()
    assert (rule, first, second) == ("----  ------", "日本       1", "abcd      22")


WIDE = ("Statistic", "About", "Value", "95 % interval", "Units", "Raters", "How, or why not")
ROWS = [
    ("Krippendorff's α (ordinal)", "", "0.713", "[0.640, 0.777]", "1,200", "3", LONG),
    ("Cohen's κ (linear weights)", "A1 and A2", "0.640", "[0.521, 0.744]", "400", "2", f"{LONG}; {LONG}"),
]
RIGHT = [False, False, True, True, True, True, False]


def for_terminal(line: int, titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    before = LINE.set(line)
    try:
        return in_columns(titles, rows, right)
    finally:
        LINE.reset(before)


@pytest.mark.parametrize("line", [34, 40, 60, 80, 100, 120, 200])
def test_a_table_fits_every_terminal_and_loses_no_word(line: int) -> None:
    text = for_terminal(line, WIDE, ROWS, RIGHT)
    assert max(map(len, text.splitlines())) <= line
    said = Counter(text.split())
    for row in ROWS:
        assert Counter(" ".join(row).split()) <= said
    for interval in ("[0.640, 0.777]", "[0.521, 0.744]"):
        assert interval in text, "an interval is on one line"


@pytest.mark.parametrize(("line", "blocks"), [(60, True), (130, False)])
def test_where_no_columns_fit_each_row_is_a_block_with_a_line_a_cell(line: int, blocks: bool) -> None:
    text = for_terminal(line, WIDE, ROWS, RIGHT)
    first = text.splitlines()[:2]
    assert (first == ["Statistic        Krippendorff's α (ordinal)", "Value            0.713"]) == blocks
    assert text.count(WIDE[0]) == (2 if blocks else 1)


def test_a_cell_that_would_fill_the_screen_makes_its_row_a_block() -> None:
    rows = [["argilla", "one thing of it, " * 60], ["b", "nothing"]]
    first, second = for_terminal(60, ["format", "loses"], rows, [False, False]).split(f"\n{'-' * 60}\n")
    assert first.startswith("format  argilla\nloses   one thing of it,")
    assert second.splitlines() == ["format  b", "loses   nothing"]


def test_a_table_without_rows_names_its_columns_and_fits() -> None:
    assert for_terminal(20, ["a long title", "another one"], [], [False, False]) == "a long title, another one"
