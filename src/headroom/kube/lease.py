"""Leader election by a Lease object: at most one leads, and the leader is the first to know.

    waiting ──no renewal by others for a whole duration──▶ leading ──release──▶ idle
       ▲                                                     │ taken by another, or
       └──── acquire ──── lost ◀─────────────────────────────┘ not renewed within the deadline

Clocks of different machines are never compared: another's renewal counts from when *we* saw it,
ours from *before* we sent it. The deadline is shorter than the duration, so a leader that cannot
reach the server stops before another can start. Every communication error is retried. The clock
includes suspended time, if the system has such a clock.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from headroom.core.objects import Key
from headroom.kube.client import Client
from headroom.kube.errors import KubeError
from headroom.kube.leaserecord import Record, read_record, write_record
from headroom.kube.servertime import boot_seconds
from headroom.wire.kinds import LEASES

log = structlog.get_logger("headroom.kube")


@dataclass(frozen=True, slots=True)
class LeaseTuning:
    """How long a lease lasts, when its holder stops, and how often candidates retry."""

    duration: float = 15.0
    deadline: float = 10.0
    period: float = 2.0
    clock: Callable[[], float] = boot_seconds

    def __post_init__(self) -> None:
        if not 0 < self.period < self.deadline < self.duration:
            raise ValueError(
                f"a lease needs period < deadline < duration; these are "
                f"{self.period}, {self.deadline}, {self.duration}"
            )


class KubeLease:
    """One candidate for one Lease object."""

    def __init__(
        self,
        client: Client,
        name: str,
        namespace: str,
        identity: str,
        tuning: LeaseTuning | None = None,
    ) -> None:
        self.identity = identity
        self._client = client
        self._key = Key(namespace, name)
        self._tuning = tuning or LeaseTuning()
        self._clock = self._tuning.clock
        self._observed: Record | None = None
        self._observed_at = 0.0
        self._renewed_at: float | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._lost = asyncio.Event()
        self._random = random.Random()
        self._last_trouble = ""

    @property
    def leading(self) -> bool:
        """Whether we may act now; cheap, so that it can be checked before every write."""
        return self._seconds_left > 0 and not self._lost.is_set()

    @property
    def _seconds_left(self) -> float:
        """How long we may still act without another renewal."""
        if self._renewed_at is None:
            return 0.0
        return max(self._renewed_at + self._tuning.deadline - self._clock(), 0.0)

    @property
    def holder(self) -> str:
        """Who held the lease at the last check; empty if nobody."""
        return self._observed.holder if self._observed is not None else ""

    async def acquire(self) -> None:
        """Wait until we lead."""
        await self._stop_renewing()
        self._lost.clear()
        self._renewed_at = None
        while True:
            if await self._try():
                break
            await asyncio.sleep(self._pause())
        self._renewing = asyncio.create_task(self._keep(), name="renew lease")

    async def lost(self) -> None:
        """Wait until we no longer lead; returns before another can lead."""
        await self._lost.wait()

    async def release(self) -> None:
        """Release the lease, so that the next leader need not wait until it expires."""
        was_leading = self.leading
        await self._stop_renewing()
        self._lost.set()
        record = self._observed
        if not was_leading or record is None or record.holder != self.identity:
            return
        try:
            async with asyncio.timeout(self._tuning.period):
                await self._write(record.released(self._tuning.duration))
        except (KubeError, TimeoutError) as error:
            self._note_trouble(error)  # It expires on its own.

    async def _keep(self) -> None:
        """Renew until the lease is lost, and report the loss in time, whatever the server does."""
        try:
            while self.leading:
                await asyncio.sleep(min(self._pause(), self._seconds_left))
                await self._renew_within_deadline()
        finally:
            self._lost.set()

    async def _renew_within_deadline(self) -> None:
        """One attempt, cancelled at the moment from which we must not act any more."""
        try:
            async with asyncio.timeout(self._seconds_left):
                if not await self._try() and self.holder != self.identity:
                    self._renewed_at = None
        except TimeoutError as error:
            self._note_trouble(error)

    async def _try(self) -> bool:
        """Take or renew the lease, if possible; an error means no."""
        try:
            return await self._take_or_renew()
        except KubeError as error:
            self._note_trouble(error)
            return False

    async def _take_or_renew(self) -> bool:
        # Usually one write is enough: it fails if the lease was changed.
        if self.leading and self._observed is not None and await self._claim(self._observed):
            return True
        record = await self._read()
        if record is None:
            return await self._claim(None)
        if record.holder not in ("", self.identity) and not self._expired(record):
            return False
        return await self._claim(record)

    def _expired(self, record: Record) -> bool:
        """Whether its holder has not renewed it for a whole duration, by our clock."""
        return self._clock() >= self._observed_at + record.duration

    async def _claim(self, record: Record | None) -> bool:
        """Write ourselves as the holder, unless the lease was changed after `record` was read."""
        asked_at = self._clock()
        taken = await self._write(Record.of(self.identity, self._tuning.duration, record))
        if taken:
            self._renewed_at = asked_at
        return taken

    async def _read(self) -> Record | None:
        path = LEASES.path(self._key.namespace, self._key.name)
        answer = await self._client.send("GET", path, repeatable=True)
        record = read_record(answer, f"read lease {self._key}")
        if record != self._observed:
            self._observed = record
            self._observed_at = self._clock()
        return record

    async def _write(self, record: Record) -> bool:
        """Create or replace the Lease object; False if another was faster."""
        body = write_record(record, self._key)
        if record.version:
            path = LEASES.path(self._key.namespace, self._key.name)
            answer = await self._client.send("PUT", path, body)
        else:
            answer = await self._client.send("POST", LEASES.path(self._key.namespace), body)
        if answer.status in (404, 409):
            return False
        self._observed = read_record(answer, f"write lease {self._key}")
        self._observed_at = self._clock()
        return True

    async def _stop_renewing(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
            self._renewing = None

    def _pause(self) -> float:
        """The period plus up to a random fifth, so that candidates do not retry in step."""
        return self._tuning.period * (1 + self._random.random() / 5)

    def _note_trouble(self, error: Exception) -> None:
        """Report what keeps us from the lease, once for the same error."""
        message = str(error) or "no answer in time"
        if message != self._last_trouble:
            self._last_trouble = message
            log.warning("lease_trouble", lease=str(self._key), problem=message)
