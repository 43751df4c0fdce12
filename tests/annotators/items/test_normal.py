"""The normal form of items."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.errors import InvalidInput
from annotators.items.normal import Normal, content_hash, content_of, question_key, read_item, to_json
from tests.exports.sources import NORMAL, full_item


def normal(row: object) -> Normal:
    """A row in normal form."""
    return to_json(read_item(row))


def test_an_item_with_every_field_has_the_normal_form_written_by_hand() -> None:
    assert orjson.dumps(normal(full_item()), option=orjson.OPT_APPEND_NEWLINE) == NORMAL


def test_the_normal_form_of_a_normal_form_is_itself() -> None:
    once = normal(full_item())
    assert orjson.dumps(normal(orjson.loads(orjson.dumps(once)))) == orjson.dumps(once)


def test_an_item_needs_only_a_question() -> None:
    item = normal({"question": "Who wrote it?"})
    key = question_key("Who wrote it?")
    assert item == {
        "id": f"{key}:reference",
        "question_key": key,
        "question": "Who wrote it?",
        "answer": "",
        "system": "reference",
    }


def test_the_same_question_in_another_category_has_another_key() -> None:
    assert question_key("Who?") == question_key("Who?")
    assert len({question_key("Who?"), question_key("Who?", "Tables"), question_key("Who?", "Text")}) == 3


def test_keys_that_are_missing_avoid_those_that_are_given() -> None:
    item = normal({"question": "Q?", "claims": [{"text": "a"}, {"key": "c1", "text": "b"}, {"text": "c"}]})
    assert [claim["key"] for claim in item["claims"]] == ["c2", "c1", "c3"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question": None}, "`question` is missing"),
        ({"question": "  "}, "`question` is missing"),
        ({"question": 3}, "`question` is 3"),
        ({"answer": ["a"]}, "`answer`"),
        ({"id": "two\nlines"}, "on one line"),
        ({"id": "x" * 501}, "500"),
        ({"system": " a"}, "without space around"),
        ({"system": "a\ufffe"}, "on one line"),
        ({"references": [3]}, "`references` holds 3"),
        ({"references": [[]]}, "`references`"),
        ({"documents": "a.pdf"}, "`documents` is 'a.pdf'"),
        ({"documents": ["a|b.pdf"]}, "without |"),
        ({"evidence": {}, "claims": "x"}, "`claims` is 'x'"),
        ({"evidence": [{"kind": "chapter"}]}, "passage, table, figure, page"),
        ({"evidence": [{"role": "positive"}]}, "gold, retrieved, distractor"),
        ({"evidence": [{"pages": [0]}]}, "from 1"),
        ({"evidence": [{"pages": [True]}]}, "from 1"),
        ({"evidence": [{"box": [0, 0, 2, 1]}]}, "fractions"),
        ({"evidence": [{"box": [0.5, 0, 0.5, 1]}]}, "fractions"),
        ({"evidence": [{"used": "yes"}]}, "true, false or null"),
        ({"evidence": [{"rank": 2**40}]}, "whole number"),
        ({"evidence": [{"hop": "h1"}]}, "the row has no `hops` with keys"),
        ({"evidence": [{"hop": "h3"}], "hops": [{}, {"key": "h2"}]}, "its steps are h1, h2. Name one by its key"),
        ({"evidence": [{"hop": 3}], "hops": [{}, {}]}, "`hop` is 3, which is no step of the question: its steps are"),
        ({"evidence": [{"hop": 0}]}, "`hop` is 0. Steps of a question count from 1"),
        ({"evidence": [{"hop": 1}, {"hop": 0}], "hops": [{}, {}]}, "counts from 0, add 1 to each"),
        ({"evidence": [{"hop": True}]}, "count from 1"),
        ({"evidence": [{"key": "e 1"}]}, "without space"),
        ({"evidence": [{"key": "e\x011"}]}, "without space"),
        ({"evidence": [{"key": "a"}, {"key": "a"}]}, "Keys differ"),
        ({"evidence": ["text"]}, "not an object"),
        ({"claims": [{"text": ""}]}, "A claim is one statement"),
        ({"claims": [{"text": "a", "of": "question"}]}, "answer, reference"),
        ({"images": [{"page": 0}]}, "`page` is 0"),
        ({"scores": [{"value": 1}]}, "no `name`"),
        ({"scores": [{"name": "c", "value": "high"}]}, "not a number"),
        ({"scores": [{"name": "c", "value": 1, "note": "x"}]}, "'note'"),
        ({"scores": [{"name": "c", "value": 1}, {"name": "c", "value": 2}]}, "twice"),
        ({"scores": [{"name": "c", "value": 1, "target": "evidence:e9"}]}, "no evidence with the key 'e9'"),
        ({"scores": [{"name": "c", "value": 1, "target": "chapter:1"}]}, "is not a target"),
        ({"metadata": []}, None),
        ({"metadata": [1]}, "`metadata`"),
        ({"split": 1, "metadata": {"split": 2}}, "`split` stands both"),
    ],
)
def test_a_field_that_does_not_fit_is_named(changes: dict[str, Any], words: str | None) -> None:
    row = {"question": "Q?", **changes}
    if words is None:
        assert "metadata" not in normal(row)
        return
    with pytest.raises(InvalidInput) as raised:
        read_item(row)
    assert words in str(raised.value)


@pytest.mark.parametrize("row", [None, 3, "text", ["question"]])
def test_a_row_that_is_no_object_is_named(row: object) -> None:
    with pytest.raises(InvalidInput, match="not an object"):
        read_item(row)


def test_a_text_with_a_nul_is_refused_and_one_that_only_looks_like_it_is_not() -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        content_of(normal({"question": "Q?", "answer": "a\x00b"}))
    with pytest.raises(InvalidInput, match="NUL"):
        content_of(normal({"question": "Q?", "metadata": {"a": [{"b\x00": 1}]}}))
    assert content_of(normal({"question": "Q?", "answer": "a\\u0000b"}))


def test_the_hash_is_of_what_the_item_says_and_not_of_its_id_or_scores() -> None:
    digest = content_hash(normal(full_item()))
    assert content_hash(normal(full_item(id="other"))) == digest
    assert content_hash(normal(full_item(scores=[]))) == digest
    for change in ({"answer": "x"}, {"system": "y"}, {"question_key": "k"}, {"split": "train"}, {"claims": []}):
        assert content_hash(normal(full_item(**change))) != digest


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(min_size=1, max_size=8), JSON, max_size=5))
def test_unknown_fields_are_kept_whatever_they_are(unknown: dict[str, Any]) -> None:
    unknown = {f"x{name}": value for name, value in unknown.items()}
    item = normal({"question": "Q?", **unknown})
    assert item.get("metadata", {}) == unknown


def test_a_step_may_be_named_by_its_number_or_by_its_key() -> None:
    hops = [{"question": "Who?"}, {"key": "second", "question": "Where?"}]
    evidence = [{"hop": 1}, {"hop": "h1"}, {"hop": "second"}, {"hop": 2}, {}]
    item = read_item({"question": "q", "hops": hops, "evidence": evidence})
    assert [unit.hop for unit in item.evidence] == [1, 1, 2, 2, None]


def test_of_a_question_whose_steps_are_not_there_any_number_from_1_may_be_right() -> None:
    assert read_item({"question": "q", "evidence": [{"hop": 7}]}).evidence[0].hop == 7
