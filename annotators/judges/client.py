"""The server of a judge, asked once at a time: any that speaks OpenAI's chat completions, by its base URL.

A request ends in a reply (`Reply`, whose ending says whether it is whole), in `TryAgain` (overload, a broken
connection), or in `ServerRefuses`: what no further request would change.
"""

from __future__ import annotations

import base64
import json
import math
import re
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from annotators.addresses import is_here, is_openai, redirected
from annotators.errors import AssayError, InvalidInput, NotEquipped
from annotators.judges.base import Call, Ending, Message, Picture, Reply, Text
from annotators.judges.chances import chances_of, tokens_of
from annotators.later import Later
from annotators.servers.secret import Secret

if TYPE_CHECKING:
    import openai

    from annotators.servers import bounded
else:
    openai = Later("openai")
    bounded = Later("annotators.servers.bounded")

AUTO, SCHEMA, PROMPT = "auto", "schema", "prompt"
STRUCTURED = (AUTO, SCHEMA, PROMPT)
"""How a reply is held to its schema: by both the server and words in the prompt (`auto`: some servers refuse schemas,
others do not heed them), by the server alone, or by words alone."""

SECONDS = 120.0
_SAID = 500
_LISTED = 12
_MOST_MODELS = 2_000
_LONGEST_NAME = 200
"""Letters that are kept of what a server calls its model."""
_MOST_TOKENS = 10**9
_FREE_BYTES, _BYTES_A_TOKEN, _BYTES_WITH_CHANCES = 1 << 20, 100, 4_000
"""Bytes that a reply may have, and how many for each token that it may have, without and with log-probabilities."""
_LONGEST_NUMBER = 20
_LONG = re.compile(
    r"context.{0,20}(length|window|size)|too (long|many tokens)|maximum.{0,20}tokens|exceed.{0,30}context", re.I
)
_EYES = re.compile(r"image|vision|multimodal|picture", re.IGNORECASE)
_FORMAT = re.compile(r"response_format|json_schema|grammar|structured|seed", re.IGNORECASE)
_CHANCES = re.compile(r"log_?prob", re.IGNORECASE)
_TOP = 20
"""Tokens that are asked for in the place of each: the most that OpenAI's server and most others give."""
_FEWER = {_TOP: 5, 5: 0}
"""What a server that refuses so many is asked for from then on."""
_NO_MODEL = re.compile(r"not (found|exist|available|loaded|supported)|unknown|invalid model|no such|pinned", re.I)
_HEADERS = frozenset(
    ("host", "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "user-agent")
)
"""What a request says beside its text. OpenAI's client takes further headers from the environment, for OpenAI."""
_OF_CLIENT = "x-stainless-"
"""How that client's own headers begin: its version, and what it reads again when the reply is there."""
_MONEY = re.compile(r"insufficient_quota|billing|credit", re.IGNORECASE)


class ServerRefuses(AssayError):
    """The server will not answer, whatever is asked: a wrong key, no such model, no route, no eyes."""


class KeyRefused(ServerRefuses, NotEquipped):
    """The server wants another key than this process has, or any."""


class TryAgain(Exception):
    """The request did not get its reply, but may the next time.

    `after` is how many seconds the server asks to wait (None: it does not say), `maybe_paid` whether the model may
    have answered all the same, `unreached` whether there was no connection at all.
    """

    def __init__(
        self, said: str, *, after: float | None = None, maybe_paid: bool = False, unreached: bool = False
    ) -> None:
        super().__init__(said)
        self.said, self.after, self.maybe_paid, self.unreached = said, after, maybe_paid, unreached


def plain_address(url: str) -> str:
    """A base URL without credentials, query and final slash; InvalidInput for what is no address of a server."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"{url!r} is no address of a server. Give its base URL, such as http://127.0.0.1:8000/v1.")
    place = parts.hostname if ":" not in parts.hostname else f"[{parts.hostname}]"
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise InvalidInput(f"{url!r} has no port that can be. Give one below 65536.") from None
    return urlunsplit((parts.scheme, f"{place}{port}", parts.path.rstrip("/"), "", ""))


class Client:
    """A model on a server. Threads may share it; the key is kept out of every message and of `repr`.

    What is sent goes to the server that is named and no further: redirects are not followed, and one on this machine is
    asked without the proxy that the environment may name. What the environment holds for OpenAI (an organisation's id,
    headers with other keys) goes to OpenAI's own server alone.

    `most` is the limit of a reply in tokens, `structured` one of `STRUCTURED`, `chances` whether log-probabilities are
    asked for, until the server refuses them. Temperature is 0 and the seed is fixed, but for further samples of one
    call, which have 1 and seeds of their own.
    `seconds` is how long a whole reply may take; it is given up a few seconds after `hurry`.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        key: str | None,
        *,
        most: int = 1024,
        seed: int = 0,
        structured: str = AUTO,
        seconds: float = SECONDS,
        chances: bool = False,
    ) -> None:
        self.server, self.model, self.most, self.seed = plain_address(base_url), model, most, seed
        key = key.strip() if key else None
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            raise InvalidInput(
                "The key for the judge's server has a line break, a space or a letter that no key has. Set "
                "ASSAY_JUDGE_KEY to the key alone, on one line."
            )
        self._secret, self._has_key, self.structured = Secret(key), bool(key), structured
        self._by_server, self._in_words = structured != PROMPT, structured != SCHEMA
        self._may_fall_back, self._as_object = structured == AUTO, False
        self._with_seed = True
        self._hurry = threading.Event()
        self.chances, self._top = chances, _TOP if chances else 0
        self._http = openai.OpenAI(
            base_url=self.server,
            api_key=key or "none",
            max_retries=0,
            timeout=openai.Timeout(seconds, connect=min(10.0, seconds)),
            http_client=bounded.bounded(
                openai.DefaultHttpxClient(
                    follow_redirects=False,
                    trust_env=not is_here(self.server),
                    event_hooks={"request": [] if is_openai(self.server) else [self._bare]},
                ),
                bounded.Bounds(seconds, self._largest, self._largest, self._hurry),
                self._secret,
            ),
        )

    @property
    def _largest(self) -> int:
        """Bytes that a reply may have."""
        return _FREE_BYTES + self.most * (_BYTES_WITH_CHANCES if self.chances else _BYTES_A_TOKEN)

    def __repr__(self) -> str:
        """Without the key."""
        return f"Client({self.model!r} at {self.server!r})"

    def hurry(self) -> None:
        """Give up within a few seconds what is under way: somebody wants to stop."""
        self._hurry.set()

    def close(self) -> None:
        """Let go of its connections."""
        self._http.close()

    def once(self, call: Call, sample: int = 0) -> Reply:
        """One request. Raises TryAgain (also where the next request will not name a schema) and ServerRefuses."""
        begun, top = time.monotonic(), self._top
        try:
            raw = self._http.chat.completions.with_raw_response.create(**self._request(call, sample))
            body = json.loads(raw.http_response.content, parse_int=_whole)
        except openai.APIConnectionError as error:
            raise self._broken(error) from error
        except openai.APIStatusError as error:
            if error.status_code < 400:
                to = error.response.headers.get("location")
                raise ServerRefuses(self._plain(redirected(self.server, error.status_code, to))) from error
            return self._refused(call, error, top)
        except (ValueError, RecursionError, openai.APIResponseValidationError) as error:
            raise ServerRefuses(self._other_tongue()) from error
        return self._reply(call, body, time.monotonic() - begun)

    # What is sent

    def _request(self, call: Call, sample: int) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": list(_messages(call, in_words=self._in_words)),
            "temperature": 0 if sample == 0 else 1,
            "max_tokens": self.most,
        }
        if self._top:
            request |= {"logprobs": True, "top_logprobs": self._top}
        if self._with_seed:
            request["seed"] = self.seed + sample
        if self._by_server:
            schema = {"name": call.name, "schema": dict(call.schema), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self._as_object:  # as llama.cpp's servers in Python take it
            request["response_format"] = {"type": "json_object", "schema": dict(call.schema)}
        return request

    def _bare(self, request: Any) -> None:
        """Leave of a request's headers what it needs, with the key that was given for this server."""
        for name in set(request.headers) - _HEADERS:
            if not name.startswith(_OF_CLIENT):
                del request.headers[name]
        request.headers["authorization"] = f"Bearer {self._http.api_key}"

    # What comes back

    def _reply(self, call: Call, body: Any, seconds: float) -> Reply:
        try:
            choice = body["choices"][0]
            message, finish = choice["message"], choice.get("finish_reason")
            text = message.get("content")
            usage = body.get("usage")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ServerRefuses(self._other_tongue()) from None
        usage = usage if isinstance(usage, Mapping) else {}  # what it cost is then not known, and the reply is paid for
        text = self._kept(text, self._largest)
        refusal = message.get("refusal")
        if refusal or finish == "content_filter":
            ending = Ending.REFUSED
        elif finish == "length":
            ending = Ending.CUT_OFF
        elif not text.strip():
            ending = Ending.EMPTY
        else:
            ending = Ending.WHOLE
        return Reply(
            text=text,
            ending=ending,
            model=self._kept(body.get("model"), _LONGEST_NAME),
            fingerprint=self._kept(body.get("system_fingerprint"), _LONGEST_NAME) or None,
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            seconds=seconds,
            said=self._plain(str(refusal)) if refusal else None,
            chances=self._chances(call, ending, text, choice.get("logprobs")),
        )

    def _chances(self, call: Call, ending: Ending, text: str, logprobs: Any) -> dict[str, dict[str, float]]:
        if ending is not Ending.WHOLE or not self.chances or not logprobs:
            return {}
        return chances_of(text, tokens_of(logprobs), call.schema)

    def _broken(self, error: openai.APIConnectionError) -> TryAgain:
        """What a connection that was not made, broke or took too long means: only the first is surely not paid for."""
        cause = error.__cause__
        if type(cause).__name__ in ("ConnectError", "ConnectTimeout"):
            return TryAgain(self._plain(f"There is no connection: {cause}"), unreached=True)
        if isinstance(error, openai.APITimeoutError):
            return TryAgain("The server took too long.", maybe_paid=True)
        return TryAgain(self._plain(f"The connection broke: {cause or error}"), maybe_paid=True)

    def _refused(self, call: Call, error: openai.APIStatusError, top: int) -> Reply:
        """What a status means: a reply (too long), or an exception. `top` is how many log-probabilities were asked."""
        status = error.status_code
        message, code = map(self._plain, _words(error))
        said = f"{message} {code}".strip()
        message = f"{message[:1].upper()}{message[1:].rstrip('.')}." if message else ""
        if status in (401, 403):
            needs = "does not take the key" if self._has_key else "asks for a key"
            raise KeyRefused(f"{self.server} {needs} (status {status}). Set ASSAY_JUDGE_KEY to one that it takes.")
        if status == 429 and _MONEY.search(said):
            raise ServerRefuses(
                f"{self.server} says that the account has no money left: {message} Pay there, or take another server; "
                "then judge again."
            )
        if top and (status in (400, 422) or status >= 500) and _CHANCES.search(said):
            self._top = min(self._top, _FEWER[top])  # another thread may have been told before
            raise TryAgain(f"The server gives no such log-probabilities: {message}", after=0.0)
        if (
            status >= 500
            and self._may_fall_back
            and self._by_server
            and "json_schema" in said
            and "json_object" in said
        ):
            self._by_server, self._as_object = False, True
            raise TryAgain(f"The server takes schemas in another form: {message}", after=0.0)
        if status in (408, 409, 425, 429) or status >= 500:
            raise TryAgain(f"Status {status}: {message}", after=_retry_after(error.response.headers))
        if status in (400, 413, 422):
            if _LONG.search(said) or status == 413:
                return Reply(text="", ending=Ending.TOO_LONG, said=message, tokens_in=0, tokens_out=0)
            if call.pictures and _EYES.search(said):
                raise ServerRefuses(
                    f"{self.model!r} on {self.server} takes no pictures, and the step shows some: {message} Take a "
                    "model with eyes, or --pictures 0."
                )
            if self._may_fall_back and (self._by_server or self._as_object or self._with_seed) and _FORMAT.search(said):
                self._by_server = self._as_object = self._with_seed = False
                raise TryAgain(f"The server knows no schemas: {message}", after=0.0)
            if _NO_MODEL.search(said) and ("model" in said.lower() or "pinned" in said):
                raise ServerRefuses(f"{self.server} has no model {self.model!r}. {self._what_it_has()}")
        if status == 404:
            if self.model in said or "model" in said.lower():
                raise ServerRefuses(f"{self.server} has no model {self.model!r}. {self._what_it_has()}")
            raise ServerRefuses(
                f"{self.server} has no /chat/completions (status 404). Give the base URL, which often ends in /v1."
            )
        raise ServerRefuses(
            f"{self.server} refuses what is asked (status {status}): {message} Look into what it takes, or take "
            "another server."
        )

    def models(self) -> list[str]:
        """The names of the models that the server lists; none where it lists none, or does not answer."""
        try:
            names = {self._kept(model.id, _LONGEST_NAME) for model in self._http.models.list().data[:_MOST_MODELS]}
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, RecursionError):
            return []
        return sorted(filter(None, names))

    def _what_it_has(self) -> str:
        """The names of the models that the server lists, as a remedy."""
        names = self.models()
        if not names:
            return "Name one that it has."
        return f"Name one that it has: {', '.join(names[:_LISTED])}{', …' if len(names) > _LISTED else ''}."

    def _other_tongue(self) -> str:
        return (
            f"{self.server} answers, but not as a server of chat completions does. Give the base URL of one, which "
            "often ends in /v1."
        )

    def _plain(self, said: str) -> str:
        """What a server says, in a line, without the key."""
        return " ".join(self._kept(said, 10 * _SAID).split())[:_SAID]

    def _kept(self, said: Any, most: int) -> str:
        """A text of a server as it may be kept: none for what is no text, so long, without half characters or the key.

        The key is taken out before it is cut, so that no beginning of it is left.
        """
        if not isinstance(said, str):
            return ""
        return self._secret.out_of(said).replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:most]


