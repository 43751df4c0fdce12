"""Judges are asked over real HTTP: every way in which it goes wrong, what is paid, and what is tried again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.judges.asking import FAILED_IN_A_ROW, Asker, OutOfBudget, Pace, Stopped
from annotators.judges.base import Call, Ending, Message, Picture, Reply, Text
from annotators.judges.budget import Cost, Price, Spending, read_limit, read_prices
from annotators.judges.client import Client, ServerRefuses, plain_address
from tests.judging import scripted as script
from tests.judging.scripted import ScriptedServer
from tests.judging.wire import Said, Sent, error

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["yes", "no"]}},
    "required": ["label"],
    "additionalProperties": False,
}
KEY = "sk-very-secret-0123456789"


def a_call(words: str = "Is it so?", *pictures: Picture) -> Call:
    message = Message("user", (Text(words), *pictures))
    return Call((Message("system", (Text("Judge."),)), message), SCHEMA, "verdict", (("right", "item"),))


class Kept:
    """A ledger in memory."""

    def __init__(self) -> None:
        self.entered: list[tuple[str, int, Cost]] = []
        self.replies: dict[int, tuple[Reply, Cost]] = {}
        self.lock = threading.Lock()

    def known(self, key: str, sample: int) -> Reply | None:
        with self.lock:
            for number, (entered, of, _) in enumerate(self.entered):
                if (entered, of) == (key, sample) and number in self.replies:
                    reply = self.replies[number][0]
                    if reply.ending != Ending.FAILED:
                        return reply
        return None

    def enter(self, key: str, sample: int, most: Cost) -> int:
        with self.lock:
            self.entered.append((key, sample, most))
            return len(self.entered) - 1

    def keep(self, number: int, reply: Reply, cost: Cost) -> None:
        with self.lock:
            self.replies[number] = reply, cost


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries are short here."""
    monkeypatch.setattr("annotators.judges.asking.FIRST_WAIT", 0.01)


@pytest.fixture
def open_server(request: pytest.FixtureRequest) -> Iterator[Any]:
    opened: list[ScriptedServer] = []

    def made(*turns: Any, **of_all: Any) -> ScriptedServer:
        server = ScriptedServer(turns, **of_all)
        opened.append(server)
        return server.__enter__()

    yield made
    for server in opened:
        server.__exit__()


def asker(server: ScriptedServer, ledger: Kept | None = None, limit: str | None = None, **options: Any) -> Asker:
    price = options.pop("price", None)
    of_client = {name: options.pop(name) for name in ("structured", "seconds", "most", "chances") if name in options}
    client = Client(server.base_url, "tiny-judge", options.pop("key", KEY), **of_client)
    spending = options.pop("spending", None) or Spending(read_limit(limit) if limit else None, price)
    return Asker(client, ledger or Kept(), spending, **options)


@pytest.mark.parametrize(
    ("turn", "ending"),
    [
        (script.Whole(), Ending.WHOLE),
        (script.CutOff(), Ending.CUT_OFF),
        (script.Refused(), Ending.REFUSED),
        (script.Refused(by_filter=True), Ending.REFUSED),
        (script.EMPTY, Ending.EMPTY),
        (script.BLANK, Ending.EMPTY),
        (script.TOO_LONG, Ending.TOO_LONG),
    ],
)
def test_endings_are_told_apart(open_server: Any, turn: script.Turn, ending: Ending) -> None:
    server = open_server(turn)
    answer = asker(server).ask(a_call())
    assert answer.reply.ending == ending
    assert (answer.known, server.requests) == (False, 1)


def test_what_a_reply_says_of_itself_is_kept(open_server: Any) -> None:
    ledger = Kept()
    reply = asker(open_server(script.Whole({"label": "no"})), ledger).ask(a_call()).reply
    assert (reply.text, reply.model, reply.fingerprint) == ('{"label": "no"}', "tiny-judge", "fp_tests")
    assert (reply.tokens_in or 0) > 0
    assert (reply.tokens_out or 0) > 0
    [(kept, cost)] = ledger.replies.values()
    assert kept.text == reply.text
    assert cost.tokens == (reply.tokens_in or 0) + (reply.tokens_out or 0)


@pytest.mark.parametrize(
    "turns",
    [
        [script.RateLimited()],
        [script.RateLimited(after="0.05")],
        [script.Failed(500), script.Failed(503)],
        [script.Dropped()],
        [script.Dropped(made=True)],
        [script.Dropped(made=True, sent=0.5)],
    ],
)
def test_what_goes_wrong_for_a_moment_is_tried_again(open_server: Any, turns: list[script.Turn]) -> None:
    server = open_server(*turns)
    answer = asker(server).ask(a_call())
    assert answer.reply.ending == Ending.WHOLE
    assert (answer.reply.retries, server.requests) == (len(turns), len(turns) + 1)


