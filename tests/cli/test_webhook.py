"""`headroom webhook` before it reaches a cluster: what is wrong with its flags."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.commands import headroom


def test_an_address_that_is_none_is_misuse(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADROOM_LISTEN", "nonsense")
    finished = headroom(capsys, "webhook")
    assert finished.code == 2
    assert "--listen: 'nonsense' is not HOST:PORT" in finished.err


def test_an_unknown_dialect_is_refused_before_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "webhook", "--dialect", "klingon")
    assert finished.code == 2
    assert "klingon" in finished.err


def test_a_cluster_that_is_nowhere_ends_the_webhook_with_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    file = tmp_path / "kubeconfig"
    file.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
        "users: [{name: u, user: {as: ann}}]\n"
        f"clusters: [{{name: k, cluster: {{server: 'http://127.0.0.1:{port}'}}}}]\n"
    )
    finished = headroom(capsys, "webhook", "--kubeconfig", str(file))
    assert (finished.code, finished.out) == (3, "")
    assert "Traceback" not in finished.err
