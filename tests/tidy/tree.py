"""The repository as the tidy tests see it: tracked files, parsed modules, pages of the docs."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "headroom"


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every file that is or would be in the repository (without git: of the known folders)."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
        return tuple(path for name in sorted(names) if (path := ROOT / name).is_file())
    folders = ("src", "tests", "testbed", "bench", "docs", "requirements")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return tuple(sorted(path for path in found if "__pycache__" not in path.parts))


def python_files(*folders: str) -> list[Path]:
    """The Python files under the given folders of the repository."""
    roots = [ROOT / folder for folder in folders]
    return [
        path
        for path in tracked_files()
        if path.suffix == ".py" and any(path.is_relative_to(root) for root in roots)
    ]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a module."""
    for found in ast.walk(parsed(path)):
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
            yield found


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def page(name: str) -> str:
    """The text of a page under docs/."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")