def test_the_server_says_how_long_to_wait(open_server: Any) -> None:
    server = open_server(script.RateLimited(after="0.4"))
    ask = asker(server).ask
    ask(a_call())
    assert server.sent[1].at - server.sent[0].at >= 0.4
    ask(a_call("Something else?"))
    assert server.requests == 3


def test_what_never_succeeds_has_failed_and_can_be_asked_anew(open_server: Any) -> None:
    server = open_server(*[script.Failed(503)] * 3)
    ledger = Kept()
    first = asker(server, ledger, tries=3).ask(a_call())
    assert (first.reply.ending, server.requests) == (Ending.FAILED, 3)
    again = asker(server, ledger, tries=3).ask(a_call())
    assert (again.reply.ending, again.known) == (Ending.WHOLE, False)


def test_a_slow_server_is_given_up_and_may_have_been_paid(open_server: Any) -> None:
    ledger = Kept()
    server = open_server(script.Slow(5))
    reply = asker(server, ledger, seconds=0.3, tries=1).ask(a_call()).reply
    assert (reply.ending, reply.said) == (Ending.FAILED, "The server took too long.")
    [(_, cost)] = ledger.replies.values()
    assert cost == ledger.entered[0][2], "it counts with the most that it can have cost"


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (script.NO_MODEL, "has no model 'tiny-judge'. Name one that it has: tiny-judge."),
        (script.OUT_OF_QUOTA, "no money left"),
        (script.HTML, "not as a server of chat completions does"),
    ],
)
def test_what_no_request_would_change_is_said_with_its_remedy(open_server: Any, turn: script.Turn, words: str) -> None:
    server = open_server(turn)
    with pytest.raises(ServerRefuses, match=words):
        asker(server).ask(a_call())
    assert server.requests == 1


@pytest.mark.parametrize("key", ["sk-first\nsk-second", "sk first", "مفتاح", "sk-\x00"])
def test_a_key_that_is_none_is_said_before_it_is_sent_and_without_it(open_server: Any, key: str) -> None:
    server = open_server(key="another")
    with pytest.raises(InvalidInput, match="on one line") as refused:
        Client(server.base_url, "tiny-judge", key)
    assert key not in str(refused.value)
    assert not server.sent


def test_a_redirect_is_an_error_that_says_where_it_leads_and_nothing_is_sent_there(open_server: Any) -> None:
    elsewhere = open_server()
    there = f"{elsewhere.base_url}/chat/completions"
    server = open_server(script.Saying(Said(307, {}, {"Location": there})))
    with pytest.raises(ServerRefuses, match=r"redirects \(307\) to '.*'.*Give the address") as refused:
        asker(server).ask(a_call())
    assert f"'{there}'" in str(refused.value)
    assert server.requests == 1
    assert elsewhere.everything == b""


