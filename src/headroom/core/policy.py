"""The operator's settings, each with a working default and the reason why it exists."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from headroom.core.names import SCHEDULER_NAME
from headroom.core.objects import OwnObject
from headroom.core.quotas.namespaces import NO_LIMITS, NamespaceLimits


@dataclass(frozen=True, slots=True)
class Policy:
    namespace: str = "default"
    """Where latches live: the operator's own namespace, so that they use up no tenant's quota."""

    namespaces: frozenset[str] = frozenset()
    """The namespaces whose objects are served and whose pods are touched; empty: all of them. All
    pods are seen nevertheless, because room is judged by them."""

    scheduler_names: frozenset[str] = frozenset({SCHEDULER_NAME})
    """Scheduler names that we answer to; a dialect may add its own."""

    across_namespaces: bool = False
    """Whether a hold may serve pods of another namespace."""

    namespace_limits: NamespaceLimits = NO_LIMITS
    """What the holds of a namespace may have at most, where the namespace itself does not say."""

    cluster_preallocation: bool = False
    """Whether a hold may wait for any pod that is marked for it, of whatever namespace: such a hold
    is told when others' pods end, and gets their room before the rest of the cluster does."""

    taints_bind_all: bool = False
    """Whether taints of a Reservation keep out every pod that does not tolerate them, as its guide
    has it, and not only those that name reservations in an affinity, as its code has it."""

    own_objects: tuple[OwnObject, ...] = ()
    """Headrooms that dialects need: one that somebody deletes is made again at once."""

    node_overhead: bool = False
    """Whether slots per node are shown to autoscalers by a DaemonSet without pods: Karpenter counts
    those on machines that are still to come, and nothing else."""

    slot_sets: bool = False
    """Whether the guardians of a Headroom are controlled by its SlotSet, where that kind is served:
    a PodDisruptionBudget that selects them then expects no ready pods of them."""

    latch_linger: timedelta = timedelta(milliseconds=500)
    """How long a latch outlives the bind: longer than any scheduling cycle begun before it."""

    latch_spare: timedelta = timedelta(milliseconds=500)
    """How long a latch that has done its work may wait for the next handover of its size."""

    free_room_wait: timedelta = timedelta(milliseconds=500)
    """How long a latch stands on free room before we look again and bind: the same cycles."""

    fence_kept: timedelta = timedelta(seconds=10)
    """How long a fence stays when nobody waits any more for what it keeps: it shall not flap."""

    fences_per_namespace: int = 100
    """How many nodes may be fenced at a time on behalf of the holds of one namespace."""

    patience: timedelta = timedelta(seconds=5)
    """How long an owner waits for a matching hold that gets its room soon, before it is released
    without a hold."""

    first_look: timedelta = timedelta(milliseconds=200)
    """How long a new owner may wait for a hold that we have not seen yet: holds and pods arrive
    by different streams, so an owner applied together with its hold may be seen first."""

    guardian_retry: timedelta = timedelta(seconds=2)
    """First pause before a guardian that failed is made again; doubles up to two minutes."""

    guardians_at_once: int = 32
    """How many guardians of one Headroom, or of Holds of one shape in a namespace, are being made
    at a time; each success allows one more. After a refusal it is one, so that a Headroom of a
    hundred thousand slots in a namespace with a small quota costs a refused write now and then."""

    guardians_per_namespace: int = 64
    """The same for all Holds and Headrooms of a namespace together."""

    slots_ahead: int = 1000
    """How many slots of one Headroom may be without a placed guardian at a time; more are made
    known as these are placed. Memory and work follow what is held, not what is wished for."""

    slots_unguarded: int = 1000
    """How many slots of one namespace, of all its Headrooms together, may have neither guardian nor
    owner at a time; of each Headroom four are looked after all the same. Until it has a guardian a
    slot costs no quota: without this bound the memory that it takes would be free to its tenant."""

    unbound_claim_limit: timedelta = timedelta(seconds=30)
    """How long a released owner may stay unplaced before its hold is taken back. It counts while
    kube-scheduler is seen at work: see core.waits.scheduler_activity."""

    fresh_for: timedelta = timedelta(seconds=20)
    """How long a claim index stays valid after its last renewal: the dead man's switch."""

    fresh_renewal: timedelta = timedelta(seconds=6)
    """How often it is renewed; several tries fit into `fresh_for`."""

    watch_silence: timedelta = timedelta(seconds=90)
    """How long the watch of pods may be silent before claim indexes are no longer renewed: no pod
    must be gated while the operator does not see pods. A bookmark arrives once a minute."""

    node_grace: timedelta = timedelta(seconds=40)
    """How long a node may be not ready before its slots are released."""

    renewed_at_once: int = 10
    """How many percent of a headroom's slots are renewed at a time, at least one."""

    ended_kept_for: timedelta = timedelta(hours=24)
    """How long a hold that has ended stays to be read, before its object is deleted."""

    orphaned_kept_for: timedelta = timedelta(minutes=1)
    """The same for one that ended because its node is gone."""

    most_slots: int = 100_000
    """How many slots one headroom may have at most, whatever it asks for: counts are cut to this
    before anything is made of them. `headroom run --most-slots` sets it."""

    burst_at: int = 2
    """With at least so many pods that would each preempt, Preemptible slots are deleted together; a
    single pod is left to kube-scheduler."""

    handovers_at_once: int = 24
    """Door 2 handovers in flight; more wait, and are then grouped by node."""

    places_to_spare: int = 32
    """With fewer free places for pods on a node, each owner that comes there has a latch of its
    own: more than so many pods are not placed on one node in the time that a handover takes."""

    def serves(self, namespace: str) -> bool:
        """Whether objects and pods of a namespace are ours to serve; our own always are."""
        return not self.namespaces or namespace in self.namespaces or namespace == self.namespace
