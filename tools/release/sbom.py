"""The bill of materials of a release (CycloneDX 1.6), from the lock files and nothing else.

What the lock files pin is in it: Python packages with the hashes of their files, and the Debian
packages of the image. What those packages carry inside them (a bundled OpenSSL, say) is not known
here.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from headroom import __version__
from tools.image import packages

Json: TypeAlias = dict[str, Any]

ROOT = Path(__file__).parent.parent.parent
RUNTIME = ROOT / "requirements/runtime.txt"
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)(?: ; (.*?))?(?: \\)?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_SPACE = uuid.UUID("a1d8a1c4-6d4e-5b63-9e0c-6f0c1d6a3b52")


def pinned(text: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield name, version, condition and hashes of every requirement of a lock file."""
    for block in re.split(r"\n(?=[A-Za-z0-9])", text):
        match = _PIN.match(block.splitlines()[0]) if block.strip() else None
        if match:
            yield match[1], match[2], match[3] or "", _HASH.findall(block)


def document(arches: Sequence[str]) -> Json:
    """Return the whole document; the same lock files give the same one."""
    components = [*_python(), *_debian(arches)]
    subject = {
        "type": "application",
        "bom-ref": f"pkg:pypi/kube-headroom@{__version__}",
        "name": "kube-headroom",
        "version": __version__,
        "purl": f"pkg:pypi/kube-headroom@{__version__}",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    named = json.dumps([subject, components], sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_SPACE, named)}",
        "version": 1,
        "metadata": {
            "component": subject,
            "properties": [{"name": "headroom:source", "value": "requirements/runtime.txt"}],
        },
        "components": components,
        "dependencies": [
            {"ref": subject["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}
        ],
    }


def _python() -> Iterator[Json]:
    for name, version, condition, hashes in pinned(RUNTIME.read_text(encoding="utf-8")):
        purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
        # One hash for each file that pip may take: which one depends on the machine.
        files = [{"name": "headroom:sha256", "value": each} for each in hashes]
        when = [{"name": "headroom:condition", "value": condition}] if condition else []
        yield {
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": version,
            "purl": purl,
            "properties": [*when, *files],
        }


def _debian(arches: Sequence[str]) -> Iterator[Json]:
    for arch in arches:
        for package in packages.read_lock(packages.of_image(arch)):
            version = package.version.replace("+", "%2B").replace(":", "%3A")
            purl = f"pkg:deb/debian/{package.name}@{version}?arch={arch}&distro=bookworm"
            yield {
                "type": "library",
                "bom-ref": purl,
                "name": package.name,
                "version": package.version,
                "purl": purl,
                "hashes": [{"alg": "SHA-256", "content": package.sha256}],
                "properties": [{"name": "headroom:part", "value": f"image {arch}"}],
            }
