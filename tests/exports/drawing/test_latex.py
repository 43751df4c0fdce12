"""Tables in LaTeX: long names break at their signs, and headings do not make columns of figures wide."""

from __future__ import annotations

from exports.drawing.latex import latex_table
from exports.drawing.tables import TextTable, as_latex, latex_cell

NAME = "Docling with easyOCR/llama3.3:70b_easyOCR"


def systems(rows: int) -> TextTable:
    figures = [("0.217", "0.642 [0.268, 0.956]")] * rows
    return TextTable.of("Means", ("System", "Cross-Document Multimodal", "Mean"),
                        [(NAME, *row) for row in figures], words=("System",))  # fmt: skip


def test_a_long_word_may_break_behind_its_signs() -> None:
    assert latex_cell("easyOCR/llama3.3:70b_x") == (r"easyOCR/\allowbreak{}llama3.3:\allowbreak{}70b\_\allowbreak{}x")
    assert latex_cell("a/b and/or 12:30") == "a/b and/or 12:30"
    assert NAME not in as_latex(systems(1))


def test_a_heading_wider_than_its_figures_stands_in_two_lines() -> None:
    for rows in (3, 60):
        written = latex_table(systems(rows))
        assert r"\shortstack[r]{Cross-Document\\Multimodal}" in written
        assert "System & " in written
        assert r"& Mean \\" in written
