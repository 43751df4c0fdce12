"""What of a pull counts: what would count if it had been given here."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotators.asking.submissions import GivenLabel
from annotators.errors import InvalidInput
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.annotating.status import study_status
from db.elsewhere.came_back import AnnotationElsewhere, take_back
from db.elsewhere.handed_over import items_by_token
from db.models import StudyState
from db.quality.omissions import Decided, leave_out, restore
from tests.exports.label_studio.there import ADA, BEN, There

PEOPLE = {"ada@example.org": "ada", "ben@example.org": "ben"}
FIRST, SINCE, LATER = "2025-11-25T02:00:00Z", datetime(2025, 11, 26, tzinfo=UTC), "2025-11-27T02:00:00Z"


@pytest.fixture
def there(tmp_path: Path) -> There:
    return There(tmp_path)


def become(there: There, state: StudyState) -> None:
    set_state(there.db, there.admin, there.study, state=state, reason="so it is")


def states(there: There) -> dict[str, Any]:
    """The assignments that are somebody's, by state, as `assay status` counts them; they are what the rows say."""
    there.tallies()
    found = study_status(there.db, there.admin, there.study)
    return {state: n for state, n in found["states"].items() if n and state != "open"} | {"disputed": found["disputed"]}


def submitted(there: There) -> dict[str, int]:
    return {
        one["annotator"]: one["submitted"] for one in study_status(there.db, there.admin, there.study)["annotators"]
    }


def drop(there: There, name: str, since: datetime = SINCE) -> Decided:
    return leave_out(there.db, there.admin, there.study, annotator=name, since=since, reason="at random")


def test_in_a_closed_study_what_comes_is_surplus_and_nothing_is_corrected(there: There) -> None:
    there.annotate(ADA, first=10, made=FIRST)
    n = len(there.tasks)
    there.pull(PEOPLE)
    become(there, StudyState.CLOSED)
    there.annotate(BEN, first=50, made=FIRST)
    there.change(0, "no", LATER)
    dry = there.pull(PEOPLE, dry_run=True)
    found = there.pull(PEOPLE)
    assert dry["not_counted"] == found["not_counted"] == {"surplus": n, "left_out": 0}
    assert (found["new"], found["changed"], len(found["left"])) == (n, 0, 1)
    assert "The study is closed" in found["left"][0]
    assert states(there) == {"submitted": n, "surplus": n, "disputed": 0}
    again = there.pull(PEOPLE)
    assert (again["new"], again["unchanged"], again["not_counted"]["surplus"]) == (0, 2 * n - 1, 0)
    # Started again, what was surplus and what was changed count by the next pull.
    become(there, StudyState.RUNNING)
    found = there.pull(PEOPLE)
    assert (found["new"], found["changed"], found["left"], found["not_counted"]["surplus"]) == (n, 1, [], 0)
    assert states(there) == {"submitted": 2 * n, "disputed": 1}
    there.withdraw(found["batch"])
    assert states(there) == {"submitted": n - 1, "disputed": 0}


def test_a_surplus_that_is_withdrawn_is_in_no_count(there: There) -> None:
    become(there, StudyState.CLOSED)
    there.annotate(ADA, first=10, made=FIRST)
    n, batch = len(there.tasks), there.pull(PEOPLE)["batch"]
    there.withdraw(batch)
    assert states(there) == {"disputed": 0}
    there.withdraw(batch, reinstates=True)
    assert states(there) == {"surplus": n, "disputed": 0}


def test_in_a_paused_study_and_of_who_left_it_labels_count(there: There) -> None:
    become(there, StudyState.PAUSED)
    leaves = StudyChange(remove=("ben",), overlap=1)
    amend_study(there.db, there.admin, there.study, change=leaves, reason="on leave")
    there.annotate(BEN, first=10, made=LATER)
    n, found = len(there.tasks), there.pull(PEOPLE)
    assert found["not_counted"] == {"surplus": 0, "left_out": 0}
    assert states(there) == {"submitted": n, "disputed": 0}


def test_what_is_given_by_somebody_who_is_left_out_is_left_out(there: There) -> None:
    for who, first in ((BEN, 50), (ADA, 10)):
        there.annotate(who, first=first, made=FIRST)
    n = len(there.tasks)
    late = [task["annotations"].pop(0) for task in there.tasks[-2:]]
    there.pull(PEOPLE)
    drop(there, "ben")
    assert states(there) == {"submitted": 2 * n - 2, "disputed": 0}, "all of it is older"
    there.change(0, "no", LATER)
    for task, one in zip(there.tasks[-2:], late, strict=True):
        task["annotations"].insert(0, one | {"created_at": LATER, "updated_at": LATER})
    dry = there.pull(PEOPLE, dry_run=True)
    found = there.pull(PEOPLE)
    assert dry["not_counted"] == found["not_counted"] == {"surplus": 0, "left_out": 3}
    assert (found["new"], found["changed"]) == (2, 1)
    assert states(there) == {"submitted": 2 * n - 3, "left_out": 3, "disputed": 0}
    assert there.pull(PEOPLE)["unchanged"] == 2 * n
    given_back = restore(there.db, there.admin, there.study, annotator="ben", reason="they were right")
    assert given_back == Decided("ben", annotations=3, surplus=0, items=3, short=0)
    assert states(there) == {"submitted": 2 * n, "disputed": 1}


