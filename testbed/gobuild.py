"""Build a recipe with Go from the module proxy, and show the progress.

A cold build takes many minutes, so it shows the number of packages done and the time: one line that
is overwritten on a terminal, one line every quarter of a minute in a log.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from testbed.recipes import Recipe
from testbed.tether import tethered

_LOG_INTERVAL_S = 15.0
_TERMINAL_INTERVAL_S = 0.5
_LAST_WORDS = 12


class BuildFailed(Exception):
    """Go is installed but the build failed; the text is the last line of its output."""


def say(line: str) -> None:
    """Print a message to stderr; stdout is for data."""
    print(f"testbed: {line}", file=sys.stderr, flush=True)


def build(go: Path, recipe: Recipe, target: Path) -> None:
    """Build every program of the recipe into `target`, showing progress."""
    say(f"building {recipe.name} {recipe.version}: {', '.join(sorted(recipe.programs))}")
    say("this happens once and may take ten minutes on two cores; the result is cached")
    packages = [program.package for program in recipe.programs.values()]
    ldflags = " ".join(("-s", "-w", *recipe.ldflags))
    # A single program gets the recipe's name for it; several are named by Go after their packages.
    output = str(target / next(iter(recipe.programs))) if len(packages) == 1 else f"{target}/"
    flags = ["-v", "-trimpath", "-ldflags", ldflags, "-o", output]
    with _Progress(recipe.name) as progress:
        needed = _go(go, recipe, ["list", "-deps", *packages], progress.downloaded)
        progress.total = len(needed.splitlines())
        _go(go, recipe, ["build", *flags, *packages], progress.compiled)
    missing = sorted(name for name in recipe.programs if not (target / name).is_file())
    if missing:
        raise BuildFailed(f"go build made no {', '.join(missing)}")


def module_directory(go: Path, recipe: Recipe, module: str) -> Path:
    """The directory of the sources of a module of the recipe; they are fetched if needed."""
    _go(go, recipe, ["mod", "download", module], lambda line: None)
    told = _go(go, recipe, ["list", "-m", "-f", "{{.Dir}}", module], lambda line: None)
    return Path(told.strip())


def _go(go: Path, recipe: Recipe, arguments: list[str], heard: Callable[[str], None]) -> str:
    """Run a go command in the recipe's module; return its stdout, and pass on its messages."""
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    last_words: deque[str] = deque(maxlen=_LAST_WORDS)
    with (
        tempfile.TemporaryFile("w+") as stdout,
        subprocess.Popen(
            tethered([str(go), *arguments]),
            cwd=recipe.module,
            env=environment,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        if process.stderr is None:
            raise BuildFailed("go has no stderr to read")
        for line in process.stderr:
            last_words.append(line)
            heard(line.strip())
        if process.wait() != 0:
            say("".join([f"go {arguments[0]} failed:\n", *last_words]))
            raise BuildFailed(last_words[-1].strip() if last_words else "go said nothing")
        stdout.seek(0)
        return stdout.read()


class _Progress:
    """Prints at intervals what has been done and how long it took so far."""

    def __init__(self, name: str) -> None:
        self.total = 0
        self._name = name
        self._downloads = 0
        self._packages = 0
        self._started = time.monotonic()
        self._done = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> _Progress:
        self._ticker.start()
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._done.set()
        self._ticker.join()
        if sys.stderr.isatty():
            print(file=sys.stderr)
        say(f"{self._name}: {self._sentence()}, {'failed' if failure else 'done'}")

    def downloaded(self, line: str) -> None:
        self._downloads += line.startswith("go: downloading")

    def compiled(self, line: str) -> None:
        self._packages += not line.startswith(("go: ", "#"))

    def _sentence(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        spent = f"{minutes}m{seconds:02d}s"
        if not self.total:
            return f"{self._downloads} modules downloaded, {spent}"
        return f"{self._packages} of {self.total} packages compiled, {spent}"

    def _tick(self) -> None:
        terminal = sys.stderr.isatty()
        while not self._done.wait(_TERMINAL_INTERVAL_S if terminal else _LOG_INTERVAL_S):
            line = f"{self._name}: {self._sentence()}"
            if terminal:
                print(f"\r\x1b[Ktestbed: {line}", end="", file=sys.stderr, flush=True)
            else:
                say(line)
