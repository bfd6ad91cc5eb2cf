"""The examples as their page tells them: a folder each, and the command line that tries it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.tidy.tree import ROOT

FOLDER = ROOT / "examples"


def names() -> list[str]:
    """Every example there is."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def commands() -> dict[str, list[str]]:
    """What the page has people type, by example: the words after `headroom`."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^headroom (simulate examples/(\S+)/\S+.*)$", text, re.M)
    return {name: shlex.split(line) for line, name in lines}


def files_of(name: str) -> list[Path]:
    """The files of an example, as a shell would list them."""
    return sorted((FOLDER / name).glob("*.yaml"))


def flags_of(name: str) -> list[str]:
    """The flags that switch on what an example needs; `simulate` and `run` have the same."""
    return commands()[name][2:]
