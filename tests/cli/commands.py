"""Running the command line in a test as a person would: arguments in, code and both streams out."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from headroom.cli.main import run_command


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


def headroom(capsys: pytest.CaptureFixture[str], *arguments: str) -> Finished:
    """Run `headroom ARGUMENTS…` in this process."""
    code = run_command(arguments)
    out, err = capsys.readouterr()
    return Finished(code, out, err)
