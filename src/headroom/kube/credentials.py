"""Convert a User to request headers, and keep them fresh: re-read files, run plugins again.

`Credentials.due` is a cheap check before every request; `renew` is called if it is true, or after a
401. `execplugin` runs the plugins.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from headroom.kube.access import Access, KeyPair, User
from headroom.kube.errors import ConfigError
from headroom.kube.execplugin import run_plugin
from headroom.kube.urls import Login
from headroom.wire.errors import UNREADABLE_JSON

TOKEN_FILE_SECONDS = 60.0
EARLY_SECONDS = 30.0  # A token is replaced this long before it expires …
PAUSE_SECONDS = 5.0  # … but a plugin that returns expiring tokens is not run for every request.
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Grant:
    """The current Authorization header and client certificate."""

    authorization: str = field(default="", repr=False)
    key_pair: KeyPair | None = None


class Credentials:
    """The current grant of one user, and when to renew it."""

    def __init__(self, access: Access, clock: Callable[[], float] = time.time) -> None:
        self._access = access
        self._clock = clock
        self._due_at = 0.0
        self.grant = Grant()

    @property
    def due(self) -> bool:
        """Whether the grant must be renewed before it is used."""
        return self._clock() >= self._due_at

    async def renew(self) -> Grant:
        """Get a new grant: read the file or run the plugin again."""
        user = self._access.user
        now = self._clock()
        if user.token_file:
            self.grant = Grant(f"Bearer {_read_token(user.token_file)}", user.key_pair)
            self._due_at = now + TOKEN_FILE_SECONDS
        elif user.token:
            self.grant = Grant(f"Bearer {user.token}", user.key_pair)
            self._due_at = NEVER
        elif user.username:
            self.grant = Grant(Login(user.username, user.password).basic, user.key_pair)
            self._due_at = NEVER
        elif user.plugin is not None:
            issued = await run_plugin(user.plugin, self._access.endpoint, self._access.origin)
            authorization = f"Bearer {issued.token}" if issued.token else ""
            self.grant = Grant(authorization, issued.key_pair or user.key_pair)
            self._due_at = max(issued.expires - EARLY_SECONDS, now + PAUSE_SECONDS)
        else:
            self.grant = Grant(key_pair=user.key_pair)
            self._due_at = NEVER
        return self.grant

    def diagnosis(self) -> str:
        """What may be wrong with a grant that the server refused."""
        expired_at = _expiry_of(self.grant.authorization.removeprefix("Bearer "))
        if expired_at and expired_at < self._clock():
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(expired_at))
            return f"the token expired at {stamp}; log in again"
        user = self._access.user
        if user.token_file:
            return f"the token in {user.token_file} is not accepted; is it this cluster's?"
        if user.plugin is not None:
            return f"the credentials of {user.plugin.command} are not accepted; log in again"
        if user == User():
            return "the context names no credentials; add a user to it"
        return "log in again, or choose another --context"


def _read_token(path: str) -> str:
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(f"token file {path}: {error.strerror}") from error
    if not token:
        raise ConfigError(f"token file {path}: it is empty")
    return token


class _Claims(msgspec.Struct):
    exp: float = 0.0


def _expiry_of(token: str) -> float:
    """When a JWT expires; zero for anything else."""
    parts = token.split(".")
    if len(parts) != 3:
        return 0.0
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(payload, type=_Claims).exp
    except (ValueError, *UNREADABLE_JSON):
        return 0.0
