"""Credentials are sent where they belong, and shown nowhere."""

from __future__ import annotations

import asyncio
import base64
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from headroom.cli.main import run_command
from headroom.kube.access import Access, Endpoint, ExecPlugin, KeyPair, Pem, User
from headroom.kube.client import Client, Tuning
from headroom.kube.credentials import Grant
from headroom.kube.errors import ConfigError, KubeError, PlainHttp
from headroom.kube.execplugin import Issued
from headroom.kube.kubeconfig import load_kubeconfig
from headroom.kube.urls import Login, shown, split_login
from headroom.webhook.certificates import Pair
from tests.kube.fakeapi import FakeApi, Reply, run

SECRET = "s3cr3t"
HASTY = Tuning(connect_seconds=1.0, request_seconds=2.0, attempts=1)
V1 = "client.authentication.k8s.io/v1"


def kubeconfig(folder: Path, cluster: str, user: str = "{}") -> Path:
    path = folder / "config"
    path.write_text(
        f"clusters: [{{name: c, cluster: {cluster}}}]\n"
        f"users: [{{name: u, user: {user}}}]\n"
        "contexts: [{name: k, context: {cluster: c, user: u}}]\ncurrent-context: k\n"
    )
    return path


def told(error: BaseException) -> str:
    """All that a message, a log line or a traceback would show of an error."""
    return "".join((str(error), repr(error), *traceback.format_exception(error)))


def the_error(body: Callable[[], object]) -> KubeError:
    with pytest.raises(KubeError) as caught:
        body()
    return caught.value


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


