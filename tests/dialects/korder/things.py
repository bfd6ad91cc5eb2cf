"""Orders and Tickets as their authors write them, for the tests of the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.dialects.korder import KORDER
from headroom.dialects.korder.kinds import API_VERSION, ORDERS, TICKETS
from headroom.dialects.korder.orders import decode_order
from headroom.dialects.korder.tickets import decode_ticket
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.objects.reader import to_text
from headroom.wire.schema.validation import validate

Json = dict[str, Any]

CODECS = KindCodecs([KORDER])


def order(name: str = "web", template: Mapping[str, Any] | None = None, **spec: Any) -> Json:
    """An Order of tickets with one cpu for an hour, unless the template says otherwise."""
    ticket = {"duration": "1h", "resources": {"requests": {"cpu": "1"}}}
    shape = {"spec": ticket} if template is None else template
    return {
        "apiVersion": API_VERSION,
        "kind": ORDERS.kind,
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "generation": 2},
        "spec": {"template": shape, **spec},
    }


def ticket(name: str = "web-0", metadata: Mapping[str, Any] | None = None, **spec: Any) -> Json:
    """A Ticket with nothing said about it, unless the spec does."""
    return {
        "apiVersion": API_VERSION,
        "kind": TICKETS.kind,
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "creationTimestamp": "2027-01-04T12:00:00Z",
            **(metadata or {}),
        },
        "spec": spec,
    }


def of_order(name: str = "web") -> Json:
    """The ownerReference that makes a Ticket one of an Order's."""
    return {
        "apiVersion": API_VERSION,
        "kind": ORDERS.kind,
        "name": name,
        "uid": f"uid-{name}",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def read_order(thing: Mapping[str, Any]) -> Headroom:
    return decode_order(to_text(ORDERS.kind, thing))


def read_ticket(thing: Mapping[str, Any]) -> Hold:
    return decode_ticket(to_text(TICKETS.kind, thing))


def refusals(thing: Mapping[str, Any]) -> list[str]:
    """What the schema says against an object, as it would at admission."""
    return [str(problem) for problem in validate(thing, thing["kind"], CODECS.catalogue())]
