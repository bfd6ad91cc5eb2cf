"""The controller of fences: which nodes to look at, and when. `core.node.fence_decision` decides.

It looks only at nodes on which owners of reusable holds run, and only while a refused pod waits or
a fence exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from headroom.core.claims import claim_of
from headroom.core.fences import is_fence, place_latch, returns
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.node.fence_decision import FenceView, PlaceLatch, decide
from headroom.core.node.rivals import in_turn
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.subjects import fence_subject, hold_subject, pod_subject
from headroom.engine.freeze import node_view
from headroom.engine.ledger import Ledger
from headroom.engine.memories import note_returns_on
from headroom.engine.observation.pods import look_everywhere


def begin(ledger: Ledger) -> None:
    """Everything was observed: owners may have ended, or fences remain, from before the start."""
    for parent, hold in ledger.holds.items():
        users = ledger.claimants_of(hold) if returns(hold) else ()
        for node in (hold.status.node, *(pod.node for pod in users)):
            if returns(hold) and node:
                note_returns_on(ledger, parent, node)
    look_everywhere(ledger)


def pod_seen(ledger: Ledger, pod: Pod) -> None:
    """The watch shows a pod."""
    claim = claim_of(pod)
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    if hold is not None and not hold.allocate_once and pod.occupies_node:
        note_returns_on(ledger, hold.parent.identity, pod.node)
    _concern(ledger, pod)


def pod_gone(ledger: Ledger, pod: Pod) -> None:
    """A pod is gone; a fence keeps the room of a guardian that somebody else deleted."""
    guards = pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
    hold = ledger.holds.get(kept_for(pod)) if guards else None
    own = hold is not None and pod.key.namespace == hold.guardian_namespace and returns(hold)
    if hold is not None and own and ledger.index.of(By.FENCE, pod.node):
        note_returns_on(ledger, hold.parent.identity, pod.node)
    _concern(ledger, pod)


def _concern(ledger: Ledger, pod: Pod) -> None:
    waited = bool(ledger.index.all(By.RIVAL)) and ledger.hold_index.of(By.RETURNING, pod.node)
    if is_fence(pod) or ledger.index.of(By.FENCE, pod.node) or waited:
        ledger.agenda.touch(fence_subject(pod.node))


def look(ledger: Ledger, node: str, now: datetime) -> Iterator[Sequence]:
    """Create or delete the fence of a node, if that is due."""
    view = _view(ledger, node, now)
    decision = decide(view, ledger.node_memory[node], ledger.policy, now)
    ledger.node_memory[node] = decision.memory
    concerned = {room.name for room in view.rooms}
    for parent in tuple(ledger.hold_index.of(By.RETURNING, node)):
        if parent not in concerned:
            note_returns_on(ledger, parent, node, used=False)
    if decision.wake_at is not None:
        ledger.agenda.later(fence_subject(node), decision.wake_at)
    yield from decision.sequences


def _view(ledger: Ledger, node: str, now: datetime) -> FenceView:
    frozen = node_view(ledger, node, now)
    rivals = in_turn(ledger.index.all(By.RIVAL), ledger.node_memory[node].turn)
    moving = (
        room.name
        for room in frozen.returning
        if ledger.agenda.busy(hold_subject(room.hold.parent)) or ledger.expects_owner(room.hold)
    )
    return FenceView(
        frozen,
        tuple(tuple(ledger.pods[key] for key in keys) for keys in rivals.alike),
        rivals.more,
        rivals.turn,
        frozenset(moving),
        frozenset(pod.key for pod in frozen.nominated if pod.key in ledger.latches),
        Counter({home: len(keys) for home, keys in ledger.index.all(By.FENCE_FOR).items()}),
        _place_latch(ledger, node),
        frozenset(
            pod.uid
            for pod in ledger.state.pods_on(node)
            if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
        ),
    )


def _place_latch(ledger: Ledger, node: str) -> PlaceLatch:
    key = place_latch(node, ledger.policy.namespace)
    latch = ledger.pods.get(key)
    firm = ledger.firm_from(latch) if latch is not None and latch.nominated == node else None
    return PlaceLatch(latch is not None, firm, ledger.agenda.busy(pod_subject(key)))
