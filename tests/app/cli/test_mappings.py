"""`assay mappings` and `assay mapping …`, and `--map NAME` wherever a table is read."""

from __future__ import annotations

from pathlib import Path

from tests.app.cli.command_line import CommandLine

BATCH = (
    "HITId,WorkerId,AssignmentStatus,Answer.Coherence,Answer.Fluency\n"
    "h1,w1,Approved,3,4\nh1,w2,Approved,4,4\nh2,w1,Approved,2,5\nh2,w2,Approved,2,5\n"
)
FIELDS = ("--map", "item=HITId", "--map", "annotator=WorkerId", "--map", "criteria=Answer.*")


def test_a_kept_mapping_stands_for_all_that_it_says(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    file = tmp_path / "batch.csv"
    file.write_text(BATCH)
    said = assay.json("mapping", "save", "finance", "mturk", *FIELDS, "--fold-case", "--table", file)
    assert said["rows"][0] == {"item": "h1", "annotator": "w1", "criterion": "Coherence", "value": "3"}
    [listed] = assay.json("mappings", "finance")
    assert (listed["mapping"], listed["fold_case"], listed["fields"]["item"]) == ("mturk", True, ["HITId"])
    assert "--map item=HITId" in assay("mapping", "show", "finance", "mturk").out

    measure = ("agreement", "--table", file, "--resamples", "0")
    by_name, by_fields = assay.json(*measure, "--map", "mturk"), assay.json(*measure, *FIELDS)
    assert by_name["criteria"] == by_fields["criteria"]
    assert assay.json(*measure, "--map", "finance/mturk")["criteria"] == by_fields["criteria"]
    # What stands beside the name comes in its place.
    one = assay.json(*measure, "--map", "mturk", "--map", "criteria=Answer.Fluency")
    assert [found["criterion"] for found in one["criteria"]] == ["Answer.Fluency"] or len(one["criteria"]) == 1
    made = assay.json("labels", "import", "finance", "crowd", file, "--map", "mturk", "--infer", "--bare-items")
    assert made["labels"] == 8

    file.write_text(BATCH.replace("WorkerId", "Worker"))
    refused = assay(*measure, "--map", "mturk", code=3).err
    assert "The mapping 'mturk' does not fit batch.csv: it has no column 'WorkerId', which is the annotator" in refused
    assert "No project has a mapping 'mturk2'" in assay(*measure, "--map", "mturk2", code=3).err
    assay("mapping", "delete", "finance", "mturk")
    assert assay.json("mappings", "finance") == []


def test_a_kept_mapping_reads_items_and_columns_of_metrics(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    rows = "".join(
        f'{{"n": {n}, "q": {{"text": "Q{n}?"}}, "Note": {n % 5}, "m": {n % 5 + n % 2}}}\n' for n in range(12)
    )
    file = tmp_path / "rows.jsonl"
    file.write_text(rows)
    assay("mapping", "save", "finance", "items", "--map", "id=n", "--map", "question=q.text")
    assert assay.json("import", "finance", file, "--map", "items", "--dry-run")["added"] == 12
    assay("mapping", "save", "finance", "metrics", "--map", "human=Note", "--map", "metric=m")
    by_name = assay.json("alignment", "--table", file, "--map", "metrics", "--resamples", "0")
    by_option = assay.json("alignment", "--table", file, "--human", "Note", "--metric", "m", "--resamples", "0")
    assert by_name["statistics"] == by_option["statistics"]
    file.write_text(rows.replace('"text"', '"words"'))
    assert "nothing at 'q.text'" in assay("agreement", "--table", file, "--map", "item=q.text", "--map", "annotator=m",
                                          "--map", "value=n", code=3).err  # fmt: skip
