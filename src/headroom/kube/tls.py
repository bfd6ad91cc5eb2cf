"""An SSL context for one endpoint and, if there is one, a client certificate."""

from __future__ import annotations

import os
import ssl
import tempfile

from headroom.kube.access import Endpoint, KeyPair
from headroom.kube.errors import ConfigError


def tls_context(endpoint: Endpoint, key_pair: KeyPair | None) -> ssl.SSLContext | None:
    """The context to connect with; None for plain http."""
    if not endpoint.server.startswith("https:"):
        return None
    if endpoint.ca is not None:
        context = _trusting(endpoint.ca.read(), endpoint.server)
    else:
        context = ssl.create_default_context()
    if endpoint.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if key_pair is not None:
        _present(context, key_pair, endpoint.server)
    return context


def _trusting(authorities: str, server: str) -> ssl.SSLContext:
    """A context that trusts only these CAs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # As in Go, every listed certificate is trusted, also an intermediate or the server's own.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=authorities)
    except ssl.SSLError as error:
        raise ConfigError(
            f"{server}: the certificate authority is no PEM certificate: {_reason(error)}"
        ) from error
    return context


def _present(context: ssl.SSLContext, key_pair: KeyPair, server: str) -> None:
    """Load the client certificate: the ssl module needs a file, so a temporary one is written."""
    handle, path = tempfile.mkstemp(prefix="headroom-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{key_pair.certificate.read().rstrip()}\n{key_pair.key.read()}")
        context.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"{server}: the client certificate or its key cannot be used: {_reason(error)}",
            "an encrypted key must be decrypted first",
        ) from error
    finally:
        os.unlink(path)


def _no_password() -> str:
    """Keep OpenSSL from asking for a password on the terminal."""
    raise ValueError("the key is encrypted")


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or str(error)
