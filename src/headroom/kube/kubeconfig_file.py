"""The kubeconfig format: parse one file into structs, and report errors with their position.

Only the fields that we use are declared; others are ignored. `kubeconfig` interprets the entries.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from headroom.kube.errors import ConfigError

MOST_VALUES = 200_000
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class ClusterEntry(msgspec.Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class Context(msgspec.Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class EnvVar(msgspec.Struct):
    name: str
    value: str = ""


class Exec(msgspec.Struct, rename="camel"):
    api_version: str = ""
    command: str = ""
    args: list[str] = msgspec.field(default_factory=list)
    env: list[EnvVar] = msgspec.field(default_factory=list)
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = "IfAvailable"


class AuthProvider(msgspec.Struct):
    name: str = ""


class UserEntry(
    msgspec.Struct,
    rename={
        "client_certificate": "client-certificate",
        "client_certificate_data": "client-certificate-data",
        "client_key": "client-key",
        "client_key_data": "client-key-data",
        "token_file": "tokenFile",
        "auth_provider": "auth-provider",
        "as_user": "as",
        "as_uid": "as-uid",
        "as_groups": "as-groups",
        "as_user_extra": "as-user-extra",
    },
):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = ""
    username: str = ""
    password: str = ""
    exec: Exec | None = None
    auth_provider: AuthProvider | None = None
    as_user: str = ""
    as_uid: str = ""
    as_groups: list[str] = msgspec.field(default_factory=list)
    as_user_extra: dict[str, list[str]] = msgspec.field(default_factory=dict)


class NamedCluster(msgspec.Struct):
    name: str
    cluster: ClusterEntry


class NamedContext(msgspec.Struct):
    name: str
    context: Context


class NamedUser(msgspec.Struct):
    name: str
    user: UserEntry = msgspec.field(default_factory=UserEntry)


class Kubeconfig(msgspec.Struct, rename={"current_context": "current-context"}):
    clusters: list[NamedCluster] = msgspec.field(default_factory=list)
    contexts: list[NamedContext] = msgspec.field(default_factory=list)
    users: list[NamedUser] = msgspec.field(default_factory=list)
    current_context: str = ""


def read(path: Path) -> Kubeconfig:
    """Parse one file; an empty one has no entries; errors name the line or field."""
    try:
        content = _Cleaner().clean(yaml.safe_load(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f"kubeconfig {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"kubeconfig {path}: not valid YAML{_place(error)}") from None
    except (_TooMuch, RecursionError):
        raise ConfigError(f"kubeconfig {path}: too large or nested too deeply") from None
    except ValueError:  # An invalid date or number; its message would repeat the value.
        raise ConfigError(f"kubeconfig {path}: not valid YAML", "quote dates and numbers") from None
    if content is None:
        return Kubeconfig()
    try:
        return msgspec.convert(content, Kubeconfig)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"kubeconfig {path}: {error}", "compare with `kubectl config view`"
        ) from error


class _TooMuch(Exception):
    pass


class _Cleaner:
    """Drops null fields: `users: null` and a missing `users` mean the same.

    It counts the values: a file of a few hundred bytes can expand to billions through aliases.
    """

    def __init__(self) -> None:
        self._count = 0

    def clean(self, value: Any) -> Any:
        self._count += 1
        if self._count > MOST_VALUES:
            raise _TooMuch
        if isinstance(value, dict):
            return {key: self.clean(item) for key, item in value.items() if item is not None}
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        return value


def _place(error: yaml.YAMLError) -> str:
    """The position and the error, without the value, which may be a token."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        problem = _QUOTED.sub("…", error.problem or "")
        return f", line {mark.line + 1}, column {mark.column + 1}: {problem}"
    return ": it is no text in UTF-8"


def decode_base64(data: str, where: str) -> str:
    """Decode a `…-data` field to text."""
    try:
        return base64.b64decode("".join(data.split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{where}: not the base64 of a PEM text") from error
