"""Probabilities of labels from log-probabilities of tokens: along the label that was given, by the chain rule."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.judges.chances import Token, chances_of, tokens_of
from annotators.judges.prompts.writing import object_schema
from tests.judging.answering import logprobs_of


def schema(*labels: str) -> dict[str, Any]:
    label = object_schema({"label": {"type": "string", "enum": list(labels)}})
    judgement = {"anyOf": [label, object_schema({"cannot_judge": {"type": "string"}})]}
    return object_schema({"item": object_schema({"rationale": {"type": "string"}, "judgement": judgement})})


def reply(label: str, why: str = "So it is.") -> str:
    return f'{{"item": {{"rationale": "{why}", "judgement": {{"label": "{label}"}}}}}}'


def token(text: str, chance: float = 1.0, **others: float) -> Token:
    beside = tuple((other, math.log(value)) for other, value in others.items())
    return Token(text, math.log(chance), beside)


def told(labels: tuple[str, ...], *tokens: Token, label: str) -> dict[str, float] | None:
    """What the tokens from the first of the label say, of a reply with the label."""
    before, behind = reply(label).split(label)
    rest = (label + behind)[sum(len(one.text) for one in tokens) :]
    found = chances_of(reply(label), [token(before), *tokens, token(rest)], schema(*labels))
    return found.get("item/judgement/label")


PLACE = "item/judgement/label"


def test_each_label_has_the_probability_of_its_first_token_that_tells_it() -> None:
    found = told(("yes", "no", "partly"), token("yes", 0.7, yes=0.7, no=0.2, part=0.1), label="yes")
    assert found == pytest.approx({"yes": 0.7, "no": 0.2, "partly": 0.1})


def test_what_goes_to_no_label_is_left_out_and_the_rest_is_divided_by_its_sum() -> None:
    found = told(("yes", "no"), token("yes", 0.6, yes=0.6, no=0.2, Perhaps=0.15), label="yes")
    assert found == pytest.approx({"yes": 0.75, "no": 0.25})
    assert told(("yes", "no"), token("yes", 0.3, no=0.1, Perhaps=0.6), label="yes") is None


def test_a_label_that_begins_like_another_is_told_by_a_later_token() -> None:
    labels = ("supported", "not supported", "not stated")
    found = told(labels, token("not", 0.6, supported=0.4), token(" st", 0.25, **{" supp": 0.75}), label="not stated")
    assert found == pytest.approx({"supported": 0.4, "not supported": 0.45, "not stated": 0.15})
    grades = tuple(map(str, range(11)))
    ten = told(grades, token("1", 0.8, **{"9": 0.2}), token("0", 0.5, **{'"': 0.5}), label="10")
    assert ten is not None
    assert (ten["10"], ten["1"], ten["9"]) == (pytest.approx(0.4), pytest.approx(0.4), pytest.approx(0.2))


def test_what_cannot_be_told_apart_has_no_probabilities() -> None:
    labels = ("supported", "not supported", "not stated")
    assert told(labels, token("supp", 0.9, **{"not": 0.1}), token("orted"), label="supported") is None
    nearly = told(labels, token("supp", 0.995, **{"not": 0.005}), token("orted"), label="supported")
    assert nearly == pytest.approx({"supported": 1.0, "not supported": 0.0, "not stated": 0.0})


def test_tokens_may_begin_before_a_label_and_end_behind_it() -> None:
    text = reply("yes")
    before, behind = text.split('"yes"}')
    tokens = [token(before), token('"yes"}', 0.8, **{'"no"}': 0.1, '"no': 0.1}), token(behind)]
    assert chances_of(text, tokens, schema("yes", "no")) == {PLACE: pytest.approx({"yes": 0.8, "no": 0.2})}


def test_a_token_may_end_within_a_character() -> None:
    text = reply("yes", why="Größe — نعم")
    pieces = [bytes([byte]) for byte in text.encode()]
    sent = [{"token": repr(one), "logprob": 0.0, "bytes": list(one), "top_logprobs": []} for one in pieces]
    place = next(at for at in range(len(pieces)) if b"".join(pieces[at:]).startswith(b'yes"'))
    sent[place] |= {
        "logprob": math.log(0.9),
        "top_logprobs": [{"token": "n", "logprob": math.log(0.1), "bytes": [110]}],
    }
    found = chances_of(text, tokens_of({"content": sent}), schema("yes", "no"))
    assert found == {PLACE: pytest.approx({"yes": 0.9, "no": 0.1})}


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ((), ("\n", "    ", "")),  # llama.cpp, whose text has no spaces at its ends
        ((), ("<|im_end|>",)),
        (('<think>Is it {"item": {}}, or ', reply("no"), "?</think>", "\n\n"), ()),
    ],
)
def test_a_server_may_give_more_tokens_than_those_of_its_text(before: tuple[str, ...], behind: tuple[str, ...]) -> None:
    start, end = reply("yes").split("yes")
    whole = [token(start), token("yes", 0.7, no=0.3), token(end)]
    given_tokens = [*map(token, before), *whole, *map(token, behind)]
    found = chances_of(reply("yes"), given_tokens, schema("yes", "no"))
    assert found == {PLACE: pytest.approx({"yes": 0.7, "no": 0.3})}
    spaced = chances_of(f" {reply('yes')}\n\n", given_tokens, schema("yes", "no"))
    assert spaced == found
    assert chances_of(reply("no", "Another."), given_tokens, schema("yes", "no")) == {}


def test_a_reply_that_says_that_it_cannot_be_judged_has_no_probabilities() -> None:
    text = '```json\n{"item": {"rationale": "?", "judgement": {"cannot_judge": "yes"}}}\n```'
    assert chances_of(text, [token(text)], schema("yes", "no")) == {}


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"content": None}, {"content": "yes"}, {"content": [{"token": "x"}]}, {"content": [3]},
     {"content": [{"token": "x", "logprob": "0"}]}, {"content": [{"token": "x", "logprob": 0, "bytes": [999]}]}],
)  # fmt: skip
def test_what_is_no_list_of_tokens_gives_nothing(logprobs: Any) -> None:
    assert chances_of(reply("yes"), tokens_of(logprobs), schema("yes", "no")) == {}


@given(st.text(max_size=80), st.data())
def test_no_text_breaks_it(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    parts = [part.encode("utf-8", "replace").decode("latin-1") for part in (text[:cut], text[cut:])]
    assert chances_of(text, [Token(part, 0.0, ()) for part in parts], schema("yes", "no")) == {}


WEIGHTS = st.lists(st.floats(0.01, 1), min_size=5, max_size=5)


@given(WEIGHTS, st.sampled_from(["yes", "not", "not at all", "not all", "nothing"]))
def test_what_a_server_knows_of_its_labels_is_found_again(weights: list[float], given_label: str) -> None:
    labels = ("yes", "not", "not at all", "not all", "nothing")
    known = {label: weight / sum(weights) for label, weight in zip(labels, weights, strict=True)}
    text = reply(given_label)
    found = chances_of(text, tokens_of(logprobs_of(text, [(given_label, known)], 20)), schema(*labels))
    if given_label in ("not at all", "not all"):
        assert found == {PLACE: pytest.approx(known)}
    else:  # two or three others go on alike, and are not told apart
        assert found == {}
