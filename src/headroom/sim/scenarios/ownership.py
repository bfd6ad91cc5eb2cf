"""The workload of a pod, and whether room is kept for it: for the summary of a run.

The owner rules of holds and headrooms are checked with the operator's own functions, and found by
its own index keys, so that a pod is compared with few rules.
"""

from __future__ import annotations

from headroom.core.findings.doors import is_for
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.owners import pod_keys, rule_keys
from headroom.sim.api.decoder import readable
from headroom.sim.api.store import ObjectChange, Store, Verb
from headroom.sim.api.values import Json, Ref, controller_of, dig, ref_of, uid_of
from headroom.sim.replay.arrivals import WORKLOAD
from headroom.wire.kinds import HEADROOMS, HOLDS

MOST_LEVELS = 10


def workload_of(store: Store, pod: Json) -> str:
    """The topmost known controller of a pod (its Deployment), or the pod itself.

    Pods of a trace name their workload.
    """
    told = pod["metadata"].get("annotations") or {}
    if told.get(WORKLOAD):
        return str(told[WORKLOAD])
    ref = ref_of(pod)
    reference = controller_of(pod)
    for _ in range(MOST_LEVELS):
        if reference is None:
            break
        ref = Ref(str(reference.get("kind")), ref.namespace, str(reference.get("name")))
        owner = store.get(ref)
        if owner is None or uid_of(owner) != reference.get("uid"):
            break
        reference = controller_of(owner)
    return str(ref)


class OwnerRules:
    """The owner rules of all objects that keep room now."""

    def __init__(self, store: Store, across_namespaces: bool = False) -> None:
        self._across = across_namespaces
        self._wishes: dict[Ref, Hold | Headroom] = {}
        self._by_key: dict[str, dict[Ref, None]] = {}
        for kind in (HOLDS, HEADROOMS, *store.registry.codecs.foreign):
            store.listen(kind.kind, self._on_change)

    def match(self, pod: Pod) -> bool:
        """Whether an object keeps room for this pod."""
        refs = {ref: None for key in pod_keys(pod) for ref in self._by_key.get(key, ())}
        return any(is_for(self._wishes[ref], pod, self._across) for ref in refs)

    def _on_change(self, change: ObjectChange) -> None:
        same = change.old is not None and dig(change.old, "spec") == dig(change.obj, "spec")
        if same and change.verb is not Verb.DELETED:
            return
        self._forget(change.ref)
        if change.verb is Verb.DELETED:
            return
        thing = readable(change)
        if isinstance(thing, Hold | Headroom):
            self._wishes[change.ref] = thing
            for key in rule_keys(thing):
                self._by_key.setdefault(key, {})[change.ref] = None

    def _forget(self, ref: Ref) -> None:
        old = self._wishes.pop(ref, None)
        for key in rule_keys(old) if old is not None else ():
            self._by_key[key].pop(ref, None)
