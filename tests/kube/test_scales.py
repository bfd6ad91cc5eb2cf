"""Kinds of others, followed from the moment a buffer copies one; none of them ends the operator."""

from __future__ import annotations

from typing import Any

from headroom.cli.dialects import chosen
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.dialects.capacitybuffer.names import BUFFERS
from headroom.kube.client import Client, Tuning
from headroom.kube.cluster import KubeCluster
from headroom.kube.watch_scope import WatchScope, WatchTuning
from headroom.ports import Event, Lost, Seen, Synced
from tests.kube.fakeapi import FakeApi, Reply, Step, Stream, bookmark, line, refusal, run
from tests.kube.listening import first_words
from tests.wire.test_scales import pod

END = bookmark(9, ends_list=True)
HASTY = WatchTuning(first_backoff=0.001, longest_backoff=0.004)
REF = {"apiGroup": "x.com", "kind": "Widget", "name": "w"}
BUFFER = {
    "metadata": {"name": "spare", "namespace": "shop", "uid": "b"},
    "spec": {"scalableRef": REF, "percentage": 50},
}
WIDGET = {"metadata": {"name": "w", "namespace": "shop", "uid": "u", "resourceVersion": "5"}}
NAMED = {"kind": "Widget", "namespaced": True}
SERVED = [{**NAMED, "name": "widgets"}, {"name": "widgets/scale", "kind": "Scale"}]
WIDGETS = "/apis/x.com/v2/widgets"
ONE = "/apis/x.com/v2/namespaces/shop/widgets/w/scale"


def serve(api: FakeApi, *widgets: Step) -> None:
    api.script(BUFFERS.path(), Stream((line("ADDED", BUFFER), END), "hang"))
    api.script("/apis/x.com", Reply(body={"preferredVersion": {"version": "v2"}}))
    api.script("/apis/x.com/v2", Reply(body={"resources": SERVED}))
    api.script(WIDGETS, *widgets)
    api.script(ONE, Reply(body={"status": {"replicas": 4, "selector": "app=w"}}))
    api.script("/api/v1/namespaces/shop/pods", Reply(body={"items": [pod("w-0", "2", 1)]}))


async def told(api: FakeApi, count: int) -> list[str]:
    client = Client(api.access(), Tuning(attempts=2, first_backoff=0.001))
    codecs = chosen(["capacitybuffer"])
    cluster = KubeCluster(client, (WatchScope(BUFFERS),), HASTY, lambda _: None, codecs=codecs)
    return await first_words(cluster, count, _word)


def _word(event: Event) -> str:
    match event:
        case Synced():
            return "synced"
        case Seen(Headroom() as headroom):
            return headroom.key.name
        case Seen(Workload(problems=()) as found):
            return f"{found.replicas} of {found.template.pod.requests['cpu']}"
        case Seen(Workload(problems=(problem, *_))):
            return str(problem)
        case Lost(Workload() as lost):
            return f"no {lost.ref}"
        case _:
            return type(event).__name__


def played(count: int, *widgets: Step) -> list[str]:
    heard: list[str] = []

    async def main() -> None:
        async with FakeApi() as api:
            serve(api, *widgets)
            heard.extend(await told(api, count))

    run(main())
    return heard


def test_how_many_there_are_and_their_shape_are_told_before_synced() -> None:
    there = Stream((line("ADDED", WIDGET), END), "hang")
    assert played(3, there) == ["spare", "4 of 2000", "synced"]


def test_an_object_that_is_not_there_is_told_as_missing() -> None:
    assert played(3, Stream((END,), "hang")) == ["spare", "no Widget/w", "synced"]


def test_a_right_that_is_missing_is_told_and_ends_nothing() -> None:
    heard = played(3, refusal(403, "widgets is forbidden"))
    assert (heard[0], heard[2]) == ("spare", "synced")
    assert "needs get, list and watch on widgets.x.com and get on its scale" in heard[1]


def test_each_change_of_the_object_asks_its_scale_again() -> None:
    changed: dict[str, Any] = {"metadata": {**WIDGET["metadata"], "resourceVersion": "6"}}
    lines = (line("ADDED", WIDGET), END, line("MODIFIED", changed))
    assert played(4, Stream(lines, "hang"))[3] == "4 of 2000"
