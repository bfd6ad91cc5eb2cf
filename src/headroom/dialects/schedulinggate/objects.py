"""The objects of the dialect: the namespace, three PriorityClasses and one Headroom.

The driver's own chart has the first two as well, with the same names and values; existing objects
are not changed.
"""

from __future__ import annotations

from headroom.core.holds import PREEMPTIBLE
from headroom.dialects.schedulinggate.names import (
    CRITICAL,
    DRIVER,
    GATE,
    HEADROOM,
    LIMITS,
    OBJECT_NAME,
    REQUESTS,
    USUAL,
    Names,
)
from headroom.wire.kinds import HEADROOMS, NAMESPACES, PRIORITY_CLASSES, Json


def classes(names: Names = USUAL) -> tuple[Json, ...]:
    """The PriorityClasses: of helpers that wait, of helpers that preempt, of held room."""
    return (
        _class(names.helper_class, CRITICAL, "Mountpoint pods.", "Never"),
        _class(
            names.preempting_class,
            CRITICAL,
            "Mountpoint pods that take the room held for them.",
            "PreemptLowerPriority",
        ),
        _class(
            names.headroom_class,
            HEADROOM,
            "Room held for Mountpoint pods; makes way for any pod.",
            "Never",
        ),
    )


def objects(names: Names = USUAL) -> tuple[Json, ...]:
    """The namespace of helpers and guardians, and the Headroom of the guardians."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    namespace = NAMESPACES.new({"name": names.namespace, "labels": labels})
    return namespace, headroom_object(names)


def headroom_object(names: Names = USUAL) -> Json:
    """Slots next to each gated pod, one for each of its volumes of the driver."""
    shape = {
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"operator": "Exists"}],
    }
    volumes = {"driver": DRIVER, "requests": REQUESTS, "limits": LIMITS}
    spec = {
        "slot": {"template": shape},
        "size": {"follow": {"gate": GATE, "perVolume": volumes}},
        "mode": PREEMPTIBLE,
    }
    return HEADROOMS.new({"name": OBJECT_NAME, "namespace": names.namespace}, spec=spec)


def _class(name: str, value: int, description: str, policy: str) -> Json:
    return PRIORITY_CLASSES.new(
        {"name": name},
        value=value,
        globalDefault=False,
        preemptionPolicy=policy,
        description=description,
    )
