"""Whoever answers in an API server's place can neither fill our memory nor break our reading."""

from __future__ import annotations

import json

import pytest

from headroom.kube.answers import read_status
from headroom.kube.client import Client, Tuning
from headroom.kube.errors import TooLarge, Uncertain
from headroom.kube.lines import LineSplitter
from headroom.wire.decode import cut_list
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import PODS
from tests.kube.fakeapi import FakeApi, Reply, run

SMALL = Tuning(largest_answer=10_000, attempts=1)
DEEP = b"[" * 50_000 + b"]" * 50_000


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_an_end_is_not_read_to_it(status: int) -> None:
    async def main() -> None:
        async with FakeApi() as api:
            filling = "x" * (20_000 if status == 200 else 2_000_000)
            api.script("/x", Reply(status, {"x": filling}))
            client = Client(api.access(), SMALL)
            with pytest.raises(TooLarge, match="more than"):
                await client.get("/x", "read x")
            await client.close()

    run(main())


def test_an_answer_within_the_limit_is_read_whole() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Reply(200, {"x": "y" * 9_000}))
            client = Client(api.access(), SMALL)
            assert len(json.loads(await client.get("/x", "read x"))["x"]) == 9_000
            await client.close()

    run(main())


def test_a_line_of_a_watch_without_an_end_is_an_error() -> None:
    lines = LineSplitter(longest=1_000)
    for _ in range(10):
        assert lines.feed(b"x" * 100) == []
    with pytest.raises(Uncertain, match="longer than 1000"):
        lines.feed(b"x")


def deep(text: str) -> bytes:
    return text.encode().replace(b'"DEEP"', DEEP)


def test_json_that_is_nested_too_deeply_is_nonsense_like_any_other() -> None:
    assert read_status(deep('{"details": "DEEP"}'), 500).code == 500
    assert read_status(DEEP, 500).message
    with pytest.raises(DecodeError):
        cut_list(PODS, DEEP)
