"""Run a client-go credential plugin: a program that prints an ExecCredential (v1 or v1beta1).

The protocol: our environment plus the plugin's own, KUBERNETES_EXEC_INFO with the version and, if
requested, the cluster; JSON on stdout. Every failure is reported in one line, with the plugin's
install hint.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from headroom.kube.access import Endpoint, ExecPlugin, KeyPair, Pem
from headroom.kube.errors import ConfigError
from headroom.wire.errors import UNREADABLE_JSON

PLUGIN_SECONDS = 60.0
MOST_BYTES = 2**20  # of a credential; usual ones have a few thousand
CHUNK = 2**16
MOST_LETTERS = 300  # of a plugin's error output


@dataclass(frozen=True, slots=True)
class Issued:
    """The output of a plugin; `expires` is seconds since the epoch."""

    token: str = field(default="", repr=False)
    key_pair: KeyPair | None = None
    expires: float = float("inf")


class _CredentialStatus(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _Credential(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _CredentialStatus | None = None


async def run_plugin(plugin: ExecPlugin, endpoint: Endpoint, origin: str) -> Issued:
    """Run the plugin once and parse its output."""
    where = f"credential plugin {plugin.command} ({origin})"
    interactive = _interactive(plugin, where)
    environment = {
        **os.environ,
        **dict(plugin.env),
        "KUBERNETES_EXEC_INFO": _exec_info(plugin, endpoint, interactive),
    }
    try:
        process = await asyncio.create_subprocess_exec(
            plugin.command,
            *plugin.args,
            stdin=None if interactive else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
        )
    except OSError as error:
        raise ConfigError(
            f"{where}: cannot be run: {error.strerror}",
            plugin.install_hint or "install it, or use another --context",
        ) from error
    output, complaint = await _finish(process, where)
    if process.returncode != 0:
        lines = complaint.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise ConfigError(
            f"{where}: exit code {process.returncode}: {lines[-1][:MOST_LETTERS]}",
            plugin.install_hint,
        )
    return _read(output, plugin, where)


async def _finish(process: asyncio.subprocess.Process, where: str) -> tuple[bytes, bytes]:
    """Wait for the plugin's output, with a limit on time and size."""
    if process.stdout is None or process.stderr is None:
        raise ValueError("the plugin was started without pipes")
    complaining = asyncio.create_task(_end_of(process.stderr))
    try:
        async with asyncio.timeout(PLUGIN_SECONDS):
            output = await _start_of(process.stdout, MOST_BYTES + 1)
            if len(output) > MOST_BYTES:
                raise ConfigError(
                    f"{where}: it printed more than {MOST_BYTES // 1024} KiB",
                    "a plugin prints one ExecCredential, as JSON, and nothing else",
                )
            complaint = await complaining
            await process.wait()
            return output, complaint
    except TimeoutError as error:
        raise ConfigError(f"{where}: no answer within {PLUGIN_SECONDS:.0f} s") from error
    finally:
        complaining.cancel()
        await _end(process)


async def _start_of(stream: asyncio.StreamReader, most: int) -> bytes:
    """The output, cut if it is too long."""
    read = bytearray()
    while len(read) < most and (chunk := await stream.read(min(CHUNK, most - len(read)))):
        read += chunk
    return bytes(read)


async def _end_of(stream: asyncio.StreamReader) -> bytes:
    """The end of a plugin's error output, which may have any length."""
    kept = b""
    while chunk := await stream.read(CHUNK):
        kept = (kept + chunk)[-CHUNK:]
    return kept


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the plugin if it still runs, and close its pipes.

    `wait()` returns only after both pipes are closed. A pipe that is full or that a child of the
    plugin keeps open does not end by itself, and only the transport can close it.
    """
    process._transport.close()  # type: ignore[attr-defined]  # no public name closes the pipes
    await process.wait()


def _interactive(plugin: ExecPlugin, where: str) -> bool:
    terminal = sys.stdin is not None and sys.stdin.isatty()
    if plugin.interactive_mode == "Always" and not terminal:
        raise ConfigError(f"{where}: it needs input, and there is no terminal")
    return terminal and plugin.interactive_mode != "Never"


def _exec_info(plugin: ExecPlugin, endpoint: Endpoint, interactive: bool) -> str:
    spec: dict[str, object] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        cluster: dict[str, object] = {"server": endpoint.server}
        if endpoint.tls_server_name:
            cluster["tls-server-name"] = endpoint.tls_server_name
        if endpoint.insecure:
            cluster["insecure-skip-tls-verify"] = True
        if endpoint.ca is not None:
            pem = endpoint.ca.read().encode()
            cluster["certificate-authority-data"] = base64.b64encode(pem).decode("ascii")
        if endpoint.proxy:
            cluster["proxy-url"] = endpoint.proxy_login.put_into(endpoint.proxy)
        spec["cluster"] = cluster
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(info).decode()


def _read(output: bytes, plugin: ExecPlugin, where: str) -> Issued:
    try:
        credential = msgspec.json.decode(output, type=_Credential)
    except UNREADABLE_JSON as error:
        raise ConfigError(f"{where}: its output is not an ExecCredential: {error}") from error
    if credential.api_version != plugin.api_version:
        raise ConfigError(
            f"{where}: its version is {credential.api_version!r}, but the kubeconfig says "
            f"{plugin.api_version!r}",
            "set exec.apiVersion to the version of the plugin",
        )
    status = credential.status
    if status is None or not (status.token or status.client_certificate_data):
        raise ConfigError(f"{where}: it returned neither a token nor a certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise ConfigError(f"{where}: it returned a certificate without its key, or a key alone")
    pair = None
    if status.client_certificate_data:
        pair = KeyPair(Pem(status.client_certificate_data), Pem(status.client_key_data))
    expires = status.expiration_timestamp
    return Issued(status.token, pair, expires.timestamp() if expires else float("inf"))
