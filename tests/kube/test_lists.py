"""Lists of an informer, streamed and in pages, and a new list beside the watch."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import Raw

from headroom.core.objects import Pod
from headroom.kube.watch_scope import WatchScope
from headroom.ports import Thing
from headroom.wire.decode import decode_thing
from headroom.wire.kinds import PODS, Resource
from tests.kube.fakeapi import (
    FakeApi,
    Held,
    Stream,
    bookmark,
    line,
    page,
    pod_json,
    refusal,
    run,
)
from tests.kube.informing import (
    LIST,
    PATH,
    WATCH,
    added,
    asked,
    error,
    following,
    listed,
)


def test_a_version_that_is_gone_leads_to_a_list_told_as_a_difference() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            first = listed(added("a"), added("b"), added("c"), added("d"))
            again = [pod_json("a"), pod_json("b", 21), pod_json("d", 22, "other")]
            api.script(WATCH, Stream((*first, error(410))), Stream((), "hang"))
            api.script(LIST, page([*again, pod_json("e", 23)], 30))
            async with following(api) as ear:
                await ear.hears(
                    *("a@1", "b@1", "c@1", "d@1", "synced"),
                    *("b@21", "d gone (uid-d)", "d@22", "e@23", "c gone (uid-c)"),
                )
            assert ear.troubles == []

    run(main())


def test_what_a_new_list_shows_in_a_known_version_is_not_read_again() -> None:
    read: list[str] = []

    def reads(resource: Resource, data: bytes | Raw) -> Thing:
        thing = decode_thing(resource, data)
        read.append(thing.key.name if isinstance(thing, Pod) else "?")
        return thing

    async def main() -> None:
        async with FakeApi() as api:
            first = listed(added("a"), added("b"), added("c", uid="old"))
            again = [pod_json("a"), pod_json("b", 11), pod_json("c", uid="new")]
            changed = line("MODIFIED", pod_json("a", 13))
            api.script(WATCH, Stream((*first, error(410))), Stream((changed,), "hang"))
            api.script(LIST, page(again, 12))
            async with following(api, decode=reads) as ear:
                told = ("a@1", "b@1", "c@1", "synced", "b@11", "c gone (old)", "c@1", "a@13")
                await ear.hears(*told)
        assert read == ["a", "b", "c", "b", "c", "a"]

    run(main())


def test_a_version_refused_at_once_is_listed_again_too() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(PATH, Stream(listed(added("a"))), refusal(410, "too old"))
            api.script(PATH, page([], 30), Stream((), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "synced", "a gone (uid-a)")

    run(main())


@pytest.mark.parametrize(
    "answer",
    [
        refusal(422, "sendInitialEvents is forbidden for watch"),
        Stream((error(501, "the storage cannot do this"),)),
        Stream((added("a"), bookmark(5))),
    ],
    ids=["the parameter is refused", "an error in the stream", "the parameter is ignored"],
)
def test_a_server_without_streamed_lists_is_read_in_pages(answer: Stream) -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(WATCH, answer, Stream((), "hang"))
            api.script(LIST, page([pod_json("a")], 10, "more"), page([pod_json("b")], 10))
            async with following(api) as ear:
                await ear.hears("a@1", "b@1", "synced")
                await api.wait_asked(4)
            assert asked(api, "limit") == ["500", "500"]
            assert asked(api, "continue") == ["more"]
            assert asked(api, "resourceVersion") == ["10"]
            assert asked(api, "sendInitialEvents") == ["true"]

    run(main())


@pytest.mark.parametrize(
    "answer",
    [
        Stream((added("a"), error(500, "etcd leader changed"))),
        Stream((added("a"), error(429, "too many"))),
        Stream((added("a"),)),
        refusal(503, "starting"),
    ],
    ids=["an error in the stream", "too busy", "the stream ends", "the server starts"],
)
def test_a_streamed_list_that_breaks_off_is_streamed_again(answer: Stream) -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(WATCH, answer, answer, Stream(listed(added("a"), added("b")), "hang"))
            async with following(api) as ear:
                await ear.is_told("synced")
            assert ear.told == ["a@1", "b@1", "synced"]
            assert asked(api, "sendInitialEvents") == ["true"] * 3
            assert [trouble.retry_in is not None for trouble in ear.troubles] == [True, True]

    run(main())


def test_a_streamed_list_that_always_breaks_off_is_read_in_pages_and_streamed_later() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            broken = Stream((added("a"), error(500, "trouble")))
            api.script(WATCH, broken, broken, broken, Stream(listed(added("b")), "hang"))
            api.script(LIST, refusal(500, "trouble here too"))
            async with following(api) as ear:
                await ear.hears("a@1", "b@1", "a gone (uid-a)", "synced")
            assert asked(api, "sendInitialEvents") == ["true"] * 4
            assert set(asked(api, "limit")) == {"500"}

    run(main())


def test_who_comes_during_a_new_list_is_told_before_the_list_ends() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            rest = asyncio.Event()
            first = listed(added("a"), added("b"), added("c"))
            meanwhile = (added("owner", 21), line("MODIFIED", pod_json("b", 22)))
            deleted = line("DELETED", pod_json("c", 23))
            api.script(WATCH, Stream((*first, error(410))))
            api.script(WATCH, Stream((*meanwhile, deleted), "hang"))
            api.script(LIST, page([pod_json("a")], 20, "more"))
            api.script(LIST, Held(rest, page([pod_json("b"), pod_json("c"), pod_json("d")], 20)))
            async with following(api) as ear:
                before = ("a@1", "b@1", "c@1", "synced", "owner@21", "b@22", "c gone (uid-c)")
                await ear.hears(*before)
                rest.set()
                await ear.hears(*before, "d@1")
            assert asked(api, "resourceVersion") == ["20"]

    run(main())


def test_pods_without_a_node_are_first_in_a_new_list() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(WATCH, Stream((*listed(added("a"), added("z")), error(410))))
            api.script(WATCH, Stream((), "hang"))
            api.script(LIST, page([pod_json("owner", 18), pod_json("past", 19)], 19))
            api.script(LIST, page([pod_json("a")], 20, "more"), page([pod_json("owner", 18)], 20))
            async with following(api, scope=WatchScope(PODS, first_fields="spec.nodeName=")) as ear:
                await ear.hears(
                    *("a@1", "z@1", "synced", "owner@18", "past@19"),
                    *("past gone (uid-past)", "z gone (uid-z)"),
                )
            assert asked(api, "fieldSelector") == ["spec.nodeName="]

    run(main())


def test_a_watch_that_is_lost_beside_a_list_is_resumed_and_the_list_goes_on() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            rest = asyncio.Event()
            api.script(WATCH, Stream((*listed(added("a")), error(410))))
            api.script(WATCH, Stream((added("b", 21),)), Stream((added("c", 22),), "hang"))
            api.script(LIST, page([pod_json("a")], 20, "more"))
            api.script(LIST, Held(rest, page([pod_json("d")], 20)))
            async with following(api) as ear:
                await ear.hears("a@1", "synced", "b@21", "c@22")
                rest.set()
                await ear.hears("a@1", "synced", "b@21", "c@22", "d@1")
            assert asked(api, "resourceVersion") == ["20", "21"]
            assert asked(api, "limit") == ["500", "500"]

    run(main())


def test_a_page_token_that_expires_starts_the_list_anew() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(WATCH, refusal(422), Stream((), "hang"))
            api.script(LIST, page([pod_json("a")], 10, "more"), refusal(410, "old"))
            api.script(LIST, page([pod_json("b")], 12))
            async with following(api) as ear:
                await ear.hears("a@1", "b@1", "a gone (uid-a)", "synced")
                await api.wait_asked(6)
            assert asked(api, "resourceVersion")[-1] == "12"

    run(main())


def test_a_known_pod_that_can_no_longer_be_read_is_not_taken_for_gone() -> None:
    async def main() -> None:
        odd = {**pod_json("a", 20), "spec": 7}
        async with FakeApi() as api:
            api.script(PATH, Stream((*listed(added("a"), added("b")), error(410))))
            api.script(PATH, page([odd], 30), Stream((), "hang"))
            async with following(api) as ear:
                await ear.hears("a@1", "b@1", "synced", "b gone (uid-b)")

    run(main())
