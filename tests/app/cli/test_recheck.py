"""`assay study recheck`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.cli.command_line import CommandLine
from tests.makers import make_item


def test_what_fell_is_listed_and_sent_back(begun: CommandLine, tmp_path: Path) -> None:
    database = begun.database()
    for name in ("q1", "q2"):
        make_item(database, 1, name)
    database.dispose()
    begun(
        "study",
        "create",
        "finance",
        "facts",
        "--protocol",
        "answer_grading",
        "--annotators",
        "ada,ben",
        "--overlap",
        "1",
        "--keep-lacking",
    )
    assert "No label of the study fell" in begun("study", "recheck", "finance", "facts", "--dry-run").out
    assert "Of no item" in begun("study", "recheck", "finance", "facts", code=2).err
    assert (
        "Nothing has to be asked again of 'q9'"
        in begun("study", "recheck", "finance", "facts", "--items", "q9", code=2).err
    )
    fields = tmp_path / "fields.json"
    fields.write_text(json.dumps({"answer": "Another one."}))
    begun("revise", "finance", "q1", "--fields", fields, "--reason", "wrong")
    found = begun.json("study", "recheck", "finance", "facts", "--dry-run")["items"]
    assert [(row["item"], row["from"], row["to"], row["waits"]) for row in found] == [
        ("q1", 1, 2, "it still waits for labels in its earlier version")
    ]
    assert "cannot come back yet" in begun("study", "recheck", "finance", "facts", "--items", "q1", code=2).err
