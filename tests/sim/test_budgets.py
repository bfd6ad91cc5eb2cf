"""PodDisruptionBudgets: what may go, and whom preemption spares for their sake."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import Json, Ref, dig, ref_of
from headroom.sim.world import SimWorld
from tests.sim.things import budget, daemon_set, deployment, node, pod, priority_class, stateful_set


def status(world: SimWorld, name: str = "keep") -> Json:
    found: Json = world.server.get(Ref("PodDisruptionBudget", "default", name))["status"]
    return found


@pytest.mark.parametrize(
    ("spec", "needed", "allowed"),
    [
        ({"minAvailable": 3}, 3, 1),
        ({"minAvailable": "50%"}, 2, 2),
        ({"maxUnavailable": 1}, 3, 1),
        ({"maxUnavailable": "30%"}, 2, 2),
        ({"maxUnavailable": 0}, 4, 0),
    ],
)
def test_a_budget_says_how_many_more_may_go(
    world: SimWorld, spec: Json, needed: int, allowed: int
) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(budget("keep", "web", **spec))
    world.apply(deployment("web", 4))
    world.run_until_idle()
    assert status(world)["expectedPods"] == status(world)["currentHealthy"] == 4
    assert (status(world)["desiredHealthy"], status(world)["disruptionsAllowed"]) == (
        needed,
        allowed,
    )
    reason = "SufficientPods" if allowed else "InsufficientPods"
    assert status(world)["conditions"][0]["reason"] == reason


def test_shares_are_of_what_is_asked_for_not_of_what_is_there(world: SimWorld) -> None:
    world.apply(node("a", cpu="2"))
    world.apply(budget("keep", "db", maxUnavailable=1))
    world.apply(stateful_set("db", 4, podManagementPolicy="Parallel"))
    world.run_for(30)
    assert (status(world)["expectedPods"], status(world)["currentHealthy"]) == (4, 2)
    assert status(world)["disruptionsAllowed"] == 0


@pytest.mark.parametrize("spec", [{"maxUnavailable": 1}, {"minAvailable": "50%"}])
def test_a_pod_whose_controller_has_no_scale_fails_the_budget(world: SimWorld, spec: Json) -> None:
    world.apply(node("a"))
    world.apply(daemon_set("web"))
    world.apply(budget("keep", "web", **spec))
    world.run_until_idle()
    told = status(world)
    assert told["disruptionsAllowed"] == 0
    (condition,) = told["conditions"]
    words = "daemonsets.apps does not implement the scale subresource"
    assert (condition["reason"], condition["message"]) == ("SyncFailed", words)
    world.apply(pod("alone", labels={"app": "alone"}))
    world.server.evict(Ref("Pod", "default", "alone"))


def test_preemption_spares_whom_a_budget_protects(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    world.apply(node("a", cpu="2"))
    world.apply(budget("keep", "safe", minAvailable=1))
    world.apply(pod("older", labels={"app": "plain"}))
    world.run_until_idle()
    world.apply(pod("protected", labels={"app": "safe"}))
    world.run_until_idle()
    world.apply(pod("urgent", priorityClassName="high"))
    world.run_until_idle()
    # Without the budget the younger pod would go.
    assert sorted(ref_of(item).name for item in world.list("Pod")) == ["protected", "urgent"]


def test_a_budget_orders_victims_but_forbids_nothing(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    world.apply(node("a", cpu="1"))
    world.apply(budget("keep", "safe", minAvailable=1))
    world.apply(pod("protected", labels={"app": "safe"}))
    world.run_until_idle()
    world.apply(pod("urgent", priorityClassName="high"))
    world.run_until_idle()
    assert [ref_of(item).name for item in world.list("Pod")] == ["urgent"]
    assert dig(world.list("Pod")[0], "status", "phase") == "Running"
