"""The agreement report as files: self-contained HTML, Markdown and LaTeX with their plots, hostile names as text."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from annotators.agreement.report import agreement_report as report_of
from annotators.criteria.order import Order
from db.engine import Database
from exports.agreement.rating_tables import RatingColumns, read_ratings
from exports.agreement.report import Report, summary, undefined_words
from exports.agreement.study import AgreementReport, agreement_report, unmeasured
from exports.drawing.report_files import report_html, report_latex, report_markdown, write_report
from exports.drawing.tables import TextTable, as_csv
from tests.exports.labelled import Labelled, labelled_study

HOSTILE = '<script>alert("1")</script> & <b>x</b> $x_1^2$ \\input{/etc/passwd} | `y` # %'
ALLOWED = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@pytest.fixture
def study(sqlite_database: Database) -> Labelled:
    return labelled_study(sqlite_database)


@pytest.fixture
def measured(sqlite_database: Database, study: Labelled) -> AgreementReport:
    return agreement_report(sqlite_database, study.researcher, study.study_id, resamples=50)


class Page(HTMLParser):
    """What a page has in it: tags, attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.slow
def test_the_page_has_everything_in_it_and_fetches_nothing(measured: AgreementReport) -> None:
    text = report_html(Report.of_study(measured))
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & set(page.tags)
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("href", "src", "xlink:href"):
            assert value.startswith(("#", "data:")), (tag, value)
    assert set(re.findall(r"https?://[\w./-]+", text)) <= ALLOWED
    assert "url(http" not in text
    assert "@import" not in text
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_the_report_says_what_a_paper_needs(measured: AgreementReport) -> None:
    page = Page(report_html(Report.of_study(measured)))
    for words in (
        "Agreement in study ratings", "Every scale", "ada, ben, chloe, dan",
        "each by its own method; those of the bootstrap from 50 resamples", "labels to 60 items", "Kendall's W",
        "Right: share of each label", "Right by category of the item", "Right by system of the item",
        "Right over time", "units on which annotators differ", "Cohen's κ of each pair of annotators",
        "Right: rows ada, columns ben", "Krippendorff 2004",
    ):  # fmt: skip
        assert words in page.words, words
    # The forest, and for `right`: labels, pairs, three confusions, two kinds of parts, time.
    assert page.tags.count("figure") >= 1 + 8
    assert page.tags.count("svg") == page.tags.count("figure")


def test_the_first_table_is_the_statistics_rounded(measured: AgreementReport) -> None:
    rows = {row[0]: row for row in summary(Report.of_study(measured).measured).rows}
    right = measured.criteria[0]
    alpha, raw = right.headline, right.find("percent_agreement")
    assert alpha is not None
    assert raw is not None
    assert raw.value is not None
    assert rows["Right"][5] == f"{100 * raw.value:.1f} %"
    assert rows["Right"][6] == f"α {alpha.value:.2f} [{alpha.low:.2f}, {alpha.high:.2f}]"
    assert rows["Right"][8].count("/") == 1
    assert rows["Ranking"][6].startswith("mean ρ 0.")
    assert rows["Ranking"][7].startswith("Kendall's W 0.")
    assert not any("Ranking" in words for words in undefined_words(Report.of_study(measured).measured))


def test_a_criterion_of_a_kind_that_is_not_compared_says_so(
    measured: AgreementReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Order, "measured_scale", None)
    of_study = AgreementReport(
        measured.found, 0, 50, True, [unmeasured(measured.found, "ranking")], measured.raters, measured.level
    )
    report = Report.of_study(of_study)
    assert summary(report.measured).rows[0][6] == "not defined"
    [why] = undefined_words(report.measured)
    assert why.startswith("Not defined: of Ranking, because no coefficient is measured for criteria of the kind order")


@pytest.mark.slow
def test_markdown_and_latex_name_the_plots_that_come_with_them(measured: AgreementReport) -> None:
    report = Report.of_study(measured)
    text, files = report_markdown(report, "r")
    named = re.findall(r"!\[[^\n]*\]\((r-plots/[\w-]+\.svg)\)", text)
    assert sorted(named) == sorted(files)
    assert all(content.startswith(b"<svg") for content in files.values())
    text, files = report_latex(report, "r")
    named = re.findall(r"\\includegraphics\[[^\]]*\]\{([^}]+)\}", text)
    assert sorted(named) == sorted(files)
    assert all(content.startswith(b"%PDF") for content in files.values())
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") > 10


