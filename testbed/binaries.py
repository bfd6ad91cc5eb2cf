"""Find the programs of a control plane, or build them.

Each program is searched in this order: `KUBEBUILDER_ASSETS` (used without a version check), PATH
(only the pinned version), the user's cache; otherwise it is built into that cache from the Go
module proxy. `recipes` has the pins, `gobuild` builds. `python -m testbed.binaries` prints the
directory that contains all of them as its last line.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from testbed.cache import cache_root, fill
from testbed.gobuild import BuildFailed, build, say
from testbed.golang import GoUnavailable, find_go
from testbed.recipes import (
    KUBERNETES,
    OPTIONAL_RECIPES,
    Program,
    Recipe,
    UnknownVersion,
    default_recipes,
)

Builder: TypeAlias = Callable[[Recipe, Path], None]


class BinariesUnavailable(Exception):
    """The programs were not found and cannot be built; the text says what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"no Kubernetes binaries: {reason} -- set KUBEBUILDER_ASSETS to a "
            "directory that has them, or run `make binaries` where Go modules can be downloaded"
        )


def build_with_go(recipe: Recipe, target: Path) -> None:
    """Build a recipe with the installed Go, or with one from the cache."""
    build(find_go(say), recipe, target)


def provide(recipes: Sequence[Recipe] | None = None, *, builder: Builder = build_with_go) -> Path:
    """Return one directory with every program of the recipes; build what is missing.

    Without recipes: a control plane of the chosen version of Kubernetes.
    """
    found: dict[str, Path] = {}
    try:
        for recipe in default_recipes() if recipes is None else recipes:
            found.update(_provide_recipe(recipe, builder))
        return _one_directory(found)
    except (GoUnavailable, BuildFailed, UnknownVersion, OSError) as trouble:
        raise BinariesUnavailable(" ".join(str(trouble).split())) from trouble


def reported_version(binary: Path, program: Program) -> str:
    """Ask a binary for its version and return the first word like 1.2.3 or v1.2.3, else ""."""
    try:
        answer = subprocess.run(
            [binary, *program.version_args], capture_output=True, text=True, check=False, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"(?<![\w.])v?\d+\.\d+\.\d+[\w.+-]*", answer.stdout)
    return match[0] if match else ""


def _provide_recipe(recipe: Recipe, builder: Builder) -> dict[str, Path]:
    found = {}
    for name, program in recipe.programs.items():
        binary = _from_assets(name, program) or _from_path(name, program)
        if binary:
            found[name] = binary
    if len(found) < len(recipe.programs):
        built = _from_cache(recipe, builder)
        found = {name: built / name for name in recipe.programs} | found
    return found


def _from_assets(name: str, program: Program) -> Path | None:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    binary = Path(assets, name).absolute() if assets else None
    if binary is None or not os.access(binary, os.X_OK):
        return None
    version = reported_version(binary, program)
    if version != program.version:
        say(
            f"KUBEBUILDER_ASSETS: {name} is {version or 'of unknown version'}, "
            f"not {program.version}; taking it because it was asked for"
        )
    return binary


def _from_path(name: str, program: Program) -> Path | None:
    on_path = shutil.which(name)
    if on_path is None or reported_version(Path(on_path), program) != program.version:
        return None
    return Path(on_path).absolute()


def _from_cache(recipe: Recipe, builder: Builder) -> Path:
    machine = f"{platform.system()}-{platform.machine()}".lower()
    place = cache_root() / f"{recipe.name}-{recipe.version}-{machine}-{recipe.digest()}"
    return fill(
        place,
        lambda part: builder(recipe, part),
        lambda: say(f"another process builds {recipe.name}; waiting for it"),
    )


def _one_directory(found: dict[str, Path]) -> Path:
    """Return the directory the programs share, or one of links to them."""
    homes = {binary.parent for binary in found.values()}
    if len(homes) == 1:
        return homes.pop()
    names = "\n".join(f"{name} {binary}" for name, binary in sorted(found.items()))
    place = cache_root() / f"bin-{hashlib.sha256(names.encode()).hexdigest()[:10]}"

    def link(part: Path) -> None:
        for name, binary in found.items():
            (part / name).symlink_to(binary)

    return fill(place, link, lambda: None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the directory with every program, or one line that says how to get them."""
    optional = {recipe.name: recipe for recipe in OPTIONAL_RECIPES}
    parser = argparse.ArgumentParser(prog="python -m testbed.binaries", description=provide.__doc__)
    parser.add_argument("extra", nargs="*", metavar="EXTRA", help=", ".join(optional))
    parser.add_argument(
        "--kubernetes",
        action="append",
        choices=tuple(KUBERNETES),
        default=[],
        metavar="MINOR",
        help=f"of these versions ({', '.join(KUBERNETES)}), instead of the one in $KUBERNETES",
    )
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.extra) - set(optional)):
        parser.error(f"no such set: {', '.join(unknown)}")
    try:
        for minor in options.kubernetes or [""]:
            recipes = default_recipes(minor)
            directory = provide([*recipes, *(optional[name] for name in options.extra)])
            print(directory)
    except (BinariesUnavailable, UnknownVersion) as trouble:
        print(trouble, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
