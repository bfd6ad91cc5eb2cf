"""The flags and their valid values; an invalid value is refused with the name of its flag.

The proposal checked nothing: an invalid threshold silently became the default. Here an invalid
value ends the start. Values are texts, because flags and environment variables mean the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from headroom.core.quantity import QuantityError, parse_quantity
from headroom.wire.name_rules import namespace_problem

ENABLE = "--enable-proactive-scaleup"
POD_LIMIT = "--pod-injection-limit"
NODE_LIMIT = "--node-limit"
THRESHOLD = "--proactive-scaleup-threshold"
PROFILE = "--proactive-scaleup-profile"
REQUESTS = "--proactive-scaleup-requests"
NAMESPACE = "--proactive-scaleup-namespace"

_MOST = 2**31 - 1
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")
_LEAST_THRESHOLD = 0.001


class PlaceholderProfile(StrEnum):
    """The autoscaler for placeholders: Cluster Autoscaler ignores those below its cutoff."""

    KARPENTER = "karpenter"
    CLUSTER_AUTOSCALER = "clusterAutoscaler"


@dataclass(frozen=True, slots=True)
class Texts:
    """The flags as texts; None for a flag that is not set."""

    enabled: str | None = None
    pod_limit: str | None = None
    node_limit: str | None = None
    threshold: str | None = None
    profile: str | None = None
    requests: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """The meaning of the flags.

    `requests` are those of one placeholder, `namespace` is theirs; empty means the operator's own.
    """

    enabled: bool = False
    pod_limit: int = 5000
    node_limit: int = 15000
    threshold: float = 0.8
    profile: PlaceholderProfile = PlaceholderProfile.KARPENTER
    requests: tuple[tuple[str, str], ...] = (("cpu", "500m"), ("memory", "512Mi"))
    namespace: str = ""


class BadOption(ValueError):
    """Which flag is wrong, and why."""

    def __init__(self, flag: str, message: str) -> None:
        super().__init__(f"{flag}: {message}")
        self.flag = flag


def read_options(texts: Texts) -> Options:
    """Parse the flags; raise BadOption for the first invalid one."""
    usual = Options()
    return Options(
        enabled=_flag(texts.enabled),
        pod_limit=_count(POD_LIMIT, texts.pod_limit, usual.pod_limit),
        node_limit=_count(NODE_LIMIT, texts.node_limit, usual.node_limit),
        threshold=_part(texts.threshold, usual.threshold),
        profile=_profile(texts.profile),
        requests=_requests(texts.requests, usual.requests),
        namespace=_namespace(texts.namespace or ""),
    )


def _namespace(name: str) -> str:
    if name and (problem := namespace_problem(name)):
        raise BadOption(NAMESPACE, f"{name!r}: {problem}")
    return name


def _flag(text: str | None) -> bool:
    """Parse a boolean as Go's flags do."""
    if text is None or text in _FALSE:
        return False
    if text not in _TRUE:
        raise BadOption(ENABLE, f"{text!r} is neither true nor false")
    return True


def _requests(text: str | None, usual: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    if text is None:
        return usual
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, amount = (each.strip() for each in part.partition("="))
        if not equals or not name:
            raise BadOption(REQUESTS, f"{part.strip()!r} is not like cpu=500m")
        if name in found:
            raise BadOption(REQUESTS, f"{name} is there twice")
        try:
            parse_quantity(amount)
        except QuantityError as error:
            raise BadOption(REQUESTS, f"{name}: {error}") from error
        found[name] = amount
    return tuple(found.items())


def _count(flag: str, text: str | None, usual: int) -> int:
    if text is None:
        return usual
    try:
        number = int(text)
    except ValueError as error:
        raise BadOption(flag, f"{text!r} is not an integer") from error
    if not 0 <= number <= _MOST:
        raise BadOption(flag, f"{number} is out of range; it may be 0 to {_MOST}")
    return number


def _part(text: str | None, usual: float) -> float:
    if text is None:
        return usual
    try:
        number = float(text)
    except ValueError as error:
        raise BadOption(THRESHOLD, f"{text!r} is not a number") from error
    if math.isnan(number) or not _LEAST_THRESHOLD <= number <= 1:
        raise BadOption(THRESHOLD, f"{text} is out of range; it may be {_LEAST_THRESHOLD} to 1")
    return number


def _profile(text: str | None) -> PlaceholderProfile:
    if text is None:
        return PlaceholderProfile.KARPENTER
    if text not in tuple(PlaceholderProfile):
        raise BadOption(PROFILE, f"{text!r} is not one of {', '.join(PlaceholderProfile)}")
    return PlaceholderProfile(text)
