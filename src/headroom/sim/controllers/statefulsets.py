"""StatefulSets: pods named by ordinal, created and deleted one after the other.

By default a pod is created only when all pods before it are ready, and the last pod is deleted
first, one at a time; `Parallel` does not wait. A changed template is rolled out from the highest
ordinal down to the partition. The volume claims of a pod are created before it, and they are kept.
"""

from __future__ import annotations

from typing import Any

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.values import Json, Ref, dig, ref_of, uid_of
from headroom.sim.controllers.pod_control import (
    REVISION_LABEL,
    PodController,
    is_ending,
    is_finished,
    is_ready,
    pod_from_template,
    revision_of,
)
from headroom.sim.controllers.revisions import template_hash
from headroom.sim.errors import ApiError

NAME_LABEL = "statefulset.kubernetes.io/pod-name"
_CLAIM = "PersistentVolumeClaim"
INDEX_LABEL = "apps.kubernetes.io/pod-index"


class StatefulSets(PodController):
    """Reconciles the pods of every StatefulSet, in order."""

    name = "statefulset-controller"
    kind = "StatefulSet"

    def __init__(self, stage: ActorContext) -> None:
        self._settled: dict[str, str] = {}
        super().__init__(stage)

    async def sync(self, ref: Ref) -> None:
        wish = self.wanted(ref)
        if wish is None:
            return
        self.adopt(wish)
        self._settled.setdefault(uid_of(wish), _revision_of(wish))
        if await self._fill(wish) and await self._shrink(wish):
            await self._roll(wish)
        current = self.wanted(ref)
        if current is not None:
            self._count(current)

    def created(self, wish: Json, pod: Json) -> str:
        return f"Create Pod {ref_of(pod).name} in StatefulSet {ref_of(wish).name} successful"

    def ended(self, wish: Json, pod: Json) -> str:
        return f"Delete Pod {ref_of(pod).name} in StatefulSet {ref_of(wish).name} successful"

    def refused(self, wish: Json, pod: Json, error: ApiError) -> str:
        what = f"Create Pod {ref_of(pod).name} in StatefulSet {ref_of(wish).name}"
        return f"{what} failed error: {error.message}"

    def _numbered(self, wish: Json) -> dict[int, Json]:
        """The pods by ordinal; a pod with another name is ignored."""
        found = {}
        for pod in self.pods_of(wish):
            parent, _, ordinal = ref_of(pod).name.rpartition("-")
            if parent == ref_of(wish).name and ordinal.isdigit():
                found[int(ordinal)] = pod
        return found

    async def _fill(self, wish: Json) -> bool:
        """Create missing pods in order; False if a pod must be waited for first."""
        here = self._numbered(wish)
        in_order = not _is_parallel(wish)
        for ordinal in _ordinals(wish):
            pod = here.get(ordinal)
            if pod is None:
                await self.turn()
                current = self.wanted(ref_of(wish))
                if current is None or not self._made(current, ordinal):
                    return False
                if in_order:
                    return False
            elif is_finished(pod) and not is_ending(pod):
                self._replace(wish, pod)
                return False
            elif in_order and (is_ending(pod) or not is_ready(pod)):
                return False
        return True

    def _made(self, wish: Json, ordinal: int) -> bool:
        """Create a pod, and first its missing volume claims."""
        for claim in _claims(wish, f"{ref_of(wish).name}-{ordinal}"):
            if self.store.get(ref_of(claim)) is None:
                self.server.create(claim)
                pod, mine = f"{ref_of(wish).name}-{ordinal}", ref_of(wish).name
                words = f"create Claim {ref_of(claim).name} Pod {pod} in StatefulSet {mine} success"
                self.recorder.record(wish, "Normal", "SuccessfulCreate", words)
        return self.make(wish, self._pod(wish, ordinal)) is not None

    def _replace(self, wish: Json, pod: Json) -> None:
        """Delete a pod that has ended; its successor gets the same name."""
        failed = dig(pod, "status", "phase") == "Failed"
        kind, what = ("Warning", "Failed") if failed else ("Normal", "Succeeded")
        ref = ref_of(wish)
        words = f"StatefulSet {ref.namespace}/{ref.name} is recreating {what.lower()} Pod"
        self.recorder.record(wish, kind, f"Recreating{what}Pod", f"{words} {ref_of(pod).name}")
        self.end(wish, pod)

    async def _shrink(self, wish: Json) -> bool:
        """Delete surplus pods, the last first; False while one is being deleted."""
        wanted = _ordinals(wish)
        surplus = [o for o in self._numbered(wish) if o not in wanted]
        for ordinal in sorted(surplus, reverse=True):
            pod = self._numbered(wish)[ordinal]
            if not is_ending(pod):
                await self.turn()
                self.end(wish, pod)
            if not _is_parallel(wish):
                return False
        return not surplus

    async def _roll(self, wish: Json) -> None:
        """Delete the highest pod of an old template, once those above it are ready again."""
        strategy = dig(wish, "spec", "updateStrategy") or {}
        partition = int(dig(strategy, "rollingUpdate", "partition") or 0)
        newest = _revision_of(wish)
        if strategy.get("type") == "OnDelete":
            return
        for ordinal, pod in sorted(self._numbered(wish).items(), reverse=True):
            if ordinal < partition:
                return
            if revision_of(pod) != newest and not is_ending(pod):
                await self.turn()
                self.end(wish, pod)
                return
            if is_ending(pod) or not is_ready(pod):
                return
        self._settled[uid_of(wish)] = newest

    def _pod(self, wish: Json, ordinal: int) -> Json:
        template = dig(wish, "spec", "template") or {}
        name = f"{ref_of(wish).name}-{ordinal}"
        labels = {
            REVISION_LABEL: _revision_of(wish),
            NAME_LABEL: name,
            INDEX_LABEL: str(ordinal),
        }
        pod = pod_from_template(wish, template, {"name": name}, labels)
        pod["metadata"]["generateName"] = f"{ref_of(wish).name}-"
        return {**pod, "spec": _with_identity(wish, pod["spec"], name)}

    def _count(self, wish: Json) -> None:
        pods = [pod for pod in self._numbered(wish).values() if not is_finished(pod)]
        newest = _revision_of(wish)
        settled = self._settled[uid_of(wish)]
        ready = sum(1 for pod in pods if is_ready(pod) and not is_ending(pod))
        alive = [pod for pod in pods if not is_ending(pod)]
        may = {
            "readyReplicas": ready,
            "currentReplicas": sum(revision_of(pod) == settled for pod in alive),
            "updatedReplicas": sum(revision_of(pod) == newest for pod in alive),
            "observedGeneration": dig(wish, "metadata", "generation"),
        }
        status = {
            "replicas": len(pods),
            "availableReplicas": ready,
            "collisionCount": 0,
            "currentRevision": f"{ref_of(wish).name}-{settled}",
            "updateRevision": f"{ref_of(wish).name}-{newest}",
            **{name: value for name, value in may.items() if value},
        }
        self.write_status(wish, status)


