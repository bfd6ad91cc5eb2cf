"""An informer against a scripted API server: every way a watch can go wrong."""

from __future__ import annotations

import asyncio
import json

import pytest

from headroom.kube.client import Client, Tuning
from headroom.kube.errors import NoSuchKind, RequestForbidden
from headroom.kube.watch import Informer
from headroom.kube.watch_scope import Listener, WatchHealth, WatchScope, WatchTuning
from headroom.wire.kinds import PODS
from tests.kube.fakeapi import (
    FakeApi,
    Json,
    Stream,
    bookmark,
    line,
    page,
    pod_json,
    refusal,
    run,
)
from tests.kube.informing import (
    HASTY,
    PATH,
    Ear,
    added,
    error,
    following,
    listed,
)


def test_a_streamed_list_is_told_then_synced_then_changes() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            changes = (line("MODIFIED", pod_json("a", 11)), line("DELETED", pod_json("b", 12)))
            api.script(PATH, Stream((*listed(added("a"), added("b")), *changes), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "b@1", "synced", "a@11", "b gone (uid-b)")
            assert api.asked[0].query["sendInitialEvents"] == "true"

    run(main())


def test_selectors_go_into_the_query() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream(listed(), "hang"))
            scope = WatchScope(
                PODS, labels="headroom.dev/role in (guardian)", fields="spec.nodeName=a"
            )
            async with following(api, scope=scope) as ear:
                await ear.hears("synced")
            assert api.asked[0].query["labelSelector"] == "headroom.dev/role in (guardian)"
            assert api.asked[0].query["fieldSelector"] == "spec.nodeName=a"

    run(main())


