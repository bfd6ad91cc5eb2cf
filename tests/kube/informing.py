"""An informer beside a test: what it tells, in words, and lines for the scripted server to say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from headroom.core.objects import Key, Pod
from headroom.kube.client import Client, Tuning
from headroom.kube.watch import Informer
from headroom.kube.watch_scope import Listener, Trouble, WatchScope, WatchTuning
from headroom.ports import Event, Lost, Seen
from headroom.wire.decode import DecodeThing, decode_thing
from headroom.wire.kinds import PODS
from tests.kube.fakeapi import FakeApi, bookmark, line, pod_json

PATH = "/api/v1/pods"
LIST, WATCH = f"list {PATH}", f"watch {PATH}"
HASTY = WatchTuning(quiet_seconds=5.0, first_backoff=0.001, longest_backoff=0.004)


@dataclass
class Ear:
    """Notes what an informer tells, and wakes who waits for it."""

    told: list[str] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def tell(self, batch: list[Event]) -> None:
        await self._note(*(_in_words(event) for event in batch))

    async def synced(self) -> None:
        await self._note("synced")

    async def _note(self, *words: str) -> None:
        async with self._news:
            self.told += words
            self._news.notify_all()

    async def hears(self, *words: str) -> None:
        """Wait until exactly this has been told."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.told) >= len(words))
        assert self.told == list(words)

    async def is_told(self, word: str) -> None:
        """Wait until this has been told."""
        async with self._news:
            await self._news.wait_for(lambda: word in self.told)


def _in_words(event: Event) -> str:
    match event:
        case Seen(Pod() as pod):
            return f"{pod.key.name}@{pod.version}"
        case Lost(Pod(key=Key(_, name), uid=uid)):
            return f"{name} gone ({uid})"
        case _:
            return repr(event)


@asynccontextmanager
async def following(
    api: FakeApi,
    tuning: WatchTuning = HASTY,
    scope: WatchScope | None = None,
    decode: DecodeThing = decode_thing,
) -> AsyncIterator[Ear]:
    """Run an informer beside the test."""
    ear = Ear()
    client = Client(api.access(), Tuning(first_backoff=0.001, attempts=2))
    listener = Listener(ear.tell, ear.synced, ear.troubles.append)
    made = Informer(client, scope or WatchScope(PODS), listener, tuning, decode)
    informer = asyncio.create_task(made.run())
    try:
        yield ear
    finally:
        informer.cancel()
        await asyncio.gather(informer, return_exceptions=True)
        await client.close()


def added(name: str, version: int = 1, uid: str = "") -> bytes:
    return line("ADDED", pod_json(name, version, uid))


def error(code: int, message: str = "trouble") -> bytes:
    return line("ERROR", {"kind": "Status", "code": code, "message": message})


def asked(api: FakeApi, parameter: str) -> list[str]:
    """The values of a parameter, of the requests that have it."""
    return [each.query[parameter] for each in api.asked if parameter in each.query]


def listed(*pieces: bytes, version: int = 10) -> tuple[bytes, ...]:
    return (*pieces, bookmark(version, ends_list=True))
