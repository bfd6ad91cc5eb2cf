"""What the next step of a handover depends on.

While a sequence is written, other clients change and delete objects. Until the guardian is deleted,
a handover can stop and be decided again, and the hold has lost nothing. So before that step, and
before every later step that depends on a latch, the observed state is checked again. A sequence
that is stopped here continues as after a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from headroom.core.actions import Bind, CreateLatch, DeletePod, MoveLatch, Ungate
from headroom.core.doors.claim_decision import NominatedOwner
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence

Gated = Callable[[Pod], NominatedOwner | None]
"""A gated owner whose claim stands; None if its node has no place for one more pod."""


def missing(sequence: Sequence, number: int, pods: Mapping[Key, Pod], gated: Gated) -> str:
    """What a step depends on and no longer exists, as text; empty if nothing has changed."""
    steps = sequence.steps
    for action in chain.from_iterable(steps[:number]):
        if isinstance(action, CreateLatch | MoveLatch) and action.key not in pods:
            return f"latch {action.key.name} is gone"
    if not any(isinstance(action, DeletePod) for action in steps[number]):
        return ""
    for action in chain.from_iterable(steps[number:]):
        if isinstance(action, Bind | Ungate):
            why = _changed(action, pods.get(action.key), gated)
            if why:
                return why
    return ""


def _changed(action: Bind | Ungate, pod: Pod | None, gated: Gated) -> str:
    """Why an owner does not come, or comes in another way than planned."""
    if pod is None or pod.uid != action.uid or pod.deleted is not None:
        return f"owner {action.key} is gone"
    owner = gated(pod) if isinstance(action, Ungate) else None
    if owner is None:  # Without a place nothing keeps the rest: see `hold_state.full_node`.
        return ""
    if not pod.nominated:
        return f"owner {action.key} is not nominated any more"
    return f"{owner.hold.parent.title} has changed" if owner.cannot_finish else ""
