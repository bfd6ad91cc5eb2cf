"""`python -m tools.tried 1.37 -m every_version`: run tests on a version, write down what passed.

What passed is kept in `docs/reference/tried.toml`, one entry for each version and selection of
tests, and shown by `docs/reference/versions.md`. A run with a failure is not written down.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from testbed.recipes import KUBERNETES

ROOT = Path(__file__).parent.parent
FILE = ROOT / "docs/reference/tried.toml"
_HEAD = "# Written by `python -m tools.tried`: tests that passed on each version of Kubernetes.\n"


@dataclass(frozen=True, order=True)
class Tried:
    """One run of some tests on one version that had no failure."""

    kubernetes: str
    tests: str
    passed: int
    skipped: int
    day: str


def read(text: str) -> list[Tried]:
    """Read what is written down, sorted."""
    return sorted(Tried(**entry) for entry in tomllib.loads(text).get("run", ()))


def written(entries: Sequence[Tried]) -> str:
    """Return the text of the file."""
    parts = [_HEAD]
    for entry in sorted(entries):
        lines = [f"{name} = {_value(value)}\n" for name, value in asdict(entry).items()]
        parts.append("".join(["\n[[run]]\n", *lines]))
    return "".join(parts)


def _value(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


def counted(report: str) -> tuple[int, int, int]:
    """Return how many tests of a JUnit report passed, were skipped, and failed."""
    passed = skipped = failed = 0
    for case in ElementTree.fromstring(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            failed += 1
        elif "skipped" in outcomes:
            skipped += 1
        else:
            passed += 1
    return passed, skipped, failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests; write them down if all passed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in KUBERNETES:
        known = ", ".join(KUBERNETES)
        print(f"python -m tools.tried VERSION PYTEST-ARGUMENTS…, one of {known}", file=sys.stderr)
        return 2
    minor, *asked = given
    with tempfile.TemporaryDirectory() as work:
        report = Path(work) / "report.xml"
        command = [sys.executable, "-m", "pytest", *asked, f"--junit-xml={report}"]
        code = subprocess.call(command, cwd=ROOT, env={**os.environ, "KUBERNETES": minor})
        if code != 0:
            return code
        passed, skipped, _ = counted(report.read_text(encoding="utf-8"))
    day = datetime.now(UTC).date().isoformat()
    tried = Tried(KUBERNETES[minor].version, shlex.join(asked), passed, skipped, day)
    kept = [each for each in entries() if (each.kubernetes, each.tests) != _key(tried)]
    FILE.write_text(written([*kept, tried]), encoding="utf-8")
    print(
        f"{passed} passed and {skipped} were skipped on {tried.kubernetes}: written to {FILE.name}"
    )
    return 0


def _key(tried: Tried) -> tuple[str, str]:
    return tried.kubernetes, tried.tests


def entries() -> list[Tried]:
    """What is written down, if anything is."""
    return read(FILE.read_text(encoding="utf-8")) if FILE.exists() else []


if __name__ == "__main__":
    sys.exit(main())
