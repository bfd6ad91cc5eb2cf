"""A reusable hold on a node that has no place for one more pod.

Its owner has taken the guardian's place, so no pod can keep the rest. Other pods cannot take it,
because no pod has a place on that node. When a place becomes free, a latch that is nominated there
gets it. The latch is as large as the hold, so that it also keeps the room that the owner will
return. In the meantime a gated guardian charges the rest to the hold's namespace.

    owner bound ──▶ gated guardian of the rest ──▶ latch ──(a place is free)──▶ guardian bound
"""

from __future__ import annotations

from headroom.core.derived_names import guardian_name
from headroom.core.handover import bind_guardian, grow
from headroom.core.hold_state.endings import drop
from headroom.core.hold_state.view import HoldView
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.policy import Policy
from headroom.core.quotas.charges import charged, charges
from headroom.core.resources import Resources


def decide_on_full_node(
    view: HoldView, size: Resources, users: tuple[Pod, ...], policy: Policy
) -> Sequence | None:
    """What such a hold needs next; its guardian has no node."""
    hold, node, kept, guardian = view.hold, view.node, view.kept, view.roles.standing
    if kept.latched is not None and kept.grows and size and size.fits_in(kept.latched):
        return bind_guardian(hold, node, size, guardian)
    if guardian is not None and not (users and charges(guardian, size)):
        return drop(view, (guardian,))
    if not users or not size:
        return None
    if guardian is None:
        tried = view.obstacles.not_before is not None or any(pod.deleted for pod in view.guardians)
        return None if tried else charged(hold, guardian_name(hold), size)
    if kept.claimed or kept.passing:
        return None
    return grow(hold, node, hold.template.pod.requests, policy.namespace, users)
