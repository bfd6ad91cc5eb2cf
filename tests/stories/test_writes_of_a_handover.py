"""What one owner costs the API server: every write of the operator from its arrival on.

Counted on the embedded cluster, where the same story always has the same writes. The bounds are
those of docs/internals/benchmarks.md; `bench handover` counts the same on a real API server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.reservations import KOORD, EmbeddedReservations, reservation
from tests.stories.things import Json, headroom, hold, pod

OWNERS = 20
NODES = 2
PACE_S = 0.05
GATE = "gate"
BEHIND = "our scheduler"
REUSABLE = "reusable Hold"  # one for each node, for many owners
TOLD = ["create events", "create events", "patch holds/status"]


def rooms(kind: str, count: int) -> list[Json]:
    """What keeps room for so many owners."""
    if kind == REUSABLE:
        return [hold(f"h{n}", cpu=count // NODES, allocateOnce=False) for n in range(NODES)]
    if kind.startswith("slot"):
        refill = {} if kind == "slot, refilled" else {"refill": "Never"}
        return [headroom("h", replicas=count, **refill)]
    make = reservation if kind == "Reservation" else hold
    return [make(f"h{number}") for number in range(count)]


def owner(kind: str, door: str, name: str) -> Json:
    if door == GATE:
        return pod(name, app="web", gated=True)
    if kind == "Reservation":
        return pod(name, app="web", schedulerName=KOORD)
    return pod(name, app="web", ours=True)


@contextmanager
def full_of(kind: str, count: int, nodes: int) -> Iterator[EmbeddedWorld]:
    """Nodes that are exactly full of held room."""
    world = EmbeddedReservations() if kind == "Reservation" else EmbeddedWorld()
    for number in range(nodes):
        world.add_node(f"n{number}", cpu=count // nodes)
    world.start_operator()
    world.apply(*rooms(kind, count))
    guardians = NODES if kind == REUSABLE else count
    world.until("all is held", lambda: len(placed(world)) == guardians)
    world.pass_time(60)
    try:
        yield world
    finally:
        world.close()


def placed(world: EmbeddedWorld) -> list[Json]:
    return [each for each in world.ours("guardian") if each["spec"].get("nodeName")]


def writes(kind: str, door: str, count: int, nodes: int, pace: float = 0.0) -> list[str]:
    """All that the operator writes for so many owners, until nothing more comes."""
    with full_of(kind, count, nodes) as world:
        before = len(world.sim.writes)
        names = [f"owner-{number}" for number in range(count)]
        for name in names:
            world.apply(owner(kind, door, name))
            world.pass_time(pace)
        world.until("all run", lambda: all(map(world.running, names)))
        world.pass_time(60)
        return [
            f"{write.verb} {'/'.join(filter(None, (write.resource.plural, write.subresource)))}"
            for _, write, _ in world.sim.writes[before:]
            if write.resource.plural != "claimindexes"
        ]


def test_an_owner_at_the_gate_costs_three_writes_before_its_bind_and_three_after() -> None:
    made = writes("Hold", GATE, 1, 1)
    assert made[:3] == ["patch pods/status", "delete pods", "patch pods"]
    assert sorted(made[3:]) == TOLD


def test_an_owner_of_ours_costs_four_writes_up_to_its_bind_and_four_after() -> None:
    made = writes("Hold", BEHIND, 1, 1)
    assert made[:4] == ["create pods", "patch pods/status", "delete pods", "create pods/binding"]
    assert sorted(made[4:7]) == TOLD
    assert made[7:] == ["delete pods"]


@pytest.mark.parametrize(
    ("kind", "door", "paced", "together"),
    [
        ("Hold", GATE, 4.0, 4.0),
        ("Hold", BEHIND, 5.1, 3.6),
        pytest.param("Reservation", GATE, 4.0, 4.0, marks=pytest.mark.slow),
        pytest.param("Reservation", BEHIND, 5.1, 3.6, marks=pytest.mark.slow),
        ("slot", GATE, 3.3, 3.3),
        ("slot", BEHIND, 4.3, 2.8),
        pytest.param("slot, refilled", GATE, 8.0, 5.0, marks=pytest.mark.slow),
        pytest.param("slot, refilled", BEHIND, 5.5, 4.0, marks=pytest.mark.slow),
        (REUSABLE, BEHIND, 7.0, 1.8),
    ],
)
def test_a_stream_and_a_group_of_owners_cost_no_more_than_this(
    kind: str, door: str, paced: float, together: float
) -> None:
    """Without events, of which only the first are written."""
    stream = Counter(writes(kind, door, OWNERS, NODES, PACE_S))
    group = Counter(writes(kind, door, OWNERS, NODES))
    for counted in (stream, group):
        del counted["create events"]
    assert stream.total() / OWNERS <= paced, stream
    assert group.total() / OWNERS <= together, group
