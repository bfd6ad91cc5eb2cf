"""`headroom recommend --prometheus`: against a real one, and against what only looks like one."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import pytest

from headroom.cli.analysis.prometheus import POINTS, Query, arrivals
from testbed.binaries import BinariesUnavailable
from testbed.ports import Ports
from testbed.prometheus import Prometheus
from tests.cli.commands import headroom

HOUR = 3600
PODS = 400


@contextmanager
def server(status: int, body: str) -> Iterator[str]:
    """Something that answers every question in the same way."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_address[1]}"
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def matrix(*series: list[tuple[float, str]]) -> str:
    result = [{"metric": {}, "values": values} for values in series]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


@pytest.fixture(scope="module")
def prometheus(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Prometheus]:
    """A Prometheus that has seen pods of two namespaces in the last hours."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    chance, now = Random(2), int(time.time())
    lines = ["# TYPE kube_pod_created gauge"]
    for namespace, pods in (("shop", PODS), ("other", 7)):
        for index in range(pods):
            at = now - 6 * HOUR + chance.randrange(5 * HOUR)
            labels = f'namespace="{namespace}",pod="p{index}"'
            lines.append(f"kube_pod_created{{{labels}}} {at} {at}")
    samples = "\n".join([*lines, "# EOF", ""])
    try:
        found = Prometheus.start(tmp_path_factory.mktemp("prometheus"), samples)
    except BinariesUnavailable as trouble:
        with capture.global_and_fixture_disabled():
            print(f"\nTESTS WITH PROMETHEUS SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))
    with found:
        yield found


@pytest.mark.e2e
def test_every_pod_that_a_real_prometheus_has_seen_is_an_arrival(
    capsys: pytest.CaptureFixture[str], prometheus: Prometheus
) -> None:
    flags = ("--since", "8h", "-n", "shop", "--promise", "0.9", "-o", "json")
    finished = headroom(capsys, "recommend", "--prometheus", prometheus.url, *flags)
    assert finished.code in (0, 1), finished.err  # Whether it is kept, chance decides here.
    found = json.loads(finished.out)
    assert found["trained"]["pods"] + found["judged"]["pods"] == PODS
    assert 'namespace="shop"' in found["source"]


@pytest.mark.e2e
def test_what_a_real_prometheus_does_not_understand_is_told_in_its_words(
    capsys: pytest.CaptureFixture[str], prometheus: Prometheus
) -> None:
    for query, words in (
        ("sum(", "parse error"),
        ("kube_pod_created", "put sum() or count() around it"),
        ("count(no_such_metric)", "no pods arrived"),
    ):
        flags = ("--prometheus", prometheus.url, "--query", query, "--since", "8h")
        finished = headroom(capsys, "recommend", *flags)
        assert finished.code == 2, finished.err
        assert words in finished.err


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (200, "<html>please log in</html>", 3, "the answer is no JSON: '<html>please log in"),
        (200, "[]", 3, "no answer to a range query"),
        (200, '{"status": "success"}', 3, "no answer to a range query"),
        (200, '{"data": {"resultType": "vector", "result": []}}', 3, "no answer to a range query"),
        (200, matrix([(0.0, "1")], [(0.0, "1")]), 2, "answers with 2 series"),
        (200, matrix([(0.0, "many")]), 3, "is no point of a series"),
        (200, matrix([(0.0, "NaN")]), 3, "is not a number of pods"),
        (200, matrix([(0.0, "-3")]), 3, "is not a number of pods"),
        (200, matrix(), 2, "no pods arrived"),
        (401, "who are you?", 3, "kubectl port-forward"),
        (500, "oh no", 3, "HTTP 500"),
        (400, '{"status": "error", "error": "parse error: x"}', 2, "HTTP 400: parse error: x"),
    ],
)
def test_answers_that_make_no_sense_are_told_with_a_remedy(
    capsys: pytest.CaptureFixture[str], status: int, body: str, code: int, words: str
) -> None:
    with server(status, body) as url:
        finished = headroom(capsys, "recommend", "--prometheus", url, "--since", "1h")
    assert finished.code == code, finished.err
    assert words in finished.err


def test_a_prometheus_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    ports = Ports()
    try:
        url = f"http://127.0.0.1:{ports.take()}"
        finished = headroom(capsys, "recommend", "--prometheus", url)
    finally:
        ports.close()
    assert finished.code == 3
    assert f"{url} cannot be reached: " in finished.err
    assert "http://localhost:9090" in finished.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--prometheus", "localhost:9090"], "write it as in http://localhost:9090"),
        (["--prometheus", "file:///etc/passwd"], "write it as in http://localhost:9090"),
        (["--prometheus", "http://"], "write it as in http://localhost:9090"),
        (["--prometheus", "http://x:port"], "--prometheus"),
        (["--prometheus", "http://me:secret@x"], "no credentials in an address"),
        (["--prometheus", "http://x", "--step", "0"], "--step 0: write a time from 1s"),
        (["--prometheus", "http://x", "--step", "2h", "--since", "1h"], "--step 2h"),
        (["--prometheus", "http://x", "--since", "-1h"], "less than nothing"),
        (["--prometheus", "http://x", "--since", "a week"], "is not a duration"),
    ],
)
def test_addresses_and_lengths_that_cannot_be_are_told(
    capsys: pytest.CaptureFixture[str], flags: list[str], words: str
) -> None:
    finished = headroom(capsys, "recommend", *flags)
    assert finished.code == 2, finished.err
    assert words in finished.err


def test_a_long_time_is_asked_for_in_parts_and_fractions_add_up() -> None:
    with server(200, matrix([(60.0, "0.4"), (120.0, "0.4"), (180.0, "0.4")])) as url:
        query = Query(url, "sum(rate(x[1m]))", 0.0, 60.0 * POINTS * 2, 60)
        found = list(arrivals(query))
    assert sum(each.pods for each in found) in (3, 4)  # Three parts of 1.2 each.


def test_credentials_in_an_address_are_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "recommend", "--prometheus", "http://me:hunter2@x")
    assert "hunter2" not in finished.err
