"""The scheduling queue: priority, then time; sleepers, backoff, and early tries."""

from __future__ import annotations

from headroom.core.objects import Key
from headroom.sim.scheduler.queue import SchedulingQueue
from tests.builders import pod

NOBODY: frozenset[str] = frozenset()


def key(name: str) -> Key:
    return Key("default", name)


def test_priority_goes_before_time() -> None:
    queue = SchedulingQueue()
    queue.add(pod("early"), now=0)
    queue.add(pod("late", priority=5), now=1)
    assert [entry.pod.key.name for entry in (queue.pop(2), queue.pop(2)) if entry] == [
        "late",
        "early",
    ]


def test_a_sleeper_is_not_tried_until_woken() -> None:
    queue = SchedulingQueue()
    queue.add(pod("p"), now=0)
    entry = queue.pop(0)
    assert entry is not None
    queue.fail(entry, NOBODY, now=0)
    assert queue.pop(100) is None
    queue.wake(lambda sleeper: True, now=100)
    assert queue.pop(100) is entry


def test_backoff_doubles_up_to_ten_seconds_on_whole_seconds() -> None:
    queue = SchedulingQueue()
    queue.add(pod("p"), now=0)
    ends = []
    for _ in range(6):
        entry = queue.pop(0)
        assert entry is not None
        queue.fail(entry, NOBODY, now=100.5)
        ends.append(entry.backoff_until)
        queue.wake(lambda sleeper: True, now=1000)
    assert ends == [101, 102, 104, 108, 110, 110]


def test_a_backoff_is_cut_short_when_nobody_else_waits() -> None:
    queue = SchedulingQueue()
    queue.add(pod("failed"), now=0)
    failed = queue.pop(0)
    assert failed is not None
    queue.fail(failed, NOBODY, now=0)
    queue.wake(lambda sleeper: True, now=0.1)
    queue.add(pod("fresh"), now=0.2)
    fresh = queue.pop(0.3)
    assert fresh is not None
    assert fresh.pod.key.name == "fresh"
    assert queue.pop(0.3) is failed


def test_after_an_error_the_backoff_is_waited_out() -> None:
    queue = SchedulingQueue()
    queue.add(pod("p"), now=0)
    entry = queue.pop(0)
    assert entry is not None
    queue.retry(entry, now=0.5)
    assert queue.pop(0.6) is None
    assert queue.next_retry() == 1.0
    assert queue.pop(1.0) is entry


def test_a_removed_pod_is_never_tried() -> None:
    queue = SchedulingQueue()
    queue.add(pod("p"), now=0)
    queue.remove(key("p"))
    assert queue.pop(0) is None
    assert len(queue) == 0


def test_an_update_changes_the_pod_and_not_its_place() -> None:
    queue = SchedulingQueue()
    queue.add(pod("a"), now=0)
    queue.add(pod("b"), now=1)
    queue.add(pod("a", labels={"new": "yes"}), now=2)
    entry = queue.pop(3)
    assert entry is not None
    assert entry.pod.labels == {"new": "yes"}


def test_only_pods_that_failed_for_certain_reasons_are_woken() -> None:
    queue = SchedulingQueue()
    reasons = {"a": frozenset({"room"}), "b": frozenset({"taint"}), "c": frozenset({"room"})}
    for name in reasons:
        queue.add(pod(name), now=0)
    for name in reasons:
        entry = queue.pop(0)
        assert entry is not None
        queue.fail(entry, reasons[name], now=ord(name))
    assert [entry.pod.key.name for entry in queue.longest_asleep()] == ["a", "b"]
    queue.remove(key("a"))
    assert [entry.pod.key.name for entry in queue.longest_asleep()] == ["c", "b"]
    queue.wake(None, now=1000, among=lambda why: "room" in why)
    woken = queue.pop(1000)
    assert woken is not None
    assert woken.pod.key.name == "c"
    assert queue.pop(1000) is None
    queue.wake(lambda entry: entry.pod.key.name == "b", now=1000)
    assert [entry.pod.key.name for entry in queue.longest_asleep()] == []
