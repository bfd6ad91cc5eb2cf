"""What a tenant writes into objects reaches an administrator's terminal, and harms nobody there."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.wire.kinds import EVENTS
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import Stage, stage_of
from tests.e2e.installing import until
from tests.stories.things import Json, hold

pytestmark = pytest.mark.e2e

COMMAND = Path(sys.executable).with_name("headroom")
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f\u202ednuob\u2066\u200b[bold red]\r\nheadroom: all is well"
)
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
SECRET = "s3cr3t-of-the-proxy"


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


def asked(
    kubeconfig: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), *arguments, "--kubeconfig", str(kubeconfig)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **environment},
    )


def hostile_event(about: Json, number: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"odd-{number}", "namespace": about["metadata"]["namespace"]},
        "involvedObject": {"kind": "Hold", **about["metadata"]},
        "reason": f"Odd{HOSTILE}",
        "message": f"listen{HOSTILE}",
        "type": "Normal",
    }


def test_escape_sequences_of_a_tenant_do_not_reach_an_administrators_terminal(
    stage: Stage,
) -> None:
    mallory = stage.tenant("mallory-writes")
    odd = hold("odd", cpu="10m")
    odd["metadata"]["annotations"] = {"example.com/note": f"read me{HOSTILE}"}
    odd["spec"]["template"]["metadata"] = {"annotations": {"example.com/note": HOSTILE}}
    with stage.unhurt():
        (made,) = mallory.create(odd)
        about = {name: made["metadata"][name] for name in ("name", "namespace", "uid")}
        event = hostile_event({"metadata": about}, 1)
        mallory.api.create(EVENTS.path(mallory.name), event)
    until("it is held", lambda: mallory.condition("Hold", "odd").get("status") == "True")
    admin = stage.plane.kubeconfig
    where = ("-n", mallory.name)
    for verb in (
        ("get", "holds", "-A"),
        ("describe", "hold/odd", *where),
        ("explain", "hold/odd", *where),
        ("get", "holds", *where, "-o", "json"),
        ("get", "holds", *where, "-o", "yaml"),
        ("dump", "-o", "yaml"),
        ("top",),
    ):
        done = asked(admin, *verb)
        assert done.returncode == 0, done.stderr
        assert not FORBIDDEN.search(done.stdout + done.stderr), verb
        assert "\nheadroom: all is well" not in done.stdout + done.stderr, verb
    assert "read me" in asked(admin, "describe", "hold/odd", *where).stdout


def test_a_proxys_password_and_a_token_stay_secret_on_the_way_to_a_real_server(
    stage: Stage, tmp_path: Path
) -> None:
    admin = stage.plane.kubeconfig
    through = {"HTTPS_PROXY": f"http://ann:{SECRET}@127.0.0.1:9", "HEADROOM_DEBUG": "1"}
    plain = tmp_path / "plain"
    token = base64.b64encode(b"not-a-token").decode()
    plain.write_text(
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\n"
        f"users: [{{name: u, user: {{token: {token}}}}}]\n"
        "contexts: [{name: k, context: {cluster: c, user: u}}]\ncurrent-context: k\n"
    )
    elsewhere = tmp_path / "elsewhere"
    text = admin.read_text(encoding="utf-8")
    elsewhere.write_text(re.sub(r"https://[^\s\"']+", "https://api.invalid:6443", text))
    for kubeconfig, code in ((elsewhere, 3), (plain, 2)):
        done = asked(kubeconfig, "get", "holds", **through)
        assert done.returncode == code, done.stderr
        assert SECRET not in done.stdout + done.stderr
        assert token not in done.stdout + done.stderr
