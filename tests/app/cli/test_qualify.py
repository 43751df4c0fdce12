"""`assay study qualify` and `assay annotators let-in`."""

from __future__ import annotations

from pathlib import Path

from sqlmodel import select

from db.models import Study, StudyMember, now
from tests.app.cli.command_line import CommandLine
from tests.app.cli.test_disputes import write
from tests.makers import make_item


def test_a_qualification_is_asked_for_and_somebody_let_in(begun: CommandLine, tmp_path: Path) -> None:
    database = begun.database()
    for name in ("q1", "q2", "q3"):
        make_item(database, 1, name, n_evidence=1)
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
    database = begun.database()
    with database.write() as session:
        [study_id] = session.exec(select(Study.id).where(Study.name == "facts"))
        member = session.exec(select(StudyMember).where(StudyMember.study_id == study_id)).one()
        member.failed_at = now()
        session.add(member)
    database.dispose()
    found = {need["kind"]: need for need in begun.json("status", "finance", "facts")["needs_researcher"]}
    assert set(found) == {"failed", "nobody"}
    failed = found["failed"]
    assert (failed["n"], failed["people"], failed["ends_it"]) == (1, ["ada"], "Let in")
    assert failed["command"] == "assay annotators let-in finance facts ada --reason TEXT"
    said = f"- 1 annotator failed the qualification and gets no items: ada. Let in: {failed['command']}"
    assert said in begun("status", "finance", "facts").out.splitlines()
    shown = begun("annotators", "finance", "facts").out
    assert said in shown.splitlines()
    assert "failed" in shown
    assert "nobody of the team can give" not in shown, "that is about items"
    let = ("annotators", "let-in", "finance", "facts", "ada", "--reason", "knows it")
    assert begun.json(*let) == {"annotator": "ada", "let_in": True}
    assert "gets the study's items already" in begun(*let, code=5).err
    assert begun.json("status", "finance", "facts")["needs_researcher"] == []
    assert "waits for the researcher" not in begun("status", "finance", "facts").out
    [ada] = begun.json("annotators", "finance", "facts")
    assert ada["qualification"]["state"] == "let_in"
    assert ada["qualification"]["let_in"]["reason"] == "knows it"
    assert "let in by admin: knows it" in begun("annotators", "finance", "facts").out
    shown = begun.json("study", "show", "finance", "facts")["amendments"]
    assert [(row["what"], row["after"]["mark"]) for row in shown] == [("qualification", 0.8), ("qualification", 0.5)]
