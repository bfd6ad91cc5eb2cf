"""States that must never occur in a run; a violation is reported with its time.

They are checked against the stored objects, not against what the operator assumes: no node is
overcommitted, no room is given twice (`overcommit`), a hold for one owner has one owner, and no
latch and no gate of ours is left behind.
"""

from __future__ import annotations

from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    CLAIMS_ANNOTATION,
    ROLE_LABEL,
    ROLE_LATCH,
    SLOT_ANNOTATION,
    USERS_ANNOTATION,
    WAIT_ANNOTATION,
)
from headroom.core.objects import Pod
from headroom.core.resources import Resources
from headroom.sim.api.decoder import node_of, pod_of
from headroom.sim.api.store import COMING, META, SPEC, ObjectChange, Store, Verb
from headroom.sim.api.values import Json, Ref, dig, ref_of, uid_of
from headroom.sim.loop import SimClock
from headroom.sim.scenarios.overcommit import OvercommitCheck, RoomUsed

LATCH_LIMIT = 60.0
GATE_LIMIT = 60.0


class Invariants:
    """Watches a world and collects violations."""

    def __init__(self, store: Store, clock: SimClock) -> None:
        self.violations: list[str] = []
        self._store = store
        self._clock = clock
        self._since: dict[str, float] = {}
        self._operator_since: float | None = None
        self._owners: dict[str, dict[str, Ref]] = {}
        self._running: dict[str, dict[str, Resources]] = {}
        self._used = RoomUsed()
        store.listen("Pod", self._on_pod)
        OvercommitCheck(store, self._breach)

    def operator_is(self, alive: bool) -> None:
        """Set whether an operator runs: only a running operator can remove gates."""
        self._operator_since = self._clock.elapsed() if alive else None

    def finish(self) -> None:
        """Check what is left at the end."""
        for pod in self._store.list("Pod"):
            self._check_age(pod)

    def _on_pod(self, change: ObjectChange) -> None:
        pod, value = change.obj, pod_of(change.obj)
        if change.verb is Verb.ADDED:
            self._since[value.uid] = self._clock.elapsed()
        if change.verb is Verb.DELETED or (
            change.parts & (META | SPEC) and _is_ungated_now(change)
        ):
            self._check_age(change.old or pod)
        gone = change.verb is Verb.DELETED or value.finished
        if change.verb is Verb.DELETED:
            self._since.pop(value.uid, None)
        if value.node:
            self._count_running(value, gone)
        hold = _claimed(value)
        before = hold if not change.parts & (META | COMING) else ""
        if change.old is not None and change.parts & META:
            before = _claimed(pod_of(change.old))
        if hold or before:
            self._count_owner(pod, gone, before)

    def _check_age(self, pod: Json) -> None:
        if ROLE_LABEL not in pod_of(pod).labels and not pod_of(pod).gates:
            return
        age = self._clock.elapsed() - self._since.get(uid_of(pod), self._clock.elapsed())
        if _is_passing(pod) and age > LATCH_LIMIT:
            self._breach(f"{ref_of(pod)}: a latch stood for {age:.0f} s")
        if not _waits_at_our_gate(pod) or self._operator_since is None:
            return
        waited = min(age, self._clock.elapsed() - self._operator_since)
        if waited > GATE_LIMIT:
            self._breach(f"{ref_of(pod)}: waited {waited:.0f} s at our gate")

    def _count_running(self, pod: Pod, gone: bool) -> None:
        name, uid = pod.node, pod.uid
        if gone:
            ended = self._running.get(name, {}).pop(uid, None)
            if ended is not None:
                self._used.add(name, ended, -1)
        elif pod.phase == "Running" and uid not in self._running.setdefault(name, {}):
            self._running[name][uid] = pod.requests
            self._used.add(name, pod.requests, 1)
            self._check_room(name)

    def _check_room(self, name: str) -> None:
        node = self._store.find("Node", "", name)
        if node is None:
            return
        for resource, used, room in self._used.beyond(name, node_of(node).allocatable):
            self._breach(f"Node/{name}: overcommitted: {used} {resource} used of {room}")

    def _count_owner(self, pod: Json, gone: bool, before: str) -> None:
        hold = _claimed(pod_of(pod))
        if before != hold:
            self._owners.get(before, {}).pop(uid_of(pod), None)
        if not hold:
            return
        owners = self._owners.setdefault(hold, {})
        if gone or not dig(pod, "spec", "nodeName"):
            owners.pop(uid_of(pod), None)
            return
        owners[uid_of(pod)] = ref_of(pod)
        if dig(pod, "metadata", "annotations", CLAIMED_SLOT_ANNOTATION):
            return  # A claimed slot is held again under the same name.
        wish = self._store.by_uid(hold)
        once = wish is not None and dig(wish, "spec", "allocateOnce") is not False
        if len(owners) > 1 and once:
            names = ", ".join(sorted(str(ref) for ref in owners.values()))
            claimed = dig(pod, "metadata", "annotations", CLAIMED_ANNOTATION)
            self._breach(f"{claimed}: given twice: {names}")

    def _breach(self, words: str) -> None:
        breach = f"at {self._clock.elapsed():.3f}: {words}"
        if breach not in self.violations:
            self.violations.append(breach)


def _claimed(pod: Pod) -> str:
    """The uid of the hold that a pod has a claim on."""
    return pod.annotations.get(CLAIMED_UID_ANNOTATION, "")


def _is_passing(pod: Json) -> bool:
    """Whether a pod is a latch that must be deleted soon; a latch that a hold keeps may stay."""
    told = dig(pod, "metadata", "annotations") or {}
    lasting = (
        SLOT_ANNOTATION in told or USERS_ANNOTATION in told
    ) and CLAIMS_ANNOTATION not in told
    return dig(pod, "metadata", "labels", ROLE_LABEL) == ROLE_LATCH and not lasting


def _is_ungated_now(change: ObjectChange) -> bool:
    if change.old is None or not pod_of(change.old).gates:
        return False
    return _waits_at_our_gate(change.old) and not _waits_at_our_gate(change.obj)


def _waits_at_our_gate(pod: Json | None) -> bool:
    """Whether only our gate holds the pod back, and the pod did not ask to wait."""
    if not dig(pod, "spec", "schedulingGates"):
        return False
    gates = [gate.get("name") for gate in dig(pod, "spec", "schedulingGates") or ()]
    asked = dig(pod, "metadata", "annotations", WAIT_ANNOTATION) == "true"
    return gates == [CLAIM_GATE] and not asked
