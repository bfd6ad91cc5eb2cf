"""Free ports that stay free: each control plane owns a block, protected by a file lock.

Asking the kernel for port 0 and closing it again is a race with other control planes and with
outgoing connections, which use the same range. So blocks are below that range, and a lock that ends
with its holder marks the owner.
"""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import IO

_FIRST = 20_000
_LAST = 32_000  # Linux draws outgoing ports from 32768 on.
_BLOCK = 250


class Ports:
    """Hands out ports from blocks that no other control plane of this user has."""

    def __init__(self) -> None:
        self._held: list[IO[str]] = []
        self._left: list[int] = []

    def take(self) -> int:
        """A port on which no process listens and which no other `Ports` returns."""
        while True:
            if not self._left:
                self._left = self._claim_block()
            port = self._left.pop(0)
            if _is_free(port):
                return port

    def close(self) -> None:
        """Release every block."""
        for lock in self._held:
            lock.close()
        self._held, self._left = [], []

    def _claim_block(self) -> list[int]:
        folder = Path(tempfile.gettempdir(), f"headroom-testbed-ports-{os.getuid()}")
        folder.mkdir(mode=0o700, exist_ok=True)
        for start in range(_FIRST, _LAST, _BLOCK):
            lock = (folder / str(start)).open("w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            self._held.append(lock)
            return list(range(start, start + _BLOCK))
        raise OSError(f"every block of ports from {_FIRST} to {_LAST} is taken; see {folder}")


def _is_free(port: int) -> bool:
    """Whether a process can listen on the port, on every address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
