"""Long-running programs: start, wait until ready, stop, kill, pause, by their own pid.

A `Component` has one command line, its log and its readiness check. It is tethered, so it ends with
this process; it has its own session, so that a Ctrl-C for pytest does not reach it before we stop
it in order.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from testbed.tether import tethered

Popen: TypeAlias = "subprocess.Popen[bytes]"

_POLL_S = 0.05
_TAIL_LINES = 25


class ComponentFailed(Exception):
    """A program did not start, did not become ready or ended; the text ends with its log."""


class _Spawner(threading.Thread):
    """The parent thread of every tethered program; it lives as long as the process."""

    def __init__(self) -> None:
        super().__init__(name="testbed-spawner", daemon=True)
        self._orders: queue.SimpleQueue[tuple[Callable[[], Popen], Future[Popen]]]
        self._orders = queue.SimpleQueue()

    def spawn(self, order: Callable[[], Popen]) -> Popen:
        answer: Future[Popen] = Future()
        self._orders.put((order, answer))
        return answer.result()

    def run(self) -> None:
        while True:
            order, answer = self._orders.get()
            try:
                answer.set_result(order())
            except OSError as trouble:
                answer.set_exception(trouble)


_spawner: _Spawner | None = None
_spawner_lock = threading.Lock()


def _spawn(order: Callable[[], Popen]) -> Popen:
    global _spawner
    with _spawner_lock:
        if _spawner is None or not _spawner.is_alive():
            _spawner = _Spawner()
            _spawner.start()
    return _spawner.spawn(order)


@dataclass
class Component:
    """One program of the control plane."""

    name: str
    command: Sequence[str]
    log: Path
    is_ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    _process: Popen | None = field(default=None, init=False)

    @property
    def pid(self) -> int | None:
        """The pid while the program runs, else None."""
        if self._process is None or self._process.poll() is not None:
            return None
        return self._process.pid

    def start(self) -> None:
        """Start the program; it is not ready yet when this returns."""
        if self.pid is not None:
            raise ComponentFailed(f"{self.name} already runs with pid {self.pid}")
        with self.log.open("ab") as log:
            self._process = _spawn(
                lambda: subprocess.Popen(
                    tethered(list(self.command)),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **self.environment},
                    start_new_session=True,
                )
            )

    def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Return once the program is ready; raise with its log if it exits or takes too long."""
        deadline = time.monotonic() + timeout_s
        while not self.is_ready():
            if self.pid is None:
                raise ComponentFailed(f"{self.name} exited before it was ready\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ComponentFailed(
                    f"{self.name} was not ready after {timeout_s:g} s\n{self.log_tail()}"
                )
            time.sleep(_POLL_S)

    def stop(self, grace_s: float = 5.0) -> None:
        """Ask the program to end, and kill it if it does not; return when it has ended."""
        self.ask_to_stop()
        self.wait_stopped(grace_s)

    def ask_to_stop(self) -> None:
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)

    def wait_stopped(self, grace_s: float) -> None:
        """Wait for the end, then enforce it."""
        if self._process is None:
            return
        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill the program, as a crash would; return when it has ended."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def pause(self) -> None:
        """Freeze the program: it keeps its connections and does not answer."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def log_tail(self, lines: int = _TAIL_LINES) -> str:
        """Return the end of the program's log, headed by the file's name."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join([f"--- end of {self.log}", *text.splitlines()[-lines:]])

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
