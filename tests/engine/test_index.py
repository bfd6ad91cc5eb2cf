"""Pods by their entries in the index, and who waits for an entry to end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headroom.core.index_entries import By
from headroom.core.names import CLAIM_GATE, PARENT_ANNOTATION, ROLE_LABEL, SLOT_ANNOTATION
from headroom.core.objects import Key, Pod
from headroom.core.policy import Policy
from headroom.core.subjects import Awaited, Change
from headroom.engine.agenda import Agenda
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import lose_pod, see_pod
from tests.builders import NOON, pod, resources
from tests.subjects import subject

ROOM = "Headroom/default/room"


def guardian(name: str, slot: str = "0", **more: str) -> Pod:
    kept = {PARENT_ANNOTATION: ROOM, SLOT_ANNOTATION: slot} if slot else {PARENT_ANNOTATION: ROOM}
    return pod(name, cpu=2, labels={ROLE_LABEL: "guardian"}, annotations=kept, **more)


def ledger_of(*pods: Pod) -> Ledger:
    ledger = Ledger(Policy(), Agenda())
    for each in pods:
        see_pod(ledger, each, NOON)
    return ledger


def guardians(ledger: Ledger) -> Collection[Key]:
    return ledger.index.of(By.SLOT_GUARDIAN, ROOM)


def test_what_guardians_use_is_the_sum_of_those_that_are_there() -> None:
    first, second = guardian("first"), guardian("second")
    ledger = ledger_of(first, second)
    assert ledger.index.total(By.SLOT_GUARDIAN, ROOM) == resources(cpu=4, pods=2)
    lose_pod(ledger, first.key, first.uid, NOON)
    assert list(guardians(ledger)) == [second.key]
    assert ledger.index.total(By.SLOT_GUARDIAN, ROOM) == resources(cpu=2, pods=1)
    lose_pod(ledger, second.key, second.uid, NOON)
    assert not guardians(ledger)
    assert ledger.index.total(By.SLOT_GUARDIAN, ROOM) == resources()


def test_others_and_those_that_have_ended_do_not_count() -> None:
    alone, ended = guardian("alone", slot=""), guardian("ended", phase="Failed")
    assert not guardians(ledger_of(pod("real", cpu=1), alone, ended))


def test_who_waits_is_looked_at_when_one_goes() -> None:
    there = guardian("there")
    ledger = ledger_of(there)
    waiting = subject("hold x")
    ledger.agenda.wait(waiting, on=Awaited(Change.GUARDIAN_GONE, ROOM))
    see_pod(ledger, guardian("there", phase="Running"), NOON)
    assert waiting not in ledger.agenda.take(NOON)
    lose_pod(ledger, there.key, there.uid, NOON)
    assert waiting in ledger.agenda.take(NOON)


def test_an_index_keeps_nothing_of_pods_that_are_gone() -> None:
    there = guardian("there")
    ledger = ledger_of(there)
    lose_pod(ledger, there.key, there.uid, NOON)
    assert not any(ledger.index.all(by) for by in By)


def test_who_waits_for_less_usage_is_looked_at_when_a_guardian_is_smaller_or_gone() -> None:
    there = guardian("there")
    ledger, waiting = ledger_of(there), subject("hold x")
    ledger.agenda.wait(waiting, on=Awaited(Change.USAGE, "default"))
    see_pod(ledger, replace(there, requests=resources(cpu=3)), NOON)
    assert waiting not in ledger.agenda.take(NOON)
    see_pod(ledger, replace(there, requests=resources(cpu=1)), NOON)
    assert waiting in ledger.agenda.take(NOON)
    ledger.agenda.wait(waiting, on=Awaited(Change.USAGE, "default"))
    lose_pod(ledger, there.key, there.uid, NOON)
    assert waiting in ledger.agenda.take(NOON)
    assert not ledger.usage.of(By.USING, "default")


def test_a_heartbeat_of_a_running_pod_is_kept_and_concerns_nobody() -> None:
    runs = pod("runs", cpu=1, node="a")
    ledger = ledger_of(runs)
    heartbeat = replace(runs, version="2", phase="Running", started=NOON)
    assert not see_pod(ledger, heartbeat, NOON)
    assert ledger.pods[runs.key] == heartbeat
    assert ledger.state.pod(runs.key) == heartbeat
    assert see_pod(ledger, replace(heartbeat, labels={"app": "web"}), NOON)
    assert see_pod(ledger, replace(heartbeat, phase="Succeeded"), NOON)
    assert ledger.state.pod(runs.key) is None


def test_what_a_pod_names_twice_is_found_once_and_gone_with_it() -> None:
    twice = pod("p", claims=("data", "data"), gates=(CLAIM_GATE, CLAIM_GATE))
    ledger = ledger_of(twice)
    assert list(ledger.index.of(By.GATE, CLAIM_GATE)) == [twice.key]
    lose_pod(ledger, twice.key, twice.uid, NOON)
    assert not ledger.index.all(By.GATE)
    assert not ledger.index.all(By.VOLUME_CLAIM)
