"""Which latches have taken over the room of a guardian, so that it was never free.

The latch of a handover keeps the room of its guardian from when that is deleted: a cycle of
kube-scheduler that began before counts the guardian, and each later one the latch. We know that in
two cases only. Our own deletion was done after the latch was nominated; or the watch, which shows
pods in order, has shown the nomination before the end of the guardian. In every other case
(somebody else was quicker, or an operator before us did it) a latch is trusted as on free room.
"""

from __future__ import annotations

from headroom.core.fast_dataclass import replace
from headroom.core.index_entries import By
from headroom.core.latches import claims_on, kept_for
from headroom.core.names import CLAIMS_ANNOTATION
from headroom.core.objects import Key, Pod
from headroom.engine.ledger import Ledger


def note_guardian_gone(ledger: Ledger, key: Key, uid: str, by_us: bool = False) -> None:
    """A pod is gone; if it was a guardian, latches keep its room from now on.

    Work about one hold is never done at the same time. So our deletion of its guardian came after
    the nomination of its latch, if that is done; this says nothing of the guardian of an older hold
    of the same name.
    """
    pod = ledger.pods.get(key)
    hold = ledger.holds.get(kept_for(pod)) if pod is not None and pod.uid == uid else None
    if pod is None or hold is None or pod.finished or pod not in ledger.guardians_of(hold):
        return
    for latch in ledger.having(By.LATCH_OF_HOLD, hold.parent.identity):
        first = by_us or ledger.shown_since(latch, pod.node) is not None
        if first and latch.nominated == pod.node and claims_on(latch):
            memory = replace(ledger.pod_memory[latch.uid], took_over=_use(latch))
            ledger.pod_memory[latch.uid] = memory


def took_over(ledger: Ledger, latch: Pod) -> bool:
    """Whether a latch took its room over from a guardian; no longer after it was moved."""
    return ledger.pod_memory[latch.uid].took_over == _use(latch)


def _use(latch: Pod) -> tuple[str, str]:
    return latch.nominated, latch.annotations.get(CLAIMS_ANNOTATION, "")
