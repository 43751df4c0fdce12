"""Streamlit's pages of one person run within one share, whatever their browser sends; others' run at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.server import reruns
from app.server.reruns import A_SECOND, BURST, MOST_RUNS, Reruns

SCOPE: Scope = {"type": "websocket", "path": "/_stcore/stream"}


def rerun(fragment: str = "") -> Message:
    asked = BackMsg()
    asked.rerun_script.query_string = "project=1"
    asked.rerun_script.fragment_id = fragment
    return {"type": "websocket.receive", "bytes": asked.SerializeToString()}


def end(status: int) -> Message:
    told = ForwardMsg()
    told.script_finished = status  # type: ignore[assignment]
    return {"type": "websocket.send", "bytes": told.SerializeToString()}


DONE = end(ForwardMsg.FINISHED_SUCCESSFULLY)


class OpenPage:
    """A page in a browser, and what stands for Streamlit: it takes what comes, and ends a run when it is told to."""

    def __init__(self, shares: Reruns, person: int) -> None:
        self.standing: str | None = "researcher"
        self.came: list[Message] = []
        self._sent: asyncio.Queue[Message] = asyncio.Queue()
        self._ends: asyncio.Queue[Message] = asyncio.Queue()

        async def streamlit(_scope: Scope, receive: Receive, send: Send) -> None:
            async def take() -> None:
                while (message := await receive())["type"] != "websocket.disconnect":
                    self.came.append(message)

            async def tell() -> None:
                while True:
                    await send(await self._ends.get())

            telling = asyncio.create_task(tell())
            await take()
            telling.cancel()

        async def standing() -> str | None:
            return self.standing

        async def nowhere(_message: Message) -> None: ...

        self.open = asyncio.create_task(shares.of(person, streamlit, standing)(SCOPE, self._sent.get, nowhere))

    def send(self, *messages: Message) -> None:
        for message in messages:
            self._sent.put_nowait(message)

    def tell(self, message: Message) -> None:
        self._ends.put_nowait(message)

    async def close(self) -> None:
        self.send({"type": "websocket.disconnect", "code": 1001})
        await self.open


async def settled() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


def in_a_loop(test: Callable[[Reruns], Awaitable[None]]) -> None:
    async def run() -> None:
        shares = Reruns()
        await test(shares)
        assert shares._people == {}, "nothing is kept of who has no page open"

    asyncio.run(run())


def test_of_many_pages_of_one_person_few_run_at_once_and_others_are_not_held_up() -> None:
    async def test(shares: Reruns) -> None:
        pages = [OpenPage(shares, 1) for _ in range(MOST_RUNS + 3)]
        other = OpenPage(shares, 2)
        for page in (*pages, other):
            page.send(rerun())
        await settled()
        assert [len(page.came) for page in pages] == [1] * MOST_RUNS + [0] * 3
        assert len(other.came) == 1
        pages[0].tell(end(ForwardMsg.FINISHED_EARLY_FOR_RERUN))  # it goes on with the next run
        await settled()
        assert len(pages[MOST_RUNS].came) == 0
        pages[0].tell(DONE)
        await settled()
        assert [len(page.came) for page in pages] == [1] * (MOST_RUNS + 1) + [0] * 2
        await pages[1].close()  # whoever closes a page gives its place to the next
        await settled()
        assert len(pages[MOST_RUNS + 1].came) == 1
        for page in (pages[0], *pages[2:], other):
            page.tell(DONE)
        await settled()
        for page in (pages[0], *pages[2:], other):
            await page.close()

    in_a_loop(test)


def test_a_page_that_runs_takes_what_interrupts_it_at_once() -> None:
    async def test(shares: Reruns) -> None:
        page = OpenPage(shares, 1)
        page.send(rerun(), rerun(), rerun())
        await settled()
        assert len(page.came) == 3
        await page.close()

    in_a_loop(test)


def test_hundreds_of_runs_asked_for_in_a_moment_come_at_a_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        if seconds:
            slept.append(seconds)

    async def test(shares: Reruns) -> None:
        page = OpenPage(shares, 1)
        page.send(*[rerun() for _ in range(BURST + 20)])
        while len(page.came) < BURST + 20:
            await settled()
        # The clock stands still but for some milliseconds: each waits until its turn, the last for two seconds.
        assert len(slept) >= 19
        assert slept == sorted(slept)
        assert 20 / A_SECOND - 1 < slept[-1] <= 20 / A_SECOND
        await page.close()

    real = asyncio.sleep
    monkeypatch.setattr(reruns.asyncio, "sleep", lambda seconds: sleep(seconds) if seconds else real(0))
    in_a_loop(test)


@pytest.mark.parametrize("later", ["researcher", "viewer", None])
def test_a_part_of_a_page_runs_alone_only_for_who_is_what_they_were(later: str | None) -> None:
    async def test(shares: Reruns) -> None:
        page = OpenPage(shares, 1)
        page.send(rerun())
        await settled()
        page.standing = later
        page.send(rerun("part"))
        await settled()
        asked = BackMsg()
        asked.ParseFromString(page.came[1]["bytes"])
        part = "part" if later == "researcher" else ""
        assert (asked.rerun_script.fragment_id, asked.rerun_script.query_string) == (part, "project=1")
        await page.close()

    in_a_loop(test)


@pytest.mark.parametrize("later", ["researcher", "viewer", None])
def test_what_a_page_offers_is_made_only_for_who_is_what_they_were(later: str | None) -> None:
    wanted = BackMsg()
    wanted.file_urls_request.request_id = "1"

    async def test(shares: Reruns) -> None:
        page = OpenPage(shares, 1)
        page.send(rerun())
        await settled()
        page.standing = later
        page.send({"type": "websocket.receive", "bytes": wanted.SerializeToString()})
        await settled()
        assert len(page.came) == (2 if later == "researcher" else 1)
        await page.close()

    in_a_loop(test)


@pytest.mark.parametrize("message", [{"bytes": b"\xff\xff"}, {"text": "what"}, {"bytes": b""}])
def test_what_is_no_run_is_handed_on_and_takes_no_place(message: dict[str, Any]) -> None:
    async def test(shares: Reruns) -> None:
        page = OpenPage(shares, 1)
        page.send(*[{"type": "websocket.receive", **message} for _ in range(MOST_RUNS + 1)])
        await settled()
        assert len(page.came) == MOST_RUNS + 1
        assert shares._people[1].free == MOST_RUNS
        await page.close()

    in_a_loop(test)
