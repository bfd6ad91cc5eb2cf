"""Names of Koordinator's own on objects: its group, its scheduler, its labels and annotations."""

from __future__ import annotations

from headroom.wire.kinds import Resource

GROUP = "scheduling.koordinator.sh"
VERSION = "v1alpha1"
RESERVATIONS = Resource(GROUP, VERSION, "reservations", "Reservation", namespaced=False)

SCHEDULER_NAME = "koord-scheduler"
DEFAULT_NAMESPACE = "default"
LODGING = "headroom-reservations"  # the namespace of guardians: no quota of a tenant counts them

ALLOCATED = f"{GROUP}/reservation-allocated"  # on an owner: which Reservation it got

# Prefixes of annotations in which Koordinator says something.
ANNOTATIONS = (f"{GROUP}/", "node.koordinator.sh/", "pod.koordinator.sh/")

# On pods.
AFFINITY = f"{GROUP}/reservation-affinity"
EXACT = f"{GROUP}/exact-match-reservation"
IGNORED = f"{GROUP}/reservation-ignored"
SPARED = f"{GROUP}/disable-preemptible"
PRE_ALLOCATABLE = "pod.koordinator.sh/is-pre-allocatable"
PRE_ALLOCATABLE_PRIORITY = "pod.koordinator.sh/pre-allocatable-priority"

# A pod with one of these would be taken for a reservation of Koordinator's own.
NEVER_ON_GUARDIANS = (f"{GROUP}/reserve-pod", f"{GROUP}/operating-mode")
