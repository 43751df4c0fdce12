"""Lists that are written as texts."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.lists import is_unreadable_list, list_in

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20), max_size=5)


@given(TEXTS)
def test_texts_come_back_from_json_python_and_numpy(texts: list[str]) -> None:
    assert list_in(json.dumps(texts)) == texts
    assert list_in(repr(texts)) == texts
    if texts:  # NumPy's empty array says nothing else than an empty list
        assert list_in(str(np.array(texts, dtype=object))) == texts


@given(st.lists(st.one_of(st.integers(), st.booleans(), st.none(), st.text("ab'\"", max_size=3)), max_size=5))
def test_lists_of_anything_plain_come_back(values: list[object]) -> None:
    assert list_in(f" {values!r}\n") == values


@pytest.mark.parametrize(
    "text",
    ["", "[", "[1", "[Note] Ada said so.", "[sic] it was [then]", "['a' ... 'b']", "['a', print('b')]",
     "[__import__('os')]", "['a' + 'b']", "{'a': 1}", "['a', 'b'] and more", "[x for x in 'ab']",
     "[" * 9_000 + "]" * 9_000],
)  # fmt: skip
def test_what_is_no_list_is_none(text: str) -> None:
    assert list_in(text) is None


@pytest.mark.parametrize(
    "text",
    [str([{"key": "e1", "pages": np.array([17])}]), str(np.array([{"text": "a"}, {"text": "b"}])),
     str([{"rank": float("nan")}]), str(np.array([f"t{n}" for n in range(2_000)], dtype=object)),
     str([np.array(["a", "b"])]), repr(np.array([{"text": "a"}])), '[{"text": "cut o', "[{'text': 'cut o",
     "[[{'a': nan}]]", str([{"text": "a" * 70_000}])],
)  # fmt: skip
def test_what_was_printed_and_cannot_be_read_is_known_as_a_list(text: str) -> None:
    assert list_in(text) is None
    assert is_unreadable_list(text)


@pytest.mark.parametrize(
    "text",
    ["", "[", "[Note] Ada said so.", "[sic] it was [then]", "[{x} for x in y]", "{'a': 1}", '{"a": [1', "[1] and [2]",
     "['quoted'] as in [3]", "He said '...' and ['then'] ... 'left' [so]", "array of things", "[['a'], ['b']]",
     "[{'text': 'a'}]", '[{"text": "a"}]', "['a' 'b']", "[]", "[1 2 3]", "[[wiki]] link"],
)  # fmt: skip
def test_plain_texts_and_lists_that_can_be_read_are_no_unreadable_lists(text: str) -> None:
    assert not is_unreadable_list(text)


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    def took(text: str) -> float:
        began = time.process_time()
        is_unreadable_list(text)
        list_in(text)
        return time.process_time() - began

    for make in (
        lambda n: "[" + "'\\" * n + "]",
        lambda n: "[" + "'a' " * n + "x]",
        lambda n: "[" + " " * n + "x]",
        lambda n: "[{" + " " * n + "]",
        lambda n: "['" + "' ..." * n + "]",
    ):
        assert took(make(100_000)) < 100 * max(took(make(10_000)), 0.002)
