"""The keeper of certificates, with the cluster's two objects played by one shelf."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from headroom.kube.errors import CannotReach, RequestForbidden
from headroom.webhook.certificate_controller import (
    CertificateKeeper,
    CertificateTimes,
    KeepsChanging,
)
from headroom.webhook.certificates import split
from headroom.webhook.registered import Registration, StoredSecret

START = datetime(2027, 1, 4, tzinfo=UTC)


@dataclass
class FakeShelf:
    """Two objects with versions; `others` write the Secret just before us so many times."""

    trusted: dict[str, str] | None = field(default_factory=lambda: {"claims": ""})
    data: dict[str, str] = field(default_factory=dict)
    version: int = 1
    others: int = 0
    written: int = 0
    announced: int = 0
    troubles: list[Exception] = field(default_factory=list)

    async def registration(self) -> Registration | None:
        if self.troubles:
            raise self.troubles.pop()
        if self.trusted is None:
            return None
        return Registration(("127.0.0.1",), dict(self.trusted), str(self.version))

    async def write_bundle(self, known: Registration, bundle: str) -> bool:
        self.trusted = dict.fromkeys(known.trusted, bundle)
        self.announced += 1
        return True

    async def read_secret(self) -> StoredSecret:
        return StoredSecret(dict(self.data), {"version": self.version})

    async def write_secret(self, before: StoredSecret, data: Mapping[str, str]) -> bool:
        if self.others:
            self.others -= 1
            self.version += 1
        if before.whole != {"version": self.version}:
            return False
        self.version += 1
        self.written += 1
        self.data = dict(data)
        return True


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


def keeper(shelf: FakeShelf, clock: Clock | None = None) -> CertificateKeeper:
    return CertificateKeeper(
        shelf, "home", CertificateTimes(period=timedelta(0), clock=clock or Clock())
    )


def rounds(kept_by: CertificateKeeper, times: int = 1) -> None:
    async def main() -> None:
        for _ in range(times):
            await kept_by.round()

    asyncio.run(main())


def test_the_first_round_makes_keys_and_tells_every_entry() -> None:
    shelf = FakeShelf({"claims": "", "asks": "old"})
    rounds(keeper(shelf), 3)
    assert (shelf.written, shelf.announced) == (1, 1)
    assert shelf.trusted == dict.fromkeys(("claims", "asks"), shelf.data["ca.crt"])


def test_a_second_replica_takes_the_keys_that_are_there() -> None:
    shelf = FakeShelf()
    first, second = keeper(shelf), keeper(shelf)
    rounds(first)
    rounds(second)
    assert shelf.written == 1
    assert first.ends == second.ends


def test_a_replica_that_was_slower_reads_again() -> None:
    shelf = FakeShelf(others=2)
    rounds(keeper(shelf))
    assert shelf.written == 1


def test_a_secret_that_keeps_changing_is_left_for_the_next_round() -> None:
    with pytest.raises(KeepsChanging):
        rounds(keeper(FakeShelf(others=99)))


def test_keys_that_make_no_sense_are_made_anew_and_told() -> None:
    shelf = FakeShelf(data={"ca.crt": "nonsense"})
    with capture_logs() as logs:
        rounds(keeper(shelf))
    assert shelf.written == 1
    assert logs[0]["event"] == "certificates_unreadable"


def test_a_secret_that_somebody_emptied_gets_new_keys() -> None:
    shelf = FakeShelf()
    tending = keeper(shelf)
    rounds(tending)
    before, shelf.data = shelf.data, {}
    rounds(tending)
    assert shelf.data["ca.crt"] != before["ca.crt"]
    assert shelf.trusted == {"claims": shelf.data["ca.crt"]}


def test_a_webhook_that_nobody_knows_of_says_so_once() -> None:
    shelf = FakeShelf(trusted=None)
    with capture_logs() as logs:
        rounds(keeper(shelf), 3)
    told = [each["problem"] for each in logs if each["event"] == "certificate_trouble"]
    assert len(told) == 1
    assert "headroom install --webhook" in told[0]


def test_trouble_on_the_way_is_waited_out() -> None:
    shelf = FakeShelf(troubles=[CannotReach("nobody there")])
    asyncio.run(keeper(shelf).register_trust())
    assert shelf.announced == 1


@pytest.mark.parametrize("step", ["begin", "register_trust"])
def test_missing_rights_are_not_waited_for(step: str) -> None:
    tending = keeper(FakeShelf(troubles=[RequestForbidden(403, "you may not")]))
    with pytest.raises(RequestForbidden):
        asyncio.run(tending.begin() if step == "begin" else tending.register_trust())


def test_over_two_years_somebody_is_trusted_at_every_round() -> None:
    shelf, clock = FakeShelf(), Clock()
    tending = keeper(shelf, clock)
    signers = set()
    for day in range(0, 730, 10):
        clock.now = START + timedelta(days=day)
        rounds(tending)
        assert shelf.trusted is not None
        assert shelf.data["ca.crt"] in split(shelf.trusted["claims"])
        assert tending.ends is not None
        assert tending.ends > clock.now + timedelta(days=20)
        signers.add(shelf.data["ca.crt"])
    assert len(signers) == 3


def test_a_new_certificate_is_shown_without_a_new_port() -> None:
    """The TLS context stays the same one; who connects from then on sees the new certificate."""
    shelf, clock = FakeShelf(), Clock(datetime.now(UTC) - timedelta(days=65))
    tending = keeper(shelf, clock)

    async def shown(port: int) -> str:
        trusting = ssl.create_default_context(cadata=shelf.data["ca.crt"])
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        encoded = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.transport.abort()
        return ssl.DER_cert_to_PEM_cert(encoded)

    async def main() -> None:
        await tending.round()
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=tending.tls)
        port = server.sockets[0].getsockname()[1]
        before = await shown(port)
        clock.now += timedelta(days=65)
        await tending.round()
        after = await shown(port)
        server.close()
        await server.wait_closed()
        assert before != after
        assert after.strip() == shelf.data["tls.crt"].strip()

    asyncio.run(main())


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_certificate_made_by_a_clock_ten_minutes_off_is_good_for_the_others(minutes: int) -> None:
    skewed = Clock(datetime.now(UTC) + timedelta(minutes=minutes))
    shelf = FakeShelf()
    tending = keeper(shelf, skewed)

    async def main() -> None:
        await tending.round()
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=tending.tls)
        port = server.sockets[0].getsockname()[1]
        trusting = ssl.create_default_context(cadata=shelf.data["ca.crt"])
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        writer.transport.abort()
        server.close()
        await server.wait_closed()

    asyncio.run(main())
