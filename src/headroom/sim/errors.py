"""The errors of the embedded cluster: refusals of its API server, and bugs.

An `ApiError` has the code, reason and message of the real API server, because users read them in
conditions and events. A `SimulationError` means that the simulator, or the operator in it, failed.
"""

from __future__ import annotations

from headroom.errors import HeadroomError
from headroom.sim.api.kinds import Kind


class SimulationError(HeadroomError):
    """The simulation cannot continue because of a bug."""


class ApiError(Exception):
    """The API server refused a request."""

    def __init__(self, code: int, reason: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.field = field  # the path that a validation error names
        self.cause = ""  # the reason of its cause, if it is needed


def not_found(kind: Kind, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{kind.resource} "{name}" not found')


def already_exists(kind: Kind, name: str) -> ApiError:
    return ApiError(409, "AlreadyExists", f'{kind.resource} "{name}" already exists')


def conflict(resource: object, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return ApiError(409, "Conflict", message)


def invalid(kind: Kind, name: str, why: str) -> ApiError:
    message = f'{kind.title} "{name}" is invalid: {why}'
    return ApiError(422, "Invalid", message, why.partition(":")[0])


def forbidden(kind: Kind, name: str, why: str) -> ApiError:
    return ApiError(403, "Forbidden", f'{kind.resource} "{name}" is forbidden: {why}')


def ending(kind: Kind, name: str, why: str) -> ApiError:
    """No object can be created in a namespace that is being deleted."""
    error = forbidden(kind, name, why)
    error.cause = "NamespaceTerminating"
    return error


def bad_request(why: str) -> ApiError:
    return ApiError(400, "BadRequest", why)
