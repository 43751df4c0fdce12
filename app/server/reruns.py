"""How much one person has Streamlit run: so many runs at once over all their open pages, and so many a second.

A run is what a message of the browser sets off. It holds an interpreter that everybody shares: who sends hundreds of
messages, from one page or from forty, would keep others from their next item.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MOST_RUNS = 4
"""Open pages of one person that run at once; the others wait for their turn."""

BURST, A_SECOND = 40, 10
"""Runs of one person that are begun at once after a rest, and then a second. One that is interrupted counts as well."""

_SMALL = 1_000
"""Bytes that the message about the end of a run has at most: larger ones are not looked into."""


@dataclass
class _Person:
    """What one person has running: free places, who waits for one, runs that may begin now, and open pages."""

    free: int = MOST_RUNS
    waiting: deque[asyncio.Event] = field(default_factory=deque)
    left: float = BURST
    counted_at: float = field(default_factory=time.monotonic)
    pages: int = 0

    async def take(self) -> None:
        """Wait for a place, first come first served."""
        if self.free > 0:
            self.free -= 1
            return
        turn = asyncio.Event()
        self.waiting.append(turn)
        try:
            await turn.wait()
        except asyncio.CancelledError:
            if turn.is_set():
                self.give()
            else:
                self.waiting.remove(turn)
            raise

    def give(self) -> None:
        """Give a place back, to whoever waits longest."""
        if self.waiting:
            self.waiting.popleft().set()
        else:
            self.free += 1

    async def pace(self) -> None:
        """Wait until one more run may begin."""
        now = time.monotonic()
        self.left = min(BURST, self.left + (now - self.counted_at) * A_SECOND) - 1
        self.counted_at = now
        if self.left < 0:
            await asyncio.sleep(-self.left / A_SECOND)


class Reruns:
    """The websockets of Streamlit's pages of all people, each held to its person's share."""

    def __init__(self) -> None:
        self._people: dict[int, _Person] = {}

    def of(self, person_id: int, app: ASGIApp, standing: Callable[[], Awaitable[object]]) -> ASGIApp:
        """The app for a websocket of this person; `standing` says what they are now, None once their session has ended.

        A part of a page that runs by itself does not ask who looks, nor does what a page offers to take away. Once
        somebody is something else than when the page ran, the whole page runs in its place, which asks.
        """

        async def held(scope: Scope, receive: Receive, send: Send) -> None:
            person = self._people.setdefault(person_id, _Person())
            person.pages += 1
            page = _OpenPage(person, standing, receive, send)
            try:
                await app(scope, page.receive, page.send)
            finally:
                page.end_run()
                person.pages -= 1
                if not person.pages:
                    self._people.pop(person_id, None)

        return held


class _OpenPage:
    """A websocket of a person's: what comes in waits for its turn, and what goes out tells when a run has ended."""

    def __init__(
        self, person: _Person, standing: Callable[[], Awaitable[object]], receive: Receive, send: Send
    ) -> None:
        self._person, self._standing = person, standing
        self._receive, self._send = receive, send
        self._ran_as: object = None
        self._runs = False

    async def receive(self) -> Message:
        """ASGI. A page that runs already is interrupted, for which it needs no other place."""
        while True:
            message = await self._receive()
            asked = _asked(message)
            if asked is None:
                return message
            if asked.WhichOneof("type") == "rerun_script":
                return await self._in_turn(message, asked)
            if await self._is_as_it_ran():
                return message

    async def _in_turn(self, message: Message, asked: BackMsg) -> Message:
        await self._person.pace()
        if not self._runs:
            await self._person.take()
            self._runs = True
        if asked.rerun_script.fragment_id and await self._is_as_it_ran():
            return message
        self._ran_as = await self._standing()
        asked.rerun_script.fragment_id = ""
        return {**message, "bytes": asked.SerializeToString()}

    async def _is_as_it_ran(self) -> bool:
        """Whether who looks is what they were when the page ran as a whole."""
        return self._ran_as is not None and await self._standing() == self._ran_as

    async def send(self, message: Message) -> None:
        """ASGI."""
        if self._runs and _is_end(message):
            self.end_run()
        await self._send(message)

    def end_run(self) -> None:
        """Give the place back, if there is one."""
        if self._runs:
            self._runs = False
            self._person.give()


def _asked(message: Message) -> BackMsg | None:
    """What the browser asks for; None for what says only that it is there, and for what cannot be read."""
    data = message.get("bytes") if message["type"] == "websocket.receive" else None
    if not data:
        return None
    asked = BackMsg()
    try:
        asked.ParseFromString(data)
    except Exception:
        return None
    return None if asked.WhichOneof("type") in (None, "app_heartbeat") else asked


def _is_end(message: Message) -> bool:
    """Whether a run has ended; not where the next one follows at once."""
    data = message.get("bytes") if message["type"] == "websocket.send" else None
    if not data or len(data) > _SMALL:
        return False
    told = ForwardMsg()
    told.ParseFromString(data)
    ended: bool = told.WhichOneof("type") == "script_finished"
    return ended and told.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
