"""Run benchmarks: `python -m bench [NAME [OPTIONS…]]`, or `make bench ARGS=NAME`.

Without a name the page is made (`page`; `--quick` for a small one), and `compare` puts it beside an
earlier one (`comparing`). `all` runs every benchmark in turn, each in a process of its own: none
measures what another left. Every benchmark is a module with a docstring that says how to run it
and what it shows.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import comparing, page

FOLDER = Path(__file__).resolve().parent
USAGE_MARK = "python -m bench."
MORE = (
    ("", "One page of all rows with aims. Options: --quick, --only NAME,…, --traces FOLDER"),
    ("compare", "The newest page beside the one before, or beside the FILE that follows."),
    ("all", "Every benchmark below in turn (hours)."),
)


def benchmarks() -> dict[str, str]:
    """Every benchmark module, with the first line of its docstring."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if f"    {USAGE_MARK}{path.stem}" in text:
            found[path.stem] = text.partition("\n")[0]
    return found


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark that is named, make the page, or compare two pages."""
    known = benchmarks()
    first = arguments[0] if arguments else ""
    if first in ("--list", "--help", "-h"):
        sys.stdout.writelines(f"{name:12} {what}\n" for name, what in (*MORE, *known.items()))
        return 0
    if not first or first.startswith("-"):
        return page.main(arguments)
    if first == "compare":
        return comparing.main(arguments[1:])
    if first == "all":
        return max((_run(name, ()) for name in known), default=0)
    if first not in known:
        names = (name for name, _ in (*MORE, *known.items()) if name)
        sys.stderr.write(f"no benchmark {first!r}; there are: {', '.join(names)}\n")
        return 2
    return _run(first, arguments[1:])


def _run(name: str, options: Sequence[str]) -> int:
    sys.stderr.write(f"bench {name}\n")
    command = [sys.executable, "-m", f"bench.{name}", *options]
    return subprocess.run(command, cwd=FOLDER.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