def _messages(call: Call, *, in_words: bool) -> Iterator[dict[str, Any]]:
    """The messages as they are sent; `in_words` with the schema at the end."""
    last = len(call.messages) - 1
    for place, message in enumerate(call.messages):
        parts = message.parts
        if in_words and place == last:
            schema = json.dumps(call.schema, ensure_ascii=False)
            words = f"Answer with one JSON object that keeps this JSON schema, and nothing else:\n{schema}"
            parts = (*parts, Text(words))
        yield {"role": message.role, "content": _content(Message(message.role, parts))}


def _content(message: Message) -> Any:
    """Text alone as a text, which every server takes; else the parts."""
    if not any(isinstance(part, Picture) for part in message.parts):
        return "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, Text)
        else {
            "type": "image_url",
            "image_url": {"url": f"data:{part.media_type};base64,{base64.b64encode(part.data).decode()}"},
        }
        for part in message.parts
    ]


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _whole(text: str) -> int | float:
    """A whole number of JSON; one that is longer than any that we read is not made."""
    return int(text) if len(text) <= _LONGEST_NUMBER else math.inf


def _words(error: openai.APIStatusError) -> tuple[str, str]:
    """What the body of an error says: its message, or its beginning; and the code and type beside it."""
    body = error.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        body = inner if isinstance(inner, Mapping) else body
        message, detail, code, kind = (str(body.get(name) or "") for name in ("message", "detail", "code", "type"))
        if message or detail or code or kind:
            return message or detail or code or kind, f"{code} {kind}"
    return str(body or error.message), ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, by `retry-after-ms`, or `Retry-After` in seconds or as a date; None where nothing fits."""
    try:
        if "retry-after-ms" in headers:
            return _waiting(float(headers["retry-after-ms"]) / 1000)
        given = headers.get("retry-after")
        if given is None:
            return None
        try:
            return _waiting(float(given))
        except ValueError:
            at = parsedate_to_datetime(given)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            return _waiting((at - datetime.now(UTC)).total_seconds())
    except ValueError:
        return None


def _waiting(seconds: float) -> float | None:
    return max(0.0, seconds) if math.isfinite(seconds) else None


def models_of(base_url: str, key: str | None, *, seconds: float) -> list[str]:
    """The names of the models that a server lists, asked once; none where it does not answer within so many seconds.

    Nothing is sent but the request for the list, with the key.
    """
    client = Client(base_url, "", key, seconds=seconds)
    try:
        return client.models()
    finally:
        client.close()