def test_a_stream_that_ends_is_resumed_where_it_was() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            first = Stream((*listed(added("a")), line("MODIFIED", pod_json("a", 11)), bookmark(15)))
            api.script(PATH, first, Stream((added("b", 16),), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced", "a@11", "b@16")
            assert api.asked[1].query["resourceVersion"] == "15"
            assert "sendInitialEvents" not in api.asked[1].query

    run(main())


def test_a_connection_cut_in_the_middle_of_a_line_is_resumed_before_that_line() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            half = line("MODIFIED", pod_json("a", 11))[:40]
            api.script(PATH, Stream((*listed(added("a")), half), "cut"))
            api.script(PATH, Stream((line("MODIFIED", pod_json("a", 11)),), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced", "a@11")
            assert api.asked[1].query["resourceVersion"] == "10"

    run(main())


def test_a_list_cut_in_the_middle_starts_anew_and_tells_nothing_twice() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream((added("a"), added("b")), "cut"))
            api.script(PATH, Stream(listed(added("a"), added("c")), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "b@1", "c@1", "b gone (uid-b)", "synced")

    run(main())


def test_silence_is_noticed_and_healed() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream(listed(added("a")), "hang"), Stream((added("b", 11),), "hang"))
            tuning = WatchTuning(quiet_seconds=0.03, first_backoff=0.001)
            async with following(api, tuning) as ear:
                await ear.hears("a@1", "synced", "b@11")
            assert "nothing was received" in ear.troubles[0].message
            assert api.asked[1].query["resourceVersion"] == "10"

    run(main())


def test_a_deletion_written_as_an_api_server_does_is_told_with_what_was_known() -> None:
    def compact(kind: str, thing: Json) -> bytes:
        return json.dumps({"type": kind, "object": thing}, separators=(",", ":")).encode() + b"\n"

    async def main() -> None:
        odd = {**pod_json("b", 12), "spec": 3}
        changes = compact("DELETED", odd), compact("DELETED", pod_json("z", 13))
        async with FakeApi() as api:
            api.script(PATH, Stream((*listed(added("a"), added("b")), *changes)))
            api.script(PATH, Stream((added("c", 14),), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "b@1", "synced", "b gone (uid-b)", "c@14")
            assert api.asked[1].query["resourceVersion"] == "13"

    run(main())


def test_a_line_of_any_length_in_any_pieces_is_read() -> None:
    async def main() -> None:
        thing = pod_json("a")
        thing["metadata"]["annotations"] = {"huge": "x" * 3_000_000}
        huge = line("ADDED", thing)
        pieces = tuple(huge[start : start + 70_000] for start in range(0, len(huge), 70_000))
        async with FakeApi() as api:
            api.script(PATH, Stream((*pieces, bookmark(10, ends_list=True)), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced")

    run(main())


def test_what_cannot_be_read_is_reported_and_passed_over() -> None:
    async def main() -> None:
        odd: Json = {"metadata": {"name": "odd", "namespace": "default"}, "spec": 7}
        pieces = listed(line("ADDED", odd), b"no json\n", added("a"))
        async with FakeApi() as api:
            api.script(PATH, Stream(pieces, "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced")
            assert "odd" in ear.troubles[0].message
            assert len(ear.troubles) == 2

    run(main())


def test_an_error_in_the_stream_is_survived() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream((*listed(added("a")), error(500, "etcd leader changed"))))
            api.script(PATH, Stream((added("b", 11),), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced", "b@11")
            assert "etcd leader changed" in ear.troubles[0].message

    run(main())


def test_a_resume_refused_again_and_again_ends_in_a_new_list() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream(listed(added("a"))), *[refusal(504, "too large version")] * 3)
            api.script(PATH, page([pod_json("b", 2)], 3), Stream((), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced", "b@2", "a gone (uid-a)")

    run(main())


def test_a_missing_right_ends_the_first_list_with_its_reason() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, refusal(403, "pods is forbidden"))
            client = Client(api.access())
            ear = Ear()
            informer = Informer(
                client, WatchScope(PODS), Listener(ear.tell, ear.synced, ear.troubles.append), HASTY
            )
            with pytest.raises(RequestForbidden, match="pods is forbidden"):
                await informer.run()
            await client.close()
        assert len(api.asked) == HASTY.attempts_to_start

    run(main())


def test_what_may_be_hidden_is_as_good_as_none_until_the_right_comes() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, *[refusal(403, "pods is forbidden")] * 9)
            api.script(PATH, Stream(listed(added("a")), "hang"))
            async with following(api, scope=WatchScope(PODS, may_be_hidden=True)) as ear:
                await ear.hears("synced", "a@1")
            assert len(ear.troubles) == 9
            assert "pods is forbidden" in ear.troubles[0].message

    run(main())


def test_a_missing_right_later_on_is_waited_out() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream(listed(added("a"))), *[refusal(403, "rbac restarts")] * 9)
            api.script(PATH, page([pod_json("b"), pod_json("a")], 20), Stream((), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced", "b@1")
            assert len(ear.troubles) == 9

    run(main())


def test_a_kind_that_is_not_installed_yet_is_waited_for() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, *[refusal(404)] * 5, Stream(listed(), "hang"))
            async with following(api) as ear:
                await ear.hears("synced")
            assert "headroom crds" in ear.troubles[0].message

    run(main())


def test_a_kind_that_must_exist_is_not_waited_for() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            client = Client(api.access())
            ear = Ear()
            listener = Listener(ear.tell, ear.synced, ear.troubles.append)
            with pytest.raises(NoSuchKind):
                await Informer(client, WatchScope(PODS, must_exist=True), listener, HASTY).run()
            await client.close()

    run(main())


def test_empty_streams_are_not_asked_for_in_a_busy_loop() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream(listed()), Stream(), Stream(), Stream((bookmark(11),), "hang"))
            async with following(api) as ear:
                await api.wait_asked(4)
            assert [trouble.retry_in is not None for trouble in ear.troubles] == [True, True]

    run(main())


def test_a_watch_is_heard_when_it_opens_and_speaks_and_only_tries_when_it_is_refused() -> None:
    async def main() -> None:
        now = [0.0]
        pulse = WatchHealth(lambda: now[0])
        async with FakeApi() as api:
            api.script(PATH, Stream(listed(added("a")), "hang"))
            ear = Ear()
            client = Client(api.access(), Tuning(first_backoff=0.001, attempts=2))
            listener = Listener(ear.tell, ear.synced, ear.troubles.append)
            informer = Informer(client, WatchScope(PODS), listener, HASTY, pulse=pulse)
            now[0] = 50.0
            assert (pulse.silent_for, pulse.stuck_for) == (50.0, 50.0)
            task = asyncio.create_task(informer.run())
            await ear.hears("a@1", "synced")
            assert (pulse.silent_for, pulse.stuck_for) == (0.0, 0.0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            now[0] = 100.0
            pulse.tried()
            assert (pulse.silent_for, pulse.stuck_for) == (50.0, 0.0)
            await client.close()

    run(main())