@pytest.mark.slow
def test_a_report_is_written_with_its_plots_beside_it(measured: AgreementReport, tmp_path: Path) -> None:
    written = write_report(Report.of_study(measured), tmp_path / "new" / "paper.md")
    assert written[0] == tmp_path / "new" / "paper.md"
    assert {path.parent.name for path in written[1:]} == {"paper-plots"}
    assert all(path.is_file() for path in written)


# Hostile names --------------------------------------------------------------------------------------------------------


@pytest.fixture
def hostile(sqlite_database: Database) -> Report:
    people = (HOSTILE, f"{HOSTILE}2", f"{HOSTILE}3")
    made = labelled_study(sqlite_database, items=45, people=people, titles={"right": HOSTILE})
    return Report.of_study(agreement_report(sqlite_database, made.researcher, made.study_id, resamples=20))


@pytest.mark.slow
def test_hostile_names_are_text_in_html(hostile: Report) -> None:
    page = Page(report_html(hostile))
    assert not {"script", "b"} & set(page.tags)
    assert HOSTILE in page.words


@pytest.mark.slow
def test_hostile_names_are_text_in_markdown(hostile: Report) -> None:
    text, _ = report_markdown(hostile, "r")
    assert not re.search(r"(?<!\\)<script", text)
    for line in text.splitlines():
        if line.startswith("|"):
            bare = re.sub(r"\\.", "", line)
            assert "<" not in bare, line
            assert "`" not in bare, line


@pytest.mark.slow
def test_hostile_names_are_text_in_latex(hostile: Report, tmp_path: Path) -> None:
    text, files = report_latex(hostile, "r")
    assert r"\input" not in text
    assert "$x_1" not in text
    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX is installed, so the report is not set in type")
    (tmp_path / "r-plots").mkdir()
    (tmp_path / "r.tex").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "r.tex"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("+cmd", "'+cmd"),
        ("-x", "'-x"),
        ("+6.4 % [−1.7, +15.0]", None),
        ("-3.5", None),
    ],
)
def test_a_cell_that_a_spreadsheet_would_run_is_quoted_and_a_figure_is_not(cell: str, written: str | None) -> None:
    text = as_csv(TextTable.of("", ["a", "b"], [[cell, "x"]])).splitlines()[1]
    assert text.strip('"').startswith(written if written is not None else cell)


# Tables ---------------------------------------------------------------------------------------------------------------


def test_a_report_of_a_table_says_what_was_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"i{n},{who},{'yes' if (n + k) % 4 else 'no'},{'true' if n else 'false'}" for n in range(12)
            for k, who in enumerate(("ada", "ben"))]  # fmt: skip
    path.write_text("\n".join(["item,annotator,value,current", *rows]))
    found = read_ratings(path, RatingColumns())
    report = Report.of_table(found, report_of(found.tables, resamples=20), resamples=20, seed=0)
    page = Page(report_html(report))
    assert "Left out: superseded or withdrawn" in page.words
    assert "by category" not in page.words


def test_pairs_of_an_ordinal_criterion_are_drawn_by_the_weighted_kappa_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    given = {"ada": "1234512345", "ben": "1234523455", "chloe": "1133552244"}
    rows = [f"i{n},{who},{said[n]}" for who, said in given.items() for n in range(10)]
    path.write_text("\n".join(["item,annotator,value", *rows]))
    found = read_ratings(path, RatingColumns(), scales=["ordinal"])
    criteria = report_of(found.tables, resamples=0)
    report = Report.of_table(found, criteria, resamples=0, seed=0)
    [(caption, chart)] = [
        (caption, chart)
        for section in report.sections()
        for name, caption, chart in section.plots
        if name.endswith("-annotators")
    ]
    assert "Cohen's κ (quadratic weights) of each pair" in caption
    written = chart.to_dict()
    [cells] = written["datasets"].values()
    drawn = {(cell["a"], cell["b"]): cell["value"] for cell in cells}
    table = {
        statistic.raters: statistic.value
        for statistic in criteria[0].statistics
        if statistic.name == "cohen_kappa_quadratic"
    }
    assert len(table) == 3
    assert drawn == table | {(b, a): value for (a, b), value in table.items()}
    assert written["width"]["step"] >= 44, "a cell has room for its number"
