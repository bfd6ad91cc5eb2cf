"""An operator without dialects imports none of their code."""

from __future__ import annotations

import subprocess
import sys

import pytest

from headroom.cli.dialects import NAMES

# The flags of `proactive` are flags of every operator, which deletes what an earlier start made.
ALWAYS = ("proactive",)
# Importing the operator takes a second, so each dialect is chosen in a fork of a process that has.
OPERATOR = """
import os, sys
import headroom.cli.run, headroom.cli.serve
from headroom.cli.dialects import chosen
for names in {choices}:
    sys.stdout.flush()
    if os.fork() == 0:
        chosen(names)
        print(*names, ":", *(name for name in sys.modules if name.startswith("headroom.dialects.")))
        sys.exit()
    assert os.wait()[1] == 0
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    """The dialects whose modules an operator imports, by the dialect that it is started with."""
    choices = [(), *((name,) for name in NAMES)]
    told = subprocess.run(
        [sys.executable, "-c", OPERATOR.format(choices=choices)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.split(":") for line in told.stdout.splitlines())
    return {name.strip(): {each.split(".")[2] for each in found.split()} for name, found in lines}


def test_without_dialects_none_is_imported(imported: dict[str, set[str]]) -> None:
    assert imported[""] == set(ALWAYS)


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_imports_no_other(imported: dict[str, set[str]], name: str) -> None:
    assert imported[name] == {name, *ALWAYS}
