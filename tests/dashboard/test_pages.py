"""The server of the page: streams, their limits, and who may see what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from headroom.dashboard.access import Gate, Local, Reviewed
from headroom.dashboard.document import Document, VisibleScope
from headroom.dashboard.hub import Hub
from headroom.dashboard.pages import CSP, Pages, StreamLimits
from headroom.kube.answers import Answer
from headroom.runtime.http import Address, Health, HttpServer
from headroom.runtime.metrics import Metrics
from tests.dashboard.differences import applied

NAMESPACES = tuple(f"team-{number}" for number in range(200))
PACE = 0.02


class Feed:
    """A cluster that changes whenever somebody looks."""

    def __init__(self, size: int = 1) -> None:
        self.looks = 0
        self.size = size
        self.broken = False
        self.still = False

    async def sections(self) -> Document:
        if self.broken:
            raise RuntimeError("no picture today")
        self.looks += 0 if self.still else 1
        rows = {name: {"namespace": name, "held": self.looks} for name in NAMESPACES}
        nodes = {
            f"n{each}": {"used": {"cpu": self.looks}, "x": "y" * 90} for each in range(self.size)
        }
        return {
            "source": {"kind": "live", "name": "test"},
            "at": f"moment {self.looks}",
            "nodes": nodes,
            "labels": {},
            "objects": {f"Hold/{name}/x": row for name, row in rows.items()},
            "waiting": {f"{name}/p": {"namespace": name} for name in NAMESPACES},
            "more_waiting": 0,
            "timeline": {"1": [1, 1, 1, 1, 1]},
            "windows": [{"namespace": name} for name in NAMESPACES],
            "cost": {
                "unit": "cpu",
                "total": 200.0,
                "pools": {"p": 200.0},
                "namespaces": dict.fromkeys(NAMESPACES, 1.0),
                "unpriced": 0,
            },
        }

    async def pods_on(self, node: str) -> list[dict[str, Any]] | None:
        return [{"namespace": name, "name": "p"} for name in NAMESPACES] if node == "n0" else None

    async def find_pods(self, text: str, scope: VisibleScope) -> dict[str, Any]:
        found = [name for name in (*NAMESPACES, "quiet") if scope.sees_pods(name)]
        return {"pods": [{"namespace": name, "name": text} for name in found], "more": 0}

    async def explain(self, reference: str, scope: VisibleScope) -> dict[str, Any] | None:
        return {"summary": reference} if reference.endswith("/x") else None


class Reviews:
    """An API server that reviews: `rights` are (plural, namespace) of each token."""

    def __init__(self, rights: dict[str, set[tuple[str, str]]], status: int = 201) -> None:
        self._rights = rights
        self._status = status
        self.asked: list[str] = []

    def lane(self) -> Reviews:
        return self

    async def send(
        self, method: str, path: str, body: bytes | None = None, *, repeatable: bool = False
    ) -> Answer:
        spec = json.loads(body or b"{}")["spec"]
        self.asked.append(path.rpartition("/")[2])
        if "token" in spec:
            known = spec["token"] in self._rights
            user = {"username": spec["token"], "groups": ["people"]}
            return self._answer({"authenticated": known, **({"user": user} if known else {})})
        wanted = spec["resourceAttributes"]
        allowed = (wanted["resource"], wanted["namespace"]) in self._rights[spec["user"]]
        return self._answer({"allowed": allowed})

    def _answer(self, status: dict[str, Any]) -> Answer:
        return Answer(self._status, json.dumps({"status": status}).encode(), 0.0)


EVERY_PATH = (
    "snapshot",
    "stream",
    "node?name=n0",
    "pods?name=p",
    "explain?object=Hold/team-7/x",
)
TOKENS: dict[str, set[tuple[str, str]]] = {
    "admin": {("nodes", ""), ("pods", ""), ("headrooms", "")},
    "tenant": {("pods", "team-7"), ("headrooms", "team-7")},
    "nobody": set(),
}


@asynccontextmanager
async def serving(
    feed: Feed, gate: Gate | None = None, limits: StreamLimits | None = None
) -> AsyncIterator[tuple[aiohttp.ClientSession, Pages, Hub]]:
    """The operator's server with the page, and somebody who asks."""
    hub = Hub(feed, lambda trouble: None, PACE)
    pages = Pages(hub, gate or Local(), limits=limits)
    server = HttpServer(
        Address("127.0.0.1", 0), Health(synced=True), Metrics("0"), mount=pages.mount
    )
    address = await server.start()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(f"http://{address}", connector=connector) as session:
        try:
            yield session, pages, hub
        finally:
            await server.stop()


