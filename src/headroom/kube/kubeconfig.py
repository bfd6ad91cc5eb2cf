"""Find the selected cluster: merge kubeconfig files as kubectl does, or use in-cluster settings.

In a list of files the first value for a name wins; relative paths start at the file that contains
them. The result is one `Access`. Every error in the files is reported here, with the file and a
hint. `kubeconfig_file` has the format itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from headroom.kube import kubeconfig_file as file
from headroom.kube.access import Access, Endpoint, ExecPlugin, KeyPair, Pem, User
from headroom.kube.errors import PLAIN_HTTP_VARIABLE, ConfigError, PlainHttp
from headroom.kube.proxies import environment_proxy
from headroom.kube.urls import Login, shown, split_login

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
PASS_ONE = "pass --kubeconfig FILE or set KUBECONFIG"

T = TypeVar("T")


def find_access(
    kubeconfig: str = "",
    context: str = "",
    in_cluster: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Access:
    """How to reach the selected cluster; in a pod without other settings, its own cluster."""
    named = bool(kubeconfig or context or environ.get("KUBECONFIG"))
    if in_cluster or (not named and _inside_a_pod(environ)):
        return in_cluster_access(environ)
    return load_kubeconfig(_paths(kubeconfig, environ), context, environ)


def in_cluster_access(
    environ: Mapping[str, str] = os.environ, directory: Path = SERVICE_ACCOUNT
) -> Access:
    """The pod's own service account; the token file is re-read while we run."""
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    port = environ.get("KUBERNETES_SERVICE_PORT", "443")
    token = directory / "token"
    if not host or not token.exists():
        raise ConfigError(
            "not inside a pod: no KUBERNETES_SERVICE_HOST or no service account token",
            "leave out --in-cluster, or mount a service account token",
        )
    host = f"[{host}]" if ":" in host else host
    try:
        namespace = (directory / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        namespace = "default"
    return Access(
        Endpoint(f"https://{host}:{port}", ca=Pem(path=str(directory / "ca.crt"))),
        User(token_file=str(token)),
        namespace,
        origin="the pod's service account",
    )


def load_kubeconfig(
    paths: list[Path], context: str = "", environ: Mapping[str, str] = os.environ
) -> Access:
    """Merge the files and resolve one context."""
    merged = _Merged(paths)
    name = context or merged.current
    if not name:
        raise ConfigError(f"{merged.where}: no current-context is set", "pass --context NAME")
    chosen, home = merged.entry("context", merged.contexts, name)
    cluster, cluster_home = merged.entry("cluster", merged.clusters, chosen.cluster)
    if chosen.user:
        user, user_home = merged.entry("user", merged.users, chosen.user)
    else:
        user, user_home = file.UserEntry(), home
    access = Access(
        _endpoint(cluster, cluster_home, chosen.cluster, environ),
        _user(user, user_home, chosen.user),
        chosen.namespace or "default",
        origin=f"context {name} of {merged.where}",
    )
    _check_encrypted(access)
    return access


def _check_encrypted(access: Access) -> None:
    """Check before a plugin runs that the credentials may be sent."""
    endpoint, user = access.endpoint, access.user
    secret = user.token or user.token_file or user.username or user.plugin
    if secret and not (endpoint.encrypted or endpoint.plain_http):
        raise PlainHttp(endpoint.server, access.origin)


def contexts(kubeconfig: str = "", environ: Mapping[str, str] = os.environ) -> list[str]:
    """The names of all contexts."""
    return sorted(_Merged(_paths(kubeconfig, environ)).contexts)


def _inside_a_pod(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("KUBERNETES_SERVICE_HOST")) and (SERVICE_ACCOUNT / "token").exists()


def _paths(kubeconfig: str, environ: Mapping[str, str]) -> list[Path]:
    """The files to merge; missing files in a list are skipped, as in kubectl."""
    if kubeconfig:
        return [_existing(Path(kubeconfig))]
    listed = [Path(part) for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    if len(listed) == 1:
        return [_existing(listed[0])]
    if listed:
        existing = [path for path in listed if path.exists()]
        if not existing:
            raise ConfigError(f"none of the files in KUBECONFIG exists: {listed[0]}, …", PASS_ONE)
        return existing
    return [_existing(Path(environ.get("HOME", "~")).expanduser() / ".kube" / "config")]


def _existing(path: Path) -> Path:
    if not path.exists():
        raise ConfigError(f"kubeconfig {path}: no such file", PASS_ONE)
    return path


class _Merged:
    """The entries of several files by name, each with the folder for its relative paths."""

    def __init__(self, paths: list[Path]) -> None:
        self.where = ", ".join(str(path) for path in paths)
        self.current = ""
        self.contexts: dict[str, tuple[file.Context, Path]] = {}
        self.clusters: dict[str, tuple[file.ClusterEntry, Path]] = {}
        self.users: dict[str, tuple[file.UserEntry, Path]] = {}
        for path in paths:
            content = file.read(path)
            self.current = self.current or content.current_context
            for context in content.contexts:
                self.contexts.setdefault(context.name, (context.context, path))
            for cluster in content.clusters:
                self.clusters.setdefault(cluster.name, (cluster.cluster, path))
            for user in content.users:
                self.users.setdefault(user.name, (user.user, path))

    def entry(self, kind: str, entries: dict[str, tuple[T, Path]], name: str) -> tuple[T, Path]:
        """The entry of that name, or an error that lists the known names."""
        if name not in entries:
            there = ", ".join(sorted(entries)) or "none"
            raise ConfigError(f"{self.where}: no {kind} named {name!r}", f"there: {there}")
        return entries[name]


def _endpoint(
    cluster: file.ClusterEntry, home: Path, name: str, environ: Mapping[str, str]
) -> Endpoint:
    """Check an address and its TLS settings."""
    where = f"{home}: cluster {name!r}"
    server, login = split_login(cluster.server, f"{where}: server")
    if login:
        raise ConfigError(
            f"{where}: server {shown(cluster.server)!r} has credentials in it",
            "write username and password into the user",
        )
    proxy, proxy_login = _proxy(cluster, server, where, environ)
    if cluster.insecure_skip_tls_verify and (
        cluster.certificate_authority or cluster.certificate_authority_data
    ):
        raise ConfigError(
            f"{where}: insecure-skip-tls-verify and a certificate authority exclude each other",
            "keep the certificate authority",
        )
    return Endpoint(
        server=server,
        ca=_pem(
            cluster.certificate_authority_data,
            cluster.certificate_authority,
            home,
            f"{where}: certificate-authority-data",
        ),
        insecure=cluster.insecure_skip_tls_verify,
        tls_server_name=cluster.tls_server_name,
        proxy=proxy,
        proxy_login=proxy_login,
        plain_http=environ.get(PLAIN_HTTP_VARIABLE, "") not in ("", "0", "false"),
    )


def _proxy(
    cluster: file.ClusterEntry, server: str, where: str, environ: Mapping[str, str]
) -> tuple[str, Login]:
    """The proxy, and the credentials for it."""
    url, field = cluster.proxy_url, f"{where}: proxy-url"
    if not url:
        url, field = environment_proxy(server, environ), "HTTPS_PROXY or HTTP_PROXY:"
    if not url:
        return "", Login()
    if url.partition("://")[0].lower() not in ("http", "https"):
        raise ConfigError(f"{field} {shown(url)!r}: only http and https proxies are supported")
    return split_login(url, field)


def _pem(data: str, path: str, home: Path, where: str) -> Pem | None:
    """Inline data is preferred to a path."""
    if data:
        return Pem(text=file.decode_base64(data, where))
    return Pem(path=str(home.parent / path)) if path else None


def _user(user: file.UserEntry, home: Path, name: str) -> User:
    """Check the user's settings."""
    where = f"{home}: user {name!r}"
    if user.auth_provider is not None:
        raise ConfigError(
            f"{where}: the auth-provider {user.auth_provider.name!r} was removed from Kubernetes",
            "use its exec plugin, or a token",
        )
    certificate = _pem(
        user.client_certificate_data,
        user.client_certificate,
        home,
        f"{where}: client-certificate-data",
    )
    key = _pem(user.client_key_data, user.client_key, home, f"{where}: client-key-data")
    if (certificate is None) != (key is None):
        raise ConfigError(f"{where}: a client certificate needs its key, and a key its certificate")
    return User(
        key_pair=KeyPair(certificate, key) if certificate and key else None,
        token=user.token,
        token_file=str(home.parent / user.token_file) if user.token_file else "",
        username=user.username,
        password=user.password,
        plugin=_plugin(user.exec, home, where) if user.exec else None,
        headers=_impersonation(user),
    )


def _plugin(plugin: file.Exec, home: Path, where: str) -> ExecPlugin:
    if plugin.api_version not in EXEC_VERSIONS:
        raise ConfigError(
            f"{where}: exec.apiVersion {plugin.api_version!r} is not supported",
            f"use one of {', '.join(EXEC_VERSIONS)}",
        )
    command = plugin.command
    if not command:
        raise ConfigError(f"{where}: exec.command is missing")
    if os.sep in command:  # A bare name is searched in PATH, a relative path starts at the file.
        command = str(home.parent / command)
    return ExecPlugin(
        api_version=plugin.api_version,
        command=command,
        args=tuple(plugin.args),
        env=tuple((item.name, item.value) for item in plugin.env),
        install_hint=plugin.install_hint.strip(),
        provide_cluster_info=plugin.provide_cluster_info,
        interactive_mode=plugin.interactive_mode,
    )


def _impersonation(user: file.UserEntry) -> tuple[tuple[str, str], ...]:
    """Headers for `as`, `as-uid`, `as-groups` and `as-user-extra`."""
    headers = [("Impersonate-User", user.as_user)] if user.as_user else []
    headers += [("Impersonate-Uid", user.as_uid)] if user.as_uid else []
    headers += [("Impersonate-Group", group) for group in user.as_groups]
    for key, values in sorted(user.as_user_extra.items()):
        headers += [(f"Impersonate-Extra-{key}", value) for value in values]
    return tuple(headers)
