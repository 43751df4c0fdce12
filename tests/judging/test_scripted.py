"""The scripted server does what its turns say, over HTTP, and counts it."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest

from tests.judging import scripted
from tests.judging.scripted import (
    CutOff,
    Dropped,
    Failed,
    OnlyShort,
    OnlyWithoutSchema,
    RateLimited,
    RateLimitedUntil,
    Refused,
    ScriptedServer,
    Slow,
    Whole,
)
from tests.judging.wire import ChatServer

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["yes", "no"]}, "grade": {"type": "integer", "minimum": 1}},
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA, "strict": True}}


def asked(server: ChatServer, text: str = "Is it right?", key: str = "k", **more: Any) -> httpx.Response:
    body = {"model": "tiny-judge", "messages": [{"role": "user", "content": text}], **more}
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.post(f"{server.base_url}/chat/completions", json=body, headers=headers, timeout=10)


def choice(response: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["choices"][0]
    return found


def test_the_script_comes_first_and_whole_replies_after_it() -> None:
    with ScriptedServer([RateLimited("3"), RateLimited(), Failed(503), Failed(502, page=True)]) as server:
        said = [asked(server, response_format=FORMAT) for _ in range(5)]
    assert [response.status_code for response in said] == [429, 429, 503, 502, 200]
    assert (said[0].headers["retry-after"], "retry-after" in said[1].headers) == ("3", False)
    assert json.loads(choice(said[-1])["message"]["content"]) == {"label": "yes", "grade": 1}
    assert (server.requests, server.answers, server.paid_twice) == (5, 1, [])


def test_a_date_to_retry_at_lies_ahead() -> None:
    with ScriptedServer([RateLimitedUntil(30)]) as server:
        then = parsedate_to_datetime(asked(server).headers["retry-after"])
    assert 25 < (then - datetime.now(UTC)).total_seconds() <= 30


@pytest.mark.parametrize(
    ("turn", "finish", "content", "refusal"),
    [
        (CutOff(5), "length", '{"lab', None),
        (Refused(), "stop", None, "I'm sorry, I cannot help with that."),
        (Refused(by_filter=True), "content_filter", None, None),
        (scripted.EMPTY, "stop", "", None),
        (scripted.WRONG_JSON, "stop", '{"label": "yes", ', None),
        (Whole({"label": "no"}), "stop", '{"label": "no"}', None),
    ],
)
def test_replies_that_are_no_verdict(turn: scripted.Turn, finish: str, content: str, refusal: str) -> None:
    with ScriptedServer([turn]) as server:
        found = choice(asked(server, response_format=FORMAT))
    assert (found["finish_reason"], found["message"]["content"], found["message"]["refusal"]) == (
        finish,
        content,
        refusal,
    )
    assert server.answers == 1


@pytest.mark.parametrize(("made", "sent"), [(False, 0.0), (True, 0.0), (True, 0.5), (True, 0.95)])
def test_a_connection_that_breaks_off(made: bool, sent: float) -> None:
    with ScriptedServer([Dropped(made, sent)]) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            asked(server)
        assert (server.answers, server.delivered.total()) == (int(made), 0)
        assert asked(server).status_code == 200
    assert (len(server.paid_twice), server.delivered.total()) == (int(made), 1)


def test_key_model_eyes_length_and_schema_are_looked_at() -> None:
    picture = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
    with ScriptedServer(then=OnlyWithoutSchema(OnlyShort(50)), key="right", eyes=False) as server:
        assert asked(server, key="wrong").json()["error"]["code"] == "invalid_api_key"
        assert asked(server, key="right", model="other").json()["error"]["code"] == "model_not_found"
        seen = asked(server, key="right", messages=[{"role": "user", "content": picture}])
        assert seen.json()["error"]["code"] == "unsupported_content"
        assert asked(server, "long " * 50, "right").json()["error"]["code"] == "context_length_exceeded"
        assert "response_format" in asked(server, key="right", response_format=FORMAT).json()["error"]["message"]
        in_prompt = asked(server, f"Reply as {json.dumps(SCHEMA)}, please", key="right")
        models = httpx.get(f"{server.base_url}/models", headers={"Authorization": "Bearer right"}).json()
    assert json.loads(choice(in_prompt)["message"]["content"]) == {"label": "yes", "grade": 1}
    assert [model["id"] for model in models["data"]] == ["tiny-judge"]
    assert (b"Bearer wrong" in server.everything, server.answers) == (True, 1)


def test_pictures_are_taken_and_counted() -> None:
    parts = [
        {"type": "text", "text": "What is on it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]
    with ScriptedServer() as server:
        said = asked(server, messages=[{"role": "user", "content": parts}])
        assert len(server.sent[0].pictures) == 1
    assert said.json()["usage"]["prompt_tokens"] > 100


def test_requests_in_flight_are_held_and_counted() -> None:
    with ScriptedServer(then=Slow(0.01)) as server, ThreadPoolExecutor(8) as pool:
        server.hold()
        said = [pool.submit(asked, server, f"item {number}") for number in range(8)]
        server.wait_for(8)
        time.sleep(0.05)
        assert (server.answers, server.most_at_once) == (0, 8)
        server.let_go()
        assert {future.result().status_code for future in said} == {200}
    assert server.answers == 8
