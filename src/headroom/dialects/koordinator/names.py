"""Names of Koordinator's own on objects: its group, its scheduler, its labels and annotations."""

from __future__ import annotations

from headroom.wire.kinds import Resource

GROUP = "scheduling.koordinator.sh"
VERSION = "v1alpha1"
RESERVATIONS = Resource(GROUP, VERSION, "reservations", "Reservation", namespaced=False)

SCHEDULER_NAME = "koord-scheduler"
DEFAULT_NAMESPACE = "default"

ALLOCATED = f"{GROUP}/reservation-allocated"  # on an owner: which Reservation it got

# A pod with one of these would be taken for a reservation of Koordinator's own.
NEVER_ON_GUARDIANS = (f"{GROUP}/reserve-pod", f"{GROUP}/operating-mode")
