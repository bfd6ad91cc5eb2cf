"""One hold with all facts that concern it at one moment, and the decision about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headroom.core.eviction.preallocation import Succession
from headroom.core.eviction.reclaim import Reclaim
from headroom.core.hold_state.memory import NOTHING, HoldMemory
from headroom.core.holds import Hold, HoldStatus
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.quotas.refusals import QuotaRefusal
from headroom.core.resources import EMPTY, Resources
from headroom.core.subjects import Awaited


@dataclass(frozen=True, slots=True)
class RenewalView:
    """What decides whether it is a hold's turn to be renewed.

    Each slot keeps its old guardian until the new one has a node, so a renewal needs extra room. To
    renew all slots of a headroom at once would need twice the room and flood the scheduler.
    """

    others: int = 0  # how many other slots of its headroom are being renewed
    most: int = 1  # how many may be at a time
    stuck: bool = False  # its successor finds no room, or may not even be created
    unsettled: bool = False  # pods of ours are between two states on the node of its guardian


@dataclass(frozen=True, slots=True)
class HoldView:
    """One hold and all that concerns it at a moment.

    `trouble` is why the last try to make a guardian failed, `not_before` when the next may come;
    `node` is where its guardian was last seen; `promised` whether an owner is on its way into it;
    `latched` is what a latch of its own keeps there, nothing yet while it is too young to trust,
    or all that it may have where a fence keeps strangers off (`fenced`); `taken_over` is the part
    of it that was a guardian's before, so that there is room for it; `passing` whether pods of
    ours count twice there just now; `grows` whether a larger guardian would fit. Of a guardian
    that is to be renewed: `may_renew` whether it is its turn, `beside` whether its successor fits
    beside it, `in_place` whether it fits where it stands, `crowded` whether a limit or a quota
    forbids both at once. `held_up` is why no guardian may be made now, because it would have to
    wait for a node that must not come; `full` that one of another slot has to go first.
    """

    hold: Hold
    guardians: tuple[Pod, ...] = ()
    claimants: tuple[Pod, ...] = ()
    node: str = ""
    promised: bool = False
    latched: Resources | None = None
    taken_over: Resources = EMPTY
    fenced: bool = False
    room_changes_at: datetime | None = None  # when one of these answers changes by itself
    passing: bool = False
    grows: bool = True
    may_renew: bool = True
    beside: bool = True
    in_place: bool = True
    crowded: bool = False
    held_up: str = ""
    full: bool = False
    over_limit: bool = False  # `held_up` is a limit of its namespace
    trouble: str = ""
    not_before: datetime | None = None
    first: str = ""  # the pod that it is for, and that waits for room without it
    first_until: datetime | None = None  # how long that one goes first
    refused: QuotaRefusal | None = None  # by the quota that leaves it no room
    homeless: bool = False  # its node was deleted
    overbooked: Resources = EMPTY  # what pods on its node ask for beyond what there is
    needs_place: bool = False  # it has no room, and may take the place of running pods
    awaited: Succession | None = None  # the pods whose place it is to take
    rest: Resources = EMPTY  # what is left where somebody else ended its guardian
    left: Pod | None = None  # another controller's guardian of the same object
    leaves_room: bool = False  # its time is over, and another slot may take its room over
    heir: bool = False  # its guardian stays until that has happened
    lodgers: tuple[Pod, ...] = ()  # of a slot: owners that still use its room on its node
    whole: bool = True  # whether all of it would fit there beside them
    pinned: bool = False  # whether it keeps its claim on what they use
    claimed: bool = False  # whether a latch stands by which it does so
    placeless: bool = False  # its owners left no place for who would keep the rest
    reclaim: Reclaim | None = None  # of a slot whose room others have: who gives way
    estate: Pod | None = None  # the guardian of one that is over, whose room it takes over
    inherits: tuple[str, ...] = ()  # nodes of such guardians that are not to be had in this moment
    latches: tuple[Pod, ...] = ()  # that keep room for it, not for an owner on its way
    memory: HoldMemory = NOTHING
    renewal: RenewalView | None = None  # of one whose guardian is to be renewed
    spent: bool = False  # its headroom does not refill it and is about to drop it
    arrivals: frozenset[str] = frozenset()  # of the nodes it may go to, those that owners go to


@dataclass(frozen=True, slots=True)
class HoldDecision:
    """What a hold needs now; `status` is what its object should show.

    It is decided again at `wake_at`, and when one of `waits` happens. `memory` is what is to be
    remembered. `seeks` says whether it wants a guardian that kube-scheduler places.
    """

    status: HoldStatus
    sequence: Sequence | None = None
    wake_at: datetime | None = None
    waits: tuple[Awaited, ...] = ()
    memory: HoldMemory = NOTHING
    seeks: bool = False
