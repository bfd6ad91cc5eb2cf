"""Pods that were owners of a hold when we saw them: later changes do not take their room.

Labels, owner references, the rules of a hold and the operator's flags may all change while an owner
runs. A claim that was valid once stays valid until its pod ends, and so does one whose handover has
begun: its guardian may be gone by then. This is remembered until a restart. After a restart, the
status of the hold says the same (`core.claims.is_claimant`), and so does a latch: for a slot that
is bound to its node the latch that keeps its claim, for an owner that has just got its room the
latch of its handover.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from headroom.core.claims import claim_of, is_claimant
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import parents_on, told_by
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


class KnownOwners:
    """By the uid of the pod: the claim that stood."""

    def __init__(self, across_namespaces: bool) -> None:
        self._across = across_namespaces
        self._claims: dict[str, tuple[str, str]] = {}
        self._chosen: dict[str, tuple[str, str]] = {}  # the claim that each was last about to get

    def note(self, hold: Hold, pod: Pod, told: Collection[str] = ()) -> bool:
        """Take a pod that claims a hold, as both now are; say whether its claim stands.

        `told` are uids of owners by the word of a latch of ours. Who still waits at our gate has no
        room yet, and may be turned away unless its handover has begun.
        """
        got = bool(pod.node) and pod.uid in told
        stands = self.has(hold, pod) or (got and is_claimant(hold, pod, known=True))
        claim = claim_of(pod)
        if stands and claim is not None and pod.uid and CLAIM_GATE not in pod.gates:
            self._claims[pod.uid] = claim
        if pod.node:
            self._chosen.pop(pod.uid, None)
        return stands

    def has(self, hold: Hold, pod: Pod) -> bool:
        """Whether a pod's claim on a hold stands, or has stood."""
        return is_claimant(hold, pod, self._across, self.knows(pod))

    def remembers(self, uids: Collection[str]) -> bool:
        """Whether claims of all these pods are known to have stood."""
        return all(uid in self._claims for uid in uids)

    def knows(self, pod: Pod) -> bool:
        """Whether the claim that a pod carries has stood, or is one that we were about to give."""
        claim = claim_of(pod)
        return claim is not None and claim in (
            self._claims.get(pod.uid),
            self._chosen.get(pod.uid),
        )

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._claims.pop(uid, None)
        self._chosen.pop(uid, None)

    def choose(self, hold: Hold, pod: Pod) -> None:
        """A hold is about to be given to a pod."""
        self._chosen[pod.uid] = str(hold.parent), hold.parent.uid

    def was_to_get(self, pod: Pod) -> str:
        """The hold that was last about to be given to a pod; empty if there was none."""
        return self._chosen.get(pod.uid, ("", ""))[0]


def note_claims(ledger: Ledger, pod: Pod) -> Hold | None:
    """Note the claim of a pod, and whom a latch names; return the hold of a claim that stands."""
    for parent in parents_on(pod) if pod.key in ledger.latches else ():
        if parent in ledger.holds:
            _note_told(ledger, ledger.holds[parent])
    claim = claim_of(pod)
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    if hold is not None and pod.node:
        _note_told(ledger, hold)
    return hold if hold is not None and ledger.owners.note(hold, pod) else None


def note_owners(ledger: Ledger, hold: Hold) -> None:
    """Note who owns a hold as it now is."""
    _note_told(ledger, hold)
    for pod in ledger.having(By.CLAIMANT, str(hold.parent)):
        ledger.owners.note(hold, pod)


def _note_told(ledger: Ledger, hold: Hold) -> None:
    """Note owners by the word of latches: hold, latch and owner may be seen in any order."""
    parent = str(hold.parent)
    told = told_by(hold, ledger.having(By.LATCH_OF_HOLD, parent))
    if not ledger.owners.remembers(told):
        for pod in ledger.having(By.CLAIMANT, parent):
            if pod.uid in told:
                ledger.owners.note(hold, pod, told)
