"""Rewrite the manifests that are committed under `deploy/`, from the code that makes them.

`python -m tools.manifests`; tests fail while a file and the code differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

from headroom.wire.crds import crds
from headroom.wire.yamls import dump

DEPLOY = Path(__file__).parent.parent / "deploy"


def main() -> int:
    """Write one file for each CRD."""
    directory = DEPLOY / "crds"
    directory.mkdir(parents=True, exist_ok=True)
    for made in crds():
        (directory / f"{made['metadata']['name']}.yaml").write_text(dump(made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