def ran(work: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(120):
            await work()

    asyncio.run(whole())


async def messages(response: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, str, Any]]:
    """Every message of a stream: event, id, data."""
    fields: dict[str, str] = {}
    async for line in response.content:
        text = line.decode().rstrip("\n")
        if not text and "data" in fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}
        elif ": " in text:
            name, _, value = text.partition(": ")
            fields[name] = value


async def until(true: Callable[[], bool]) -> None:
    """Let others go on until something is true."""
    for _ in range(5000):
        if true():
            return
        await asyncio.sleep(PACE)  # the pace of pictures
    raise AssertionError("it never came true")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_stream_is_a_snapshot_and_then_differences() -> None:
    async def story() -> None:
        async with serving(Feed()) as (session, _, _), session.get("/api/v1/stream") as stream:
            known: Document = {}
            count = 0
            async for event, _, data in messages(stream):
                known = data if event == "snapshot" else applied(known, data)
                assert event == ("snapshot" if count == 0 else "difference")
                count += 1
                if count == 4:
                    break
            async with session.get("/api/v1/snapshot") as answer:
                now = await answer.json()
            assert known["objects"].keys() == now["objects"].keys()
            assert known["objects"]["Hold/team-7/x"]["held"] >= 4

    ran(story)


def test_a_stream_goes_on_after_a_break_where_it_was() -> None:
    async def story() -> None:
        async with serving(Feed()) as (session, _, _):
            async with session.get("/api/v1/stream") as stream:
                _, last, first = await anext(messages(stream))
            for given, expected in (
                (last, "difference"),
                ("0000.1", "snapshot"),
                ("x", "snapshot"),
            ):
                async with session.get("/api/v1/stream", headers={"Last-Event-ID": given}) as again:
                    event, _, data = await anext(messages(again))
                assert event == expected
                if event == "difference":
                    assert data["from"] == first["revision"]

    ran(story)


def test_what_happens_between_two_messages_comes_in_one() -> None:
    async def story() -> None:
        feed = Feed()
        async with serving(feed) as (session, pages, hub):
            streams = [await session.get("/api/v1/stream") for _ in range(3)]
            readers = [messages(stream) for stream in streams]
            for _ in range(5):
                await asyncio.gather(*(anext(reader) for reader in readers))
            # One picture serves all pages, and no page gets more messages than there are pictures.
            assert pages.sent <= 3 * hub.made
            assert feed.looks == hub.made
            for stream in streams:
                stream.close()

    ran(story)


def test_a_cluster_that_stands_still_sends_nothing() -> None:
    async def story() -> None:
        feed = Feed()
        feed.still = True
        async with serving(feed) as (session, pages, hub):
            async with session.get("/api/v1/stream") as stream:
                await anext(messages(stream))
                await until(lambda: hub.made >= 5 or pages.sent > 1)
            assert pages.sent == 1

    ran(story)


@pytest.mark.parametrize("count", [pytest.param(1000, marks=pytest.mark.e2e), 60])
def test_a_thousand_open_streams_leave_room_for_probes(count: int) -> None:
    async def story() -> None:
        async with serving(Feed()) as (session, pages, _):
            opening = (session.get("/api/v1/stream") for _ in range(count))
            answers = await asyncio.gather(*opening, return_exceptions=True)
            open_ones = [each for each in answers if isinstance(each, aiohttp.ClientResponse)]
            assert any(each.status == 200 for each in open_ones)
            assert 0 < pages.peak <= 32
            refused = next(each for each in open_ones if each.status == 503)
            assert refused.headers["Retry-After"]
            async with session.get("/healthz") as healthy:
                assert healthy.status == 200
            for each in open_ones:
                each.close()
            await until(lambda: not pages.streams)

    ran(story)


