"""The command as a whole: what it offers and how quickly it can say so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from headroom import __version__
from headroom.cli.main import app
from tests.cli.commands import headroom

HEAVY = ("aiohttp", "numpy", "msgspec", "yaml", "rich", "structlog", "prometheus_client", "asyncio")


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "version")
    assert (finished.code, finished.out) == (0, f"{__version__}\n")


def test_help_names_every_verb_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "--help")
    assert finished.code == 0
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        assert f"\n  {name} " in finished.out


def test_help_loads_nothing_heavy() -> None:
    probe = (
        "import sys; from headroom.cli.main import run_command; run_command(['--help']);"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"


def test_numpy_starts_no_threads() -> None:
    probe = (
        "import contextlib, os, sys; from headroom.cli.main import main\n"
        "sys.argv[1:] = ['--version']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "import numpy; print(len(os.listdir('/proc/self/task')), file=sys.stderr)"
    )
    given = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    command = [sys.executable, "-c", probe]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    assert run.stderr.strip() == "1"


def test_a_reader_that_leaves_early_is_no_trouble() -> None:
    script = f"{sys.executable} -m headroom crds | head -n 1; echo ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "0"
    assert run.stderr == ""
