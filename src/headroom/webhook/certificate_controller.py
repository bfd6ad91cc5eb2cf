"""Maintain the webhook's certificates: the same in every replica, trusted before they are used.

In each round the Secret is read, renewed if needed (`keychain`) and written; then its certificate
is served, and then the registration gets the CA bundle. At the start this happens only when the
server answers (`process`). After an error the served certificate stays.
"""

from __future__ import annotations

import asyncio
import os
import random
import ssl
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from headroom.kube.errors import ConfigError, KubeError, RequestForbidden, Unauthorized
from headroom.webhook.certificates import Pair, UnreadableCertificate, facts_of
from headroom.webhook.keychain import Keychain, Lifetimes, read_keychain, renewed
from headroom.webhook.registered import Registration, StoredSecret
from headroom.wire.webhook import WEBHOOK_NAME

log = structlog.get_logger("headroom.webhook")

MOST_TRIES = 5  # if other replicas write at the same moment


class KeepsChanging(KubeError):
    """Other replicas wrote the Secret each time after we had read it."""


def wall_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class CertificateTimes:
    """How often to check, and how long certificates last; tests use short times."""

    period: timedelta = timedelta(seconds=20)
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    clock: Callable[[], datetime] = wall_clock


class SecretStore(Protocol):
    """The storage of keys and CA bundles: `registered.WebhookObjects`, or a fake in tests."""

    async def registration(self) -> Registration | None: ...

    async def write_bundle(self, known: Registration, bundle: str) -> bool: ...

    async def read_secret(self) -> StoredSecret: ...

    async def write_secret(self, before: StoredSecret, data: Mapping[str, str]) -> bool: ...


class CertificateKeeper:
    """Maintains the keys of one replica and loads them into its TLS context."""

    def __init__(
        self, secrets: SecretStore, home: str, times: CertificateTimes | None = None
    ) -> None:
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.minimum_version = ssl.TLSVersion.TLSv1_2
        self.ends: datetime | None = None  # of the certificate that is served
        self._secrets = secrets
        self._usual_name = f"{WEBHOOK_NAME}.{home}.svc"
        self._times = times or CertificateTimes()
        self._served: Pair | None = None
        self._last_trouble = ""

    async def begin(self) -> None:
        """Load a certificate to serve."""
        await self._load()

    async def register_trust(self) -> None:
        """Register the CA bundle, now that we answer; raise errors that a person must fix."""
        while True:
            try:
                await self.round()
                return
            except (ConfigError, RequestForbidden, Unauthorized):
                raise
            except KubeError as error:
                self._note(str(error))
                await self._pause()

    async def run(self) -> None:
        """Repeat the round until cancelled."""
        while True:
            await self._pause()
            try:
                await self.round()
            except KubeError as error:
                self._note(str(error))

    async def round(self) -> None:
        """Read, renew, write, serve, register."""
        registered, chain = await self._load()
        if registered is None:
            hint = "headroom install --webhook installs its registration"
            self._note(f"no API server knows of this webhook: {hint}")
            return
        if any(bundle != chain.bundle for bundle in registered.trusted.values()):
            announced = await self._secrets.write_bundle(registered, chain.bundle)
            log.info("trust_announced", entries=sorted(registered.trusted), done=announced)
        self._last_trouble = ""

    async def _load(self) -> tuple[Registration | None, Keychain]:
        """Serve the certificate that all replicas share."""
        registered = await self._secrets.registration()
        chain = await self._renewed_keychain(registered)
        self._serve(chain.serving)
        return registered, chain

    async def _renewed_keychain(self, registered: Registration | None) -> Keychain:
        """The keychain that all replicas share; one replica renews what is due."""
        names = (registered.names if registered is not None else ()) or (self._usual_name,)
        trusted = tuple(registered.trusted.values()) if registered is not None else ()
        times = self._times
        for _ in range(MOST_TRIES):
            before = await self._secrets.read_secret()
            kept = self._read(before.data)
            chain = renewed(kept, names, trusted, times.clock(), times.lifetimes)
            if chain is kept:
                return chain
            if await self._secrets.write_secret(before, chain.to_data()):
                log.info("certificates_changed", what=_difference(kept, chain))
                return chain
        raise KeepsChanging(f"others keep changing secret {WEBHOOK_NAME}; trying again")

    def _read(self, data: Mapping[str, str]) -> Keychain | None:
        try:
            return read_keychain(data)
        except UnreadableCertificate as error:
            log.warning("certificates_unreadable", secret=WEBHOOK_NAME, problem=str(error))
            return None

    def _serve(self, pair: Pair) -> None:
        """Use this certificate for new connections; existing ones are not changed."""
        if pair == self._served:
            return
        handle, path = tempfile.mkstemp(prefix="headroom-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(pair.certificate + pair.key)
            self.tls.load_cert_chain(path)
        finally:
            os.unlink(path)
        self._served = pair
        self.ends = facts_of(pair.certificate).ends
        log.info("certificate_served", until=self.ends.isoformat())

    async def _pause(self) -> None:
        """The period plus up to a random fifth, so that replicas do not act in step."""
        period = self._times.period.total_seconds()
        await asyncio.sleep(period * (1 + random.random() / 5))

    def _note(self, message: str) -> None:
        """Report an error, once for the same error."""
        if message != self._last_trouble:
            self._last_trouble = message
            log.warning("certificate_trouble", problem=message)


def _difference(before: Keychain | None, after: Keychain) -> str:
    if before is None:
        return "a new authority and what it signed"
    if after.authority != before.authority:
        return "the next authority signs from now on"
    if after.following != before.following:
        return "the next authority is announced"
    if after.serving != before.serving:
        return "the serving certificate is new"
    return "an authority that has ended is no longer trusted"
