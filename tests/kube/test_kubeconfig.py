"""Which cluster is meant, and what a person reads when a kubeconfig is wrong."""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path

import pytest

from headroom.kube.access import Access, KeyPair, Pem
from headroom.kube.errors import ConfigError
from headroom.kube.kubeconfig import find_access, in_cluster_access, load_kubeconfig

PEM = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
PEM64 = base64.b64encode(PEM.encode()).decode()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def config(cluster: str = "", user: str = "{token: t}", name: str = "c") -> str:
    server = cluster or "{server: 'https://api:6443'}"
    return f"""
clusters: [{{name: {name}, cluster: {server}}}]
users: [{{name: {name}, user: {user}}}]
contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}, namespace: shop}}}}]
current-context: {name}
"""


def load(tmp_path: Path, text: str, context: str = "") -> Access:
    return load_kubeconfig([write(tmp_path / "config", text)], context, {})


def complaint(tmp_path: Path, text: str, context: str = "") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, context)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "config") in caught.value.message
    return caught.value


def test_the_current_context_is_resolved(tmp_path: Path) -> None:
    access = load(tmp_path, config())
    assert access.endpoint.server == "https://api:6443"
    assert access.user.token == "t"
    assert access.namespace == "shop"
    assert access.origin == f"context c of {tmp_path / 'config'}"


def test_paths_are_relative_to_the_file_they_stand_in(tmp_path: Path) -> None:
    user = "{client-certificate: pki/a.crt, client-key: /abs/a.key}"
    access = load(tmp_path, config("{server: 'https://a', certificate-authority: ca.crt}", user))
    assert access.endpoint.ca == Pem(path=str(tmp_path / "ca.crt"))
    pair = KeyPair(Pem(path=str(tmp_path / "pki/a.crt")), Pem(path="/abs/a.key"))
    assert access.user.key_pair == pair


def test_inline_data_goes_before_a_path(tmp_path: Path) -> None:
    cluster = (
        f"{{server: 'https://a', certificate-authority: x, certificate-authority-data: {PEM64}}}"
    )
    assert load(tmp_path, config(cluster)).endpoint.ca == Pem(text=PEM)


def test_in_a_list_of_files_the_first_to_say_something_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "1", "current-context: b\nusers: null\n")
    second = write(tmp_path / "2", config(name="b"))
    third = write(tmp_path / "3", config("{server: 'https://other'}", name="b"))
    paths = [str(first), str(tmp_path / "missing"), str(second), str(third)]
    access = find_access(environ={"KUBECONFIG": ":".join(paths)})
    assert access.endpoint.server == "https://api:6443"


def test_a_context_can_be_chosen(tmp_path: Path) -> None:
    text = config() + "preferences: {}\nkind: Config\n"
    access = load(tmp_path, text.replace("current-context: c", ""), "c")
    assert access.namespace == "shop"


