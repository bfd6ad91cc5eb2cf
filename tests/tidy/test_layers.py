"""The layers of the house are those of `.importlinter`, and they hold."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
from pathlib import Path

from tests.tidy.tree import ROOT, SOURCE


def test_the_layers_hold() -> None:
    command = str(Path(sys.executable).parent / "lint-imports")
    run = subprocess.run(
        [command, "--no-cache"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_package_has_its_place_in_the_layers() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter")
    layers = config["importlinter:contract:layers"]["layers"]
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {name for name in packages if f"headroom.{name}" not in layers} == set()
