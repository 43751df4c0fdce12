"""What comes of trying again: waits, counters that begin anew after a success, statuses, and what was paid."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from annotators.judges.asking import (
    FAILED_IN_A_ROW,
    FIRST_WAIT,
    LONGEST_ASKED,
    LONGEST_WAIT,
    TRIES,
    TRIES_UNREACHED,
    Asker,
    Pace,
    Stopped,
)
from annotators.judges.base import Ending
from annotators.judges.budget import Cost, Price, Spending, likely_tokens, read_limit
from annotators.judges.client import Client, ServerRefuses, TryAgain, _retry_after
from tests.judging import scripted as script
from tests.judging.scripted import ScriptedServer
from tests.judging.test_asking import KEY, Kept, a_call
from tests.judging.wire import Sent, error


class Clock(threading.Event):
    """Stands for time: who waits for it goes on at once, and it remembers for how long they wanted to."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout or 0.0)
        return self.is_set()


def asker(server: ScriptedServer, clock: threading.Event, ledger: Kept | None = None, **options: object) -> Asker:
    client = Client(server.base_url, "tiny-judge", KEY, most=64)
    spending = options.pop("spending", None) or Spending(None, None)
    return Asker(client, ledger or Kept(), spending, stop=clock, **options)  # type: ignore[arg-type]


def test_waits_double_up_to_the_longest_and_are_not_the_same_for_all() -> None:
    clock = Clock()
    with ScriptedServer(then=script.Failed(503)) as server:
        asker(server, clock, tries=10).ask(a_call())
    assert server.requests == 10
    wanted = [min(FIRST_WAIT * 2**n, LONGEST_WAIT) for n in range(9)]
    assert len(clock.waited) == 9
    assert all(most / 2 <= waited <= most for waited, most in zip(clock.waited, wanted, strict=True)), clock.waited
    assert len({waited / most for waited, most in zip(clock.waited, wanted, strict=True)}) > 5


def test_all_wait_as_long_as_the_server_asks_but_not_for_ever() -> None:
    clock = Clock()
    with ScriptedServer([script.RateLimited(after="7"), script.RateLimited(after="100000")]) as server:
        moment = [0.0]
        pace = Pace(clock=lambda: moment[0])
        asker(server, clock, pace=pace).ask(a_call())
        assert clock.waited == [pytest.approx(7.0), pytest.approx(LONGEST_ASKED)]
        assert pace.seconds_for(1) == LONGEST_ASKED, "who comes meanwhile waits as well"
        moment[0] = LONGEST_ASKED
        assert pace.seconds_for(1) == 0.0
        pace.hold(5.0)
        pace.hold(2.0)
        assert pace.seconds_for(1) == 5.0, "a shorter wait does not end a longer one"


def test_a_success_begins_the_count_of_failures_anew() -> None:
    ask_then: list[script.Turn] = []
    with ScriptedServer(lambda _sent: ask_then[0]) as server:
        ask = asker(server, Clock(), tries=1).ask

        def failures(n: int, begin: int) -> set[Ending]:
            ask_then[:] = [script.Failed(503)]
            return {ask(a_call(f"Number {number}?")).reply.ending for number in range(begin, begin + n)}

        assert failures(FAILED_IN_A_ROW - 1, 0) == {Ending.FAILED}
        ask_then[:] = [script.EMPTY]
        assert ask(a_call("In between?")).reply.ending == Ending.EMPTY, "a reply that is no label is a reply"
        assert failures(FAILED_IN_A_ROW - 1, 100) == {Ending.FAILED}
        with pytest.raises(ServerRefuses, match=f"no reply to {FAILED_IN_A_ROW} requests in a row"):
            failures(1, 200)


def test_a_server_that_was_reached_once_and_is_gone_is_tried_as_often_as_any() -> None:
    clock = Clock()
    with ScriptedServer(then=script.Dropped()) as server:  # the connection ends, and no other can be made later
        ask = asker(server, clock)
        assert ask.ask(a_call()).reply.retries == TRIES
    clock.waited.clear()
    late = ask.ask(a_call("And now?")).reply
    assert (late.ending, late.retries) == (Ending.FAILED, TRIES)
    assert len(clock.waited) == TRIES - 1
    clock = Clock()
    with pytest.raises(ServerRefuses, match="Nobody answers"):
        asker(server, clock).ask(a_call())
    assert len(clock.waited) == TRIES_UNREACHED - 1, "where nobody ever was there is less to wait for"


def test_each_try_is_paid_by_what_it_may_have_cost() -> None:
    turns = [script.Failed(500), script.Dropped(made=True), script.RateLimited(), script.Whole({"label": "yes"})]
    ledger, spending = Kept(), Spending(None, Price(1.0, 1.0))
    with ScriptedServer(turns) as server:
        reply = asker(server, Clock(), ledger, spending=spending).ask(a_call()).reply
    most = ledger.entered[0][2]
    costs = [cost for _, cost in ledger.replies.values()]
    whole = Cost(1, (reply.tokens_in or 0) + (reply.tokens_out or 0), costs[3].money)
    assert costs == [Cost(1, 0, 0.0), most, Cost(1, 0, 0.0), whole]
    assert spending.spent == sum(costs, Cost())
    assert reply.retries == 3
    assert [entry[:2] for entry in ledger.entered] == [ledger.entered[0][:2]] * 4, "the same request each time"


