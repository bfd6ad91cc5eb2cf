"""The answers of an API server: one request's Answer, its Status object, and both as an error.

`client` creates Answers, `outcomes` reads those of writes, `refusal` creates errors for reads.
"""

from __future__ import annotations

import msgspec

from headroom.core.fast_dataclass import dataclass
from headroom.kube.errors import Expired, KubeError, NoSuchKind, RequestForbidden, RequestRefused
from headroom.wire.errors import UNREADABLE_JSON

MAX_RETRY_AFTER = 60.0


class Cause(msgspec.Struct):
    reason: str = ""
    message: str = ""
    field: str = ""


class Details(msgspec.Struct, rename="camel"):
    name: str = ""
    kind: str = ""
    causes: tuple[Cause, ...] = ()


class Status(msgspec.Struct):
    """A metav1.Status, the fields that help to explain an error."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None

    @property
    def causes(self) -> tuple[Cause, ...]:
        return self.details.causes if self.details is not None else ()


_STATUS = msgspec.json.Decoder(Status)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `retry_after` is zero if the server named no time."""

    status: int
    body: bytes
    retry_after: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status < 300

    def read_status(self) -> Status:
        """The Status object in the body, or one made from the rest of the answer."""
        return read_status(self.body, self.status)


def read_status(body: bytes, code: int) -> Status:
    """Parse a Status; any other body (a proxy's page) gives one with its first line as message."""
    try:
        status = _STATUS.decode(body)
    except UNREADABLE_JSON:
        first = body[:200].decode("utf-8", "replace").strip().partition("\n")[0]
        return Status(message=first or f"HTTP {code}", code=code)
    if not status.message:
        status.message = status.reason or f"HTTP {code}"
    status.code = status.code or code
    return status


def seconds_to_wait(value: str | None) -> float:
    """Parse a Retry-After header; dates and invalid values count as one second."""
    if value is None:
        return 0.0
    try:
        return min(max(float(value), 0.0), MAX_RETRY_AFTER)
    except ValueError:
        return 1.0


def refusal(answer: Answer, what: str) -> RequestRefused:
    """The error for a refused read; `what` is the request, such as `list pods`."""
    status = answer.read_status()
    wait = answer.retry_after
    match status.code:
        case 403:
            return RequestForbidden(
                403,
                f"cannot {what}: {status.message}",
                "grant the permission: `headroom install --dry-run` prints the RBAC objects",
                wait,
            )
        case 404:
            return NoSuchKind(
                404,
                f"cannot {what}: the cluster does not serve this kind",
                "install it: headroom crds | kubectl apply --server-side -f -",
                wait,
            )
        case 410:
            return Expired(410, f"cannot {what}: {status.message}", retry_after=wait)
        case code:
            plain = code == 400 and "HTTPS server" in status.message
            hint = "write https:// before the server's address in the kubeconfig" if plain else ""
            return RequestRefused(code, f"cannot {what}: HTTP {code}: {status.message}", hint, wait)


def no_kubernetes(server: str) -> KubeError:
    """The error for an address with a server that is no API server."""
    return KubeError(
        f"{server}: the server there is not a Kubernetes API server",
        "check the server address in the kubeconfig",
    )
