"""Pods that were owners of a hold when we saw them: later changes do not take their room.

Labels, owner references, the rules of a hold and the operator's flags may all change while an owner
runs. A claim that was valid once stays valid until its pod ends, and so does one whose handover has
begun: its guardian may be gone by then. The memory of the pod has it until a restart. Then the
status of the hold says the same (`core.claims.is_claimant`), and so does a latch: for a slot that
is bound to its node the latch that keeps its claim, for an owner that has just got its room the
latch of its handover.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from headroom.core.claims import claim_of, is_claimant
from headroom.core.fast_dataclass import replace
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import parents_on, told_by
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


def owns(ledger: Ledger, hold: Hold, pod: Pod) -> bool:
    """Whether a pod's claim on a hold is valid, or was valid."""
    memory, this = ledger.pod_memory[pod.uid], (hold.parent.identity, hold.parent.uid)
    known = this in (memory.claim, memory.chosen)
    return is_claimant(hold, pod, ledger.policy.across_namespaces, known)


def knows(ledger: Ledger, pod: Pod) -> bool:
    """Whether the claim of a pod was valid, or is one that we were about to write."""
    claim, memory = claim_of(pod), ledger.pod_memory[pod.uid]
    return claim is not None and claim in (memory.claim, memory.chosen)


def was_to_get(ledger: Ledger, pod: Pod) -> str:
    """The hold that a pod was last about to get; empty if there was none."""
    chosen = ledger.pod_memory[pod.uid].chosen
    return chosen[0] if chosen is not None else ""


def _note(ledger: Ledger, hold: Hold, pod: Pod, told: Collection[str] = ()) -> bool:
    """Note a pod that claims a hold; return whether its claim is valid.

    `told` are the uids of owners that a latch of ours names. An owner that still waits at our gate
    has no room yet, and may be refused unless its handover has begun.
    """
    got = bool(pod.node) and pod.uid in told
    stands = owns(ledger, hold, pod) or (got and is_claimant(hold, pod, known=True))
    memory = ledger.pod_memory[pod.uid]
    claim = claim_of(pod) if stands and pod.uid and CLAIM_GATE not in pod.gates else memory.claim
    chosen = None if pod.node else memory.chosen
    if (claim, chosen) != (memory.claim, memory.chosen):
        ledger.pod_memory[pod.uid] = replace(memory, claim=claim, chosen=chosen)
    return stands


def note_claims(ledger: Ledger, pod: Pod) -> Hold | None:
    """Note the claim of a pod and the owners on a latch; return the hold of a valid claim."""
    if pod.key in ledger.latches:
        for parent in parents_on(pod):
            if parent in ledger.holds:
                _note_told(ledger, ledger.holds[parent])
    claim = claim_of(pod)
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    if hold is not None and pod.node:
        _note_told(ledger, hold)
    return hold if hold is not None and _note(ledger, hold, pod) else None


def note_owners(ledger: Ledger, hold: Hold) -> None:
    """Note the owners of a hold after it has changed."""
    _note_told(ledger, hold)
    for pod in ledger.having(By.CLAIMANT, hold.parent.identity):
        _note(ledger, hold, pod)


def _note_told(ledger: Ledger, hold: Hold) -> None:
    """Note the owners that latches name: hold, latch and owner may be observed in any order."""
    parent = hold.parent.identity
    claimants = ledger.index.of(By.CLAIMANT, parent)
    if claimants and (latches := ledger.index.of(By.LATCH_OF_HOLD, parent)):
        told = told_by(hold, [ledger.pods[key] for key in latches])
        news = any(ledger.pod_memory[uid].claim is None for uid in told)
        for pod in [ledger.pods[key] for key in claimants] if news else ():
            if pod.uid in told:
                _note(ledger, hold, pod, told)
