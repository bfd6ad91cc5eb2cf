"""Wanted and held slots of all objects that keep room, at the current time."""

from __future__ import annotations

from collections import Counter
from typing import Any

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.names import PARENT_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import Store
from headroom.sim.api.values import Json, dig, ref_of
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import HEADROOMS, HOLDS


def slots_at_the_end(store: Store) -> dict[str, Any]:
    """`wished` and `held` in total, and for each object by its name.

    A hold that was given to its owner or has expired wants nothing any more. Objects that are slots
    of another object are counted there.
    """
    guardians = _guardians(store)
    found: dict[str, dict[str, int]] = {}
    for kind in (HOLDS, HEADROOMS, *store.registry.codecs.foreign):
        for obj in store.list(kind.kind):
            counts = _counts(store, obj, guardians)
            if counts is not None:
                found[str(ref_of(obj))] = {"wished": counts[0], "held": counts[1]}
    return {
        "wished": sum(each["wished"] for each in found.values()),
        "held": sum(each["held"] for each in found.values()),
        "objects": dict(sorted(found.items())),
    }


def _counts(store: Store, obj: Json, guardians: Counter[str]) -> tuple[int, int] | None:
    try:
        thing = store.registry.decode(obj)
    except DecodeError:
        return 1, 0  # Its spec cannot be read.
    if isinstance(thing, Headroom):
        held = thing.status.held if thing.slot_objects else guardians[thing.parent.whole]
        return thing.status.desired, held
    if not isinstance(thing, Hold) or thing.member is not None:
        return None
    if thing.terminal or thing.deleted is not None:
        return 0, 0
    return 1, int(thing.status.phase == "Available")


def _guardians(store: Store) -> Counter[str]:
    """How many guardians with a node each object has."""
    return Counter(
        str(dig(pod, "metadata", "annotations", PARENT_ANNOTATION) or "")
        for pod in store.list("Pod")
        if dig(pod, "metadata", "labels", ROLE_LABEL) == ROLE_GUARDIAN
        and dig(pod, "spec", "nodeName")
        and dig(pod, "status", "phase") not in FINISHED
        and not dig(pod, "metadata", "deletionTimestamp")
    )
