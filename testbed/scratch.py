"""Temporary directories that are removed even after a crash.

A killed run cannot clean up, and a store's directory is large. So each directory has a lock that is
held as long as its process runs, and the next process removes the directories of ended ones.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from pathlib import Path

_PREFIX = "headroom-testbed-run-"
_LOCK = "alive"


class Scratch:
    """A directory that is removed by `close`, or by another process after our end."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # The lock file gets its name only once it is locked, so that it is never found unlocked.
        unnamed = self.path / f"{_LOCK}.part"
        self._lock = unnamed.open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unnamed.rename(self.path / _LOCK)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def sweep() -> None:
    """Remove the directories whose processes have ended."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            with lock.open("r") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:  # Its process runs, or it is another user's, or already removed.
            continue
