"""Translate errors below HTTP, and separate requests that were not sent from uncertain ones."""

from __future__ import annotations

import asyncio
import os
import ssl

import aiohttp

from headroom.kube.access import Access
from headroom.kube.errors import (
    CannotReach,
    ConfigError,
    KubeError,
    Silence,
    Uncertain,
    Untrusted,
)

TRANSPORT_ERRORS = (aiohttp.ClientError, asyncio.TimeoutError, OSError)

_CHECK_ADDRESS = "is the cluster up, and is the address in the kubeconfig right?"


def translated(error: BaseException, access: Access) -> KubeError:
    """Translate an error of a request; Uncertain unless it was certainly not sent."""
    where, proxy = _where(access), access.endpoint.proxy
    match error:
        case aiohttp.ClientConnectorCertificateError(certificate_error=OSError() as cause):
            return _while_connecting(cause, access)
        case aiohttp.ClientProxyConnectionError():
            return CannotReach(
                f"{where}: the proxy {proxy} cannot be reached: {_reason(error.os_error)}",
                "check proxy-url and HTTPS_PROXY",
            )
        case aiohttp.ClientHttpProxyError():
            return CannotReach(
                f"{where}: the proxy {proxy} refuses: HTTP {error.status} {error.message}",
                "check proxy-url and HTTPS_PROXY",
            )
        case aiohttp.ClientConnectorError():
            return _while_connecting(error.os_error, access)
        case aiohttp.ConnectionTimeoutError():
            return _while_connecting(TimeoutError(), access)
        case aiohttp.ClientConnectionResetError():  # Raised while writing: it was not sent.
            return CannotReach(f"{where}: the connection was closed before the request was sent")
        case aiohttp.InvalidURL():
            return ConfigError(f"{where}: not an address", "check server and proxy-url")
        case aiohttp.SocketTimeoutError():
            return Silence(f"{where}: nothing was received for too long")
        case asyncio.TimeoutError():
            return Uncertain(f"{where}: no answer in time")
        case _:
            return Uncertain(f"{where}: the connection was lost: {error or type(error).__name__}")


def _while_connecting(error: OSError, access: Access) -> CannotReach:
    """Translate an error while connecting: nothing was sent."""
    where = _where(access)
    match error:
        case ssl.SSLCertVerificationError():
            return Untrusted(
                f"{where}: its certificate is not trusted: {error.verify_message or error}",
                "set certificate-authority (or tls-server-name) in the kubeconfig",
            )
        case ssl.SSLError():
            reason = error.reason or str(error)
            return Untrusted(f"{where}: TLS failed: {reason}", "does it speak https?")
        case TimeoutError():
            return CannotReach(f"{where}: no connection in time", _CHECK_ADDRESS)
        case _:
            return CannotReach(f"{where}: cannot connect: {_reason(error)}", _CHECK_ADDRESS)


def _where(access: Access) -> str:
    server = access.endpoint.server
    return f"{server} ({access.origin})" if access.origin else server


def _reason(error: OSError) -> str:
    if error.errno is not None and error.errno > 0:  # asyncio has its own messages for these
        return os.strerror(error.errno)
    return error.strerror or str(error) or type(error).__name__
