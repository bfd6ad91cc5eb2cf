"""Promises of headrooms in the engine: who came, who waited, what is told, what is remembered."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headroom.core.actions import WriteHeadroomStatus
from headroom.core.headrooms.headrooms import Headroom, Window
from headroom.core.index_entries import By
from headroom.core.names import SCHEDULER_NAME
from headroom.core.objects import Condition
from headroom.core.policy import Policy
from headroom.core.promise.report import PromiseStatus
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.replicas import Replicas
from headroom.engine.engine import Engine
from headroom.engine.headrooms import promises
from headroom.engine.headrooms.records import file_headroom
from tests.builders import node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Play

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
TWO_SECONDS = timedelta(seconds=2)


def adaptive(most: int | None = None) -> Headroom:
    return headroom(Adaptive(TWO_SECONDS, 0.99, most=most))


def seen(play: Play) -> Headroom:
    return play.toy.headrooms["Headroom/default/burst"]


def told(play: Play) -> PromiseStatus:
    promise = seen(play).status.promise
    assert promise is not None
    return promise


def condition(play: Play) -> Condition:
    found = {each.type: each for each in seen(play).status.conditions}
    return found["PromiseKept"]


def come(play: Play, first: int, count: int = 1, every: float = 20.0) -> None:
    for number in range(first, first + count):
        play.put(
            pod(f"p{number}", 1, labels={"app": "web"}, scheduler=SCHEDULER_NAME, created=play.now)
        )
        play.run(every)


def test_before_anybody_came_there_is_one_slot_and_nothing_to_judge() -> None:
    play = Play(node("a", 64), adaptive())
    play.run(30)
    assert len(play.ours("guardian")) == 1
    assert (told(play).size, told(play).decided_by) == (1, "Starting")
    assert (condition(play).status, condition(play).reason) == ("Unknown", "Learning")


@pytest.mark.slow
def test_the_size_grows_with_those_that_come_and_falls_when_they_stay_away() -> None:
    play = Play(node("a", 640), adaptive())
    play.run(30)
    come(play, 0, 60, every=5)
    grown = len(play.ours("guardian"))
    assert grown > 3
    for _ in range(12):
        play.run(600)
    assert 0 < len(play.ours("guardian")) < grown


def test_owners_of_a_fixed_size_are_reported_too() -> None:
    play = Play(node("a", 8), headroom(Replicas(2)))
    play.run()
    assert seen(play).status.promise is None  # Nobody came: there is nothing to tell.
    come(play, 0, 3)
    promise = told(play)
    assert (promise.ratio, promise.size) == (0.99, None)
    assert (promise.last_hour.pods, promise.last_hour.misses) == (3, 0)


def test_an_owner_that_waits_longer_than_was_promised_is_a_miss_as_soon_as_it_is_late() -> None:
    play = Play(node("a", 1), headroom(Replicas(1)))
    play.run()
    come(play, 0, 3)  # The first takes the slot; the others find no room.
    promise = told(play)
    assert (promise.last_day.pods, promise.last_day.misses) == (3, 2)


def test_an_owner_that_goes_before_it_is_late_came_and_did_not_miss() -> None:
    play = Play(node("a", 1), headroom(Replicas(1)))
    play.run()
    come(play, 0, 1)
    play.put(pod("gone", 1, labels={"app": "web"}, scheduler=SCHEDULER_NAME, created=play.now))
    play.run(2)
    play.toy.remove(play.pod("gone"))
    play.run(20)
    assert (told(play).last_day.pods, told(play).last_day.misses) == (2, 0)


def test_pods_that_are_no_owners_do_not_count() -> None:
    play = Play(node("a", 8), headroom(Replicas(2)))
    play.run()
    play.put(pod("other", 1, labels={"app": "db"}, created=play.now))
    play.run(20)
    assert seen(play).status.promise is None


def test_owners_that_others_keep_gated_are_known_demand() -> None:
    play = Play(node("a", 64), adaptive())
    play.run(30)
    for number in range(5):
        play.put(pod(f"g{number}", 1, labels={"app": "web"}, gates=("a/b",), created=play.now))
    play.run(30)
    assert len(play.ours("guardian")) == 5
    assert told(play).decided_by == "KnownDemand"


def test_gated_owners_that_were_there_before_the_headroom_are_known_demand() -> None:
    gated = [pod(f"g{number}", 1, labels={"app": "web"}, gates=("a/b",)) for number in range(4)]
    play = Play(node("a", 64), *gated, adaptive())
    play.run(30)
    assert len(play.ours("guardian")) == 4


def test_an_open_window_is_a_floor_and_outside_of_it_the_learnt_size_stays() -> None:
    window = Window("0 12 * * *", timedelta(minutes=10), replicas=6)
    play = Play(node("a", 64), replace(adaptive(), schedule=(window,)))
    play.run(60)
    assert len(play.ours("guardian")) == 6
    play.run(900)
    assert len(play.ours("guardian")) == 1


def test_a_limit_that_keeps_the_promise_from_being_kept_is_told() -> None:
    play = Play(node("a", 1), adaptive(most=1))
    play.run(30)
    come(play, 0, 40, every=3)
    assert len(play.ours("guardian")) == 1
    assert (condition(play).status, condition(play).reason) == ("False", "LimitReached")


def test_another_operator_goes_on_with_what_was_learnt() -> None:
    play = Play(node("a", 640), adaptive())
    play.run(30)
    come(play, 0, 60, every=5)
    play.run(400)
    before = told(play)
    play.restart()
    play.run(30)
    after = told(play)
    assert after.last_day.pods == before.last_day.pods == 60
    assert after.size is not None
    assert before.size is not None
    assert after.size >= before.size - 1 > 1


def test_a_damaged_record_means_starting_over_and_is_told() -> None:
    play = Play(node("a", 640), adaptive())
    play.run(30)
    come(play, 0, 20, every=5)
    play.run(400)
    promise = replace(told(play), record="nonsense")
    play.put(replace(seen(play), status=replace(seen(play).status, promise=promise)))
    play.restart()
    play.run(30)
    assert condition(play).reason == "RecordLost"
    assert "nonsense" in condition(play).message
    assert told(play).last_day.pods == 0


def test_a_status_is_not_written_again_when_nothing_is_new() -> None:
    play = Play(node("a", 8), headroom(Replicas(2)))
    play.run()
    come(play, 0, 3)
    play.run(60)
    writes = len(play.did(WriteHeadroomStatus))
    play.run(3600)
    assert len(play.did(WriteHeadroomStatus)) == writes


def test_a_pod_that_was_kept_back_comes_after_its_headroom_is_gone() -> None:
    engine = Engine(Policy())
    ledger = engine.ledger
    ledger.slots.began = NOW
    wanted = adaptive()
    other = replace(wanted.parent, name="other", uid="uid-of-other")
    for each in (wanted, replace(wanted, parent=other)):
        file_headroom(ledger, each)
        promises.see_headroom(ledger, each)
    kept_back = pod("g", 1, labels={"app": "web"}, gates=("a/b",), created=NOW)
    assert list(promises.see_pod(ledger, None, kept_back, NOW)) == []
    gated = ledger.slots.owner_index
    assert len(gated.of(By.KEPT_BACK, wanted.parent.whole)) == 1
    ledger.slots.headroom_index.put(wanted.parent.whole)
    promises.forget(ledger, wanted.parent.whole)
    freed = replace(kept_back, gates=())
    assert list(promises.see_pod(ledger, kept_back, freed, NOW)) == [other.whole]
    assert not gated.of(By.KEPT_BACK, wanted.parent.whole)
    assert not gated.of(By.KEPT_BACK, other.whole)
