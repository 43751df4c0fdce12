"""Alignment of a table without a database: its columns, its cells, its figures, and the report as files."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from annotators.errors import InvalidInput, NotFound
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from db.engine import Database
from exports.alignment.report import AlignmentDocument
from exports.alignment.study import alignment_report
from exports.alignment.table import MetricColumns, TableAlignment, align_table
from exports.columns.columns import read_columns
from exports.drawing.report_files import report_file, report_html, write_report
from tests.exports.judged import make_judged
from tests.makers import make_person

QUICK = Resampling(resamples=200)


def judgement(i: int, who: str, shift: int) -> dict[str, object]:
    level = (i + shift) % 5
    return {
        "id": f"u{i}", "who": who, "q": f"q{i // 2}", "grade": 1 + level, "right": "yes" if level > 1 else "no",
        "m": level / 4 if i % 7 else 0.5, "k": (i * 37 % 11) / 10, "part": "ab"[i % 2],
    }  # fmt: skip


ROWS = [judgement(i, who, shift) for i in range(30) for who, shift in (("ada", 0), ("ben", int(i % 3 == 0)))]


def write(path: Path, rows: list[dict[str, object]] = ROWS, separator: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return path


def find(found: TableAlignment, name: str, **about: object) -> Aligned:
    wanted = {"group": None, "against": None, **about}
    [entry] = [
        statistic
        for statistic in found.statistics
        if statistic.name == name and all(getattr(statistic, k) == v for k, v in wanted.items())
    ]
    return entry


def test_the_same_figures_from_every_kind_of_file(tmp_path: Path) -> None:
    write(tmp_path / "t.csv")
    write(tmp_path / "t.tsv", separator="\t")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "t.parquet")
    pa.Table.from_pylist(ROWS).to_pandas().to_excel(tmp_path / "t.xlsx", index=False)
    named = MetricColumns("grade", ("m", "k"), group="part", cluster="q")
    documents = []
    for ending in ("csv", "tsv", "jsonl", "parquet", "xlsx"):
        document = align_table(tmp_path / f"t.{ending}", named, QUICK).to_json()
        assert document.pop("table") == f"t.{ending}"
        documents.append(document)
    assert all(document == documents[0] for document in documents)


def test_figures_are_those_of_scipy_and_intervals_go_by_cluster(tmp_path: Path) -> None:
    found = align_table(write(tmp_path / "t.csv"), MetricColumns("grade", ("m",), group="part", cluster="q"), QUICK)
    grades, scores = [row["grade"] for row in ROWS], [row["m"] for row in ROWS]
    statistic = find(found, "spearman", metric="m")
    assert statistic.value == pytest.approx(stats.spearmanr(grades, scores).statistic)
    assert statistic.n == 60
    assert "bootstrap over clusters by q" in (statistic.method or "")
    of_a = [row for row in ROWS if row["part"] == "a"]
    part = find(found, "pearson", metric="m", group="a")
    assert part.value == pytest.approx(np.corrcoef([row["grade"] for row in of_a], [row["m"] for row in of_a])[0, 1])
    assert (part.by, part.n) == ("part", 30)
    assert find(found, "mean_agreement", group="a").value == pytest.approx(np.mean([row["grade"] for row in of_a]))
    assert find(found, "macro_mean_agreement").value is not None


def test_words_of_assent_are_one_and_others_must_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv")
    found = align_table(path, MetricColumns("right", ("m",)), QUICK)
    assert found.notes == ['right: "yes" counts as 1, any other value as 0']
    turned = align_table(path, MetricColumns("right", ("m",)), QUICK, positive="no")
    assert (find(found, "auroc").value or 0) + (find(turned, "auroc").value or 0) == pytest.approx(1)
    odd = [{**row, "right": {"yes": "plain", "no": "pompous"}[str(row["right"])]} for row in ROWS]
    with pytest.raises(InvalidInput, match=r"plain, pompous.*--positive"):
        align_table(write(tmp_path / "odd.csv", odd), MetricColumns("right", ("m",)), QUICK)


def test_raters_and_units_give_the_ceiling_and_the_alternative_annotator_test(tmp_path: Path) -> None:
    found = align_table(write(tmp_path / "t.csv"), MetricColumns("grade", ("m", "k"), unit="id", rater="who"), QUICK)
    ada, ben = ([row["grade"] for row in ROWS if row["who"] == who] for who in ("ada", "ben"))
    assert find(found, "human_ceiling_pearson").value == pytest.approx(np.corrcoef(ada, ben)[0, 1])
    assert find(found, "metric_to_rest_pearson", metric="k").value is not None
    assert find(found, "alt_test_winning_rate", metric="m").n == 2
    assert find(found, "williams_t", metric="m", against="k").p_value is not None
    again = [*ROWS, ROWS[0]]
    with pytest.raises(InvalidInput, match=r"line 62: 'ada' judged 'u0' before"):
        align_table(write(tmp_path / "again.csv", again), MetricColumns("grade", ("m",), unit="id", rater="who"), QUICK)


def test_a_threshold_of_ones_own_and_a_metric_without_one(tmp_path: Path) -> None:
    wide = [{**row, "m": 10 * float(str(row["m"])) - 5} for row in ROWS]
    path = write(tmp_path / "t.csv", wide)
    named = MetricColumns("right", ("m",), unit="id", rater="who")
    found = align_table(path, named, QUICK)
    assert "give one" in (find(found, "accuracy").reason or "")
    assert "give one" in (find(found, "alt_test_winning_rate").reason or "")
    given = align_table(path, named, QUICK, threshold=0)
    assert find(given, "accuracy").value is not None
    assert find(given, "metric_to_rest_accuracy").value is not None


@pytest.mark.parametrize(
    ("name", "text", "error", "says"),
    [
        ("t.csv", "h,m\n1,x\n", InvalidInput, r"t.csv, line 2: 'm' is 'x', which is no number"),
        ("t.csv", "h,m\n1,2,3\n", InvalidInput, r"line 2: the row has 3 cells for 2 columns"),
        ("t.csv", "h,h\n1,2\n", InvalidInput, "names the column 'h' twice"),
        ("t.csv", "", InvalidInput, "is empty"),
        ("t.csv", "h,k\n1,2\n", NotFound, "no column 'm'. It has: h, k"),
        ("t.jsonl", '{"h": 1,\n', InvalidInput, "t.jsonl: line 1"),
        ("t.jsonl", "[1]\n", InvalidInput, r"line 1: it is \[1\], not an object"),
        ("t.xlsx", "h,m\n", InvalidInput, "t.xlsx: it cannot be read as XLSX"),
        ("t.ods", "h,m\n", InvalidInput, "ends with '.ods'"),
        ("t.parquet", "no", InvalidInput, "cannot be read as Parquet"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(
    tmp_path: Path, name: str, text: str, error: type[Exception], says: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(error, match=says):
        align_table(path, MetricColumns("h", ("m",)), QUICK)


def test_a_missing_file_and_half_an_option_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no file"):
        read_columns(tmp_path / "none.csv")
    with pytest.raises(InvalidInput, match="both columns, or neither"):
        align_table(write(tmp_path / "t.csv"), MetricColumns("grade", ("m",), unit="id"), QUICK)
    with pytest.raises(InvalidInput, match="--metric"):
        align_table(tmp_path / "t.csv", MetricColumns("grade", ()), QUICK)


def test_empty_cells_true_and_false_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\ufeffh;m\ntrue;0.9\nfalse;0.1\n;0.5\nTrue;NA\n1;0.8\n0;0.3\n", encoding="utf-8")
    found = align_table(path, MetricColumns("h", ("m",)), QUICK)
    assert find(found, "auroc", metric="m").n == 4
    assert find(found, "auroc", metric="m").value == 1.0


# Reports -------------------------------------------------------------------------------------------------------------


def test_the_html_report_is_one_file_that_fetches_and_runs_nothing(tmp_path: Path) -> None:
    rows = [{**row, "part": "<script>alert(1)</script>"} for row in ROWS]
    found = align_table(write(tmp_path / "t.csv", rows), MetricColumns("right", ("m", "k"), group="part"), QUICK)
    [path] = write_report(AlignmentDocument.of_table(found), tmp_path / "out" / "report.html")
    text = path.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert text.count("<svg") >= 4
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert "AUROC" in text
    assert len(set(re.findall(r'id="([^"]+)"', text))) == len(re.findall(r'id="([^"]+)"', text))


@pytest.mark.parametrize(("ending", "start", "kind"), [("md", b"<svg", "svg"), ("tex", b"%PDF", "pdf")])
def test_other_reports_have_their_plots_beside_them(tmp_path: Path, ending: str, start: bytes, kind: str) -> None:
    found = align_table(write(tmp_path / "t.csv"), MetricColumns("right", ("m",)), QUICK)
    path, *plots = write_report(AlignmentDocument.of_table(found), tmp_path / f"report.{ending}")
    assert plots
    text = path.read_text()
    for plot in plots:
        assert plot.suffix == f".{kind}"
        assert plot.relative_to(tmp_path).as_posix() in text
        assert plot.read_bytes().lstrip().startswith(start)
    with zipfile.ZipFile(io.BytesIO(report_file(AlignmentDocument.of_table(found), "report", f".{ending}"))) as archive:
        assert len(archive.namelist()) == len(plots) + 1


def test_latex_has_as_many_cells_as_columns_and_no_bare_signs(tmp_path: Path) -> None:
    found = align_table(write(tmp_path / "a_b%.csv"), MetricColumns("grade", ("m", "k"), group="part"), QUICK)
    text = write_report(AlignmentDocument.of_table(found), tmp_path / "report.tex")[0].read_text()
    for align, body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        for line in re.findall(r"^    (.+) \\\\$", body, re.MULTILINE):
            assert len(re.split(r"(?<!\\)&", line)) == len(align), line
    assert r"a\_b\%.csv" in text
    assert text.isascii() or not set("ρτκω−") & set(text)


@pytest.mark.slow
def test_the_report_of_a_study_has_every_criterion_and_its_plots(sqlite_database: Database, tmp_path: Path) -> None:
    admin = make_person(sqlite_database, admin=True)
    made = make_judged(sqlite_database, admin, tmp_path, questions=12, labelled=10)
    report = AlignmentDocument.of_study(alignment_report(sqlite_database, admin, made.study_id, asked=QUICK))
    matrix, right, quality = report.sections()
    titles = [section.title for section in (matrix, right, quality)]
    assert titles == ["Metrics and criteria", "Right", "Quality"]
    assert list(matrix.tables[0].columns) == ["Metric", "Right", "Quality"]
    assert {table.caption.partition(":")[0] for table in quality.tables} == {"Quality"}
    assert all(file.startswith("quality-") and caption.startswith("Quality") for file, caption, _ in quality.plots)
    text = report_html(report)
    for words in ("one person against the rest (3 people)", "ROC curves", "calibration of", "straight fit", "seed 0"):
        assert words in text


def test_a_table_with_rows_nobody_judged_has_a_prediction_powered_mean(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    rng = np.random.default_rng(1)
    score = rng.random(60)
    grades = ["" if row >= 25 else str(1 + round(4 * place)) for row, place in enumerate(score)]
    path.write_text("grade,m\n" + "\n".join(f"{g},{s:.3f}" for g, s in zip(grades, score, strict=True)))
    found = align_table(path, MetricColumns("grade", ("m",)), Resampling(50), scale=(1.0, 5.0))
    tuned = next(statistic for statistic in found.statistics if statistic.name == "ppi_plus_plus_mean")
    assert tuned.n == 25
    assert tuned.n_effective is not None
    assert tuned.n_effective > 50
    assert "the mean of these 60 units" in (tuned.method or "")
    assert found.notes == ["grade: the scale goes from 1 to 5"]
    assert any("Only 25 units have a human value" in words for words in found.warnings)
    with pytest.raises(InvalidInput, match="outside the scale 1 to 4"):
        align_table(path, MetricColumns("grade", ("m",)), Resampling(50), scale=(1.0, 4.0))
    said = align_table(path, MetricColumns("grade", ("m",)), Resampling(50)).notes
    assert "the lowest and highest value there is; --human-scale says others" in said[0]


def test_a_metric_of_0_to_1_may_replace_an_annotator_by_what_it_says_on_their_scale(tmp_path: Path) -> None:
    """The same judge once on people's scale and once on 0 to 1; what is neither is told so."""
    rows = [
        {**row, "judge": row["grade"], "small": (int(str(row["grade"])) - 1) / 4, "large": 100 * int(str(row["grade"]))}
        for row in (judgement(i, who, shift) for i in range(30) for who, shift in (("ada", 0), ("ben", 0), ("cy", 1)))
    ]
    named = MetricColumns("grade", ("judge", "small", "large"), unit="id", rater="who")
    found = align_table(write(tmp_path / "t.csv", rows), named, QUICK, scale=(1, 5))
    rates = {name: find(found, "alt_test_winning_rate", metric=name) for name in named.metrics}
    assert rates["judge"].value is not None
    assert rates["small"].value == rates["judge"].value
    assert rates["large"].reason == "the metric goes from 100 to 500, which is neither 0 to 1 nor people's scale"
    [first] = [
        table
        for section in AlignmentDocument.of_table(found).sections()
        for table in section.tables
        if table.caption == "grade: metrics against people"
    ]
    assert [row[0] for row in first.rows] == [
        "judge", "small", "large", "judge against the rest, as one person", "small against the rest, as one person",
        "large against the rest, as one person", "one person against the rest (3 people)",
    ]  # fmt: skip
