"""The webhook's port as API servers, kubelets and scrapers meet it."""

from __future__ import annotations

import json
import ssl
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from headroom.webhook.reviews import claims_judge
from headroom.webhook.server import Server, WebhookMetrics
from headroom.wire.kind_codecs import NATIVE
from testbed.certs import Authority
from tests.kube.fakeapi import run, server_context
from tests.webhook.test_reviews import INDEXES, review

AUTHORITY = Authority("webhook-test")


class Port:
    """A server that is ready unless `why_not` says otherwise, and somebody who asks it."""

    def __init__(self, folder: Path, *, metrics: bool = False) -> None:
        self.why_not = ""
        self._tls = server_context(AUTHORITY, folder)
        judges = {"/claims": claims_judge(INDEXES.get, NATIVE)}
        self._server = Server(judges, WebhookMetrics(), lambda: self.why_not, metrics=metrics)

    async def __aenter__(self) -> Port:
        host, port = await self._server.start("127.0.0.1", 0, self._tls)
        self._url = f"https://{host}:{port}"
        trusting = ssl.create_default_context(cadata=AUTHORITY.pem)
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._server.stop()

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, str]:
        async with self._session.request(method, self._url + path, data=body) as answer:
            return answer.status, await answer.text()


def test_a_review_is_answered_and_counted(tmp_path: Path) -> None:
    async def main() -> None:
        async with Port(tmp_path, metrics=True) as port:
            for namespace in ("shop", "shop", "stale"):
                asked = json.dumps(review(namespace)).encode()
                status, text = await port.ask("POST", "/claims", asked)
                answer: dict[str, Any] = json.loads(text)["response"]
                assert (status, answer["allowed"]) == (200, True)
                assert ("patch" in answer) == (namespace == "shop")
            _, numbers = await port.ask("GET", "/metrics")
            assert 'headroom_webhook_reviews_total{answer="gated"} 2.0' in numbers
            assert 'headroom_webhook_reviews_total{answer="left"} 1.0' in numbers

    run(main())


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/claims", b"nonsense", 400),
        ("GET", "/claims", b"", 405),
        ("POST", "/asks", b"", 404),
        ("GET", "/metrics", b"", 404),
    ],
    ids=["no-review", "wrong-method", "no-dialect-is-on", "metrics-are-not-open"],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, method: str, path: str, body: bytes, status: int
) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            assert (await port.ask(method, path, body))[0] == status
            assert (await port.ask("GET", "/healthz"))[0] == 200

    run(main())


def test_nobody_is_sent_to_a_replica_that_stops(tmp_path: Path) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            assert await port.ask("GET", "/readyz") == (200, "ready\n")
            port.why_not = "stopping"
            assert await port.ask("GET", "/readyz") == (503, "stopping\n")

    run(main())
