"""Cells that spreadsheets do not run."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.cells import original, safe, value_cell

DANGEROUS = "=+-@\t\r\n＝＋－＠"


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", "＝1", "- a list"])
def test_a_formula_does_not_run(text: str) -> None:
    assert safe(text) == "'" + text
    assert original(safe(text)) == text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("x;=1+1", "x;'=1+1"),
        ("x;@SUM(A1);＝1", "x;'@SUM(A1);'＝1"),
        ("see\n=1+1", "see\n'=1+1"),
        ("see\t+cmd", "see\t'+cmd"),
        ("\n=1", "'\n'=1"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("x;'=1", "x;''=1"),
        ("a; b=c", "a; b=c"),
    ],
)
def test_nothing_runs_where_a_semicolon_or_a_line_break_ends_a_cell(text: str, cell: str) -> None:
    assert safe(text) == cell
    assert original(cell) == text


@pytest.mark.parametrize(
    "text",
    ["+6.4 % [−1.7, +15.0]", "-3.5 %", "-3", "+3", "-0.5", "-1e-9", "", "yes", "'tis", "a=b", "1-2", "'quoted'", "é"],
)
def test_numbers_and_plain_texts_stay_as_they_are(text: str) -> None:
    assert safe(text) == text
    assert original(text) == text


@given(st.text(alphabet=DANGEROUS + ";'a1.-", max_size=8) | st.text(max_size=6))
def test_any_text_comes_back_and_none_runs(text: str) -> None:
    cell = safe(text)
    assert original(cell) == text
    if cell and cell[0] in DANGEROUS:
        assert re.fullmatch(r"[+-][\d.]+(e[+-]?\d+)?(\s?%)?", cell, re.IGNORECASE)
    assert not re.search(r"[;\t\r\n][=+\-@＝＋－＠]", cell)


@pytest.mark.parametrize(
    ("value", "cell"),
    [("yes", "yes"), (-1, "-1"), (0.5, "0.5"), (["a", "b"], '["a","b"]'), ([], "[]"), (None, ""), ("=x", "'=x")],
)
def test_values_are_written_in_one_way(value: object, cell: str) -> None:
    assert value_cell(value) == cell
