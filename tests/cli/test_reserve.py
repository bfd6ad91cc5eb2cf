"""`reserve` and `release`: a Hold from flags, checked before it is sent, and its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from headroom.wire.yamls import load
from tests.cli.commands import Finished, headroom

HOLDS = "/apis/headroom.dev/v1alpha1/namespaces/shop/holds"
ASK = ("reserve", "nightly", "-n", "shop", "--cpu", "2", "--memory", "4Gi", "--owner", "app=train")
CONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "SERVER"}}]
users: [{name: u, user: {as: ann}}]
contexts: [{name: k, context: {cluster: c, user: u}}]
current-context: k
"""


class Shelf(BaseHTTPRequestHandler):
    """An API server that knows holds only; each is Available at the second look."""

    holds: ClassVar[dict[str, dict[str, Any]]] = {}
    looks: ClassVar[int] = 0

    def do_POST(self) -> None:
        item = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = f"{self.path}/{item['metadata']['name']}"
        taken = path in self.holds
        self.holds.setdefault(path, item)
        self._answer(409 if taken else 201, item)

    def do_GET(self) -> None:
        item = self.holds[self.path]
        type(self).looks += 1
        if self.looks > 1:
            item["status"] = {"phase": "Available", "nodeName": "a"}
        self._answer(200, item)

    def do_DELETE(self) -> None:
        gone = self.holds.pop(self.path, None)
        self._answer(404 if gone is None else 200, gone or {"reason": "NotFound"})

    def _answer(self, code: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[str]:
    Shelf.holds.clear()
    Shelf.looks = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        file = tmp_path / "kubeconfig"
        file.write_text(CONFIG.replace("SERVER", f"http://127.0.0.1:{server.server_port}"))
        yield str(file)
        server.shutdown()
        thread.join()


def test_the_hold_is_printed_in_the_form_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    dry = headroom(capsys, *ASK, "--dry-run=client", "-o", "json")
    assert json.loads(dry.out)["kind"] == "Hold"
    name = headroom(capsys, *ASK, "-o", "name", "--kubeconfig", kubeconfig)
    assert (name.code, name.out) == (0, "hold.headroom.dev/nightly\n")


def test_a_dry_run_prints_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--pod", "train-0", "--request", "example.com/gpu=1", "--ttl", "1h", "--node", "a")
    done = headroom(capsys, *ASK, *more, "--reusable", "--dry-run")
    assert done.code == 0
    (item,) = load(done.out, "stdout")
    assert item.data["metadata"] == {"name": "nightly", "namespace": "shop"}
    assert item.data["spec"] == {
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "resources": {
                            "requests": {"cpu": "2", "memory": "4Gi", "example.com/gpu": "1"}
                        },
                    }
                ],
                "nodeName": "a",
            }
        },
        "owners": [
            {"labelSelector": {"matchLabels": {"app": "train"}}},
            {"object": {"name": "train-0"}},
        ],
        "ttl": "1h",
        "allocateOnce": False,
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("reserve", "x", "--owner", "app=web"), "nothing to hold"),
        (("reserve", "x", "--cpu", "2"), "no pod could claim it"),
        (("reserve", "x", "--cpu", "two", "--owner", "app=web"), "two"),
        (("reserve", "x", "--cpu", "2", "--owner", "web"), "--owner web: write KEY=VALUE"),
        ((*ASK, "--ttl", "soon"), "spec.ttl"),
        ((*ASK, "--wait", "soon"), "--wait: 'soon' is not a duration"),
    ],
)
def test_what_cannot_be_held_is_refused_before_anything_is_sent(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    done = headroom(capsys, *arguments, "--kubeconfig", "nowhere")
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_a_hold_is_made_once_and_released_once(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    def ask(*arguments: str) -> Finished:
        return headroom(capsys, *arguments, "--kubeconfig", kubeconfig)

    made = ask(*ASK)
    assert (made.code, made.out) == (0, "hold nightly made\n")
    assert Shelf.holds[f"{HOLDS}/nightly"]["kind"] == "Hold"
    again = ask(*ASK)
    assert again.code == 1
    assert "hold nightly already exists" in again.err
    gone = ask("release", "nightly", "-n", "shop")
    assert (gone.code, gone.out) == (0, "hold nightly released\n")
    assert ask("release", "nightly", "-n", "shop").code == 1


def test_waiting_ends_when_the_hold_is_held(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    done = headroom(capsys, *ASK, "--wait", "20s", "--kubeconfig", kubeconfig)
    assert (done.code, done.out) == (0, "hold nightly is held on a\n")


def test_waiting_in_vain_is_a_no(capsys: pytest.CaptureFixture[str], kubeconfig: str) -> None:
    Shelf.looks = -1000
    done = headroom(capsys, *ASK, "--wait", "1ms", "--kubeconfig", kubeconfig)
    assert done.code == 1
    assert "hold nightly is not held" in done.err
