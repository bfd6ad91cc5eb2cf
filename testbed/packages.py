"""Programs from Debian packages, for tests: installed ones, or unpacked into the user's cache.

Nothing is installed: missing packages (with their dependencies) are fetched with `apt-get
download`, unpacked, and run with their own libraries.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from testbed.cache import cache_root, fill
from testbed.gobuild import say

SECONDS = 600


class PackageUnavailable(Exception):
    """A program was not found and cannot be fetched; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the environment that it needs."""

    path: Path
    environment: dict[str, str] = field(default_factory=dict)


def program(package: str, names: Sequence[str], override: str = "", alone: bool = False) -> Program:
    """A program by one of its names, installed or from a package; `alone`: it needs no other.

    `override` is an environment variable in which users can name it.
    """
    named = os.environ.get(override, "") if override else ""
    if named:
        return Program(Path(named))
    for name in names:
        if found := shutil.which(name):
            return Program(Path(found))
    try:
        root = fill(
            cache_root() / "packages" / package,
            lambda target: _unpack(package, target, alone),
            lambda: say(f"somebody else fetches the package {package}; waiting"),
        )
    except (OSError, subprocess.SubprocessError) as trouble:
        told = " ".join(str(getattr(trouble, "stderr", "") or trouble).split())[-200:]
        raise PackageUnavailable(
            f"no {names[0]} on this machine, and the package {package} cannot be had: {told}"
        ) from trouble
    for name in names:
        # What Debian calls the browser in usr/bin is a script that looks for it in /usr/lib.
        for folder in ("usr/lib/chromium", "usr/bin"):
            if (path := root / folder / name).is_file():
                return Program(path, _libraries(root))
    raise PackageUnavailable(f"the package {package} has no {names[0]}")


def _libraries(root: Path) -> dict[str, str]:
    folders = sorted({str(path.parent) for path in root.glob("usr/lib/**/*.so*")})
    return {"LD_LIBRARY_PATH": ":".join(folders)} if folders else {}


def _unpack(package: str, target: Path, alone: bool) -> None:
    downloads = target / "downloads"
    downloads.mkdir(parents=True)
    wanted = [package] if alone else _missing(package)
    subprocess.run(
        ["apt-get", "download", *wanted],
        cwd=downloads,
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    for file in sorted(downloads.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(file), str(target)], check=True, capture_output=True)
        file.unlink()
    downloads.rmdir()


def _missing(package: str) -> list[str]:
    """The package and its dependencies that this machine does not have."""
    command = ("apt-get", "--print-uris", "--yes", "--no-install-recommends", "install", package)
    listed = subprocess.run(
        (*command, "-o", "Debug::NoLocking=1"),
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    found = re.findall(r"^'[^']+' ([^_\s]+)_", listed.stdout, re.M)
    return sorted({package, *found})
