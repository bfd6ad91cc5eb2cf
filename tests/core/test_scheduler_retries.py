"""Pods that kube-scheduler leaves alone although there is room for them."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain

from headroom.core.actions import CreateLatch, DeletePod, Nominate
from headroom.core.pod_memory import NOTHING, PodMemory
from headroom.core.waits.scheduler_retries import FIRST_PAUSE, decide, wake
from tests.builders import NOON, hold, pod

WAITING = pod("waiting", nominated="a")
DUE = PodMemory(retry_at=NOON)


def test_a_pod_is_left_to_kube_scheduler_for_a_moment() -> None:
    found = decide([(WAITING, NOTHING)], lambda pod: True, NOON)
    assert (found.wake_at, found.node) == (NOON + FIRST_PAUSE, "")
    assert found.memories == {WAITING.uid: PodMemory(retry_at=NOON + FIRST_PAUSE)}


def test_a_pod_beside_its_room_is_tried_again_and_less_often_each_time() -> None:
    found = decide([(WAITING, DUE)], lambda pod: True, NOON)
    assert (found.node, found.memories[WAITING.uid].retries) == ("a", 1)
    assert found.wake_at == NOON + 2 * FIRST_PAUSE


def test_a_pod_whose_victims_are_still_there_waits_on() -> None:
    found = decide([(WAITING, DUE)], lambda pod: False, NOON)
    assert (found.node, found.wake_at) == ("", NOON + FIRST_PAUSE)


def test_nobody_to_look_at_needs_no_time() -> None:
    assert decide([], lambda pod: True, NOON).wake_at is None


def test_kube_scheduler_is_woken_by_the_deletion_of_a_latch() -> None:
    actions = chain.from_iterable(wake("a", hold("h").parent, "headroom-system").steps)
    assert [type(action) for action in actions] == [CreateLatch, Nominate, DeletePod]
    assert timedelta(0) < FIRST_PAUSE
