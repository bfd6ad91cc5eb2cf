"""The controller of owners at both doors. It carries out what `core.doors` decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import assert_never

from headroom.core.actions import MarkUnschedulable
from headroom.core.claims import Offer, Refused, Search, claim_of
from headroom.core.doors.claim_decision import OwnerStage, stage_of
from headroom.core.doors.displacement import displacement
from headroom.core.doors.growth import grow_in_place
from headroom.core.doors.hold_search import Candidate, SearchView, search
from headroom.core.doors.offers import HoldAsked, answer
from headroom.core.doors.owner_decision import (
    BindVolumes,
    FreeRoom,
    Move,
    OwnerView,
    Park,
    Preempt,
    Refuse,
    Release,
    TakeFreeRoom,
    Wait,
    WaitForNode,
    decide,
)
from headroom.core.fast_dataclass import replace
from headroom.core.handover import latch_before, latch_free_room, ungate
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.node.kept_room import returned_on
from headroom.core.node.view import HeldRoom, HoldRoom
from headroom.core.objects import Pod, shortened
from headroom.core.plan import Sequence, Work, event_sequence
from headroom.core.statuses import tell_pod
from headroom.core.subjects import ANY_ROOM, hold_subject, node_changed, node_subject, pod_subject
from headroom.engine.doors.claims import follow
from headroom.engine.doors.released import goes_first
from headroom.engine.effects import intend
from headroom.engine.evictions import find_preemption
from headroom.engine.freeze import (
    hold_room,
    hold_used_by,
    labels_around,
    node_view,
    unfit,
    unsettled_on,
)
from headroom.engine.handover_queue import left_beside, park, parked, unpark
from headroom.engine.headrooms.records import note_missed
from headroom.engine.latch_controller import dismiss, latched
from headroom.engine.ledger import Ledger
from headroom.engine.observation.owners import was_to_get
from headroom.engine.volumes import prepare
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import refused

CLAIMED = (OwnerStage.STRAY, OwnerStage.NOMINATED, OwnerStage.LET_IN, OwnerStage.BOUND)


def look(ledger: Ledger, pod: Pod, now: datetime) -> Iterable[Sequence]:
    """Decide about a pod that may be an owner, at a door or with a claim."""
    door, waiting = ledger.door(pod), ledger.parked.get(pod.key)
    stands = hold_used_by(ledger, pod) is not None if claim_of(pod) is not None else None
    named = pod.key in ledger.index.all(By.LATCH_OF_OWNER) and latched(ledger, pod)
    at = stage_of(pod, door, stands, waiting is not None, named)
    if at in CLAIMED:
        return follow(ledger, pod, at, now)
    if at is OwnerStage.GROWING:
        return _grow(ledger, pod, now)
    if at is OwnerStage.ELSEWHERE:
        return ()
    if at is OwnerStage.AT_DOOR and pod.key in ledger.state.expected:
        ledger.state.unexpect(pod.key)  # No handover of it is in progress any more.
    view = OwnerView(
        pod,
        door,
        ledger.pod_memory[pod.uid].since or now,
        lambda: search(_search_view(ledger, pod, door, now), ledger.policy, now),
        partial(_free_room, ledger, pod, now),
        partial(find_preemption, ledger, pod, now),
        partial(_displacement, ledger, pod),
        at,
        waiting[1].node if waiting is not None else "",
        ledger.storage,
        lambda why: refused(pod, ledger.state, why).message(),
    )
    return _carry_out(ledger, decide(view, ledger.policy, now), view, now)


def _search_view(ledger: Ledger, pod: Pod, door: int, now: datetime) -> SearchView:
    """The holds that may match a pod, the best first."""
    busy, holds = ledger.agenda.busy, ledger.holds
    return SearchView(
        pod,
        door,
        (
            Candidate(hold, ledger.memory[parent].node, busy(hold_subject(hold.parent)))
            for parent in ledger.open.for_pod(pod)
            if (hold := holds[parent])
        ),
        (holds[parent] for parent in ledger.coming.for_pod(pod)),
        partial(_hold_asked, ledger, now),
        partial(hold_room, ledger),
        partial(_interrupted, ledger, pod),
    )


def _hold_asked(ledger: Ledger, now: datetime, hold: Hold) -> HoldAsked:
    """A hold that a pod asks for, as it is now."""
    room, ahead = hold_room(ledger, hold), parked(ledger, By.RESERVED, hold.parent.identity)
    node = room.guardian.node if room.guardian is not None else ""
    return HoldAsked(
        room,
        labels_around(ledger, node),
        partial(node_view, ledger, node, now),
        tuple(owner for owner, _ in ahead),
        left_beside(ledger, hold) if ahead else None,
    )


def offer_of(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Offer | Refused:
    """The answer of a hold to a pod: an offer or a refusal."""
    return answer(_hold_asked(ledger, now, hold), pod, ledger.door(pod), ledger.policy, now)


def _interrupted(ledger: Ledger, pod: Pod) -> tuple[Hold, Pod | None] | None:
    """The hold that a pod was about to get, if it is now neither offered nor promised."""
    parent = was_to_get(ledger, pod)
    hold = ledger.holds.get(parent)
    if (
        hold is None
        or parent in ledger.open
        or parent in ledger.coming
        or ledger.expects_owner(hold)
    ):
        return None
    return hold, ledger.guardian_of(hold)


def _free_room(ledger: Ledger, pod: Pod, now: datetime) -> FreeRoom:
    """Where kube-scheduler would place a pod, and whether other owners need that room."""
    choice = choose(pod, ledger.state)
    if not isinstance(choice, ChosenNode):
        return FreeRoom(why_not=choice.message)
    node = choice.node
    # A latch beside owners on their way could push them out.
    moving = ledger.agenda.busy(node_subject(node)) or bool(unsettled_on(ledger, node, False))
    return FreeRoom(node, moving or _is_returned(ledger, pod, node, now))


def _is_returned(ledger: Ledger, pod: Pod, node: str, now: datetime) -> bool:
    """Whether free room of a node will be held again, and the pod would need it."""
    others = returned_on(node_view(ledger, node, now), now)
    asking = replace(pod, requests=pod.requests + others)
    return bool(others) and unfit(ledger, asking, node, frozenset()) is not None


def _displacement(ledger: Ledger, pod: Pod) -> Offer | None:
    """The guardian whose room a pod gets that ignores holds (Koordinator's label)."""
    known = map(ledger.holds.__getitem__, ledger.open)
    rooms = (HoldRoom(hold, ledger.guardians_of(hold)) for hold in known)
    held = (HeldRoom(room, _is_moving(ledger, room.hold)) for room in rooms)
    return displacement(pod, held, partial(unfit, ledger))


def _is_moving(ledger: Ledger, hold: Hold) -> bool:
    """Whether a write about a hold is in progress, or an owner is about to get it."""
    reserved = ledger.handovers.of(By.RESERVED, hold.parent.identity)
    return bool(reserved) or ledger.agenda.busy(hold_subject(hold.parent))


def _grow(ledger: Ledger, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """Give an owner that grows in place the room that is held for it on its node."""
    parents = ledger.open.for_pod(replace(pod, requests=pod.growth))
    holds = map(ledger.holds.__getitem__, parents)
    rooms = (HeldRoom(hold_room(ledger, hold), _is_moving(ledger, hold)) for hold in holds)
    there = node_view(ledger, pod.node, now)
    sequence = grow_in_place(pod, there, rooms, ledger.policy, now)
    if sequence is not None:
        yield sequence


def _carry_out(ledger: Ledger, move: Move, view: OwnerView, now: datetime) -> Iterator[Sequence]:
    pod = view.pod
    match move:
        case Park(offer):
            park(ledger, pod, offer)
            if view.door == 2 and pod.claims:
                yield from _prepare(ledger, pod, offer.node, now)
        case BindVolumes(node):
            yield from _prepare(ledger, pod, node, now)
        case Wait():
            _wait(ledger, pod, move, now)
            if move.message and _note_message(ledger, pod, move.message):
                yield event_sequence(tell_pod(pod, "Unschedulable", move.message, now, warn=True))
        case Release(found):
            missed = _note_missed(ledger, found)
            goes_first(ledger, pod, missed, now)
            yield Sequence(Work.RELEASE, (pod_subject(pod.key),), ((ungate(pod),),))
            yield event_sequence(tell_pod(pod, "NotMatched", found.why, now))
        case WaitForNode(node, until):
            ledger.agenda.stop_waiting(pod_subject(pod.key), ANY_ROOM)
            _wait(ledger, pod, Wait(until), now)
            ledger.agenda.wait(pod_subject(pod.key), on=node_changed(node))
        case TakeFreeRoom(node, found):
            ledger.agenda.stop_waiting(pod_subject(pod.key), ANY_ROOM)
            _note_missed(ledger, found)
            yield _begin(ledger, pod, node, latch_free_room(pod, node, ledger.policy.namespace))
        case Preempt(offer, wait):
            _wait(ledger, pod, wait, now)
            latch = latch_before(pod, offer, ledger.policy.namespace)
            yield _begin(ledger, pod, offer.node, latch)
        case Refuse(message, wait, reason):
            _wait(ledger, pod, wait, now)
            yield from _mark_stuck(ledger, pod, message, now, reason)
        case _:
            assert_never(move)


def _begin(ledger: Ledger, pod: Pod, node: str, sequence: Sequence) -> Sequence:
    """Count a pod and its latch on the node before they are there, for later decisions."""
    intend(ledger, sequence)
    ledger.state.expect(pod, node)
    return sequence


def _wait(ledger: Ledger, pod: Pod, wait: Wait, now: datetime) -> None:
    subject = pod_subject(pod.key)
    if wait.anew is not None:
        ledger.agenda.touch(hold_subject(wait.anew))
        ledger.pod_memory[pod.uid] = replace(ledger.pod_memory[pod.uid], since=now)
    if wait.room:
        ledger.agenda.wait(subject, on=ANY_ROOM)
    for node in wait.nodes:
        ledger.agenda.wait(subject, on=node_changed(node))
        dismiss(ledger, node)
    if wait.until is not None:
        ledger.agenda.later(subject, wait.until)


def _note_missed(ledger: Ledger, found: Search) -> dict[str, None]:
    """Tell the headrooms that match a pod that it got no slot, and return their names."""
    missed = {refusal.parent.whole: None for refusal in found.refused if refusal.owner}
    for whole in missed:
        note_missed(ledger, whole)
    return missed


def _prepare(ledger: Ledger, pod: Pod, node: str, now: datetime) -> tuple[Sequence, ...]:
    """Bind the volume claims that wait for the pod, before it takes the hold."""
    step = prepare(ledger, pod, node, pod_subject(pod.key), now)
    if not isinstance(step, str):
        return step
    unpark(ledger, pod.key, now)
    return _mark_stuck(ledger, pod, f"on {node}: {step}", now)


def _note_message(ledger: Ledger, pod: Pod, message: str) -> bool:
    """Note the message that a pod gets; False if it is the last one again."""
    memory = ledger.pod_memory[pod.uid]
    ledger.pod_memory[pod.uid] = replace(memory, told=message)
    return memory.told != message


def _mark_stuck(
    ledger: Ledger, pod: Pod, message: str, now: datetime, reason: str = "Unschedulable"
) -> tuple[Sequence, ...]:
    """Mark a pod as unschedulable, once for each new reason."""
    message = shortened(message)
    if not _note_message(ledger, pod, message):
        return ()
    mark = MarkUnschedulable(pod.key, pod.uid, message, now, reason)
    return (event_sequence(mark, tell_pod(pod, "Unschedulable", message, now, warn=True)),)
