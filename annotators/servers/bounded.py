"""One client for every server of others: what it answers is bounded in bytes and in time, and has no key in it.

A limit of the time between two bytes is none of the whole time, and a limit of what comes over the wire none of what it
unpacks to. So every answer is read here, before anybody looks at it: its bytes are counted as they come and as they are
unpacked, each read of the socket gets what is left of the whole time, and who wants to stop is heard between two reads.
"""

from __future__ import annotations

import importlib
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from annotators.servers.secret import Secret

STOPS_WITHIN = 10.0
"""Seconds that an answer has still, once somebody wants to stop: it may be paid for."""

_LOOKS_EVERY = 0.25
_BLOCK = 64 << 10
_PACKED = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_PLAIN = ("", "identity")


_CORES = {"httpx": "httpcore", "httpx2": "httpcore2"}

T = TypeVar("T")


class _Library(NamedTuple):
    """The library that a client is of, and the one by which that connects: OpenAI's client has a copy of its own."""

    http: Any
    core: Any

    @staticmethod
    def of(client: object) -> _Library:
        """That of a client."""
        modules = (kind.__module__.partition(".")[0] for kind in type(client).__mro__)
        name = next(module for module in modules if module in _CORES)
        return _Library(importlib.import_module(name), importlib.import_module(_CORES[name]))


@dataclass(frozen=True)
class Bounds:
    """What one answer may come to: bytes as they come and as they are unpacked, and seconds from sending to the last.

    `stop`: once it is set an answer has `STOPS_WITHIN` seconds still.
    """

    seconds: float
    most: int
    most_packed: int
    stop: threading.Event | None = None


def bounded(client: T, bounds: Bounds, secret: Secret | None = None) -> T:
    """The client (of httpx), whose answers are bounded from here on, whichever way it sends requests.

    `secret` is taken out of each answer. One that is too large, or packed in another way than was asked for, is a
    RemoteProtocolError, one that is late a ReadTimeout.
    """
    ours: Any = client
    library = _Library.of(client)
    ours._transport = _Bounded(library, ours._transport, bounds, secret)
    ours._mounts = {
        pattern: None if transport is None else _Bounded(library, transport, bounds, secret)
        for pattern, transport in ours._mounts.items()
    }
    return client


class _Clock(threading.local):
    """Until when the answer has to be there that the thread waits for, and what stops it before."""

    until: float | None = None
    stop: threading.Event | None = None
    stopped_at: float | None = None

    def left(self) -> float:
        """Seconds; 0 where there are none left."""
        if self.until is None:
            return _LOOKS_EVERY
        now = time.monotonic()
        if self.stop is not None and self.stop.is_set():
            self.stopped_at = self.stopped_at or now
            return max(0.0, min(self.until, self.stopped_at + STOPS_WITHIN) - now)
        return max(0.0, self.until - now)


_CLOCK = _Clock()


