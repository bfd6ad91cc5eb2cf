"""Owners that continue without a hold go before its guardians: `core.waits.owners_first`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.names import PARENT_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.subjects import kept_hold_subject
from headroom.core.waits.owners_first import LONGEST_AHEAD, Ahead, first_of
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import file_pod
from headroom.engine.pending_guardians import unplaced_guardians


def goes_first(ledger: Ledger, owner: Pod, wholes: Iterable[str], now: datetime) -> None:
    """Put a released owner, which continues without a hold, before guardians that wait for room."""
    without = tuple(wholes)
    first = [whole for whole in without if not ledger.index.of(By.RELEASED, whole)]
    if without:
        memory = ledger.pod_memory[owner.uid]
        ahead = Ahead(now + LONGEST_AHEAD, without)
        ledger.pod_memory[owner.uid] = replace(memory, ahead=ahead)
        file_pod(ledger, owner)
    for whole in first:
        for pod in unplaced_guardians(ledger):
            if pod.annotations.get(PARENT_ANNOTATION) == whole:
                ledger.agenda.touch(kept_hold_subject(kept_for(pod)))


def ahead_of(ledger: Ledger, hold: Hold, now: datetime) -> tuple[Pod, Ahead] | None:
    """The released owner that goes before the guardian of a hold."""
    pods = ledger.having(By.RELEASED, hold.parent.whole)
    released = ((pod, ledger.pod_memory[pod.uid].ahead) for pod in pods)
    return first_of(hold, ((pod, ahead) for pod, ahead in released if ahead is not None), now)
