"""The parts of a pod's spec that have no effect in the simulation, as text for users.

Each part is reported once for the whole run, not for each pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from headroom.sim.api.values import Json

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_SPEC_FIELDS = {
    "activeDeadlineSeconds": "pods do not end at activeDeadlineSeconds",
    "initContainers": "init containers take no time; their requests count",
    "resourceClaims": "device claims do not constrain placement",
    "workloadRef": "gang scheduling is not modelled",
}


def notes(pod: Json) -> Iterator[str]:
    """What the simulation ignores in this pod."""
    spec = pod["spec"]
    for field, words in _SPEC_FIELDS.items():
        if spec.get(field):
            yield f"pods with {field}: {words}"
    for container in spec["containers"]:
        if any(container.get(probe) for probe in _PROBES):
            yield "pods with probes: containers are ready as soon as they run"
        if _acts(container.get("lifecycle") or {}):
            yield "pods with lifecycle hooks: these do nothing, unless they sleep before the end"
        if not container.get("image"):
            yield "a container has no image: a real API server would refuse its pod"


def _acts(lifecycle: Json) -> bool:
    """Whether hooks have an effect: a sleep before the end is modelled."""
    return lifecycle.get("postStart") is not None or any(
        kind != "sleep" for kind in lifecycle.get("preStop") or ()
    )
