"""`assay study gold`."""

from __future__ import annotations

from pathlib import Path

from tests.app.cli.command_line import CommandLine
from tests.app.cli.test_disputes import write
from tests.makers import make_item


def test_gold_items_are_added_from_a_file_all_or_none(begun: CommandLine, tmp_path: Path) -> None:
    database = begun.database()
    for name in ("q1", "q2", "q3"):
        make_item(database, 1, name, n_evidence=1)
    database.dispose()
    items = write(tmp_path / "items.csv", ("item",), ("q1",))
    create = (
        "study",
        "create",
        "finance",
        "facts",
        "--protocol",
        "factuality",
        "--annotators",
        "ada",
        "--overlap",
        "1",
    )
    begun(*create, "--items", items)
    heading = ("item", "criterion", "value", "explanation")
    right = ("q2", "question_factual", "factual", "The report says so on page 2.")
    bad = write(tmp_path / "bad.csv", heading, ("q1", *right[1:]), ("q2", "tone", "1", ""), right)
    refused = begun("study", "gold", "finance", "facts", bad, "--json", code=2)
    assert [problem["line"] for problem in refused.json["problems"]] == [2, 3]
    assert "is in the study's sample" in refused.json["problems"][0]["problem"]
    good = write(tmp_path / "good.csv", heading, right, ("q3", "question_factual", "not_factual", ""))
    planting = {
        "gold_rate": 0.2,
        "repeat_rate": 0.0,
        "repeat_after": 20,
        "mark": 0.7,
        "mark_after": 10,
        "below": "pause",
    }
    done = begun.json("study", "gold", "finance", "facts", good, "--rate", "0.2", "--below", "pause")
    assert done == {"study": "facts", "added": 2, "labels": 2, "items": 2, **planting}
    [amendment] = begun.json("study", "show", "finance", "facts")["amendments"]
    assert (amendment["what"], amendment["before"]["gold_items"], amendment["after"]) == (
        "gold",
        0,
        {"gold_items": 2, **planting},
    )
    assert "is none. Give a share" in begun("study", "gold", "finance", "facts", "--rate", "2", code=2).err
