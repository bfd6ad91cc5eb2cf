"""How to reach one API server and who we are there: the values that `kubeconfig` reads.

`tls` makes an SSL context from an Endpoint and a KeyPair, `credentials` turns a User into headers,
`client` sends. Nothing here opens a file: what is given by path is read when it is needed, since
files are rotated under a running operator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from headroom.kube.errors import ConfigError
from headroom.kube.urls import Login


@dataclass(frozen=True, slots=True)
class Pem:
    """Certificates or a key: given inline (`text`) or by `path`."""

    text: str = field(default="", repr=False)
    path: str = ""

    def read(self) -> str:
        """The PEM text; a file that cannot be read is named."""
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
    """One API server; `server` has no trailing slash, no address has a password in it.

    `plain_http` is the explicit leave to send credentials to a server without TLS.
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
    """Who we are; a token file goes before a token, before a password, before a plugin."""

    key_pair: KeyPair | None = None
    token: str = field(default="", repr=False)
    token_file: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    plugin: ExecPlugin | None = None
    headers: tuple[tuple[str, str], ...] = ()  # Impersonate-User and its kin


@dataclass(frozen=True, slots=True)
class Access:
    """Everything needed to talk to a cluster; `origin` says in words where it was read."""

    endpoint: Endpoint
    user: User
    namespace: str = "default"
    origin: str = ""
