"""Which column is what, guessed from names and values, in any language, each with why."""

from __future__ import annotations

import random
from typing import Any

import pytest

from exports.columns.guessing import guess, is_whole

N, PEOPLE = 12, ("Änne", "Bodo", "Çelik")


def long(
    *, names: tuple[str, ...] = ("a", "b", "c"), grades: Any = (1, 2, 3, 4, 5), people: Any = PEOPLE
) -> dict[str, Any]:
    """A row a rating; a question a unit, an address, a category, and when it was given."""
    draw = random.Random(1)
    rows = [(n, who) for n in range(N) for who in people]
    return {
        "zeit": [f"2026-03-0{1 + n % 9} 10:{i:02d}" for i, (n, _) in enumerate(rows)],
        names[0]: [f"doc-{n:03d}" for n, _ in rows],
        "texto": [f"What does paragraph {n} say of the closure of the second line in the year 2023?" for n, _ in rows],
        "link": [f"https://example.org/{n}" for n, _ in rows],
        "art": ["news" if n % 2 else "law" for n, _ in rows],
        names[1]: [who for _, who in rows],
        names[2]: [draw.choice(grades) for _ in rows],
    }


@pytest.mark.parametrize(
    "names", [("Einheit", "Wer", "Note"), ("x1", "x2", "x3"), ("項目", "評価者", "評価"), ("1", "2", "3")]
)
def test_the_columns_of_a_long_table_are_guessed_in_any_language(names: tuple[str, str, str]) -> None:
    found = guess(long(names=names))
    assert (found.shape, found.fields) == (
        "rows",
        {"item": (names[0],), "annotator": (names[1],), "value": (names[2],)},
    )
    assert found.why["value"] == "5 numbers from 1 to 5"
    assert "come again" in found.why["annotator"]
    assert is_whole(found)
    assert len(found.said()) == 3


def test_several_columns_of_judgements_are_criteria_and_what_is_of_the_item_is_none() -> None:
    draw = random.Random(2)
    table = long(people=("A1B2C3D4E5F6G7", "A9B8C7D6E5F4G3", "A0Z1Y2X3W4V5U6"))
    table["clarté"] = [draw.choice(["oui", "non"]) for _ in table["a"]]
    table["score"] = [draw.choice([0, 0.25, 0.5, 1]) for _ in table["a"]]
    del table["score"]
    found = guess(table)
    assert (found.shape, found.fields["criteria"]) == ("criteria", ("c", "clarté"))
    assert (found.fields["annotator"], found.why["annotator"]) == (("b",), "ids of people")


def test_a_column_an_annotator_is_known_by_values_in_common() -> None:
    draw = random.Random(3)
    table: dict[str, Any] = {
        "Satz": [f"s{n}" for n in range(N)],
        "Quelle": ["x" * 90 + str(n) for n in range(N)],
        **{who: [draw.choice(["ja", "nein"]) for _ in range(N)] for who in PEOPLE},
        "Jahr": [2001 + n for n in range(N)],
    }
    found = guess(table)
    assert (found.shape, found.fields) == ("annotators", {"item": ("Satz",), "annotators": PEOPLE})
    assert is_whole(found)


def test_a_row_a_person_is_known_by_their_ids() -> None:
    draw = random.Random(4)
    table: dict[str, Any] = {
        "Horodateur": [f"2026/03/{1 + n} 10:00" for n in range(N)],
        "Adresse": [f"p{n}@example.org" for n in range(N)],
        **{f"Frage {k}": [draw.choice([1, 2, 3, 4, 5]) for _ in range(N)] for k in range(4)},
    }
    found = guess(table)
    assert (found.shape, found.fields["annotator"]) == ("items", ("Adresse",))
    assert found.fields["items"] == tuple(f"Frage {k}" for k in range(4))


def test_grades_that_happen_to_be_other_ones_in_each_row_of_an_annotator_are_no_items() -> None:
    text = "What does the paragraph say of the closure of the second line in the year 2023, and of number"
    table = {
        "wer": [who for who in PEOPLE for _ in range(3)],
        "nr": [f"a{n}" for _ in PEOPLE for n in range(3)],
        "text": [f"{text} {n}?" for _ in PEOPLE for n in range(3)],
        "treu": ["ja", "nein", "ja", "ja", "nein", "nein", "ja", "ja", "nein"],
        "klar": [4, 2, 5, 4, 3, 5, 4, 2, 5],
    }
    found = guess(table)
    assert (found.fields["item"], found.fields["annotator"], found.fields["criteria"]) == (
        ("nr",), ("wer",), ("treu", "klar"),
    )  # fmt: skip


def test_what_all_agree_on_is_a_judgement_beside_others_of_its_kind() -> None:
    table = long(names=("HITId", "WorkerId", "Answer.truth"))
    table["Answer.style"] = [1 + n % 4 for n in range(N) for _ in PEOPLE]
    assert guess(table).fields["criteria"] == ("Answer.truth", "Answer.style")


def test_names_that_are_known_are_taken_before_values() -> None:
    table = long(names=("HITId", "WorkerId", "Answer.Note"))
    found = guess(table)
    assert (found.fields["item"], found.fields["annotator"], found.fields["value"]) == (
        ("HITId",), ("WorkerId",), ("Answer.Note",),
    )  # fmt: skip
    assert found.why["item"] == "as such columns are called"


def test_what_nobody_can_know_is_left_out() -> None:
    found = guess({"a": ["x", "y"], "b": ["long " * 30, "longer " * 30]})
    assert not is_whole(found)
    assert guess({}).fields == {}
