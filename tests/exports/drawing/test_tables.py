"""Tables as text: in columns that fit the terminal where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exports.drawing.tables import LINE, TextTable, as_text, in_columns

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
    [*_, whole] = in_columns(["Id"], [["x" * 70]], [False]).splitlines()
    assert whole == "x" * 70


@pytest.mark.usefixtures("terminal")
def test_numbers_are_never_narrowed_and_wide_letters_count_twice() -> None:
    _, rule, first, second = in_columns(["語", "Number"], [["日本", "1"], ["abcd", "22"]], [False, True]).splitlines()
    assert (rule, first, second) == ("----  ------", "日本       1", "abcd      22")
