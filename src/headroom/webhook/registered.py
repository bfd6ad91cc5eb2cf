"""The webhook's two objects in the cluster: the Secret with its keys, and its registration.

It has their values, their JSON, and the requests for them; `certificate_controller` decides what to
request and when. Several replicas share both objects: if another replica has changed the Secret, it
is read again.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from headroom.kube.answers import Answer, refusal
from headroom.kube.client import Client
from headroom.kube.errors import RequestRefused
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.installed_kinds import REGISTRATIONS, SECRETS
from headroom.wire.kinds import Json
from headroom.wire.webhook import WEBHOOK_NAME
from headroom.wire.writes import STRATEGIC_PATCH


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """The Secret as it was read: its content, and the whole object for the update."""

    data: Mapping[str, str] = field(default_factory=dict)
    whole: Json | None = None


class _Service(msgspec.Struct):
    name: str
    namespace: str


class _ClientConfig(msgspec.Struct, rename="camel"):
    url: str = ""
    service: _Service | None = None
    ca_bundle: str = ""


class _Hook(msgspec.Struct, rename="camel"):
    name: str
    client_config: _ClientConfig


class _SecretMetadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Registration(msgspec.Struct):
    metadata: _SecretMetadata
    webhooks: tuple[_Hook, ...] = ()


@dataclass(frozen=True, slots=True)
class Registration:
    """The host names that API servers use, and the CA bundle of each entry."""

    names: tuple[str, ...]
    trusted: Mapping[str, str]
    version: str = ""


class WebhookObjects:
    """Reads and writes both objects of the webhook in namespace `home`."""

    def __init__(self, client: Client, home: str) -> None:
        self._client = client
        self._home = home

    async def registration(self) -> Registration | None:
        """Read our registration; None if it does not exist."""
        answer = await self._client.send("GET", REGISTRATIONS.path(name=WEBHOOK_NAME))
        if answer.status == 404:
            return None
        found = _decoded(answer, _Registration, f"read {REGISTRATIONS.plural} {WEBHOOK_NAME}")
        return Registration(
            tuple(sorted({_host(hook.client_config) for hook in found.webhooks})),
            {hook.name: _text(hook.client_config.ca_bundle) for hook in found.webhooks},
            found.metadata.resource_version,
        )

    async def write_bundle(self, known: Registration, bundle: str) -> bool:
        """Set the CA bundle of every entry; False if the registration has changed meanwhile.

        Another replica may have registered a newer bundle, which an older one must not replace.
        """
        encoded = base64.b64encode(bundle.encode()).decode()
        hooks = [{"name": name, "clientConfig": {"caBundle": encoded}} for name in known.trusted]
        path = REGISTRATIONS.path(name=WEBHOOK_NAME)
        metadata = {"resourceVersion": known.version}
        body = msgspec.json.encode({"metadata": metadata, "webhooks": hooks})
        answer = await self._client.send("PATCH", path, body, STRATEGIC_PATCH)
        if answer.status == 409:
            return False
        if not answer.ok:
            raise refusal(answer, f"patch {REGISTRATIONS.plural} {WEBHOOK_NAME}")
        return True

    async def read_secret(self) -> StoredSecret:
        """Read the Secret; a missing one is empty."""
        answer = await self._client.send("GET", SECRETS.path(self._home, WEBHOOK_NAME))
        if answer.status == 404:
            return StoredSecret()
        whole = _decoded(answer, Json, f"read secret {self._home}/{WEBHOOK_NAME}")
        data = whole.get("data") or {}
        return StoredSecret({name: _text(str(value)) for name, value in data.items()}, whole)

    async def write_secret(self, before: StoredSecret, data: Mapping[str, str]) -> bool:
        """Replace the Secret; False if another replica was faster."""
        encoded = {name: base64.b64encode(text.encode()).decode() for name, text in data.items()}
        if before.whole is not None:
            path = SECRETS.path(self._home, WEBHOOK_NAME)
            body = msgspec.json.encode({**before.whole, "data": encoded})
            answer = await self._client.send("PUT", path, body)
        else:
            metadata = {"name": WEBHOOK_NAME, "namespace": self._home}
            body = msgspec.json.encode(SECRETS.new(metadata, data=encoded))
            answer = await self._client.send("POST", SECRETS.path(self._home), body)
        if answer.status == 409 or (answer.status == 404 and before.whole is not None):
            return False
        if not answer.ok:
            raise refusal(answer, f"write secret {self._home}/{WEBHOOK_NAME}")
        return True


def _decoded(answer: Answer, wanted: Any, what: str) -> Any:
    if not answer.ok:
        raise refusal(answer, what)
    try:
        return msgspec.json.decode(answer.body, type=wanted)
    except UNREADABLE_JSON as error:
        raise RequestRefused(502, f"cannot {what}: {error}") from error


def _host(client: _ClientConfig) -> str:
    """The host name that a certificate needs for this client config."""
    if client.service is not None:
        return f"{client.service.name}.{client.service.namespace}.svc"
    return urlsplit(client.url).hostname or ""


def _text(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""  # It is not ours.