def test_what_was_reserved_is_free_again_whatever_came_of_it() -> None:
    spending = Spending(read_limit("3requests"), None)
    with ScriptedServer([script.Whole(), script.HTML]) as server:
        ask = asker(server, Clock(), spending=spending).ask
        ask(a_call("One?"))
        with pytest.raises(ServerRefuses):
            ask(a_call("Two?"))
        assert spending.spent.requests == 2
        assert ask(a_call("Three?")).reply.ending == Ending.WHOLE
    assert spending.spent.requests == 3


@pytest.mark.parametrize("more", [0, -1])
def test_a_call_that_just_fits_the_context_is_sent(more: int) -> None:
    likely = sum(likely_tokens(a_call(), 64))
    with ScriptedServer() as server:
        reply = asker(server, Clock(), context=likely + more).ask(a_call()).reply
    assert (reply.ending, server.requests) == ((Ending.WHOLE, 1) if more == 0 else (Ending.TOO_LONG, 0))
    assert reply.tokens_in == 0 or more == 0


def test_who_is_stopped_sends_nothing_more() -> None:
    clock = Clock()
    clock.set()
    with ScriptedServer() as server:
        with pytest.raises(Stopped):
            asker(server, clock).ask(a_call())
        assert server.requests == 0


# Statuses -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504])
def test_statuses_that_pass_are_tried_again(status: int) -> None:
    with ScriptedServer([script.Saying(error(status, "busy"))]) as server:
        client = Client(server.base_url, "tiny-judge", KEY)
        with pytest.raises(TryAgain, match=f"Status {status}: Busy"):
            client.once(a_call())


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [
        (401, "no", "does not take the key"),
        (403, "no", "does not take the key"),
        (402, "no", "refuses what is asked"),
        (400, "no", "refuses what is asked"),
        (404, "no", "has no /chat/completions"),
        (404, "the model is gone", "has no model 'tiny-judge'"),
        (400, "model not found", "has no model 'tiny-judge'"),
        (422, "invalid model", "has no model 'tiny-judge'"),
        (429, "insufficient_quota", "no money left"),
    ],
)
def test_statuses_that_stay_are_refusals(status: int, message: str, words: str) -> None:
    with ScriptedServer([script.Saying(error(status, message))]) as server:
        client = Client(server.base_url, "tiny-judge", KEY)
        with pytest.raises(ServerRefuses, match=words):
            client.once(a_call())


def test_a_server_that_wants_a_key_and_gets_none_says_so() -> None:
    with (
        ScriptedServer([script.Saying(error(401, "no"))]) as server,
        pytest.raises(ServerRefuses, match="asks for a key"),
    ):
        Client(server.base_url, "tiny-judge", None).once(a_call())


@pytest.mark.parametrize(
    ("status", "message"),
    [(413, "large"), (400, "maximum context length"), (422, "too many tokens"), (400, "prompt is too long")],
)
def test_what_is_too_long_is_a_reply_that_costs_nothing(status: int, message: str) -> None:
    with ScriptedServer([script.Saying(error(status, message))]) as server:
        reply = Client(server.base_url, "tiny-judge", KEY).once(a_call())
    assert (reply.ending, reply.tokens_in, reply.tokens_out) == (Ending.TOO_LONG, 0, 0)


@pytest.mark.parametrize("structured", ["schema", "prompt"])
def test_a_judge_that_is_held_one_way_is_not_held_another(structured: str) -> None:
    """Only `auto` falls back: of a judge held by its server alone, replies that are not held would be other labels."""
    with ScriptedServer(then=script.Saying(error(400, "response_format is unknown"))) as server:
        client = Client(server.base_url, "tiny-judge", KEY, structured=structured)
        with pytest.raises(ServerRefuses, match="refuses what is asked"):
            client.once(a_call())


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert _retry_after(headers) == seconds


@pytest.mark.parametrize("zone", [UTC, None])
def test_a_server_may_name_the_time(zone: object) -> None:
    at = datetime.now(UTC) + timedelta(seconds=90)
    said = format_datetime(at) if zone else format_datetime(at).replace(" +0000", "")
    assert 85 < (_retry_after({"retry-after": said}) or 0) <= 90
    past = format_datetime(datetime.now(UTC) - timedelta(days=1))
    assert _retry_after({"retry-after": past}) == 0.0


def test_samples_of_one_call_have_seeds_of_their_own_beginning_with_the_judge_s() -> None:
    sent: list[Sent] = []

    def answer(one: Sent) -> script.Turn:
        sent.append(one)
        return script.Whole({"label": "yes"})

    with ScriptedServer(answer) as server:
        client = Client(server.base_url, "tiny-judge", KEY, seed=7, most=33)
        for sample in (0, 1, 2):
            client.once(a_call(), sample)
    assert [(one.body["seed"], one.body["temperature"], one.body["max_tokens"]) for one in sent] == [
        (7, 0, 33), (8, 1, 33), (9, 1, 33),
    ]  # fmt: skip
