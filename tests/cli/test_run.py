"""`headroom run` before it reaches a cluster: flags, environment, and what is wrong with them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from headroom.cli.serve import DEFAULT_NAMESPACE, ServeSettings
from headroom.kube.access import Access, Endpoint, User
from tests.cli.commands import headroom


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A kubeconfig whose server is a port that nobody listens on."""
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
    return file


def test_a_cluster_that_is_nowhere_ends_it_with_3(
    capsys: pytest.CaptureFixture[str], nowhere: Path
) -> None:
    finished = headroom(capsys, "run", "--kubeconfig", str(nowhere))
    assert finished.code == 3
    assert finished.out == ""
    assert "127.0.0.1" in finished.err
    assert "Traceback" not in finished.err


def test_a_flag_can_come_from_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADROOM_HTTP", "nonsense")
    finished = headroom(capsys, "run")
    assert finished.code == 2
    assert "--http: 'nonsense' is not HOST:PORT" in finished.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "current-context"),
        ("a: [", "YAML"),
        ("current-context: gone\ncontexts: []\n", "gone"),
    ],
)
def test_a_broken_kubeconfig_is_named_with_what_is_wrong(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, words: str
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(content)
    finished = headroom(capsys, "run", "--kubeconfig", str(file))
    assert finished.code == 2
    assert str(file) in finished.err
    assert words in finished.err


def test_an_unknown_dialect_is_refused_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    finished = headroom(capsys, "run", "--dialect", "klingon")
    assert finished.code == 2
    assert "klingon" in finished.err


@pytest.mark.parametrize(
    ("named", "in_pod", "home"),
    [
        ("", False, DEFAULT_NAMESPACE),
        ("", True, "from-the-pod"),
        ("mine", True, "mine"),
    ],
)
def test_the_operators_namespace_is_named_or_the_pods_own_or_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, named: str, in_pod: bool, home: str
) -> None:
    if in_pod:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    elif "KUBERNETES_SERVICE_HOST" in os.environ:
        monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
    access = Access(Endpoint("https://x"), User(token_file="token"), namespace="from-the-pod")
    assert ServeSettings(access, namespace=named).home == home
