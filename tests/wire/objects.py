"""Objects as an API server sends them, with just enough in each; tests add what they need."""

from __future__ import annotations

from typing import Any, NamedTuple

from headroom.core.holds import Hold
from headroom.ports import Thing
from headroom.wire.decode import DecodeThing, RawPage, cut_list, decode_item, decode_thing
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import Resource
from headroom.wire.objects.holds import hold_from

Json = dict[str, Any]


class ReadPage(NamedTuple):
    """A page of a list, its objects, and what could not be read."""

    page: RawPage
    items: tuple[Thing, ...]
    problems: tuple[DecodeError, ...]


def read_page(resource: Resource, data: bytes, decode: DecodeThing = decode_thing) -> ReadPage:
    page = cut_list(resource, data)
    read = [decode_item(resource, raw, decode) for raw in page.items]
    items = tuple(each for each in read if not isinstance(each, DecodeError))
    problems = tuple(each for each in read if isinstance(each, DecodeError))
    return ReadPage(page, items, problems)


def pod_json(name: str = "web-0", spec: Json | None = None, **metadata: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", **metadata},
        "spec": {"containers": [container(cpu="500m")], **(spec or {})},
        "status": {"phase": "Pending"},
    }


def container(name: str = "main", **requests: str) -> Json:
    return {"name": name, "image": "app:1", "resources": {"requests": requests}}


def hold_json(spec: Json | None = None, **metadata: Any) -> Json:
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": {"name": "nightly", "namespace": "ml", "uid": "uid-nightly", **metadata},
        "spec": {
            "template": {"spec": {"containers": [container(cpu="6", memory="20Gi")]}},
            "owners": [{"object": {"name": "train-0"}}],
            **(spec or {}),
        },
    }


def hold(spec: Json | None = None, **metadata: Any) -> Hold:
    return hold_from(hold_json(spec, **metadata))


def template(spec: Json | None = None, **metadata: Any) -> Json:
    """A spec whose pod template has these fields beside its container."""
    made: Json = {"spec": {"containers": [container(cpu="2", memory="1Gi")], **(spec or {})}}
    return {"template": {**made, **({"metadata": metadata} if metadata else {})}}