def test_imported_labels_that_are_left_out_are_counted_so(there: There) -> None:
    for who, first in ((BEN, 50), (ADA, 10)):
        there.annotate(who, first=first, made=LATER)
    n, first = len(there.tasks), there.pull(PEOPLE)["batch"]
    there.change(0, "no", LATER.replace("02:", "03:"))
    second = there.pull(PEOPLE)["batch"]
    # One of them took the place of another.
    assert drop(there, "ben") == Decided("ben", annotations=n, surplus=0, items=n, short=1)
    assert states(there) == {"submitted": n, "left_out": n, "disputed": 0}
    assert submitted(there) == {"ada": n, "ben": 0}
    there.withdraw(second)
    assert states(there) == {"submitted": n, "left_out": n - 1, "disputed": 0}
    assert drop(there, "ben", datetime(2025, 11, 28, tzinfo=UTC)).annotations == n - 1
    assert states(there) == {"submitted": 2 * n - 1, "disputed": 0}
    there.withdraw(second, reinstates=True)
    assert states(there) == {"submitted": 2 * n, "disputed": 1}
    there.withdraw(first)
    assert states(there) == {"submitted": 1, "disputed": 0}


def test_what_is_left_out_while_its_import_is_withdrawn_is_so_when_it_is_put_back(there: There) -> None:
    there.annotate(BEN, first=50, made=LATER)
    n, batch = len(there.tasks), there.pull(PEOPLE)["batch"]
    there.withdraw(batch)
    assert drop(there, "ben").annotations == 0
    assert states(there) == {"disputed": 0}
    there.withdraw(batch, reinstates=True)
    assert states(there) == {"left_out": n, "disputed": 0}
    restore(there.db, there.admin, there.study, annotator="ben", reason="they were right")
    assert states(there) == {"submitted": n, "disputed": 0}


def test_what_does_not_fit_stops_all_or_is_left_out_by_name_until_it_is_mended(there: There) -> None:
    for who, first in ((BEN, 50), (ADA, 10)):
        there.annotate(who, first=first, made=FIRST)
    n = len(there.tasks)
    there.change(0, "maybe", LATER)
    with pytest.raises(InvalidInput, match=r"task 100, annotation 50 by 'ben': .*\n.*--skip-bad"):
        there.pull(PEOPLE)
    assert states(there) == {"disputed": 0}
    [problem] = there.pull(PEOPLE, skip_bad=True, dry_run=True)["problems"]
    found = there.pull(PEOPLE, skip_bad=True)
    assert found["problems"] == [problem]
    assert "maybe" in problem.pop("reason")
    assert problem == {"file": "export.json", "line": 50, "task": "100", "annotator": "ben"}
    assert (found["new"], found["waiting"], found["left"], found["gone"]) == (2 * n - 1, 0, [], [])
    there.change(0, "no", LATER)
    assert (there.pull(PEOPLE)["new"], states(there)) == (1, {"submitted": 2 * n, "disputed": 1})
    # What came before of one that does not fit any more stands, and an earlier one does not take its place.
    there.change(0, "maybe", LATER.replace("02:", "03:"))
    older = there.tasks[0]["annotations"][0] | {"id": 99, "updated_at": FIRST}
    result = {**older["result"][0], "value": {"choices": ["yes"]}}
    there.tasks[0]["annotations"].append(older | {"result": [result]})
    found = there.pull(PEOPLE, skip_bad=True)
    assert (found["new"], found["changed"], len(found["problems"]), found["gone"]) == (0, 0, 1, [])
    assert states(there) == {"submitted": 2 * n, "disputed": 1}


def test_labels_that_the_item_cannot_have_are_left_out_as_whole_annotations(there: There) -> None:
    [first, second, *_] = items_by_token(there.db, there.admin, there.study).values()
    about = [GivenLabel("right", "item", "yes"), GivenLabel("right", "item", "maybe")]
    annotations = [
        AnnotationElsewhere(of, "ada", line, [label], task=f"t{line}")
        for line, (of, label) in enumerate(zip((first, second), about, strict=True), 1)
    ]
    given: dict[str, Any] = {"annotations": annotations, "source": "there"}
    with pytest.raises(InvalidInput, match="task t2, annotation 2 by 'ada': 'maybe' is not a label"):
        take_back(there.db, there.admin, there.study, **given)
    came = take_back(there.db, there.admin, there.study, **given, skip_bad=True)
    assert (came.new, [(one.task, one.line, one.annotator) for one in came.problems]) == (1, [("t2", 2, "ada")])