def test_a_users_home_is_the_last_resort(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", config())
    assert find_access(environ={"HOME": str(tmp_path)}).endpoint.server == "https://api:6443"


def test_a_plugin_is_read(tmp_path: Path) -> None:
    user = """{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login,
        args: [token], env: [{name: A, value: b}], installHint: get it, provideClusterInfo: true,
        interactiveMode: Never}}"""
    plugin = load(tmp_path, config(user=user)).user.plugin
    assert plugin is not None
    assert plugin.command == str(tmp_path / "bin" / "login")
    assert plugin.args == ("token",)
    assert plugin.env == (("A", "b"),)
    assert plugin.provide_cluster_info


def test_impersonation_becomes_headers(tmp_path: Path) -> None:
    user = "{token: t, as: ann, as-groups: [a, b], as-user-extra: {scope: [x]}}"
    assert load(tmp_path, config(user=user)).user.headers == (
        ("Impersonate-User", "ann"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-scope", "x"),
    )


def test_tls_and_proxy_settings_are_read(tmp_path: Path) -> None:
    cluster = """{server: 'https://a/prefix/', insecure-skip-tls-verify: true,
        tls-server-name: b, proxy-url: 'http://proxy:3128'}"""
    endpoint = load(tmp_path, config(cluster)).endpoint
    assert endpoint.server == "https://a/prefix"
    assert endpoint.insecure
    assert endpoint.tls_server_name == "b"
    assert endpoint.proxy == "http://proxy:3128"


def test_the_proxy_of_the_environment_is_used(tmp_path: Path) -> None:
    path = write(tmp_path / "config", config())
    environ = {"HTTPS_PROXY": "proxy:3128"}
    assert load_kubeconfig([path], "", environ).endpoint.proxy == "http://proxy:3128"
    direct = {**environ, "NO_PROXY": "api"}
    assert load_kubeconfig([path], "", direct).endpoint.proxy == ""


def test_in_a_pod_the_service_account_is_used(tmp_path: Path) -> None:
    write(tmp_path / "token", "t")
    write(tmp_path / "namespace", "headroom-system\n")
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    access = in_cluster_access(environ, tmp_path)
    assert access.endpoint.server == "https://[fd00::1]:443"
    assert access.endpoint.ca == Pem(path=str(tmp_path / "ca.crt"))
    assert access.user.token_file == str(tmp_path / "token")
    assert access.namespace == "headroom-system"


def test_outside_a_pod_that_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not inside a pod"):
        find_access(in_cluster=True, environ={})


@pytest.mark.parametrize(
    "environ", [{"KUBECONFIG": "{}/a"}, {"KUBECONFIG": "{}/a:{}/b"}, {"HOME": "{}"}]
)
def test_a_missing_file_is_named(tmp_path: Path, environ: dict[str, str]) -> None:
    there = {name: value.replace("{}", str(tmp_path)) for name, value in environ.items()}
    with pytest.raises(ConfigError, match=str(tmp_path)) as caught:
        find_access(environ=there)
    assert caught.value.exit_code == 2
    assert "--kubeconfig" in caught.value.hint


def test_malformed_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    assert "line 2" in complaint(tmp_path, "clusters:\n  a: b: c\n").message


def test_a_field_of_the_wrong_type_is_told_with_its_path(tmp_path: Path) -> None:
    error = complaint(tmp_path, "clusters: [{name: a, cluster: {server: 7}}]")
    assert "$.clusters[0].cluster.server" in error.message


def test_a_file_of_something_else_is_told(tmp_path: Path) -> None:
    assert "object" in complaint(tmp_path, "just a sentence").message


def test_an_empty_file_has_no_current_context(tmp_path: Path) -> None:
    assert "no current-context" in complaint(tmp_path, "").message


def test_an_unknown_context_is_told_with_those_there_are(tmp_path: Path) -> None:
    error = complaint(tmp_path, config(), "prod")
    assert "no context named 'prod'" in error.message
    assert error.hint == "there: c"


def test_a_context_that_points_nowhere_is_told(tmp_path: Path) -> None:
    text = config().replace("clusters: [{name: c", "clusters: [{name: d")
    assert "no cluster named 'c'" in complaint(tmp_path, text).message
    text = config().replace("users: [{name: c", "users: [{name: d")
    assert "no user named 'c'" in complaint(tmp_path, text).message


@pytest.mark.parametrize("server", ["", "api:6443", "ftp://api", "https://", "https://a:port"])
def test_an_address_that_is_none_is_told(tmp_path: Path, server: str) -> None:
    assert "server" in complaint(tmp_path, config(f"{{server: '{server}'}}")).message


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("{auth-provider: {name: gcp}}", "auth-provider 'gcp' was removed"),
        ("{client-certificate: a}", "needs its key"),
        ("{client-key-data: '%%%'}", "client-key-data"),
        ("{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: a}}", "v1alpha1"),
        ("{exec: {apiVersion: client.authentication.k8s.io/v1}}", "exec.command is missing"),
    ],
)
def test_a_user_that_cannot_be_is_told(tmp_path: Path, user: str, said: str) -> None:
    assert said in complaint(tmp_path, config(user=user)).message


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ("{server: 'https://a', proxy-url: 'socks5://p'}", "only http and https proxies"),
        (
            "{server: 'https://a', insecure-skip-tls-verify: true, certificate-authority: a}",
            "exclude each other",
        ),
        ("{server: 'https://a', certificate-authority-data: a}", "certificate-authority-data"),
    ],
)
def test_a_cluster_that_cannot_be_is_told(tmp_path: Path, cluster: str, said: str) -> None:
    assert said in complaint(tmp_path, config(cluster)).message
