"""What the operator's numbers mean, told as short stories of events."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headroom.core.actions import Disclaim, Done, Stale
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus, Slot
from headroom.core.holds import Hold, HoldStatus, PodTemplate
from headroom.core.names import CLAIM_GATE, CLAIMED_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import Resources
from headroom.core.sizes.replicas import NOTHING
from headroom.ports import Lost, Seen
from headroom.runtime.gauges import CountingChronicle, Gauges
from headroom.runtime.http import Health
from headroom.runtime.metrics import Metrics

OWNER = Pod(Key("shop", "checkout"), uid="u1", gates=(CLAIM_GATE,))
CLAIMED = {CLAIMED_ANNOTATION: "Hold/shop/checkout"}


class StepClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.at = datetime(2027, 1, 4, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def pass_by(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


class Watched:
    """A census with its clock and its numbers."""

    def __init__(self) -> None:
        self.clock = StepClock()
        self.metrics = Metrics("1")
        self.census = Gauges(self.metrics, self.clock)
        self.census.synced()

    def value(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, labels)


def hold(phase: str) -> Hold:
    parent = Parent("headroom.dev/v1alpha1", "Hold", "shop", "checkout")
    return Hold(parent, PodTemplate(Pod(Key("shop", ""))), status=HoldStatus(phase=phase))


def test_an_owners_wait_is_from_first_seen_to_bound() -> None:
    watched = Watched()
    watched.census.see(Seen(OWNER))
    watched.clock.pass_by(0.03)
    watched.census.see(Seen(replace(OWNER, gates=(), annotations=CLAIMED)))
    watched.clock.pass_by(0.02)
    watched.census.see(Seen(replace(OWNER, gates=(), annotations=CLAIMED, node="a")))
    assert watched.value("headroom_owner_pod_wait_seconds_count") == 1
    assert watched.value("headroom_owner_pod_wait_seconds_sum") == 0.05
    assert watched.value("headroom_misses_total") == 0


def test_an_owner_that_was_bound_before_we_came_is_not_measured() -> None:
    watched = Watched()
    watched.census.see(Seen(replace(OWNER, gates=(), annotations=CLAIMED, node="a")))
    assert watched.value("headroom_owner_pod_wait_seconds_count") == 0


def test_an_owner_released_without_a_claim_is_one_miss() -> None:
    watched = Watched()
    watched.census.see(Seen(OWNER))
    watched.census.see(Seen(replace(OWNER, gates=())))
    watched.census.see(Seen(replace(OWNER, gates=(), node="a")))
    assert watched.value("headroom_misses_total") == 1


def test_an_owner_that_goes_away_is_forgotten() -> None:
    watched = Watched()
    watched.census.see(Seen(OWNER))
    watched.census.see(Lost(OWNER))
    watched.census.see(Seen(replace(OWNER, gates=(), annotations=CLAIMED, node="a")))
    assert watched.value("headroom_owner_pod_wait_seconds_count") == 0


def test_holds_are_counted_by_phase_until_they_are_gone() -> None:
    watched = Watched()
    watched.census.see(Seen(hold("Available")))
    watched.census.refresh({})
    assert watched.value("headroom_holds", phase="Available") == 1
    watched.census.see(Lost(hold("")))
    watched.census.refresh({})
    assert watched.value("headroom_holds", phase="Available") == 0


def test_the_time_to_held_is_from_a_new_hold_to_available() -> None:
    watched = Watched()
    watched.census.see(Seen(hold("")))
    watched.clock.pass_by(2)
    watched.census.see(Seen(hold("Available")))
    watched.census.see(Seen(hold("Available")))
    assert watched.value("headroom_time_to_held_seconds_count") == 1
    assert watched.value("headroom_time_to_held_seconds_sum") == 2


def test_held_room_is_what_guardians_on_nodes_request_in_base_units() -> None:
    watched = Watched()
    guardian = Pod(
        Key("shop", "g"),
        labels={ROLE_LABEL: ROLE_GUARDIAN},
        node="a",
        requests=Resources({"cpu": 1500, "memory": 2**30}),
    )
    pending = replace(guardian, key=Key("shop", "h"), node="")
    watched.census.refresh({guardian.key: guardian, pending.key: pending})
    assert watched.value("headroom_held", resource="cpu") == 1.5
    assert watched.value("headroom_held", resource="memory") == 2**30
    watched.census.refresh({})
    assert watched.value("headroom_held", resource="cpu") is None


def test_a_claim_taken_back_counts_as_stolen_once_it_is_done() -> None:
    watched = Watched()
    chronicle = CountingChronicle(watched.metrics, Health(), lambda: None, watched.census)
    chronicle.acted(Disclaim(OWNER.key, "u1"), Stale())
    assert watched.value("headroom_stolen_total") == 0
    chronicle.acted(Disclaim(OWNER.key, "u1"), Done())
    assert watched.value("headroom_stolen_total") == 1


def test_the_slots_of_all_headrooms_are_counted() -> None:
    watched = Watched()
    first, second = (
        Headroom(Parent("headroom.dev/v1alpha1", "Headroom", "shop", name), Slot(), NOTHING)
        for name in ("a", "b")
    )
    watched.census.see(Seen(replace(first, status=HeadroomStatus(held=3, pending=1))))
    watched.census.see(Seen(replace(second, status=HeadroomStatus(held=2, pending=0))))
    watched.census.refresh({})
    assert watched.value("headroom_slots", state="held") == 5
    assert watched.value("headroom_slots", state="pending") == 1
    watched.census.see(Lost(first))
    watched.census.refresh({})
    assert watched.value("headroom_slots", state="held") == 2
