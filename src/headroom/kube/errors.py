"""What can go wrong between us and an API server, in our own words, the cause always chained.

    KubeError
    ├── ConfigError       a kubeconfig that is missing, malformed or contradicts itself  (exit 2)
    │   └── PlainHttp     credentials for a server without TLS, and no leave to send them
    ├── CannotReach       no answer: wrong address, timeout, connection lost             (exit 3)
    │   ├── Untrusted     TLS says no: asking again at once cannot help
    │   └── Uncertain     the request was sent, and nobody knows whether it happened
    │       └── Silence   the connection stands, but nothing comes
    ├── TooLarge          an answer beyond all measure: something else is talking
    ├── Closed            our own client was closed: we are stopping
    └── Refused           the server answered, and said no                               (exit 3)
        ├── Unauthorized      401, also with fresh credentials
        ├── Forbidden         403
        ├── NoSuchKind        404 for a whole kind: its CRD is not installed
        └── Expired           410, the version we would resume from is gone

Writes do not raise these: `outcomes` turns their answers into Outcome values.
"""

from __future__ import annotations

from headroom.errors import HeadroomError

PLAIN_HTTP_VARIABLE = "HEADROOM_ALLOW_PLAIN_HTTP"


class KubeError(HeadroomError):
    """Root of all trouble with a real cluster."""

    exit_code = 3


class ConfigError(KubeError):
    """The kubeconfig, or what it points to, is wrong."""

    exit_code = 2


class PlainHttp(ConfigError):
    """Credentials would be sent where everybody on the way can read them."""

    def __init__(self, server: str, origin: str) -> None:
        of = f" ({origin})" if origin else ""
        super().__init__(
            f"{server}{of}: credentials are not sent over plain http",
            f"write https://, or leave the user out; to send them anyway: {PLAIN_HTTP_VARIABLE}=1",
        )


class Closed(KubeError):
    """The client was closed, so nothing is sent any more."""


class CannotReach(KubeError):
    """No usable answer, and the request was surely not carried out."""


class TooLarge(KubeError):
    """An answer that no API server would give."""


class Untrusted(CannotReach):
    """The server's certificate, or its TLS, is not what we were told to expect."""


class Uncertain(CannotReach):
    """The connection broke or timed out after the request may have been sent."""


class Silence(Uncertain):
    """Nothing was heard for too long."""


class Refused(KubeError):
    """The server answered with an error status."""

    def __init__(self, status: int, message: str, hint: str = "", retry_after: float = 0.0) -> None:
        super().__init__(message, hint)
        self.status = status
        self.retry_after = retry_after


class Unauthorized(Refused):
    """Nobody knows us there: credentials are wrong or have expired."""


class Forbidden(Refused):
    """We are known, and have not the right."""


class NoSuchKind(Refused):
    """The server does not serve this kind."""


class Expired(Refused):
    """The version asked for has been compacted away."""
