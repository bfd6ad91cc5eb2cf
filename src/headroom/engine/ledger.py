"""The observed state of the cluster, with the indexes that decisions need.

`Ledger` has all observed objects, and pods by role: guardians and claimants of each hold, latches,
owners that wait at one of our doors. It also updates the scheduling state, which answers whether a
pod fits. It decides nothing; it puts the subjects that a change concerns on the agenda.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from datetime import datetime
from typing import Any, get_args

from headroom.core import pod_memory
from headroom.core.allocation import keeps_rest
from headroom.core.authenticity import keeps
from headroom.core.demand.volumes import Storage, Stored
from headroom.core.doors.latch_decision import NEW_LATCH, LatchMemory
from headroom.core.eviction.budgets import Budget
from headroom.core.fast_dataclass import replace
from headroom.core.handover import Claim
from headroom.core.hold_state.memory import NOTHING, HoldMemory
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import LatchClaim, claims_on, kept_for
from headroom.core.names import CLAIM_GATE, ROLE_LABEL
from headroom.core.node.fence_decision import FenceMemory
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.core.owners import reach, rule_keys
from headroom.core.pod_memory import PodMemory
from headroom.core.policy import Policy
from headroom.core.renewal import healthiest
from headroom.core.resources import Resources
from headroom.core.subjects import (
    ANY_ROOM,
    Awaited,
    Change,
    Subject,
    hold_subject,
    node_changed,
    pod_subject,
)
from headroom.core.waits.pace import Pace
from headroom.core.waits.scheduler_activity import SchedulerActivity
from headroom.engine.agenda import Agenda
from headroom.engine.assumptions import Assumptions
from headroom.engine.doors.witnesses import DoorRecords
from headroom.engine.headrooms.records import HeadroomRecords
from headroom.engine.hold_index import HoldIndex
from headroom.engine.indexes import Index
from headroom.engine.memories import Memories, QuotaTables, file_hold, remember
from headroom.engine.observation.owners import note_owners, owns
from headroom.scheduling.state import ClusterState

MOST_GONE_NODES = 10_000


class Ledger:
    """The observed cluster."""

    def __init__(self, policy: Policy, agenda: Agenda) -> None:
        self.policy = policy
        self.agenda = agenda
        self.pods: dict[Key, Pod] = {}
        self.nodes: dict[str, Node] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.holds: dict[str, Hold] = {}
        self.hold_kinds = {"Hold": None}  # kinds that holds are made from
        self.index: Index[Key] = Index()  # of pods
        self.latches: Collection[Key] = self.index.all(By.LATCH)  # those that count
        self.waiting: Collection[Key] = self.index.all(By.WAITING)  # see there
        self.hold_index: Index[str] = Index()
        self.work: Index[Subject] = Index()  # of what is being written, by whom it concerns
        self.usage: Index[str] = Index()  # of holds, by the namespaces whose limits they use
        self.quotas = QuotaTables()  # of dialects
        self.gone_nodes: dict[str, None] = {}  # the latest
        self.budgets: dict[Key, Budget] = {}
        self.scheduler_activity = SchedulerActivity()
        self.memory = Memories[HoldMemory](NOTHING)  # by hold
        self.node_memory = Memories[FenceMemory](FenceMemory())
        self.pod_memory = Memories[PodMemory](pod_memory.NOTHING)  # by uid
        self.latch_memory = Memories[LatchMemory](NEW_LATCH)  # by uid
        self.open = HoldIndex(policy.across_namespaces)
        self.coming = HoldIndex(policy.across_namespaces)
        self.assumptions = Assumptions()
        self.stored: dict[type[Stored], dict[Any, Any]] = {each: {} for each in get_args(Stored)}
        self.storage = Storage(*self.stored.values())
        self.node_asked = Memories[str]("")  # by uid of a claim: the node seen as chosen for it
        self.state = ClusterState(storage=self.storage)
        self.slots = HeadroomRecords()
        self.burst_pauses: dict[Hashable, datetime] = {}  # by group: see `bursts`
        self.doors = DoorRecords()
        self.began = False  # We may act: all that there was has been seen.
        self.lost: list[Hold] = []  # holds that are gone, for others to forget
        self.parked: dict[Key, Claim] = {}  # handovers that are about to start, by owner
        self.handovers: Index[Key] = Index()  # these, by node and by hold; spare latches, by size
        self.paces: dict[Subject, Pace] = {}  # see `guardian_pace`
        self.turns: Index[Subject] = Index()  # of holds, by their paces

    def having(self, by: By, value: Hashable) -> Iterator[Pod]:
        """The pods with an entry in the index."""
        return map(self.pods.__getitem__, self.index.of(by, value))

    def guardians_of(self, hold: Hold) -> tuple[Pod, ...]:
        """The guardians of a hold: recognized by name and owner, not by label alone."""
        keys = self.index.of(By.GUARDIAN, hold.parent.identity)
        return tuple([pod for key in keys if keeps(hold, pod := self.pods[key])])

    def guardian_of(self, hold: Hold) -> Pod | None:
        """The healthy guardian of a hold, if any: of two, the one that has a node."""
        return healthiest(hold, self.guardians_of(hold))

    def claimants_of(self, hold: Hold, former: bool = False) -> tuple[Pod, ...]:
        """Pods with a valid claim on a hold.

        A slot that was given to an owner is held again under the same name. Its former owners no
        longer count, except with `former`.
        """
        keys = self.index.of(By.CLAIMANT, hold.parent.identity)
        pods = [self.pods[key] for key in keys]
        if hold.slot and hold.allocate_once and not former:
            pods = [pod for pod in pods if not pod.node]
        return tuple([pod for pod in pods if owns(self, hold, pod)])

    def expects_owner(self, hold: Hold, owners: Iterable[Pod] | None = None) -> bool:
        """Whether an owner is on its way into a hold: it has a claim or a latch, or will get one.

        `owners` are the pods with a claim on the hold, if the caller knows them.
        """
        parent = hold.parent.identity
        if self.handovers.of(By.RESERVED, parent):
            return True
        if self.has_unplaced_claimant(hold, owners):
            return True
        return any(
            line.parent == parent
            for latch in self.having(By.LATCH_OF_HOLD, parent)
            for line in self.awaited_by(latch)
        )

    def has_unplaced_claimant(self, hold: Hold, owners: Iterable[Pod] | None = None) -> bool:
        """Whether an owner that carries a claim on a hold has no node yet."""
        for pod in self.claimants_of(hold) if owners is None else owners:
            if not pod.node and not pod.finished and not self.bound_by_us(pod):
                return True  # Whom we bind has its claim written with the bind, never before.
        return False

    def latches_of(self, hold: Hold) -> tuple[Pod, ...]:
        """Latches that keep room for this hold itself, not for an owner on its way."""
        keys = self.index.of(By.LATCH_OF_HOLD, hold.parent.identity)
        return tuple([pod for key in keys if not any(self.awaited_by(pod := self.pods[key]))])

    def bound_by_us(self, pod: Pod) -> bool:
        """Whether we bind this pod: it uses door 2."""
        return pod.scheduler in self.policy.scheduler_names or ROLE_LABEL in pod.labels

    def firm_from(self, latch: Pod) -> datetime | None:
        """From when on a latch reliably keeps free room; None while the watch has not shown it.

        Pods come in one ordered stream: with the latch's nomination we have seen every bind before.
        """
        since = self.shown_since(latch, latch.nominated)
        return since + self.policy.free_room_wait if since is not None else None

    def note_shown(self, pod: Pod, node: str, now: datetime) -> None:
        """The watch shows a latch or a fence on a node."""
        memory = self.pod_memory[pod.uid]
        if memory.shown_on != node:
            self.pod_memory[pod.uid] = replace(memory, shown_on=node, shown_since=now)

    def shown_since(self, pod: Pod, node: str) -> datetime | None:
        """When the watch first showed a latch or fence on a node; None while it has not."""
        memory = self.pod_memory[pod.uid]
        return memory.shown_since if memory.shown_on == node else None

    def slot_users_of(self, hold: Hold) -> tuple[Pod, ...]:
        """Owners of a slot that use its room where it was last held."""
        if not keeps_rest(hold):
            return ()
        node = hold.template.node or self.memory[hold.parent.identity].node
        seated = self.claimants_of(hold, former=True)
        return tuple(pod for pod in seated if pod.occupies_node and pod.node == node)

    def awaited_by(self, latch: Pod) -> Iterator[LatchClaim]:
        """The claims of a latch whose owners have no node yet; none after it has given them up."""
        given_up = self.latch_memory[latch.uid].given_up
        return filter(self.waits, () if given_up else claims_on(latch))

    def waits(self, line: LatchClaim) -> bool:
        """Whether the owner that a latch names is still without a node."""
        owner = self.pods.get(line.owner)
        return owner is not None and owner.uid == line.uid and self.door(owner) == 2

    def see_hold(self, hold: Hold) -> None:
        """A hold was created or has changed; a new object under an old name is another hold."""
        parent = hold.parent.identity
        old = self.holds.get(parent)
        if old is not None and old.parent.uid != hold.parent.uid:
            self.lose_hold(parent)
        self.holds[parent] = hold
        self.hold_kinds[hold.parent.kind] = None
        file_hold(self, hold)
        for guardian in self.guardians_of(hold):  # Pods may be seen before their holds.
            if guardian.occupies_node and not self.memory[parent].node:
                self.memory[parent] = replace(self.memory[parent], node=guardian.node)
        note_owners(self, hold)
        self.agenda.touch(hold_subject(hold.parent))
        if hold.next_to and (old is None or old.next_to != hold.next_to):
            self.wake_guardians(parent)

    def lose_hold(self, parent: str) -> None:
        hold = self.holds.pop(parent, None)
        if hold is None:
            return
        self.lost.append(hold)
        self.hold_index.put(parent)
        self.clear_claimable(hold)
        self.agenda.forget(hold_subject(hold.parent))
        remember(self, hold, NOTHING)
        self.wake_guardians(parent, By.CLAIMANT, By.LATCH_OF_HOLD)

    def wake_guardians(self, parent: str, *others: By) -> None:
        """Decide the guardians and latches of a hold again, whether the hold is known or not."""
        for by in (By.GUARDIAN, *others):
            for key in self.index.of(by, parent):
                self.agenda.touch(pod_subject(key))

    def set_claimable(self, hold: Hold, left: Resources | None) -> None:
        """Set how much of a hold may be claimed now, and decide the pods again that wait for it."""
        parent, free = hold.parent.identity, left is not None
        off, on = (self.coming, self.open) if free else (self.open, self.coming)
        off.remove(parent)
        if on.add(hold, left) and free:
            for namespace in reach(hold, self.policy.across_namespaces):
                for key in rule_keys(hold):
                    for owner in self.index.of(By.OWNER, (namespace, key)):
                        self.agenda.touch(pod_subject(owner))

    def clear_claimable(self, hold: Hold) -> None:
        """A hold cannot be claimed now, and gets no room soon."""
        for index in (self.open, self.coming):
            index.remove(hold.parent.identity)

    def see_node(self, node: Node) -> bool:
        """A node was created or has changed; return whether it is more than a heartbeat."""
        old = self.nodes.get(node.name)
        self.nodes[node.name] = node
        if old is not None and replace(old, version=node.version) == node:
            return False
        self.state.set_node(node)
        self.room_freed(node.name)
        return True

    def lose_node(self, name: str) -> None:
        """A node is gone; decide the holds again whose guardian was last seen there."""
        if self.nodes.pop(name, None) is not None:
            self.state.remove_node(name)
            self.agenda.wake(node_changed(name))
        self.gone_nodes[name] = None
        if len(self.gone_nodes) > MOST_GONE_NODES:
            del self.gone_nodes[next(iter(self.gone_nodes))]
        for parent, hold in self.holds.items():
            if name in (self.memory[parent].node, hold.status.node):
                self.agenda.touch(hold_subject(hold.parent))

    def note_missing_nodes(self) -> None:
        """Everything was observed: a node that a status names and that does not exist was deleted.

        An unknown node is not a deleted one: pods and nodes arrive in different streams, and a
        guardian may be seen on a new node before the node itself.
        """
        named = [hold.status.node for hold in self.holds.values()]
        self.gone_nodes.update({node: None for node in named if node and node not in self.nodes})

    def door(self, pod: Pod) -> int:
        """Which of our doors an unplaced pod waits at: 1, 2, or 0 for none.

        Of our own pods only a guardian that follows a pod to its node waits at one.
        """
        if pod.node or pod.deleted is not None or pod.finished:
            return 0
        if not self.policy.serves(pod.key.namespace):
            return 0
        if ROLE_LABEL in pod.labels:
            hold = self.holds.get(kept_for(pod))
            return 2 if hold is not None and hold.next_to and keeps(hold, pod) else 0
        if CLAIM_GATE in pod.gates:
            return 1
        return 2 if pod.scheduler in self.policy.scheduler_names and not pod.gates else 0

    def touch_hold(self, parent: str, guardian: bool = False) -> None:
        """Decide a hold again, if it exists; if it has ended, only because of a guardian."""
        hold = self.holds.get(parent)
        if hold is not None and (guardian or not hold.is_over):
            self.agenda.touch(hold_subject(hold.parent))

    def room_freed(self, node: str) -> None:
        """Decide the pods again that wait for any room, and the holds that could not grow."""
        self.agenda.wake(node_changed(node))
        self.agenda.notify(ANY_ROOM)
        self.agenda.notify(Awaited(Change.ROOM, node))
