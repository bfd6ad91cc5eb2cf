"""The probes tell what is; the numbers are Prometheus' own format."""

from __future__ import annotations

import asyncio
import re

import aiohttp
import pytest

from headroom.limited_server import ServingLimits
from headroom.runtime.http import Address, Health, HttpServer
from headroom.runtime.metrics import Metrics


def answers(health: Health, *paths: str) -> list[tuple[int, str]]:
    """Start a server, ask it for each path, stop it."""

    async def ask() -> list[tuple[int, str]]:
        server = HttpServer(Address("127.0.0.1", 0), health, Metrics("0.0.0"))
        address = await server.start()
        try:
            async with aiohttp.ClientSession(f"http://{address}") as session:
                found = []
                for path in paths:
                    async with session.get(path) as response:
                        found.append((response.status, await response.text()))
                return found
        finally:
            await server.stop()
            await server.stop()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("health", "alive", "ready", "text"),
    [
        (Health(), 200, 503, "waiting for the caches to sync"),
        (Health(synced=True), 200, 200, "standby"),
        (Health(synced=True, leading=True), 200, 200, "leading"),
        (Health(synced=True, stopping=True), 200, 503, "stopping"),
        (Health(synced=True, failed="rights"), 500, 503, "failed: rights"),
        (
            Health(synced=True, stuck_for=lambda: 400),
            500,
            503,
            "a watch has done nothing for 400 s",
        ),
        (
            Health(synced=True, silent_for=lambda: 100),
            200,
            503,
            "the watch of pods has been silent for 100 s",
        ),
        (Health(synced=True, lag=11.0), 200, 503, "the loop is 11 s late"),
    ],
)
def test_the_probes_say_how_the_operator_feels(
    health: Health, alive: int, ready: int, text: str
) -> None:
    line = f"{text}\n"
    assert answers(health, "/healthz", "/readyz") == [(alive, line), (ready, line)]


def test_metrics_are_served_with_help_and_type() -> None:
    ((status, text),) = answers(Health(), "/metrics")
    assert status == 200
    assert "# TYPE headroom_hits_total counter" in text
    assert 'headroom_build_info{version="0.0.0"} 1.0' in text


def test_a_server_of_probes_alone_has_no_metrics() -> None:
    async def ask() -> list[int]:
        server = HttpServer(Address("127.0.0.1", 0), Health(synced=True))
        address = await server.start()
        try:
            async with aiohttp.ClientSession(f"http://{address}") as session:
                return [(await session.get(path)).status for path in ("/readyz", "/metrics")]
        finally:
            await server.stop()

    assert asyncio.run(ask()) == [200, 404]


def test_an_unknown_path_is_not_found() -> None:
    ((status, _),) = answers(Health(), "/secrets")
    assert status == 404


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8080", Address("127.0.0.1", 8080)),
        (":9090", Address("0.0.0.0", 9090)),
        ("[::1]:0", Address("::1", 0)),
    ],
)
def test_an_address_is_read_as_people_write_it(text: str, address: Address) -> None:
    assert Address.parse(text) == address


@pytest.mark.parametrize("text", ["8080", "localhost", "a:b", "a:70000", "", "a:-1"])
def test_a_wrong_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape("127.0.0.1:8080")):
        Address.parse(text)


@pytest.mark.parametrize(
    "said",
    [b"", b"GET /healthz HTT", b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"],
)
def test_a_caller_that_does_not_end_is_hung_up_on(said: bytes) -> None:
    async def ask() -> bytes:
        limits = ServingLimits(header_seconds=0.1)
        place = Address("127.0.0.1", 0)
        server = HttpServer(place, Health(), Metrics("0.0.0"), limits=limits)
        address = await server.start()
        try:
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(said)
            async with asyncio.timeout(20):
                return await reader.read()
        except ConnectionResetError:
            return b""
        finally:
            writer.close()
            await server.stop()

    assert b"200 OK" not in asyncio.run(ask())
