"""What annotators talk about stands beside their labels: what a label calls by a key is said in words."""

from __future__ import annotations

import json
from pathlib import Path

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.items.targets import TargetKind
from annotators.protocols import Material, Step
from db.adjudicating.threads import my_threads
from db.people.accounts import actor_named
from db.permissions import Role
from db.projects import create_project
from exports.importing.items import import_paths
from tests.app.filled import no_problem
from tests.app.pages import Pages, tables
from tests.e2e.disputes import Quarrel, Said, make_disputes
from tests.makers import tiny_protocol

TWO = ("ada", "ben")
LABELS = [Label(value="yes"), Label(value="no")]


def test_a_thread_shows_the_claims_and_hops_that_its_labels_are_about(pages: Pages, tmp_path: Path) -> None:
    for name in TWO:
        pages.person(name, Role.ANNOTATOR)
    row = {
        "id": "a",
        "question": "Which mill is older?",
        "answer": "The Orla mill burned down. It was rebuilt.",
        "claims": [
            {"key": "burned", "text": "The mill burned down."},
            {"key": "rebuilt", "text": "It was <b>rebuilt</b>."},
        ],
        "hops": [{"key": "north", "question": "When was the north mill built?"}],
    }
    (tmp_path / "items.jsonl").write_text(json.dumps(row) + "\n")
    project = create_project(pages.db, pages.admin, "Mills")
    import_paths(pages.db, pages.admin, project, paths=[tmp_path], format_name="native", data_folder=tmp_path / "data")
    protocol = tiny_protocol(
        criteria=[
            Choice(name="right", title="Right", labels=LABELS),
            Choice(name="fit", title="Fit", target=TargetKind.CLAIM, labels=LABELS),
        ],
        steps=[
            Step(
                name="all",
                title="All",
                shows=[Material.QUESTION, Material.ANSWER, Material.CLAIMS, Material.HOPS],
                criteria=["right", "fit"],
            )
        ],
    )
    said = {(0, "right", "item"): {"ben": Said("no")}, (0, "fit", "claim:C2"): {"ben": Said("no")}}
    make_disputes(pages, project, "talk", Quarrel(said), protocol=protocol, annotators=TWO, talk="all")
    [thread] = my_threads(pages.db, actor_named(pages.db, "ada"))
    page = pages.open(pages.token("ada"), "my_work", project=str(project), thread=str(thread.study_item_id))
    shown = no_problem(page)
    assert '<li class="alike"><b dir="auto">C1</b><span dir="auto">The mill burned down.</span>' in shown
    assert '<li class="differs"><b dir="auto">C2</b><span dir="auto">It was &lt;b&gt;rebuilt&lt;/b&gt;.</span>' in shown
    assert "When was the north mill built?" in shown
    assert [row[:2] for row in tables(page)["Everybody's labels"]] == [["Right", ""], ["Fit", "C2"]]
