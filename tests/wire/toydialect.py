"""A dialect for tests: `Seat` objects that are holds, and pods that ask for one by annotation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec import Raw

from headroom.core.actions import Action, WriteHoldStatus
from headroom.core.holds import Hold
from headroom.wire.dialect import Dialect, Rival
from headroom.wire.kinds import Resource
from headroom.wire.objects.holds import decode_hold
from headroom.wire.schema.notation import Catalogue, of
from headroom.wire.schema.own import known
from headroom.wire.schema.structural import structural
from headroom.wire.writes import MERGE_PATCH, Write

SEATS = Resource("theatre.example.com", "v1", "seats", "Seat")
ASKS = "theatre.example.com/seat"
_TYPES = {
    "Seat": {
        "apiVersion": of("string"),
        "kind": of("string"),
        "metadata": of("ObjectMeta"),
        "spec": of("SeatSpec!"),
        "status": of("SeatStatus"),
    },
    "SeatSpec": {
        "template": of("HoldTemplate!"),
        "owners": of("[]OwnerRule!"),
        "row": of("string", default="A"),
    },
    "SeatStatus": {"taken": of("bool")},
}


def _catalogue(others: Catalogue) -> Catalogue:
    return others.extended(_TYPES, {f"{SEATS.api_version}/Seat": "Seat"}, {}, frozenset({"Seat"}))


def _decode(data: bytes | Raw) -> Hold:
    hold = decode_hold(data)
    return replace(hold, ttl=None)


def _render(action: Action) -> Write | None:
    match action:
        case WriteHoldStatus(parent=parent) if parent.kind == SEATS.kind:
            body = {"status": {"taken": bool(action.status.owners)}}
            at = (SEATS, parent.namespace, parent.name)
            return Write("patch", *at, body, "status", MERGE_PATCH)
        case _:
            return None


def _definitions() -> list[dict[str, Any]]:
    schema = structural("Seat", _catalogue(known()))
    schema["properties"]["metadata"] = {"type": "object"}
    version = {
        "name": SEATS.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"kind": SEATS.kind, "plural": SEATS.plural, "singular": "seat"}
    return [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{SEATS.plural}.{SEATS.group}"},
            "spec": {
                "group": SEATS.group,
                "scope": "Namespaced",
                "names": {**names, "listKind": "SeatList"},
                "versions": [version],
            },
        }
    ]


def _rule(resource: str, *verbs: str) -> dict[str, Any]:
    return {"apiGroups": [SEATS.group], "resources": [resource], "verbs": [*verbs]}


TOY = Dialect(
    name="toy",
    decoders={SEATS: _decode},
    render=_render,
    definitions=_definitions,
    rules=(_rule("seats", "get", "list", "watch"), _rule("seats/status", "patch")),
    schedulers=frozenset({"usher"}),
    asks=(ASKS,),
    annotations=("theatre.example.com/",),
    rivals=(Rival("theatre-manager", "the theatre's own manager"),),
    catalogue=_catalogue,
)


def seat(name: str = "front", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": SEATS.api_version,
        "kind": SEATS.kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "template": {"spec": {"containers": [container]}},
            "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
            **spec,
        },
    }
