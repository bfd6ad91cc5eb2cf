"""`python -m tools.audit`: check the dependencies without the network, as `make check` does.

It checks that everything is pinned with hashes and has the same version in every lock file, that
the licences of shipped packages are accepted, and that no pin is one of the versions in
`requirements/advisories.toml`. It does not know advisories that are not in that file, nor what a
package bundles. `make lock` takes the newest versions; a scanner with network access (such as
osv-scanner, on the SBOM of `make release`) knows more.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tools.release.sbom import pinned

REQUIREMENTS = Path(__file__).parent.parent / "requirements"
LOCKS = ("runtime", "dev", "site")
# Names of licences that we can ship with ours (Apache-2.0).
ACCEPTED = re.compile(
    r"\b(MIT|Apache|BSD|ISC|PSF|Python Software Foundation|MPL|Mozilla|Unlicense)\b"
    r"|Public Domain|0BSD|BSD-[23]-Clause"
)


def pins(name: str) -> dict[str, list[str]]:
    """The versions of a lock file by package; some have one for each Python."""
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for package, version, _, _ in pinned(text):
        found.setdefault(canonicalize_name(package), []).append(version)
    return found


def problems(
    locks: Mapping[str, Mapping[str, list[str]]], advisories: list[dict[str, str]]
) -> list[str]:
    """What is wrong with these versions."""
    found = []
    tested = locks.get("dev", {})
    for name, versions in locks.get("runtime", {}).items():
        if tested.get(name, versions) != versions:
            found.append(f"{name}: dev.txt has {tested[name]}, runtime.txt {versions}: make lock")
    for known in advisories:
        affected = SpecifierSet(known["affected"])
        for lock, versions_of in locks.items():
            for version in versions_of.get(canonicalize_name(known["package"]), ()):
                if affected.contains(version, prereleases=True):
                    fixed = f"{known['id']}: {known['about']}"
                    where = f"{known['package']} {version} in {lock}.txt"
                    found.append(f"{where} has {fixed}: make lock")
    return found


def unhashed(name: str) -> Iterator[str]:
    """Requirements without hashes, which could be replaced during download."""
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    for package, version, _, hashes in pinned(text):
        if not hashes:
            yield f"{package} {version} in {name}.txt has no hash: make lock"


def licence_problems(names: Mapping[str, list[str]]) -> Iterator[str]:
    """Installed packages that we ship and whose licence is not accepted."""
    for name in names:
        try:
            found = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue  # For another machine or another Python.
        said = [found[each] for each in ("License-Expression", "License") if each in found]
        said += [each for each in found.get_all("Classifier") or () if each.startswith("License")]
        if not ACCEPTED.search(" ".join(said)):
            yield f"{name}: its licence is not one that we accept: {' '.join(said).strip()[:80]}"


def audit() -> list[str]:
    """All detectable problems of the dependencies."""
    known = tomllib.loads((REQUIREMENTS / "advisories.toml").read_text(encoding="utf-8"))
    locks = {name: pins(name) for name in LOCKS}
    found = [*problems(locks, known["advisory"])]
    for name in LOCKS:
        found += unhashed(name)
    return [*found, *licence_problems(locks["runtime"])]


def main() -> int:
    """Print the problems; exit 1 if there are any."""
    known = tomllib.loads((REQUIREMENTS / "advisories.toml").read_text(encoding="utf-8"))
    found = audit()
    for problem in found:
        print(problem, file=sys.stderr)
    count = sum(len(pins(name)) for name in LOCKS)
    print(
        f"{count} pins looked at offline, {len(known['advisory'])} advisories known as of "
        f"{known['as-of']}: {len(found) or 'no'} problems",
        file=sys.stderr,
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
