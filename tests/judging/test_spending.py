"""What a run may spend: at the limit, beside it, and never above it, whatever comes of the requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.errors import InvalidInput
from annotators.judges.base import Call, Ending, Message, Picture, Reply, Text
from annotators.judges.budget import Cost, Limit, Price, Spending, likely_tokens, most_tokens, read_limit, read_prices

PRICE = Price(2.0, 8.0)


def call(words: str, pictures: int = 0, asks: int = 1) -> Call:
    parts = (Text(words), *[Picture(b"x", "image/png")] * pictures)
    return Call((Message("user", parts),), {"enum": ["a"]}, "n", tuple((f"c{n}", "item") for n in range(asks)))


@pytest.mark.parametrize(
    ("limit", "at", "above"),
    [
        (Limit(3, "requests"), Cost(3, 10**9, None), Cost(4, 0, 0.0)),
        (Limit(100, "tokens"), Cost(9, 100, None), Cost(1, 101, 0.0)),
        (Limit(0.5, "usd"), Cost(9, 10**9, 0.5), Cost(1, 1, 0.5000001)),
    ],
)
def test_a_limit_may_be_reached_and_not_passed(limit: Limit, at: Cost, above: Cost) -> None:
    assert limit.allows(at)
    assert not limit.allows(above)
    assert read_limit(str(limit)) == limit
    if limit.unit == "usd":
        assert not limit.allows(Cost(1, 1, None)), "what has no price may cost anything"


@pytest.mark.parametrize(
    ("words", "amount"),
    [("1requests", 1), ("1 tokens", 1), ("0.000001usd", 1e-6), ("1_000tokens", 1000), ("2E3usd", 2e3)],
)
def test_the_least_budgets(words: str, amount: float) -> None:
    assert read_limit(words).amount == amount


@pytest.mark.parametrize("words", ["0.99requests", "0.5tokens", "0usd", "0requests", "1_requests_", "infrequests"])
def test_less_than_the_least_is_no_budget(words: str) -> None:
    with pytest.raises(InvalidInput, match="is no budget"):
        read_limit(words)


@pytest.mark.parametrize("unit", ["requests", "tokens", "usd"])
@settings(max_examples=20)
@given(data=st.data())
def test_what_is_paid_and_under_way_never_passes_the_limit(unit: Any, data: st.DataObject) -> None:
    limit = Limit(data.draw(st.integers(1, 2_000)), unit)
    spending = Spending(limit, PRICE)
    under_way: dict[int, Cost] = {}
    paid = Cost()
    for _ in range(30):
        if under_way and data.draw(st.booleans()):
            place = data.draw(st.sampled_from(sorted(under_way)))
            most = under_way.pop(place)
            cost = Cost(1, data.draw(st.integers(0, most.tokens)), (most.money or 0.0) / 2)
            spending.settle(place, cost)
            paid += cost
            assert spending.spent == paid
            continue
        tokens = data.draw(st.integers(1, 700))
        most = Cost(1, tokens, float(tokens))
        there = sum(under_way.values(), paid)
        found = spending.reserve(most)
        assert (found is not None) == limit.allows(there + most), "no less than may be is given, and no more"
        if found is not None:
            assert found not in under_way
            under_way[found] = most
    assert limit.allows(sum(under_way.values(), paid))


def test_what_was_spent_before_counts_when_a_run_is_taken_up_again() -> None:
    spending = Spending(Limit(5, "requests"), None, Cost(4, 100, None))
    place = spending.reserve(Cost(1, 50, None))
    assert place is not None and spending.reserve(Cost(1, 0, None)) is None
    spending.settle(place, Cost(1, 20, None))
    assert spending.spent == Cost(5, 120, None)


def test_a_request_costs_what_the_server_counts_and_else_the_most() -> None:
    spending, most = Spending(None, PRICE), Cost(1, 500, 1.0)
    assert spending.cost_of(Reply("", Ending.WHOLE, tokens_in=100, tokens_out=10), most) == Cost(1, 110, 0.00028)
    for lacking in ({"tokens_in": 100}, {"tokens_out": 10}, {}):
        assert spending.cost_of(Reply("", Ending.WHOLE, **lacking), most) == most
    assert Spending(None, None).cost_of(Reply("", Ending.EMPTY, tokens_in=1, tokens_out=0), most) == Cost(1, 1, None)
    assert Cost(1, 2, 0.5) + Cost(2, 3, None) == Cost(3, 5, None)


@settings(max_examples=25)
@given(st.text(max_size=200), st.integers(0, 3), st.integers(1, 5), st.integers(1, 4_000))
def test_the_most_is_never_below_what_is_likely_nor_below_a_token_a_byte(
    words: str, pictures: int, asks: int, answer: int
) -> None:
    asked = call(words, pictures, asks)
    most, likely = most_tokens(asked, answer), likely_tokens(asked, answer)
    assert most[0] >= likely[0] > 0 and most[1] == answer >= likely[1] > 0
    assert most[0] >= len(words.encode()) + 4_096 * pictures
    cost = Spending(None, PRICE).most(asked, answer)
    assert cost == Cost(1, sum(most), PRICE.of(*most))
    assert Spending(None, None).most(asked, answer).money is None
    longer = call(words + "x", pictures, asks)
    assert most_tokens(longer, answer)[0] == most[0] + 1


def test_tokens_sent_and_received_have_a_price_each(tmp_path: Any) -> None:
    assert PRICE.of(1_000_000, 0) == 2.0 and PRICE.of(0, 1_000_000) == 8.0
    path = tmp_path / "prices.toml"
    path.write_text('["free"]\nsent = 0\nreceived = 0.0\n["other"]\nsent = 1\nreceived = 3\n')
    assert read_prices(path) == {"free": Price(0.0, 0.0), "other": Price(1.0, 3.0)}
    for wrong in ("-0.1", "true", "inf", "nan", '"1"'):
        path.write_text(f'["m"]\nsent = 1\nreceived = {wrong}\n')
        with pytest.raises(InvalidInput, match="'received' of 'm'"):
            read_prices(path)
