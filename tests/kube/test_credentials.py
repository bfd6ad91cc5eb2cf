"""Credentials that change under a running operator: files rotated, plugins run again."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from asyncio.subprocess import PIPE
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headroom.kube import execplugin
from headroom.kube.access import Access, Endpoint, ExecPlugin, KeyPair, Pem, User
from headroom.kube.credentials import PAUSE_SECONDS, TOKEN_FILE_SECONDS, Credentials
from headroom.kube.errors import ConfigError

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


class Clock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def credentials(user: User, clock: Clock | None = None) -> Credentials:
    endpoint = Endpoint("https://api:6443", ca=Pem("authority"), tls_server_name="api")
    return Credentials(Access(endpoint, user, origin="a test"), clock or Clock())


def issue(**status: Any) -> str:
    return json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": status})


def plugin(script: str, **more: Any) -> ExecPlugin:
    """A plugin that is a few lines of Python."""
    return ExecPlugin(
        **{"api_version": V1, "command": sys.executable, "args": ("-c", script)} | more
    )


def printing(text: str) -> str:
    return f"print({text!r})"


def test_a_token_stays_good() -> None:
    held = credentials(User(token="t"))
    assert held.due
    assert asyncio.run(held.renew()).authorization == "Bearer t"
    assert not held.due


def test_a_name_and_a_password_are_sent_the_old_way() -> None:
    grant = asyncio.run(credentials(User(username="ann", password="p")).renew())
    assert base64.b64decode(grant.authorization.removeprefix("Basic ")) == b"ann:p"


def test_a_token_file_is_read_again_after_a_while(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    clock = Clock()
    held = credentials(User(token_file=str(file), token="ignored"), clock)
    assert asyncio.run(held.renew()).authorization == "Bearer one"
    file.write_text("two\n")
    assert not held.due
    clock.now += TOKEN_FILE_SECONDS
    assert held.due
    assert asyncio.run(held.renew()).authorization == "Bearer two"


@pytest.mark.parametrize("content", [None, " \n"])
def test_a_token_file_without_a_token_is_told(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=f"token file {file}"):
        asyncio.run(credentials(User(token_file=str(file))).renew())


def test_a_plugin_is_run_again_before_its_token_expires() -> None:
    clock = Clock()
    expires = datetime.fromtimestamp(clock.now + 600, UTC).isoformat()
    user = User(plugin=plugin(printing(issue(token="t", expirationTimestamp=expires))))
    held = credentials(user, clock)
    assert asyncio.run(held.renew()).authorization == "Bearer t"
    clock.now += 500
    assert not held.due
    clock.now += 99
    assert held.due


def test_a_plugin_that_hands_out_dead_tokens_is_not_run_for_every_request() -> None:
    clock = Clock()
    expired = datetime.fromtimestamp(clock.now - 60, UTC).isoformat()
    held = credentials(
        User(plugin=plugin(printing(issue(token="t", expirationTimestamp=expired)))), clock
    )
    asyncio.run(held.renew())
    assert not held.due
    clock.now += PAUSE_SECONDS
    assert held.due


def test_a_plugin_may_hand_out_a_certificate() -> None:
    status = issue(clientCertificateData="cert", clientKeyData="key")
    grant = asyncio.run(credentials(User(plugin=plugin(printing(status)))).renew())
    assert grant.key_pair == KeyPair(Pem("cert"), Pem("key"))
    assert grant.authorization == ""


def test_a_plugin_gets_its_environment_and_the_cluster() -> None:
    script = (
        "import json, os\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "told = [os.environ['REGION'], info['spec']['interactive'], info['spec']['cluster']]\n"
        "status = {'token': json.dumps(told)}\n"
        "print(json.dumps({'apiVersion': info['apiVersion'], 'status': status}))\n"
    )
    user = User(
        plugin=plugin(
            script,
            api_version=V1BETA1,
            env=(("REGION", "north"),),
            provide_cluster_info=True,
            interactive_mode="Never",
        )
    )
    grant = asyncio.run(credentials(user).renew())
    region, interactive, cluster = json.loads(grant.authorization.removeprefix("Bearer "))
    assert (region, interactive) == ("north", False)
    assert cluster == {
        "server": "https://api:6443",
        "tls-server-name": "api",
        "certificate-authority-data": base64.b64encode(b"authority").decode(),
    }


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (plugin("", command="/no/such/login"), "cannot be run: No such file"),
        (plugin("import sys; sys.exit('please log in')"), "exit code 1: please log in"),
        (plugin("print('hello')"), "not an ExecCredential"),
        (plugin("import itertools; [print('x' * 999) for _ in itertools.count()]"), "1024 KiB"),
        (plugin("import sys; sys.stderr.write('x\\n' * 10**6); sys.exit('the end')"), "the end"),
        (plugin(printing(issue())), "neither a token nor a certificate"),
        (plugin(printing(issue(clientCertificateData="a"))), "a certificate without its key"),
        (plugin(printing(issue(token="t")), api_version=V1BETA1), "its version is"),
        (plugin("", interactive_mode="Always"), "there is no terminal"),
    ],
)
def test_a_plugin_that_fails_is_told_in_one_line(broken: ExecPlugin, said: str) -> None:
    with pytest.raises(ConfigError, match=r"credential plugin .* \(a test\)") as caught:
        asyncio.run(credentials(User(plugin=broken)).renew())
    assert said in caught.value.message
    assert "\n" not in str(caught.value)


def test_a_plugin_that_is_killed_while_its_output_is_full_is_not_waited_for() -> None:
    """Nobody reads the rest, so its pipe does not end by itself."""

    async def killed() -> None:
        script = "import sys; [sys.stdout.write('x' * 9999) for _ in range(10**9)]"
        running = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, stdout=PIPE, stderr=PIPE
        )
        await asyncio.sleep(0.5)  # until its output is full
        async with asyncio.timeout(60):
            await execplugin._end(running)
        assert running.returncode is not None

    asyncio.run(killed())


def test_a_plugin_whose_child_keeps_its_output_open_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execplugin, "PLUGIN_SECONDS", 0.5)
    child = "import time; time.sleep(20)"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    began = time.monotonic()
    with pytest.raises(ConfigError, match="no answer within"):
        asyncio.run(credentials(User(plugin=plugin(script))).renew())
    assert time.monotonic() - began < 15


def test_a_missing_plugin_is_told_with_how_to_get_it() -> None:
    missing = plugin("", command="/no/such/login", install_hint="pip install login")
    with pytest.raises(ConfigError) as caught:
        asyncio.run(credentials(User(plugin=missing)).renew())
    assert caught.value.hint == "pip install login"


def test_an_expired_token_is_recognised() -> None:
    clock = Clock()
    claims = json.dumps({"exp": int(clock.now) - 10}).encode()
    token = f"head.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.signature"
    held = credentials(User(token=token), clock)
    asyncio.run(held.renew())
    assert held.diagnosis() == "the token expired at 2027-01-15T07:59:50Z; log in again"


def test_a_context_without_credentials_is_recognised() -> None:
    held = credentials(User())
    asyncio.run(held.renew())
    assert "no credentials" in held.diagnosis()
