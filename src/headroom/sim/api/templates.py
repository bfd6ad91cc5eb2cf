"""Pods of one template are admitted once: of the others only the metadata is checked and decoded.

Pods of a trace or of a controller share the spec of their template as an object. What admission
makes of a spec depends on the spec, the namespace, PriorityClasses and LimitRanges, and on nothing
else, as long as no gate is added. So the result is kept until one of these changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headroom.core.objects import Pod
from headroom.sim.api.store import ObjectChange, Store
from headroom.sim.api.values import Json
from headroom.wire.objects.podsagain import fields_like

MOST_SPECS = 256
"""How many specs are kept; most specs of a run are those of few templates."""

_OWN = ("schedulingGates", "volumes", "nodeName")
"""Parts of a spec that make the rest depend on the pod: its name, or the time of its creation."""


@dataclass(frozen=True, slots=True)
class AdmittedSpec:
    """A spec as it was given, with its priority, and as it was admitted, with its first status.

    `labels` are those of the first pod with this spec: pods of a trace share them as an object.
    """

    given: Json
    labels: Json | None
    prioritized: Json
    spec: Json
    status: Json
    pod: Pod

    def fields(self, metadata: Json) -> dict[str, Any] | None:
        """What differs from `pod` in a pod with this spec; None: the whole must be decoded."""
        same_labels = self.labels is not None and metadata.get("labels") is self.labels
        return fields_like(self.pod, metadata, same_labels)


class AdmittedSpecs:
    """The specs that were admitted lately, by their identity."""

    def __init__(self, store: Store) -> None:
        self._known: dict[tuple[int, str], AdmittedSpec] = {}
        for kind in ("PriorityClass", "LimitRange"):
            store.listen(kind, self._rules_changed)

    def find(self, given: Json) -> AdmittedSpec | None:
        """What became of the very spec of this pod before."""
        return self._known.get(_key(given))

    def note(self, of: Json, prioritized: Json, admitted: Json, pod: Pod) -> None:
        """Keep what admission made of the spec of a pod, if it is the same for every pod."""
        given, spec, status = of.get("spec"), admitted["spec"], admitted["status"]
        if not isinstance(given, dict) or any(spec.get(field) for field in _OWN):
            return
        if len(self._known) >= MOST_SPECS:
            self._known.clear()
        labels = of["metadata"].get("labels")
        self._known[_key(of)] = AdmittedSpec(given, labels, prioritized, spec, status, pod)

    def _rules_changed(self, _: ObjectChange) -> None:
        self._known.clear()


def _key(pod: Json) -> tuple[int, str]:
    return id(pod.get("spec")), str(pod["metadata"]["namespace"])
