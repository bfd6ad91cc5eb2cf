"""A stream that is silent for too long ends with an error.

aiohttp's own limit (`sock_read`) stops its timer and starts a new one at every chunk. Most chunks
of a watch arrive within a minute of each other, so one timer is enough that looks, when it rings,
at how long the silence has lasted.
"""

from __future__ import annotations

import asyncio

import aiohttp


class SilenceTimer:
    """Gives a reader that waits for a chunk an error after `quiet` seconds without one."""

    def __init__(
        self, content: aiohttp.StreamReader, quiet: float, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._content = content
        self._quiet = quiet
        self._loop = loop
        self._waits_since: float | None = None  # None: the reader is busy with a chunk
        self._timer = loop.call_later(quiet, self._ring)

    async def next_chunk(self) -> bytes:
        """The next chunk; empty at the end of the stream."""
        self._waits_since = self._loop.time()
        chunk = await self._content.readany()
        self._waits_since = None
        return chunk

    def stop(self) -> None:
        """The stream is not read any more."""
        self._timer.cancel()

    def _ring(self) -> None:
        left = self._quiet
        if self._waits_since is not None:
            left += self._waits_since - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._ring)
        else:
            self._content.set_exception(aiohttp.SocketTimeoutError("nothing was received"))