def test_a_server_on_this_machine_is_asked_without_a_proxy(open_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, server = open_server(), open_server()
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
    assert asker(server).ask(a_call()).reply.ending == Ending.WHOLE
    assert proxy.everything == b""
    client = Client("http://judge.invalid/v1", "tiny-judge", KEY)
    with pytest.raises(ServerRefuses, match="status 404"):  # the proxy was asked, as the environment says
        client.once(a_call())
    assert proxy.requests == 1


def test_what_the_environment_holds_for_openai_is_sent_to_no_other_server(
    open_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "admin-of-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer of-openai\nX-Gateway: token-of-openai")
    server = open_server(key=KEY)
    assert asker(server).ask(a_call()).reply.ending == Ending.WHOLE  # with the key that was given
    assert b"of-openai" not in server.everything
    assert KEY.encode() in server.everything


def test_a_line_break_behind_the_key_is_no_part_of_it(open_server: Any) -> None:
    server = open_server(script.Whole(), key=KEY)
    assert asker(server, key=f"{KEY}\n").ask(a_call()).reply.ending == Ending.WHOLE


def test_a_wrong_key_is_said_without_the_key(open_server: Any) -> None:
    server = open_server(key="another")
    ledger = Kept()
    with pytest.raises(ServerRefuses, match="Set ASSAY_JUDGE_KEY") as error:
        asker(server, ledger).ask(a_call())
    assert KEY not in str(error.value)
    assert KEY not in repr(ledger.replies)
    assert KEY not in repr(Client(server.base_url, "tiny-judge", KEY))


def test_a_wrong_route_and_no_eyes(open_server: Any) -> None:
    server = open_server(eyes=False)
    with pytest.raises(ServerRefuses, match="no /chat/completions"):
        Client(server.base_url.removesuffix("/v1") + "/v2", "tiny-judge", KEY).once(a_call())
    with pytest.raises(ServerRefuses, match="takes no pictures"):
        asker(server).ask(a_call("See?", Picture(b"\x89PNG", "image/png")))


def test_nobody_there_is_said_with_its_remedy_and_costs_nothing() -> None:
    client = Client("http://127.0.0.1:9/v1", "tiny-judge", KEY)
    spending = Spending(None, Price(1.0, 1.0))
    with pytest.raises(ServerRefuses, match=r"Nobody answers at http://127\.0\.0\.1:9/v1: There is no connection"):
        Asker(client, Kept(), spending).ask(a_call())
    assert (spending.spent.tokens, spending.spent.money) == (0, 0.0)


def test_a_server_that_is_gone_for_good_is_not_asked_for_ever(open_server: Any) -> None:
    server = open_server(script.Whole(), then=script.Failed(503))
    ask = asker(server, tries=2).ask
    assert ask(a_call()).reply.ending == Ending.WHOLE
    endings = [ask(a_call(f"Number {number}?")).reply.ending for number in range(FAILED_IN_A_ROW - 1)]
    assert set(endings) == {Ending.FAILED}
    with pytest.raises(ServerRefuses, match="no reply to 8 requests in a row, 2 tries each: Status 503"):
        ask(a_call("The last?"))


def test_a_server_without_schemas_is_asked_in_words(open_server: Any) -> None:
    server = open_server(then=script.OnlyWithoutSchema(any_format=True))
    ask = asker(server).ask
    assert ask(a_call()).reply.ending == Ending.WHOLE
    assert ask(a_call("And this?")).reply.ending == Ending.WHOLE
    assert [("response_format" in sent.body) for sent in server.sent] == [True, False, False]
    assert '"enum": ["yes", "no"]' in server.sent[-1].text


def test_a_server_that_takes_schemas_in_another_form_gets_that(open_server: Any) -> None:
    """llama-cpp-python 0.3.36 answers 500 to a JSON schema, and says what it takes."""
    words = "response_format: Input should be 'text' or 'json_object', input: json_schema"

    def by_form(sent: Sent) -> script.Turn:
        asked = sent.body["response_format"]["type"]
        return script.Saying(error(500, words)) if asked == "json_schema" else script.Whole({"label": "yes"})

    with ScriptedServer(by_form) as server:
        ask = asker(server).ask
        assert [ask(a_call(words)).reply.ending for words in ("One?", "Two?")] == [Ending.WHOLE] * 2
        assert server.requests == 3
        assert server.sent[-1].body["response_format"] == {"type": "json_object", "schema": SCHEMA}


@pytest.mark.parametrize(
    ("structured", "by_server", "in_words"),
    [("auto", True, True), ("schema", True, False), ("prompt", False, True)],
)
def test_how_a_reply_is_held_to_its_schema(open_server: Any, structured: str, by_server: bool, in_words: bool) -> None:
    server = open_server(script.Whole({"label": "yes"}))
    asker(server, structured=structured).ask(a_call())
    [sent] = server.sent
    assert ("response_format" in sent.body) is by_server
    assert ("keeps this JSON schema" in sent.text) is in_words
    assert (sent.body["temperature"], sent.body["seed"]) == (0, 0)


def test_the_same_is_paid_once_and_samples_are_apart(open_server: Any) -> None:
    server = open_server()
    ledger = Kept()
    ask = asker(server, ledger).ask
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(a_call()), range(16)))
    assert (server.requests, sum(answer.known for answer in answers)) == (1, 15)
    assert asker(server, ledger).ask(a_call(), sample=1).known is False
    assert (server.sent[1].body["seed"], server.sent[1].body["temperature"]) == (1, 1)
    assert asker(server, ledger, settings={"prompt": 2}).ask(a_call()).known is False


