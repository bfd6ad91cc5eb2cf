"""`headroom dashboard` finds its way to the operator's page through kubectl."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from headroom.wire.manifests import Installation, install_objects
from tests.cli.commands import headroom


def a_kubectl(folder: Path, script: str) -> None:
    """A program named kubectl that writes down how it was called."""
    file = folder / "kubectl"
    file.write_text(f'#!/bin/sh\necho "$@" > {folder}/called\n{script}\n')
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_the_address_of_the_forwarded_port_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a_kubectl(
        tmp_path,
        'echo "Forwarding from 127.0.0.1:4711 -> 8081"; echo "lost connection to pod" >&2; exit 1',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    done = headroom(capsys, "dashboard", "-n", "ops", "--context", "prod")
    assert done.out == "http://127.0.0.1:4711/\n"
    assert done.code == 3
    assert "lost connection to pod" in done.err
    called = (tmp_path / "called").read_text().split()
    assert called == [
        "--context=prod",
        *("-n", "ops", "port-forward", "deployment/headroom-operator", ":8081"),
    ]


def test_who_may_not_forward_ports_is_told_which_role_has_the_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a_kubectl(tmp_path, 'echo "pods is forbidden" >&2; exit 1')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    done = headroom(capsys, "dashboard")
    assert (done.code, done.out) == (3, "")
    assert "pods is forbidden" in done.err
    assert "headroom-dashboard" in done.err


def test_without_kubectl_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = headroom(capsys, "dashboard")
    assert done.code == 2
    assert "kubectl is needed" in done.err


def test_rights_around_the_page_are_installed_only_when_asked_for() -> None:
    def names(dashboard: bool) -> set[str]:
        made = install_objects(Installation("headroom:1", dashboard=dashboard))
        return {f"{each['kind']}/{each['metadata']['name']}" for each in made}

    assert names(True) - names(False) == {
        "Role/headroom-dashboard",
        "ClusterRole/headroom-token-reviews",
        "ClusterRoleBinding/headroom-token-reviews",
    }
