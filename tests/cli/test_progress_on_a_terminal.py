"""Every verb that may take long says on a terminal what it waits for, and in a pipe nothing."""

from __future__ import annotations

import os
import pty
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.cli.formats.progress import CLEAR

pytestmark = pytest.mark.e2e  # No cluster, but each takes some seconds.
COMMAND = str(Path(sys.executable).with_name("headroom"))
PATIENCE_S = 90.0
WISH = """apiVersion: headroom.dev/v1alpha1
kind: Hold
metadata: {name: kept}
spec:
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: 100m}}}]}}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
"""
YEARS = """apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: years}
spec: {until: 87600h, pools: [{name: g, count: 2}]}
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: busy}
spec:
  slot: {template: {resources: {requests: {cpu: 100m}}}}
  size: {replicas: 2}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
  schedule: [{start: "*/2 * * * *", duration: 1m, timeZone: UTC}]
"""
ASKING = "asking http://127.0.0.1:"
VERBS = {
    "get holds": ASKING,
    "get holds -w": ASKING,
    "top": ASKING,
    "dump": ASKING,
    "explain hold/kept": ASKING,
    "plan wish.yaml": ASKING,
    "install": ASKING,
    "uninstall": "deleting ",
    "reserve kept --cpu 1 --owner app=web --wait 1m": ASKING,
    "run": ASKING,
    "simulate years.yaml": " simulated, ",
    "compare years.yaml --vary spec.size.replicas=1,2": " simulated, ",
    "recommend": ASKING,
}


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Path]:
    """The kubeconfig of a server that takes every connection and never answers."""
    (tmp_path / "wish.yaml").write_text(WISH)
    (tmp_path / "years.yaml").write_text(YEARS)
    file = tmp_path / "kubeconfig"
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        port = server.getsockname()[1]
        file.write_text(
            "{apiVersion: v1, kind: Config, current-context: c, "
            f"clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{port}'}}}}], "
            "contexts: [{name: c, context: {cluster: c}}]}"
        )
        yield file


def begun(verb: str, kubeconfig: Path, stderr: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, *verb.split()],
        cwd=kubeconfig.parent,
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    )


def read_until(wanted: str, end: int, seconds: float) -> str:
    """What comes until it holds these words, or so long."""
    seen, give_up = b"", time.monotonic() + seconds
    while wanted not in seen.decode(errors="replace") and time.monotonic() < give_up:
        if select.select([end], [], [], 0.2)[0]:
            try:
                seen += os.read(end, 4096)
            except OSError:  # Linux says so when the other side has closed.
                break
    return seen.decode(errors="replace")


@pytest.mark.parametrize("verb", VERBS)
def test_on_a_terminal_a_line_tells_what_is_waited_for(silent: Path, verb: str) -> None:
    ours, theirs = pty.openpty()
    process = begun(verb, silent, theirs)
    os.close(theirs)
    try:
        seen = read_until(VERBS[verb], ours, PATIENCE_S)
        assert VERBS[verb] in seen
        assert CLEAR in seen
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_in_a_pipe_there_is_no_line(silent: Path) -> None:
    ends = {verb: os.pipe() for verb in VERBS}
    processes = [begun(verb, silent, write) for verb, (_, write) in ends.items()]
    for _, write in ends.values():
        os.close(write)
    begin = time.monotonic()
    try:
        for verb, (read, _) in ends.items():
            left = max(0.1, begin + 12 - time.monotonic())
            assert CLEAR not in read_until(CLEAR, read, left), verb
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for read, _ in ends.values():
            os.close(read)
