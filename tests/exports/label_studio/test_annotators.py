"""Whose annotations of Label Studio are here, however an export calls who made them: each is stored once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS
from db.batches import withdraw_batch
from db.models import Account, Annotation, Event
from db.people.accounts import erase_person
from exports.label_studio.pull import pull_from_files
from tests.exports.label_studio.there import ADA, BEN, IS_ADA, There
from tests.makers import tiny_protocol


@pytest.fixture
def there(tmp_path: Path) -> There:
    return There(tmp_path)


def test_an_annotation_is_known_again_however_its_annotator_is_called(there: There) -> None:
    there.annotate(ADA, first=10)
    n = len(there.tasks)
    assert there.pull(IS_ADA)["new"] == n
    there.call(lambda who: who["id"])
    assert (again := there.pull())["unchanged"] == n
    assert (again["new"], again["gone"], again["left"]) == (0, [], [])
    there.annotate(2, first=50, value="no", made="2026-11-26T02:00:00.5Z")
    assert there.pull()["changed"] == n, "who is known by an earlier annotation is known by the number alone"
    assert there.by() == {"ada": n}


def test_a_number_is_somebody_else_on_a_server_that_began_anew(there: There) -> None:
    there.annotate(ADA, first=10)
    there.pull()
    for task in there.tasks:
        task["annotations"] = []
    there.annotate(BEN, first=10, made="2026-11-27T09:00:00.25Z")
    assert there.pull()["new"] == len(there.tasks)
    assert set(there.by()) == {"ada@example.org", "ben@example.org"}


def test_who_was_named_wrongly_stays_until_the_batch_is_withdrawn(there: There) -> None:
    there.annotate(ADA, first=10)
    n, first = len(there.tasks), there.pull()
    again = there.pull(IS_ADA)
    assert (again["new"], again["unchanged"]) == (0, n)
    [line] = again["left"]
    assert line.startswith(f"{n} annotations of 'ada' came in as those of 'ada@example.org' before, and stay so")
    withdraw_batch(there.db, there.admin, there.project.id, first["batch"], reason="whose they are")
    assert there.pull(IS_ADA)["new"] == n
    assert there.pull()["unchanged"] == n


def test_a_person_who_fits_nobody_is_named_and_nothing_is_stored_under_numbers(there: There) -> None:
    there.annotate(2, first=10)
    with pytest.raises(
        InvalidInput, match=r"--person ada@example\.org=ada fits nobody there, and no --person fits 2\."
    ):
        there.pull(IS_ADA)
    assert there.by() == {}
    assert there.pull({"2": "ada", "zoe@example.org": "zoe"})["left"] == [
        "--person zoe@example.org=zoe fits nobody who has annotated."
    ]
    assert set(there.by()) == {"ada"}


def test_what_is_not_there_any_more_is_named_and_still_counts(there: There) -> None:
    there.annotate(ADA, first=10)
    there.annotate(BEN, first=50)
    n = len(there.tasks)
    assert there.pull()["gone"] == []
    del there.tasks[0]["annotations"][0], there.tasks[1]
    gone = {(one["item"], one["annotator"]) for one in there.pull()["gone"]}
    items = ["hidden-item/0/zeta-system", "hidden-item/0/zeta-system-b"]
    assert gone == {(items[0], "ada@example.org"), (items[1], "ada@example.org"), (items[1], "ben@example.org")}
    assert there.by() == {"ada@example.org": n, "ben@example.org": n}


def test_what_was_taken_in_of_somebody_who_was_erased_is_not_taken_in_anew(there: There) -> None:
    there.annotate(ADA, first=10)
    there.pull()
    erase_person(there.db, there.admin, "ada@example.org")
    again = there.pull()
    assert (again["new"], again["new_people"]) == (0, [])
    assert [one["what"] for one in again["lost"]] == [
        "Annotations of people who were erased here: what they said stays as it is"
    ]


def test_one_person_is_one_whatever_they_are_called_in_between(there: There) -> None:
    there.annotate(BEN, first=10)
    n = len(there.tasks)
    assert there.pull()["new"] == n
    there.annotate(BEN, first=50, value="no", made="2026-11-26T02:00:00.5Z")
    again = there.pull({"ben@example.org": "ben"})
    assert (again["new"], again["changed"]) == (0, n)
    assert there.by() == {"ben@example.org": n}
    there.call(lambda who: who["id"])
    assert there.pull()["unchanged"] == n
    assert there.by() == {"ben@example.org": n}


def test_after_a_withdrawal_of_either_batch_each_annotation_is_one_persons(there: There) -> None:
    there.annotate(ADA, first=10)
    n, first = len(there.tasks), there.pull({"ada@example.org": "x"})
    for task in there.tasks:
        task["annotations"][0]["result"][0]["value"]["choices"] = ["no"]
    second = there.pull({"ada@example.org": "x"})
    assert second["changed"] == n
    # What took the place of the first was withdrawn, which does not bring that back: a pull brings it in anew.
    withdraw_batch(there.db, there.admin, there.project.id, second["batch"], reason="wrong")
    third = there.pull({"ada@example.org": "x"})
    assert (third["new"], there.by()) == (n, {"x": n})
    withdraw_batch(there.db, there.admin, there.project.id, first["batch"], reason="wrong")
    assert there.pull({"ada@example.org": "ada"})["unchanged"] == n, "the third still says whose it is"
    withdraw_batch(there.db, there.admin, there.project.id, third["batch"], reason="wrong")
    assert there.pull({"ada@example.org": "ada"})["new"] == n
    assert there.pull({"ada@example.org": "ada"})["unchanged"] == n


def test_who_skipped_first_can_be_put_right_and_what_they_said_later_is_named_when_it_is_gone(there: There) -> None:
    there.annotate(ADA, first=10)
    for task in there.tasks:
        task["annotations"][0] |= {"was_cancelled": True}
    n = len(there.tasks)
    assert there.pull()["skipped"] == n
    for task in there.tasks:
        task["annotations"][0] |= {"was_cancelled": False}
    labelled = there.pull()
    assert labelled["new"] == n
    kept = [task["annotations"].pop() for task in there.tasks]
    assert len(there.pull()["gone"]) == n
    for task, one in zip(there.tasks, kept, strict=True):
        task["annotations"].append(one)
    withdraw_batch(there.db, there.admin, there.project.id, labelled["batch"], reason="whose they are")
    assert there.pull(IS_ADA)["new"] == n
    with there.db.read() as session:
        people = session.exec(
            select(Account.name)
            .join(Annotation, Annotation.person_id == Account.person_id)  # type: ignore[arg-type]
            .where(Annotation.study_id == there.study, Annotation.batch_id != labelled["batch"])
        ).all()
    assert set(people) == {"ada"}


def test_an_account_that_was_deleted_there_holds_nobody_up(there: There) -> None:
    there.annotate(ADA, first=10)
    assert there.pull(IS_ADA)["new"] == len(there.tasks)
    there.annotate(BEN, first=20)
    there.call(lambda who: None if who == ADA else who)
    again = there.pull(IS_ADA)
    assert (again["new"], again["unchanged"], again["lost"]) == (len(there.tasks), len(there.tasks), [])
    assert again["gone"] == []
    there.annotate(None, first=30)
    [lost] = there.pull(IS_ADA)["lost"]
    assert lost["what"].startswith("Annotations that do not say who made them, as of accounts that were deleted there")
    assert there.by() == {"ada": len(there.tasks), "ben@example.org": len(there.tasks)}


def test_who_says_neither_number_nor_address_is_named_with_the_task(there: There) -> None:
    there.annotate({}, first=10)
    with pytest.raises(InvalidInput, match=r"task 100, annotation 10: it does not say who made it"):
        there.pull()


def test_a_number_is_whose_address_another_task_says_it_is(there: There) -> None:
    there.annotate(ADA, first=10)
    there.tasks[0]["annotations"][0]["completed_by"] = ADA["id"]
    both = {"ada@example.org": "ada", str(ADA["id"]): "ada"}
    done = there.pull(both)
    assert (there.by(), done["left"]) == ({"ada": len(there.tasks)}, [])
    fresh = there.pull({"ada@example.org": "ada", "9": "ada"})
    assert fresh["left"] == [], "one of the ways in which somebody may be known"


def test_labels_that_became_a_skip_there_are_named(there: There) -> None:
    there.annotate(ADA, first=10)
    there.pull(IS_ADA)
    there.tasks[0]["annotations"][0] |= {"was_cancelled": True, "result": []}
    [line] = there.pull(IS_ADA)["left"]
    assert line.startswith("Annotation 10: 'ada' skips 'hidden-item/0/zeta-system' there, and has labels of it here, ")


def test_who_was_erased_stays_so_whatever_is_withdrawn_or_new(there: There) -> None:
    there.annotate(ADA, first=10)
    first = there.pull()
    erase_person(there.db, there.admin, "ada@example.org")
    there.annotate(ADA, first=50, value="no", made="2026-11-26T02:00:00.5Z")
    withdraw_batch(there.db, there.admin, there.project.id, first["batch"], reason="wrong")
    again = there.pull()
    assert (again["new"], again["new_people"], there.by()) == (0, [], {})


def test_answers_where_none_is_asked_or_none_is_given_and_texts_that_were_changed_are_counted(there: There) -> None:
    there.annotate(ADA, first=10)
    there.tasks[0]["annotations"][0]["result"] = []
    there.tasks[1]["data"]["answer"] = "Something else."
    found = there.pull()
    assert {one["what"]: one["n"] for one in found["lost"]} == {
        "Annotations without every answer to 'right', which is required": 1,
        "Labels of tasks whose texts were changed there: they count for the item as it is here": 1,
    }
    assert found["left"] == ["Annotation 10 by 'ada@example.org' has no labels."]


def test_exports_of_another_study_or_form_are_refused_by_their_names(there: There) -> None:
    there.annotate(ADA, first=10)
    there.pull()
    other = there.project.study("other", tiny_protocol())
    mini = there.path.with_name("mini.json")

    def pull(study: int, *more: Path) -> dict[str, Any]:
        return pull_from_files(there.db, there.admin, study, paths=[there.path, *more], people={}).to_json()

    with pytest.raises(InvalidInput, match=r"export\.json: none of the 6 tasks is of the study 'other'\. Give exports"):
        pull(other)
    mini.write_bytes(orjson.dumps([{**task["data"], "right": "yes"} for task in there.tasks]))
    with pytest.raises(InvalidInput, match=r"^mini\.json: task 1 is .*, without `data`\. Export the project as JSON"):
        pull(there.study, mini)
    mini.write_bytes(orjson.dumps([{"data": {"question": "Theirs?"}}]))
    assert pull(there.study, mini)["lost"] == [{"what": "Tasks that are not of this study", "n": 1}]


def test_labels_that_break_a_rule_between_criteria_are_counted(tmp_path: Path) -> None:
    there = There(tmp_path, PROTOCOLS.get("factuality"))
    said = {"question_factual": "not_factual", "answer_factual": "factual"}
    there.annotate(ADA, first=10)
    for number, task in enumerate(there.tasks):
        [one] = task["annotations"]
        rows = [{"from_name": name, "type": "choices", "value": {"choices": [value]}} for name, value in said.items()]
        one["result"] = rows if number < 2 else rows[1:]
    lost = {one["what"]: one["n"] for one in there.pull()["lost"]}
    assert lost["Labels of 'answer_factual' that break a rule between criteria: they count"] == 2


def test_an_older_export_does_not_take_the_place_of_newer_labels(there: There) -> None:
    there.annotate(ADA, first=10)
    n, old = len(there.tasks), orjson.dumps(there.tasks)
    there.pull()
    there.change(0, "no")
    assert there.pull()["changed"] == 1
    new, there.tasks = there.tasks, orjson.loads(old)
    for _ in range(2):
        again = there.pull()
        assert (again["changed"], again["unchanged"], again["gone"]) == (0, n - 1, [])
        assert again["left"] == [
            "Annotation 10: 'ada@example.org' gave these labels of 'hidden-item/0/zeta-system' before those that stand "
            "here, which came in from a later state of the project."
        ]
    there.tasks = new
    assert there.pull()["unchanged"] == n
    before = there.path.with_name("old.json")
    before.write_bytes(old)
    for paths in ([before, there.path], [there.path, before]):
        came = pull_from_files(there.db, there.admin, there.study, paths=paths, people={}).came
        assert (came.unchanged, came.left) == (n, []), "whatever their order"
    # What has no time, or the same, is as new as what comes.
    there.change(0, "yes")
    assert there.pull()["changed"] == 1
    for task in there.tasks:
        del task["annotations"][0]["updated_at"], task["annotations"][0]["created_at"]
    there.tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["no"]
    assert there.pull()["changed"] == 1
    there.change(0, "yes", made="2020-01-01T00:00:00Z")
    assert there.pull()["changed"] == 1, "nobody knows when the labels here were given"


def test_a_skip_under_a_wrong_name_goes_over_to_who_made_it(there: There) -> None:
    there.annotate(ADA, first=10)
    there.skip(0)
    n, first = len(there.tasks), there.pull()
    assert (there.skippers(), there.tallies()) == (["ada@example.org"], {"submitted": n - 1, "skipped": 1})
    there.withdraw(first["batch"])
    found = there.pull(IS_ADA)
    assert (found["new"], found["changed"], found["skipped"], found["gone"], found["left"]) == (n - 1, 1, 0, [], [])
    assert (there.skippers(), there.tallies()) == (["ada"], {"submitted": n - 1, "skipped": 1})
    for called in (IS_ADA, {}):
        again = there.pull(called)
        assert (again["unchanged"], again["gone"], again["left"]) == (n, [], []), "by the labels it is theirs"


def test_a_skip_says_who_somebody_is_where_nothing_else_does(there: There) -> None:
    there.annotate(ADA, first=10)
    there.skip(*range(len(there.tasks)))
    n = len(there.tasks)
    assert there.pull(IS_ADA)["skipped"] == n
    there.call(lambda who: who["id"])
    assert there.pull()["unchanged"] == n
    for name in ("zoe", "ada", "zoe"):
        assert there.pull({"2": name})["changed"] == n
        assert there.pull()["unchanged"] == n
        assert (there.skippers(), there.tallies()) == ([name] * n, {"skipped": n})


def test_a_skip_ends_when_labels_come_in_its_place_and_is_named_when_it_is_gone(there: There) -> None:
    there.annotate(ADA, first=10)
    there.skip(0, 1)
    n = len(there.tasks)
    there.pull()
    assert there.tallies() == {"submitted": n - 2, "skipped": 2}
    del there.tasks[1]["annotations"][0]
    assert there.pull()["gone"] == [{"item": "hidden-item/0/zeta-system-b", "annotator": "ada@example.org"}]
    assert there.tallies() == {"submitted": n - 2, "skipped": 2}, "it still counts"
    there.change(0, "no")
    assert (there.pull()["new"], there.tallies()) == (1, {"submitted": n - 1, "skipped": 1})
    # What was another annotation of theirs ends it as well.
    there.annotate(ADA, first=50, made="2026-11-28T02:00:00Z")
    del there.tasks[1]["annotations"][:-1]
    found = there.pull()
    assert (found["gone"], there.tallies()) == ([], {"submitted": n})


def test_counts_are_those_of_the_rows_whatever_is_withdrawn_and_pulled_again(there: There) -> None:
    there.annotate(ADA, first=10)
    n, first = len(there.tasks), there.pull()["batch"]
    there.change(0, "no")
    second = there.pull()["batch"]
    assert there.tallies() == {"submitted": n}
    there.withdraw(second)
    assert there.tallies() == {"submitted": n - 1}
    third = there.pull()["batch"]
    assert there.tallies() == {"submitted": n}
    there.withdraw(first)
    assert there.tallies() == {"submitted": 1}
    there.withdraw(third)
    assert there.tallies() == {}
    assert (there.pull()["new"], there.tallies()) == (n, {"submitted": n})


def test_a_skip_that_came_in_while_labels_were_withdrawn_ends_when_they_are_put_back(there: There) -> None:
    there.annotate(ADA, first=10)
    there.annotate(BEN, first=50)
    n, first = len(there.tasks), there.pull()["batch"]
    there.change(0, "no")
    second = there.pull()["batch"]
    there.withdraw(second)
    there.skip(0, 1)
    assert there.pull()["skipped"] == 1, "labels of the other item stand"
    skipped = {"submitted": 2 * n - 1, "skipped": 1}
    assert (there.tallies(), there.skippers()) == (skipped, ["ada@example.org"])
    # The first labels do not come back with their batch: others took their place.
    there.withdraw(first)
    assert there.tallies() == {"skipped": 1}
    there.withdraw(first, reinstates=True)
    assert there.tallies() == skipped
    there.withdraw(second, reinstates=True)
    assert (there.tallies(), there.skippers()) == ({"submitted": 2 * n}, [])
    with there.db.read() as session:
        events = session.exec(select(Event.details).where(Event.kind == "batch reinstated")).all()
    assert [one.get("skips ended") for one in events] == [None, 1]
    again = there.pull()
    assert (again["skipped"], again["unchanged"], len(again["left"]), again["gone"]) == (0, 2 * n - 2, 2, [])
    assert there.tallies() == {"submitted": 2 * n}
    # Without its labels it is a skip again.
    there.withdraw(second)
    assert (there.pull()["skipped"], there.tallies()) == (1, skipped)


def test_labels_from_there_take_the_slots_and_members_alone_have_a_row(
    there: There, capsys: pytest.CaptureFixture[str]
) -> None:
    for first, who in ((10, ADA), (50, BEN)):
        there.annotate(who, first=first)
    n = len(there.tasks)
    there.pull(IS_ADA)
    status = there.status(capsys)
    assert f"{n} items, finished\nassignments: {2 * n} submitted; 0 disputed items" in status
    assert f"items: {n} accepted" in status
    assert "ada " in status
    assert "ben@example.org" not in status
