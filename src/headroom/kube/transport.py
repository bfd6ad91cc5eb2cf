"""Word what can go wrong below HTTP, and tell what surely was not sent from what may have been."""

from __future__ import annotations

import asyncio
import os

import aiohttp

from headroom.kube.access import Access
from headroom.kube.errors import CannotReach, ConfigError, KubeError, Silence, Uncertain, Untrusted

TRANSPORT_ERRORS = (aiohttp.ClientError, asyncio.TimeoutError, OSError)

_CHECK_ADDRESS = "is the cluster up, and is the address in the kubeconfig right?"


def translated(error: BaseException, access: Access) -> KubeError:
    """The error in our words; Uncertain unless the request surely never left."""
    server = access.endpoint.server
    where = f"{server} ({access.origin})" if access.origin else server
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return Untrusted(
                f"{where}: its certificate is not trusted: {_certificate_reason(error)}",
                "set certificate-authority (or tls-server-name) in the kubeconfig",
            )
        case aiohttp.ClientConnectorSSLError():
            return Untrusted(f"{where}: TLS failed: {error.os_error}", "does it speak https?")
        case aiohttp.ClientProxyConnectionError():
            proxy = access.endpoint.proxy
            return CannotReach(
                f"{where}: the proxy {proxy} cannot be reached: {_os_reason(error)}",
                "check proxy-url and HTTPS_PROXY",
            )
        case aiohttp.ClientHttpProxyError():
            proxy = access.endpoint.proxy
            return CannotReach(
                f"{where}: the proxy {proxy} refuses: HTTP {error.status} {error.message}",
                "check proxy-url and HTTPS_PROXY",
            )
        case aiohttp.ClientConnectorError():
            return CannotReach(f"{where}: cannot connect: {_os_reason(error)}", _CHECK_ADDRESS)
        case aiohttp.ConnectionTimeoutError():
            return CannotReach(f"{where}: no connection in time", _CHECK_ADDRESS)
        case aiohttp.ClientConnectionResetError():  # Raised while writing: it never left whole.
            return CannotReach(f"{where}: the connection was closed before the request was sent")
        case aiohttp.InvalidURL():
            return ConfigError(f"{where}: not an address: {error}")
        case aiohttp.SocketTimeoutError():
            return Silence(f"{where}: nothing was heard for too long")
        case asyncio.TimeoutError():
            return Uncertain(f"{where}: no answer in time")
        case _:
            return Uncertain(f"{where}: the connection was lost: {error or type(error).__name__}")


def _os_reason(error: aiohttp.ClientConnectorError) -> str:
    cause = error.os_error
    if cause.errno is not None and cause.errno > 0:  # asyncio words these its own way
        return os.strerror(cause.errno)
    return cause.strerror or str(cause) or type(cause).__name__


def _certificate_reason(error: aiohttp.ClientConnectorCertificateError) -> str:
    cause = error.certificate_error
    return getattr(cause, "verify_message", "") or str(cause)
