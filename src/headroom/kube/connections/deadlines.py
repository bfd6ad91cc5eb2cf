"""A request whose answer does not come in time loses its connection.

A timer of the event loop for each request would cost more than the request itself: nearly all are
answered within milliseconds. All requests have the same limit, so those that wait are in the order
of their deadlines, and one timer for the first of them is enough.
"""

from __future__ import annotations

import asyncio
from collections import deque

from aiohttp.connector import Connection


class Deadline:
    """One request: `late` once its connection was broken because of the time."""

    __slots__ = ("at", "connection", "late")

    def __init__(self, connection: Connection, at: float) -> None:
        self.connection: Connection | None = connection  # None: it was answered
        self.at = at
        self.late = False


class Deadlines:
    """The requests that wait for their answers, each for at most `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: deque[Deadline] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, connection: Connection) -> Deadline:
        """From now on the time counts, until the `connection` of the deadline is None."""
        self._drop_answered()
        loop = asyncio.get_running_loop()
        deadline = Deadline(connection, loop.time() + self._seconds)
        self._waiting.append(deadline)
        if self._timer is None:
            self._timer = loop.call_at(deadline.at, self._ring)
        return deadline

    def _drop_answered(self) -> None:
        while self._waiting and self._waiting[0].connection is None:
            self._waiting.popleft()

    def _ring(self) -> None:
        loop = asyncio.get_running_loop()
        self._drop_answered()
        while self._waiting and self._waiting[0].at <= loop.time():
            deadline = self._waiting.popleft()
            deadline.late = True
            if deadline.connection is not None and deadline.connection.transport is not None:
                # Its reader gets an error, and closes it.
                deadline.connection.transport.abort()
            self._drop_answered()
        self._timer = loop.call_at(self._waiting[0].at, self._ring) if self._waiting else None
