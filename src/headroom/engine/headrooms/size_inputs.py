"""The inputs of a headroom's wanted slots: which headroom depends on what, and all inputs.

`headroom_controller` acts on the wanted slots; this module only collects their inputs. `demand`
provides the load of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.demand.quota_memory import room_now
from headroom.core.headrooms.chunks import DAEMON_SET, overhead_of
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import NEVER, NODE_CHUNK, Headroom, Workload
from headroom.core.headrooms.memory import HeadroomMemory
from headroom.core.headrooms.slot_batch import BatchLimits
from headroom.core.headrooms.slot_objects import stands
from headroom.core.headrooms.wanted_slots import SizeView
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.plan import earliest
from headroom.core.resources import EMPTY, Resources
from headroom.engine.headrooms import expected_pods
from headroom.engine.headrooms.demand import allowance, load_view
from headroom.engine.headrooms.followers import followed_by, slots_covered_by_others
from headroom.engine.headrooms.promises import learnt_size
from headroom.engine.headrooms.slot_objects import members
from headroom.engine.headrooms.slot_pods import claimed_slots, guarded, slot_guardians
from headroom.engine.ledger import Ledger

LEAST_UNGUARDED = 4  # slots of each headroom, however many others of its namespace wait


def concerned(ledger: Ledger, workload: Workload) -> tuple[str, ...]:
    """The headrooms that copy the pods of a workload, and those that look ahead."""
    on = ledger.slots.depending
    copying = on((workload.namespace, workload.ref))
    sharing = on((On.SHARED_QUOTAS, workload.namespace)) if copying else ()
    beside = on(On.DAEMON_SETS) if workload.ref.kind == DAEMON_SET else ()
    return (*copying, *on(On.WORKLOADS), *sharing, *beside)


def under(ledger: Ledger, namespace: str) -> tuple[str, ...]:
    """The headrooms that respect the quotas of a namespace."""
    on = ledger.slots.depending
    return (*on((On.SHARED_QUOTAS, namespace)), *on((On.QUOTAS, namespace)))


def siblings(ledger: Ledger, headroom: Headroom) -> tuple[str, ...]:
    """Buffers that share a namespace's quotas with this one."""
    if not headroom.size.shares_quotas:
        return ()
    return ledger.slots.depending((On.SHARED_QUOTAS, headroom.parent.namespace))


def size_view(ledger: Ledger, headroom: Headroom, known: HeadroomMemory, now: datetime) -> SizeView:
    """Gather what the wanted slots of a headroom depend on."""
    window, objects = known.window, members(ledger, headroom)
    chunked = headroom.slot.chunk == NODE_CHUNK
    workload = ledger.slots.workload_of(headroom)
    size = window.size if window is not None else headroom.size
    followed = followed_by(ledger, headroom, size, known.followed, now)
    left = allowance(ledger, headroom)
    there = len(guarded(ledger, headroom)) if left is not None else 0
    room, room_sure_at, quotas = room_now(known.quotas, left, there, now)
    load, load_sure_at, quotas = load_view(ledger, headroom, known.foresight, quotas, now)
    learnt = learnt_size(ledger, headroom, size, now)
    view = SizeView(
        window=window,
        nodes=ledger.nodes.values() if headroom.size.by_node or chunked else (),
        workload=workload,
        room=room,
        load=load,
        quotas=quotas,
        look_again=earliest(room_sure_at, load_sure_at),
        learnt=expected_pods.told(ledger, learnt),
        standing=_standing(ledger, headroom, objects),
        batch_limits=_batch_limits(ledger, headroom, objects),
        spent=_spent(ledger, headroom, known),
        followed=followed,
        overhead=_overhead(ledger) if chunked else EMPTY,
        shapes=known.shapes,
        most=ledger.policy.most_slots,
        grace=ledger.policy.node_grace,
    )
    return replace(view, covered_by_others=slots_covered_by_others(ledger, headroom, view))


def _overhead(ledger: Ledger) -> Resources:
    """What DaemonSets ask for on each node."""
    workloads = ledger.slots.workloads.values()
    there = {each.key: each.uid for each in workloads if each.ref.kind == DAEMON_SET}
    return overhead_of(ledger.pods.values(), there)


