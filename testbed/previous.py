"""The previous release, from the history of the clone: its sources in the cache.

`previous-release.txt` names the commit. Without the history (an archive, a shallow clone) it cannot
run, and an error says so.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

from testbed.cache import cache_root, fill

ROOT = Path(__file__).parent.parent
PIN = Path(__file__).parent / "previous-release.txt"


class PreviousUnavailable(Exception):
    """The sources of the previous release are not in this clone."""


def previous_commit() -> str:
    """The commit that counts as the previous release."""
    lines = PIN.read_text(encoding="utf-8").splitlines()
    (commit,) = (line.strip() for line in lines if line.strip() and not line.startswith("#"))
    return commit


def previous_sources(commit: str = "") -> Path:
    """A directory for PYTHONPATH with the code of that commit."""
    commit = commit or previous_commit()

    def unpack(part: Path) -> None:
        done = subprocess.run(
            ["git", "archive", "--format=tar", commit, "src"],
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip()
            raise PreviousUnavailable(
                f"commit {commit[:12]} is not in this clone ({said}): git fetch --unshallow"
            )
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(part, filter="data")

    try:
        place = fill(cache_root() / f"previous-{commit[:12]}", unpack, lambda: None)
    except OSError as trouble:
        raise PreviousUnavailable(f"git: {trouble}") from trouble
    return place / "src"


def environment(sources: Path) -> dict[str, str]:
    """The environment in which `python -m headroom` is the code of these sources."""
    return {**os.environ, "PYTHONPATH": str(sources)}
