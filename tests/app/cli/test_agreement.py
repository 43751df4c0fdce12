"""`assay agreement` on a study and on a table: every option, the JSON, the report, the plan, and errors in words."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotators.agreement.measure import measure
from annotators.agreement.statistics.base import all_coefficients
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.intervals.bootstrap import MOST_RESAMPLES
from app.cli.base import Resamples
from tests.annotators.agreement.makers import ratings_of
from tests.app.cli.command_line import ROOT, CommandLine, subprocess_of
from tests.exports.labelled import CRITERIA, labelled_study

NAMES = [coefficient.name for coefficient in all_coefficients()]

STATISTIC = {"name", "value", "low", "high", "method", "reason", "n_units", "n_raters", "n_ratings"}
GIVEN = {
    "ada": ["good", "fair", "poor", "good", "good", "fair", "poor", "poor", "fair", "good"],
    "ben": ["good", "fair", "fair", "good", "fair", "fair", "poor", "fair", "fair", "good"],
    "cem": ["good", "good", "poor", "good", "good", "poor", "poor", "poor", "fair"],
}


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "annotator", "criterion", "value"])
        for who, values in GIVEN.items():
            writer.writerows((f"i{number}", who, "tone", value) for number, value in enumerate(values))
    return path


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *GIVEN])
        for number in range(10):
            writer.writerow(
                [f"i{number}", *(values[number] if number < len(values) else "" for values in GIVEN.values())]
            )
    return path


def statistics(document: Any, place: int = 0) -> dict[str, Any]:
    return {statistic["name"]: statistic for statistic in document["criteria"][place]["statistics"]}


# A table --------------------------------------------------------------------------------------------------------------


def test_a_table_needs_no_home_folder(long: Path, tmp_path: Path) -> None:
    done = subprocess_of("--home", tmp_path / "nowhere", "agreement", "--table", long, "--json")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "nowhere").exists()
    [tone] = json.loads(done.stdout)["criteria"]
    assert (tone["criterion"], tone["target"], tone["scale"]) == ("tone", "item", "nominal")
    assert (tone["n_units"], tone["n_raters"], tone["n_ratings"]) == (10, 3, 29)
    assert tone["labels"] == ["fair", "good", "poor"]


def test_the_json_has_every_field_of_every_statistic(assay: CommandLine, long: Path) -> None:
    found = assay.json(
        "agreement", "--table", long, "--scale", "ordinal", "--labels", "poor,fair,good", "--statistics", "all",
        "--seed", "3", "--resamples", "200",
    )  # fmt: skip
    [tone] = found["criteria"]
    assert (found["seed"], found["resamples"], found["table"]) == (3, 200, "labels.csv")
    assert tone["labels"] == ["poor", "fair", "good"]
    assert all(set(statistic) >= STATISTIC for statistic in tone["statistics"])
    assert {label for entry in tone["statistics"] for label in entry} <= STATISTIC | {"raters", "label", "intervals"}
    names = {statistic["name"] for statistic in tone["statistics"]}
    of_other_values = {
        "mean_jaccard", "krippendorff_alpha_masi", "exact_match", "pairwise_f1", "text_identical", "text_similarity",
        "mean_spearman", "kendall_w", "krippendorff_alpha_unitizing", "krippendorff_alpha_unitizing_binary",
        "pairwise_f1_characters", "pairwise_f1_boundaries",
    }  # fmt: skip
    wanted = {name for name in NAMES if not name.endswith("_weighted")} - of_other_values
    assert names == wanted
    assert all((statistic["value"] is None) == (statistic["reason"] is not None) for statistic in tone["statistics"])
    pairs = [statistic["raters"] for statistic in tone["statistics"] if statistic["name"] == "cohen_kappa"]
    assert pairs == [["ada", "ben"], ["ada", "cem"], ["ben", "cem"]]
    assert [
        statistic["label"] for statistic in tone["statistics"] if statistic["name"] == "specific_agreement"
    ] == tone["labels"]
    table = ratings_of([[*values, *[None] * (10 - len(values))] for values in GIVEN.values()],
                              ["poor", "fair", "good"], "ordinal")  # fmt: skip
    ours = {statistic.name: statistic for statistic in measure(table, "all", 200, 3)}
    for name in ("krippendorff_alpha_ordinal", "gwet_ac2_ordinal", "icc_a_1"):
        shown = statistics(found)[name]
        assert (shown["value"], shown["low"], shown["high"]) == (ours[name].value, ours[name].low, ours[name].high)


def test_a_wide_table_gives_what_the_long_one_does(assay: CommandLine, long: Path, wide: Path) -> None:
    options = ("--scale", "ordinal", "--labels", "poor,fair,good", "--statistics", "all", "--resamples", "100")
    statistic = assay.json("agreement", "--table", long, *options)["criteria"][0]["statistics"]
    other = assay.json("agreement", "--table", wide, "--wide", *options)["criteria"][0]["statistics"]
    assert statistic == other


def test_chosen_statistics_come_in_the_order_they_were_asked_for(assay: CommandLine, long: Path) -> None:
    found = assay.json("agreement", "--table", long, "--statistics", "gwet_ac1, percent_agreement", "--resamples", "0")
    assert [statistic["name"] for statistic in found["criteria"][0]["statistics"]] == ["gwet_ac1", "percent_agreement"]
    assert statistics(found)["gwet_ac1"]["low"] is None
    refused = assay("agreement", "--table", long, "--statistics", "kapa", code=2)
    assert "'kapa' is unknown: use some of percent_agreement" in refused.err


def test_words_for_people_have_the_table_the_sentence_and_the_warning(assay: CommandLine, long: Path) -> None:
    said = assay("agreement", "--table", long, "--resamples", "100").out
    assert said.startswith("Agreement by criterion")
    assert 'for "tone", Krippendorff\'s α = ' in said
    assert "Only 10 units were rated twice or more" in said


def test_questions_are_drawn_together(assay: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    rows = [
        f"i{n},{who},q{n // 4},{'yes' if (n * 7 + k) % 3 else 'no'}\n" for n in range(24) for k, who in enumerate("ab")
    ]
    path.write_text("item,annotator,asked,value\n" + "".join(rows))
    found = assay.json("agreement", "--table", path, "--question", "asked", "--clustered", "--resamples", "100")
    assert "over questions" in statistics(found)["krippendorff_alpha_nominal"]["method"]
    plain = assay.json("agreement", "--table", path, "--resamples", "100")
    assert "over units" in statistics(plain)["krippendorff_alpha_nominal"]["method"]


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("item,annotator,value\na,ada,x\nb,ben,x\na,ada,y\n", (), "line 4 rates item 'a' by 'ada' a second time"),
        ("item,annotator,value\na,ada,x\n", ("--scale", "interval"), "line 2 has the value 'x'"),
        ("item,annotator,value\na,ada,x\n", ("--labels", "y,z"), "line 2"),
    ],
)
def test_a_bad_row_or_option_is_an_error_that_names_it(
    assay: CommandLine, tmp_path: Path, text: str, options: tuple[str, ...], says: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    refused = assay("agreement", "--table", path, *options, "--json", code=2)
    assert says in refused.err
    assert refused.err.startswith("Error: t.csv: ")
    assert "'size' is none of nominal" in assay("agreement", "--table", path, "--scale", "size", code=2).err
    assert says in refused.json["error"]


def test_options_of_tables_and_names_of_studies_do_not_mix(assay: CommandLine, long: Path) -> None:
    assert "needs no PROJECT" in assay("agreement", "finance", "pilot", "--table", long, code=2).err
    assert "about the columns of a --table" in assay("agreement", "finance", "pilot", "--scale", "ordinal", code=2).err
    assert "PROJECT and STUDY, or --table" in assay("agreement", code=2).err
    assert assay("agreement", "--table", long.parent / "gone.csv", code=3).err.startswith("Error: There is no file")
    assert "value" in assay("agreement", "--table", long, "--value", "label", code=3).err


def test_undefined_is_null_with_its_reason_in_json_table_and_report(assay: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,annotator,value\na,ada,yes\na,ben,yes\nb,ada,yes\nb,ben,yes\n")
    reason = 'every rating is "yes"'
    alpha = statistics(assay.json("agreement", "--table", path))["krippendorff_alpha_nominal"]
    assert alpha["value"] is None
    assert reason in alpha["reason"]
    assert reason in assay("agreement", "--table", path).out
    assay("agreement", "--table", path, "--report", tmp_path / "r.md")
    assert reason in (tmp_path / "r.md").read_text().replace("\\", "")


# Own weights ----------------------------------------------------------------------------------------------------------


def test_more_resamples_than_memory_holds_are_refused_with_the_limit(assay: CommandLine, long: Path) -> None:
    for given in (MOST_RESAMPLES + 1, 10**12):
        said = assay("agreement", "--table", long, "--resamples", str(given), code=2).err
        assert f"give up to {MOST_RESAMPLES:,}" in said
    assert f"up to {MOST_RESAMPLES:,};" in Resamples.__metadata__[0].help
    assert "64 bits" in assay("agreement", "--table", long, "--seed", str(2**70), code=2).err


def test_lists_and_objects_where_names_belong_are_told_with_their_line(assay: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    for item, value in ((["a"], "yes"), ({"a": 1}, "yes"), ("a", {"label": "yes"})):
        path.write_text(json.dumps({"item": item, "annotator": "ada", "value": value}) + "\n")
        said = assay("agreement", "--table", path, code=2).err
        assert "line 1 has" in said
        assert "give a text or a number" in said


TONES = "label,good,fair,poor\npoor,0,.5,1\nfair,.9,1,.5\ngood,1,.9,0\n"


def test_own_weights_add_kappa_of_each_pair_and_their_mean(assay: CommandLine, long: Path, tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(TONES)
    asked = (
        "agreement",
        "--table",
        long,
        "--weights",
        tmp_path / "w.csv",
        "--resamples",
        "200",
        "--seed",
        "2",
        "--shared",
        "9",
    )
    [tone] = assay.json(*asked)["criteria"]
    found = tone["statistics"]
    assert tone["weights"] == {
        "labels": ["good", "fair", "poor"],
        "rows": [[1, 0.9, 0], [0.9, 1, 0.5], [0, 0.5, 1]],
    }
    assay(*asked, "--report", tmp_path / "r.md")
    assert "tone: own weights, how far two labels agree" in (tmp_path / "r.md").read_text()
    own = OwnWeights.of([[1, 0.5, 0], [0.5, 1, 0.9], [0, 0.9, 1]], ["poor", "fair", "good"])
    table = ratings_of([[*values, *[None] * (10 - len(values))] for values in GIVEN.values()])
    names = ["cohen_kappa_weighted", "light_kappa_weighted"]
    ours = measure(table, names, 200, 2, own_weights=own, least_shared=9)
    theirs = [statistic for statistic in found if statistic["name"] in names]
    assert [their["raters"] for their in theirs[:-1]] == [["ada", "ben"], ["ada", "cem"], ["ben", "cem"]]
    for statistic, other in zip(theirs, ours, strict=True):
        assert (statistic["name"], statistic["value"]) == (other.name, other.value)
        assert (statistic["low"], statistic["high"]) == (other.low, other.high)
        assert statistic["low"] < statistic["value"] <= statistic["high"]
    assert "Cohen's κ (own weights)" in assay(*asked).out
    everything = assay.json(*asked[:-2], "--statistics", "all")["criteria"][0]["statistics"]
    assert {statistic["name"] for statistic in everything} >= {*names, "gwet_ac2_weighted", "brennan_prediger_weighted"}


def test_own_weights_that_do_not_fit_are_refused_by_their_cell(assay: CommandLine, long: Path, tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(TONES.replace(".9,1,.5", ".7,1,.5"))
    refused = assay("agreement", "--table", long, "--weights", tmp_path / "w.csv", code=2).err
    assert "w.csv: weight 0.9 in row 'good', column 'fair' is 0.7 the other way round" in refused
    (tmp_path / "w.csv").write_text("label,good,fair\ngood,1,0\nfair,0,1\n")
    refused = assay("agreement", "--table", long, "--weights", tmp_path / "w.csv", code=2).err
    assert "lack labels that were given (tone: poor)" in refused


def test_a_criterion_without_own_weights_says_so(assay: CommandLine, long: Path) -> None:
    asked = ("agreement", "--table", long, "--statistics", "cohen_kappa_weighted")
    for statistic in assay.json(*asked)["criteria"][0]["statistics"]:
        assert statistic["value"] is None
        assert "needs own weights" in statistic["reason"]
    assert "needs own weights" in " ".join(assay(*asked).out.split())


# Reports and plans ----------------------------------------------------------------------------------------------------


def test_a_report_is_written_beside_what_is_printed(assay: CommandLine, long: Path, tmp_path: Path) -> None:
    for name, more in (("r.html", 1), ("r.md", 4), ("r.tex", 4)):
        done = assay("agreement", "--table", long, "--resamples", "100", "--report", tmp_path / "out" / name)
        written = done.err.removeprefix("Report: ").strip().split(", ")
        assert len(written) >= more, name
        assert all(Path(value).stat().st_size > 500 for value in written)
    refused = assay("agreement", "--table", long, "--report", tmp_path / "r.doc", code=2)
    assert ".html, .md, .tex" in refused.err


def test_a_plan_stands_beside_each_criterion(assay: CommandLine, long: Path) -> None:
    found = assay.json("agreement", "--table", long, "--resamples", "0", "--plan", "0.3")["criteria"][0]["plan"]
    assert (found["width"], found["statistic"]) == (0.3, "krippendorff_alpha_nominal")
    assert {plan["n_annotators"] for plan in found["items_needed"]} == {2, 3, 4}
    assert all(set(study) >= {"n_items", "n_annotators", "width", "width_high", "source"} for study in found["studies"])
    said = assay("agreement", "--table", long, "--resamples", "0", "--plan", "0.3").out
    assert "tone: 2 annotators an item: " in said
    assert "no width" in assay("agreement", "--table", long, "--plan", "0", code=2).err


# A study --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_study_and_its_exported_table_give_the_same_figures(begun: CommandLine, tmp_path: Path) -> None:
    db = begun.database()
    made = labelled_study(db, items=30)
    with db.read() as session:
        from db.models import Project

        project = session.get_one(Project, made.project_id).name
    db.dispose()
    begun("export", project, "--study", "ratings", "--to", tmp_path / "out", "--format", "labels")
    study = begun.json("agreement", project, "ratings", "--resamples", "100", "--statistics", "all")
    table = begun.json(
        "agreement", "--table", tmp_path / "out" / "labels.csv", "--resamples", "100", "--statistics", "all",
        "--scale", "clarity=ordinal", "--scale", "share=interval", "--labels", "right=yes,no",
        "--labels", "clarity=1,2,3,4,5",
    )  # fmt: skip
    assert [criterion["criterion"] for criterion in study["criteria"]] == list(CRITERIA)
    for name in ("right", "clarity", "share", "problems"):
        [ours] = [criterion for criterion in study["criteria"] if criterion["criterion"] == name]
        [theirs] = [criterion for criterion in table["criteria"] if criterion["criterion"] == name]
        shown = [
            [(statistic["name"], statistic["n_units"]) for statistic in side["statistics"]] for side in (ours, theirs)
        ]
        assert shown[0] == shown[1], name
        values = [[statistic["value"] or 0 for statistic in side["statistics"]] for side in (ours, theirs)]
        assert values[0] == pytest.approx(values[1]), name
    weights = tmp_path / "w.csv"
    weights.write_text("label,no,yes\nno,1,.5\nyes,.5,1\n")
    weighted = begun.json("agreement", project, "ratings", "--resamples", "0", "--weights", f"right={weights}")
    with_own = [
        criterion["criterion"]
        for criterion in weighted["criteria"]
        if any(two["name"] == "cohen_kappa_weighted" for two in criterion["statistics"])
    ]
    assert with_own == ["right"]
    assert [criterion["criterion"] for criterion in weighted["criteria"] if "weights" in criterion] == ["right"]
    ranking = study["criteria"][-1]["statistics"]
    assert [statistic["name"] for statistic in ranking] == ["percent_agreement", "mean_spearman", "kendall_w"]
    assert all(statistic["value"] is not None for statistic in ranking)
    planned = begun.json("agreement", project, "ratings", "--resamples", "0", "--plan", "0.2")["criteria"]
    assert planned[0]["plan"]["items_needed"]
    assert planned[3]["plan"]["reason"]


# Which intervals ------------------------------------------------------------------------------------------------------


def test_level_kind_and_raters_of_the_intervals_are_options(assay: CommandLine, wide: Path) -> None:
    asked = ("agreement", "--table", wide, "--wide", "--resamples", "100")
    found = statistics(assay.json(*asked, "--level", "0.9", "--interval", "percentile"))["fleiss_kappa"]
    assert found["method"].startswith("percentile bootstrap over units (these raters), 90 %, 100 resamples")
    assert "90 % interval" in assay(*asked, "--level", "0.9").out
    found = statistics(assay.json(*asked, "--raters", "random"))["fleiss_kappa"]
    assert found["method"].startswith("two-way bootstrap over units and raters (raters like these), t with")
    pairs = [
        statistic
        for statistic in assay.json(*asked, "--shared", "9")["criteria"][0]["statistics"]
        if "raters" in statistic
    ]
    assert all(pair["value"] is not None for pair in pairs)
    refused = assay(*asked, "--interval", "wald", code=2)
    assert "'wald' is none of BCa, percentile, jackknife, analytic." in refused.err


def test_questions_of_a_table_are_the_clusters_unless_told_otherwise(assay: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = [(f"i{n}", who, (n + (who == "b")) % 3 % 2, f"q{n // 4}") for n in range(40) for who in "ab"]
    path.write_text("item,annotator,value,question\n" + "\n".join(",".join(map(str, row)) for row in rows))
    asked = ("agreement", "--table", path, "--resamples", "50")
    document = assay.json(*asked)
    assert "over questions" in statistics(document)["fleiss_kappa"]["method"]
    assert any("only 10 questions" in words for words in document["criteria"][0]["warnings"])
    assert "over units" in statistics(assay.json(*asked, "--no-clustered"))["fleiss_kappa"]["method"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("agreement", "--unit", "thing"),
        ("agreement", "--wide", "--rater", "value,thing"),
        ("alignment", "--human", "value", "--metric", "thing"),
    ],
)
@pytest.mark.by_the_clock
def test_a_wrong_column_is_refused_before_anything_large_is_imported(long: Path, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    program = (
        "import resource, sys; from app.cli import main\n"
        "try: main()\n"
        "except SystemExit as ended: code = ended.code\n"
        "large = {'numpy', 'scipy', 'pandas', 'altair', 'pyarrow', 'sqlalchemy', 'streamlit'} & set(sys.modules)\n"
        "print(code, sorted(large), resource.getrusage(resource.RUSAGE_SELF).ru_utime)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, command, "--table", str(long), *rest],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert "has no column 'thing'. It has: item, annotator, criterion, value. Name the right one with" in done.stderr
    code, _, seconds = done.stdout.strip().split(" ")
    assert done.stdout.startswith("3 [] ")
    assert (int(code), float(seconds) < 2) == (3, True)  # 0.4 s on the machine it was written on
