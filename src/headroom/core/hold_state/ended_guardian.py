"""A hold whose guardian somebody else has ended: the room is held again where it was.

The kubelet lets a Locked guardian keep its room for a few seconds more. In this time a latch as
large as the guardian is nominated to its node. A pod that preempted the guardian is more important
than the latch, so the latch is not in its way.
"""

from __future__ import annotations

from headroom.core.handover import grow, put_back
from headroom.core.hold_state.view import HoldView
from headroom.core.plan import Sequence
from headroom.core.resources import Resources


def keep_rest(view: HoldView, size: Resources, latches: str) -> Sequence | None:
    """Hold what is left (`view.rest`) of what the hold is to keep (`size`).

    When every cycle of kube-scheduler sees the latch, the old guardian is deleted at once: a pod
    that waits for its room, or a drain, does not have to wait for the kubelet.
    """
    if view.kept.latched is None:
        return grow(view.hold, view.node, size, latches)
    if not view.rest.fits_in(view.kept.latched):
        return None
    return put_back(view.hold, view.node, view.rest, *view.guardians)
