"""Write lanes: namespaces take turns, owners go first, and nobody can fill a lane alone."""

from __future__ import annotations

import asyncio
from datetime import datetime

from headroom.core.actions import Tell
from headroom.core.objects import Key
from headroom.core.plan import Sequence, Work
from headroom.runtime.eventlimits import (
    EVENTS_AT_ONCE,
    MOST_WAITING_EACH,
    ROUTINE_AT_ONCE,
    EventLimits,
)
from headroom.runtime.fairqueue import URGENT_IN_A_ROW, FairQueue
from headroom.runtime.lanes import FAST_EACH, FAST_PLACES, Lanes, flow_of
from tests.builders import NOON
from tests.subjects import subject


class Played:
    """Waiters of a queue that each do one thing when their turn comes, then leave."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.served: list[str] = []
        self.most: dict[str, int] = {}
        self._now: dict[str, int] = {}

    async def wait(self, name: str, flow: str, urgent: bool = False) -> None:
        async with self.queue.place(flow, urgent):
            self.served.append(name)
            self._now[flow] = self._now.get(flow, 0) + 1
            self.most[flow] = max(self.most.get(flow, 0), self._now[flow])
            await asyncio.sleep(0)
            self._now[flow] -= 1

    async def all(self, *waiters: tuple[str, str, bool]) -> None:
        await asyncio.gather(*(self.wait(*each) for each in waiters))


def played(queue: FairQueue, *waiters: tuple[str, str, bool]) -> Played:
    play = Played(queue)
    asyncio.run(play.all(*waiters))
    return play


def test_one_write_of_a_quiet_namespace_waits_for_no_more_than_a_turn() -> None:
    flood = tuple((f"flood-{n}", "loud", False) for n in range(1000))
    play = played(FairQueue(places=4, each=4), *flood, ("quiet", "calm", False))
    assert play.served.index("quiet") < 10
    assert len(play.served) == 1001


def test_no_namespace_has_more_places_than_its_share() -> None:
    flood = tuple((f"{flow}-{n}", flow, False) for n in range(50) for flow in ("a", "b"))
    play = played(FairQueue(places=8, each=3), *flood)
    assert play.most == {"a": 3, "b": 3}


def test_owners_go_before_refills_but_not_for_ever() -> None:
    refills = tuple((f"refill-{n}", "tenant", False) for n in range(3))
    owners = tuple((f"owner-{n}", "tenant", True) for n in range(2 * URGENT_IN_A_ROW))
    play = played(FairQueue(places=1, each=1), ("first", "x", False), *refills, *owners)
    assert play.served[1].startswith("owner")
    place = play.served.index("refill-0")
    assert URGENT_IN_A_ROW <= place <= URGENT_IN_A_ROW + 1
    assert len(play.served) == 1 + len(refills) + len(owners)


def test_places_that_are_kept_free_are_for_owners() -> None:
    async def story() -> list[str]:
        queue, done = FairQueue(places=2, each=2, kept_free=1), asyncio.Event()
        entered: list[str] = []

        async def stay(name: str, urgent: bool) -> None:
            async with queue.place("tenant", urgent):
                entered.append(name)
                await done.wait()

        tasks = [asyncio.create_task(stay(name, False)) for name in ("one", "two")]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(stay("owner", True)))
        await asyncio.sleep(0)
        seen = list(entered)
        done.set()
        await asyncio.gather(*tasks)
        return seen

    assert asyncio.run(story()) == ["one", "owner"]


def test_who_gives_up_waiting_leaves_no_place_behind() -> None:
    async def story() -> None:
        queue = FairQueue(places=1, each=1)
        async with queue.place("a"):
            waiters = [asyncio.create_task(Played(queue).wait("x", "b")) for _ in range(3)]
            await asyncio.sleep(0)
            waiters[1].cancel()
            await asyncio.sleep(0)
            assert queue.waiting("b") == 2
            waiters[0].cancel()  # Cancelled, but it does not know yet when its turn comes.
        waiters[2].cancel()  # In the very moment in which its turn has come.
        await asyncio.gather(*waiters, return_exceptions=True)
        async with asyncio.timeout(5), queue.place("c"):
            assert queue.waiting("b") == 0

    asyncio.run(story())


def test_a_lane_leaves_places_to_the_other_namespaces() -> None:
    assert FAST_EACH < FAST_PLACES


def tell(
    name: str, namespace: str = "shop", at: datetime = NOON, reason: str = "Unschedulable"
) -> Sequence:
    about = Key(namespace, name)
    action = Tell("headroom.dev/v1alpha1", "Hold", about, "u", "Normal", reason, "m", at)
    return Sequence(Work.TELL, (), ((action,),))


def test_events_about_one_object_are_limited_and_those_about_others_are_not() -> None:
    limits = EventLimits()
    admitted = sum(limits.admit(tell("loud"), 0.0) for _ in range(EVENTS_AT_ONCE + 10))
    assert (admitted, limits.dropped) == (EVENTS_AT_ONCE, 10)
    assert limits.admit(tell("other"), 0.0)
    assert limits.admit(tell("loud"), 1.0)  # One a second after that.
    assert not limits.admit(tell("loud"), 1.0)


def test_events_that_wait_are_limited_by_namespace() -> None:
    limits = EventLimits()
    for n in range(MOST_WAITING_EACH):
        assert limits.admit(tell(f"hold-{n}", "loud"), 0.0)
    assert not limits.admit(tell("one-more", "loud"), 0.0)
    assert limits.admit(tell("h", "calm"), 0.0)
    limits.done(tell("hold-0", "loud"))
    assert limits.admit(tell("one-more", "loud"), 0.0)


def test_in_a_stream_of_handovers_the_first_events_are_written_and_no_other_news_is_lost() -> None:
    limits = EventLimits()
    told = [limits.admit(tell(f"hold-{n}", reason="Claimed"), 0.0) for n in range(100)]
    assert told == [True] * ROUTINE_AT_ONCE + [False] * (100 - ROUTINE_AT_ONCE)
    assert limits.admit(tell("hold-0", reason="Returned"), 0.0)  # Each kind of news by itself.
    assert limits.admit(tell("hold-0", "calm", reason="Claimed"), 0.0)
    assert all(limits.admit(tell(f"hold-{n}", reason="Replaced"), 0.0) for n in range(100))
    assert limits.admit(tell("hold-99", reason="Claimed"), 60.0)


def test_a_handover_belongs_to_the_namespace_of_its_hold() -> None:
    subjects = ("node a", "pod headroom-system/latch", "pod shop/web", "hold Hold/shop/h")
    assert flow_of(Sequence(Work.DOOR2, tuple(map(subject, subjects)), ())) == "shop"
    reservation = ("node a", "pod headroom-system/latch", "pod shop/web", "hold Reservation//r")
    assert flow_of(Sequence(Work.DOOR2, tuple(map(subject, reservation)), ())) == "shop"
    assert flow_of(Sequence(Work.INDEX, (subject("index shop"),), ())) == "shop"
    assert flow_of(tell("h", "shop")) == "shop"


def test_a_flood_of_refused_holds_keeps_nobody_waiting_in_the_lanes() -> None:
    async def story() -> int:
        lanes, written = Lanes(), list[str]()

        async def write(namespace: str, name: str) -> None:
            sequence = Sequence(Work.HOLD, (subject(f"hold Hold/{namespace}/{name}"),), ())
            async with lanes.lane(sequence):
                await asyncio.sleep(0)
                written.append(namespace)

        await asyncio.gather(
            *(write("loud", f"h{n}") for n in range(2000)), *(write("calm", "h") for _ in range(1))
        )
        return written.index("calm")

    assert asyncio.run(story()) <= 2 * FAST_PLACES


def test_a_status_waits_for_one_of_another_namespace_and_not_for_all_that_wait() -> None:
    written: list[str] = []

    async def write(lanes: Lanes, namespace: str, number: int) -> None:
        subjects = (subject(f"status Hold/{namespace}/h{number}"),)
        async with lanes.lane(Sequence(Work.STATUS, subjects, ())):
            written.append(namespace)

    async def story() -> None:
        lanes, done = Lanes(), asyncio.Event()

        async def hand_over() -> None:
            async with lanes.lane(Sequence(Work.DOOR1, (subject("pod shop/p"),), ())):
                await done.wait()

        going = asyncio.create_task(hand_over())
        await asyncio.sleep(0)
        flood = [asyncio.create_task(write(lanes, "loud", n)) for n in range(12)]
        for _ in range(50):  # What may be written at once is written, and the next ones wait.
            await asyncio.sleep(0)
        written.append("now")
        await write(lanes, "calm", 0)
        done.set()
        await asyncio.gather(going, *flood)

    asyncio.run(story())
    assert written.index("calm") - written.index("now") <= 3
