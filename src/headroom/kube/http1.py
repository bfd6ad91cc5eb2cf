"""A keep-alive HTTP/1.1 connection for short requests; `pool` keeps them.

A handover is a few requests in a row, so what one costs us counts: a general client spends about
three times the CPU (docs/decisions/0003-own-http-path.md). Streams and proxies stay with aiohttp
(`session`). One request at a time goes through; anything odd in an answer closes the connection.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass

from headroom.kube.answers import Answer, seconds_to_wait

LONGEST_HEAD = 2**16
LONGEST_BODY = 2**30


class ConnectionBroken(ConnectionError):
    """The connection ended, or said something that is not HTTP, before the answer was whole."""


@dataclass(slots=True)
class _Head:
    """What the head of an answer says about the rest; a `length` of None means until the end."""

    status: int
    length: int | None = None
    chunked: bool = False
    closes: bool = False
    retry_after: float = 0.0

    @classmethod
    def read(cls, text: bytes) -> _Head:
        lines = text.split(b"\r\n")
        version, _, rest = lines[0].partition(b" ")
        if not version.startswith(b"HTTP/1."):
            raise ConnectionBroken("what answers does not speak HTTP/1.1")
        head = cls(int(rest[:3]), closes=version != b"HTTP/1.1")
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            match name.lower():
                case b"content-length":
                    head.length = min(int(value), LONGEST_BODY + 1)
                case b"transfer-encoding":
                    head.chunked = value.strip().lower() == b"chunked"
                case b"connection":
                    head.closes = head.closes or value.strip().lower() == b"close"
                case b"retry-after":
                    head.retry_after = seconds_to_wait(value.decode("latin-1"))
        if head.status in (204, 304):
            head.length, head.chunked = 0, False
        return head


class Connection(asyncio.Protocol):
    """One connection; `exchange` sends a request and gives the answer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.used_at = 0.0
        self.gone = loop.create_future()
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._buffer = bytearray()
        self._head: _Head | None = None
        self._body = bytearray()
        self._reusable = True

    @property
    def reusable(self) -> bool:
        """Whether another request can go through."""
        if not self._reusable or self._waiter is not None or self._transport is None:
            return False
        return not self._transport.is_closing()

    def exchange(self, request: bytes) -> asyncio.Future[Answer]:
        """Send a whole request; the answer, or ConnectionBroken, comes through the future."""
        waiter = self._waiter = self._loop.create_future()
        if self._transport is not None:
            self._transport.write(request)
        return waiter

    def close(self) -> None:
        """Close at once; nothing may be left half read."""
        self._reusable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        connected = transport.get_extra_info("socket")
        if connected is not None:  # So that a peer that vanished is noticed while we are idle.
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:  # Nobody asked: this is not a server to trust with more.
            self.close()
            return
        self._buffer += data
        try:
            answer = self._read_answer()
        except (ValueError, ConnectionBroken) as error:
            self._fail(ConnectionBroken(str(error)))
            return
        if answer is not None:
            self._deliver(answer)

    def connection_lost(self, error: Exception | None) -> None:
        self._reusable = False
        if not self.gone.done():
            self.gone.set_result(None)
        if self._waiter is None:
            return
        head = self._head
        if error is None and head is not None and head.length is None and not head.chunked:
            self._deliver(Answer(head.status, bytes(self._buffer), head.retry_after))
        else:
            self._fail(ConnectionBroken(str(error) if error else "the server closed it"))

    def _read_answer(self) -> Answer | None:
        """The answer, once all of it is there."""
        if self._head is None:
            self._head = self._read_head()
            if self._head is None:
                return None
        head = self._head
        if head.chunked:
            if not self._read_chunks():
                return None
            body = bytes(self._body)
        elif head.length is None:
            return None
        elif len(self._buffer) < head.length:
            if head.length > LONGEST_BODY:
                raise ConnectionBroken("the answer is too long")
            return None
        else:
            body = bytes(self._buffer[: head.length])
            del self._buffer[: head.length]
        if head.closes or self._buffer:
            self._reusable = False
        return Answer(head.status, body, head.retry_after)

    def _read_head(self) -> _Head | None:
        """The head of the answer; interim answers (1xx) are passed over."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > LONGEST_HEAD:
                    raise ConnectionBroken("the head of the answer is too long")
                return None
            head = _Head.read(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
            if head.status >= 200:
                return head

    def _read_chunks(self) -> bool:
        """Take whole chunks off the buffer, and say whether the last was among them."""
        while True:
            end = self._buffer.find(b"\r\n")
            if end < 0:
                return False
            size = int(bytes(self._buffer[:end]).partition(b";")[0], 16)
            if size == 0:
                last = self._buffer.find(b"\r\n\r\n", end)  # Trailers, if any, end like a head.
                if last < 0:
                    return False
                del self._buffer[: last + 4]
                return True
            if len(self._body) + size > LONGEST_BODY:
                raise ConnectionBroken("the answer is too long")
            start = end + 2
            if len(self._buffer) < start + size + 2:
                return False
            self._body += self._buffer[start : start + size]
            del self._buffer[: start + size + 2]

    def _deliver(self, answer: Answer) -> None:
        waiter, self._waiter = self._waiter, None
        self._head = None
        self._body = bytearray()
        if waiter is not None and not waiter.done():
            waiter.set_result(answer)

    def _fail(self, error: ConnectionBroken) -> None:
        waiter, self._waiter = self._waiter, None
        self.close()
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
