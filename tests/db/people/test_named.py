"""People in the details of events: by their numbers in the log, by names or pseudonyms where it is read."""

from __future__ import annotations

from db.people.named import AMENDED, by_number, numbers_in, with_names

CHANGES = ["ada joined", "ben Lee goes on", "zoe left", "quota of ada 9", "quota of zoe taken away", "overlap 2 → 1",
           "quota 9", "quota taken away", "deadline 2026-11-30"]  # fmt: skip


def test_names_in_changes_are_kept_as_numbers_and_told_as_whoever_reads_may_know_them() -> None:
    kept = by_number(CHANGES, {"ada": 21, "ben Lee": 22, "zoe": 23})
    assert kept == ["person 21 joined", "person 22 goes on", "person 23 left", "quota of person 21 9",
                    "quota of person 23 taken away", *CHANGES[5:]]  # fmt: skip
    assert list(numbers_in(AMENDED, {"changes": kept})) == [21, 22, 23, 21, 23]
    told = with_names(AMENDED, {"changes": kept, "reason": "ada left"}, lambda who: f"P{who}")
    assert told == {
        "changes": ["P21 joined", "P22 goes on", "P23 left", "quota of P21 9", "quota of P23 taken away", *CHANGES[5:]],
        "reason": "ada left",
    }


def test_a_name_that_begins_like_a_quota_is_a_name() -> None:
    changes = ["quota of carl joined", "quota of quota of carl 9", "quota of carl goes on"]
    kept = by_number(changes, {"quota of carl": 21})
    assert kept == ["person 21 joined", "quota of person 21 9", "person 21 goes on"]
    assert list(numbers_in(AMENDED, {"changes": kept})) == [21, 21, 21]


def test_names_of_earlier_versions_are_told_as_a_name_may_be() -> None:
    told = with_names(AMENDED, {"changes": CHANGES}, lambda who: "somebody" if isinstance(who, str) else str(who))
    assert told["changes"] == [
        "somebody joined", "somebody goes on", "somebody left", "quota of somebody 9",
        "quota of somebody taken away", *CHANGES[5:],
    ]  # fmt: skip
    assert with_names("study created", {"name": "practice", "person": 3}, lambda who: f"P{who}") == {
        "name": "practice", "person": "P3",
    }  # fmt: skip