def _with_identity(wish: Json, spec: Json, name: str) -> dict[str, Any]:
    """A pod's spec with its host name, its service and its volume claims."""
    made: dict[str, Any] = {**spec, "hostname": name}
    if dig(wish, "spec", "serviceName"):
        made["subdomain"] = wish["spec"]["serviceName"]
    claims = []
    for each in dig(wish, "spec", "volumeClaimTemplates") or ():
        volume = str(dig(each, "metadata", "name"))
        claim = {"claimName": f"{volume}-{name}"}
        claims.append({"name": volume, "persistentVolumeClaim": claim})
    if claims:
        named = [claim["name"] for claim in claims]
        others = [each for each in spec.get("volumes") or () if each.get("name") not in named]
        made["volumes"] = [*claims, *others]
    return made


def _claims(wish: Json, pod: str) -> list[Json]:
    """The volume claims of one pod; their labels are those of the StatefulSet's selector."""
    made: list[Json] = []
    for each in dig(wish, "spec", "volumeClaimTemplates") or ():
        selected = dig(wish, "spec", "selector", "matchLabels") or {}
        meta = {
            **(each.get("metadata") or {}),
            "name": f"{dig(each, 'metadata', 'name')}-{pod}",
            "namespace": ref_of(wish).namespace,
            "labels": {**(dig(each, "metadata", "labels") or {}), **selected},
        }
        made.append({**each, "apiVersion": "v1", "kind": _CLAIM, "metadata": meta})
    return made


def _ordinals(wish: Json) -> range:
    asked = dig(wish, "spec", "replicas")
    first = int(dig(wish, "spec", "ordinals", "start") or 0)
    return range(first, first + (1 if asked is None else int(asked)))


def _is_parallel(wish: Json) -> bool:
    return bool(dig(wish, "spec", "podManagementPolicy") == "Parallel")


def _revision_of(wish: Json) -> str:
    return template_hash(dig(wish, "spec", "template") or {})
