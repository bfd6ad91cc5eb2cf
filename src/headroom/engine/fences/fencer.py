"""Fences: which nodes strangers are kept off, because they wait for what owners will return.

Looks only at nodes on which owners of reusable holds run, and only while somebody waits who was
refused, or a fence stands. `core.fences` says why, and when; here is found out who waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from headroom.core.claims import claim_of
from headroom.core.fences import (
    HOSTNAME,
    Ground,
    fence_subject,
    is_rival,
    judge,
    put_up,
    returns,
    take_down,
)
from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.objects import Key, Placement, Pod
from headroom.core.owners import owner_refusal
from headroom.core.plan import Sequence, hold_subject, node_subject
from headroom.core.resources import Resources
from headroom.engine.fences.book import is_fence
from headroom.engine.fences.owing import is_whole, owed, users_on
from headroom.engine.fitting import labels_around, unfit
from headroom.engine.ledger import Ledger

AGAIN = timedelta(seconds=1)
"""When to look again at a node where something is under way."""

PATIENCE = timedelta(seconds=10)
"""How long a node stays open for a stranger who fits beside its holds; kube-scheduler's longest
backoff. Whoever has not come by then sees something that we do not."""

Shape = tuple[Resources, Placement, int, str]


class Fencer:
    """Remembers who waits, and which holds have or had owners on which node."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._rivals: dict[Shape, dict[Key, Pod]] = {}
        self._shapes: dict[Key, Shape] = {}
        self._returning = ledger.contention.returning
        self._quiet: dict[str, datetime] = {}  # fenced nodes that nobody contests, since
        self._usable: dict[str, dict[Key, datetime]] = {}  # node → who fits there now, since

    def begin(self) -> None:
        """All is known now: owners may have ended, and fences be left, while nobody was there."""
        for parent, hold in self._ledger.holds.items():
            users = self._ledger.claimants_of(hold) if returns(hold) else ()
            for node in (hold.status.node, *(pod.node for pod in users)):
                if returns(hold) and node:
                    self._returning.add(node, parent)
        self._look_everywhere()

    def see(self, pod: Pod, now: datetime) -> None:
        """The watch shows a pod."""
        self._ledger.contention.fences.see(pod, now)
        if is_rival(pod):
            self._waits(pod)
        else:
            self._waits_no_more(pod.key)
        claim = claim_of(pod)
        hold = self._ledger.holds.get(claim[0]) if claim is not None else None
        if hold is not None and not hold.allocate_once and pod.occupies_node:
            self._returning.add(pod.node, str(hold.parent))
        self._note_kept(hold or self._ledger.holds.get(kept_for(pod)), pod.node)
        self._concern(pod)

    def _note_kept(self, hold: Hold | None, node: str) -> None:
        """A guardian or an owner has what was owed: what is returned later is owed anew."""
        asked = hold is not None and self._returning.is_owed(str(hold.parent))
        if hold is not None and asked and node and is_whole(self._ledger, hold, node):
            self._returning.paid(str(hold.parent))

    def lose(self, key: Key, old: Pod | None) -> None:
        """The watch shows that a pod is gone."""
        self._waits_no_more(key)
        self._ledger.contention.fences.lose(key)
        if old is not None:
            self._concern(old)

    def forget(self, hold: Hold) -> None:
        """A hold is gone."""
        self._returning.forget(str(hold.parent))

    def _waits(self, pod: Pod) -> None:
        shape = (pod.requests, pod.placement, pod.priority, pod.scheduler)
        if self._shapes.get(pod.key, shape) != shape:
            self._waits_no_more(pod.key)
        self._shapes[pod.key] = shape
        if shape not in self._rivals:
            self._look_everywhere()
        self._rivals.setdefault(shape, {})[pod.key] = pod

    def _waits_no_more(self, key: Key) -> None:
        shape = self._shapes.pop(key, None)
        if shape is None:
            return
        del self._rivals[shape][key]
        if not self._rivals[shape]:
            del self._rivals[shape]
        for node in (*self._ledger.contention.fences.nodes(), *self._usable):
            self._look_again(node)  # Elsewhere one who waits less changes nothing.

    def _concern(self, pod: Pod) -> None:
        fenced = bool(self._ledger.contention.fences.on(pod.node))
        if is_fence(pod) or fenced or (self._rivals and self._returning.at(pod.node)):
            self._look_again(pod.node)

    def _look_everywhere(self) -> None:
        for node in (*self._returning.nodes(), *self._ledger.contention.fences.nodes()):
            self._look_again(node)

    def _look_again(self, node: str, at: datetime | None = None) -> None:
        if at is None:
            self._ledger.agenda.touch(fence_subject(node))
        else:
            self._ledger.agenda.later(fence_subject(node), at)

    def look(self, node: str, now: datetime) -> Iterator[Sequence]:
        """Fence a node, or take its fence away, if that is due."""
        fences = self._ledger.contention.fences
        known = [self._ledger.pods[key] for key in fences.on(node)]
        alive = [fence for fence in known if fence.deleted is None]
        standing = [fence for fence in alive if not fence.finished]
        yield from (take_down(fence) for fence in alive if fence.finished)
        holds = self._holds_at(node)
        ground = self._ground(node, holds, bool(standing), now)
        verdict = judge(ground, bool(standing), now, self._ledger.policy.fence_kept)
        if not ground.settled and (standing or self._rivals):
            self._look_again(node, now + AGAIN)
        if verdict.wake_at is not None:
            self._look_again(node, verdict.wake_at)
        if not verdict.stands:
            yield from (take_down(fence) for fence in standing)
        elif not known:
            yield from self._put_up(node, holds, now)

    def _put_up(self, node: str, holds: list[Hold], now: datetime) -> Iterator[Sequence]:
        ledger = self._ledger
        first = min((hold for hold in holds if self._users(hold, node)), key=_name, default=None)
        if first is None or HOSTNAME not in labels_around(ledger, node):
            return
        if any(pod.priority > LOCKED_PRIORITY for pod in ledger.state.nominated_on(node)):
            self._look_again(node, now + AGAIN)
            return  # It has preempted a fence, perhaps, and is on its way.
        tolerated = first.template.pod.placement.tolerations
        nothing = Pod(Key("", ""), placement=Placement(tolerations=tolerated))
        if unfit(ledger, nothing, node, frozenset()) is None:  # Pods are counted, too.
            yield put_up(first, node)

    def _holds_at(self, node: str) -> list[Hold]:
        """The holds that have owners here, or do not have again what owners here returned."""
        found: list[Hold] = []
        for parent in self._returning.at(node):
            hold = self._ledger.holds.get(parent)
            if hold is not None and self._concerns(hold, node):
                found.append(hold)
            else:
                self._returning.remove(node, parent)
        return found

    def _concerns(self, hold: Hold, node: str) -> bool:
        if hold.allocate_once:
            return False
        return bool(self._users(hold, node)) or not is_whole(self._ledger, hold, node)

    def _users(self, hold: Hold, node: str) -> list[Pod]:
        return users_on(self._ledger, hold, node)

    def _ground(self, node: str, holds: list[Hold], fenced: bool, now: datetime) -> Ground:
        users = frozenset(
            pod.key for hold in holds if returns(hold) for pod in self._users(hold, node)
        )
        settled = self._is_settled(node, holds, now)
        contested, fitting = self._strangers(node, holds, users)
        since = self._usable.get(node, {})
        told = {key: since.get(key, now) for key in fitting if settled and (contested or fenced)}
        if told:
            self._usable[node] = told
            soonest = min(told.values()) + PATIENCE
            self._look_again(node, max(soonest, now + AGAIN))
        else:
            self._usable.pop(node, None)
        if contested or not fenced:
            self._quiet.pop(node, None)
        else:
            self._quiet.setdefault(node, now)
        usable = any(now < moment + PATIENCE for moment in told.values())
        return Ground(contested, usable, settled, self._quiet.get(node))

    def _is_settled(self, node: str, holds: list[Hold], now: datetime) -> bool:
        ledger = self._ledger
        return not (
            ledger.agenda.busy(node_subject(node))
            or ledger.unsettled_on(node)
            or any(ledger.agenda.busy(hold_subject(hold.parent)) for hold in holds)
            or any(ledger.promised(hold) for hold in holds)
            or any(owed(ledger, hold, node, now) for hold in holds)
        )

    def _strangers(
        self, node: str, holds: list[Hold], users: frozenset[Key]
    ) -> tuple[bool, list[Key]]:
        """Whether anybody waits for the end of these owners, and who needs not wait for it."""
        nominated = self._ledger.state.nominated_on(node)
        latches = frozenset(pod.key for pod in nominated if pod.key in self._ledger.latches)
        contested, fitting = False, []
        for waiting in self._rivals.values():
            rival = next((pod for pod in waiting.values() if self._is_stranger(pod, holds)), None)
            if rival is None:
                continue
            if unfit(self._ledger, rival, node, frozenset()) is None:
                fitting.append(rival.key)
            elif not contested and users:
                contested = unfit(self._ledger, rival, node, users | latches) is None
        return contested, fitting

    def _is_stranger(self, pod: Pod, holds: list[Hold]) -> bool:
        """Whether a pod would not get this room from us: an owner at our own door would."""
        policy = self._ledger.policy
        if pod.scheduler not in policy.scheduler_names:
            return True
        across = policy.across_namespaces
        return all(owner_refusal(hold, pod, across) is not None for hold in holds)


def _name(hold: Hold) -> str:
    return str(hold.parent)
