"""Rewrite the manifests that are committed under `deploy/`, from the code that makes them.

`python -m tools.manifests`; tests fail while a file and the code differ. The Helm chart has a tool
of its own (`tools.chart`).
"""

from __future__ import annotations

import sys
from pathlib import Path

from headroom import __version__
from headroom.wire.crds import crds
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.yamls import dump, dump_all

DEPLOY = Path(__file__).parent.parent / "deploy"
IMAGE = "headroom"
_DEFINITION = "CustomResourceDefinition"
_HEAD = "# Written by `python -m tools.manifests`.\n"


def files() -> dict[str, str]:
    """Every manifest, by its path in `deploy`."""
    made = {f"crds/{each['metadata']['name']}.yaml": dump(each) for each in crds()}
    return {**made, **_kustomize()}


def _kustomize() -> dict[str, str]:
    """A base for every version, and one on top of it for clusters with MutatingAdmissionPolicy."""
    objects = install_objects(Installation(f"{IMAGE}:{__version__}"))
    gate = [each for each in objects if each["kind"].startswith("MutatingAdmissionPolicy")]
    parts = {
        "crds": [each for each in objects if each["kind"] == _DEFINITION],
        "operator": [each for each in objects if each not in gate and each["kind"] != _DEFINITION],
    }
    images = [{"name": IMAGE, "newName": IMAGE, "newTag": __version__}]
    base = {"resources": [f"{name}.yaml" for name in parts], "images": images}
    return {
        "kustomize/base/kustomization.yaml": _kustomization(base),
        **{f"kustomize/base/{name}.yaml": _HEAD + dump_all(each) for name, each in parts.items()},
        "kustomize/gate/kustomization.yaml": _kustomization(
            {"resources": ["../base", "gate.yaml"]}
        ),
        "kustomize/gate/gate.yaml": _HEAD + dump_all(gate),
    }


def _kustomization(body: dict[str, object]) -> str:
    head = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return _HEAD + dump({**head, **body})


def main() -> int:
    """Write every file."""
    for path, text in files().items():
        (DEPLOY / path).parent.mkdir(parents=True, exist_ok=True)
        (DEPLOY / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
