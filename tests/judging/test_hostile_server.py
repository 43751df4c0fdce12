"""A judge's server is a stranger: whatever it answers takes little memory, ends in time, and keeps no key."""

from __future__ import annotations

import base64
import gzip
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from annotators.judges.base import Ending, Reply
from annotators.judges.client import Client, ServerRefuses, TryAgain
from annotators.servers import bounded
from annotators.servers.bounded import Bounds
from annotators.servers.secret import Secret
from tests.judging.answering import logprobs_of
from tests.judging.test_asking import a_call

KEY = "sk-hostile-0123456789abcdef"
Trick = Callable[[socket.socket], None]


class Hostile:
    """A server that does with each connection what it was told, until it is closed."""

    def __init__(self, trick: Trick) -> None:
        self._trick, self._listening = trick, socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self.asked = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            said = b""
            while b"\r\n\r\n" not in said:
                said += connection.recv(65536)
            found = re.search(rb"content-length: (\d+)", said, re.IGNORECASE)
            left = (int(found[1]) if found else 0) - len(said.partition(b"\r\n\r\n")[2])
            while left > 0:
                left -= len(connection.recv(65536))
            self.asked += 1
            self._trick(connection)

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Trick], Hostile]]:
    opened: list[Hostile] = []

    def made(trick: Trick) -> Hostile:
        opened.append(Hostile(trick))
        return opened[-1]

    yield made
    for server in opened:
        server.close()


def body(**changed: Any) -> dict[str, Any]:
    """A reply that is whole, but for what is changed."""
    message = {"role": "assistant", "content": '{"label": "yes"}'}
    plain = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}
    return {**plain, **changed}


def sends(content: bytes, *headers: str, status: str = "200 OK") -> Trick:
    def trick(connection: socket.socket) -> None:
        head = [f"HTTP/1.1 {status}", "content-type: application/json", f"content-length: {len(content)}", *headers]
        connection.sendall("\r\n".join([*head, "", ""]).encode() + content)

    return trick


def says(found: Any) -> Trick:
    return sends(json.dumps(found).encode())


def _drips(before: bytes, each: bytes) -> Trick:
    def trick(connection: socket.socket) -> None:
        connection.sendall(before)
        while True:
            time.sleep(0.05)
            connection.sendall(each)

    return trick


def _endless(before: bytes, each: bytes) -> Trick:
    def trick(connection: socket.socket) -> None:
        connection.sendall(before)
        while True:
            connection.sendall(each)

    return trick


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
MB = 1 << 20

TRICKS: dict[str, Trick] = {
    "a gzip of 300 kB that is 300 MB": sends(gzip.compress(bytes(300 * MB), 1), "content-encoding: gzip"),
    "gzip in gzip": sends(gzip.compress(gzip.compress(bytes(9 * MB))), "content-encoding: gzip, gzip"),
    "a packing that nobody asked for": sends(b"xxxx", "content-encoding: br"),
    "a gzip that is cut off": sends(gzip.compress(json.dumps(body()).encode())[:-20], "content-encoding: gzip"),
    "a gzip that is none": sends(b"no gzip at all", "content-encoding: gzip"),
    "an endless body": _endless(HEAD + b"\r\n", b" " * MB),
    "endless chunks": _endless(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"10000\r\n" + bytes(65536) + b"\r\n"),
    "endless headers": _endless(HEAD, b"x-more: " + b"x" * 5000 + b"\r\n"),
    "a body that drips": _drips(HEAD + b"\r\n", b" "),
    "headers that drip": _drips(HEAD, b"x: y\r\n"),
    "a first line that drips": _drips(b"HTTP/1.1 ", b"2"),
    "hints without end": _endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "silence": _drips(b"", b""),
    "chunks without a size": sends(b"", "transfer-encoding: chunked"),
    "a model's name of 20 MB": says(body(model="m" * 20 * MB)),
    "an error of 20 MB": sends(b'{"error": "' + b"e" * 20 * MB + b'"}', status="400 Bad Request"),
    "lists within lists": sends(b"[" * MB + b"]" * MB),
    "no choices": says({"choices": 7}),
    "nothing": sends(b""),
}


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_is_an_error_in_words_and_ends_in_time(serve: Callable[[Trick], Hostile], name: str) -> None:
    client = Client(serve(TRICKS[name]).url, "m", KEY, most=64, seconds=1.0)
    before, began = _peak(), time.monotonic()
    with pytest.raises((TryAgain, ServerRefuses)) as caught:
        client.once(a_call())
    assert time.monotonic() - began < 6  # one second for the whole answer; the rest is a busy machine
    assert _peak() - before < 100
    assert KEY not in str(caught.value)


