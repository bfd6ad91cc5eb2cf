"""Room is charged to its namespace before anything keeps it.

A latch lives in the operator's namespace and is charged to nobody. It may replace room that pods of
the tenant are charged for: a replaced guardian, an owner that is leaving or on its way. If nothing
is charged yet, a gated guardian is created first that is never placed: the API server counts it
against the quotas of its namespace, or refuses it. When the room is free, the real guardian
replaces it.

    nothing ──gated guardian created──▶ charged ──latch created──▶ kept ──room free──▶ bound
       └──refused by a quota: no latch is created, and the hold says why
"""

from __future__ import annotations

from headroom.core.actions import CreateGuardian
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.resources import Resources
from headroom.core.subjects import hold_subject


def is_charge(pod: Pod) -> bool:
    """Whether a guardian is only there to be charged: it is gated, so it never gets a node."""
    return bool(pod.gates) and not pod.node


def charges(pod: Pod, size: Resources) -> bool:
    """Whether a guardian is there to be charged for exactly this much."""
    alive = pod.deleted is None and not pod.finished
    return alive and is_charge(pod) and pod.requests.only(size) == size


def charged(hold: Hold, name: str, size: Resources) -> Sequence:
    """Charge this amount to the hold's namespace, with a gated guardian."""
    create = CreateGuardian(name, hold, size, gated=True)
    return Sequence(Work.HOLD, (hold_subject(hold.parent),), ((create,),))
