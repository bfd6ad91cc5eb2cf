"""Koordinator's names on objects: its group, its scheduler, its labels and annotations."""

from __future__ import annotations

from headroom.wire.kinds import Resource

GROUP = "scheduling.koordinator.sh"
VERSION = "v1alpha1"
RESERVATIONS = Resource(GROUP, VERSION, "reservations", "Reservation", namespaced=False)

SCHEDULER_NAME = "koord-scheduler"
DEFAULT_NAMESPACE = "default"
GUARDIAN_NAMESPACE = (
    "headroom-reservations"  # the namespace of guardians: no tenant's quota counts them
)

ALLOCATED = f"{GROUP}/reservation-allocated"  # on an owner: the Reservation that it got

# Prefixes of Koordinator's annotations.
ANNOTATIONS = (f"{GROUP}/", "node.koordinator.sh/", "pod.koordinator.sh/")

# On pods.
AFFINITY = f"{GROUP}/reservation-affinity"
EXACT = f"{GROUP}/exact-match-reservation"
IGNORED = f"{GROUP}/reservation-ignored"
SPARED = f"{GROUP}/disable-preemptible"
PRE_ALLOCATABLE = "pod.koordinator.sh/is-pre-allocatable"
PRE_ALLOCATABLE_PRIORITY = "pod.koordinator.sh/pre-allocatable-priority"

# Koordinator would treat a pod with one of these as its own reservation.
NEVER_ON_GUARDIANS = (f"{GROUP}/reserve-pod", f"{GROUP}/operating-mode")
