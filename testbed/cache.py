"""The user's cache directory for built programs, and how to fill it safely.

A directory of the cache appears complete or not at all: it is filled in a temporary place and
renamed. A file lock keeps two builders apart; the second waits and then finds the result.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_root() -> Path:
    """The cache directory of this user, which may not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "headroom" / "testbed"


@contextmanager
def lock(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file; call `waiting` once if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def fill(place: Path, work: Callable[[Path], None], waiting: Callable[[], None]) -> Path:
    """Create `place` by letting `work` fill a new directory, unless it exists; return it.

    The lock ends with its holder, so leftovers found under the lock can be removed.
    """
    if place.is_dir():
        return place
    with lock(place.with_name(f"{place.name}.lock"), waiting):
        if place.is_dir():
            return place
        for leftover in place.parent.glob(f"{place.name}.part-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        part = Path(tempfile.mkdtemp(prefix=f"{place.name}.part-", dir=place.parent))
        try:
            work(part)
            part.chmod(0o755)
            part.rename(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return place
