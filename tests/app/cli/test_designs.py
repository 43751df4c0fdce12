"""Studies from design files: the same study again, and errors with lines before anything is made."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from annotators.designing.design import StudyDesign
from app.cli.studies import create
from db.people.accounts import local_administrator
from tests.app.cli.command_line import CommandLine, write_items
from tests.exports.judged import make_judged

DESIGN = """\
# a pass over the harbour answers
protocol: qa_verification
annotators: [ada, ben, chloe]
overlap: 2
where: [system=harbour]
sample: 2
per: category
seed: 7
order: by_category
rule: majority
deadline: 2999-12-24
show_names: true
"""
TONE = """\
name: tone
title: Tone
guidelines: Say how it sounds.
criteria:
  - name: tone
    title: Tone
    labels: [{value: kind}, {value: cold}]
steps:
  - {name: all, title: All, shows: [question, answer], criteria: [tone]}
"""


@pytest.fixture
def project(begun: CommandLine, tmp_path: Path) -> CommandLine:
    begun("import", "finance", write_items(tmp_path / "in"))
    return begun


def written(folder: Path, text: str, name: str = "design.yaml") -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_a_design_written_out_makes_the_same_study_again(project: CommandLine, tmp_path: Path) -> None:
    make = ("study", "create", "finance")
    dry = project.json(*make, "first", "--design", written(tmp_path, DESIGN), "--dry-run")
    assert (dry["dry_run"], project.json("study", "list", "finance")) == (True, [])
    made = project.json(*make, "first", "--design", written(tmp_path, DESIGN))
    assert (made["items"], made["slots"], made["sample_hash"]) == (3, 6, dry["sample_hash"])
    shown = project.json("study", "show", "finance", "first")
    design: dict[str, Any] = shown["design"]
    assert (design["protocol"], design["order"], design["sample"]) == ("qa_verification@4", "by_category", 2)
    again = written(tmp_path, json.dumps(design), "again.yaml")  # JSON is YAML
    project(*make, "second", "--design", again)
    second = project.json("study", "show", "finance", "second")
    assert second["hashes"] == shown["hashes"]
    assert second["design"] == design | {"name": "second"}


def test_options_and_a_file_make_the_same_study(project: CommandLine, tmp_path: Path) -> None:
    make = ("study", "create", "finance")
    options = (
        *("--protocol", "qa_verification", "--annotators", "ada,ben,chloe", "--overlap", "2", "--sample", "2"),
        *("--where", "system=harbour", "--per", "category", "--seed", "7", "--order", "by_category"),
        *("--rule", "majority", "--deadline", "2999-12-24"),
    )
    one = project.json(*make, "one", *options)
    two = project.json(*make, "two", "--design", written(tmp_path, DESIGN.replace("show_names: true\n", "")))
    for name in ("items", "slots", "protocol_hash", "sample_hash"):
        assert one[name] == two[name]
    shown = [project.json("study", "show", "finance", name)["design"] for name in ("one", "two")]
    assert {**shown[0], "name": ""} == {**shown[1], "name": ""}
    refused = project(*make, "three", "--design", tmp_path / "design.yaml", "--overlap", "2", code=2)
    assert "Leave --overlap out" in refused.err
    assert "Missing option '--protocol'" in project(*make, "three", "--annotators", "ada", code=2).err


def test_every_field_of_a_design_is_an_option_of_the_command_or_of_a_file_alone() -> None:
    options = set(inspect.signature(create).parameters)
    said_by = {
        "quotas": "quota", "show_scores": "show_score", "gold": "gold_file", "repeats": "repeat_rate",
        **dict.fromkeys(("drawn_with", "not_drawn_from", "draw_seed"), "drawn"),
    }  # fmt: skip
    of_files_alone = {"phases", "arms", "allot"}
    fields = set(StudyDesign.model_fields) - of_files_alone
    assert [name for name in sorted(fields) if said_by.get(name, name) not in options] == []
    assert not of_files_alone & options, "then they are no longer of files alone"


def test_a_protocol_of_a_file_is_written_into_the_design(project: CommandLine, tmp_path: Path) -> None:
    written(tmp_path, TONE, "tone.yaml")
    design = written(tmp_path, "protocol: tone.yaml\nannotators: [ada]\noverlap: 1\n")
    project("study", "create", "finance", "first", "--design", design)
    shown = project.json("study", "show", "finance", "first")
    assert shown["design"]["protocol"]["title"] == "Tone"
    (tmp_path / "tone.yaml").unlink()
    again = written(tmp_path, json.dumps(shown["design"]), "again.yaml")
    project("study", "create", "finance", "second", "--design", again)
    assert project.json("study", "show", "finance", "second")["hashes"] == shown["hashes"]


def test_what_is_wrong_with_a_design_is_told_at_once_and_nothing_is_made(project: CommandLine, tmp_path: Path) -> None:
    text = DESIGN.replace("[ada, ben, chloe]", "[ada, zoe]").replace("overlap: 2", "overlap: 3")
    text = text.replace("system=harbour", "system=nowhere")
    path = written(tmp_path, text)
    refused = project("study", "create", "finance", "x", "--design", path, "--json", code=2)
    # The file alone says that three cannot be had of two; whether a person is there is known once that is right.
    assert [problem["line"] for problem in refused.json["problems"]] == [4]
    path = written(tmp_path, text.replace("overlap: 3", "overlap: 2"))
    refused = project("study", "create", "finance", "x", "--design", path, "--json", code=2)
    problems = {problem["line"]: f"{problem['problem']} {problem['remedy']}" for problem in refused.json["problems"]}
    assert set(problems) == {3, 5}
    assert "There is nobody named 'zoe'" in problems[3]
    assert "No item has system 'nowhere'. Known: harbour, lantern." in problems[5]
    assert f"{path.name}, line 5" in refused.err
    written(tmp_path, DESIGN.replace("qa_verification", "qa_verificaton"))
    refused = project("study", "create", "finance", "x", "--design", path, code=2)
    assert "line 2: There is no protocol named 'qa_verificaton'" in refused.err
    assert project.json("study", "list", "finance") == []
    written(tmp_path, DESIGN)
    project("study", "create", "finance", "x", "--design", path)
    assert "Choose another name" in project("study", "create", "finance", "x", "--design", path, code=5).err
    assert "no design file" in project("study", "create", "finance", "y", "--design", "not-there.yaml", code=3).err


def test_a_draft_can_be_changed_and_deleted_until_it_is_started(project: CommandLine, tmp_path: Path) -> None:
    make = ("study", "create", "finance", "later", "--draft", "--protocol", "qa_verification")
    kept = project.json(*make, "--annotators", "ada,ben", "--overlap", "2", "--sample", "4")
    assert (kept["state"], kept["items"], "id" in kept) == ("draft", 4, False)
    assert project.json("study", "list", "finance")[0]["state"] == "draft"
    changed = project.json(*make, "--annotators", "ada,chloe", "--overlap", "1", "--sample", "2")
    assert changed["items"] == 2
    shown = project.json("study", "show", "finance", "later")
    assert (shown["state"], shown["design"]["annotators"], shown["design"]["sample"]) == ("draft", ["ada", "chloe"], 2)
    here = ("finance", "later")
    for refused in (
        ("study", "pause", *here, "--reason", "x"),
        ("study", "close", *here, "--reason", "x"),
        ("study", "amend", *here, "--overlap", "2", "--reason", "x"),
        ("status", *here),
        ("agreement", *here),
        ("annotators", *here),
        ("disputes", *here),
    ):
        assert "is a draft" in project(*refused, code=5).err
    at_once = [word for word in make if word != "--draft"]
    assert "draft named 'later' already" in project(*at_once, "--annotators", "ada", "--overlap", "1", code=5).err
    started = project.json("study", "start", *here)
    assert (started["state"], started["items"], started["sample_hash"]) == ("running", 2, changed["sample_hash"])
    assert project.json("status", *here)["states"]["open"] == 2
    rows = project.json("study", "list", "finance")
    assert [(row["study"], row["state"]) for row in rows] == [("later", "running")]
    assert "is running, and no draft" in project("study", "delete", *here, code=5).err
    assert "study named 'later' already" in project(*make, "--annotators", "ada", "--overlap", "1", code=5).err
    assert "--reason" in project("study", "start", *here, code=2).err
    project("study", "create", "finance", "never", *make[4:], "--annotators", "ada", "--overlap", "1")
    project("study", "delete", "finance", "never")
    assert "no study named 'never'" in project("study", "show", "finance", "never", code=3).err
    assert "no study named 'never'" in project("study", "delete", "finance", "never", code=3).err
    assert "no study named 'never'" in project("study", "start", "finance", "never", code=3).err


def test_gold_and_qualification_are_read_beside_the_design_and_options_say_them_too(
    project: CommandLine, tmp_path: Path
) -> None:
    make = ("study", "create", "finance")
    written(tmp_path, "item,criterion,value\nq1:lantern,self_contained,true\n", "gold.csv")
    known = DESIGN + "gold: {file: gold.csv, rate: 0.2, below: pause}\nrepeats: {rate: 0.1, after: 5}\n"
    made = project.json(*make, "first", "--design", written(tmp_path, known))
    design = project.json("study", "show", "finance", "first")["design"]
    assert made["items"] == 3
    assert (design["gold"]["rate"], design["gold"]["below"]) == (0.2, "pause")
    assert [label["value"] for label in design["gold"]["labels"]] == ["true"]
    assert design["repeats"] == {"rate": 0.1, "after": 5}
    words = project("study", "show", "finance", "first").out
    assert "gold: labels 1 label, rate 0.2, mark 0.7, mark after 10, below pause" in words
    options = (
        "--protocol",
        "qa_verification",
        "--annotators",
        "ada,ben",
        "--overlap",
        "2",
        "--where",
        "system=harbour",
    )
    also = ("--gold", tmp_path / "gold.csv", "--repeat-rate", "0.1", "--qualification", tmp_path / "gold.csv")
    refused = project(*make, "second", *options, *also, code=2)
    assert "gold.csv, line 2: Item 'q1:lantern' is a gold item already." in refused.err
    project(*make, "second", *options, *also[:4])
    second = project.json("study", "show", "finance", "second")["design"]
    assert (second["gold"]["rate"], second["repeats"]["rate"]) == (0.1, 0.1)
    assert project.json("study", "show", "finance", "first")["design"]["qualification"] is None


def test_what_is_wrong_with_gold_is_told_by_the_line_of_the_design(project: CommandLine, tmp_path: Path) -> None:
    written(
        tmp_path,
        "item,criterion,value\nq1:lantern,self_contained,perhaps\nnobody,self_contained,true\n,self_contained,true\n",
        "gold.csv",
    )
    make = ("study", "create", "finance", "first", "--design")
    design = written(tmp_path, DESIGN + "gold: {file: gold.csv}\nqualification: {file: none.csv}\n")
    refused = project.json(*make, design, code=2)
    assert [(problem["line"], problem["problem"]) for problem in refused["problems"]] == [
        (13, "gold.csv, line 4: `item` is empty."),
        (14, f"There is no file '{tmp_path / 'none.csv'}'."),
    ]
    written(
        tmp_path, "item,criterion,value\nq1:lantern,self_contained,perhaps\nnobody,self_contained,true\n", "gold.csv"
    )
    design = written(tmp_path, DESIGN + "gold: {file: gold.csv}\n")
    told = project(*make, design, code=2).err
    assert "design.yaml, line 13: gold.csv, line 3: The project has no item 'nobody'." in told
    assert project.json("study", "list", "finance") == []


# Order by a score -----------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(begun: CommandLine, tmp_path: Path) -> CommandLine:
    database = begun.database()
    make_judged(database, local_administrator(database), tmp_path / "source", questions=6, labelled=1)
    database.dispose()
    return begun


BY_SCORE = ("--order", "by_score", "--order-score", "overlap")


def test_a_study_is_ordered_by_a_score_and_made_again_of_its_design(judged: CommandLine, tmp_path: Path) -> None:
    make = ("study", "create", "judged", "hard", "--protocol", "ambiguity", "--annotators", "ada,ben", "--every-item")
    asked = (*make, *BY_SCORE, "--order-first", "low", "--seed", "4")
    dry = judged.json(*asked, "--dry-run")
    assert dry["order"] == "by_score"
    words = judged(*make, "--order", "own", "--dry-run").out
    assert "Shuffled for each annotator: everybody has an order of their own." in words
    [note] = [note for note in dry["notes"] if "ordered" in note]
    assert "ordered by overlap, the lowest first as a rule: drawn with known probabilities." in note
    assert "1 item has no such score and the average chance (q005:quay)." in note
    made = judged.json(*asked)
    assert (made["items"], made["sample_hash"]) == (18, dry["sample_hash"])
    design = judged.json("study", "show", "judged", "hard")["design"]
    assert (design["order"], design["order_score"], design["order_first"]) == ("by_score", "overlap", "low")
    again = written(tmp_path, json.dumps(design | {"name": "again"}), "again.yaml")
    made_again = judged.json("study", "create", "judged", "again", "--design", again)
    assert made_again["sample_hash"] == made["sample_hash"]
    to = tmp_path / "export"
    judged("export", "judged", "--study", "hard", "--to", to)
    assert (to / "sampling.csv").read_text().count("\n") == 19


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((*BY_SCORE,), "one of: high, low, uncertain"),
        (("--order", "by_score", "--order-first", "low"), "needs the score that it goes by"),
        (
            ("--order", "by_score", "--order-score", "bleu", "--order-first", "low"),
            "has a score 'bleu' to be ordered by",
        ),
        (("--order-score", "overlap"), "says nothing of the order 'shuffled'"),
    ],
)
def test_an_order_by_a_score_that_cannot_be_says_what_would_do(
    judged: CommandLine, given: tuple[str, ...], says: str
) -> None:
    make = ("study", "create", "judged", "hard", "--protocol", "ambiguity", "--annotators", "ada,ben")
    assert says in judged(*make, *given, code=2).err


def test_arms_are_made_together_and_name_each_other(project: CommandLine, tmp_path: Path) -> None:
    text = (
        "protocol: qa_verification\nannotators: [ada, ben, chloe]\noverlap: 1\narms:\n"
        "  - {name: a}\n  - {name: b, order: given}\n"
    )
    made = project.json("study", "create", "finance", "tone", "--design", written(tmp_path, text))
    assert [(arm["arm"], arm["items"]) for arm in made["arms"]] == [("a", made["items"]), ("b", made["items"])]
    shown = project.json("study", "show", "finance", "tone / b")
    assert [arm["study"] for arm in shown["arms"]] == ["tone / a", "tone / b"]
    assert shown["design"]["order"] == "given"
    assert "arms, with people dealt out: tone / a, tone / b" in project("study", "show", "finance", "tone / a").out
    beside = project.json("study", "arms", "finance", "tone / a")
    assert [arm["arm"] for arm in beside["arms"]] == ["a", "b"]
    reason = "nobody has labelled it in tone / a or tone / b yet"
    assert {(row["reason"], *row["labels"]) for row in beside["criteria"]} == {(reason,)}
    assert f"in tone / a and tone / b: {reason}." in project("study", "arms", "finance", "tone / a").out
    project("study", "create", "finance", "plain", "--protocol", "ambiguity", "--annotators", "ada", "--overlap", "1")
    assert "'plain' has no arms" in project("study", "arms", "finance", "plain", code=5).err
    wrong = written(tmp_path, text.replace("order: given", "overlap: 2").replace("name: a}", "nam: a}"), "wrong.yaml")
    told = project("study", "create", "finance", "other", "--design", wrong, code=2).err
    assert "wrong.yaml, line 5: `nam` of entry 1 of `arms` is no field. Did you mean `name`?" in told
    wrong = written(tmp_path, text.replace("order: given", "overlap: 2"), "wrong.yaml")
    told = project("study", "create", "finance", "other", "--design", wrong, code=2).err
    assert "wrong.yaml, line 6: An overlap of 2 needs as many annotators in each arm" in told
