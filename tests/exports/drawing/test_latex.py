"""Reports in LaTeX: long names break at their signs, longer words anywhere, and headings widen no figures."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pymupdf
import pytest

from exports.drawing.latex import latex_table, preamble
from exports.drawing.report_files import Section, report_latex
from exports.drawing.tables import TextTable, as_latex, latex_cell, latex_text

NAME = "Docling with easyOCR/llama3.3:70b_easyOCR"


def set_in_type(document: str, folder: Path) -> str:
    """What pdfLaTeX logs of a document, which becomes r.pdf in this folder."""
    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX is installed, so nothing is set in type")
    (folder / "r.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "r.tex"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=120)
    log = (folder / "r.log").read_text("utf-8", errors="replace")
    assert done.returncode == 0, log[-2000:]
    return log


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


WORD = ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2)[:130]
ANYWHERE = r"\penalty200{}"
"""Where a long word may break."""


def test_a_word_longer_than_columns_may_break_anywhere_and_none_that_is_shorter() -> None:
    assert latex_text("x" * 30) == "x" * 30
    assert latex_text(f"a {'x' * 31} b") == f"a {ANYWHERE.join('x' * 31)} b"
    assert latex_text(WORD).replace(ANYWHERE, "") == WORD
    assert latex_cell(f"{'x' * 20}/{'_' * 20}").startswith(
        f"{ANYWHERE.join('x' * 20)}{ANYWHERE}/\\allowbreak{{}}{ANYWHERE}\\_"
    )


@pytest.mark.parametrize(("sign", "parts"), [("e\u0301", 1), ("\u0915\u094d\u0937", 1), ("\u4e2d\u6587", 2)])
def test_a_long_word_breaks_between_signs_alone(sign: str, parts: int) -> None:
    """Not before an accent, nor within letters that are written as one."""
    assert latex_text(sign * 31).count(ANYWHERE) == 31 * parts - 1


def test_letters_that_are_joined_stay_so() -> None:
    assert latex_text("\u0633" * 40) == "\u0633" * 40


@pytest.mark.parametrize("rows", [3, 60])
def test_a_heading_that_wraps_has_no_lines_that_could_not_break(rows: int) -> None:
    written = latex_table(TextTable.of("T", ("System", f"Whether {WORD} holds"), [("A", "0.5")] * rows))
    assert r"\shortstack" not in written
    assert f"Whether {latex_text(WORD)} holds" in written


@dataclass
class OfLongWords:
    """A report that has a word of 130 letters wherever a text can be."""

    title: str = f"Report on {WORD}"
    facts: Sequence[tuple[str, str]] = (("Criterion", f"Whether {WORD} holds"), (WORD, "yes"))
    notes: Sequence[str] = (f"The criterion {WORD} has no labels.",)

    def sections(self) -> list[Section]:
        columns = ("Statistic", f"Whether {WORD} holds", "n")
        rows = [(WORD, "0.413 [0.180, 0.633]", "24"), ("raw", "0.1", "24")]
        tables = [TextTable.of(f"Agreement on {WORD}", columns, rows * times) for times in (1, 30)]
        return [Section(f"Whether {WORD} holds", tables, words=[WORD], text=f"# {WORD}\n\n*{WORD}* and `{WORD}`")]


@pytest.mark.slow
def test_words_longer_than_lines_stay_on_the_page(tmp_path: Path) -> None:
    written, _ = report_latex(OfLongWords(), "r")
    log = set_in_type(written, tmp_path)
    assert [float(found) for found in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log) if float(found) > 10] == []
    with pymupdf.open(tmp_path / "r.pdf") as book:
        letters = "".join("".join(page.get_text().split()) for page in book)
        assert all(word[2] < page.rect.width - 50 for page in book for word in page.get_text("words"))
    assert letters.count(WORD) > 30, "each is there, letter for letter"


OUR_SIGNS = "−ακρτωελ±×⇄→≤≥≈√–“”…"
"""Beyond Latin letters, what reports write of themselves: pdfLaTeX knows none of them by itself."""


def test_what_reports_write_of_themselves_needs_no_other_engine() -> None:
    assert latex_text("a ⇄ b, ≤ 2") == r"a $\leftrightarrow$ b, $\le$ 2"
    written = latex_text(OUR_SIGNS)
    assert [letter for letter in written if ord(letter) > 0x24F] == list("“”…")


@pytest.mark.slow
def test_pdflatex_sets_what_reports_write_of_themselves(tmp_path: Path) -> None:
    body = "\n".join([r"\begin{document}", latex_text(OUR_SIGNS), r"\end{document}", ""])
    log = set_in_type("\n".join([*preamble(body), body]), tmp_path)
    assert "Missing character" not in log
