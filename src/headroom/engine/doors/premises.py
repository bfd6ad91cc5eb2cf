"""What the next step of a handover rests on, asked between any two steps.

While a sequence is written, others change and delete objects. Up to the deletion of the guardian a
handover can be left as it is and decided afresh, and the hold has lost nothing. So before that
step, and before every later one that relies on a latch, its premises are checked against what the
watch has shown meanwhile. A sequence that is stopped here goes on as after a crash.
"""

from __future__ import annotations

from headroom.core.actions import Bind, CreateLatch, DeletePod, MoveLatch, Ungate
from headroom.core.plan import Sequence
from headroom.engine.doors.completion import cannot_finish, gated_claim
from headroom.engine.ledger import Ledger


def missing(ledger: Ledger, sequence: Sequence, number: int) -> str:
    """What a step rests on and is not there any more, in words; empty if all is as it was."""
    before = (action for step in sequence.steps[:number] for action in step)
    for latch in (each.key for each in before if isinstance(each, CreateLatch | MoveLatch)):
        if latch not in ledger.pods:
            return f"latch {latch.name} is gone"
    if not any(isinstance(action, DeletePod) for action in sequence.steps[number]):
        return ""
    later = (action for step in sequence.steps[number:] for action in step)
    changed = (_changed(ledger, action) for action in later if isinstance(action, Bind | Ungate))
    return next((why for why in changed if why), "")


def _changed(ledger: Ledger, action: Bind | Ungate) -> str:
    """Why an owner does not come, or not as it was to."""
    pod = ledger.pods.get(action.key)
    if pod is None or pod.uid != action.uid or pod.deleted is not None:
        return f"owner {action.key} is gone"
    hold = gated_claim(ledger, pod) if isinstance(action, Ungate) else None
    if hold is None or ledger.state.free_places(pod.nominated) < 1:
        return ""  # Without a place nothing keeps the rest of the hold: see `hold_state.full_node`.
    if cannot_finish(ledger, pod, hold):
        return f"{hold.parent.title} has changed"
    return ""
