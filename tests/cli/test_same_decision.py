"""`explain`, `plan` and `get slots` wish for what an operator wishes that sees the same objects."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.cli.source import World
from headroom.cli.views.slots import slots_of
from headroom.cli.views.wishes import guardians_of, wish_of
from headroom.core.demand.followers import FromAnnotation
from headroom.core.headrooms.headrooms import (
    NEVER,
    NODE_CHUNK,
    Auto,
    Headroom,
    HeadroomStatus,
    Slot,
    Window,
    Workload,
    WorkloadRef,
)
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.holds import PREEMPTIBLE
from headroom.core.objects import OwnerReference
from headroom.core.policy import Policy
from headroom.core.sizes.follow import Follow
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from headroom.engine.engine import Engine
from headroom.ports import Seen, Synced, Thing
from tests.builders import NAMESPACE, NOON, node, pod, taint
from tests.cli.slot_builder import keeper, world
from tests.core.headroom_builder import headroom, shape, web

NODES = (node("a"), node("b", taints=(taint("gpu"),)), node("c", unschedulable=True))
WEB = replace(web(7), uid="web", selector={"app": "web"})
DAEMON_SET = Workload(
    WorkloadRef("apps/v1", "DaemonSet", "agent"), NAMESPACE, 3, shape("500m"), uid="agent"
)
GATE = "example.com/gate"
AGENT = OwnerReference("apps/v1", "DaemonSet", "agent", "agent", controller=True)
PODS = (
    pod("agent", cpu="500m", node="a", owners=(AGENT,)),
    pod("waits", cpu=1, gates=(GATE,), created=NOON - timedelta(hours=1)),
    pod("counts", gates=(GATE,), annotations={"helpers": "2"}, created=NOON),
    pod("wrong", gates=(GATE,), annotations={"helpers": "two"}, created=NOON - timedelta(hours=1)),
)
ALL_DAY, AT_NIGHT = (Window(f"0 {hour} * * *", timedelta(hours=2)) for hour in (11, 23))
YESTERDAY = HeadroomStatus(spent=("1",), last_start=NOON - timedelta(hours=25))
BIG = Replicas(9)


def decided_by_operator(of: Headroom, there: World) -> WantedSlots:
    engine = Engine(Policy())
    things: tuple[Thing, ...] = (*there.nodes, *there.workloads, *there.pods, of)
    for thing in things:
        engine.observe(Seen(thing), there.now)
    engine.observe(Synced(), there.now)
    engine.plan(there.now)
    return engine.ledger.slots.memory[of.parent.whole].wished


@pytest.mark.parametrize(
    "of",
    [
        headroom(Replicas(3)),
        headroom(Replicas(3), paused=True),
        headroom(Replicas(3), schedule=(ALL_DAY,)),
        headroom(Replicas(3), schedule=(AT_NIGHT,)),
        headroom(Replicas(3), refill=NEVER, status=HeadroomStatus(spent=("1",))),
        headroom(Replicas(3), refill=NEVER, schedule=(ALL_DAY,), status=YESTERDAY),
        headroom(Percent(50)),
        headroom(PerNode(2)),
        headroom(PerNode(1), mode=PREEMPTIBLE),
        headroom(Follow(GATE)),
        headroom(Follow(GATE, FromAnnotation("helpers"))),
        replace(headroom(Replicas(4)), slot=Slot(auto=Auto(top=2)), owners=(), owners_given=False),
        replace(headroom(BIG), slot=replace(headroom(BIG).slot, chunk=NODE_CHUNK)),
    ],
    ids=lambda of: f"{of.size}"[:60],
)
def test_a_wish_is_the_operators_own(of: Headroom) -> None:
    there = world(of, *NODES, WEB, DAEMON_SET, *PODS, keeper(of, "0", "a"))
    wished, wanted = wish_of(there, of), decided_by_operator(of, there)
    assert [hold.slot for hold in wished.slots] == [hold.slot for hold in wanted.slots]
    assert [hold.template for hold in wished.slots] == [hold.template for hold in wanted.slots]
    assert (wished.asked, wished.notes, wished.excluded, wished.frozen, wished.auto) == (
        wanted.asked,
        wanted.notes,
        wanted.excluded,
        wanted.frozen,
        wanted.auto,
    )


def test_a_headroom_of_somebody_else_has_no_slots() -> None:
    of = replace(headroom(Replicas(3)), served=False)
    assert slots_of(world(of, *NODES), of) == ()


def test_a_pod_with_our_labels_that_belongs_to_another_object_is_no_guardian() -> None:
    of = headroom(Replicas(3))
    stranger = replace(keeper(of, "0", "a"), owners=(AGENT,))
    there = world(of, *NODES, stranger)
    assert guardians_of(there, of) == {}
    assert [view.state for view in slots_of(there, of)] == ["missing"] * 3


def test_a_wish_changes_nothing_of_what_was_read() -> None:
    of, big = headroom(Replicas(3)), headroom(BIG)
    there = world(of, *NODES, WEB, DAEMON_SET, *PODS)
    before = world(of, *NODES, WEB, DAEMON_SET, *PODS)
    wish_of(there, of)
    assert there == before
    assert wish_of(replace(there, headrooms=(big,)), big).asked == 9
