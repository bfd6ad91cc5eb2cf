"""Reservations as an API server sends them, with just enough in each; tests add what they need."""

from __future__ import annotations

import json
from typing import Any

from headroom.core.holds import Hold
from headroom.dialects.koordinator import KOORDINATOR
from headroom.dialects.koordinator.names import RESERVATIONS
from headroom.wire.kind_codecs import KindCodecs

Json = dict[str, Any]
PREFIX = "scheduling.koordinator.sh"
CREATED = "2027-01-04T12:00:00Z"

CODECS = KindCodecs([KOORDINATOR])


def container(**requests: Any) -> Json:
    return {"name": "main", "image": "app:1", "resources": {"requests": requests}}


def template(spec: Json | None = None, **metadata: Any) -> Json:
    """A pod template of 4 CPU and 8Gi for koord-scheduler, with these fields beside."""
    made: Json = {
        "spec": {
            "schedulerName": "koord-scheduler",
            "containers": [container(cpu="4", memory="8Gi")],
            **(spec or {}),
        }
    }
    return {**made, **({"metadata": metadata} if metadata else {})}


def reservation_json(spec: Json | None = None, status: Json | None = None, **metadata: Any) -> Json:
    thing: Json = {
        "apiVersion": RESERVATIONS.api_version,
        "kind": "Reservation",
        "metadata": {"name": "r", "uid": "uid-r", "creationTimestamp": CREATED, **metadata},
        "spec": {
            "template": template(),
            "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
            "ttl": "24h",
            "allocateOnce": True,
            **(spec or {}),
        },
    }
    return {**thing, "status": status} if status is not None else thing


def decoded(thing: Json) -> Hold:
    hold = KOORDINATOR.decoders[RESERVATIONS](json.dumps(thing).encode())
    assert isinstance(hold, Hold)
    return hold


def reservation(spec: Json | None = None, status: Json | None = None, **metadata: Any) -> Hold:
    return decoded(reservation_json(spec, status, **metadata))


def annotated(**texts: Any) -> Json:
    """Annotations under Koordinator's prefix: `reservation_restricted_options={...}`."""
    return {
        f"{PREFIX}/{name.replace('_', '-')}": text if isinstance(text, str) else json.dumps(text)
        for name, text in texts.items()
    }
