"""Pods that were owners of a hold when we saw them: what is changed later takes no room from them.

Labels, owner references, the rules of a hold and the operator's flags may all change while an owner
runs. A claim that stood once stands until its pod ends. What is known here is known until a
restart; after one the status of the hold says the same (`core.claims.is_claimant`), and so does a
latch: of a slot that is bound to its node the one by which it keeps its claim, of an owner that has
just got its room the one under which it did.
"""

from __future__ import annotations

from collections.abc import Collection

from headroom.core.claims import claim_of, is_claimant
from headroom.core.holds import Hold
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod


class KnownOwners:
    """By the uid of the pod: the claim that stood."""

    def __init__(self, across_namespaces: bool) -> None:
        self._across = across_namespaces
        self._claims: dict[str, tuple[str, str]] = {}
        self._chosen: dict[str, str] = {}  # the hold that each was last about to get

    def note(self, hold: Hold, pod: Pod, told: Collection[str] = ()) -> bool:
        """Take a pod that claims a hold, as both now are; say whether its claim stands.

        `told` are uids of owners by the word of a latch of ours. Who still waits at our gate has no
        room yet, and may be turned away.
        """
        if pod.node:
            self._chosen.pop(pod.uid, None)
        got = bool(pod.node) and pod.uid in told
        stands = self.has(hold, pod) or (got and is_claimant(hold, pod, known=True))
        claim = claim_of(pod)
        if stands and claim is not None and pod.uid and CLAIM_GATE not in pod.gates:
            self._claims[pod.uid] = claim
        return stands

    def has(self, hold: Hold, pod: Pod) -> bool:
        """Whether a pod's claim on a hold stands, or has stood."""
        return is_claimant(hold, pod, self._across, self.knows(pod))

    def knows(self, pod: Pod) -> bool:
        """Whether the claim that a pod carries has stood."""
        claim = claim_of(pod)
        return claim is not None and self._claims.get(pod.uid) == claim

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._claims.pop(uid, None)
        self._chosen.pop(uid, None)

    def choose(self, hold: Hold, pod: Pod) -> None:
        """A hold is about to be given to a pod."""
        self._chosen[pod.uid] = str(hold.parent)

    def was_to_get(self, pod: Pod) -> str:
        """The hold that was last about to be given to a pod; empty if there was none."""
        return self._chosen.get(pod.uid, "")
