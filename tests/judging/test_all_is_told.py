"""Whatever an item shows reaches the judge: each part by itself, changed, makes another request."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.judges.asking import key_of
from annotators.judges.base import Picture
from annotators.judges.client import Client, _count
from annotators.judges.prompts import Prompt, as_example, calls
from db.engine import Database
from db.judging.items import count_to_judge, drawn_items, ids_to_judge, read_to_judge
from db.judging.judges import JudgeSettings, judge_for, list_judges
from db.judging.run import _HeardWithin
from db.models import Judge, Study, StudyItem
from tests.makers import StudyInUse, make_project, tiny_protocol

MATERIAL: dict[str, Any] = {
    "step": 0,
    "shown": ["question", "answer"],
    "question": "Who ran?",
    "answer": "Ana ran.\n\nThen she slept.",
    "system": "harbour",
    "answers": [{"answer": "Left.", "system": "one"}, {"answer": "Right.", "system": "two"}],
    "references": ["Ana did.", ["Ana", "ran"]],
    "hops": [{"key": "h1", "question": "Who?", "answer": "Ana"}, {"key": "h2", "question": "When?", "answer": ""}],
    "claims": [{"key": "c1", "of": "answer", "text": "Ana ran."}, {"key": "c2", "of": "reference", "text": "She did."}],
    "evidence": [
        {"key": "E1", "kind": "passage", "pages": [2, 3], "role": "gold", "used": True, "title": "A", "text": "Ana."},
        {"key": "E2", "kind": "figure", "pages": [4], "document": 9, "text": "", "box": [0, 0, 1, 1]},
    ],
    "images": [{"key": "m1", "of": "answer", "caption": "Ana", "document": 9, "page": 5, "box": [0, 0, 1, 0.5]}],
    "page_labels": [{"document": "d", "page": 1}],
    "scores": [{"name": "correctness", "value": 0.25}],
}  # fmt: skip

SAYS_NOTHING = {
    ("step",), ("shown", 0), ("shown", 1),  # what is told is what is there
    ("hops", 0, "key"), ("hops", 1, "key"),  # told by its number
}  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def changed(path: tuple[Any, ...]) -> dict[str, Any]:
    found = copy.deepcopy(MATERIAL)
    at: Any = found
    for key in path[:-1]:
        at = at[key]
    before = at[path[-1]]
    at[path[-1]] = (
        not before if isinstance(before, bool) else before + 1 if isinstance(before, int | float) else f"{before}x"
    )
    return found


def pictures(document: int, page: int, box: Any) -> Picture:
    return Picture(f"{document} {page} {box}".encode(), "image/png")


pictures.most = 8  # type: ignore[attr-defined]


def request(material: dict[str, Any], *, seen: bool = True) -> str:
    protocol = tiny_protocol()
    material = {**material, "units": {"right": ["item"]}}
    [call] = calls(protocol, Prompt(name="p"), material, 0, given={}, mark="m", pictures=pictures if seen else None)  # type: ignore[arg-type]
    return key_of(CLIENT, call, {})


CLIENT = Client("http://127.0.0.1:9/v1", "tiny", None)


def test_each_part_of_what_is_shown_is_told() -> None:
    as_it_is = request(MATERIAL)
    silent = {path for path in leaves(MATERIAL) if request(changed(path)) == as_it_is}
    assert silent == SAYS_NOTHING


def test_an_example_tells_the_same_in_words() -> None:
    as_it_is = as_example(MATERIAL)
    silent = {path for path in leaves(MATERIAL) if as_example(changed(path)) == as_it_is}
    seen = {path for path in leaves(MATERIAL) if path[:3] in (("evidence", 1, "box"), ("images", 0, "box"))}
    assert silent == SAYS_NOTHING | seen | {
        ("evidence", 1, "document"),
        ("images", 0, "document"),
        ("images", 0, "page"),
    }


def test_without_pictures_the_words_are_told_all_the_same() -> None:
    assert request(changed(("evidence", 0, "pages", 1)), seen=False) != request(MATERIAL, seen=False)
    assert request(changed(("evidence", 1, "document")), seen=False) == request(MATERIAL, seen=False)


# Which items ----------------------------------------------------------------------------------------------------------


def test_items_that_are_named_are_read_in_turns_and_those_that_are_done_passed_over(
    sqlite_database: Database,
) -> None:
    study = StudyInUse(sqlite_database, items=9, annotators=1, overlap=1)
    with sqlite_database.read() as session:
        row = session.get_one(Study, study.study_id)
        ids = ids_to_judge(session, row)
        assert len(ids) == 9 == count_to_judge(session, row)
        among = ids[:7]
        left = col(StudyItem.id).not_in(ids[:4])

        def read(after: int, limit: int, **some: Any) -> list[int]:
            return [item.study_item_id for item in read_to_judge(session, row, after=after, limit=limit, **some)]

        assert read(0, 3, among=among) == ids[:3]
        assert read(ids[2], 3, among=among) == ids[3:6]
        assert read(ids[5], 3, among=among) == ids[6:7], "not beyond those that are named"
        assert read(0, 3, among=among, left=left) == ids[4:6], "the first of them are done"
        assert read(0, 2, among=among, left=left) == ids[4:6]
        assert read(ids[6], 3, among=among) == []
        assert read(0, 4) == ids[:4] and read(ids[3], 100) == ids[4:]
        assert count_to_judge(session, row, left, among) == 3
        assert [count_to_judge(session, row, among=among, at_most=n) for n in (0, 3, 7, 8)] == [0, 3, 7, 7]
        assert drawn_items(session, row, None, None, 1) is None
        drawn = [drawn_items(session, row, 4, None, seed) for seed in (1, 1, 2, 3)]
        assert drawn[0] == drawn[1] == sorted(drawn[0] or []) and len(set(map(tuple, drawn[1:]))) > 1  # type: ignore[arg-type]
        assert all(set(some or []) <= set(ids) and len(some or []) == 4 for some in drawn)
        assert drawn_items(session, row, 4, None, 1, among=ids[:2]) == ids[:2]


def test_judges_are_listed_by_their_numbers_with_what_they_have_judged(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    other = make_project(sqlite_database)
    with sqlite_database.write() as session:
        made = [
            judge_for(session, project, JudgeSettings(model, "http://127.0.0.1:9/v1", Prompt(name="plain")))
            for project in (study.project_id, other)
            for model in ("b", "a")
        ]
        ids = list(session.exec(select(Judge.id).order_by(col(Judge.id))))
    found = list_judges(sqlite_database, study.researcher, study.project_id)
    assert [(row.judge_id, row.person_id, row.name, row.model) for row in found] == [
        (ids[0], *made[0], "b"), (ids[1], *made[1], "a"),
    ]  # fmt: skip
    assert [row.labelled for row in found] == [{}, {}]


def test_progress_within_a_block_goes_up_to_all_and_no_further() -> None:
    told: list[tuple[int, int]] = []
    heard = _HeardWithin(lambda done, of: told.append((done, of)))
    heard(4, 10)
    for more in (0, 1, 6, 7):
        heard.again(more)
    heard(8, 10)
    heard.again(1)
    assert told == [(4, 10), (4, 10), (5, 10), (10, 10), (10, 10), (8, 10), (9, 10)]


@pytest.mark.parametrize(
    ("said", "counted"), [(0, 0), (7, 7), (-1, None), (True, None), ("7", None), (None, None), (1.5, None)]
)
def test_only_a_number_of_tokens_counts(said: Any, counted: int | None) -> None:
    assert _count(said) == counted
