"""The user's cache directory, where what was built once is kept, and how it gets there safely.

A directory of the cache appears whole or not at all: it is filled beside its place and renamed.
A file lock keeps two fillers apart; the second waits and then finds the work done.
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
    """Return the cache directory of this user, which need not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "headroom" / "testbed"


@contextmanager
def lock(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file, calling `waiting` once if somebody else holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def fill(place: Path, work: Callable[[Path], None], waiting: Callable[[], None]) -> Path:
    """Make `place` by letting `work` fill a fresh directory, unless it is there; return it.

    The lock dies with its holder, so leftovers found under the lock belong to nobody.
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
