"""The safety rule of `core.node.book`, checked at every write of the operator in simulated runs.

The books are built from what the API server has stored, never from what the operator assumes. They
are checked when the operator removes something that kept room: a guardian, a latch, or a latch that
is moved to another use. A hold that is an object says itself whether it has ended. A slot of a
Headroom does not: the operator may give it up at any time, so its guardian may be deleted without a
latch, but then its room must not be given to an owner.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.claims import claim_of, is_claimant
from headroom.core.holds import LOCKED, PREEMPTIBLE, Hold, PodTemplate
from headroom.core.latches import kept_for
from headroom.core.names import LOCKED_PRIORITY, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.node.book import (
    OWNERS,
    KeptBy,
    NodeBook,
    RoomChange,
    RoomClaim,
    Shown,
    broken,
    promise,
    promised_after,
    promised_before,
    room_claim,
)
from headroom.core.objects import Key, Parent, Pod
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import changed_pod, node_of
from headroom.sim.api.store import GOING, STATUS, ObjectChange, Verb
from headroom.sim.api.values import Ref, dig
from headroom.wire.errors import DecodeError

WAIT = Policy().latch_linger
Known = tuple[Pod, Shown]
Promised = tuple[str, Resources]  # with the uid of the hold's object
Lost = tuple[int, RoomClaim]  # a nomination that is gone, with the version of the store


class SafetyCheck:
    """Watches a cluster; `breaches` has every violation of the rule, with its time."""

    def __init__(self, stage: ActorContext) -> None:
        self.breaches: list[str] = []
        self.across_namespaces = False  # as in the operator's settings
        self._told: dict[str, None] = {}
        self._stage = stage
        self._pods: dict[str, Known] = {}  # by uid: pods that belong to a hold
        self._on: dict[str, dict[str, None]] = {}  # node → their uids
        self._promised: dict[str, dict[str, Promised]] = {}  # node → hold
        self._where: dict[str, dict[str, None]] = {}  # hold → nodes on which it was promised room
        self._followed: dict[str, None] = {}  # kinds of holds
        self._lost: dict[tuple[str, str], list[Lost]] = {}  # by node and hold
        self._slots: dict[str, Hold] = {}  # by parent, derived from their guardians
        self._bare: dict[tuple[str, str], None] = {}  # slots given up, by node and hold
        self._holds: dict[str, tuple[str, Hold | None]] = {}  # by parent, with their version
        stage.store.listen("Pod", self._on_pod)
        stage.store.listen("Node", self._on_node)

    def _on_node(self, change: ObjectChange) -> None:
        """Drop the promises of a deleted node: a new node of the same name is another one."""
        if change.verb is Verb.DELETED:
            self._promised.pop(str(change.obj["metadata"]["name"]), None)

    def _on_hold(self, change: ObjectChange) -> None:
        """Update the promises to a hold that says how it stands: it may say that it is not held."""
        parent, now = "/".join(change.ref), self._stage.clock.now()
        for node in tuple(self._where.get(parent, ())):
            if parent in self._promised.get(node, ()):
                self._promise(node, parent, RoomChange(None, None), now)
            else:
                del self._where[parent][node]
        if change.verb is Verb.DELETED:
            self._where.pop(parent, None)

    def _on_pod(self, change: ObjectChange) -> None:
        uid = str(change.obj["metadata"]["uid"])
        old = self._pods.get(uid)
        if old is None and change.parts == STATUS:
            return  # Its labels and annotations make it one that concerns a hold.
        pod = changed_pod(change)
        if old is None and not _parent_of(pod):
            return
        ours, now = bool(self._stage.server.acting), self._stage.clock.now()
        if old is not None and old[0].deleted is not None:
            ours = False  # Another client has deleted it before.
        stays = old is not None and _is_where(old[0], pod)
        shown = old[1] if old is not None and stays else Shown(now, ours and bool(pod.node))
        shown = replace(shown, owner=self._is_owner(pod, old))
        new = None if change.verb is Verb.DELETED else (pod, shown)
        self._note_slot(pod)
        before = self._claim(*old) if old is not None else None
        after = self._claim(*new) if new is not None else None
        steps = [RoomChange(before, after, ours)]
        if before is not None and after is not None and before.node != after.node:
            steps = [RoomChange(before, None, ours), RoomChange(None, after, ours)]
        changed = [step for step in steps if step.before != step.after]
        for step in changed:
            self._note_promises(step, now)
        self._replace(uid, old, new)
        for step in changed:
            self._note_lost(step)
            self._follow(step, now)

    def _is_owner(self, pod: Pod, old: Known | None) -> bool:
        """Whether the claim of a pod is valid, was valid, or is written by the operator.

        The labels of an owner may change at the moment when it gets its room.
        """
        hold = self._hold(_parent_of(pod))
        if hold is None or ROLE_LABEL in pod.labels:
            return False
        if old is not None and claim_of(old[0]) == claim_of(pod):
            known = old[1].owner
        else:
            known = bool(self._stage.server.acting)
        return is_claimant(hold, pod, self.across_namespaces, known)

    def _replace(self, uid: str, old: Known | None, new: Known | None) -> None:
        if old is not None:
            del self._on[_place(old[0])][uid]
            del self._pods[uid]
        if new is not None:
            self._pods[uid] = new
            self._on.setdefault(_place(new[0]), {})[uid] = None

    def _note_promises(self, change: RoomChange, now: datetime) -> None:
        """Record what is promised to the holds of a claim before the claim changes."""
        claim = change.after or change.before
        for parent in claim.holds if claim is not None else ():
            hold, node = self._hold(parent), claim.node if claim is not None else ""
            if hold is not None:
                promised = self._promised_to(node, parent, hold)
                here = self._claims_of(node, parent)
                known = promised_before(promised, hold, here, now - WAIT, now)
                self._promised.setdefault(node, {})[parent] = hold.parent.uid, known
                self._where.setdefault(parent, {})[node] = None

    def _note_lost(self, change: RoomChange) -> None:
        """Remember a nomination that somebody else took away, with its owner or without."""
        claim = change.before
        if change.by_us or claim is None or change.after is not None:
            return
        if claim.by is KeptBy.NOMINATED:
            lost = self._stage.store.version, claim
            self._lost.setdefault((claim.node, claim.holds[0]), []).append(lost)

    def _not_known(self, changed: RoomClaim) -> list[RoomClaim]:
        """Nominations that kept the room of a guardian, as far as the operator knew.

        No request can depend on two objects. An owner may lose its nomination (somebody deletes it,
        or a more important pod preempts there) while the deletion of its guardian is on its way, or
        before the watch has shown that. What the watch had shown when the operator sent the
        deletion is no excuse.
        """
        if changed.by is not KeptBy.GUARDIAN:
            return []
        lost = self._lost.pop((changed.node, changed.holds[0]), [])
        return [claim for version, claim in lost if version > self._stage.server.knows]

    def _follow(self, change: RoomChange, now: datetime) -> None:
        """Update the promises after one change, and check whether they are kept."""
        claim = change.after or change.before
        if claim is None:
            return
        for parent in claim.holds:
            self._promise(claim.node, parent, change, now)
        given = claim.by in OWNERS and change.after is not None
        if change.by_us and (given or change.after is None):
            self._check(claim, now)
        if change.by_us and given:
            self._check_given(claim)

    def _claim(self, pod: Pod, shown: Shown) -> RoomClaim | None:
        hold = self._hold(_parent_of(pod))
        return room_claim(pod, hold, shown, WAIT, self.across_namespaces)

    def _note_slot(self, pod: Pod) -> None:
        parent = _parent_of(pod)
        if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN and "#" in parent:
            self._slots[parent] = _slot_of(pod, parent)

    def _hold(self, parent: str) -> Hold | None:
        """A hold from its current object; a slot as derived from its guardian."""
        if "#" in parent or parent.count("/") != 2:
            return self._slots.get(parent)
        ref = Ref(*parent.split("/", 2))
        obj = self._stage.store.get(ref)
        if obj is None:
            return None
        if ref.kind not in self._followed:
            self._followed[ref.kind] = None
            self._stage.store.listen(ref.kind, self._on_hold, STATUS | GOING)
        version, known = str(dig(obj, "metadata", "resourceVersion")), self._holds.get(parent)
        if known is None or known[0] != version:
            try:
                thing = self._stage.store.registry.decode(obj)
            except DecodeError:
                thing = None
            known = version, thing if isinstance(thing, Hold) else None
            self._holds[parent] = known
        return known[1]

    def _claims(self, node: str) -> list[RoomClaim]:
        found = (self._claim(*self._pods[uid]) for uid in self._on.get(node, ()))
        return [claim for claim in found if claim is not None]

    def _claims_of(self, node: str, parent: str) -> list[RoomClaim]:
        return [claim for claim in self._claims(node) if parent in claim.holds]

    def _promised_to(self, node: str, parent: str, hold: Hold) -> Resources:
        """What was promised to this object; a new object of the same name starts with nothing."""
        uid, promised = self._promised.get(node, {}).get(parent, ("", EMPTY))
        return promised if uid == hold.parent.uid else EMPTY

    def _promise(self, node: str, parent: str, change: RoomChange, now: datetime) -> None:
        hold, promised = self._hold(parent), self._promised.setdefault(node, {})
        if hold is None:
            promised.pop(parent, None)
            return
        here = self._claims_of(node, parent)
        if any(claim.by is KeptBy.GUARDIAN for claim in here):
            self._bare.pop((node, parent), None)
        before = self._promised_to(node, parent, hold)
        promised[parent] = hold.parent.uid, promised_after(before, change, hold, here, now)

    def _check(self, changed: RoomClaim, now: datetime) -> None:
        """Check the rule on a node where the operator has removed or created a claim."""
        node, nothing = changed.node, RoomChange(None, None)
        promised = self._promised.setdefault(node, {})
        for parent in tuple(promised):
            self._promise(node, parent, nothing, now)
        unknown = self._not_known(changed)
        claims = [*self._claims(node), *unknown]
        concerned = _together(changed, claims)
        promises = [
            promise(node, name, each, now)
            for name, (_, each) in promised.items()
            if name in concerned
        ]
        holds = ((name, self._hold(name)) for name in promised if "#" not in name)
        single = frozenset(name for name, hold in holds if hold and hold.allocate_once)
        book = NodeBook(node, (*claims, *promises), self._is_full(node))
        for words in broken(book, single, now):
            given_up = [parent for parent in changed.holds if self._may_give_up(parent)]
            self._bare.update(dict.fromkeys((node, parent) for parent in given_up))
            moved = all(self._has_moved(node, parent, now) for parent in changed.holds)
            for parent in changed.holds:
                promised.pop(parent, None)
            if not given_up and not moved:
                self._tell(words)
        for claim in unknown:  # Not promised any more: its hold has to find room anew.
            uid, amount = promised.get(claim.holds[0], ("", EMPTY))
            promised[claim.holds[0]] = uid, amount.minus(claim.amount)

    def _has_moved(self, node: str, parent: str, now: datetime) -> bool:
        """Whether a guardian on another node keeps everything that was promised to a hold here."""
        if self._claims_of(node, parent):
            return False
        _, promised = self._promised[node].get(parent, ("", EMPTY))
        others = (self._claims_of(each, parent) for each in self._on if each != node)
        stand = [each for found in others for each in found if each.by is KeptBy.GUARDIAN]
        return any(each.is_firm(now) and promised.fits_in(each.amount) for each in stand)

    def _may_give_up(self, parent: str) -> bool:
        """Whether the operator may end a hold by itself: a slot, with or without its own object."""
        hold = self._hold(parent)
        return hold is None or bool(hold.slot or hold.finalizer or hold.tenure)

    def _check_given(self, owner: RoomClaim) -> None:
        """Check that the room of a slot was kept until the operator gave it to an owner."""
        stand = (
            claim.by is KeptBy.GUARDIAN for claim in self._claims_of(owner.node, owner.holds[0])
        )
        if (owner.node, owner.holds[0]) in self._bare and not any(stand):
            words = f"{owner.holds[0]}: given to {owner.owners[0]} on {owner.node}"
            self._tell(f"{words}, although nothing kept its room for a moment")

    def _is_full(self, node: str) -> bool:
        """Whether no pod can be placed on a node: it was deleted, or it accepts no more pods."""
        obj = self._stage.store.get(Ref("Node", "", node))
        if obj is None:
            return True
        coming = sum(each.by in (KeptBy.LATCH, KeptBy.NOMINATED) for each in self._claims(node))
        bound = len(self._stage.pods.on_node(node))
        return bound + coming >= node_of(obj).allocatable[PODS]

    def _tell(self, words: str) -> None:
        """Report a violation once; it is found again at every later write."""
        if words not in self._told:
            self._told[words] = None
            self.breaches.append(f"at {self._stage.clock.elapsed():.3f}: {words}")


def _together(changed: RoomClaim, claims: list[RoomClaim]) -> set[str]:
    """The holds that a change concerns: its own, and those that share a latch with them."""
    found = set(changed.holds)
    for _ in claims:
        more = {name for each in claims if found.intersection(each.holds) for name in each.holds}
        if more <= found:
            break
        found |= more
    return found


def _parent_of(pod: Pod) -> str:
    """The hold that a pod keeps room for, or claims."""
    claim = claim_of(pod)
    return kept_for(pod) if ROLE_LABEL in pod.labels else claim[0] if claim is not None else ""


def _place(pod: Pod) -> str:
    return pod.node or pod.nominated


def _is_where(old: Pod, new: Pod) -> bool:
    return (old.node, old.nominated) == (new.node, new.nominated)


def _slot_of(guardian: Pod, parent: str) -> Hold:
    """A slot of a Headroom as derived from its guardian; the rest of its owner is unknown."""
    whole, _, slot = parent.partition("#")
    kind, namespace, name = whole.split("/", 2)
    uid = next((owner.uid for owner in guardian.owners if owner.kind == kind), "")
    locked = guardian.priority >= LOCKED_PRIORITY
    shape = PodTemplate(Pod(Key(namespace, ""), requests=guardian.requests))
    parent_of = Parent("", kind, namespace, name, uid, slot)
    return Hold(parent_of, shape, mode=LOCKED if locked else PREEMPTIBLE, ttl=None)
