"""Workloads are followed once a Headroom copies one, and what was there first is told first."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.kube.client import Client, Tuning
from headroom.kube.cluster import KubeCluster, scopes_of
from headroom.kube.watch_scope import Trouble, WatchScope, WatchTuning
from headroom.ports import Event, KindHidden, Seen, Synced
from headroom.wire.kind_codecs import NATIVE
from headroom.wire.kinds import HEADROOMS
from tests.kube.fakeapi import FakeApi, Stream, bookmark, line, refusal, run
from tests.kube.listening import first_words
from tests.wire.headroom_cases import FROM, TEMPLATE, Case
from tests.wire.test_headroom_workloads import workload

HEADROOM_PATH = "/apis/headroom.dev/v1alpha1/headrooms"
END = bookmark(9, ends_list=True)
HASTY = WatchTuning(first_backoff=0.001, longest_backoff=0.004)


def copying(name: str, kind: str = "Deployment", event: str = "ADDED") -> bytes:
    group = "batch/v1" if kind == "Job" else "apps/v1"
    source = {**FROM, "kind": kind, "apiVersion": group}
    return line(event, Case(name, {"slot": {"from": source}}).headroom())


def plain(name: str) -> bytes:
    return line("ADDED", Case(name, {}).headroom())


def cluster_at(api: FakeApi) -> KubeCluster:
    client = Client(api.access(), Tuning(attempts=2, first_backoff=0.001))
    troubles: list[Trouble] = []
    return KubeCluster(client, (WatchScope(HEADROOMS),), HASTY, troubles.append)


async def told(api: FakeApi, count: int) -> list[str]:
    """The first events of a stream, each in a word or two."""
    cluster = cluster_at(api)
    return await first_words(cluster, count, _word)


def _word(event: Event) -> str:
    match event:
        case Synced():
            return "synced"
        case Seen(Headroom() as headroom):
            return headroom.key.name
        case Seen(Workload() as copied):
            return str(copied.ref)
        case _:
            return type(event).__name__


def test_everything_that_the_native_kinds_need_is_followed() -> None:
    kinds = [scope.resource.kind for scope in scopes_of(NATIVE)]
    assert kinds == ["Namespace", "Node", "Pod", "Hold", "Headroom"]


def test_a_workload_that_a_listed_headroom_copies_is_told_before_synced() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((copying("a"), copying("b"), END), "hang"))
            api.script(
                "/apis/apps/v1/deployments", Stream((line("ADDED", workload()), END), "hang")
            )
            words = await told(api, 4)
        assert words == ["Deployment/web", "a", "b", "synced"]
        assert api.paths().count("/apis/apps/v1/deployments") == 1

    run(main())


def test_without_such_a_headroom_no_workload_is_asked_for() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((plain("a"), END), "hang"))
            assert await told(api, 2) == ["a", "synced"]
        assert api.paths() == [HEADROOM_PATH]

    run(main())


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Deployment", "/apis/apps/v1/deployments"),
        ("StatefulSet", "/apis/apps/v1/statefulsets"),
        ("ReplicaSet", "/apis/apps/v1/replicasets"),
        ("DaemonSet", "/apis/apps/v1/daemonsets"),
        ("Job", "/apis/batch/v1/jobs"),
    ],
)
def test_a_kind_that_is_named_later_is_followed_from_then_on(kind: str, path: str) -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((plain("a"), END, copying("late", kind)), "hang"))
            api.script(path, Stream((line("ADDED", workload(kind)), END), "hang"))
            words = await told(api, 4)
        assert words[0] == "a"
        assert sorted(words[1:]) == sorted(["synced", "late", f"{kind}/web"])
        assert words.count("synced") == 1

    run(main())


def test_a_headroom_that_changes_its_workload_is_heard() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            changed: Any = copying("a", "Job", "MODIFIED")
            api.script(HEADROOM_PATH, Stream((copying("a"), END, changed), "hang"))
            api.script("/apis/apps/v1/deployments", Stream((END,), "hang"))
            api.script("/apis/batch/v1/jobs", Stream((line("ADDED", workload("Job")), END), "hang"))
            words = await told(api, 4)
        assert sorted(words) == ["Job/web", "a", "a", "synced"]

    run(main())


def test_budgets_that_we_may_not_see_are_as_good_as_none() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            sized = {"slot": {"template": TEMPLATE, "chunk": "Node"}}
            many = line("ADDED", Case("many", sized).headroom())
            api.script(HEADROOM_PATH, Stream((many, END), "hang"))
            api.script("/apis/policy/v1/poddisruptionbudgets", *[refusal(403, "no right")] * 99)
            api.script("/apis/apps/v1/daemonsets", *[refusal(403, "no right")] * 99)
            assert sorted(await told(api, 2)) == ["many", "synced"]

    run(main())


def learning(name: str) -> bytes:
    size = {"adaptive": {"startWithin": "2s", "ratio": 0.99}}
    return line("ADDED", Case(name, {"size": size}).headroom())


def announcing(api: FakeApi, *hidden: str) -> None:
    """Script the kinds that announce pods: none of any, and some that we may not see."""
    groups = {"autoscaling/v2": "horizontalpodautoscalers", "batch/v1": "jobs"}
    plurals = ("deployments", "statefulsets", "replicasets")
    paths = [f"/apis/{group}/{plural}" for group, plural in groups.items()]
    for path in (*paths, *(f"/apis/apps/v1/{plural}" for plural in plurals)):
        if path.rpartition("/")[2] in hidden:
            api.script(path, *[refusal(403, f"{path} is forbidden")] * 99)
        else:
            api.script(path, Stream((END,), "hang"))


def test_autoscalers_that_we_may_not_see_are_told_and_the_size_is_learnt_without() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((learning("a"), END), "hang"))
            announcing(api, "horizontalpodautoscalers", "jobs")
            words = await first_words(cluster_at(api), 4, _told_hidden)
        assert sorted(words) == ["HorizontalPodAutoscaler hidden", "Job hidden", "a", "synced"]

    run(main())


def test_autoscalers_that_we_may_see_later_are_told_so() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((learning("a"), END), "hang"))
            refused = [refusal(403, "no right")] * 8
            api.script("/apis/autoscaling/v2/horizontalpodautoscalers", *refused)
            announcing(api)
            words = await first_words(cluster_at(api), 4, _told_hidden)
        assert words[-1] == "HorizontalPodAutoscaler shown"

    run(main())


def _told_hidden(event: Event) -> str:
    match event:
        case KindHidden(kind, why):
            return f"{kind} {'hidden' if why else 'shown'}"
        case _:
            return _word(event)


def test_workloads_that_we_may_not_see_are_told_of_and_nothing_else_waits() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((copying("a"), plain("b"), END), "hang"))
            forbidden = [refusal(403, "deployments is forbidden")] * 99
            api.script("/apis/apps/v1/deployments", *forbidden)
            cluster = cluster_at(api)
            words = await first_words(cluster, 4, _told_problem)
        assert sorted(words) == ["Deployment/web: forbidden", "a", "b", "synced"]

    run(main())


def test_a_right_that_comes_later_mends_what_was_told() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((copying("a"), END), "hang"))
            there = Stream((line("ADDED", workload()), END), "hang")
            forbidden = [refusal(403, "deployments is forbidden")] * 8
            api.script("/apis/apps/v1/deployments", *forbidden, there)
            cluster = cluster_at(api)
            words = await first_words(cluster, 4, _told_problem)
        assert words[-1] == "Deployment/web"

    run(main())


def test_a_right_that_comes_later_shows_that_a_workload_is_missing() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(HEADROOM_PATH, Stream((copying("a"), END), "hang"))
            forbidden = [refusal(403, "deployments is forbidden")] * 8
            api.script("/apis/apps/v1/deployments", *forbidden, Stream((END,), "hang"))
            cluster = cluster_at(api)
            words = await first_words(cluster, 4, _told_problem)
        assert words[-1] == "Lost"

    run(main())


def _told_problem(event: Event) -> str:
    match event:
        case Seen(Workload(problems=(problem, *_)) as copied):
            assert "forbidden" in problem.message
            return f"{copied.ref}: forbidden"
        case _:
            return _word(event)
