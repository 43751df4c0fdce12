"""`assay prompts` and `assay prompt …`: listed, shown, checked, added, compared."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotators.asking.submissions import GivenLabel
from annotators.judges.prompts import PROMPTS
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.people.accounts import actor_named
from tests.app.cli.command_line import CommandLine, write_items
from tests.judging.schemas import filled
from tests.judging.scripted import ScriptedServer, Whole
from tests.judging.wire import Sent
from tests.makers import read_guidelines


def test_the_commands_list_show_check_add_and_compare(assay: CommandLine, tmp_path: Path) -> None:
    listed = {row["prompt"]: row for row in assay.json("prompts")}
    assert set(listed) == set(PROMPTS.names())
    assert (listed["answer_grade"]["protocol"], listed["claim_splitting"]["writes"]) == ("answer_grading", "claims")
    file = tmp_path / "strict.yaml"
    text_of = assay("prompts", "--show", "answer_grade").out
    file.write_text(text_of.replace("name: answer_grade", "name: strict_grades"))
    checked = assay.json("prompt", "check", file)
    assert (checked["prompt"], checked["hash"]) == ("strict_grades", listed["answer_grade"]["hash"])

    assay.begun()
    assert assay.json("prompt", "add", "finance", file)["version"] == 1
    file.write_text(file.read_text().replace("rationale: before", "rationale: none"))
    assert assay.json("prompt", "add", "finance", file)["version"] == 2
    assert "Nothing was added" in assay("prompt", "add", "finance", file).out
    [row] = [row for row in assay.json("prompts", "finance") if not row["built_in"]]
    assert ([version["version"] for version in row["versions"]], row["rationale"]) == ([2, 1], "none")
    found = assay.json("prompts", "finance", "--diff", "strict_grades@1", "strict_grades")
    assert (found["same"], found["a"]["version"], found["b"]["version"]) == (False, 1, 2)
    assert {"change": "added", "text": "rationale: none"} in found["lines"]
    assert "+rationale: none" in assay("prompts", "finance", "--diff", "strict_grades@1", file).out
    assert "say the same" in assay("prompts", "--diff", "plain", "plain").out


def test_what_is_wrong_with_a_prompt_is_named_with_its_line_and_nothing_is_added(
    assay: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nprotocol: ambiguity\ncriteria:\n  tone: Listen.\nexamples:\n"
        "- criterion: ambiguity\n  shown: Q?\n  label: vague\n"
    )
    found = assay.json("prompt", "check", file, code=2)
    assert [problem["line"] for problem in found["problems"]] == [4, 8]
    assert "mine.yaml, line 4: " in found["error"]
    assay.begun()
    assert "line 8" in assay("prompt", "add", "finance", file, code=2).err
    file.write_text("name: plain\nsystem: Judge.\n")
    assert "mine.yaml, line 1: " in assay("prompt", "add", "finance", file, code=2).err
    assert [row for row in assay.json("prompts", "finance") if not row["built_in"]] == []
    assert "no prompt file" in assay("prompt", "check", tmp_path / "none.yaml", code=3).err
    assert "does not end in .yaml" in assay("prompt", "check", tmp_path / "none.txt", code=2).err
    assert "not both" in assay("prompts", "--show", "plain", "--diff", "plain", "plain", code=2).err


def even(sent: Sent) -> Whole:
    """A where the question says that it is even, else B."""
    label = "A" if ", even?" in sent.texts[-1].rpartition("# Material")[2] else "B"

    def fill(_path: object, leaf: Mapping[str, Any]) -> Any:
        return label if "enum" in leaf else (False if leaf.get("type") == "boolean" else "So it is.")

    return Whole(filled(sent.schema or {}, fill))


def test_people_check_what_a_judge_decided_and_the_next_prompt_learns_of_it(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    said = ("even", "odd")
    rows = [
        {"id": f"q{n}", "question_key": f"k{n}", "question": f"Q{n}, {said[n % 2]}?", "answer": ""} for n in range(6)
    ]
    assay("import", "finance", write_items(tmp_path, *rows))
    with ScriptedServer(even) as server:
        asked = ("--model", "tiny-judge", "--base-url", server.base_url, "--pictures", "0")
        run = assay.json("judge", "finance", "--protocol", "query_review", "--prompt", "query_reviewer", *asked)
        judge, judged = run["judge"], "query_review by judges"
        drawn = assay.json("prompt", "sample", "finance", judged, "--judge", judge, "--n", "2", "--annotators", "ada",
                           "--overlap", "1")  # fmt: skip
        assert drawn["study"] == "query_review by judges, checked"
        assert drawn["decisions"] == [
            {"decision": "A", "decided": 3, "drawn": 2}, {"decision": "B", "decided": 3, "drawn": 2},
        ]  # fmt: skip
        checked = ("prompt", "checked", "finance", drawn["study"], "--judge", judge)
        assert "nothing of it is settled yet" in assay(*checked).out
        db = assay.database()
        ada = actor_named(db, "ada")
        read_guidelines(db, drawn["id"])
        while items := work(db, ada, drawn["id"])["items"]:
            where = [items[0][name] for name in ("assignment", "sitting", "step")]
            label = GivenLabel("query_category", "item", "B")
            submit(db, ada, drawn["id"], step=StepSubmission(uuid.uuid4().hex, *where, (label,), seconds=1.0))
        yes, no = assay.json(*checked)["decisions"]
        assert [(one["decision"], one["n"], one["right"], one["share"]) for one in (yes, no)] == [
            ("A", 2, 0, 0.0), ("B", 2, 2, 1.0),
        ]  # fmt: skip
        wrong = [one["item"] for one in yes["wrong"]]
        assert f"  {wrong[0]}: A, settled as B" in assay(*checked).out
        learn = ("prompt", "examples", "finance")
        new = assay.json(*learn, "query_reviewer", drawn["study"], "--items", ",".join(wrong))
        assert (new["prompt"], new["version"]) == ("my_query_reviewer", 1)
        assert new["examples"] == [{"item": item, "label": "B"} for item in wrong]
        with db.read() as session:
            there = session.connection().exec_driver_sql(
                "SELECT i.external_id FROM study_item s JOIN item_version v ON v.id = s.item_version_id "
                f"JOIN item i ON i.id = v.item_id WHERE s.study_id = {drawn['id']}"
            )
            right = next(item for item in there.scalars() if item not in wrong)
        assert assay.json(*learn, "my_query_reviewer", drawn["study"], "--items", right)["version"] == 2
        of_two = assay.json("judge", "finance", judged, "--prompt", "my_query_reviewer@1", *asked)
        assert (of_two["labels"], of_two["unscored"]) == (4, [{"reason": "an example of the prompt", "n": 2}])
        plan = assay.json("judge", "finance", judged, "--prompt", "my_query_reviewer", *asked, "--dry-run")
        assert set(wrong) < set(plan["examples"])
    assert "'q99'" in assay(*learn, "query_reviewer", drawn["study"], "--items", "q99", code=3).err
