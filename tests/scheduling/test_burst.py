"""Room for a burst of pods: free room first, then the fewest Preemptible slots."""

from __future__ import annotations

from headroom.core.objects import Pod
from headroom.scheduling.burst import BurstDecision, BurstView, decide
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import cluster, node, pod


def slot(name: str, on: str, cpu: int = 500) -> Pod:
    return pod(name, cpu, node=on, priority=-10)


def left_out(alone: Pod) -> BurstDecision:
    return BurstDecision((), {}, {}, (alone,))


def ask(state: ClusterState, *burst: Pod, **parts: tuple[Pod, ...]) -> BurstDecision:
    guardians: dict[str, tuple[Pod, ...]] = {}
    for name in ("a", "b"):
        found = tuple(each for each in state.pods_on(name) if each.priority == -10)
        guardians |= {name: found} if found else {}
    return decide(BurstView(burst, (), parts.get("going", ()), guardians), state)


def test_free_room_comes_first_and_then_as_few_slots_as_possible() -> None:
    one, two, other = slot("one", "a"), slot("two", "a"), pod("other", 500, node="b")
    state = cluster(node("a", 1000), node("b", 1000), one, two, other)
    found = ask(state, *(pod(f"p{each}", 500) for each in range(3)))
    assert found.released == (one, two)
    assert {key.name: on for key, on in found.rooms.items()} == {"p1": "a", "p2": "a"}


def test_the_state_is_as_before() -> None:
    state = cluster(node("a", 1000), slot("one", "a", 1000))
    before = (state.pods_on("a"), state.table.free.tolist())
    assert ask(state, pod("p", 800)).rooms
    assert (state.pods_on("a"), state.table.free.tolist()) == before


def test_what_others_have_is_left_to_kube_scheduler() -> None:
    state = cluster(node("a", 1000), slot("one", "a", 200), pod("other", 800, node="a"))
    for alone in (pod("p", 500), pod("p", 100, priority=-20), pod("p", 100, preempts=False)):
        assert ask(state, alone) == left_out(alone)


def test_room_that_was_made_is_not_made_again() -> None:
    going = slot("going", "a", 1000)
    state = cluster(node("a", 1000), going)
    served = (pod("first", 600), "a")
    view = BurstView((pod("second", 600),), (served,), (going,), {})
    assert decide(view, state) == left_out(pod("second", 600))
    assert decide(BurstView((pod("second", 600),), (), (going,), {}), state).released == ()


def test_of_pods_that_are_alike_only_the_first_is_left_out() -> None:
    state = cluster(node("a", 1000), slot("one", "a", 200), pod("other", 800, node="a"))
    alike = [pod(f"p-{number}", 500) for number in range(3)]
    assert ask(state, *alike) == left_out(alike[0])


def test_free_room_is_told_as_well() -> None:
    state = cluster(node("a", 1000), slot("one", "a", 600))
    decision = ask(state, pod("small", 300), pod("large", 600))
    assert (decision.free, decision.rooms) == (
        {pod("small", 1).key: "a"},
        {pod("large", 1).key: "a"},
    )
