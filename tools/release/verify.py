"""`python -m tools.release.verify DIRECTORY`: check that a release is complete, and its signer.

It needs no network. It checks that every file is the one that SHA256SUMS and the provenance name,
and that there is no other file. `--key release.pub`: the owner of that key has signed both.
`--same-sources`: the commit and the lock files of the provenance are those of this clone; then
`make release` here must give the same SHA256SUMS.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tools.release import provenance, signing

SUMS, STATEMENT = "SHA256SUMS", "provenance.intoto.json"
_UNSUMMED = {SUMS, signing.SIGNATURE, signing.ENVELOPE}


def problems(files: Mapping[str, bytes], key: Ed25519PublicKey | None = None) -> Iterator[str]:
    """Yield the problems of a release's files."""
    missing = [name for name in (SUMS, STATEMENT) if name not in files]
    if missing:
        yield f"{' and '.join(missing)} missing: this is no release, or not all of it"
        return
    yield from _sum_problems(files)
    yield from _statement_problems(files)
    if key is not None:
        yield from _signature_problems(files, key)


def _sum_problems(files: Mapping[str, bytes]) -> Iterator[str]:
    told: dict[str, str] = {}
    for line in files[SUMS].decode(errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        if not name:
            yield f"{SUMS} has a line that names no file"
            continue
        told[name] = digest
    for name in sorted({*told, *files} - _UNSUMMED):
        if name not in files:
            yield f"{name} is missing"
        elif name not in told:
            yield f"{name} is not named by {SUMS}"
        elif hashlib.sha256(files[name]).hexdigest() != told[name]:
            yield f"{name} is not the file that {SUMS} names"


def _statement_problems(files: Mapping[str, bytes]) -> Iterator[str]:
    try:
        subjects = json.loads(files[STATEMENT])["subject"]
        told = {str(each["name"]): str(each["digest"]["sha256"]) for each in subjects}
    except (ValueError, KeyError, TypeError):
        yield f"{STATEMENT} cannot be read"
        return
    for name in sorted({*told, *files} - _UNSUMMED - {STATEMENT}):
        if name in files and hashlib.sha256(files[name]).hexdigest() != told.get(name):
            yield f"{name} is not the file that {STATEMENT} names"


def _signature_problems(files: Mapping[str, bytes], key: Ed25519PublicKey) -> Iterator[str]:
    signature, envelope = files.get(signing.SIGNATURE), files.get(signing.ENVELOPE)
    if signature is None or envelope is None:
        yield "it is not signed"
        return
    if not signing.is_signature(key, signature, files[SUMS]):
        yield f"{signing.SIGNATURE} is no signature of {SUMS} by this key"
    if signing.opened(envelope, key) != files[STATEMENT]:
        yield f"{signing.ENVELOPE} is no signature of {STATEMENT} by this key"


def source_problems(statement: bytes) -> Iterator[str]:
    """Yield the differences between this clone and the sources of a release."""
    definition = json.loads(statement)["predicate"]["buildDefinition"]
    told: dict[str, Any] = {each["uri"]: each for each in definition["resolvedDependencies"]}
    here = provenance.source()
    made = told.get("git+.", {})
    if made.get("annotations", {}).get("changedSince", True):
        yield "it was made from files that are in no commit"
    if made.get("digest") != here.get("digest"):
        yield f"it was made from commit {made.get('digest', {}).get('gitCommit', 'unknown')}"
    for path in provenance.LOCKS:
        digest = provenance.digest((provenance.ROOT / path).read_bytes())
        if told.get(f"file:{path}", {}).get("digest") != digest:
            yield f"{path} was another file then"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a directory; exit 1 and print one line for each problem."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.verify", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--key", type=Path, help="the maker's public key (PEM, ed25519)")
    parser.add_argument("--same-sources", action="store_true", help="compare with this clone")
    options = parser.parse_args(arguments)
    try:
        files = {file.name: file.read_bytes() for file in options.directory.iterdir()}
        key = signing.public_key(options.key) if options.key else None
    except (OSError, signing.BadKey) as trouble:
        print(trouble, file=sys.stderr)
        return 1
    found = list(problems(files, key))
    if options.same_sources and not found:
        found += source_problems(files[STATEMENT])
    for line in found:
        print(line, file=sys.stderr)
    if found:
        return 1
    who = f"signed by {signing.key_id(key)}" if key else "who made them is not checked: --key"
    print(f"{len(files)} files are as their checksums and provenance say; {who}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
