"""How far a long command is: one line on stderr that is written over, on a terminal only.

It appears after two seconds, so that quick commands show none, and is taken away at the end. In a
pipe or a log there is none.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from headroom.escaping import one_line, plain_stream

FIRST = 2.0
EVERY = 0.25
CLEAR = "\r\x1b[K"
MINUTE, HOUR = 60, 3600


class Progress:
    """One line; `clock` counts seconds of the person who waits."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # Our own words go past the escaping of what others wrote, or no line could be cleared.
        self._stream = plain_stream(sys.stderr) if stream is None else stream
        self._clock = clock
        self._began = clock()
        self._next = self._began + FIRST
        self._shown = False
        self.on = self._stream.isatty()

    @property
    def waited(self) -> float:
        return self._clock() - self._began

    def due(self) -> bool:
        """Whether a new line is to be shown."""
        return self.on and self._clock() >= self._next

    def tell(self, words: str) -> None:
        """Show these words, unless some were shown a moment ago."""
        if self.due():
            self._next = self._clock() + EVERY
            self._shown = True
            self._stream.write(f"{CLEAR}{one_line(words)}")
            self._stream.flush()

    def done(self) -> None:
        """Take the line away."""
        if self._shown:
            self._shown = False
            self._stream.write(CLEAR)
            self._stream.flush()


class Run:
    """Tells how far a simulation is: virtual time, events a second, how long it still takes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def tell(self, now: float, end: float, events: int) -> None:
        """`now` and `end` are virtual seconds since the start."""
        if not self._progress.due():
            return
        waited = self._progress.waited
        parts = [f"{span(now)} of {span(end)} simulated", f"{int(events / waited)} events a second"]
        if 0 < now < end:
            parts.append(f"{span(waited * (end - now) / now)} still at this pace")
        self._progress.tell(", ".join(parts))


def span(seconds: float) -> str:
    """A length of time in its two largest units: `45s`, `12m5s`, `3h20m`."""
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE}s"
    return f"{whole // HOUR}h{whole % HOUR // MINUTE}m"
