"""Decide whether a node needs a fence, from a frozen view of the node and of the pods that wait.

`fences` says what a fence is, and why it exists. A fence is for returned room: see `kept_room`.

    no fence ──(contested, and nobody who waits fits beside the holds)──▶ fence
    fence ──(settled, and nobody contests for a while, or somebody fits)──▶ no fence
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime, timedelta

from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.fences import (
    HOSTNAME,
    FenceFacts,
    causes_until,
    fence_verdict,
    keep_place,
    may_cause,
    open_to_stranger,
    place_latch,
    put_up,
    returned_by,
    returns,
    take_down,
    wants_ports_of,
)
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.node.kept_room import is_whole, returned
from headroom.core.node.view import NOTHING, HoldRoom, NodeView
from headroom.core.objects import Key, Placement, Pod, Toleration
from headroom.core.owners import owner_refusal
from headroom.core.plan import Sequence, earliest
from headroom.core.policy import Policy

AGAIN = timedelta(seconds=1)
"""When to look again at a node where something is in progress."""

LONGEST_UNSETTLED = timedelta(minutes=1)
"""How long something that is in progress keeps a fence, however long it goes on."""

EVERYTHING = Toleration(operator="Exists")
PLACES_LEFT = 1  # for pods, beside a fence
PLACES_TO_SPARE = 8
"""With fewer free places on a node, a latch comes before the fence: on a node that is about full by
room, kube-scheduler does not place more pods than that in the time that a fence takes."""

CROWDED = timedelta(seconds=10)
"""When to look again if a namespace has as many fences as it may have."""


@dataclass(frozen=True, slots=True)
class FenceMemory:
    """What is remembered of a node between two looks.

    `quiet_since`: its fence is not contested. `moving_since`: something is in progress there.
    `fitting`: pods that wait and fit there now, and since when. `turn`: see `rivals`. `guardians`
    (by uid) stand behind its fence, the last of them since `guarded_since`.
    """

    quiet_since: datetime | None = None
    moving_since: datetime | None = None
    fitting: Mapping[Key, datetime] = field(default_factory=lambda: NOTHING)
    turn: int = 0
    guardians: frozenset[str] = frozenset()
    guarded_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class PlaceLatch:
    """The latch that keeps the place of a fence: nominated, and firm from when on."""

    exists: bool = False
    firm_from: datetime | None = None
    busy: bool = False


@dataclass(frozen=True, slots=True)
class FenceView:
    """A node that may need a fence.

    `rivals` are refused pods that wait, those alike together; if `more` wait than are given here,
    the next `turn` is theirs.
    `moving` are holds with a handover or another write in progress. `fences_of` counts the fences
    of each namespace. `latches` are the keys of the latches that are nominated to the node,
    `guardians` the uids of the guardians that are bound to it.
    """

    node: NodeView
    rivals: tuple[tuple[Pod, ...], ...]
    more: bool
    turn: int
    moving: frozenset[str]
    latches: frozenset[Key]
    fences_of: Mapping[str, int]
    place_latch: PlaceLatch = PlaceLatch()
    guardians: frozenset[str] = frozenset()

    @property
    def rooms(self) -> tuple[HoldRoom, ...]:
        """The holds that have owners here, or do not have again what owners here returned."""
        return tuple(room for room in self.node.returning if _concerns(room, self.node.name))


@dataclass(frozen=True, slots=True)
class FenceDecision:
    """What to do, when to look again, and what to remember."""

    sequences: tuple[Sequence, ...]
    wake_at: datetime | None
    memory: FenceMemory


def decide(view: FenceView, memory: FenceMemory, policy: Policy, now: datetime) -> FenceDecision:
    """Create or delete the fence of a node, if that is due."""
    known = [fence.pod for fence in view.node.fences]
    alive = [fence for fence in known if fence.deleted is None]
    standing = [fence for fence in alive if not fence.finished]
    sequences = [take_down(fence) for fence in alive if fence.finished]
    facts, memory, wake_at = _facts(view, memory, bool(standing), policy, now)
    memory, firm_from = _guarded(view, memory, bool(standing), policy, now)
    verdict = fence_verdict(facts, bool(standing), now, policy.fence_kept)
    wakes = [wake_at, verdict.wake_at]
    if not facts.settled and (standing or view.rivals):
        wakes.append(now + AGAIN)
    if not verdict.stands and view.node.arriving:
        wakes.append(now + AGAIN)  # A guardian is being bound behind the fence.
    elif not verdict.stands and firm_from is not None and now < firm_from:
        wakes.append(firm_from)
    elif not verdict.stands:
        sequences += [take_down(fence) for fence in standing]
    elif not known:
        begun, again = _put_up(view, policy, now)
        sequences += begun
        wakes.append(again)
    return FenceDecision(tuple(sequences), earliest(*wakes), memory)


def _guarded(
    view: FenceView, memory: FenceMemory, fenced: bool, policy: Policy, now: datetime
) -> tuple[FenceMemory, datetime | None]:
    """From when on every cycle of kube-scheduler counts all guardians behind a fence.

    A cycle that began before one of them was bound does not, and only the fence keeps it off.
    """
    if not fenced:
        return replace(memory, guardians=frozenset(), guarded_since=None), None
    same = view.guardians <= memory.guardians
    since = memory.guarded_since if same and memory.guarded_since is not None else now
    memory = replace(memory, guardians=view.guardians, guarded_since=since)
    return memory, since + policy.latch_linger


def _put_up(
    view: FenceView, policy: Policy, now: datetime
) -> tuple[list[Sequence], datetime | None]:
    """Create a fence on behalf of the first hold that has owners here; and when to look again."""
    node = view.node
    used = [room for room in view.rooms if room.users_on(node.name)]
    first = min(used, key=lambda room: room.name, default=None)
    if first is None or HOSTNAME not in node.labels:
        return [], None
    if view.fences_of.get(first.hold.home, 0) >= policy.fences_per_namespace:
        return [], now + CROWDED
    if any(pod.priority > LOCKED_PRIORITY for pod in node.nominated):
        return [], now + AGAIN  # It has preempted a fence, perhaps, and is on its way.
    tolerated = first.hold.template.pod.placement.tolerations
    nothing = Pod(Key("", ""), placement=Placement(tolerations=tolerated))
    own = frozenset({place_latch(node.name, policy.namespace)})
    if node.places <= PLACES_LEFT or node.unfit(nothing, own) is not None:
        return [], None
    if node.places >= PLACES_TO_SPARE:
        return [put_up(first.hold, node.name)], None
    return _put_up_under_latch(view, first, policy, now)


def _put_up_under_latch(
    view: FenceView, room: HoldRoom, policy: Policy, now: datetime
) -> tuple[list[Sequence], datetime | None]:
    """Create a fence on a node with few places, which kube-scheduler may give to others now.

    As with free room, a latch comes first, and stays for the cycles that began before it.
    """
    latch, name = view.place_latch, view.node.name
    firm = latch.firm_from
    if not latch.busy and firm is not None and now >= firm:
        return [put_up(room.hold, name, place_latch(name, policy.namespace))], None
    again = firm if firm is not None and firm > now else now + policy.free_room_wait
    create = not latch.busy and not latch.exists
    return ([keep_place(room.hold, name, policy.namespace)] if create else []), again


def _concerns(room: HoldRoom, node: str) -> bool:
    if room.hold.allocate_once:
        return False
    return bool(room.users_on(node)) or not is_whole(room, node)


def _facts(
    view: FenceView, memory: FenceMemory, fenced: bool, policy: Policy, now: datetime
) -> tuple[FenceFacts, FenceMemory, datetime | None]:
    """The facts about a node; what to remember of them; and when one of them changes by itself."""
    moving_since = (memory.moving_since or now) if _is_moving(view, policy, now) else None
    settled = moving_since is None or now >= moving_since + LONGEST_UNSETTLED
    contested, fitting, wake_at = _strangers(view, policy, now)
    told = {
        key: memory.fitting.get(key, now) for key in fitting if settled and (contested or fenced)
    }
    chances = [open_to_stranger(moment, now) for moment in told.values()]
    usable = any(is_open for is_open, _ in chances)
    if chances:
        wake_at = earliest(wake_at, max(min(until for _, until in chances), now + AGAIN))
    quiet_since = None if contested or not fenced else memory.quiet_since or now
    facts = FenceFacts(contested, usable, settled, quiet_since)
    memory = replace(
        memory,
        quiet_since=quiet_since,
        moving_since=moving_since,
        fitting=told or NOTHING,
        turn=view.turn,
    )
    return facts, memory, wake_at


def _is_moving(view: FenceView, policy: Policy, now: datetime) -> bool:
    """Whether something is in progress on a node that must end before its fence may go."""
    node = view.node
    return (
        node.handing_over
        or bool(node.unsettled - {place_latch(node.name, policy.namespace)})
        or any(room.name in view.moving for room in view.rooms)
        or any(returned(node, room, now) for room in view.rooms)
    )


def _strangers(
    view: FenceView, policy: Policy, now: datetime
) -> tuple[bool, list[Key], datetime | None]:
    """Whether a pod waits for the end of owners here, and which pods need not wait for it."""
    wake_at = now + AGAIN if view.more else None  # The others have their turn in a moment.
    contested = False
    fitting: list[Key] = []
    for alike in view.rivals:
        strangers = [pod for pod in alike if _is_stranger(pod, view.rooms, policy)]
        if not strangers:
            continue
        if view.node.unfit(strangers[0], frozenset()) is None:
            fitting.extend(pod.key for pod in strangers)
            continue
        causes = [pod for pod in strangers if may_cause(pod, now)]
        if causes and not contested and _contests(causes[0], view):
            contested = True
            wake_at = earliest(wake_at, max(map(causes_until, causes)))
    return contested, fitting, wake_at


def _contests(rival: Pod, view: FenceView) -> bool:
    """Whether a pod that does not fit would take what holds get back once owners have ended."""
    node = view.node
    uses = [(room.hold, room.users_on(node.name)) for room in view.rooms if returns(room.hold)]
    users = frozenset(pod.key for _, here in uses for pod in here)
    without = users | view.latches
    if not users or node.unfit(rival, without) is not None:
        return False
    if wants_ports_of(rival, (hold for hold, _ in uses)) or _is_full(node):
        return True
    beside = replace(rival, requests=rival.requests + returned_by(uses))
    return node.unfit(beside, without) is not None


def _is_full(node: NodeView) -> bool:
    """Whether a node has no place for one more pod, however small."""
    nothing = Pod(Key("", ""), placement=Placement(tolerations=(EVERYTHING,)))
    return node.unfit(nothing, frozenset()) is not None


def _is_stranger(pod: Pod, rooms: Iterable[HoldRoom], policy: Policy) -> bool:
    """Whether a pod would not get this room from us: an owner at our own door would."""
    if pod.scheduler not in policy.scheduler_names:
        return True
    across = policy.across_namespaces
    return all(owner_refusal(room.hold, pod, across) is not None for room in rooms)
