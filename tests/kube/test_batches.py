"""What informers report reaches the reader in order; whoever reports more than fits waits."""

from __future__ import annotations

import asyncio

import pytest

from headroom.kube.informer_set import BatchQueue
from headroom.ports import Event, Seen
from tests.builders import pod
from tests.kube.fakeapi import run


def batch(name: str) -> list[Event]:
    return [Seen(pod(name))]


def test_batches_keep_their_order_and_wait_for_the_reader() -> None:
    async def main() -> None:
        queue = BatchQueue(2)
        names = ("a", "b", "c", "d", "e")

        async def report() -> None:
            for name in names:
                await queue.put(batch(name))

        reporting = asyncio.create_task(report())
        await asyncio.sleep(0)
        assert not reporting.done()  # Only two fit.
        assert [await queue.get() for _ in names] == [batch(name) for name in names]
        await reporting

    run(main())


def test_everybody_who_waits_gets_room_in_the_end() -> None:
    async def main() -> None:
        queue = BatchQueue(1)
        waiting = [asyncio.create_task(queue.put(batch(str(number)))) for number in range(5)]
        got = [await queue.get() for _ in waiting]
        await asyncio.gather(*waiting)
        assert sorted(got, key=str) == [batch(str(number)) for number in range(5)]

    run(main())


def test_a_reader_that_waits_is_woken() -> None:
    async def main() -> None:
        queue = BatchQueue(1)
        reading = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        await queue.put(batch("a"))
        assert await reading == batch("a")

    run(main())


def test_a_reader_that_leaves_disturbs_nobody_and_loses_nothing() -> None:
    async def main() -> None:
        queue = BatchQueue(2)
        reading = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        reading.cancel()
        await queue.put(batch("a"))  # Before it has noticed.
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await queue.get() == batch("a")

    run(main())
