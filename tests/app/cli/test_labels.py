"""Labels from elsewhere on the command line, up to published figures from the published labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.app.cli.command_line import CommandLine, write_items

HEADER = ("item", "annotator", "criterion", "target", "value")


def write_table(path: Path, rows: Iterable[tuple[Any, ...]], header: tuple[str, ...] = HEADER) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_labels_go_into_a_study_that_is_there(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    begun(
        "study",
        "create",
        "finance",
        "a",
        "--protocol",
        "ambiguity",
        "--annotators",
        "ada,ben",
        "--overlap",
        "2",
        "--every-item",
    )
    rows = [("q0:harbour", who, "ambiguity", "item", "clear") for who in ("grace", "alan")]
    done = begun.json("labels", "import", "finance", "a", write_table(tmp_path / "t.csv", rows))
    assert (done["labels"], done["annotations"], done["annotators"]) == (2, 2, ["alan", "grace"])
    assert (done["inferred"], done["items_added"]) == (False, 0)
    refused = begun("labels", "import", "finance", "a", tmp_path / "t.csv", code=2)
    assert "already" in refused.err


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("nothing", "grace", "ambiguity", "", "clear"), "'nothing'"),
        (("q0:harbour", "grace", "colour", "", "clear"), "'colour'"),
        (("q0:harbour", "grace", "ambiguity", "", "muddy"), "'muddy'"),
        (("q0:harbour", "grace", "ambiguity", "evidence:e1", "clear"), "evidence"),
        (("q1:harbour", "grace", "ambiguity", "", "clear"), "line 2"),
    ],
)
def test_a_bad_label_is_named_with_its_line_and_nothing_is_imported(
    begun: CommandLine, tmp_path: Path, row: tuple[str, ...], says: str
) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    begun(
        "study",
        "create",
        "finance",
        "a",
        "--protocol",
        "ambiguity",
        "--annotators",
        "ada,ben",
        "--overlap",
        "2",
        "--every-item",
    )
    table = write_table(tmp_path / "t.csv", [("q1:harbour", "grace", "ambiguity", "item", "clear"), row])
    refused = begun("labels", "import", "finance", "a", table, code=2)
    assert "line 3" in refused.err
    assert says in refused.err
    assert begun.json("status", "finance", "a")["states"]["submitted"] == 0


def test_a_study_and_bare_items_are_inferred_from_a_table(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    rows = [
        (item, who, criterion, "", value)
        for item in ("q0:harbour", "new-1", "new-2")
        for who in ("grace", "alan")
        for criterion, value in (("Tone (1-5)", "3"), ("Kind", "plain"))
    ]
    table = write_table(tmp_path / "t.csv", rows)
    assert "--infer" in begun("labels", "import", "finance", "raters", table, code=3).err
    done = begun.json(
        "labels", "import", "finance", "raters", table, "--infer", "--bare-items", "--scale", "Tone (1-5)=ordinal",
        "--scale", "nominal",
    )  # fmt: skip
    assert done["criteria"] == ["tone_1_5", "kind"]
    assert done["items_added"] == 2
    assert done["inferred"]
    status = begun.json("status", "finance", "raters")
    assert (status["items"], status["finished"], status["states"]["submitted"]) == (3, True, 6)
    scales = {
        criterion["criterion"]: criterion["scale"]
        for criterion in begun.json("agreement", "finance", "raters")["criteria"]
    }
    assert scales == {"tone_1_5": "ordinal", "kind": "nominal"}


def test_more_labels_go_into_an_inferred_study(begun: CommandLine, tmp_path: Path) -> None:
    for who in ("grace", "alan"):
        table = write_table(tmp_path / f"{who}.csv", [(f"i{n}", who, "Tone", "", n % 2) for n in range(4)])
        begun("labels", "import", "finance", "raters", table, "--infer", "--bare-items", "--scale", "nominal")
    [tone] = begun.json("agreement", "finance", "raters")["criteria"]
    assert (tone["n_units"], tone["n_raters"], tone["n_ratings"]) == (4, 2, 8)


def test_labels_inside_a_file_come_in_with_its_items(begun: CommandLine, tmp_path: Path) -> None:
    triplets = [{"triplet": ["pier", "is", "red"], "human_label": "Neutral"}]
    source = tmp_path / "port_a_answers.json"
    source.write_text(json.dumps([{"id": "7", "response": "It is red.", "model9_response_kg": triplets}]))
    arguments = ("import", "finance", source, "--format", "refchecker", "--labels-into", "people")
    alone = begun("import", "finance", source, "--dry-run").out
    assert "1 label in the files, by refchecker-annotator: --labels-into STUDY makes them labels of a study." in alone
    with_labels = {entry["format"] for entry in begun.json("formats") if entry["labels"]}
    others = {"argilla", "deepeval", "huggingface", "label_studio", "potato", "ragas", "trulens"}
    assert with_labels == {"double_bench", "fathoms", "ragchecker", "refchecker", "unidoc", *others}
    assert "1 label in 1 annotation by refchecker-annotator, into the study people, which would be made." in (
        begun(*arguments, "--dry-run").out
    )
    done = begun.json(*arguments)
    assert (done["added"], done["study"], done["labels"], done["annotators"]) == (
        1,
        "people",
        1,
        ["refchecker-annotator"],
    )
    assert begun.json("status", "finance", "people")["states"]["submitted"] == 1
    assert begun.json(*arguments, "--dry-run", code=2)["obstacles"][0].endswith("leave these rows out.")
    assert "already" in begun(*arguments, code=2).err
    items = write_items(tmp_path / "in")
    refused = begun("import", "finance", items, "--labels-into", "people", code=2).err
    assert "format native hold no labels of people; those of" in refused
    assert begun.json("status", "finance", "people")["items"] == 1


def test_labels_of_a_study_are_scored_by_name(begun: CommandLine, tmp_path: Path) -> None:
    triplets = [{"triplet": ["pier", "is", color], "human_label": "Neutral"} for color in ("red", "blue")]
    source = tmp_path / "port_a_answers.json"
    source.write_text(json.dumps([{"id": "7", "response": "It is red.", "model9_response_kg": triplets}]))
    begun("import", "finance", source, "--labels-into", "people")
    begun("import", "finance", write_items(tmp_path / "in"))
    found = begun.json("score", "finance", "--scorer", "claim_metrics", "--labels-of", "people")
    assert (found["n_scored"], found["n_unscored"], found["mean"]) == (1, 6, 1.0)
    assert found["parameters"]["labels_of"] == ["people"]
    assert begun.json("score", "finance", "--scorer", "claim_metrics", "--labels-of", "people") == found
    assert "takes no labels" in begun("score", "finance", "--scorer", "rouge_l", "--labels-of", "people", code=2).err
    assert "'nobody'" in begun("score", "finance", "--scorer", "claim_metrics", "--labels-of", "nobody", code=3).err
    files = ("--input", source, "--output", tmp_path / "out.jsonl", "--scorer", "claim_metrics")
    assert "--labels-of" in begun("score", *files, "--labels-of", "people", code=2).err
    takes = {entry["scorer"]: entry["labels"] for entry in begun.json("scorers")}
    assert takes["rouge_l"] is None
    assert takes["recall_at_k"].startswith("two labels for each page")


def test_nothing_is_left_of_a_table_that_is_refused(begun: CommandLine, tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.csv", [("i1", "grace", "tone", "", "high"), ("i2", "grace", "tone", "", "low")])
    refused = begun(
        "labels", "import", "finance", "raters", table, "--infer", "--bare-items", "--scale", "ordinal", code=2
    )
    assert "order" in refused.err
    assert begun.json("study", "list", "finance") == []
    assert begun.json("batches", "finance") == []


def test_exported_labels_are_measured_like_the_original(begun: CommandLine, tmp_path: Path) -> None:
    rows = [(f"i{n}", who, "tone", "", (n + shift) // 3) for n in range(9) for shift, who in enumerate(("x", "y", "z"))]
    table = write_table(tmp_path / "t.csv", rows)
    begun("labels", "import", "finance", "raters", table, "--infer", "--bare-items", "--scale", "ordinal")
    begun("export", "finance", "--study", "raters", "--to", tmp_path / "out", "--format", "labels", "--names")
    begun("project", "create", "copy")
    begun(
        "labels",
        "import",
        "copy",
        "raters",
        tmp_path / "out" / "labels.csv",
        "--infer",
        "--bare-items",
        "--scale",
        "ordinal",
    )
    assert begun.json("agreement", "copy", "raters") == begun.json("agreement", "finance", "raters")


# Beforehand -----------------------------------------------------------------------------------------------------------


def test_a_dry_run_counts_what_the_import_of_labels_then_does(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    rows = [(item, who, "Tone", value) for item in ("q0:harbour", "new-1") for who, value in (("ada", 2), ("kim", 5))]
    table = write_table(
        tmp_path / "t.csv", [(*row, "x") for row in rows], ("item", "annotator", "criterion", "value", "mood")
    )
    given = ("labels", "import", "finance", "raters", table, "--infer", "--scale", "ordinal")
    plan = begun.json(*given, "--bare-items", "--dry-run")
    assert (plan["items_matched"], plan["items_unmatched"], plan["items_added"]) == (1, ["new-1"], 1)
    assert (plan["columns"], plan["columns_ignored"]) == (["item", "annotator", "criterion", "value"], ["mood"])
    assert plan["values"] == {"tone": {"2": 2, "5": 2}}
    assert (plan["new_people"], plan["obstacles"]) == (["kim"], [])
    assert begun.json("study", "list", "finance") == begun.json("batches", "finance")[1:] == []
    done = begun.json(*given, "--bare-items")
    shared = set(done) & set(plan) - {"batch", "study_id"}
    assert {"labels", "annotations", "annotators", "items_added", "criteria", "left_out"} <= shared
    assert {name: plan[name] for name in shared} == {name: done[name] for name in shared}


def test_seconds_that_differ_within_a_step_are_said_beforehand_and_afterwards(
    begun: CommandLine, tmp_path: Path
) -> None:
    rows = [("a", "ada", "tone", 2, 3), ("a", "ada", "clarity", 5, 9)]
    table = write_table(tmp_path / "t.csv", rows, ("item", "annotator", "criterion", "value", "seconds"))
    given = ("labels", "import", "finance", "raters", table, "--infer", "--bare-items")
    note = "`seconds` differs within a step in 1 annotation: the largest counts. A column `step` tells steps apart."
    assert note in begun(*given, "--dry-run").out
    assert begun.json(*given, "--dry-run")["notes"] == [note]
    assert note in begun(*given).out


def test_bare_items_are_made_only_when_they_are_asked_for(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    table = write_table(tmp_path / "t.csv", [(item, "kim", "tone", "", 1) for item in ("q0:harbour", "new-1", "new-2")])
    given = ("labels", "import", "finance", "raters", table, "--infer")
    planned = begun(*given, "--dry-run", code=2)
    assert "1 matched, 2 not there: new-1, new-2" in planned.out
    assert "2 of 3 items are not in the project: new-1, new-2. Import them first, or ask for bare items" in planned.out
    refused = begun(*given, code=3)
    assert "no item 'new-1' (2 of 3 are not there)" in refused.err
    assert begun.json("study", "list", "finance") == []
    assert "--infer" in begun("labels", "import", "finance", "raters", table, "--bare-items", code=2).err


def test_a_dry_run_into_a_study_names_everything_that_stands_against_it(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    begun(
        "study",
        "create",
        "finance",
        "a",
        "--protocol",
        "ambiguity",
        "--annotators",
        "ada,ben",
        "--overlap",
        "2",
        "--every-item",
    )
    good = [("q0:harbour", "grace", "ambiguity", "item", "clear")]
    begun("labels", "import", "finance", "a", write_table(tmp_path / "good.csv", good))
    rows = [
        *good,
        ("q1:harbour", "grace", "ambiguity", "", "muddy"),
        ("q1:harbour", "grace", "colour", "", "clear"),
        ("unknown", "grace", "ambiguity", "", "clear"),
    ]
    plan = begun.json("labels", "import", "finance", "a", write_table(tmp_path / "t.csv", rows), "--dry-run", code=2)
    assert [problem["line"] for problem in plan["problems"]] == [1, 3, 4]
    said = "\n".join(plan["obstacles"])
    for word in ("has labels by 'grace' for 1 of these items", "'muddy'", "'colour'", "not in the study: unknown"):
        assert word in said
    assert plan["labels"] == 1
    assert begun("labels", "import", "finance", "a", tmp_path / "t.csv", code=2).err.count("\n") == 3


# Published figures ----------------------------------------------------------------------------------------------------


def test_ragcheckers_raters_agree_as_its_data_say(begun: CommandLine, tmp_path: Path, shared_data: Path) -> None:
    pairs = json.loads((shared_data / "ragchecker" / "human_labeled_data.json").read_text())
    rows = [
        (f"pair-{place // 2}", f"rater {place % 2 + 1}", criterion, "", pair[f"{criterion}_label"])
        for place, pair in enumerate(pairs)
        for criterion in ("correctness", "completeness", "overall")
    ]
    table = write_table(tmp_path / "ratings.csv", rows)
    done = begun.json("labels", "import", "finance", "raters", table, "--infer", "--bare-items", "--scale", "ordinal")
    assert (done["labels"], done["items_added"]) == (1680, 280)
    report = begun.json("agreement", "finance", "raters", "--resamples", "0", "--statistics", "all")
    found = {
        criterion["criterion"]: {
            statistic["name"]: round(statistic["value"], 4)
            for statistic in criterion["statistics"]
            if statistic["value"] is not None
        }
        for criterion in report["criteria"]
    }
    names = (
        "cohen_kappa",
        "krippendorff_alpha_nominal",
        "krippendorff_alpha_ordinal",
        "krippendorff_alpha_interval",
    )
    # ../shared/data/README.md, "Known values".
    assert {criterion: [values[name] for name in names] for criterion, values in found.items()} == {
        "correctness": [0.3113, 0.3099, 0.5865, 0.6338],
        "completeness": [0.4626, 0.4617, 0.6828, 0.7188],
        "overall": [0.4133, 0.4107, 0.6836, 0.6988],
    }


def test_fathoms_results_keep_their_scores_and_ours_agree_with_them(
    begun: CommandLine, tmp_path: Path, shared_data: Path
) -> None:
    folder = shared_data / "fathoms" / "results"
    preview = begun.json("import", "finance", folder, "--format", "fathoms", "--dry-run")
    assert (preview["batch"], preview["rejected"]) == (None, [])
    done = begun.json("import", "finance", folder, "--format", "fathoms")
    assert done["added"] == preview["added"] > 900
    assert begun.json("import", "finance", folder, "--format", "fathoms")["added"] == 0
    ours = begun.json("score", "finance", "--scorer", "phrase_recall")
    macro = {group["group"]: group["macro_mean"] for group in ours["groups"] if group["by"] == "system"}
    assert len(macro) == 10
    for path in folder.rglob("*.json"):
        stored = json.loads(path.read_text())
        [system] = [name for name in macro if name.startswith(path.parent.name) and name.endswith(stored["model"])]
        assert macro[system] == pytest.approx(stored["overall_score"], abs=1e-9), path.name
    made = begun.json(
        "study", "create", "finance", "metrics", "--protocol", "metric_agreement", "--annotators", "ada,ben",
        "--sample", "3", "--per", "system", "--seed", "1",
    )  # fmt: skip
    assert (made["items"], made["slots"]) == (30, 60)
