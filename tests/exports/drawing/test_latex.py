"""Tables in LaTeX: long names break at their signs, and headings do not make columns of figures wide."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from exports.drawing.latex import latex_table, preamble
from exports.drawing.tables import TextTable, as_latex, latex_cell, latex_text

NAME = "Docling with easyOCR/llama3.3:70b_easyOCR"


def systems(rows: int) -> TextTable:
    figures = [("0.217", "0.642 [0.268, 0.956]")] * rows
    return TextTable.of("Means", ("System", "Cross-Document Multimodal", "Mean"),
                        [(NAME, *row) for row in figures], words=("System",))  # fmt: skip


def test_a_long_word_may_break_behind_its_signs() -> None:
    assert latex_cell("easyOCR/llama3.3:70b_x") == (r"easyOCR/\allowbreak{}llama3.3:\allowbreak{}70b\_\allowbreak{}x")
    assert latex_cell("a/b and/or 12:30") == "a/b and/or 12:30"
    assert latex_cell("α 0.67 [−0.58, 0.75]") == r"$\alpha$ 0.67 [$-$0.58,~0.75]"
    assert latex_cell("of [1, x] and [one, two]") == "of [1, x] and [one, two]"
    assert NAME not in as_latex(systems(1))


def test_a_heading_wider_than_its_figures_stands_in_two_lines() -> None:
    for rows in (3, 60):
        written = latex_table(systems(rows))
        assert r"\shortstack[r]{Cross-Document\\Multimodal}" in written
        assert "System & " in written
        assert r"& Mean \\" in written


def parts_of_line(written: str) -> list[float]:
    return [float(part) for part in re.findall(r"p\{\\dimexpr ([\d.]+)\\linewidth", written)]


@pytest.mark.parametrize("long_figures", [False, True])
def test_a_long_column_leaves_the_others_room_for_their_words(long_figures: bool) -> None:
    """Names and reasons share the line, so that neither takes more lines than it has to."""
    name, why = "Cohen's kappa (quadratic weights)", "BCa bootstrap over questions, 95 %, 40 resamples, seed 3, " * 3
    reason = "not defined: people's labels are not yes or no, and AUROC needs two labels" if long_figures else "0.5"
    rows = [(name, "0.413 [0.180, 0.633]", "24", why), (name, reason, "24", ""), *[("raw", "0.1", "24", why)] * 20]
    parts = parts_of_line(latex_table(TextTable.of("T", ("Statistic", "Value", "n", "How"), rows)))
    assert len(parts) == 2 + long_figures
    assert all(part > 0.11 for part in parts)
    assert parts[-1] > 0.3
    assert sum(parts) < 1


def test_what_does_not_break_is_given_its_width() -> None:
    rows = [
        ("SHA-256", "3db56e7f12a489bc2bd313e09085a9d0d40f51f0de370cec98a0565f92990bff"),
        ("Rule", "Two agree. " * 20),
    ]
    written = latex_table(TextTable.of("T", ("What", "Says"), rows))
    [part] = map(float, re.findall(r"p\{([\d.]+)\\linewidth", written))
    assert part > 0.6


def test_a_table_too_wide_to_be_read_goes_on_below_with_its_first_column() -> None:
    columns = ("Label", *(name for number in range(6) for name in (f"Criterion {number}", "n")))
    row = ("Settled labels", *["100.0 % [64.1, 99.0]", "25"] * 6)
    written = latex_table(TextTable.of("Wide", columns, [row]))
    heads = re.findall(r"toprule\n    (.*) \\\\", written)
    assert [head.count("&") for head in heads] == [6, 6]
    assert all(head.startswith("Label & ") and head.endswith("& n") for head in heads)
    assert (written.count("Settled labels"), written.count(r"\caption"), written.count(r"\end{table}")) == (2, 1, 1)
    assert latex_table(TextTable.of("Fits", columns[:9], [row[:9]])).count("toprule") == 1


OUR_SIGNS = "−ακρτωελ±×⇄→≤≥≈√–“”…"
"""Beyond Latin letters, what reports write of themselves: pdfLaTeX knows none of them by itself."""


def test_what_reports_write_of_themselves_needs_no_other_engine() -> None:
    assert latex_text("a ⇄ b, ≤ 2") == r"a $\leftrightarrow$ b, $\le$ 2"
    written = latex_text(OUR_SIGNS)
    assert [letter for letter in written if ord(letter) > 0x24F] == list("“”…")


@pytest.mark.slow
def test_pdflatex_sets_what_reports_write_of_themselves(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX is installed, so nothing is set in type")
    body = "\n".join([r"\begin{document}", latex_text(OUR_SIGNS), r"\end{document}", ""])
    (tmp_path / "r.tex").write_text("\n".join([*preamble(body), body]), encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "r.tex"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=120)
    assert done.returncode == 0, (tmp_path / "r.log").read_text("utf-8", errors="replace")[-2000:]
    assert "Missing character" not in (tmp_path / "r.log").read_text("utf-8", errors="replace")
