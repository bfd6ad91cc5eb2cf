"""The parts of a pod template that determine its guardian, as one text to compare.

A workload's template changes with every release of its image, and its slots stay as they are. Only
a change of these parts requires a new guardian.
"""

from __future__ import annotations

import msgspec

from headroom.core.derived_names import short_hash
from headroom.wire.kinds import Json

_SPEC = (
    "affinity",
    "nodeName",
    "nodeSelector",
    "overhead",
    "resources",
    "runtimeClassName",
    "schedulerName",
    "tolerations",
    "topologySpreadConstraints",
)
_METADATA = ("annotations", "labels")
_CONTAINER = ("ports", "resources", "restartPolicy")
_encoder = msgspec.json.Encoder(order="sorted")


def shape_text(template: bytes) -> str:
    """A short text that is the same for templates of which the same guardian is made."""
    read = msgspec.json.decode(template)
    spec = _part(read, "spec")
    parts = {
        "metadata": _picked(_part(read, "metadata"), _METADATA),
        "spec": _picked(spec, _SPEC),
        "containers": [_picked(each, _CONTAINER) for each in _list(spec, "containers")],
        "initContainers": [_picked(each, _CONTAINER) for each in _list(spec, "initContainers")],
    }
    return short_hash(_encoder.encode(parts).decode())


def _picked(whole: Json, names: tuple[str, ...]) -> Json:
    return {name: whole[name] for name in names if whole.get(name)}


def _part(whole: Json, name: str) -> Json:
    part = whole.get(name)
    return part if isinstance(part, dict) else {}


def _list(whole: Json, name: str) -> list[Json]:
    part = whole.get(name)
    return [each for each in part if isinstance(each, dict)] if isinstance(part, list) else []
