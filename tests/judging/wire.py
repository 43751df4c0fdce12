"""What every server for judges has: HTTP as OpenAI has its chat completions, and a record of what came and went.

A server lives in threads of the process that opens it, reached over HTTP by anything on this machine: a unit test,
a command, a worker, a page in a browser. It outlives whoever asks it, so that what was paid for is counted here.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

FINGERPRINT = "fp_tests"
CHARACTERS_A_TOKEN = 4
TOKENS_A_PICTURE = 100


@dataclass(frozen=True)
class Sent:
    """One request as it came: `number` counts from 0 in the order of arrival, `at` is a monotonic clock in seconds."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    at: float

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object that was sent."""
        found: dict[str, Any] = json.loads(self.raw or b"{}")
        return found

    @property
    def key(self) -> str | None:
        """The key that the request came with."""
        return self.headers.get("authorization", "").removeprefix("Bearer ") or None

    @property
    def texts(self) -> list[str]:
        """The words of each message."""
        return [text_of(message) for message in self.body.get("messages", [])]

    @property
    def text(self) -> str:
        """All words of all messages."""
        return "\n".join(self.texts)

    @property
    def pictures(self) -> list[str]:
        """The addresses (data URLs) of the images that were sent."""
        parts = [part for message in self.body.get("messages", []) for part in parts_of(message)]
        return [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the reply is to keep: from `response_format`, else the one that stands in the prompt."""
        asked = self.body.get("response_format") or {}
        if asked.get("type") == "json_schema":
            found: dict[str, Any] = asked["json_schema"]["schema"]
            return found
        return schema_in(self.text)

    @property
    def content(self) -> str:
        """A hash of what is asked, the same however often it is."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()

    @property
    def tokens(self) -> int:
        """How many tokens the request counts as."""
        return max(1, len(self.text) // CHARACTERS_A_TOKEN) + TOKENS_A_PICTURE * len(self.pictures)


def parts_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a message, whose content may be one text."""
    content = message.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message."""
    return "\n".join(part["text"] for part in parts_of(message) if part.get("type") == "text")


def schema_in(text: str) -> dict[str, Any] | None:
    """The last JSON schema of an object that stands in a text."""
    decoder, found, place = json.JSONDecoder(), None, text.find("{")
    while place >= 0:
        end = place + 1
        with suppress(json.JSONDecodeError):
            value, end = decoder.raw_decode(text, place)
            if isinstance(value, dict) and value.get("type") == "object" and "properties" in value:
                found = value
        place = text.find("{", end)
    return found


class Cut(Exception):
    """The connection is to be dropped, after these bytes of the answer have been sent."""

    def __init__(self, sent: bytes = b"") -> None:
        super().__init__("dropped")
        self.sent = sent


@dataclass
class Said:
    """An answer: status, headers, and a body that is JSON unless it is a text."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    paid: Sent | None = None
    """The request that this is the paid reply to."""

    @property
    def raw(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()

    @property
    def media_type(self) -> str:
        return "text/html; charset=utf-8" if isinstance(self.body, str) else "application/json"


def head_of(said: Said) -> bytes:
    """The status line and the headers of an answer."""
    lines = [
        f"HTTP/1.1 {said.status} {HTTPStatus(said.status).phrase}",
        f"Content-Type: {said.media_type}",
        f"Content-Length: {len(said.raw)}",
        *(f"{name}: {value}" for name, value in said.headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def error(status: int, message: str, *, code: str | None = None, kind: str = "invalid_request_error") -> Said:
    """An error as OpenAI words it."""
    return Said(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})


def completion(
    sent: Sent,
    contents: Sequence[str | None],
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    fingerprint: str | None = FINGERPRINT,
    logprobs: Sequence[Any] | None = None,
    usage: bool = True,
) -> Said:
    """A chat completion with one choice for each of `contents`."""
    choices = [
        {
            "index": number,
            "message": {"role": "assistant", "content": content, "refusal": refusal},
            "finish_reason": finish_reason,
            "logprobs": logprobs[number] if logprobs else None,
        }
        for number, content in enumerate(contents)
    ]
    said: dict[str, Any] = {
        "id": f"chatcmpl-{sent.number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": sent.body["model"],
        "system_fingerprint": fingerprint,
        "choices": choices,
    }
    if usage:
        out = sum(len(content or "") // CHARACTERS_A_TOKEN + 1 for content in contents)
        said["usage"] = {
            "prompt_tokens": sent.tokens,
            "completion_tokens": out,
            "total_tokens": sent.tokens + out,
        }
    return Said(200, said)


class ChatServer:
    """A server of chat completions; what it answers is up to `answer` of its subclasses.

    `sent` has the requests for completions in the order of their arrival, `made` counts by content (`Sent.content`) the
    replies that were made and would be paid for, whether or not they arrived. `key`: without it in the request the
    server answers 401; None asks for none.
    """

    def __init__(self, *, models: Sequence[str] = ("tiny-judge",), key: str | None = None, eyes: bool = True) -> None:
        self.models = tuple(models)
        self.key = key
        self.eyes = eyes
        self.sent: list[Sent] = []
        self.listed: list[Sent] = []
        self.made: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()
        self.most_at_once = 0
        self.closing = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        self._going = threading.Event()
        self._going.set()
        self._http: _Listening | None = None

    @property
    def base_url(self) -> str:
        """Where clients point: the address that `/chat/completions` is appended to."""
        assert self._http is not None, "the server is not open"
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def requests(self) -> int:
        """How many completions were asked for."""
        return len(self.sent)

    @property
    def answers(self) -> int:
        """How many replies were made."""
        return self.made.total()

    @property
    def paid_twice(self) -> list[str]:
        """What was answered more than once, by content."""
        return [content for content, n in self.made.items() if n > 1]

    @property
    def everything(self) -> bytes:
        """All that was ever sent, headers too: to search for what must not leave the machine."""
        with self._lock:
            return b"\n".join(
                part for one in [*self.listed, *self.sent] for part in (repr(dict(one.headers)).encode(), one.raw)
            )

    def answer(self, sent: Sent) -> Said:
        """What is answered to a request that is in order; `Cut` drops the connection."""
        raise NotImplementedError

    def hold(self) -> None:
        """From now on requests wait, and nobody is answered, until `let_go`."""
        self._going.clear()

    def let_go(self) -> None:
        """Those who wait are answered."""
        self._going.set()

    def wait_for(self, requests: int, seconds: float = 30) -> None:
        """Wait until this many completions have been asked for."""
        end = time.monotonic() + seconds
        while len(self.sent) < requests:
            assert time.monotonic() < end, f"{len(self.sent)} of {requests} requests came in {seconds} s"
            time.sleep(0.005)

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the server lives."""
        self.closing.wait(seconds)

    def __enter__(self) -> Self:
        self._http = _Listening(("127.0.0.1", 0), _Handler)
        self._http.chat = self
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._going.set()
        assert self._http is not None
        self._http.shutdown()
        self._http.server_close()

    def count(self, among: Counter[str], sent: Sent) -> None:
        """One more of what this request asks."""
        with self._lock:
            among[sent.content] += 1

    def come(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Said:
        """Enter a request and answer it."""
        with self._lock:
            to = self.sent if method == "POST" else self.listed
            sent = Sent(len(to), method, path, headers, raw, time.monotonic())
            to.append(sent)
        if self.key is not None and sent.key != self.key:
            return error(401, f"Incorrect API key provided: {(sent.key or '')[:2]}***.", code="invalid_api_key")
        if (method, path) == ("GET", "/v1/models"):
            listed = [{"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in self.models]
            return Said(200, {"object": "list", "data": listed})
        if (method, path) != ("POST", "/v1/chat/completions"):
            return error(404, f"Invalid URL ({method} {path})")
        if (wrong := self._out_of_order(sent)) is not None:
            return wrong
        with self._counted():
            self._going.wait()
            said = self.answer(sent)
            if said.status == 200 and isinstance(said.body, dict):
                self.count(self.made, sent)
                said.paid = sent
            return said

    def _out_of_order(self, sent: Sent) -> Said | None:
        """The error to a request that no server would take."""
        try:
            body = sent.body
        except ValueError:
            return error(400, "We could not parse the JSON body of your request.")
        if body.get("model") not in self.models:
            return error(404, f"The model `{body.get('model')}` does not exist.", code="model_not_found")
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            return error(400, "'messages' must be a list of at least one message.")
        kinds = {part.get("type") for message in body["messages"] for part in parts_of(message)}
        if kinds - {"text", "image_url"}:
            return error(400, f"Unknown content parts: {sorted(map(str, kinds - {'text', 'image_url'}))}")
        if any(not url.startswith(("data:image/png;base64,", "data:image/jpeg;base64,")) for url in sent.pictures):
            return error(400, "Invalid image: only data URLs of PNG and JPEG images are taken.")
        if sent.pictures and not self.eyes:
            return error(400, "This model does not support image input.", code="unsupported_content")
        if body.get("stream"):
            return error(400, "This server does not stream.")
        return None

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    block_on_close = False
    chat: ChatServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asked may be gone: nothing to say about that."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listening

    def log_message(self, *_: object) -> None:
        """Nothing is logged: the record of requests says it all."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            said = self.server.chat.come(self.command, self.path, headers, raw)
        except Cut as cut:
            self.close_connection = True
            self.wfile.write(cut.sent)
            return
        self.wfile.write(head_of(said) + said.raw)
        self.wfile.flush()
        if said.paid is not None:
            self.server.chat.count(self.server.chat.delivered, said.paid)
