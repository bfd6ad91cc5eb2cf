"""The namespace in which guardians of Reservations live."""

from __future__ import annotations

from typing import Any

from headroom.dialects.koordinator.names import GUARDIAN_NAMESPACE
from headroom.wire.rbac import LABELS


def namespace_object() -> dict[str, Any]:
    """A namespace only for our pods; a guardian may have a host port, which others forbid."""
    labels = {**LABELS, "pod-security.kubernetes.io/enforce": "privileged"}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": GUARDIAN_NAMESPACE, "labels": labels},
    }
