"""The errors of communication with an API server, each with its cause chained.

    KubeError
    ├── ConfigError       a kubeconfig that is missing, malformed or inconsistent        (exit 2)
    │   └── PlainHttp     credentials for a server without TLS, not explicitly allowed
    ├── CannotReach       no answer: wrong address, timeout, connection lost             (exit 3)
    │   ├── Untrusted     the certificate is not trusted: a retry cannot help
    │   └── Uncertain     the request was sent, and it is unknown whether it was executed
    │       └── Silence   the connection exists, but nothing arrives
    ├── TooLarge          an answer far too large: this is no API server
    ├── Closed            our own client was closed: we are stopping
    └── Refused           the server answered with an error                              (exit 3)
        ├── Unauthorized      401, also with fresh credentials
        ├── Forbidden         403
        ├── NoSuchKind        404 for a whole kind: its CRD is not installed
        └── Expired           410, the version to resume from is gone

Writes do not raise these: `outcomes` converts their answers to Outcome values.
"""

from __future__ import annotations

from headroom.errors import HeadroomError

PLAIN_HTTP_VARIABLE = "HEADROOM_ALLOW_PLAIN_HTTP"


class KubeError(HeadroomError):
    """The base class of all errors with a real cluster."""

    exit_code = 3


class ConfigError(KubeError):
    """The kubeconfig, or a file that it names, is wrong."""

    exit_code = 2


class PlainHttp(ConfigError):
    """Credentials would be sent without encryption."""

    def __init__(self, server: str, origin: str) -> None:
        of = f" ({origin})" if origin else ""
        super().__init__(
            f"{server}{of}: credentials are not sent over plain http",
            f"write https://, or leave the user out; to send them anyway: {PLAIN_HTTP_VARIABLE}=1",
        )


class Closed(KubeError):
    """The client was closed, so nothing is sent any more."""


class CannotReach(KubeError):
    """No usable answer, and the request was certainly not executed."""


class TooLarge(KubeError):
    """An answer that no API server would send."""


class Untrusted(CannotReach):
    """The server's certificate is not the expected one, or TLS failed."""


class Uncertain(CannotReach):
    """The connection broke or timed out after the request may have been sent."""


class Silence(Uncertain):
    """Nothing was received for too long."""


class RequestRefused(KubeError):
    """The server answered with an error status."""

    def __init__(self, status: int, message: str, hint: str = "", retry_after: float = 0.0) -> None:
        super().__init__(message, hint)
        self.status = status
        self.retry_after = retry_after


class Unauthorized(RequestRefused):
    """The credentials are wrong or have expired."""


class RequestForbidden(RequestRefused):
    """The user is known, but lacks the permission."""


class NoSuchKind(RequestRefused):
    """The server does not serve this kind."""


class Expired(RequestRefused):
    """The requested version was compacted."""
