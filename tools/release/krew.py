"""`kubectl headroom` by krew: a small archive with a launcher, and the manifest that names it.

The command line is a Python program with compiled parts, so the archive does not carry it: the
launcher runs the one that is installed, or has uv or pipx fetch the same version.
"""

from __future__ import annotations

import hashlib

from headroom import __version__
from headroom.wire.yamls import dump
from tools.release.archives import tar_gz
from tools.release.provenance import ROOT

NAME = f"kubectl-headroom-{__version__}.tar.gz"
_LAUNCHER = """#!/bin/sh
# kubectl headroom: the headroom of PATH, or the same version by uv or pipx.
wanted="kube-headroom==VERSION"
if command -v headroom >/dev/null 2>&1; then exec headroom "$@"; fi
if command -v uvx >/dev/null 2>&1; then exec uvx --from "$wanted" headroom "$@"; fi
if command -v pipx >/dev/null 2>&1; then exec pipx run --spec "$wanted" headroom "$@"; fi
echo "kubectl headroom needs headroom on PATH (pip install $wanted), or uv, or pipx" >&2
exit 2
"""


def archive() -> bytes:
    """Return the archive: the launcher and the licence."""
    launcher = _LAUNCHER.replace("VERSION", __version__).encode()
    files = {"kubectl-headroom": launcher, "LICENSE": (ROOT / "LICENSE").read_bytes()}
    return tar_gz(files, frozenset({"kubectl-headroom"}))


def manifest(content: bytes) -> str:
    """Return krew's manifest of this archive; where it is published is for the publisher to say."""
    return dump(
        {
            "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
            "kind": "Plugin",
            "metadata": {"name": "headroom"},
            "spec": {
                "version": f"v{__version__}",
                "homepage": "https://headroom.dev",
                "shortDescription": "Keep capacity ready and see who holds it",
                "description": (
                    "Shows, explains, reserves and releases what Headroom holds. "
                    "Needs Python 3.11 or newer."
                ),
                "caveats": "Runs headroom from PATH, or fetches it with uv or pipx.",
                "platforms": [
                    {
                        "selector": {
                            "matchExpressions": [
                                {"key": "os", "operator": "In", "values": ["linux", "darwin"]}
                            ]
                        },
                        "uri": f"https://headroom.dev/releases/v{__version__}/{NAME}",
                        "sha256": hashlib.sha256(content).hexdigest(),
                        "bin": "kubectl-headroom",
                        "files": [
                            {"from": "kubectl-headroom", "to": "."},
                            {"from": "LICENSE", "to": "."},
                        ],
                    }
                ],
            },
        }
    )
