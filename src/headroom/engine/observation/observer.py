"""Pass each observed change to all parts of the engine that it concerns.

An event says what is now true of one object. The engine processes it here, isolated from other
events: see `error_isolation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from headroom.core.demand.autoscalers import PodAutoscaler
from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.demand.volumes import NodeDrivers, StorageClass, Volume, VolumeClaim
from headroom.core.eviction.budgets import Budget
from headroom.core.eviction.preallocation import permitted
from headroom.core.fast_replace import replace
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.hold_state.allocate_policy_groups import apart_from_others
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.names import ROLE_FENCE, ROLE_LABEL
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.core.owners import judged
from headroom.core.quotas.limits import Quota
from headroom.core.subjects import (
    Awaited,
    Change,
    Subject,
    headroom_subject,
    hold_subject,
    pod_subject,
)
from headroom.engine.claim_index import Indexer, index_subject
from headroom.engine.conflicts.preempted_guardians import note_preempted
from headroom.engine.deleted_nodes import node_deleted
from headroom.engine.doors.book import DoorBook
from headroom.engine.fence_controller import pod_gone, pod_seen
from headroom.engine.headrooms import followers
from headroom.engine.headrooms.autoshapes import note_made
from headroom.engine.headrooms.expected_pods import see_autoscaler
from headroom.engine.headrooms.headrooms import Standing
from headroom.engine.headrooms.ownobjects import OwnObjects
from headroom.engine.headrooms.slot_events import member
from headroom.engine.hold_controller import HoldController
from headroom.engine.ledger import Ledger
from headroom.engine.overcommit import wake_overbooked
from headroom.engine.preallocation import wake_waiting_holds
from headroom.engine.quotas import QuotaBook
from headroom.engine.status_writer import StatusWriter, quota_subject, status_subject
from headroom.ports import (
    AutoscalerGone,
    AutoscalerSeen,
    BudgetGone,
    Event,
    HeadroomGone,
    HoldGone,
    KindHidden,
    NamespaceGone,
    NodeGone,
    PodGone,
    QuotaGone,
    ResourceQuotaGone,
    Seen,
    StoredGone,
    Thing,
    WorkloadGone,
)


@dataclass(frozen=True, slots=True)
class Observer:
    """Everybody in the engine who wants to know what is there."""

    ledger: Ledger
    publisher: StatusWriter
    quotas: QuotaBook
    standing: Standing
    keeper: HoldController
    indexer: Indexer
    doors: DoorBook
    own: OwnObjects

    def observe(self, event: Event, now: datetime) -> None:
        """Take an event in."""
        if isinstance(event, Seen):
            self._see(event.thing, now)
        else:
            self._lose(event, now)

    def _see(self, thing: Thing, now: datetime) -> None:
        ledger = self.ledger
        match thing:
            case Pod() as pod:
                self._see_pod(pod, now)
            case Hold() | Headroom() if not ledger.policy.serves(_home(thing)):
                pass  # Another operator may; the set of namespaces never changes.
            case Hold() as hold:
                allowed = permitted(judged(hold, ledger.policy.across_namespaces), ledger.policy)
                allowed = apart_from_others(allowed, ledger.hold_index.all(By.SIDE))
                known = member(ledger, self.publisher.see(allowed))
                if not _repeats(ledger, known):
                    ledger.see_hold(known)
                self.quotas.see_ticket(allowed)
                self.indexer.touch(allowed)
                self.doors.want(allowed)
            case Headroom() as headroom:
                self.standing.see(headroom)
                ledger.slots.see_promise(headroom.parent.whole, ledger.pods.values())
                self.quotas.see_order(headroom, now)
                if headroom.served:
                    self.doors.want(ledger.slots.headrooms.get(headroom.parent.whole, headroom))
            case Quota() as quota:
                self.publisher.note(quota_subject(quota.parent), quota.parent.uid, quota.status)
                self.quotas.see_quota(quota)
            case Workload() as workload:
                self.standing.workload_changed(workload)
            case PodAutoscaler() as autoscaler:
                ledger.slots.concern(see_autoscaler(ledger, autoscaler))
            case VolumeClaim() | Volume() | StorageClass() | NodeDrivers():
                self._judge_anew(ledger.volumes.see(thing), now)
            case Budget() as budget:
                ledger.budgets[budget.key] = budget
            case ResourceQuota() as allowed_here:
                self.standing.quota_changed(allowed_here)
                self.keeper.pace.see_quota(allowed_here, now)
            case Node() as node:
                ledger.gone_nodes.pop(node.name, None)
                if ledger.see_node(node):
                    wake_overbooked(ledger, node.name)
                    self.standing.nodes_changed()
            case Namespace() as namespace:
                before = ledger.namespaces.get(namespace.name)
                ledger.namespaces[namespace.name] = namespace
                ledger.state.set_namespace(namespace)
                if before is None or before.labels != namespace.labels:
                    self.quotas.relabelled()
                ledger.agenda.wake(Awaited(Change.USAGE, namespace.name))
                ledger.agenda.notify(Awaited(Change.LIMITS, namespace.name))
                ledger.agenda.touch(index_subject(namespace.name))
                self.doors.see_namespace(namespace)

    def _see_pod(self, pod: Pod, now: datetime) -> None:
        ledger = self.ledger
        before = ledger.pods.get(pod.key)
        if not ledger.see_pod(pod, now):  # Pods that slots follow have an entry in the index.
            return
        ledger.scheduler_activity = ledger.scheduler_activity.after(before, pod, now)
        if pod.node:
            wake_overbooked(ledger, pod.node)
            wake_waiting_holds(ledger, pod)
        if ROLE_LABEL in pod.labels or (before is not None and ROLE_LABEL in before.labels):
            if pod.node and pod.labels.get(ROLE_LABEL) == ROLE_FENCE:
                ledger.show(pod, pod.node, now)
            note_preempted(ledger, pod)
        self.standing.pods_changed()
        if ledger.policy.serves(pod.key.namespace):
            found = (*followers.concerned(ledger, before), *followers.concerned(ledger, pod))
            ledger.slots.concern(dict.fromkeys(found))
        ledger.slots.concern(ledger.slots.promises.see(before, pod, now))
        note_made(ledger, before, pod)
        pod_seen(ledger, pod)
        self.doors.see(before, pod)

    def _judge_anew(self, pods: Iterable[Key], now: datetime) -> None:
        """A claim, volume or class has changed: pods at our doors may fit elsewhere now."""
        self.ledger.slots.concern(self.ledger.slots.depending(On.FOLLOWED))
        for key in pods:
            pod = self.ledger.pods.get(key)
            if pod is not None:
                self.ledger.see_pod(pod, now)
                self.ledger.agenda.touch(pod_subject(key))

    def _lose(self, event: Event, now: datetime) -> None:
        ledger = self.ledger
        match event:
            case PodGone(key, uid):
                self._lose_pod(key, uid, now)
            case HoldGone(parent):
                if parent.identity in ledger.holds:
                    self.indexer.touch(ledger.holds[parent.identity])
                ledger.lose_hold(parent.identity)
                self.doors.forget(parent)
                self.quotas.lose(parent)
                self.quotas.asks_anew(hold_subject(parent))
                self.publisher.forget(status_subject(parent))
            case HeadroomGone(parent):
                self.standing.lose(parent)
                self.doors.forget(parent)
                self.own.lost(parent)
                self.quotas.lose(parent)
                self.quotas.asks_anew(headroom_subject(parent))
            case QuotaGone(parent):
                self.quotas.lose_quota(parent)
                self.publisher.forget(quota_subject(parent))
            case AutoscalerSeen():
                ledger.policy = replace(ledger.policy, node_overhead=True)
                self.standing.nodes_changed()
            case WorkloadGone(workload):
                self.standing.workload_changed(workload, gone=True)
            case AutoscalerGone(autoscaler):
                ledger.slots.concern(see_autoscaler(ledger, autoscaler, gone=True))
            case KindHidden(kind, why):
                ledger.slots.hidden.pop(kind, None)
                if why:
                    ledger.slots.hidden[kind] = why
                ledger.slots.concern(ledger.slots.depending(On.ARRIVALS))
            case StoredGone(stored):
                self._judge_anew(ledger.volumes.lose(stored), now)
            case BudgetGone(key):
                ledger.budgets.pop(key, None)
            case ResourceQuotaGone(lifted):
                self.standing.quota_changed(lifted, lifted=True)
                self.keeper.pace.lose_quota(lifted)
            case NodeGone(name):
                ledger.lose_node(name)
                node_deleted(ledger, name)
                self.standing.nodes_changed()
            case NamespaceGone(name):
                ledger.namespaces.pop(name, None)
                ledger.state.remove_namespace(name)
                self.quotas.relabelled()
                self.indexer.forget(name)
                self.doors.lose_namespace(name)

    def _lose_pod(self, key: Key, uid: str, now: datetime) -> None:
        ledger = self.ledger
        old = ledger.pods.get(key)
        ledger.lose_pod(key, uid)
        ledger.slots.promises.lose(uid, now)
        self.standing.pods_changed()
        if old is not None and old.uid == uid:
            note_preempted(ledger, old, gone=True)
        if old is not None and old.uid == uid:
            ledger.slots.concern(list(followers.concerned(ledger, old)))
        ledger.volumes.forget(uid)
        if old is not None:
            pod_gone(ledger, old)
        self.doors.lose(key, uid)


def _repeats(ledger: Ledger, hold: Hold) -> bool:
    """Whether a hold is as it is known but for its version, which is noted.

    Most are our own writes of its status, which were assumed: nothing is to be decided anew.
    """
    old = ledger.holds.get(hold.parent.identity)
    if old is None or old.parent.uid != hold.parent.uid:
        return False
    if replace(old, version=hold.version) != hold:
        return False
    ledger.holds[hold.parent.identity] = hold
    return True


def _home(thing: Hold | Headroom) -> str:
    return thing.home if isinstance(thing, Hold) else thing.parent.namespace


def subject_of(event: Event) -> Subject | str:
    """Whom an event is about, as the agenda names it; else its kind and name."""
    if not isinstance(event, Seen):
        return _subject_gone(event)
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


def _subject_gone(event: Event) -> Subject | str:
    match event:
        case PodGone(key=key):
            return pod_subject(key)
        case HoldGone(parent=parent):
            return hold_subject(parent)
        case HeadroomGone(parent=parent):
            return headroom_subject(parent)
        case _:
            return type(event).__name__
