"""The benchmarks under one roof: `python -m bench [NAME [OPTIONS…]]`, or `make bench ARGS=NAME`.

Without a name all run in turn, each in a process of its own: none measures what another left.
Every benchmark is a module with a docstring that says how to run it and what it shows.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
USAGE_MARK = "python -m bench."


def benchmarks() -> dict[str, str]:
    """Every module here that says how to run it, with the first line of what it says."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if f"    {USAGE_MARK}{path.stem}" in text:
            found[path.stem] = text.partition("\n")[0]
    return found


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark that is named, or all of them."""
    known = benchmarks()
    if arguments and arguments[0] in ("--list", "--help", "-h"):
        sys.stdout.writelines(f"{name:12} {what}\n" for name, what in known.items())
        return 0
    if arguments and arguments[0] not in known:
        sys.stderr.write(f"no benchmark {arguments[0]!r}; there are: {', '.join(known)}\n")
        return 2
    if arguments:
        return _run(arguments[0], arguments[1:])
    results = {name: _run(name, ()) for name in known}
    return max(results.values(), default=0)


def _run(name: str, options: Sequence[str]) -> int:
    sys.stderr.write(f"bench {name}\n")
    command = [sys.executable, "-m", f"bench.{name}", *options]
    return subprocess.run(command, cwd=FOLDER.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
