"""Looking at a live cluster with few rights, and following it: against a small API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from headroom.cli.formats.forms import read_form
from headroom.cli.live.changes import PrintedChanges
from headroom.cli.views.tables import Table, TableRow
from headroom.core.objects import Key
from tests.cli.commands import headroom

OURS = "/apis/headroom.dev/v1alpha1"
HOLD = {
    "metadata": {"name": "mine", "namespace": "shop", "uid": "u"},
    "spec": {
        "template": {
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
        },
        "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
    },
    "status": {"phase": "Pending"},
}
POD = {
    "metadata": {"name": "web-0", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
    "status": {"phase": "Pending"},
}


class OneNamespace(BaseHTTPRequestHandler):
    """An API server that lets people list in the namespace shop, and nothing else."""

    lists: ClassVar[dict[str, list[dict[str, Any]]]] = {
        f"{OURS}/namespaces/shop/holds": [HOLD],
        f"{OURS}/namespaces/shop/headrooms": [],
        "/api/v1/namespaces/shop/pods": [POD],
    }
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.asked.append(parts.path)
        if parts.path not in self.lists:
            self._answer(403, {"kind": "Status", "code": 403, "message": "you may not"})
        elif "watch" in parse_qs(parts.query):
            self._answer(403, {"kind": "Status", "code": 403, "message": "you may not watch"})
        else:
            body = {"metadata": {"resourceVersion": "7"}, "items": self.lists[parts.path]}
            self._answer(200, body)

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
    OneNamespace.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), OneNamespace) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        file = tmp_path / "kubeconfig"
        file.write_text(
            f"clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{server.server_port}'}}}}]\n"
            "contexts: [{name: k, context: {cluster: c, namespace: shop}}]\n"
            "current-context: k\n"
        )
        yield str(file)
        server.shutdown()
        thread.join()


def test_a_list_of_one_namespace_asks_for_nothing_more(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    done = headroom(capsys, "get", "holds", "--kubeconfig", kubeconfig)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].split()[:2] == ["mine", "Pending"]
    dialects, *asked = OneNamespace.asked  # The operator's Deployment says which dialects are on.
    assert dialects == "/apis/apps/v1/deployments"
    assert asked == [f"{OURS}/namespaces/shop/holds"]


def test_what_could_not_be_seen_is_said_once_and_nothing_is_made_up(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    hold = headroom(capsys, "explain", "hold/mine", "--kubeconfig", kubeconfig)
    assert hold.code == 0
    assert hold.err.count("note: you may not list nodes") == 1
    assert "outside of namespace shop" in hold.err
    assert "your permissions do not show what is free on nodes" in hold.out
    pod = headroom(capsys, "explain", "pod/web-0", "--kubeconfig", kubeconfig)
    assert "no node has the room" not in pod.out
    assert "it is for this pod" in pod.out


def test_all_namespaces_need_all_rights_and_one_is_suggested(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    done = headroom(capsys, "get", "holds", "-A", "--kubeconfig", kubeconfig)
    assert done.code == 3
    assert "-n NAMESPACE" in done.err


@pytest.mark.parametrize("line", ["get nodes", "get holds -n other", "explain hold/mine -n other"])
def test_without_the_right_to_what_is_asked_for_there_is_no_answer(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, line: str
) -> None:
    done = headroom(capsys, *line.split(), "--kubeconfig", kubeconfig)
    assert (done.code, done.out) == (3, "")
    assert "you may not" in done.err


def test_who_may_list_but_not_watch_is_told(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    done = headroom(capsys, "get", "holds", "-w", "--kubeconfig", kubeconfig)
    assert done.code == 3
    assert "mine" in done.out
    assert "cannot watch holds" in done.err


def table(*rows: tuple[str, str, str]) -> Table:
    return Table(
        ("NAME", "PHASE", "AGE"),
        [TableRow({"n": name}, [name, phase, age], key=Key("", name)) for name, phase, age in rows],
        namespaced=False,
    )


def test_a_watch_prints_rows_that_differ_and_those_that_are_gone() -> None:
    changes = PrintedChanges(read_form("table"))
    first = changes.text(table(("a", "Pending", "1s"), ("b", "Available", "1s")))
    assert first.splitlines()[0].split() == ["NAME", "PHASE", "AGE"]
    older = table(("a", "Pending", "2s"), ("b", "Available", "2s"))
    assert changes.text(older) == ""  # Time alone is no news.
    assert changes.text(table(("a", "Available", "3s"), ("b", "Available", "3s"))).split() == [
        *("a", "Available", "3s")
    ]
    assert changes.text(table(("a", "Available", "4s"))).split()[0] == "b"


def test_a_watch_prints_the_slots_of_an_order_and_a_headroom_of_one_name() -> None:
    changes = PrintedChanges(read_form("table"))
    both = table(("a", "Held", "1s"), ("a", "Waiting", "1s"))
    assert len(changes.text(both).splitlines()) == 3
    assert changes.text(table(("a", "Held", "2s"), ("a", "Held", "2s"))).split()[:2] == [
        "a",
        "Held",
    ]


def test_a_watch_says_its_headings_again_when_there_are_others() -> None:
    changes = PrintedChanges(read_form("table"))
    changes.text(table(("a", "Pending", "1s")))
    wider = Table(
        ("NAME", "PHASE", "GPU", "AGE"),
        [TableRow({}, ["a", "Available", "2", "1s"], key=Key("", "a"))],
        namespaced=False,
    )
    assert changes.text(wider).splitlines()[0].split() == ["NAME", "PHASE", "GPU", "AGE"]
