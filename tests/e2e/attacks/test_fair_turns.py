"""Rows 5 and 10: a tenant with more wishes than its quota allows slows down only itself."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from threading import Event

import pytest

from headroom.runtime.loglimits import NAMESPACE_LINES
from headroom.wire.kinds import PODS
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import KINDS, Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import headroom, hold

pytestmark = pytest.mark.e2e

SLOTS = 100_000
HOLDS = 2_000
WRITERS = 8
WATCHED_S = 20.0


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


def guardians(tenant: Tenant) -> int:
    return len(tenant.api.items(PODS.path(tenant.name)))


def refused_lines(stage: Stage) -> int:
    return stage.operator.log(10**7).count('"denied"')


def watch_for(seconds: float) -> None:
    """Let the attack go on for a while."""
    end = time.monotonic() + seconds
    until("the attack has lasted", lambda: time.monotonic() >= end, seconds=seconds + 5)


def test_a_headroom_of_100000_slots_in_a_namespace_for_two_pods_hurts_nobody(stage: Stage) -> None:
    greedy = stage.tenant("greedy", quota={"pods": "2"})
    before = refused_lines(stage)
    with stage.unhurt():
        where = {"nodeSelector": {"pool": "commons"}}
        greedy.create(headroom("much", cpu="10m", replicas=SLOTS, template=where))
        until("two slots stand", lambda: guardians(greedy) == 2, seconds=60)
        watch_for(WATCHED_S)
    said = greedy.condition("Headroom", "much")
    assert "exceeded quota" in said["message"]
    assert f"2 of {SLOTS} slots held" in said["message"]
    assert guardians(greedy) == 2
    assert refused_lines(stage) - before < 100
    stage.plane.api.patch(
        f"/api/v1/namespaces/{greedy.name}/resourcequotas/limits", {"spec": {"hard": {"pods": "5"}}}
    )
    until("more room is used at once", lambda: guardians(greedy) == 5, seconds=60)


def test_2000_holds_that_quota_refuses_hurt_nobody(stage: Stage) -> None:
    crowd = stage.tenant("crowd", quota={"pods": "0"})
    before, began = len(stage.operator.log(10**7).splitlines()), time.monotonic()
    # Eight writers keep a small API server busy whatever they write: the holds of the crowd may
    # not slow the bystander down more than twice as much as its config maps do.
    with (
        stage.unhurt(beside=writing(crowd), as_plain=True),
        ThreadPoolExecutor(WRITERS) as pool,
    ):
        for made in [pool.submit(make_some, crowd, first) for first in range(WRITERS)]:
            made.result()
    print("while holds are written:", stage.times)
    until("many are told", lambda: refused(crowd) >= 100, seconds=240)
    with stage.unhurt():
        watch_for(WATCHED_S)
    lines = stage.operator.log(10**7).splitlines()[before:]
    at_once, per_second = NAMESPACE_LINES
    most = at_once + per_second * (time.monotonic() - began) + 1
    assert {event: told for event, told in told_of(crowd, lines).items() if told > most} == {}
    assert guardians(crowd) == 0


def told_of(tenant: Tenant, lines: list[str]) -> Counter[str]:
    """How many lines of the log name a tenant's objects, by event."""
    named = [line for line in lines if f"{tenant.name}/" in line and line.startswith("{")]
    return Counter(str(json.loads(line)["event"]) for line in named)


@contextmanager
def writing(tenant: Tenant) -> Iterator[None]:
    """Have as many writers as make holds write something that is not ours, as fast as they can."""
    over = Event()

    def write(first: int) -> None:
        path = f"/api/v1/namespaces/{tenant.name}/configmaps"
        try:
            for number in count(first, WRITERS):
                if over.is_set():
                    return
                tenant.api.create(path, {"metadata": {"name": f"c{number}"}, "data": {"a": "b"}})
        finally:
            tenant.api.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        written = [pool.submit(write, first) for first in range(WRITERS)]
        try:
            yield
        finally:
            over.set()
    for each in written:
        each.result()


def make_some(tenant: Tenant, first: int) -> None:
    """Make one writer's part; every tenth has a shape of its own, so that no answer is for two."""
    try:
        for number in range(first, HOLDS, WRITERS):
            cpu = f"{number + 1}m" if number % 10 == 0 else "10m"
            tenant.create(hold(f"h{number}", cpu=cpu, app="nobody"))
    finally:
        tenant.api.close()


def refused(tenant: Tenant) -> int:
    """How many holds say that their guardian was refused; a namespace has ten statuses a second."""
    found = tenant.api.items(KINDS["Hold"].path(tenant.name))
    told = [each.get("status", {}).get("conditions", ()) for each in found]
    return sum(any(each["reason"] == "GuardianRefused" for each in one) for one in told)
