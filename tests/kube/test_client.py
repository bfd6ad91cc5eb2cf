"""The client: what it sends, what it repeats and what never, and how it words trouble."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from headroom.kube.access import Access, Endpoint, KeyPair, Pem, User
from headroom.kube.client import Client, Tuning
from headroom.kube.errors import (
    CannotReach,
    Closed,
    ConfigError,
    RequestForbidden,
    Unauthorized,
    Uncertain,
)
from testbed.certs import Authority
from tests.kube.fakeapi import Cut, FakeApi, Reply, Stream, refusal, run, server_context

HASTY = Tuning(first_backoff=0.001, attempts=4, request_seconds=2.0, connect_seconds=1.0)


def test_a_request_carries_the_token_and_who_we_are() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/version", Reply(body={"gitVersion": "v1.36.4"}))
            client = Client(api.access(User(token="secret")), HASTY)
            body = await client.get("/version", "ask")
            await client.close()
        assert body == b'{"gitVersion": "v1.36.4"}'
        assert api.asked[0].headers["Authorization"] == "Bearer secret"
        assert api.asked[0].headers["User-Agent"].startswith("headroom/")

    run(main())


def test_impersonation_is_sent_along() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Reply())
            user = User(headers=(("Impersonate-User", "ann"), ("Impersonate-Group", "devs")))
            client = Client(api.access(user), HASTY)
            await client.send("GET", "/x")
            await client.close()
        assert api.asked[0].headers["Impersonate-User"] == "ann"
        assert "Authorization" not in api.asked[0].headers

    run(main())


def test_a_body_arrives_as_it_was_given() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Reply(201))
            client = Client(api.access(), HASTY)
            answer = await client.send("PATCH", "/x", b'{"a":1}', "application/merge-patch+json")
            await client.close()
        assert answer.status == 201
        assert api.asked[0].body == b'{"a":1}'
        assert api.asked[0].headers["Content-Type"] == "application/merge-patch+json"

    run(main())


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_too_many_requests_is_repeated_for_every_method(method: str) -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", refusal(429, Retry_After="0"), Reply())
            client = Client(api.access(), HASTY)
            answer = await client.send(method, "/x")
            await client.close()
        assert answer.status == 200
        assert len(api.asked) == 2
        assert client.retries == 1

    run(main())


def test_a_server_error_is_repeated_only_where_that_is_safe() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/create", refusal(500))
            api.script("/read", refusal(500), Reply())
            client = Client(api.access(), HASTY)
            assert (await client.send("POST", "/create")).status == 500
            assert (await client.send("GET", "/read", repeatable=True)).status == 200
            await client.close()
        assert api.paths() == ["/create", "/read", "/read"]

    run(main())


def test_retries_end() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", refusal(503))
            client = Client(api.access(), HASTY)
            answer = await client.send("GET", "/x", repeatable=True)
            await client.close()
        assert answer.status == 503
        assert len(api.asked) == HASTY.attempts

    run(main())


def test_a_wait_longer_than_our_patience_is_handed_on() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", refusal(429, Retry_After="30"))
            client = Client(api.access(), HASTY)
            answer = await client.send("POST", "/x")
            await client.close()
        assert (answer.status, answer.retry_after) == (429, 30.0)
        assert len(api.asked) == 1

    run(main())


def test_a_creation_whose_fate_is_unknown_is_not_repeated() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Cut(), Reply())
            client = Client(api.access(), HASTY)
            with pytest.raises(Uncertain):
                await client.send("POST", "/x", b"{}")
            await client.close()
        assert len(api.asked) == 1

    run(main())


def test_a_lost_connection_is_healed_where_repeating_is_safe() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Cut(), Reply())
            client = Client(api.access(), HASTY)
            answer = await client.send("PATCH", "/x", b"{}", repeatable=True)
            await client.close()
        assert answer.status == 200

    run(main())


def test_an_answer_that_does_not_come_in_time_leaves_the_fate_open() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Stream(then="hang"))
            client = Client(api.access(), Tuning(request_seconds=0.03))
            with pytest.raises(Uncertain, match="no answer in time"):
                await client.send("POST", "/x", b"{}")
            await client.close()

    run(main())


def test_fresh_credentials_answer_a_401(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")

    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Reply(), refusal(401), Reply())
            client = Client(api.access(User(token_file=str(token))), HASTY)
            await client.send("GET", "/x")
            token.write_text("new\n")
            answer = await client.send("POST", "/x")
            await client.close()
        assert answer.status == 200
        sent = [asked.headers["Authorization"] for asked in api.asked]
        assert sent == ["Bearer old", "Bearer old", "Bearer new"]

    run(main())


def test_refused_credentials_are_told_with_their_origin() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", refusal(401))
            client = Client(api.access(), HASTY)
            with pytest.raises(Unauthorized, match=r"does not accept our credentials \(a test\)"):
                await client.send("GET", "/x")
            await client.close()
        assert len(api.asked) == 2

    run(main())


def test_a_missing_right_is_told_in_the_servers_words() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", refusal(403, 'pods is forbidden: User "ann" cannot list'))
            client = Client(api.access(), HASTY)
            with pytest.raises(
                RequestForbidden, match="cannot list pods: pods is forbidden"
            ) as caught:
                await client.get("/x", "list pods")
            await client.close()
        assert "headroom install" in caught.value.hint

    run(main())


def test_an_address_where_nothing_listens_is_told_as_such() -> None:
    async def main() -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            server = f"http://127.0.0.1:{unused.getsockname()[1]}"
            client = Client(Access(Endpoint(server), User(), origin="context c of f"), HASTY)
            with pytest.raises(
                CannotReach, match=r"\(context c of f\): cannot connect: "
            ) as caught:
                await client.send("POST", "/x")
            await client.close()
        assert not isinstance(caught.value, Uncertain)
        assert caught.value.exit_code == 3
        assert client.retries == HASTY.attempts - 1

    run(main())


def test_no_more_requests_are_in_flight_than_allowed() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.gate = asyncio.Event()
            api.script("/x", Reply())
            client = Client(api.access(), Tuning(in_flight=3))
            requests = [asyncio.create_task(client.send("GET", "/x")) for _ in range(9)]
            await api.wait_asked(3)
            api.gate.set()
            await asyncio.gather(*requests)
            await client.close()
        assert api.busiest == 3
        assert client.requests["GET", 200] == 9

    run(main())


def test_a_lane_does_not_wait_behind_a_burst() -> None:
    """A lease that is renewed too late costs the lead, however busy we are."""

    async def main() -> None:
        async with FakeApi() as api:
            api.gate = asyncio.Event()
            api.script("/x", Reply())
            client = Client(api.access(), Tuning(in_flight=3))
            burst = [asyncio.create_task(client.send("PATCH", "/x")) for _ in range(9)]
            await api.wait_asked(3)
            urgent = asyncio.create_task(client.lane().send("PUT", "/x"))
            await api.wait_asked(4)
            api.gate.set()
            assert (await urgent).ok
            await asyncio.gather(*burst)
            await client.close()
        assert api.busiest == 4
        assert client.requests["PUT", 200] == 1

    run(main())


def test_a_closed_client_sends_nothing() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            client = Client(api.access(), Tuning(attempts=1))
            await client.close()
            with pytest.raises(Closed):
                await client.send("GET", "/x")
        assert api.asked == []

    run(main())


def test_a_client_certificate_is_presented(tmp_path: Path) -> None:
    authority = Authority("ours")
    context = server_context(authority, tmp_path)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=authority.pem)
    certificate, key = authority.issue_client("ann", ())

    async def main() -> None:
        async with FakeApi(context) as api:
            api.script("/x", Reply())
            user = User(key_pair=KeyPair(Pem(certificate), Pem(key)))
            client = Client(api.access(user, ca=authority.pem), HASTY)
            assert (await client.send("GET", "/x")).status == 200
            await client.close()

    run(main())


def test_a_certificate_that_is_not_trusted_is_told(tmp_path: Path) -> None:
    context = server_context(Authority("theirs"), tmp_path)

    async def main() -> None:
        async with FakeApi(context) as api:
            client = Client(api.access(ca=Authority("ours").pem), Tuning(attempts=1))
            with pytest.raises(CannotReach, match="its certificate is not trusted") as caught:
                await client.send("GET", "/x")
            await client.close()
        assert "certificate-authority" in caught.value.hint

    run(main())


def test_a_proxy_is_asked_where_one_is_named() -> None:
    async def main() -> None:
        async with FakeApi() as proxy:
            proxy.script("/x", Reply(201))
            endpoint = Endpoint("http://api.invalid", proxy=f"http://127.0.0.1:{proxy.port}")
            client = Client(Access(endpoint, User()), HASTY)
            answer = await client.send("POST", "/x", b"{}")
            await client.close()
        assert answer.status == 201
        assert proxy.asked[0].headers["Host"] == "api.invalid"
        assert proxy.asked[0].body == b"{}"

    run(main())


def test_a_proxy_that_is_not_there_is_named() -> None:
    async def main() -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            proxy = f"http://127.0.0.1:{unused.getsockname()[1]}"
            client = Client(Access(Endpoint("http://api.invalid", proxy=proxy), User()), HASTY)
            with pytest.raises(CannotReach, match=f"the proxy {proxy} cannot be reached"):
                await client.send("POST", "/x")
            await client.close()

    run(main())


def test_a_server_behind_a_path_is_asked_below_it() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/k8s/one/version", Reply())
            access = api.access()
            server = f"{access.endpoint.server}/k8s/one"
            client = Client(Access(Endpoint(server), User()), HASTY)
            assert (await client.send("GET", "/version")).status == 200
            await client.close()

    run(main())


def test_a_token_with_a_line_break_is_refused() -> None:
    async def main() -> None:
        client = Client(Access(Endpoint("https://127.0.0.1:1"), User(token="a\nb")), HASTY)
        with pytest.raises(ConfigError, match="Authorization would have a line break"):
            await client.send("GET", "/version")
        await client.close()

    run(main())
