"""Leader election: never two at once, and the leader is the first to know that it is none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from headroom.core.objects import Key
from headroom.kube.client import Client, Tuning
from headroom.kube.lease import KubeLease, LeaseTuning
from tests.kube.fakeapi import FakeApi, Json, run

KEY = Key("headroom-system", "headroom-operator")
# Times on the tests' own clock, but for the period, which is really slept.
SLOW = LeaseTuning(duration=15, deadline=10, period=0.002)
# All in real time.
FAST = LeaseTuning(duration=1, deadline=0.04, period=0.005)


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class LeaseApi(FakeApi):
    """One Lease, with the API server's rule: who writes must have read the newest version."""

    def __init__(self) -> None:
        super().__init__()
        self.lease: Json | None = None
        self.version = 0
        self.mood = "well"  # or `refusing`, `hanging`

    @property
    def holder(self) -> str:
        spec = (self.lease or {}).get("spec", {})
        return str(spec.get("holderIdentity") or "")

    def put(self, lease: Json) -> None:
        self.version += 1
        lease["metadata"]["resourceVersion"] = str(self.version)
        self.lease = lease

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if self.mood == "refusing":
            return web.json_response({"message": "etcd has no leader"}, status=500)
        if self.mood == "hanging":
            await self._stopping.wait()
        sent = json.loads(self.asked[-1].body or b"{}")
        if request.method == "POST" and self.lease is not None:
            return web.json_response({"reason": "AlreadyExists"}, status=409)
        if request.method != "POST" and self.lease is None:
            return web.json_response({"reason": "NotFound"}, status=404)
        if request.method == "PUT" and sent["metadata"]["resourceVersion"] != str(self.version):
            return web.json_response({"reason": "Conflict"}, status=409)
        if request.method != "GET":
            self.put(sent)
        return web.json_response(self.lease)


def held_by(holder: str, renewed: str = "2020-01-01T00:00:00.000000Z") -> Json:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}
    return {"metadata": {"name": KEY.name, "namespace": KEY.namespace}, "spec": spec}


@asynccontextmanager
async def candidate(
    api: FakeApi, name: str, tuning: LeaseTuning = SLOW, clock: Clock | None = None
) -> AsyncIterator[KubeLease]:
    client = Client(api.access(), Tuning(attempts=1))
    if tuning is not FAST:
        tuning = replace(tuning, clock=clock or Clock())
    lease = KubeLease(client, KEY.name, KEY.namespace, name, tuning)
    try:
        yield lease
    finally:
        await lease.release()
        await client.close()


def test_a_free_lease_is_taken_and_kept() -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "a") as a:
            assert not a.leading
            await a.acquire()
            assert a.leading
            assert api.holder == "a"
            assert api.lease is not None
            assert api.lease["spec"]["leaseDurationSeconds"] == 15
            await api.wait_asked(8)
            assert a.leading

    run(main())


def test_renewing_is_one_write() -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "a") as a:
            await a.acquire()
            await api.wait_asked(6)
            assert [asked.method for asked in api.asked[:6]] == ["GET", "POST", *["PUT"] * 4]

    run(main())


def test_nobody_takes_a_lease_that_is_renewed_whatever_its_times_say() -> None:
    async def main() -> None:
        clock = Clock()
        async with LeaseApi() as api, candidate(api, "b", clock=clock) as b:
            waiting = asyncio.create_task(b.acquire())
            for second in range(40):
                api.put(held_by("a", renewed=f"1999-01-01T00:00:{second:02}.000000Z"))
                await api.wait_asked(len(api.asked) + 2)
                clock.now += 10
            assert not waiting.done()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    run(main())


def test_a_lease_that_is_not_renewed_for_its_duration_is_taken() -> None:
    async def main() -> None:
        clock = Clock()
        async with LeaseApi() as api, candidate(api, "b", clock=clock) as b:
            api.put(held_by("a", renewed="2999-01-01T00:00:00.000000Z"))
            waiting = asyncio.create_task(b.acquire())
            await api.wait_asked(3)
            clock.now += 14.9
            await api.wait_asked(len(api.asked) + 3)
            assert not waiting.done()
            clock.now += 0.2
            await waiting
            assert api.holder == "b"
            assert api.lease is not None
            assert api.lease["spec"]["leaseTransitions"] == 1

    run(main())


@pytest.mark.parametrize("mood", ["refusing", "hanging"])
def test_a_leader_cut_off_knows_before_the_lease_can_expire(mood: str) -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "a", FAST) as a:
            await a.acquire()
            api.mood = mood
            async with asyncio.timeout(FAST.duration):
                await a.lost()
            assert not a.leading
            assert api.holder == "a"

    run(main())


def test_a_leader_that_slept_too_long_may_not_act_even_before_it_is_told() -> None:
    async def main() -> None:
        clock = Clock()
        async with LeaseApi() as api, candidate(api, "a", clock=clock) as a:
            await a.acquire()
            clock.now += 10
            assert not a.leading

    run(main())


def test_a_leader_survives_short_trouble() -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "a") as a:
            await a.acquire()
            api.mood = "refusing"
            await api.wait_asked(len(api.asked) + 3)
            api.mood = "well"
            version = api.version
            await api.wait_asked(len(api.asked) + 3)
            assert a.leading
            assert api.version > version

    run(main())


def test_a_leader_whose_lease_was_taken_is_told_and_may_try_again() -> None:
    async def main() -> None:
        clock = Clock()
        async with LeaseApi() as api, candidate(api, "a", clock=clock) as a:
            await a.acquire()
            api.put(held_by("b"))
            await a.lost()
            assert not a.leading
            assert a.holder == "b"
            again = asyncio.create_task(a.acquire())
            await api.wait_asked(len(api.asked) + 2)
            clock.now += 16
            await again
            assert a.leading
            assert api.holder == "a"

    run(main())


def test_a_touched_lease_is_renewed_all_the_same() -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "a") as a:
            await a.acquire()
            assert api.lease is not None
            api.put({**api.lease})  # Somebody labelled it.
            version = api.version
            await api.wait_asked(len(api.asked) + 4)
            assert a.leading
            assert api.version > version

    run(main())


def test_a_deleted_lease_is_made_anew() -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "a") as a:
            await a.acquire()
            api.lease = None
            await api.wait_asked(len(api.asked) + 5)
            assert a.leading
            assert api.holder == "a"

    run(main())


def test_a_released_lease_is_free_at_once() -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "a") as a, candidate(api, "b") as b:
            await a.acquire()
            waiting = asyncio.create_task(b.acquire())
            await a.release()
            await a.lost()
            await waiting
            assert (a.leading, b.leading) == (False, True)
            assert api.holder == "b"

    run(main())


def test_releasing_what_one_has_not_changes_nothing() -> None:
    async def main() -> None:
        async with LeaseApi() as api, candidate(api, "b") as b:
            api.put(held_by("a"))
            await b.release()
            assert api.holder == "a"

    run(main())


def test_times_that_could_let_two_lead_are_refused() -> None:
    with pytest.raises(ValueError, match="period < deadline < duration"):
        LeaseTuning(duration=10, deadline=10, period=2)
