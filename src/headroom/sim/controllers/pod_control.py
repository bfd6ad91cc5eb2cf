"""The base of controllers with pods: ownership, adoption, creation and deletion of pods.

A `PodController` finds the pods of each of its objects by the uid of the owner, whatever the number
of other pods. `ReplicaSets`, `DaemonSets`, `StatefulSets` and `Jobs` say which pods should exist;
the messages of their events are those of the real controllers.
"""

from __future__ import annotations

from typing import Any

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import COMING, ObjectChange, Verb
from headroom.sim.api.values import (
    Json,
    Ref,
    condition_status,
    controller_of,
    dig,
    put,
    ref_of,
    uid_of,
)
from headroom.sim.controllers.base import Controller
from headroom.sim.errors import ApiError
from headroom.sim.selectors import selects

REVISION_LABEL = "controller-revision-hash"
_REFUSED_PAUSE = 5.0


class PodController(Controller):
    """A controller whose objects (of `kind`) own pods."""

    kind = ""

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self._kept: dict[str, dict[Ref, None]] = {}
        self.watch(self.kind)
        self._mine = self.store.all_of(self.kind)
        self.store.listen("Pod", self._on_stray, COMING)
        self.store.listen("Pod", self._on_owned, plain=False)

    def pods_of(self, wish: Json) -> list[Json]:
        """All pods of an object, whatever their state, in order of creation."""
        found = map(self.store.get, self._kept.get(uid_of(wish), ()))
        return [pod for pod in found if pod is not None]

    def wanted(self, ref: Ref) -> Json | None:
        """The object, unless it is deleted or being deleted."""
        wish = self.store.get(ref)
        return None if wish is None or dig(wish, "metadata", "deletionTimestamp") else wish

    def adopt(self, wish: Json) -> None:
        """Adopt matching pods that have no controller."""
        for pod in self.stage.pods.without_controller(ref_of(wish).namespace):
            if is_active(pod) and selects(dig(wish, "spec", "selector"), pod):
                references = [*(dig(pod, "metadata", "ownerReferences") or ()), reference_to(wish)]
                self.server.update(put(pod, references, "metadata", "ownerReferences"))

    def make(self, wish: Json, pod: Json) -> Json | None:
        """Create a pod and record an event; a refusal gets an event too, and is retried later."""
        try:
            made = self.server.create(pod)
        except ApiError as error:
            self.recorder.record(wish, "Warning", "FailedCreate", self.refused(wish, pod, error))
            self.enqueue(ref_of(wish), after=_REFUSED_PAUSE)
            return None
        self.recorder.record(wish, "Normal", "SuccessfulCreate", self.created(wish, made))
        return made

    def end(self, wish: Json, pod: Json) -> None:
        """Delete a pod, if it still exists, and record an event."""
        current = self.store.get(ref_of(pod))
        if current is None or uid_of(current) != uid_of(pod):
            return
        self.server.delete(ref_of(pod), uid=uid_of(pod))
        self.recorder.record(wish, "Normal", "SuccessfulDelete", self.ended(wish, pod))

    def write_status(self, wish: Json, status: Json) -> None:
        if wish.get("status") != status:
            self.server.update(put(wish, status, "status"), "status")

    def created(self, wish: Json, pod: Json) -> str:
        return f"Created pod: {ref_of(pod).name}"

    def ended(self, wish: Json, pod: Json) -> str:
        return f"Deleted pod: {ref_of(pod).name}"

    def refused(self, wish: Json, pod: Json, error: ApiError) -> str:
        return f"Error creating: {error.message}"

    def on_change(self, change: ObjectChange) -> None:
        self.enqueue(change.ref)
        if change.verb is Verb.DELETED:
            self._kept.pop(uid_of(change.obj), None)

    def _on_stray(self, change: ObjectChange) -> None:
        """A new pod without a controller may be adopted."""
        if self._mine and controller_of(change.obj) is None:
            for item in self.store.list(self.kind, change.ref.namespace):
                selector = dig(item, "spec", "selector")
                if selector and selects(selector, change.obj):
                    self.enqueue(ref_of(item))

    def _on_owned(self, change: ObjectChange) -> None:
        owner = controller_of(change.obj)
        if owner is not None and owner["kind"] == self.kind:
            kept = self._kept.setdefault(owner["uid"], {})
            if change.verb is Verb.DELETED:
                kept.pop(change.ref, None)
            else:
                kept[change.ref] = None
            self.pod_changed(owner, change)
            self.enqueue(Ref(self.kind, change.ref.namespace, owner["name"]))

    def pod_changed(self, owner: Json, change: ObjectChange) -> None:
        """Handle a change of one of our pods before its owner is reconciled."""


def pod_from_template(wish: Json, template: Json, name: Json, labels: Json) -> dict[str, Any]:
    """A pod from a template: `name` has its name or generateName, `labels` are added."""
    meta = {k: v for k, v in (template.get("metadata") or {}).items() if k != "name"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **meta,
            **name,
            "labels": {**(meta.get("labels") or {}), **labels},
            "namespace": ref_of(wish).namespace,
            "ownerReferences": [reference_to(wish)],
        },
        "spec": template.get("spec") or {},
    }


def reference_to(owner: Json) -> dict[str, Any]:
    """An ownerReference that makes `owner` the controller."""
    ref = ref_of(owner)
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": ref.name,
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_ready(pod: Json) -> bool:
    return condition_status(pod, "Ready") == "True"


def is_active(pod: Json) -> bool:
    """Whether a pod has not ended and is not being deleted."""
    return not is_finished(pod) and not is_ending(pod)


def is_finished(pod: Json) -> bool:
    return dig(pod, "status", "phase") in FINISHED


def is_ending(pod: Json) -> bool:
    return bool(dig(pod, "metadata", "deletionTimestamp"))


def age_rank(pod: Json) -> tuple[str, str]:
    """The sort key that puts the oldest pod first."""
    return str(dig(pod, "metadata", "creationTimestamp")), ref_of(pod).name


def revision_of(pod: Json) -> str:
    """The revision of the template that a pod was made from."""
    return str(dig(pod, "metadata", "labels", REVISION_LABEL) or "")
