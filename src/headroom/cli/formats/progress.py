"""Show the progress of a long command: one line on stderr that is overwritten, on a terminal only.

It appears after two seconds, so that quick commands show none, and is removed at the end. In a pipe
or a log there is none. A thread prints it, so that it also appears while a command computes or
waits for a server.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, RLock, Thread
from typing import TextIO

from headroom.terminal_text import one_line, plain_stream

FIRST = 2.0
EVERY = 0.25
CLEAR = "\r\x1b[K"
MINUTE, HOUR = 60, 3600


class Progress:
    """One line; `clock` counts real seconds."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # Our own line is not escaped, because it has to control the terminal.
        self._stream = plain_stream(sys.stderr) if stream is None else stream
        self._clock = clock
        self._began = clock()
        self._next = self._began + FIRST
        self._shown = False
        self._words = ""
        self._lock = RLock()
        self.on = self._stream.isatty()

    @property
    def waited(self) -> float:
        return self._clock() - self._began

    def due(self) -> bool:
        """Whether a new line should be shown."""
        return self.on and self._clock() >= self._next

    def tell(self, words: str) -> None:
        """Show this text, unless another one was shown a moment ago."""
        with self._lock:
            self._words = words
            if self.due():
                self._show(words)

    def tell_again(self) -> None:
        """Show the last text again with the elapsed time."""
        with self._lock:
            if self._words and self.on and self._clock() >= self._next + EVERY:
                self._show(f"{self._words} ({span(self.waited)})")

    def _show(self, words: str) -> None:
        self._next = self._clock() + EVERY
        self._shown = True
        self._stream.write(f"{CLEAR}{one_line(words)}")
        self._stream.flush()

    def done(self) -> None:
        """Remove the line; later text is shown again."""
        with self._lock:
            if self._shown:
                self._shown = False
                self._next = self._clock() + EVERY
                self._stream.write(CLEAR)
                self._stream.flush()


_shown_now: list[Progress] = []  # by running commands; the last is the innermost


def clear_line() -> None:
    """Remove the progress line, because other text is about to be printed."""
    for progress in _shown_now:
        progress.done()


@contextmanager
def waiting(words: str, progress: Progress | None = None) -> Iterator[Progress]:
    """Show progress while the body runs, at first with this text."""
    progress = progress or Progress()
    if not progress.on:
        yield progress
        return
    progress.tell(words)
    _shown_now.append(progress)
    over = Event()
    thread = Thread(target=_tick, args=(progress, over), daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()
        _shown_now.remove(progress)
        progress.done()


def _tick(progress: Progress, over: Event) -> None:
    while not over.wait(EVERY):
        progress.tell_again()


class RunProgress:
    """The progress of a simulation: virtual time, events a second, remaining time."""

    def __init__(self, progress: Progress, before: str = "") -> None:
        self._progress = progress
        self._before = before

    def tell(self, now: float, end: float, events: int) -> None:
        """`now` and `end` are virtual seconds since the start."""
        if not self._progress.due():
            return
        waited = self._progress.waited
        parts = [f"{span(now)} of {span(end)} simulated", f"{int(events / waited)} events a second"]
        if 0 < now < end:
            parts.append(f"{span(waited * (end - now) / now)} left at this rate")
        self._progress.tell(self._before + ", ".join(parts))


def span(seconds: float) -> str:
    """A duration in its two largest units: `45s`, `12m5s`, `3h20m`."""
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE}s"
    return f"{whole // HOUR}h{whole % HOUR // MINUTE}m"
