"""Owners at the gate whose handover has begun: what is left to do, from whatever state they are in.

An owner that needs nothing but its guardian's room goes on at once. One that needs free room of the
node as well stands nominated for a while first, its guardian untouched: a cycle of kube-scheduler
that began before may still give that free room to somebody else. If it did, the claim is taken
back, and the hold has lost nothing. `rollback` undoes a handover that the API server forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import Disclaim
from headroom.core.allocation import kept_beside
from headroom.core.claims import claim_of
from headroom.core.handover import finish_gate
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.names import CLAIM_GATE
from headroom.core.node.kept_room import returned_on
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import hold_subject, node_changed, pod_subject
from headroom.engine.doors.rollback import in_the_way, take_back
from headroom.engine.freeze import node_view
from headroom.engine.handover_queue import rivals_on
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit


def finish(ledger: Ledger, pod: Pod, hold: Hold, now: datetime) -> Iterator[Sequence]:
    """Go on with a nominated owner that is still gated, and with all others on its node.

    As long as one guardian stands beside a nominated owner, room counts twice: a gate opened too
    early would let kube-scheduler find the node too full.
    """
    if cannot_finish(ledger, pod, hold):
        yield _taken_back(ledger, pod, hold)
        return
    refusal = ledger.pod_memory[pod.uid].refusal
    if refusal is not None:
        yield from take_back(ledger, pod, hold, refusal, now)
        return
    if _undoes(ledger, pod.nominated):
        ledger.agenda.wait(pod_subject(pod.key), on=node_changed(pod.nominated))
        return
    together = []
    for other in sorted(ledger.state.nominated_on(pod.nominated), key=lambda each: str(each.key)):
        known = gated_claim(ledger, other)
        if known is not None and not ledger.agenda.busy(pod_subject(other.key)):
            if cannot_finish(ledger, other, known):
                yield _taken_back(ledger, other, known)
            else:
                together.append((other, known))
    slow = [each for each in together if _needs_free_room(ledger, *each)]
    since = [nominated_since(ledger, owner, now) for owner, _ in slow]
    until = max(since, default=now) + ledger.policy.free_room_wait
    if slow and now < until:
        ledger.agenda.later(pod_subject(pod.key), until)
        return
    late = [each for each in slow if not _fits_still(ledger, *each, now)]
    for owner, known in late:
        yield _taken_back(ledger, owner, known)
    if late:  # The others go on when kube-scheduler does not count these any more.
        ledger.agenda.later(pod_subject(pod.key), now + ledger.policy.first_look)
        return
    owners = [(owner, in_the_way(ledger, known)) for owner, known in together]
    yield finish_gate(owners, _rivals(ledger, pod.nominated, owners))


def disclaim(pod: Pod, hold: Hold, nominated: bool) -> Sequence:
    """Take a claim back, with the nomination if there is one."""
    take_back = Disclaim(pod.key, pod.uid, nominated and bool(pod.nominated))
    subjects = (pod_subject(pod.key), hold_subject(hold.parent))
    return Sequence(Work.DISCLAIM, subjects, ((take_back,),))


def nominated_since(ledger: Ledger, pod: Pod, now: datetime) -> datetime:
    """Since when kube-scheduler counts an owner; from now on if that was not known."""
    memory = ledger.pod_memory[pod.uid]
    since = memory.nominated_since or now
    ledger.pod_memory[pod.uid] = replace(memory, nominated_since=since)
    return since


def forget_nomination(ledger: Ledger, pod: Pod) -> None:
    """An owner has its node, or begins anew."""
    memory = ledger.pod_memory[pod.uid]
    ledger.pod_memory[pod.uid] = replace(memory, nominated_since=None)


def _taken_back(ledger: Ledger, pod: Pod, hold: Hold) -> Sequence:
    """Let an owner begin anew, and its time as well."""
    forget_nomination(ledger, pod)
    return disclaim(pod, hold, nominated=True)


def _needs_free_room(ledger: Ledger, pod: Pod, hold: Hold) -> bool:
    """Whether an owner needs more than its guardian has; not once that one is gone."""
    guardian = in_the_way(ledger, hold)
    if guardian is None:
        return False
    kept = kept_beside(hold, guardian.requests, pod.requests)
    return not (pod.requests + kept).fits_in(guardian.requests)


def _fits_still(ledger: Ledger, pod: Pod, hold: Hold, now: datetime) -> bool:
    """Whether an owner has room on its node once its guardian is gone."""
    guardian, node = in_the_way(ledger, hold), pod.nominated
    without = frozenset(each.key for each in (pod, guardian) if each is not None)
    owed = returned_on(node_view(ledger, node, now), now, str(hold.parent))
    asking = replace(pod, requests=pod.requests + owed)
    return unfit(ledger, asking, node, without) is None


def _undoes(ledger: Ledger, node: str) -> bool:
    """Whether the claim of an owner there is being taken back, or about to be."""
    return bool(ledger.work.of(By.TAKE_BACK, node)) or any(
        ledger.pod_memory[other.uid].refusal is not None
        for other in ledger.state.nominated_on(node)
    )


def _rivals(ledger: Ledger, node: str, owners: list[tuple[Pod, Pod | None]]) -> list[Pod]:
    """Guardians of ours that wait for room and could take that of owners on their way."""
    leaving = frozenset(guardian.key for _, guardian in owners if guardian is not None)
    lowest = min((pod.priority for pod, _ in owners), default=0)
    return rivals_on(ledger, node, lowest, leaving)


def gated_claim(ledger: Ledger, pod: Pod) -> Hold | None:
    """The hold that a gated pod has a true claim on."""
    claim = claim_of(pod)
    hold = ledger.holds.get(claim[0]) if claim is not None and CLAIM_GATE in pod.gates else None
    if hold is None or not ledger.owners.has(hold, pod):
        return None
    return hold


def cannot_finish(ledger: Ledger, pod: Pod, hold: Hold) -> bool:
    """Whether a half-done claim is to begin anew: what it rests on is not there, or not yet."""
    if hold.allocate_once and _given_to_another(ledger, pod, hold):
        return True
    guardian = ledger.guardian_of(hold)
    if guardian is None:
        return not pod.nominated
    if guardian.node != pod.nominated:
        return True
    kept = kept_beside(hold, guardian.requests, pod.requests)
    if not kept or in_the_way(ledger, hold) is None:
        return False
    latches = ledger.latches_of(hold)  # What stays held must be kept before the guardian goes.
    return not any(
        latch.nominated == pod.nominated and kept.fits_in(latch.requests) for latch in latches
    )


def _given_to_another(ledger: Ledger, pod: Pod, hold: Hold) -> bool:
    """Whether another owner is ahead on its way into a hold for one.

    A claim whose answer was lost may come to light after the hold was offered again. Whoever is
    beyond the gate or moving is ahead; among those who stand still, the first by name.
    """
    others = [other for other in ledger.claimants_of(hold) if other.key != pod.key]
    return hold.status.phase == "Succeeded" or any(
        CLAIM_GATE not in other.gates
        or ledger.agenda.busy(pod_subject(other.key))
        or other.key < pod.key
        for other in others
    )
