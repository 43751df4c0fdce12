"""`assay estimate` and `assay next`: of a study and of a table, as words and as JSON."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from db.people.accounts import local_administrator
from tests.app.cli.command_line import CommandLine
from tests.exports.judged import make_judged

FIELDS = {"name", "group", "value", "low", "high", "method", "n_labelled", "n_predicted", "effective_n", "reason"}


@pytest.fixture
def judged(begun: CommandLine, tmp_path: Path) -> CommandLine:
    database = begun.database()
    make_judged(database, local_administrator(database), tmp_path / "source", questions=30, labelled=20)
    database.dispose()
    return begun


def write(path: Path, n: int = 300, **changes: str) -> Path:
    rng = np.random.default_rng(0)
    lines = ["human,a,b,question,part,weight"]
    for i in range(n):
        y = rng.normal()
        label = str(int(y > 0)) if i % 5 == 0 else ""
        scores = f"{y + 0.4 * rng.normal():.3f},{y + rng.normal():.3f}"
        lines.append(f"{label},{scores},{i // 5},p{i % 2},{changes.get('weight', '5')}")
    path.write_text("\n".join(lines) + "\n")
    return path


def by_name(document: dict[str, object], group: str | None = None) -> dict[str, dict[str, object]]:
    statistics = document["statistics"]
    assert isinstance(statistics, list)
    return {entry["name"]: entry for entry in statistics if entry["group"] == group and "metric" not in entry}


def test_a_study_is_estimated_by_name(judged: CommandLine) -> None:
    call = ("estimate", "judged", "grading", "--criterion", "quality", "--by", "system", "--plan", "0.5")
    document = judged.json(*call)
    assert all(set(entry) >= FIELDS for entry in document["statistics"])
    assert document == judged.json(*call)
    found = by_name(document)
    assert found["mean_classical"]["n_labelled"] == 60
    assert (found["labels_needed_classical"]["value"] or 0) > 0
    assert {entry["group"] for entry in document["statistics"] if entry["name"] == "difference_classical"} == {
        "harbour - lantern", "harbour - quay", "lantern - quay",
    }  # fmt: skip
    words = judged(*call).out
    assert "The mean of “Quality”" in words
    assert "What it bought" in words
    chosen = judged.json(
        "estimate", "judged", "grading", "--criterion", "right", "--predict", "imported:native: overlap"
    )
    assert chosen["predictions"] == ["imported:native: overlap"]


def test_a_table_needs_no_home_folder(assay: CommandLine, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv")
    document = assay.json("estimate", "--table", path, "--human", "human", "--predict", "a,b", "--cluster", "question")
    found = by_name(document)
    assert document["of"] == "population"
    assert found["mean_ppi"]["effective_n"] > 70
    finite = by_name(
        assay.json("estimate", "--table", path, "--human", "human", "--predict", "a,b", "--population", 300)
    )
    assert finite["mean_classical"]["high"] < found["mean_classical"]["high"]
    weighed = ("estimate", "--table", path, "--human", "human", "--predict", "a", "--weight", "weight", "--of", "items")
    assert by_name(assay.json(*weighed))["mean_active"]["value"] == pytest.approx(finite["mean_ppi"]["value"], abs=0.05)
    report = tmp_path / "r.html"
    assert str(report) in assay("estimate", "--table", path, "--human", "human", "--report", report).err
    drawn = "The rows with a label count as drawn at random"
    assert drawn in assay("estimate", "--table", path, "--human", "human").out
    assert drawn not in assay(*weighed).out
    assert "The mean of" in report.read_text()
    assert not assay.home.exists()


def test_a_table_with_a_column_a_rater_says_what_raters_differ_by(assay: CommandLine, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["ada,ben,score"]
    for row in range(200):
        expects = rng.normal()
        said = [f"{expects + rng.normal():.3f}", f"{expects + rng.normal():.3f}" if row % 5 == 0 else ""]
        lines.append(f"{','.join(said if row < 100 else ['', ''])},{expects + rng.normal():.3f}")
    path = tmp_path / "raters.csv"
    path.write_text("\n".join(lines) + "\n")
    call = ("estimate", "--table", path, "--human", "ada,ben", "--predict", "score", "--of", "items")
    document = assay.json(*call, "--plan", "0.6", "--labels", "150")
    assert document["raters"]["error"] == "measured"
    assert (document["raters"]["labels"], document["raters"]["items_by_several"]) == (120, 20)
    designs = document["designs"]
    assert designs["labels"] == 150
    assert [row["items"] for row in designs["rows"]] == [50, 75, 125, 125, 136, 150]
    assert designs["cheapest"]["raters"] == 1
    words = assay(*call, "--plan", "0.6").out
    assert "The fewest labels for an interval 0.6 wide: 1 rater" in words
    assert "A study of it: assay study create … --overlap 1 --part 0." in words
    assert "raters' error included" in words
    assert "no column 'cem'" in assay("estimate", "--table", path, "--human", "ada,cem", code=3).err


def test_one_option_makes_a_study_of_one_rater_and_a_drawn_tenth_with_three(begun: CommandLine, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("id,question,answer,system\n" + "".join(f"i{n},Q{n}?,A {n}.,s\n" for n in range(20)))
    begun("project", "create", "half")
    begun("import", "half", items)
    for name in ("una", "dora", "tess"):
        begun("user", "add", name, "--role", "annotator")
    call = ("study", "create", "half", "s", "--protocol", "answer_grading", "--keep-lacking")
    made = begun.json(*call, "--annotators", "una,dora,tess", "--one-rater")
    assert (made["items"], made["slots"]) == (20, 24)
    wrong = begun(*call, "--annotators", "una,dora,tess", "--one-rater", "--overlap", "2", code=2)
    assert "Leave --overlap, --part and --part-overlap out" in wrong.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["estimate", "finance"], 2, "Give PROJECT and STUDY, or --table FILE"),
        (["estimate", "finance", "v", "--human", "h"], 2, "columns of a --table"),
        (["estimate", "finance", "v", "--of", "all"], 2, "items, population"),
        (["estimate", "--table", "t.csv"], 2, "--human"),
        (["estimate", "--table", "t.csv", "--human", "h", "--by", "system"], 2, "Leave them out"),
        (["estimate", "--table", "none.csv", "--human", "h"], 3, "no file"),
        (["estimate", "finance", "v"], 3, "no study named 'v'"),
        (["next", "finance", "v"], 3, "no study named 'v'"),
        (["next", "finance", "v", "--n", "0"], 2, "greater than or equal to 1"),
    ],
)
def test_wrong_usage_says_what_to_do(begun: CommandLine, arguments: list[str], code: int, says: str) -> None:
    assert says in begun(*arguments, code=code).err


def test_a_wrong_name_lists_those_that_there_are(judged: CommandLine) -> None:
    call = ("estimate", "judged", "grading")
    assert "Known: right, quality" in judged(*call, "--criterion", "nothing", code=3).err
    assert "Nothing named 'judge:qwen' predicts" in judged(*call, "--predict", "judge:qwen", code=3).err
    assert "no width of an interval" in judged(*call, "--plan", "-1", code=2).err


def test_wrong_cells_of_a_table_name_line_and_remedy(assay: CommandLine, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", weight="0.5")
    call = ("estimate", "--table", path, "--human", "human")
    assert "line 2: a row with a label has the weight 0.5" in assay(*call, "--weight", "weight", code=2).err
    assert "smaller than the 300 units" in assay(*call, "--population", "10", code=2).err
    assert "no column 'c'" in assay(*call, "--predict", "c", code=3).err


def test_next_draws_with_probabilities_that_are_kept(begun: CommandLine, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("id,question,answer,system\n" + "".join(f"i{n},Q{n}?,A {n}.,s\n" for n in range(12)))
    begun("project", "create", "fewer")
    begun("import", "fewer", items)
    grading = ("--protocol", "answer_grading", "--keep-lacking")
    begun("study", "create", "fewer", "s", *grading, "--annotators", "ada", "--overlap", "1")
    drawn = begun.json("next", "fewer", "s", "--n", "5", "--seed", "3")
    assert [set(entry) for entry in drawn] == [{"item", "probability"}] * 5
    assert all(entry["probability"] == pytest.approx(5 / 12) for entry in drawn)
    again = begun.json("next", "fewer", "s", "--n", "20", "--seed", "3")
    assert {entry["item"] for entry in again} | {entry["item"] for entry in drawn} == {f"i{n}" for n in range(12)}
    assert "There is none to draw" in begun("next", "fewer", "s", code=3).err
    empty = by_name(begun.json("estimate", "fewer", "s"))
    assert "only 0 labelled units" in str(empty["mean_classical"]["reason"])
