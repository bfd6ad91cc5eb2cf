"""Jobs: pods until enough have succeeded or too many have failed."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import Json, Ref, dig, ref_of
from headroom.sim.controllers.jobcounts import Counts, is_satisfied, pause, wanted_active
from headroom.sim.world import SimWorld
from tests.sim.things import job, node, pod, priority_class

SOON = {"sim.headroom.dev/complete-after": "10s"}
BADLY = {**SOON, "sim.headroom.dev/complete-as": "Failed"}


def status(world: SimWorld) -> Json:
    found: Json = world.server.get(Ref("Job", "default", "work"))["status"]
    return found


def phases(world: SimWorld) -> list[str]:
    return [str(dig(item, "status", "phase")) for item in world.list("Pod")]


def ended(world: SimWorld) -> list[str]:
    return [condition["type"] for condition in status(world).get("conditions", ())]


def test_a_job_runs_to_its_completions_no_more_than_allowed_at_once(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(job("work", SOON, completions=5, parallelism=2))
    most = 0

    def done() -> bool:
        nonlocal most
        most = max(most, phases(world).count("Running"))
        return bool(ended(world)) if world.elapsed > 1 else False

    assert world.run_until(done, limit=120, step=0.1)
    assert most == 2
    assert ended(world) == ["SuccessCriteriaMet", "Complete"]
    assert (status(world)["succeeded"], status(world).get("active")) == (5, None)
    assert phases(world) == ["Succeeded"] * 5
    assert all(not dig(p, "metadata", "finalizers") for p in world.list("Pod"))
    assert world.events()[-1]["reason"] == "Completed"


def test_a_step_can_finish_a_pod_of_a_job(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(job("work"))
    world.run_until_idle()
    world.finish("default", ref_of(world.list("Pod")[0]).name)
    world.run_until_idle()
    assert ended(world) == ["SuccessCriteriaMet", "Complete"]


def test_failures_are_retried_with_growing_pauses_until_the_limit(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(job("work", BADLY, backoffLimit=2))
    world.run_until_idle()
    assert phases(world) == ["Failed"] * 3
    assert ended(world) == ["FailureTarget", "Failed"]
    assert status(world)["failed"] == 3
    # Three runs of ten seconds, and pauses of ten and twenty.
    assert 60 < world.elapsed < 70
    assert world.events()[-1]["reason"] == "BackoffLimitExceeded"


def test_a_preempted_pod_of_a_job_counts_as_failed_and_is_replaced(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    world.apply(node("a", cpu="1"))
    world.apply(job("work"))
    world.run_until_idle()
    world.apply(pod("urgent", priorityClassName="high"))
    world.run_for(30)
    assert status(world)["failed"] == 1
    waiting = [p for p in world.list("Pod") if ref_of(p).name != "urgent"]
    assert [dig(p, "status", "phase") for p in waiting] == ["Pending"]


def test_a_deleted_job_leaves_nothing_behind(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(job("work", completions=3, parallelism=3))
    world.run_until_idle()
    world.delete("Job", "default", "work")
    world.run_until_idle()
    assert world.list("Pod") == []


def test_a_finished_job_goes_when_its_time_is_over(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(job("work", SOON, ttlSecondsAfterFinished=60))
    world.run_until_idle()
    assert world.list("Job") == world.list("Pod") == []
    assert world.elapsed > 70


def test_lowering_parallelism_is_nobodys_failure(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(job("work", completions=4, parallelism=4))
    world.run_until_idle()
    world.patch("Job", "default", "work", {"spec": {"parallelism": 1}})
    world.run_until_idle()
    assert phases(world) == ["Running"]
    assert "failed" not in status(world)


def test_a_suspended_job_waits(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(job("work", suspend=True))
    world.run_until_idle()
    assert world.list("Pod") == []
    world.patch("Job", "default", "work", {"spec": {"suspend": False}})
    world.run_until_idle()
    assert phases(world) == ["Running"]


@pytest.mark.parametrize(
    ("spec", "counts", "active", "wanted", "done"),
    [
        ({}, Counts(), 0, 1, False),
        ({}, Counts(succeeded=1), 0, 0, True),
        ({"parallelism": 3}, Counts(), 0, 3, False),
        ({"parallelism": 3}, Counts(succeeded=1), 2, 2, False),
        ({"parallelism": 3}, Counts(succeeded=3), 0, 0, True),
        ({"parallelism": 3, "completions": 4}, Counts(succeeded=2), 1, 2, False),
    ],
)
def test_how_many_should_run(
    spec: Json, counts: Counts, active: int, wanted: int, done: bool
) -> None:
    assert wanted_active({"spec": spec}, counts, active) == wanted
    assert is_satisfied({"spec": spec}, counts, active) is done


def test_pauses_double_up_to_ten_minutes() -> None:
    found = [pause(Counts(streak=streak)) for streak in (0, 1, 2, 3, 7, 50)]
    assert found == [0, 10, 20, 40, 600, 600]
