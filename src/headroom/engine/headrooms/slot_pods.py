"""The slots of a headroom, found by their guardians and owners."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from headroom.core.authenticity import has_got, stands_for
from headroom.core.headrooms.headrooms import NEVER, Headroom, HeadroomStatus
from headroom.core.headrooms.readiness import SlotTally
from headroom.core.hold_state.memory import SlotState
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.objects import Pod
from headroom.engine.ledger import Ledger
from headroom.engine.memories import file_hold
from headroom.engine.observation.owners import knows

TROUBLES_TOLD = 2


def guarded(ledger: Ledger, headroom: Headroom) -> frozenset[str]:
    """The slots of a headroom that have a guardian, wanted or not."""
    prefix = f"{headroom.parent.whole}#"
    return frozenset(
        name.removeprefix(prefix)
        for name, keys in ledger.index.all(By.GUARDIAN).items()
        if name.startswith(prefix) and any(stands_for(headroom, ledger.pods[key]) for key in keys)
    )


def slots_of(ledger: Ledger, whole: str) -> Collection[str]:
    """The parents of the slots of a headroom, as texts, whether they are objects or not."""
    index = ledger.hold_index
    return index.of(By.SLOT, whole) or index.of(By.SLOT_OBJECT, whole)


def slot_count(ledger: Ledger, whole: str) -> int:
    """How many slots a headroom has."""
    return len(slots_of(ledger, whole))


def slot_guardians(ledger: Ledger, headroom: Headroom) -> Iterator[tuple[str, Pod]]:
    """The wanted slots that have a guardian, each with its guardian."""
    for name in ledger.hold_index.of(By.SLOT, headroom.parent.whole):
        hold = ledger.holds[name]
        guardian = ledger.guardian_of(hold)
        if guardian is not None:
            yield hold.slot, guardian


def claimed_slots(ledger: Ledger, headroom: Headroom) -> tuple[str, ...]:
    """The slots of a headroom that existing pods have claimed."""
    prefix, across = f"{headroom.parent.whole}#", ledger.policy.across_namespaces
    claimed = ledger.index.all(By.CLAIMANT).items()
    own = ((name, keys) for name, keys in claimed if name.startswith(prefix))
    seats = ((name, ledger.pods[key]) for name, keys in own for key in keys)
    got = (
        name.removeprefix(prefix)
        for name, pod in seats
        if has_got(headroom, pod, across, knows(ledger, pod))
    )
    return tuple(dict.fromkeys(got))


def note_state(ledger: Ledger, hold: Hold, state: SlotState) -> None:
    """A slot is in this state now."""
    name = hold.parent.identity
    ledger.memory[name] = replace(ledger.memory[name], state=state)
    file_hold(ledger, hold)


def tally_of(ledger: Ledger, headroom: Headroom, next_start: datetime | None) -> SlotTally:
    """The counts and texts from which the status of a headroom is built."""
    whole, workload = headroom.parent.whole, ledger.slots.workload_of(headroom)
    memory = ledger.slots.memory[whole]
    held = _in_phase(ledger, whole, "Available")
    trouble, limited = _troubles(ledger, headroom)
    counts = HeadroomStatus(
        held=held,
        pending=max(0, memory.wished.count - held),
        claimed=memory.claimed,
        hits=memory.hits,
        misses=memory.misses,
        next_start=next_start,
        spent=memory.spent if headroom.refill == NEVER else (),
    )
    if headroom.slot_objects is None:
        counts = _counted(ledger, headroom, counts)
    else:
        counts = replace(
            counts,
            pending=_in_phase(ledger, whole, "Pending") + _in_phase(ledger, whole, ""),
            last_start=memory.window.started_at if memory.window is not None else None,
            objects=len(ledger.hold_index.of(By.SLOT_OBJECT, whole)),
            ended=_in_phase(ledger, whole, "Failed"),
            updated=memory.objects.updated,
        )
    return SlotTally(
        counts,
        nodes=len(ledger.nodes),
        trouble=trouble,
        limited=limited,
        refused=memory.objects.refused,
        template_generation=workload.generation if workload is not None else 0,
    )


def _in_phase(ledger: Ledger, whole: str, phase: str) -> int:
    return len(ledger.hold_index.of(By.SLOT_PHASE, (whole, phase)))


def _troubles(ledger: Ledger, headroom: Headroom) -> tuple[str, bool]:
    """Why slots cannot be held, as text, and whether a limit is the only reason."""
    whole, index = headroom.parent.whole, ledger.hold_index
    troubled, objects = index.of(By.SLOT_TROUBLE, whole), ledger.slots.memory[whole].objects
    told = []
    for name in islice(troubled, TROUBLES_TOLD):
        hold, state = ledger.holds[name], ledger.memory[name].state
        slot = hold.member.slot if hold.member is not None else hold.slot
        told.append(f"slot {slot}: {state.trouble if state is not None else ''}")
    if len(troubled) > len(told):
        told.append(f"and {len(troubled) - len(told)} more")
    told += [why for why in (objects.beyond, objects.unmade) if why]
    all_limited = len(index.of(By.SLOT_LIMITED, whole)) == len(troubled)
    return "; ".join(told), bool(told) and all_limited and not objects.unmade


def _counted(ledger: Ledger, headroom: Headroom, counts: HeadroomStatus) -> HeadroomStatus:
    """The counts of a headroom whose wanted slots are frozen, even if their names are unknown.

    They are unknown after a restart of the operator: which slots should exist cannot be
    calculated, and the existing guardians are kept.
    """
    whole = headroom.parent.whole
    if not unknown_by_name(ledger, whole):
        return counts
    pods = ledger.having(By.SLOT_GUARDIAN, whole)
    held = sum(bool(pod.node) and stands_for(headroom, pod) for pod in pods)
    wished = ledger.slots.memory[whole].wished
    return replace(counts, held=held, pending=max(0, wished.count - held))


def unknown_by_name(ledger: Ledger, whole: str) -> bool:
    """Whether the wanted slots of a headroom are frozen, and none of its slots is known."""
    frozen = ledger.slots.memory[whole].wished.frozen
    return frozen and not ledger.hold_index.of(By.SLOT, whole)