def _spent(ledger: Ledger, headroom: Headroom, known: HeadroomMemory) -> frozenset[str]:
    """The slots that are not held again; if slots follow pods, those whose owner still exists."""
    if headroom.size.held_once:
        return frozenset(claimed_slots(ledger, headroom))
    return frozenset(known.spent)


def spent_now(
    ledger: Ledger, headroom: Headroom, known: HeadroomMemory, now: datetime
) -> tuple[str, ...]:
    """The slots that are used up by now; each window has its slots anew."""
    before = () if known.opened is not None and known.opened.begun else known.spent
    return tuple(dict.fromkeys((*before, *_newly_spent(ledger, headroom, known.window, now))))


def _newly_spent(
    ledger: Ledger, headroom: Headroom, window: ActiveWindow | None, now: datetime
) -> Iterator[str]:
    """Slots that were claimed or have expired, if the headroom does not refill them."""
    if headroom.refill == NEVER:
        yield from (
            slot for slot, hold in members(ledger, headroom).items() if _used_up(hold, window)
        )
        yield from claimed_slots(ledger, headroom)
        yield from (slot for slot, ends in _ends(ledger, headroom) if ends <= now)


def next_end(ledger: Ledger, headroom: Headroom, now: datetime) -> datetime | None:
    """When the next slot expires, if the headroom does not refill them."""
    if headroom.refill != NEVER:
        return None
    return min((ends for _, ends in _ends(ledger, headroom) if ends > now), default=None)


def _standing(ledger: Ledger, headroom: Headroom, objects: dict[str, Hold]) -> frozenset[str]:
    if headroom.slot_objects is None:
        return guarded(ledger, headroom)
    return frozenset(slot for slot, hold in objects.items() if stands(hold))


def _batch_limits(ledger: Ledger, headroom: Headroom, objects: dict[str, Hold]) -> BatchLimits:
    """How many slots are handled beyond those whose guardian has a node.

    Slots that are objects are told apart by number alone: any may stand for any other.
    """
    ahead = ledger.policy.slots_ahead
    if headroom.slot_objects is not None:
        return BatchLimits(ahead=ahead + sum(bool(hold.status.node) for hold in objects.values()))
    guardians = ledger.having(By.SLOT_GUARDIAN, headroom.parent.whole)
    placed = (kept_for(pod).partition("#")[2] for pod in guardians if pod.node)
    whole, claimed = headroom.parent.whole, ledger.index.all(By.CLAIMANT)
    slots = ledger.hold_index.of(By.SLOT, whole)
    used = frozenset(name.partition("#")[2] for name in slots if name in claimed)
    return BatchLimits(frozenset(placed), ahead, used, _unguarded(ledger, headroom))


def _unguarded(ledger: Ledger, headroom: Headroom) -> int:
    """How many slots without a guardian the other headrooms of its namespace leave to one."""
    slots, index = ledger.hold_index, ledger.index
    whole, namespace = headroom.parent.whole, headroom.parent.namespace
    own = len(slots.of(By.SLOT, whole)) - len(index.of(By.SLOT_GUARDIAN, whole))
    guardians = len(index.of(By.SLOT_GUARDIAN_IN, namespace))
    others = len(slots.of(By.SLOT_IN, namespace)) - guardians - own
    return max(LEAST_UNGUARDED, ledger.policy.slots_unguarded - max(0, others))


def _ends(ledger: Ledger, headroom: Headroom) -> Iterator[tuple[str, datetime]]:
    lifetime = headroom.slot_lifetime
    if not lifetime:
        return
    for slot, guardian in slot_guardians(ledger, headroom):
        if guardian.created is not None:
            yield slot, guardian.created + lifetime


def _used_up(member: Hold, window: ActiveWindow | None) -> bool:
    """Whether an object was claimed, or has ended in the window that is open."""
    if not member.terminal:
        return False
    told = member.status.chronicle
    since = window.started_at if window is not None else None
    if member.status.phase == "Succeeded" or told is None or told.ended is None or since is None:
        return True
    return told.ended >= since
