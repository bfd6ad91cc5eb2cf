"""One hold with all facts that concern it at one moment, and the decision about it."""

from __future__ import annotations

from datetime import datetime

from headroom.core.eviction.preallocation import Succession
from headroom.core.eviction.reclaim import Reclaim
from headroom.core.fast_dataclass import dataclass
from headroom.core.hold_state.memory import NOTHING, HoldMemory
from headroom.core.holds import Hold, HoldStatus
from headroom.core.node.kept_room import NOTHING_KEPT, KeptRoom
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.quotas.refusals import QuotaRefusal
from headroom.core.renewal import NO_GUARDIANS, Guardians
from headroom.core.resources import EMPTY, Resources
from headroom.core.subjects import Awaited


@dataclass(frozen=True, slots=True)
class RenewalView:
    """A guardian that must be renewed: whether it is its turn, and where its successor fits.

    Each slot keeps its old guardian until the new one has a node, so a renewal needs extra room. To
    renew all slots of a headroom at once would need twice the room and flood the scheduler.
    """

    others: int = 0  # how many other slots of its headroom are being renewed
    most: int = 1  # how many may be at a time
    stuck: bool = False  # its successor finds no room, or may not even be created
    unsettled: bool = False  # pods of ours are between two states on the node of its guardian
    waits: bool = False  # it is not its turn, or its node has another change in progress
    beside: bool = True  # its successor fits beside it
    in_place: bool = True  # it fits where the old one stands, and no limit forbids it
    one_at_a_time: bool = False  # a limit or a quota forbids both at once


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What prevents a guardian of a hold, or delays it."""

    trouble: str = ""  # why the last try to create one failed
    not_before: datetime | None = None  # when the next try may come; None: now
    node_limit: str = ""  # why it may not wait for a node: no more nodes may come
    limit: str = ""  # the limit of its namespace that forbids it
    refused: QuotaRefusal | None = None  # by the quota that leaves it no room
    guardian_limit_reached: bool = False  # a guardian of another slot has to go first
    spent: bool = False  # its headroom does not refill it and is about to drop it
    owner_first: str = ""  # the pod that the hold is for, and that waits for room without it
    owner_first_until: datetime | None = None  # how long that pod goes first
    arrivals: frozenset[str] = frozenset()  # of the nodes it may go to, those that owners go to

    @property
    def limit_refusal(self) -> str:
        """Why a limit allows no guardian now."""
        return self.limit or self.node_limit


NO_OBSTACLES = Obstacles()


@dataclass(frozen=True, slots=True)
class SlotReplacement:
    """Slots that are objects: an expired one leaves its room to the one that replaces it."""

    replaceable: bool = False  # its time is over, and another slot may take its room over
    predecessor: Pod | None = None  # guardian of an expired slot, whose room this one takes over
    nodes: tuple[str, ...] = ()  # of such guardians that are not to be had in this moment
    stays: bool = False  # its guardian stays until another slot has taken its room over


NO_REPLACEMENT = SlotReplacement()


@dataclass(frozen=True, slots=True)
class HoldView:
    """One hold and all that concerns it at a moment.

    `node` is where its guardian was last seen, `expects_owner` whether an owner is on its way into
    it. `slot_users` are owners of a slot that still use its room on its node, `latches` those that
    keep room for the hold itself, not for an owner on its way.
    """

    hold: Hold
    guardians: tuple[Pod, ...] = ()
    claimants: tuple[Pod, ...] = ()
    node: str = ""
    expects_owner: bool = False
    slot_users: tuple[Pod, ...] = ()
    latches: tuple[Pod, ...] = ()
    kept: KeptRoom = NOTHING_KEPT
    obstacles: Obstacles = NO_OBSTACLES
    renewal: RenewalView | None = None  # of one whose guardian is to be renewed
    replacement: SlotReplacement = NO_REPLACEMENT
    needs_place: bool = False  # it has no room, and may take the place of running pods
    succession: Succession | None = None  # the pods whose place it is to take
    reclaim: Reclaim | None = None  # of a slot whose room others have: who gives way
    rest: Resources = EMPTY  # what is left where somebody else ended its guardian
    homeless: bool = False  # its node was deleted
    overbooked: Resources = EMPTY  # what pods on its node ask for beyond what there is
    left: Pod | None = None  # another controller's guardian of the same object
    memory: HoldMemory = NOTHING
    roles: Guardians = NO_GUARDIANS  # what each of the guardians is to it


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