@pytest.mark.parametrize(
    "thing",
    [
        User(token=SECRET, password=SECRET, username="ann"),
        Grant(f"Bearer {SECRET}"),
        Issued(token=SECRET),
        KeyPair(Pem("public"), Pem(SECRET)),
        ExecPlugin(V1, "login", args=(SECRET,), env=(("TOKEN", SECRET),)),
        Login("ann", SECRET),
        Endpoint("https://a", proxy="http://p", proxy_login=Login("ann", SECRET)),
        Access(Endpoint("https://a"), User(token=SECRET)),
        Pair("public", SECRET),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_no_value_that_holds_a_secret_shows_it(thing: object) -> None:
    assert SECRET not in repr(thing)
    assert SECRET not in str(thing)


@pytest.mark.parametrize(
    "url",
    [
        f"http://ann:{SECRET}@p:x",
        f"http://ann:{SECRET}/x@p:1",
        f"http://ann:a@{SECRET}@p:y",
        f"socks5://ann:{SECRET}@p:1",
        f"ann:{SECRET}@p:x",
        f"http://ann:{SECRET}@[p",
        f"http://{SECRET}@",
        f"http://ann:{SECRET}@p:99999999",
    ],
)
@pytest.mark.parametrize("field", ["proxy-url", "server", "HTTPS_PROXY"])
def test_an_address_that_is_wrong_is_told_without_its_password(
    tmp_path: Path, field: str, url: str
) -> None:
    cluster = f"{{server: 'https://a', proxy-url: '{url}'}}"
    environ = {}
    if field == "server":
        cluster = f"{{server: '{url}'}}"
    if field == "HTTPS_PROXY":
        cluster, environ = "{server: 'https://a'}", {field: url}
    path = kubeconfig(tmp_path, cluster)
    error = the_error(lambda: load_kubeconfig([path], "", environ))
    assert isinstance(error, ConfigError)
    assert SECRET not in told(error)
    assert "***@" in error.message


def test_a_proxys_password_is_sent_to_the_proxy_and_shown_nowhere(tmp_path: Path) -> None:
    async def main() -> None:
        async with FakeApi() as proxy:
            proxy.script("/x", Reply(200))
            url = f"http://ann:{SECRET}%40@127.0.0.1:{proxy.port}"
            path = kubeconfig(tmp_path, f"{{server: 'http://api.invalid', proxy-url: '{url}'}}")
            client = Client(load_kubeconfig([path]), HASTY)
            assert (await client.send("GET", "/x")).status == 200
            await client.close()
        sent = proxy.asked[0].headers["Proxy-Authorization"].removeprefix("Basic ")
        assert base64.b64decode(sent).decode() == f"ann:{SECRET}@"

    run(main())


@pytest.mark.parametrize("server", ["https://api.invalid", "http://api.invalid"])
@pytest.mark.parametrize("answers", [True, False], ids=["refuses", "is not there"])
def test_a_proxy_in_trouble_is_named_without_its_password(
    tmp_path: Path, server: str, answers: bool
) -> None:
    async def main() -> None:
        async with FakeApi() as proxy:
            port = proxy.port if answers else free_port()
            url = f"http://ann:{SECRET}@127.0.0.1:{port}"
            path = kubeconfig(tmp_path, f"{{server: '{server}', proxy-url: '{url}'}}")
            client = Client(load_kubeconfig([path]), HASTY)
            with pytest.raises(KubeError) as caught:
                await client.get("/x", "read x")
            await client.close()
            assert SECRET not in told(caught.value)

    run(main())


@pytest.mark.parametrize(
    "user",
    [
        f"{{token: {SECRET}}}",
        "{tokenFile: token}",
        f"{{username: ann, password: {SECRET}}}",
        f"{{exec: {{apiVersion: {V1}, command: login}}}}",
    ],
    ids=["token", "file", "password", "plugin"],
)
@pytest.mark.parametrize("host", ["api.example.com", "127.0.0.1", "localhost"])
def test_credentials_are_not_sent_over_plain_http(tmp_path: Path, user: str, host: str) -> None:
    path = kubeconfig(tmp_path, f"{{server: 'http://{host}:8080'}}", user)
    error = the_error(lambda: load_kubeconfig([path], "", {}))
    assert isinstance(error, PlainHttp)
    assert SECRET not in told(error)
    assert "HEADROOM_ALLOW_PLAIN_HTTP=1" in error.hint
    leave = {"HEADROOM_ALLOW_PLAIN_HTTP": "1"}
    assert load_kubeconfig([path], "", leave).endpoint.plain_http


def test_nothing_that_is_sent_over_plain_http_carries_a_token() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Reply(200))
            endpoint = Endpoint(f"http://127.0.0.1:{api.port}")
            client = Client(Access(endpoint, User(token=SECRET)), HASTY)
            with pytest.raises(PlainHttp):
                await client.get("/x", "read x")
            await client.close()
            assert api.asked == []

    run(main())


def test_without_credentials_plain_http_needs_no_leave(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "{server: 'http://127.0.0.1:8001'}")
    assert not load_kubeconfig([path], "", {}).endpoint.plain_http


@pytest.mark.parametrize(
    "text",
    [
        f"users: [{{name: u, user: {{token: *{SECRET}}}}}]",
        f"users: [{{name: u, user: {{token: !{SECRET} x}}}}]",
        f"users: [{{name: u, user: {{token: '{SECRET}}}}}]",
        f"users:\n- name: u\n  user: {{token: @{SECRET}}}",
        f"users: [{{name: u, user: {{token: [{SECRET}]}}}}]",
        f"users: {SECRET}",
        f"users: [{{name: u, user: {SECRET}}}]",
        f"token: {SECRET}\n\ttoken: {SECRET}",
        f"{SECRET}: {SECRET}: {SECRET}",
        "users: [{name: u, user: {token: 2027-13-77}}]",
        f"users: [{{name: u, user: {{token: {'9' * 5000}}}}}]",
        f"users: [{{name: u, user: {{client-key-data: '{SECRET}', client-certificate-data: x}}}}]\n"
        "contexts: [{name: k, context: {cluster: c, user: u}}]\ncurrent-context: k\n"
        "clusters: [{name: c, cluster: {server: 'https://a'}}]",
    ],
)
def test_a_kubeconfig_that_cannot_be_read_is_told_without_its_content(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    error = the_error(lambda: load_kubeconfig([path], "", {}))
    assert str(path) in error.message
    assert SECRET not in told(error)
    assert "99999" not in told(error)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(
            f"{n}: &{n} [{', '.join(f'*{p}' for _ in range(9))}]"
            for p, n in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        "a: &a [*a]",
        "[" * 5000,
    ],
    ids=["bomb", "itself", "deep"],
)
def test_a_kubeconfig_that_never_ends_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    error = the_error(lambda: load_kubeconfig([path], "", {}))
    assert "too large or nested too deeply" in error.message


@pytest.mark.parametrize(
    "script",
    [
        f"print('{SECRET}')",
        f'print(\'{{"apiVersion": "{V1}", "status": {{"token": ["{SECRET}"]}}}}\')',
        f"print('{SECRET}'); raise SystemExit(1)",
        f'print(\'{{"apiVersion": "{V1}", "token": "{SECRET}"}}\')',
    ],
)
def test_what_a_plugin_hands_out_is_never_told(script: str) -> None:
    plugin = ExecPlugin(V1, sys.executable, args=("-c", script))
    client = Client(Access(Endpoint("https://127.0.0.1:1"), User(plugin=plugin)), HASTY)
    error = the_error(lambda: asyncio.run(client.get("/x", "read x")))
    assert SECRET not in told(error)


def test_addresses_are_shown_without_what_stands_before_the_host() -> None:
    assert shown("http://ann:x@p:1") == "http://***@p:1"
    assert shown("http://p:1/x") == "http://p:1/x"
    assert shown("ann:x@p") == "***@p"
    assert split_login("http://ann:a%40b@[::1]:1/", "here") == (
        "http://[::1]:1",
        Login("ann", "a@b"),
    )
    assert Login("ann", "a@b").put_into("http://p:1") == "http://ann:a%40b@p:1"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_command_line_shows_no_secret_in_its_traceback_either(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    scheme: str,
) -> None:
    proxy = f"http://ann:{SECRET}@127.0.0.1:{free_port()}"
    cluster = f"{{server: '{scheme}://api.invalid', proxy-url: '{proxy}'}}"
    path = kubeconfig(tmp_path, cluster, f"{{token: {SECRET}}}")
    monkeypatch.setenv("HEADROOM_DEBUG", "1")
    code = run_command(["get", "holds", "--kubeconfig", str(path)])
    out, err = capsys.readouterr()
    assert code in (2, 3)
    assert "Traceback" in err
    assert SECRET not in out + err
