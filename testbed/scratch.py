"""Temporary directories that do not outlive their maker for long.

A killed run cannot clean up behind itself, and a store's directory is large. So each directory
holds a lock for as long as its maker lives, and who makes the next one removes those of the dead.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from pathlib import Path

_PREFIX = "headroom-testbed-run-"
_LOCK = "alive"


class Scratch:
    """A directory that is removed by `close`, or by somebody else after our death."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # The lock gets its name only once it is held, so that nobody finds it free before.
        unnamed = self.path / f"{_LOCK}.part"
        self._lock = unnamed.open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unnamed.rename(self.path / _LOCK)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def sweep() -> None:
    """Remove the directories whose makers are dead."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            with lock.open("r") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:  # Its maker lives, or it is another user's, or gone already.
            continue
