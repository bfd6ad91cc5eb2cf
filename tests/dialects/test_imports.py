"""An operator without dialects imports none of their code."""

from __future__ import annotations

import subprocess
import sys

import pytest

from headroom.cli.dialects import NAMES

# The flags of `proactive` are flags of every operator, which deletes what an earlier start made.
ALWAYS = ("proactive",)
OPERATOR = """
import sys
import headroom.cli.run, headroom.cli.serve
from headroom.cli.dialects import chosen
chosen({names})
print(*(name for name in sys.modules if name.startswith("headroom.dialects.")))
"""


def imported(*names: str) -> set[str]:
    """The dialects whose modules an operator with these dialects imports."""
    told = subprocess.run(
        [sys.executable, "-c", OPERATOR.format(names=names)],
        capture_output=True,
        text=True,
        check=True,
    )
    return {module.split(".")[2] for module in told.stdout.split()}


def test_without_dialects_none_is_imported() -> None:
    assert imported() == set(ALWAYS)


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_imports_no_other(name: str) -> None:
    assert imported(name) == {name, *ALWAYS}
