"""Claims of generic ephemeral volumes: created for a pod and deleted with it."""

from __future__ import annotations

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import Json, Ref, dig
from headroom.sim.controllers.base import Controller
from headroom.sim.controllers.pod_control import reference_to

_CLAIM = "PersistentVolumeClaim"


class EphemeralVolumes(Controller):
    """Creates the claims that pods define inline."""

    name = "ephemeral-volume-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self.store.listen("Pod", self.on_change, plain=False)

    def on_change(self, change: ObjectChange) -> None:
        volumes = (change.obj.get("spec") or {}).get("volumes")
        if volumes and any("ephemeral" in volume for volume in volumes):
            self.enqueue(change.ref)

    async def sync(self, ref: Ref) -> None:
        pod = self.store.get(ref)
        if pod is None or dig(pod, "metadata", "deletionTimestamp"):
            return
        for volume in dig(pod, "spec", "volumes") or ():
            template = dig(volume, "ephemeral", "volumeClaimTemplate")
            name = f"{ref.name}-{volume.get('name')}"
            if template and self.store.get(Ref(_CLAIM, ref.namespace, name)) is None:
                self.server.create(_claim(pod, ref.namespace, name, template))


def _claim(pod: Json, namespace: str, name: str, template: Json) -> Json:
    metadata = {
        **(template.get("metadata") or {}),
        "name": name,
        "namespace": namespace,
        "ownerReferences": [reference_to(pod)],
    }
    spec = dict(template.get("spec") or {})
    return {"apiVersion": "v1", "kind": _CLAIM, "metadata": metadata, "spec": spec}
