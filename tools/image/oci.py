"""An OCI image layout around some layers: blobs by their digests, a manifest, an index."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
CREATED = "1980-01-01T00:00:00Z"  # Not a moment: the same files are the same image.


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


@dataclass
class Layout:
    """The files of an image layout; one image for each architecture."""

    tag: str
    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: list[dict[str, Any]] = field(default_factory=list)

    def add_image(
        self, arch: str, layers: Sequence[tuple[str, bytes]], config: Mapping[str, Any]
    ) -> str:
        """Add the image of one architecture and return its digest; layers have a name each."""
        parts = [self._blob(_LAYER, tar) for _, tar in layers]
        image = {
            "architecture": arch,
            "os": "linux",
            "created": CREATED,
            "config": dict(config),
            "rootfs": {"type": "layers", "diff_ids": [part["digest"] for part in parts]},
            "history": [{"created": CREATED, "created_by": name} for name, _ in layers],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._blob(_CONFIG, _json(image)),
            "layers": parts,
        }
        described = self._blob(_MANIFEST, _json(manifest))
        named = {"org.opencontainers.image.ref.name": self.tag}
        platform = {"architecture": arch, "os": "linux"}
        self.manifests.append({**described, "platform": platform, "annotations": named})
        return str(described["digest"])

    def archive(self) -> bytes:
        """Return the layout as one tar file, as skopeo, podman and containerd take it."""
        index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": self.manifests}
        files = {
            "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
            "index.json": _json(index),
            **{f"blobs/{digest.replace(':', '/')}": blob for digest, blob in self.blobs.items()},
        }
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in ("blobs", "blobs/sha256"):
                entry = tarfile.TarInfo(path)
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
            for path in sorted(files):
                entry = tarfile.TarInfo(path)
                entry.size, entry.mode = len(files[path]), 0o644
                archive.addfile(entry, io.BytesIO(files[path]))
        return out.getvalue()

    def _blob(self, kind: str, blob: bytes) -> dict[str, Any]:
        digest = _digest(blob)
        self.blobs[digest] = blob
        return {"mediaType": kind, "digest": digest, "size": len(blob)}
