"""The slots of a headroom by the pods that stand for them, or have claimed them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.authenticity import has_got, stands_for
from headroom.core.headrooms.headrooms import NEVER, Headroom
from headroom.core.headrooms.readiness import SlotTally
from headroom.core.index_entries import By
from headroom.core.objects import Pod
from headroom.core.subjects import Awaited, Change, headroom_subject
from headroom.engine.headrooms.headroom_state import HeadroomState
from headroom.engine.ledger import Ledger


def guarded(ledger: Ledger, headroom: Headroom) -> frozenset[str]:
    """The slots of a headroom that have a guardian, whether they are wished for or not."""
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
    """The slots that are wished for and have a guardian, each with it."""
    for name in ledger.hold_index.of(By.SLOT, headroom.parent.whole):
        hold = ledger.holds[name]
        guardian = ledger.guardian_of(hold)
        if guardian is not None:
            yield hold.slot, guardian


def claimed_slots(ledger: Ledger, headroom: Headroom) -> tuple[str, ...]:
    """The slots of a headroom that pods which are still there have claimed."""
    prefix, across = f"{headroom.parent.whole}#", ledger.policy.across_namespaces
    claimed = ledger.index.all(By.CLAIMANT).items()
    own = ((name, keys) for name, keys in claimed if name.startswith(prefix))
    seats = ((name, ledger.pods[key]) for name, keys in own for key in keys)
    got = (
        name.removeprefix(prefix)
        for name, pod in seats
        if has_got(headroom, pod, across, ledger.owners.knows(pod))
    )
    return tuple(dict.fromkeys(got))


def tally_of(
    ledger: Ledger, headroom: Headroom, known: HeadroomState, next_start: datetime | None
) -> SlotTally:
    """What the status of a headroom is made from."""
    tally = _counted(ledger, headroom, known, known.tally(len(ledger.nodes), next_start))
    workload = ledger.slots.workload_of(headroom)
    tally = replace(
        tally,
        spent=tuple(known.spent) if headroom.refill == NEVER else tally.spent,
        template_generation=workload.generation if workload is not None else 0,
    )
    return replace(tally, **known.objects()) if headroom.slot_objects is not None else tally


def _counted(
    ledger: Ledger, headroom: Headroom, known: HeadroomState, tally: SlotTally
) -> SlotTally:
    """The tally of a headroom whose wish is frozen, also where its slots are not known by name.

    That is so after a restart of the operator: nobody can say which slots there should be, but
    guardians from before stand, and are left alone.
    """
    if not known.wished.frozen or known.phases or headroom.slot_objects is not None:
        return tally
    whole = headroom.parent.whole
    pods = list(ledger.having(By.SLOT_GUARDIAN, whole))
    if pods:  # It is looked at again when one of them goes.
        gone = Awaited(Change.GUARDIAN_GONE, whole)
        ledger.agenda.wait(headroom_subject(headroom.parent), on=gone)
    held = sum(bool(pod.node) and stands_for(headroom, pod) for pod in pods)
    return replace(tally, held=held, pending=max(0, known.wished.count - held))