def _peak() -> int:
    path = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+)", path.read_text()) if path.exists() else None
    return int(found[1]) >> 10 if found else 0


@pytest.mark.parametrize(
    "usage",
    [
        [1, 2],
        "many",
        7,
        {"prompt_tokens": 10**30},
        {"prompt_tokens": [1]},
        {"prompt_tokens": -1},
        {"prompt_tokens": True},
    ],
)
def test_a_reply_that_is_paid_for_is_kept_whatever_it_says_of_its_cost(
    serve: Callable[[Trick], Hostile], usage: Any
) -> None:
    reply = Client(serve(says(body(usage=usage))).url, "m", KEY).once(a_call())
    assert (reply.ending, reply.text, reply.tokens_in) == (Ending.WHOLE, '{"label": "yes"}', None)


def test_a_number_of_five_thousand_digits_loses_no_reply(serve: Callable[[Trick], Hostile]) -> None:
    content = json.dumps(body(usage={"prompt_tokens": 0, "n": 7})).replace("7", "9" * 5000).encode()
    reply = Client(serve(sends(content)).url, "m", KEY).once(a_call())
    assert (reply.ending, reply.tokens_in) == (Ending.WHOLE, 0)


@pytest.mark.parametrize(
    "logprobs",
    [
        7,
        {"content": 7},
        {"content": [7]},
        {"content": [{"token": "yes", "logprob": -1, "top_logprobs": 7}]},
        {"content": [{"token": "yes", "logprob": 10**400}]},
        {"content": [{"token": "yes", "logprob": float("nan"), "bytes": [999]}]},
        {"content": [{"token": "x", "logprob": -1}] * 30_000},
    ],
)
def test_log_probabilities_that_are_none_lose_no_reply(serve: Callable[[Trick], Hostile], logprobs: Any) -> None:
    said = body()
    said["choices"][0]["logprobs"] = logprobs
    reply = Client(serve(says(said)).url, "m", KEY, chances=True).once(a_call())
    assert (reply.ending, reply.chances) == (Ending.WHOLE, {})


@pytest.mark.parametrize(
    ("asked", "finished", "kept"), [(True, "stop", True), (False, "stop", False), (True, "length", False)]
)
def test_log_probabilities_are_kept_of_whole_replies_that_were_asked_for_them(
    serve: Callable[[Trick], Hostile], asked: bool, finished: str, kept: bool
) -> None:
    said = body()
    text = said["choices"][0]["message"]["content"]
    said["choices"][0] |= {
        "logprobs": logprobs_of(text, [("yes", {"yes": 0.7, "no": 0.3})], 5),
        "finish_reason": finished,
    }
    assert bool(Client(serve(says(said)).url, "m", KEY, chances=asked).once(a_call()).chances) is kept


ECHOES = {
    "as it is": KEY,
    "in small letters": KEY.upper(),
    "backwards": KEY[::-1],
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "with spaces": " ".join(KEY),
    "with a letter nobody sees": KEY[:9] + "\u200b" + KEY[9:],
    "as hexadecimal": KEY.encode().hex(),
}


