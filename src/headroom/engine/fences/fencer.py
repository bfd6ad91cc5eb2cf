"""Fences: which nodes strangers are kept off, because they wait for what owners will return.

Looks only at nodes on which owners of reusable holds run, and only while somebody waits who was
refused, or a fence stands. `core.fences` says why, and when; here is found out who waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.claims import claim_of
from headroom.core.fences import (
    HOSTNAME,
    Ground,
    causes_until,
    is_rival,
    judge,
    keep_place,
    may_cause,
    opening,
    place_latch,
    put_up,
    returned_by,
    returns,
    take_down,
    wants_ports_of,
)
from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import LOCKED_PRIORITY, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Placement, Pod, Toleration
from headroom.core.owners import owner_refusal
from headroom.core.plan import Sequence
from headroom.core.subjects import fence_subject, hold_subject, node_subject, pod_subject
from headroom.core.waits.stabilization import Stabilization
from headroom.engine.fences.book import is_fence
from headroom.engine.fences.returned_room import is_whole, owed, users_on
from headroom.engine.fences.waiters import Waiters
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around, unfit

AGAIN = timedelta(seconds=1)
"""When to look again at a node where something is under way."""

LONGEST_UNSETTLED = timedelta(minutes=1)
"""How long something that is under way keeps a fence up, however long it goes on."""

EVERYTHING = Toleration(operator="Exists")
PLACES_LEFT = 1  # for pods, beside a fence
PLACES_TO_SPARE = 8
"""With fewer free places on a node a latch stands first: on a node that is about full by room
kube-scheduler does not place more pods than that in the time that a fence takes."""

CROWDED = timedelta(seconds=10)
"""When to look again where a namespace has all the fences that it may have."""


class Fencer:
    """Remembers who waits, and which holds have or had owners on which node."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._rivals = Waiters()
        self._returning = ledger.contention.returning
        self._quiet: dict[str, datetime] = {}  # fenced nodes that nobody contests, since
        self._moving: Stabilization[str, bool] = Stabilization(LONGEST_UNSETTLED)  # by node
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
            self._note_lost(old)
            self._concern(old)

    def _note_lost(self, guardian: Pod) -> None:
        """A guardian is gone, deleted by somebody perhaps: behind a fence its room is kept."""
        if guardian.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
            return
        hold = self._ledger.holds.get(kept_for(guardian))
        fenced = bool(self._ledger.contention.fences.on(guardian.node))
        own = hold is not None and guardian.key.namespace == hold.guardian_namespace
        if hold is not None and own and fenced and returns(hold):
            self._returning.add(guardian.node, str(hold.parent))

    def forget(self, hold: Hold) -> None:
        """A hold is gone."""
        self._returning.forget(str(hold.parent))

    def _waits(self, pod: Pod) -> None:
        if self._rivals.add(pod):
            self._look_everywhere()

    def _waits_no_more(self, key: Key) -> None:
        if not self._rivals.remove(key):
            return
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
        if not verdict.stands and self._ledger.contention.put_back.on(node):
            self._look_again(node, now + AGAIN)  # A guardian is being bound behind it.
        elif not verdict.stands:
            yield from (take_down(fence) for fence in standing)
        elif not known:
            yield from self._put_up(node, holds, now)

    def _put_up(self, node: str, holds: list[Hold], now: datetime) -> Iterator[Sequence]:
        ledger = self._ledger
        first = min((hold for hold in holds if self._users(hold, node)), key=_name, default=None)
        if first is None or HOSTNAME not in labels_around(ledger, node):
            return
        if ledger.contention.fences.count(first.home) >= ledger.policy.fences_per_namespace:
            self._look_again(node, now + CROWDED)
            return
        if any(pod.priority > LOCKED_PRIORITY for pod in ledger.state.nominated_on(node)):
            self._look_again(node, now + AGAIN)
            return  # It has preempted a fence, perhaps, and is on its way.
        tolerated = first.template.pod.placement.tolerations
        nothing = Pod(Key("", ""), placement=Placement(tolerations=tolerated))
        free = ledger.state.free_places(node)
        if free <= PLACES_LEFT or unfit(ledger, nothing, node, self._place_latch(node)) is not None:
            return
        if free >= PLACES_TO_SPARE:
            yield put_up(first, node)
        else:
            yield from self._put_up_under_latch(first, node, now)

    def _put_up_under_latch(self, hold: Hold, node: str, now: datetime) -> Iterator[Sequence]:
        """Fence a node with few places: kube-scheduler may be giving them to others just now.

        As with free room a latch stands first, long enough for cycles that began before it.
        """
        ledger = self._ledger
        key = place_latch(node, ledger.policy.namespace)
        latch = ledger.pods.get(key)
        firm = ledger.firm_at(latch) if latch is not None and latch.nominated == node else None
        busy = ledger.agenda.busy(pod_subject(key))  # It is being made, or taken away.
        if not busy and firm is not None and now >= firm:
            yield put_up(hold, node, key)
            return
        again = now + ledger.policy.free_room_wait
        self._look_again(node, firm if firm is not None and firm > now else again)
        if not busy and latch is None:
            yield keep_place(hold, node, key.namespace)

    def _place_latch(self, node: str) -> frozenset[Key]:
        return frozenset({place_latch(node, self._ledger.policy.namespace)})

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
        settled = self._is_settled(node, holds, now)
        contested, fitting = self._strangers(node, holds, now)
        since = self._usable.get(node, {})
        told = {key: since.get(key, now) for key in fitting if settled and (contested or fenced)}
        usable = False
        if told:
            self._usable[node] = told
            chances = [opening(moment, now) for moment in told.values()]
            usable = any(is_open for is_open, _ in chances)
            self._look_again(node, max(min(until for _, until in chances), now + AGAIN))
        else:
            self._usable.pop(node, None)
        if contested or not fenced:
            self._quiet.pop(node, None)
        else:
            self._quiet.setdefault(node, now)
        return Ground(contested, usable, settled, self._quiet.get(node))

    def _is_settled(self, node: str, holds: list[Hold], now: datetime) -> bool:
        """Whether nothing is under way here; what takes longer than a minute keeps nobody off."""
        if not self._is_under_way(node, holds, now):
            self._moving.forget(node)
            return True
        return now >= self._moving.tell(node, True, now)

    def _is_under_way(self, node: str, holds: list[Hold], now: datetime) -> bool:
        ledger = self._ledger
        return (
            ledger.agenda.busy(node_subject(node))
            or bool(ledger.unsettled_on(node) - self._place_latch(node))
            or any(ledger.agenda.busy(hold_subject(hold.parent)) for hold in holds)
            or any(ledger.promised(hold) for hold in holds)
            or any(owed(ledger, hold, node, now) for hold in holds)
        )

    def _strangers(self, node: str, holds: list[Hold], now: datetime) -> tuple[bool, list[Key]]:
        """Whether anybody waits for the end of owners here, and who needs not wait for it."""
        contested = False
        fitting: list[Key] = []
        judged, rest = self._rivals.next(node)
        if rest:  # The others have their turn in a moment.
            self._look_again(node, now + AGAIN)
        for alike in judged:
            strangers = [pod for pod in alike if self._is_stranger(pod, holds)]
            if not strangers:
                continue
            if unfit(self._ledger, strangers[0], node, frozenset()) is None:
                fitting.extend(pod.key for pod in strangers)
                continue
            causes = [pod for pod in strangers if may_cause(pod, now)]
            if causes and not contested and self._contests(causes[0], node, holds):
                contested = True
                self._look_again(node, max(map(causes_until, causes)))
        return contested, fitting

    def _contests(self, rival: Pod, node: str, holds: list[Hold]) -> bool:
        """Whether a pod that does not fit would take what holds get back once owners have ended."""
        ledger = self._ledger
        uses = [(hold, self._users(hold, node)) for hold in holds if returns(hold)]
        users = frozenset(pod.key for _, here in uses for pod in here)
        nominated = ledger.state.nominated_on(node)
        without = users | {pod.key for pod in nominated if pod.key in ledger.latches}
        if not users or unfit(ledger, rival, node, without) is not None:
            return False
        if wants_ports_of(rival, (hold for hold, _ in uses)) or self._is_full(node):
            return True
        beside = replace(rival, requests=rival.requests + returned_by(uses))
        return unfit(ledger, beside, node, without) is not None

    def _is_full(self, node: str) -> bool:
        """Whether a node has no place for one more pod, however small."""
        nothing = Pod(Key("", ""), placement=Placement(tolerations=(EVERYTHING,)))
        return unfit(self._ledger, nothing, node, frozenset()) is not None

    def _is_stranger(self, pod: Pod, holds: list[Hold]) -> bool:
        """Whether a pod would not get this room from us: an owner at our own door would."""
        policy = self._ledger.policy
        if pod.scheduler not in policy.scheduler_names:
            return True
        across = policy.across_namespaces
        return all(owner_refusal(hold, pod, across) is not None for hold in holds)


def _name(hold: Hold) -> str:
    return str(hold.parent)
