"""Headrooms that follow gated pods: which pods, what each needs, and the removal of its gate.

The slots themselves are ordinary slots, calculated by `core.headrooms.wanted_slots`. This module
does the rest: it finds the pods with a followed gate or the label of a released one, and yields the
writes on owners: label, release, unlabel. `core.demand.followers` decides.

    gated ──label──▶ gated, labelled ──slots created──▶ released ──runs or ends──▶ unlabelled

A slot that follows a pod onto a full node is not needed if a Preemptible slot is there. A follower
that preempts evicts the least important pods that make room. Any Preemptible slot on the node is as
good for this as its own slot, which would only wait beside it. Each existing slot replaces one that
would wait. If the node has room, kube-scheduler places the slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.demand import followers
from headroom.core.demand.volumes import mounts
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.wanted_slots import SizeView, template_for
from headroom.core.holds import PREEMPTIBLE, Hold, PodTemplate
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.names import PARENT_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work, event_sequence
from headroom.core.sizes.follow import Follow, beside_slots, is_owner, owner_label
from headroom.core.sizes.kind import Size
from headroom.core.subjects import Topic, pod_subject
from headroom.engine.freeze import unfit
from headroom.engine.headrooms.records import remember_headroom
from headroom.engine.headrooms.slot_pods import slot_guardians
from headroom.engine.ledger import Ledger

_Known = tuple[followers.Followed, ...]


def concerned(ledger: Ledger, pod: Pod | None) -> Iterator[str]:
    """The headrooms that follow a pod, or that a guardian belongs to or serves."""
    if pod is None:
        return
    for whole in ledger.slots.depending(On.FOLLOWED):
        headroom = ledger.slots.headrooms[whole]
        rule = headroom.size.follows
        if ROLE_LABEL in pod.labels:
            ours = pod.annotations.get(PARENT_ANNOTATION, "") == whole
            if ours or _may_cover(ledger, headroom, pod.node):
                yield whole
        elif rule is not None and is_owner(headroom.parent, rule, pod):
            yield whole


def _may_cover(ledger: Ledger, headroom: Headroom, node: str) -> bool:
    """Whether a headroom has an owner on a node whose slots a guardian there may cover."""
    followed = ledger.slots.memory[headroom.parent.whole].followed
    on_node = (each.owner.node == node and each.needs.slots for each in followed)
    return bool(node) and headroom.mode == PREEMPTIBLE and any(on_node)


def followed_by(
    ledger: Ledger, headroom: Headroom, size: Size, before: _Known, now: datetime
) -> _Known:
    """What each owner of a headroom needs now; `before` is what was known of them."""
    rule = size.follows
    if rule is None:
        return ()
    made: dict[str, list[str]] = {}  # the parts of each owner that have a guardian
    for slot, _ in slot_guardians(ledger, headroom):
        made.setdefault(followers.owner_uid(slot), []).append(slot.partition("/")[2])
    known, found = {each.owner.uid: each for each in before}, []
    for owner in _owners(ledger, headroom, rule):
        mounted = mounts(owner.key.namespace, owner.claims, ledger.storage)
        parts = frozenset(made.get(owner.uid, ()))
        old = known.get(owner.uid) or followers.Followed(owner, followers.Following(), now)
        old = replace(old, owner=owner)
        needs = followers.needs_of(old, rule, mounted, parts, now)
        found.append(replace(old, needs=needs))
    return tuple(found)


def serve(ledger: Ledger, headroom: Headroom, open_now: bool, now: datetime) -> Iterator[Sequence]:
    """The writes on owners that are due; outside its schedule a headroom keeps nobody."""
    rule, agenda, whole = headroom.size.follows, ledger.agenda, headroom.parent.whole
    if rule is None:
        return
    memory = ledger.slots.memory[whole]  # Slots may be known only since the decision.
    followed = list(followed_by(ledger, headroom, rule, memory.followed, now))
    for place, each in enumerate(followed):
        owner, needs, subject = each.owner, each.needs, pod_subject(each.owner.key, Topic.FOLLOW)
        if agenda.busy(subject) or agenda.in_backoff(subject, now):
            continue
        if not open_now and rule.gate in owner.gates:
            needs = followers.Following(release=True, reason="OutsideSchedule")
        tell = followers.owner_event(owner, needs, now)
        if tell is not None and each.told != tell.message:  # Once.
            followed[place] = replace(each, told=tell.message)
            yield event_sequence(tell)
        action = followers.next_write(owner, needs, rule, owner_label(headroom.parent, rule))
        if action is not None:
            yield Sequence(Work.FOLLOW, (subject,), ((action,),))
    remember_headroom(ledger, whole, followed=tuple(followed))


def _owners(ledger: Ledger, headroom: Headroom, rule: Follow) -> Iterator[Pod]:
    label, index = owner_label(headroom.parent, rule), ledger.index
    for key in sorted({*index.of(By.GATE, rule.gate), *index.of(By.OWNER_LABEL, label)}):
        pod = ledger.pods[key]
        if ledger.policy.serves(key.namespace) and is_owner(headroom.parent, rule, pod):
            yield pod


def slots_covered_by_others(
    ledger: Ledger, headroom: Headroom, view: SizeView
) -> tuple[tuple[str, str], ...]:
    """The slots of a headroom that others cover, each with whose room that is and where."""
    rule, template = headroom.size.follows, template_for(headroom, view.workload)
    if headroom.mode != PREEMPTIBLE or rule is None or not isinstance(template, PodTemplate):
        return ()
    used: dict[Key, None] = {}
    found: list[tuple[str, str]] = []
    for slot in beside_slots(headroom, rule, template, view):
        spare = _spare(ledger, slot, used) if _waits(ledger, slot) else None
        if spare is not None:
            used[spare.key] = None
            found.append((slot.slot, f"{kept_for(spare)} has room on {spare.node}"))
    return tuple(found)


def _waits(ledger: Ledger, slot: Hold) -> bool:
    """Whether a slot would find no room on its owner's node."""
    if not slot.next_to:
        return False
    guardian = ledger.guardian_of(slot)  # Its hold is not in the ledger yet after a restart.
    if guardian is not None and guardian.node:
        return False
    return unfit(ledger, slot.template.pod, slot.next_to, frozenset()) is not None


def _spare(ledger: Ledger, slot: Hold, used: dict[Key, None]) -> Pod | None:
    """The smallest slot on the node that is large enough and covers no other."""
    asked = slot.template.pod.requests
    fitting = (
        pod
        for pod in _preemptible(ledger, slot.next_to)
        if pod.key not in used and asked.fits_in(pod.requests)
    )
    return min(fitting, key=lambda pod: (sum(pod.requests.values()), pod.key), default=None)


def _preemptible(ledger: Ledger, node: str) -> Iterator[Pod]:
    """Guardians on a node that may be preempted; slots that follow are kept for their own."""
    for pod in ledger.state.pods_on(node):
        if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN and pod.deleted is None:
            hold = ledger.holds.get(kept_for(pod))
            if hold is not None and hold.mode == PREEMPTIBLE and hold.template.beside is None:
                yield pod
