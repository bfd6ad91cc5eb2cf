"""What must be remembered about one pod between two decisions: one frozen record.

The engine keeps a record for each pod of which something must be remembered, by its uid, and drops
it with the pod.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.fast_dataclass import dataclass
from headroom.core.waits.owners_first import Ahead


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a handover was forbidden, and from when on a guardian that was made again keeps all."""

    why: str
    kept_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class PodMemory:
    """What is known of a pod beyond what its object shows."""

    since: datetime | None = None  # it waits at one of our doors, or for room to grow, since then
    nominated_since: datetime | None = None  # an owner that kube-scheduler counts, since then
    ahead: Ahead | None = None  # it goes on without a hold, and before its guardians
    denied: str = ""  # a write to it that is part of a handover was forbidden
    refusal: Refusal | None = None  # its claim is to be taken back
    room_on: str = ""  # where a burst has room for it
    room_until: datetime | None = None  # it has to be there by then
    given_up: bool = False  # a guardian that goes for a burst
    retry_at: datetime | None = None  # when to look whether kube-scheduler still leaves it alone
    retries: int = 0  # how often we had kube-scheduler look again
    shown_on: str = ""  # the node on which the watch showed a latch or a fence
    shown_since: datetime | None = None
    unmounted_since: datetime | None = None  # its volume claims forbid every node since then
    binding_since: datetime | None = None  # its volumes were asked for then
    took_over: tuple[str, ...] = ()  # node and claims with which a latch took over from a guardian
    asked_since: datetime | None = None  # a guardian without a node, since then
    told: str = ""  # what people were last told of it
    claim: tuple[str, str] | None = None  # its claim that stood: see `engine.observation.owners`
    chosen: tuple[str, str] | None = None  # the claim that it was last about to get


NOTHING = PodMemory()
