"""A command on a terminal of its own, whose size can be changed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 120.0


class Screen:
    """What a command has written to its terminal so far."""

    def __init__(self, ours: int, process: subprocess.Popen[bytes]) -> None:
        self._ours = ours
        self._process = process
        self._bytes = b""

    @property
    def seen(self) -> str:
        return self._bytes.decode("utf-8", "replace")

    def until(self, text: str, since: int = 0) -> None:
        """Read on until a text was written."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.seen[since:]:
            assert time.monotonic() < end, f"never seen: {text}\n{self.seen[-3000:]}"
            if select.select([self._ours], [], [], 1.0)[0]:
                self._bytes += os.read(self._ours, 65536)

    def resize(self, columns: int, lines: int = 40) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._process.send_signal(signal.SIGWINCH)


@contextmanager
def terminal(kubeconfig: Path, *arguments: str, columns: int = 80) -> Iterator[Screen]:
    """Run `headroom ARGUMENTS…` on a terminal; Ctrl-C ends it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "TERM": "xterm"}
    for name in ("COLUMNS", "LINES"):  # The size is the terminal's own.
        environment.pop(name, None)
    with subprocess.Popen(
        [sys.executable, "-m", "headroom", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**environment, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
    ) as process:
        os.close(theirs)
        try:
            yield Screen(ours, process)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)
            os.close(ours)
