"""Pods that will certainly be created, for headrooms with a learnt size.

The data is updated when workloads and autoscalers change, and contains only workloads that announce
pods: a headroom asks often, and few workloads want pods that they do not have. The rule is pure:
`core.headrooms.announced_pods`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headroom.core.demand.autoscalers import PodAutoscaler
from headroom.core.headrooms.announced_pods import expected, first_pod
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.size_inputs import Learnt
from headroom.core.headrooms.size_limits import Note
from headroom.core.objects import Key
from headroom.core.owners import EVERYWHERE, has_right, reach
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger

DEMAND_UNSEEN = "DemandUnseen"
_DEPLOYMENT, _REPLICA_SET = "Deployment", "ReplicaSet"

Name = tuple[str, str, str]  # namespace, kind and name of a workload


class ExpectedPods:
    """Workloads with pods to come, autoscalers by their target, and kinds that are hidden."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._expected: dict[str, dict[Name, tuple[Workload, int]]] = {}  # by namespace
        self._autoscalers: dict[Name, dict[Key, PodAutoscaler]] = {}
        self._targets: dict[Key, Name] = {}
        self._deployments: dict[str, None] = {}  # by uid: their ReplicaSets are not counted again
        self._hidden: dict[str, str] = {}

    def see(self, workload: Workload) -> tuple[str, ...]:
        """A workload is as given; name the headrooms whose size it may change."""
        if workload.ref.kind == _DEPLOYMENT and workload.uid:
            self._deployments[workload.uid] = None
        return self._count(_name_of(workload), workload)

    def lose(self, workload: Workload) -> tuple[str, ...]:
        """A workload is gone."""
        self._deployments.pop(workload.uid, None)
        return self._count(_name_of(workload), None)

    def see_autoscaler(self, autoscaler: PodAutoscaler) -> tuple[str, ...]:
        """An autoscaler is as given."""
        target = (autoscaler.key.namespace, autoscaler.kind, autoscaler.target)
        old = self._targets.get(autoscaler.key)
        before = self.lose_autoscaler(autoscaler) if old not in (None, target) else ()
        self._targets[autoscaler.key] = target
        self._autoscalers.setdefault(target, {})[autoscaler.key] = autoscaler
        return (*before, *self._count(target, self._workload(target)))

    def lose_autoscaler(self, autoscaler: PodAutoscaler) -> tuple[str, ...]:
        """An autoscaler is gone."""
        target = self._targets.pop(autoscaler.key, None)
        if target is None:
            return ()
        drop(self._autoscalers, target, autoscaler.key)
        return self._count(target, self._workload(target))

    def hide(self, kind: str, why: str) -> tuple[str, ...]:
        """A kind may not be seen, for a reason; or, without one, it may be seen again."""
        if why:
            self._hidden[kind] = why
        else:
            self._hidden.pop(kind, None)
        return self._ledger.slots.depending(On.ARRIVALS)

    def autoscalers_of(self, workload: Workload) -> Collection[PodAutoscaler]:
        """The autoscalers that scale a workload."""
        return self._autoscalers.get(_name_of(workload), {}).values()

    def known(self, headroom: Headroom) -> int:
        """How many pods of workloads will come that are owners of a headroom, or copied by it."""
        if not headroom.size.learns:
            return 0
        return sum(
            count
            for namespace in self._reach(headroom)
            for workload, count in self._expected.get(namespace, {}).values()
            if not self.is_part(workload) and self._concerns(workload, headroom)
        )

    def told(self, learnt: Learnt | None) -> Learnt | None:
        """A learnt size with a note on the kinds that could not be seen for it."""
        if learnt is None or not self._hidden:
            return learnt
        kinds = " and ".join(f"{kind}s" for kind in sorted(self._hidden))
        why = next(self._hidden[kind] for kind in sorted(self._hidden))
        words = (
            f"pods that {kinds} announce are not counted ahead: {why}; "
            "the operator needs the rights that headroom install grants"
        )
        return replace(learnt, notes=(*learnt.notes, Note(DEMAND_UNSEEN, words)))

    def is_part(self, workload: Workload) -> bool:
        """Whether a workload belongs to a Deployment that is seen itself."""
        return workload.ref.kind == _REPLICA_SET and workload.controller in self._deployments

    def _count(self, name: Name, workload: Workload | None) -> tuple[str, ...]:
        """Take down what a workload is about to make; name whom that concerns, if it differs."""
        before = self._expected.get(name[0], {}).get(name)
        if before is not None:
            drop(self._expected, name[0], name)
        scaling = self._autoscalers.get(name, {}).values()
        count = expected(workload, scaling) if workload is not None else 0
        if workload is not None and count:
            self._expected.setdefault(name[0], {})[name] = (workload, count)
        if count == (before[1] if before is not None else 0):
            return ()
        some = workload if workload is not None else before[0] if before is not None else None
        return tuple(
            whole
            for whole in self._ledger.slots.depending(On.ARRIVALS)
            if some is not None and self._concerns(some, self._ledger.slots.headrooms[whole])
        )

    def _reach(self, headroom: Headroom) -> Collection[str]:
        """The namespaces whose workloads may concern a headroom: others cost it nothing."""
        found = reach(headroom, self._ledger.policy.across_namespaces)
        return self._expected.keys() if EVERYWHERE in found else found

    def _concerns(self, workload: Workload, headroom: Headroom) -> bool:
        home, across = headroom.parent.namespace, self._ledger.policy.across_namespaces
        if home and workload.namespace != home and not across:
            return False
        if (workload.namespace, workload.ref) == (home, headroom.slot.source):
            return True
        return has_right(headroom, first_pod(workload), across)

    def _workload(self, name: Name) -> Workload | None:
        namespace, kind, named = name
        group = "batch/v1" if kind == "Job" else "apps/v1"
        ref = WorkloadRef(group, kind, named)
        return self._ledger.slots.workloads.get((namespace, ref))


def _name_of(workload: Workload) -> Name:
    return workload.namespace, workload.ref.kind, workload.ref.name