def test_a_slow_reader_is_dropped_and_others_are_served() -> None:
    async def story() -> None:
        limits = StreamLimits(write_seconds=0.2)
        async with serving(Feed(size=20_000), limits=limits) as (session, pages, _):
            address = session._base_url  # where the server listens
            assert address is not None
            reader, writer = await asyncio.open_connection(address.host, address.port, limit=2**10)
            writer.write(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await until(lambda: pages.streams > 0)
            while pages.streams:
                async with session.get("/healthz") as healthy:
                    assert healthy.status == 200
                await asyncio.sleep(PACE)  # until it is dropped
            writer.transport.abort()
            assert reader is not None

    ran(story)


def test_without_a_token_or_with_one_that_is_unknown_nothing_is_seen() -> None:
    async def story() -> None:
        async with serving(Feed(), Reviewed(Reviews(TOKENS))) as (session, _, _):
            for path in EVERY_PATH:
                for headers in ({}, bearer("forged"), {"Authorization": "Basic YTpi"}):
                    async with session.get(f"/api/v1/{path}", headers=headers) as answer:
                        assert answer.status == 401
                        assert "team-7" not in await answer.text()
            async with session.get("/") as page:  # The page itself has no data.
                assert page.status == 200

    ran(story)


def test_a_token_without_rights_sees_nothing() -> None:
    async def story() -> None:
        async with serving(Feed(), Reviewed(Reviews(TOKENS))) as (session, _, _):
            for path in EVERY_PATH:
                async with session.get(f"/api/v1/{path}", headers=bearer("nobody")) as answer:
                    assert answer.status == 403
                    assert "team-7" not in await answer.text()

    ran(story)


def test_nobody_sees_another_namespaces_data() -> None:
    async def story() -> None:
        async with serving(Feed(), Reviewed(Reviews(TOKENS))) as (session, _, _):
            headers = bearer("tenant")
            async with session.get("/api/v1/snapshot", headers=headers) as answer:
                seen = await answer.text()
            assert "team-7" in seen
            assert [name for name in NAMESPACES if name != "team-7" and f'"{name}"' in seen] == []
            assert json.loads(seen)["nodes"] == json.loads(seen)["timeline"] == {}
            async with session.get("/api/v1/stream", headers=headers) as stream:
                reader = messages(stream)
                for _ in range(3):
                    _, _, data = await anext(reader)
                    told = json.dumps(data)
                    assert "team-8" not in told
                    assert "team-7" in told
            async with session.get("/api/v1/pods?name=p", headers=headers) as answer:
                found = (await answer.json())["pods"]
                assert [row["namespace"] for row in found] == ["team-7"]
            for path, status in (
                ("node?name=n0", 403),
                ("explain?object=Hold/team-7/x", 200),
                ("explain?object=Hold/team-8/x", 403),
                ("explain?object=Pod/team-8/x", 403),
                ("explain?object=Hold/team-7/gone", 404),
                ("explain?object=nonsense", 400),
            ):
                async with session.get(f"/api/v1/{path}", headers=headers) as answer:
                    assert answer.status == status, path

    ran(story)


def test_what_a_tenant_does_not_see_is_no_gap_in_their_stream() -> None:
    class Elsewhere(Feed):
        """Most of the time only nodes and other people's rows change."""

        async def sections(self) -> Document:
            found = await super().sections()
            found["objects"]["Hold/team-7/x"] = {"namespace": "team-7", "held": self.looks // 5}
            return found

    async def story() -> None:
        async with serving(Elsewhere(), Reviewed(Reviews(TOKENS))) as (session, _, _):
            headers = bearer("tenant")
            async with session.get("/api/v1/stream", headers=headers) as stream:
                reader = messages(stream)
                _, _, data = await anext(reader)
                for _ in range(3):
                    event, _, change = await anext(reader)
                    assert event == "difference"
                    assert change["from"] == data["revision"]
                    data = change

    ran(story)


def test_rights_in_many_namespaces_are_asked_for_once_a_minute() -> None:
    class Wide(Feed):
        async def sections(self) -> Document:
            found = await super().sections()
            names = [f"ns-{number}" for number in range(600)]
            found["objects"] = {f"Hold/{name}/x": {"namespace": name} for name in names}
            return found

    async def story() -> None:
        reviews = Reviews({"tenant": {("headrooms", "ns-7")}})
        async with serving(Wide(), Reviewed(reviews)) as (session, _, _):
            asked = []
            for _ in range(2):
                async with session.get("/api/v1/snapshot", headers=bearer("tenant")) as answer:
                    assert answer.status == 200
                asked.append(len(reviews.asked))
            assert asked[0] == asked[1]

    ran(story)


def test_a_namespace_with_nothing_to_show_can_be_asked_for_by_name() -> None:
    async def story() -> None:
        rights = {"tenant": {("pods", "quiet"), ("headrooms", "team-7")}}
        async with serving(Feed(), Reviewed(Reviews(rights))) as (session, _, _):
            cases: tuple[tuple[str, list[str]], ...] = (
                ("p", []),
                ("quiet/p", ["quiet"]),
                ("team-8/p", []),
            )
            for text, expected in cases:
                path = f"/api/v1/pods?name={text}"
                async with session.get(path, headers=bearer("tenant")) as answer:
                    found = [row["namespace"] for row in (await answer.json())["pods"]]
                    assert found == expected, text

    ran(story)


def test_for_who_may_see_all_one_review_a_kind_is_enough_and_is_kept() -> None:
    async def story() -> None:
        reviews = Reviews(TOKENS)
        async with serving(Feed(), Reviewed(reviews)) as (session, _, _):
            for _ in range(3):
                async with session.get("/api/v1/snapshot", headers=bearer("admin")) as answer:
                    assert answer.status == 200
            assert reviews.asked.count("tokenreviews") == 1
            assert reviews.asked.count("subjectaccessreviews") == 3

    ran(story)


def test_an_operator_that_may_not_review_says_what_is_missing() -> None:
    async def story() -> None:
        async with (
            serving(Feed(), Reviewed(Reviews(TOKENS, 403))) as (session, _, _),
            session.get("/api/v1/snapshot", headers=bearer("admin")) as answer,
        ):
            assert answer.status == 503
            assert "headroom install --dashboard" in await answer.text()

    ran(story)


def test_another_name_for_this_machine_is_refused() -> None:
    async def story() -> None:
        async with serving(Feed()) as (session, _, _):
            for host, status in (
                ("evil.example:80", 403),
                ("localhost:8081", 200),
                ("[::1]:1", 200),
                ("", 403),
            ):
                async with session.get("/api/v1/snapshot", headers={"Host": host}) as answer:
                    assert answer.status == status, host

    ran(story)


def test_the_page_is_read_only_and_every_answer_has_the_policy() -> None:
    async def story() -> None:
        async with serving(Feed()) as (session, _, _):
            for path in ("/", "/api/v1/snapshot", "/static/app.js", "/static/nothing.js"):
                async with session.get(path) as answer:
                    assert answer.headers["Content-Security-Policy"] == CSP
                    assert answer.headers["X-Content-Type-Options"] == "nosniff"
                    assert "Set-Cookie" not in answer.headers
                for method in ("POST", "PUT", "PATCH", "DELETE"):
                    async with session.request(method, path) as answer:
                        assert answer.status == 405

    ran(story)


def test_a_picture_that_cannot_be_made_leaves_the_last_one_and_the_probes() -> None:
    async def story() -> None:
        feed = Feed()
        feed.broken = True
        async with serving(feed) as (session, _, hub):
            async with session.get("/api/v1/snapshot") as answer:
                assert answer.status == 503
            feed.broken = False
            while True:
                async with session.get("/api/v1/snapshot") as answer:
                    if answer.status == 200:
                        break
                await asyncio.sleep(PACE)  # the pace of pictures
            feed.broken = True
            await asyncio.sleep(PACE)  # so that the next one would be due
            async with session.get("/api/v1/snapshot") as answer:
                assert (answer.status, hub.made) == (200, 1)
            async with session.get("/metrics") as answer:
                assert answer.status == 200

    ran(story)
