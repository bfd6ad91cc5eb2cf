"""How to reach one API server, and with which user: the values that `kubeconfig` reads.

`tls` creates an SSL context from an Endpoint and a KeyPair, `credentials` converts a User to
headers, `client` sends requests. Nothing here opens a file: files given by path are read when
needed, because they are rotated while the operator runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from headroom.kube.errors import ConfigError
from headroom.kube.urls import Login


@dataclass(frozen=True, slots=True)
class Pem:
    """Certificates or a key, inline (`text`) or by `path`."""

    text: str = field(default="", repr=False)
    path: str = ""

    def read(self) -> str:
        """The PEM text; the error for an unreadable file names it."""
        if self.text:
            return self.text
        try:
            return Path(self.path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a PEM file"
            raise ConfigError(
                f"{self.path}: {reason}", "the kubeconfig names this file; check the path"
            ) from error


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A client certificate and its private key."""

    certificate: Pem
    key: Pem


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API server; `server` has no trailing slash, and no address contains a password.

    `plain_http` explicitly allows to send credentials to a server without TLS.
    """

    server: str
    ca: Pem | None = None
    insecure: bool = False
    tls_server_name: str = ""
    proxy: str = ""
    proxy_login: Login = field(default_factory=Login)
    plain_http: bool = False

    @property
    def encrypted(self) -> bool:
        return self.server.startswith("https:")


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A program that prints credentials (client.authentication.k8s.io)."""

    api_version: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = "IfAvailable"


@dataclass(frozen=True, slots=True)
class User:
    """The user; a token file is preferred to a token, then a password, then a plugin."""

    key_pair: KeyPair | None = None
    token: str = field(default="", repr=False)
    token_file: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    plugin: ExecPlugin | None = None
    headers: tuple[tuple[str, str], ...] = ()  # Impersonate-User and related headers


@dataclass(frozen=True, slots=True)
class Access:
    """Everything needed to talk to a cluster; `origin` says where it was read."""

    endpoint: Endpoint
    user: User
    namespace: str = "default"
    origin: str = ""
