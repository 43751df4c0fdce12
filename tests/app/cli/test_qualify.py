"""`assay study qualify` and `assay annotators let-in`."""

from __future__ import annotations

from pathlib import Path

from tests.app.cli.command_line import CommandLine
from tests.app.cli.test_disputes import write
from tests.makers import make_item


def test_a_qualification_is_asked_for_and_somebody_let_in(begun: CommandLine, tmp_path: Path) -> None:
    database = begun.database()
    for name in ("q1", "q2", "q3"):
        make_item(database, 1, name)
    database.dispose()
    items = write(tmp_path / "items.csv", ("item",), ("q1",))
    people = ("--annotators", "ada", "--overlap", "1", "--items", items)
    begun("study", "create", "finance", "facts", "--protocol", "factuality", *people)
    heading = ("item", "criterion", "value", "explanation")
    right = ("q2", "question_factual", "factual", "The report says so on page 2.")
    bad = write(tmp_path / "bad.csv", heading, ("q1", *right[1:]), right)
    refused = begun("study", "qualify", "finance", "facts", bad, "--json", code=2)
    assert [problem["line"] for problem in refused.json["problems"]] == [2]
    good = write(tmp_path / "good.csv", heading, right)
    found = begun.json("study", "qualify", "finance", "facts", good, "--tries", "3")
    assert found == {"study": "facts", "added": 1, "labels": 1, "mark": 0.8, "tries": 3, "items": 1}
    assert (
        "One passes with 0.5 of the labels right" in begun("study", "qualify", "finance", "facts", "--mark", "0.5").out
    )
    [ada] = begun.json("annotators", "finance", "facts")
    assert ada["qualification"] == {"state": "open", "tries": 0, "right": 0, "labels": 0}
    let = ("annotators", "let-in", "finance", "facts", "ada", "--reason", "knows it")
    assert begun.json(*let) == {"annotator": "ada", "let_in": True}
    assert "has passed" in begun(*let, code=5).err
    [ada] = begun.json("annotators", "finance", "facts")
    assert ada["qualification"]["state"] == "passed"
    shown = begun.json("study", "show", "finance", "facts")["amendments"]
    assert [(row["what"], row["after"]["mark"]) for row in shown] == [("qualification", 0.8), ("qualification", 0.5)]
