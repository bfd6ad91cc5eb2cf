"""How long an owner waits at a door: for as long as it asks to, or a little, for what may come.

The questions change nothing; who has decided to wait says so with a command.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.claims import Search
from headroom.core.names import WAIT_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.subjects import node_changed, pod_subject
from headroom.engine.ledger import Ledger


def asks_to_wait(pod: Pod) -> bool:
    """Whether a pod asks to wait for a hold, however long that takes."""
    return pod.annotations.get(WAIT_ANNOTATION) == "true" or pod.wish.needs_hold


def wait_for_a_hold(ledger: Ledger, pod: Pod, found: Search, now: datetime) -> None:
    """Look at a pod whenever its chances may have changed."""
    ledger.stuck[pod.key] = None
    _wake_with(ledger, pod, found)
    if found.refused:  # Not every end of a refusal is an event: a stranger's nomination may go.
        ledger.agenda.later(pod_subject(pod.key), now + ledger.policy.patience)


def patient_until(ledger: Ledger, pod: Pod, found: Search, now: datetime) -> datetime:
    """Until when a pod waits a little, because a hold may be there by then."""
    patience = ledger.policy.patience if found.on_its_way else ledger.policy.first_look
    return ledger.waiting.get(pod.key, now) + patience


def wait_a_little(ledger: Ledger, pod: Pod, found: Search, until: datetime) -> None:
    """Look at a pod again soon."""
    _wake_with(ledger, pod, found)
    ledger.agenda.later(pod_subject(pod.key), until)


def is_new_until(ledger: Ledger, pod: Pod, now: datetime) -> datetime:
    """Until when what a new owner names may be on its way: other kinds come by other streams."""
    return ledger.waiting.get(pod.key, now) + ledger.policy.first_look


def _wake_with(ledger: Ledger, pod: Pod, found: Search) -> None:
    """Look again when that has passed on a node for which a hold there refuses."""
    for node in dict.fromkeys(refusal.node for refusal in found.refused if refusal.node):
        ledger.agenda.wait(pod_subject(pod.key), on=node_changed(node))
        ledger.spares.dismiss(node)