@pytest.mark.parametrize("limit", ["20requests", "30000tokens", "0.02usd"])
def test_a_budget_is_never_passed_by_many_at_once(open_server: Any, limit: str) -> None:
    server = open_server()
    price = Price(1.0, 2.0)
    spending = Spending(read_limit(limit), price)
    ask = asker(server, spending=spending, most=256).ask
    refused = []

    def one(number: int) -> None:
        try:
            ask(a_call(f"Number {number}?"))
        except OutOfBudget:
            refused.append(number)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(one, range(400)))
    assert refused
    assert spending.limit is not None
    assert spending.limit.allows(spending.spent)
    told = [sent.tokens for sent in server.sent]
    assert server.requests == 400 - len(refused)
    assert spending.spent.tokens >= sum(told)
    assert server.requests >= 10


@pytest.mark.parametrize("most", [20, 5, 0])
def test_log_probabilities_are_asked_for_until_a_server_refuses_them(most: int) -> None:
    def answer(sent: Sent) -> script.Turn:
        if sent.body.get("top_logprobs", 0) > most:
            return script.Saying(error(400, "Invalid value for 'top_logprobs'."))
        return script.Whole({"label": "yes"})

    with ScriptedServer(answer) as server:
        ask = asker(server, chances=True).ask
        for number in range(3):
            assert ask(a_call(f"Number {number}?")).reply.ending is Ending.WHOLE
    tried = [sent.body.get("top_logprobs") for sent in server.sent]
    assert tried == [*[n for n in (20, 5) if n > most], *[most or None] * 3], "what is refused is not asked for again"
    assert all(sent.body.get("logprobs") is (True if sent.body.get("top_logprobs") else None) for sent in server.sent)
    assert all("response_format" in sent.body for sent in server.sent), "nothing else is given up"


def test_a_request_with_log_probabilities_is_another_one(open_server: Any) -> None:
    server, ledger = open_server(), Kept()
    for chances in (False, True, True):
        asker(server, ledger, chances=chances).ask(a_call())
    assert server.requests == 2


def test_a_context_that_is_too_long_is_said_before_it_is_sent(open_server: Any) -> None:
    server = open_server()
    reply = asker(server, context=500).ask(a_call("word " * 2_000)).reply
    assert (reply.ending, server.requests) == (Ending.TOO_LONG, 0)
    assert "the model takes 500" in (reply.said or "")


def test_who_waits_can_be_stopped() -> None:
    stop = threading.Event()

    def answer(_: Sent) -> script.Turn:
        threading.Timer(0.2, stop.set).start()
        return script.RateLimited(after="60")

    with ScriptedServer(answer) as server, pytest.raises(Stopped):
        asker(server, stop=stop).ask(a_call())
    assert server.requests == 1


def test_a_rate_of_tokens_is_kept() -> None:
    moment = [0.0]
    pace = Pace(6_000, clock=lambda: moment[0])
    assert [pace.seconds_for(200) for _ in range(3)] == [0.0, 2.0, 4.0]
    moment[0] = 60.0
    assert pace.seconds_for(1) == 0.0


@pytest.mark.parametrize(
    "words", ["", "0usd", "-1usd", "5eur", "5 dollars", "infusd", "1e999tokens", "nanrequests", "0.5requests"]
)
def test_a_budget_that_is_none_is_refused(words: str) -> None:
    with pytest.raises(InvalidInput, match="is no budget"):
        read_limit(words)


def test_budgets_as_they_are_written() -> None:
    assert [(limit.amount, limit.unit) for limit in map(read_limit, ("5usd", "2e6tokens", "1,000 requests"))] == [
        (5.0, "usd"), (2e6, "tokens"), (1000.0, "requests"),
    ]  # fmt: skip
    with pytest.raises(InvalidInput, match="needs the model's price"):
        Spending(read_limit("5usd"), None)


def test_prices_are_read_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "prices.toml"
    assert read_prices(path) == {}
    path.write_text('["m-1"]\nsent = 0.15\nreceived = 0.6\n')
    assert read_prices(path)["m-1"].of(1_000_000, 500_000) == pytest.approx(0.45)
    path.write_text('["m-1"]\nsent = "cheap"\n')
    with pytest.raises(InvalidInput, match="'sent' of 'm-1' is 'cheap'"):
        read_prices(path)
    path.write_text("no toml")
    with pytest.raises(InvalidInput, match=r"prices\.toml is no TOML"):
        read_prices(path)


def test_an_address_is_kept_without_credentials() -> None:
    assert plain_address("https://user:secret@Example.org:8443/v1/?token=x#y") == "https://example.org:8443/v1"
    for wrong in ("", "example.org/v1", "ftp://x/v1", "http://x:99999/v1"):
        with pytest.raises(InvalidInput):
            plain_address(wrong)
