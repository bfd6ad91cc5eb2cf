"""URLs in a kubeconfig, and the credentials that they may contain.

A password in a URL is removed at once and kept separately, so that no message, log line or
traceback with the address can show it. Errors about an address do not repeat it.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from headroom.kube.errors import ConfigError

HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Login:
    """The name and password of a URL; empty if it had none."""

    name: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return bool(self.name or self.password)

    @property
    def basic(self) -> str:
        """The value of a Basic authorization header."""
        return f"Basic {b64encode(f'{self.name}:{self.password}'.encode()).decode('ascii')}"

    def put_into(self, url: str) -> str:
        """The URL with these credentials, for a program that needs them."""
        if not self:
            return url
        scheme, _, rest = url.partition("://")
        return f"{scheme}://{quote(self.name, safe='')}:{quote(self.password, safe='')}@{rest}"


def shown(url: str) -> str:
    """The URL for messages: everything in the place of credentials is hidden.

    This is everything up to the last @, because a password may contain a slash.
    """
    scheme, separator, rest = url.rpartition("://") if "://" in url else ("", "", url)
    _, found, host = rest.rpartition("@")
    return f"{scheme}{separator}{HIDDEN}@{host}" if found else url


def split_login(url: str, where: str) -> tuple[str, Login]:
    """An http(s) address without its credentials, and the credentials; raises ConfigError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port  # The second raises if it is not a number.
    except ValueError:
        raise ConfigError(
            f"{where} {shown(url)!r} cannot be read as an address",
            "write it like https://host:6443; special characters of a password as %40",
        ) from None  # Its message would repeat the address.
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(
            f"{where} {shown(url)!r} is no http(s) address", "write it like https://host:6443"
        )
    bracketed = f"[{host}]" if ":" in host else host
    place = f"{bracketed}:{port}" if port is not None else bracketed
    login = Login(unquote(parts.username or ""), unquote(parts.password or ""))
    if "@" in parts.path:  # The apparent path is the rest of a password with a slash.
        raise ConfigError(
            f"{where} {shown(url)!r} cannot be read as an address",
            "special characters of a password are written as %2F and %40",
        )
    clean = parts._replace(netloc=place).geturl() if login else url
    return clean.rstrip("/"), login
