"""Following claim indexes through a server that pages, streams, breaks and forgets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from headroom.kube.client import Client
from headroom.kube.errors import RequestForbidden
from headroom.kube.watch_scope import WatchTuning
from headroom.webhook.indexes import ClaimIndexes
from tests.kube.fakeapi import Asked, FakeApi, Reply, Step, Stream, line, run

Json = dict[str, Any]
PATH = "/apis/headroom.dev/v1alpha1/claimindexes"
QUICK = WatchTuning(first_backoff=0.001, longest_backoff=0.001, attempts_to_stream=0)


def index(namespace: str, version: int, *keys: str, until: str = "2027-01-04T00:00:00Z") -> Json:
    metadata = {"namespace": namespace, "name": "headroom", "resourceVersion": str(version)}
    return {"metadata": metadata, "spec": {"keys": dict.fromkeys(keys, True), "freshUntil": until}}


def page(*items: Json, version: int = 1, more: str = "") -> Reply:
    metadata = {"resourceVersion": str(version), "continue": more}
    return Reply(body={"metadata": metadata, "items": list(items)})


def gone(code: int) -> bytes:
    return line("ERROR", {"kind": "Status", "code": code, "message": "too old"})


async def followed(api: FakeApi, *steps: Step, requests: int) -> tuple[ClaimIndexes, list[Asked]]:
    """Follow until so many requests were made: by then the answers to all but the last are read."""
    if steps:
        api.script(PATH, *steps)
    client = Client(api.access())
    indexes = ClaimIndexes(client, QUICK)
    task = asyncio.create_task(indexes.run())
    try:
        await api.wait_asked(requests)
        await indexes.synced.wait()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()
    return indexes, api.asked


def test_pages_are_read_to_the_end() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            first, hanging = page(index("a", 1, "*"), version=7, more="next"), Stream(then="hang")
            api.script(f"list {PATH}", first, page(index("b", 2, "*"), version=7))
            api.script(f"watch {PATH}", hanging)
            indexes, asked = await followed(api, requests=3)
            assert indexes.of("a") is not None
            assert indexes.of("b") is not None
            assert {each.query.get("continue") for each in asked} == {None, "next"}
            assert {each.query.get("resourceVersion") for each in asked} == {None, "7"}
            assert {each.query["fieldSelector"] for each in asked} == {"metadata.name=headroom"}

    run(main())


def test_changes_are_followed_and_the_next_stream_goes_on_from_there() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            said = (
                line("ADDED", index("b", 2, "label:app=web")),
                line("MODIFIED", index("a", 3, "*")),
                line("DELETED", index("b", 4)),
            )
            first = page(index("a", 1))
            steps = (first, Stream(said), Stream(then="hang"))
            indexes, asked = await followed(api, *steps, requests=3)
            found = indexes.of("a")
            assert found is not None
            assert "*" in found.keys
            assert indexes.of("b") is None
            assert asked[2].query["resourceVersion"] == "4"

    run(main())


def test_a_server_that_has_forgotten_the_version_is_asked_for_everything_again() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            steps = (page(index("a", 1)), Stream((gone(410),)), page(index("b", 9), version=9))
            indexes, asked = await followed(api, *steps, Stream(then="hang"), requests=4)
            assert indexes.of("a") is None
            assert indexes.of("b") is not None
            assert "watch" not in asked[2].query

    run(main())


@pytest.mark.parametrize(
    "trouble",
    [Stream((gone(500),)), Reply(503), Stream(then="cut"), Stream((b"nonsense\n",))],
    ids=["error", "refused", "cut", "nonsense"],
)
def test_after_other_trouble_the_watch_goes_on_from_there(trouble: Step) -> None:
    async def main() -> None:
        async with FakeApi() as api:
            said = (line("DELETED", index("a", 8)), line("ADDED", index("b", 9)))
            steps = (page(index("a", 1)), trouble, Stream(said), Stream(then="hang"))
            indexes, asked = await followed(api, *steps, requests=4)
            assert indexes.of("a") is None
            assert indexes.of("b") is not None
            assert asked[2].query["resourceVersion"] == "1"

    run(main())


def test_an_index_that_makes_no_sense_gates_nobody_and_harms_no_other() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            broken = index("a", 3, until="soon")
            steps = (page(index("a", 1), index("b", 2)), Stream((line("MODIFIED", broken),)))
            indexes, _ = await followed(api, *steps, Stream(then="hang"), requests=3)
            assert indexes.of("a") is None
            assert indexes.of("b") is not None

    run(main())


def test_missing_rights_end_it() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Reply(403, {"message": "you may not", "code": 403}))
            client = Client(api.access())
            with pytest.raises(RequestForbidden):
                await ClaimIndexes(client, QUICK).run()
            await client.close()

    run(main())