@pytest.mark.parametrize("name", ECHOES)
def test_the_key_is_kept_nowhere_however_it_comes_back(serve: Callable[[Trick], Hostile], name: str) -> None:
    echo = ECHOES[name]
    said = body(model=f"m-{echo}", system_fingerprint=echo)
    said["choices"][0]["message"] = {"content": f"the key is {echo}", "refusal": echo}
    server = serve(says(said))
    reply = Client(server.url, "m", KEY).once(a_call())
    assert echo not in repr(reply)
    assert reply.model == "m-…"
    assert (reply.text, reply.said) == ("the key is …", "…")


def test_the_key_in_escaped_letters_an_error_or_a_redirect_is_not_said(serve: Callable[[Trick], Hostile]) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    content = json.dumps(body(model="MODEL")).replace("MODEL", escaped).encode()
    assert Client(serve(sends(content)).url, "m", KEY).once(a_call()).model == "…"
    for status, header in (("400 Bad Request", "x: y"), ("302 Found", f"location: http://elsewhere.invalid/{KEY}")):
        trick = sends(b'{"error": {"message": "no: ' + KEY.encode() + b'"}}', header, status=status)
        with pytest.raises(ServerRefuses) as caught:
            Client(serve(trick).url, "m", KEY).once(a_call())
        assert KEY not in str(caught.value)


def test_names_are_short_and_texts_only(serve: Callable[[Trick], Hostile]) -> None:
    reply = Client(serve(says(body(model="m" * 50_000, system_fingerprint={"a": 1}))).url, "m", KEY).once(a_call())
    assert (len(reply.model), reply.fingerprint) == (200, None)
    reply = Client(serve(says(body(model=["m"], system_fingerprint="a\0\ud800"))).url, "m", KEY).once(a_call())
    assert (reply.model, reply.fingerprint) == ("", "a\ufffd?")


def test_a_list_of_models_is_short(serve: Callable[[Trick], Hostile]) -> None:
    listed = {"object": "list", "data": [{"id": f"m{n}", "object": "model"} for n in range(10_000)]}
    assert len(Client(serve(says(listed)).url, "m", KEY).models()) == 2_000


def test_who_wants_to_stop_waits_for_no_server(
    serve: Callable[[Trick], Hostile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "STOPS_WITHIN", 0.2)
    server = serve(TRICKS["a body that drips"])
    client, ended = Client(server.url, "m", KEY, seconds=600.0), threading.Event()

    def ask() -> None:
        with suppress(TryAgain):
            client.once(a_call())
        ended.set()

    threading.Thread(target=ask, daemon=True).start()
    while not server.asked:
        time.sleep(0.01)
    client.hurry()
    assert ended.wait(5)


def test_an_answer_that_is_packed_comes_whole(serve: Callable[[Trick], Hostile]) -> None:
    packed = gzip.compress(json.dumps(body()).encode())
    reply: Reply = Client(serve(sends(packed, "content-encoding: gzip")).url, "m", KEY).once(a_call())
    assert reply.ending is Ending.WHOLE


def test_bounds_hold_for_any_client_and_what_it_sends_is_whole(serve: Callable[[Trick], Hostile]) -> None:
    server = serve(sends(b"x" * 1000))
    client = bounded.bounded(httpx.Client(trust_env=False), Bounds(5.0, 999, 5000), Secret(KEY))
    with pytest.raises(httpx.RemoteProtocolError, match="more than"):
        client.post(server.url, content=b"y" * 3 * MB)
    client = bounded.bounded(httpx.Client(trust_env=False), Bounds(5.0, 1000, 5000), Secret(KEY))
    assert client.post(server.url, content=b"y" * 3 * MB).content == b"x" * 1000


def test_a_text_made_of_the_key_takes_no_time_to_be_cleaned() -> None:
    key = "nrtnrtnrtnrtnrtnrtnrtnrt/x"
    secret, began = Secret(key), time.process_time()
    assert secret.out_of_bytes(b"\\n\\r\\t" * 100_000).count(b"n") == 100_000
    assert secret.out_of((key[:-1] + " ") * 10_000).startswith(key[:5])
    assert secret.out_of(key.replace("/", "\\/")) == "…"
    assert time.process_time() - began < 5