class _Bounded:
    """A transport whose answers are read whole, within bounds, before they are handed on."""

    def __init__(self, library: _Library, inner: Any, bounds: Bounds, secret: Secret | None) -> None:
        self._http, self._inner, self._bounds, self._secret = library.http, inner, bounds, secret or Secret(None)
        _watch(inner, library.core)

    def __enter__(self) -> _Bounded:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._inner.__exit__(*error)

    def handle_request(self, request: Any) -> Any:
        """Send a request, and read the whole answer."""
        request.headers["accept-encoding"] = "gzip"
        _CLOCK.until = time.monotonic() + self._bounds.seconds
        _CLOCK.stop, _CLOCK.stopped_at = self._bounds.stop, None
        try:
            response = self._inner.handle_request(request)
            try:
                content = b"".join(self._read(response, request))
            finally:
                response.close()
        finally:
            _CLOCK.until = _CLOCK.stop = None
        headers = [
            (name, self._secret.out_of_bytes(value))
            for name, value in response.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
        ]
        content = self._secret.out_of_bytes(content)
        extensions = {name: value for name, value in response.extensions.items() if name != "network_stream"}
        return self._http.Response(response.status_code, headers=headers, content=content, extensions=extensions)

    def _too_much(self, said: str, request: Any) -> Exception:
        error: Exception = self._http.RemoteProtocolError(said, request=request)
        return error

    def _read(self, response: Any, request: Any) -> Iterator[bytes]:
        packing = response.headers.get("content-encoding", "").strip().lower()
        if packing not in _PLAIN and packing not in _PACKED:
            raise self._too_much(f"the answer is packed as {packing[:40]!r}, which was not asked for", request)
        parts = self._counted(response.stream, request)
        n = 0
        try:
            for part in parts if packing in _PLAIN else _unpacked(parts, _PACKED[packing]):
                n += len(part)
                if n > self._bounds.most:
                    raise self._too_much(f"the answer has more than {_size(self._bounds.most)}", request)
                yield part
        except zlib.error as error:
            raise self._too_much(f"the answer is damaged ({error})", request) from error

    def _counted(self, stream: Iterable[bytes], request: Any) -> Iterator[bytes]:
        n = 0
        for part in stream:
            n += len(part)
            if n > self._bounds.most_packed:
                raise self._too_much(f"the answer has more than {_size(self._bounds.most_packed)}", request)
            if not _CLOCK.left():
                raise self._http.ReadTimeout("the whole answer is not there in time", request=request)
            yield part

    def close(self) -> None:
        """Close its connections."""
        self._inner.close()


def _size(n: int) -> str:
    return f"{n >> 20:,} MB"


def _unpacked(parts: Iterable[bytes], form: int) -> Iterator[bytes]:
    """What is packed, a block at a time: a part of a kilobyte may unpack to a megabyte."""
    unpacking = zlib.decompressobj(form)
    for part in parts:
        left = part
        while left:
            block = unpacking.decompress(left, _BLOCK)
            left = unpacking.unconsumed_tail
            if block:
                yield block
            if unpacking.eof:
                return  # what stands behind it is none of the answer
    raise zlib.error("it is cut off")


# The socket -----------------------------------------------------------------------------------------------------------


def _watch(transport: Any, core: Any) -> None:
    """Have the sockets of a transport, or of one that it sends by, get what is left of the whole time."""
    inner = getattr(transport, "_transport", None)
    if inner is not None:
        _watch(inner, core)
    pool = getattr(transport, "_pool", None)
    if pool is not None:
        pool._network_backend = _Backend(core)


class _Backend:
    """Makes connections that are made, written to and read from in what is left of the time."""

    def __init__(self, core: Any) -> None:
        self._core, self._inner = core, core.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> _Stream:
        """A connection."""
        within = _within(timeout, self._core.ConnectTimeout)
        return _Stream(self._core, self._inner.connect_tcp(host, port, within, local_address, socket_options))

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._inner.sleep(min(seconds, _CLOCK.left()))


class _Stream:
    """A connection that is looked at anew every quarter of a second, so that who wants to stop is heard."""

    def __init__(self, core: Any, inner: Any) -> None:
        self._core, self._inner = core, inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes, when there are some; ReadTimeout when the time between two is over, or the whole time."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            within = _within(None if until is None else until - time.monotonic(), self._core.ReadTimeout)
            try:
                got: bytes = self._inner.read(max_bytes, min(within, _LOOKS_EVERY))
            except self._core.ReadTimeout:
                continue
            return got

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send; WriteTimeout when nobody takes it in what is left of the time."""
        for start in range(0, len(buffer), _BLOCK):
            self._inner.write(buffer[start : start + _BLOCK], _within(timeout, self._core.WriteTimeout))

    def close(self) -> None:
        """Close it."""
        self._inner.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        """The same, encrypted."""
        within = _within(timeout, self._core.ConnectTimeout)
        return _Stream(self._core, self._inner.start_tls(ssl_context, server_hostname, within))

    def get_extra_info(self, info: str) -> Any:
        """What is known of the connection."""
        return self._inner.get_extra_info(info)


def _within(timeout: float | None, late: type[Exception]) -> float:
    left = _CLOCK.left() if timeout is None else min(timeout, _CLOCK.left())
    if left <= 0:
        raise late("the time is over")
    return left
