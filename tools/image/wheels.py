"""The Python packages of an image: pinned wheels, checked by their hashes, and our own wheel.

Wheels are unpacked, not installed: nothing of them runs, so an image for another machine can be
made too. Which of the pinned requirements apply is decided for the image's Python, not for ours.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.markers import Marker

from testbed.cache import cache_root, fill
from tools.image.packages import ImageUnavailable

ROOT = Path(__file__).parent.parent.parent
REQUIREMENTS = ROOT / "requirements/runtime.txt"
PYTHON = "3.11"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_GLIBC = range(36, 16, -1)  # of Debian 12, and all that are older
_REQUIREMENT = re.compile(r"^(?P<pin>[A-Za-z0-9][^;\s]*)(?: ; (?P<marker>.*?))?(?P<rest> \\)?$")
EPOCH = "315532800"  # 1980: the first moment that a zip file can name


def applying(text: str, machine: str) -> str:
    """Return the requirements that apply to the image, without their conditions."""
    target = {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{PYTHON}.2",
        "python_version": PYTHON,
        "sys_platform": "linux",
    }
    kept: list[str] = []
    wanted = False
    for line in text.splitlines():
        match = _REQUIREMENT.match(line)
        if match:
            wanted = match["marker"] is None or Marker(match["marker"]).evaluate(target)
            line = match["pin"] + (match["rest"] or "")
        if wanted:
            kept.append(line)
    return "\n".join([*kept, ""])


def dependencies(arch: str) -> list[Path]:
    """Return the wheels of everything that the operator needs, from the cache or by pip."""
    machine = MACHINES[arch]
    wanted = applying(REQUIREMENTS.read_text(encoding="utf-8"), machine)
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:12]

    def fetch(part: Path) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(wanted)
            file.flush()
            platforms = [f"manylinux_2_{minor}_{machine}" for minor in _GLIBC]
            platforms += [f"manylinux2014_{machine}"]
            chosen = [f"--platform={platform}" for platform in platforms]
            _pip(
                "download",
                "--require-hashes",
                "--no-deps",
                "--only-binary=:all:",
                f"--python-version={PYTHON}",
                "--implementation=cp",
                *chosen,
                f"--dest={part}",
                f"--requirement={file.name}",
            )

    place = fill(cache_root() / f"image-wheels-{arch}-{digest}", fetch, lambda: None)
    return sorted(place.glob("*.whl"))


def our_own(target: Path) -> Path:
    """Build our wheel, the same from the same sources, and return it."""
    _pip("wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={target}", str(ROOT))
    (wheel,) = target.glob("kube_headroom-*.whl")
    return wheel


def our_sources(target: Path) -> Path:
    """Build the archive of our sources, the same from the same sources, and return it."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(target)],
        cwd=ROOT,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["hatchling said nothing"])[-1]
        raise ImageUnavailable(f"hatchling build: {said}")
    (archive,) = target.glob("kube_headroom-*.tar.gz")
    return archive


def contents(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every file of a wheel, below the directory of packages."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            head, _, rest = name.partition("/")
            if name.endswith("/"):
                continue
            if head.endswith(".data"):  # Its parts belong elsewhere; only libraries are of use.
                part, _, inner = rest.partition("/")
                if part not in ("purelib", "platlib"):
                    continue
                yield inner, archive.read(name)
            else:
                yield name, archive.read(name)


def _pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"],
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise ImageUnavailable(f"pip {arguments[0]}: {said}")
