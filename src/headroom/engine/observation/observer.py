"""Pass each observed change to all parts of the engine that it concerns.

An event says what is now true of one object. `SEEN` and `LOST` are the tables of what happens then,
by the kind of the object that is seen or lost. The engine processes each event isolated from the
others: see `error_isolation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.demand.volumes import NodeDrivers, StorageClass, Stored, Volume, VolumeClaim
from headroom.core.eviction.budgets import Budget
from headroom.core.eviction.preallocation import permitted
from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.headrooms.announced_pods import PodAutoscaler
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.hold_state.allocate_policy_groups import apart_from_others
from headroom.core.hold_state.decision import CANDIDATES
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.names import ROLE_FENCE, ROLE_LABEL
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.core.owners import judged
from headroom.core.quotas.quota import Quota
from headroom.core.subjects import (
    Awaited,
    Change,
    Subject,
    headroom_subject,
    hold_subject,
    pod_subject,
)
from headroom.engine import quotas, volumes
from headroom.engine.claim_index import ClaimIndexController, index_subject
from headroom.engine.doors import witnesses
from headroom.engine.doors.taken_over import note_guardian_gone
from headroom.engine.evictions import note_preempted, wake_waiting_holds
from headroom.engine.fence_controller import pod_gone, pod_seen
from headroom.engine.headrooms import followers, promises
from headroom.engine.headrooms.auto_shapes import note_made
from headroom.engine.headrooms.expected_pods import see_autoscaler
from headroom.engine.headrooms.headroom_controller import HeadroomController
from headroom.engine.headrooms.own_objects import touch_own
from headroom.engine.headrooms.records import reconsider
from headroom.engine.headrooms.slot_events import member
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import lose_pod, see_pod
from headroom.engine.overcommit import wake_overbooked
from headroom.engine.status_writer import StatusWriter, quota_subject, status_subject
from headroom.ports import AutoscalerSeen, Event, KindHidden, Lost, Seen


@dataclass(frozen=True, slots=True)
class Observers:
    """The parts of the engine that process events."""

    ledger: Ledger
    statuses: StatusWriter
    headrooms: HeadroomController
    claim_index: ClaimIndexController


def _see_pod(to: Observers, pod: Pod, now: datetime) -> None:
    ledger = to.ledger
    before = ledger.pods.get(pod.key)
    if not see_pod(ledger, pod, now):  # Pods that slots follow have an entry in the index.
        return
    if before is not None and not before.node:
        ledger.scheduler_activity = ledger.scheduler_activity.after(before, pod, now)
    if pod.node:
        wake_overbooked(ledger, pod.node)
        if ledger.agenda.has_waiters(CANDIDATES):
            wake_waiting_holds(ledger, pod)
    if ROLE_LABEL in pod.labels or (before is not None and ROLE_LABEL in before.labels):
        if pod.node and pod.labels.get(ROLE_LABEL) == ROLE_FENCE:
            ledger.note_shown(pod, pod.node, now)
        note_preempted(ledger, pod)
    if ledger.slots.headrooms:
        to.headrooms.pods_changed()
        note_made(ledger, before, pod)
        if ledger.policy.serves(pod.key.namespace):
            found = (*followers.concerned(ledger, before), *followers.concerned(ledger, pod))
            reconsider(ledger, *dict.fromkeys(found))
    if ledger.slots.promises or ledger.slots.owner_index or ROLE_LABEL in pod.labels:
        reconsider(ledger, *promises.see_pod(ledger, before, pod, now))
    if pod.node and (ledger.index.entries(pod.key) or _keeps_nodes(ledger)):
        pod_seen(ledger, pod)
    witnesses.see_pod(ledger, before, pod)


def _keeps_nodes(ledger: Ledger) -> bool:
    """Whether a node has a fence, or may need one."""
    return bool(ledger.index.all(By.FENCE) or ledger.hold_index.all(By.RETURNING))


def _lose_pod(to: Observers, gone: Pod, now: datetime) -> None:
    ledger, old = to.ledger, to.ledger.pods.get(gone.key)
    note_guardian_gone(ledger, gone.key, gone.uid)
    lose_pod(ledger, gone.key, gone.uid, now)
    promises.lose_pod(ledger, gone.uid, now)
    if ledger.slots.headrooms:
        to.headrooms.pods_changed()
    if old is not None and old.uid == gone.uid:
        note_preempted(ledger, old, gone=True)
        reconsider(ledger, *followers.concerned(ledger, old))
    if old is not None and (ROLE_LABEL in old.labels or _keeps_nodes(ledger)):
        pod_gone(ledger, old)
    witnesses.lose_pod(ledger, gone.key, gone.uid)


def _see_hold(to: Observers, hold: Hold, _: datetime) -> None:
    ledger = to.ledger
    if not ledger.policy.serves(hold.home):
        return  # Another operator may; the set of namespaces never changes.
    allowed = permitted(judged(hold, ledger.policy.across_namespaces), ledger.policy)
    allowed = apart_from_others(allowed, ledger.hold_index.all(By.POLICY_GROUP))
    known = member(ledger, to.statuses.see(allowed))
    if _is_repeated(ledger, known):
        ledger.holds[known.parent.identity] = known  # Only its version is new.
    else:
        ledger.see_hold(known)
        to.claim_index.touch(allowed)
    quotas.see_hold(ledger, allowed)
    witnesses.see_wish(ledger, allowed)


def _lose_hold(to: Observers, gone: Hold, _: datetime) -> None:
    ledger, parent = to.ledger, gone.parent
    if parent.identity in ledger.holds:
        to.claim_index.touch(ledger.holds[parent.identity])
    ledger.lose_hold(parent.identity)
    witnesses.forget(ledger, parent)
    quotas.lose(ledger, parent)
    quotas.asks_anew(ledger, hold_subject(parent))
    to.statuses.forget(status_subject(parent))


def _see_headroom(to: Observers, headroom: Headroom, now: datetime) -> None:
    ledger, whole = to.ledger, headroom.parent.whole
    if not ledger.policy.serves(headroom.parent.namespace):
        return
    to.headrooms.see(headroom)
    quotas.see_headroom(ledger, headroom, now)
    if headroom.served:
        witnesses.see_wish(ledger, ledger.slots.headrooms.get(whole, headroom))


def _lose_headroom(to: Observers, gone: Headroom, _: datetime) -> None:
    ledger, parent = to.ledger, gone.parent
    to.headrooms.lose(parent)
    witnesses.forget(ledger, parent)
    touch_own(ledger, parent)
    quotas.lose(ledger, parent)
    quotas.asks_anew(ledger, headroom_subject(parent))


def _see_quota(to: Observers, quota: Quota, _: datetime) -> None:
    to.statuses.note(quota_subject(quota.parent), quota.parent.uid, quota.status)
    quotas.see_quota(to.ledger, quota)


def _lose_quota(to: Observers, gone: Quota, _: datetime) -> None:
    quotas.lose_quota(to.ledger, gone.parent)
    to.statuses.forget(quota_subject(gone.parent))


def _see_stored(to: Observers, thing: Stored, now: datetime) -> None:
    _judge_anew(to.ledger, volumes.see(to.ledger, thing), now)


def _lose_stored(to: Observers, gone: Stored, now: datetime) -> None:
    _judge_anew(to.ledger, volumes.lose(to.ledger, gone), now)


def _judge_anew(ledger: Ledger, pods: Iterable[Key], now: datetime) -> None:
    """A claim, volume or class has changed: pods at our doors may fit elsewhere now."""
    reconsider(ledger, *ledger.slots.depending(On.FOLLOWED))
    for key in pods:
        pod = ledger.pods.get(key)
        if pod is not None:
            see_pod(ledger, pod, now)
            ledger.agenda.touch(pod_subject(key))


def _lose_budget(to: Observers, gone: Budget, _: datetime) -> None:
    to.ledger.budgets.pop(gone.key, None)


def _see_node(to: Observers, node: Node, _: datetime) -> None:
    ledger = to.ledger
    ledger.gone_nodes.pop(node.name, None)
    if ledger.see_node(node):
        wake_overbooked(ledger, node.name)
        to.headrooms.nodes_changed()


def _lose_node(to: Observers, gone: Node, _: datetime) -> None:
    to.ledger.lose_node(gone.name)
    to.headrooms.nodes_changed()


def _see_namespace(to: Observers, namespace: Namespace, _: datetime) -> None:
    ledger, name = to.ledger, namespace.name
    before = ledger.namespaces.get(name)
    ledger.namespaces[name] = namespace
    ledger.state.set_namespace(namespace)
    if before is None or before.labels != namespace.labels:
        quotas.relabelled(to.ledger)
    ledger.agenda.wake(Awaited(Change.USAGE, name))
    ledger.agenda.notify(Awaited(Change.LIMITS, name))
    ledger.agenda.touch(index_subject(name))
    witnesses.see_namespace(ledger, before, namespace)


def _lose_namespace(to: Observers, gone: Namespace, _: datetime) -> None:
    to.ledger.namespaces.pop(gone.name, None)
    to.ledger.state.remove_namespace(gone.name)
    quotas.relabelled(to.ledger)
    to.claim_index.forget(gone.name)


def _count_overhead(to: Observers, _: AutoscalerSeen, __: datetime) -> None:
    to.ledger.policy = replace(to.ledger.policy, node_overhead=True)
    to.headrooms.nodes_changed()


def _see_hidden(to: Observers, hidden: KindHidden, _: datetime) -> None:
    slots = to.ledger.slots
    slots.hidden.pop(hidden.kind, None)
    if hidden.why:
        slots.hidden[hidden.kind] = hidden.why
    reconsider(to.ledger, *slots.depending(On.ARRIVALS))


Observe = Callable[[Observers, Any, datetime], None]
_STORED = (VolumeClaim, Volume, StorageClass, NodeDrivers)
SEEN: Mapping[type, Observe] = {
    Pod: _see_pod,
    Hold: _see_hold,
    Headroom: _see_headroom,
    Quota: _see_quota,
    Workload: lambda to, each, _: to.headrooms.workload_changed(each),
    PodAutoscaler: lambda to, each, _: reconsider(to.ledger, *see_autoscaler(to.ledger, each)),
    **dict.fromkeys(_STORED, _see_stored),
    Budget: lambda to, budget, _: to.ledger.budgets.update({budget.key: budget}),
    ResourceQuota: lambda to, quota, now: to.headrooms.quota_changed(quota, now),
    Node: _see_node,
    Namespace: _see_namespace,
    AutoscalerSeen: _count_overhead,
    KindHidden: _see_hidden,
}
LOST: Mapping[type, Observe] = {
    Pod: _lose_pod,
    Hold: _lose_hold,
    Headroom: _lose_headroom,
    Quota: _lose_quota,
    Workload: lambda to, gone, _: to.headrooms.workload_changed(gone, gone=True),
    PodAutoscaler: lambda to, gone, _: reconsider(
        to.ledger, *see_autoscaler(to.ledger, gone, gone=True)
    ),
    **dict.fromkeys(_STORED, _lose_stored),
    Budget: _lose_budget,
    ResourceQuota: lambda to, gone, _: to.headrooms.quota_lifted(gone),
    Node: _lose_node,
    Namespace: _lose_namespace,
}


def taken_in_by(kind: type, table: Mapping[type, Observe]) -> Observe:
    """The function for a kind; a kind of a dialect inherits from the one that is in the table."""
    exact = table.get(kind)
    return exact or next(table[each] for each in kind.__mro__ if each in table)


def _is_repeated(ledger: Ledger, hold: Hold) -> bool:
    """Whether only the version of a hold has changed.

    Most such events are our own status writes, which were assumed: nothing is decided again.
    """
    old = ledger.holds.get(hold.parent.identity)
    if old is None or old.parent.uid != hold.parent.uid:
        return False
    return replace(old, version=hold.version) == hold


def subject_of(event: Event) -> Subject | str:
    """The subject of an event; if it has none, its kind and name as text."""
    if not isinstance(event, Seen | Lost):
        return type(event).__name__
    match event.thing:
        case Pod() as pod:
            return pod_subject(pod.key)
        case Hold() as hold:
            return hold_subject(hold.parent)
        case Headroom() as headroom:
            return headroom_subject(headroom.parent)
        case Node() | Namespace() as named:
            return f"{type(named).__name__.lower()} {named.name}"
        case other:
            return f"{type(other).__name__.lower()} {other.key}"
