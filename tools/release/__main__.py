"""`python -m tools.release`: build all files of a release into build/release."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from headroom import __version__
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.yamls import dump_all
from tools.image.__main__ import build as build_image
from tools.image.packages import ImageUnavailable
from tools.image.wheels import our_own, our_sources
from tools.release import archives, krew, provenance, sbom, signing

OUT = provenance.ROOT / "build/release"
ARCHES = ("amd64", "arm64")


def build(arches: Sequence[str] = ARCHES, key: Ed25519PrivateKey | None = None) -> dict[str, bytes]:
    """Return every file of a release by its name; the same sources and key give the same bytes.

    Without architectures there is no image, without a key no signature.
    """
    made: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as work:
        for file in (our_own(Path(work)), our_sources(Path(work))):
            made[file.name] = file.read_bytes()
    if arches:
        made[f"headroom-{__version__}-image.tar"], _ = build_image(arches)
    made[f"headroom-{__version__}-chart.tgz"] = archives.chart()
    objects = install_objects(Installation(f"headroom:{__version__}"))
    made["install.yaml"] = dump_all(objects).encode()
    made[krew.NAME] = krew.archive()
    made["krew.yaml"] = krew.manifest(made[krew.NAME]).encode()
    made["sbom.cdx.json"] = _json(sbom.document(arches))
    about = provenance.statement(made, {"command": "make release", "arches": [*arches]})
    made["provenance.intoto.json"] = _json(about)
    made["SHA256SUMS"] = sums(made)
    if key is not None:
        made |= signing.signed(made["provenance.intoto.json"], made["SHA256SUMS"], key)
    return made


def sums(made: dict[str, bytes]) -> bytes:
    """Return the checksums as sha256sum writes and checks them."""
    lines = (f"{hashlib.sha256(made[name]).hexdigest()}  {name}\n" for name in sorted(made))
    return "".join(lines).encode()


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, and list the files; what is not available is reported in one line."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--arch", action="append", choices=ARCHES, default=[])
    parser.add_argument("--no-image", action="store_true", help="everything but the image")
    parser.add_argument("--key", type=Path, help="sign with this key (PEM, ed25519)")
    options = parser.parse_args(arguments)
    try:
        key = signing.private_key(options.key) if options.key else None
        made = build(() if options.no_image else options.arch or ARCHES, key)
    except (ImageUnavailable, signing.BadKey) as trouble:
        print(trouble, file=sys.stderr)
        return 1
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    for name, content in made.items():
        (OUT / name).write_bytes(content)
    print(made["SHA256SUMS"].decode(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
