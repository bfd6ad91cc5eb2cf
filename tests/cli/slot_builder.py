"""Guardians and worlds for tests about headrooms, in one short line each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from headroom.cli.source import World
from headroom.core.derived_names import guardian_name
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold
from headroom.core.names import (
    API_VERSION,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    SLOT_ANNOTATION,
)
from headroom.core.objects import Namespace, Node, OwnerReference, Pod
from tests.builders import NOON, node, pod


def world(
    *things: Node | Namespace | Pod | Hold | Headroom | Workload, now: datetime = NOON
) -> World:
    return World(
        raw=(),
        nodes=tuple(thing for thing in things if isinstance(thing, Node)),
        pods=tuple(thing for thing in things if isinstance(thing, Pod)),
        holds=tuple(thing for thing in things if isinstance(thing, Hold)),
        namespaces=tuple(thing for thing in things if isinstance(thing, Namespace)),
        now=now,
        headrooms=tuple(thing for thing in things if isinstance(thing, Headroom)),
        workloads=tuple(thing for thing in things if isinstance(thing, Workload)),
    )


def keeper(of: Headroom, slot: str, on: str = "", **parts: Any) -> Pod:
    """The guardian of one slot, under the name that the operator gives it."""
    sight = SizeView(ActiveWindow(of.size), nodes=(node(slot.partition("/")[0]),))
    slots = {hold.slot: hold for hold in wish(of, sight, NOON).slots}
    parent = of.parent
    return pod(
        guardian_name(slots[slot]) if slot in slots else f"old-{slot}",
        cpu=1,
        node=on,
        phase="Running" if on else "Pending",
        labels={ROLE_LABEL: ROLE_GUARDIAN},
        annotations={PARENT_ANNOTATION: parent.whole, SLOT_ANNOTATION: slot},
        owners=(
            OwnerReference(API_VERSION, parent.kind, parent.name, parent.uid, controller=True),
        ),
        **parts,
    )
