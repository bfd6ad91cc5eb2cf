"""The flags and what they may be; a value that makes no sense is refused with its flag.

The proposal checked nothing: a threshold that cannot be read was quietly the default. Here a bad
value ends the start. Values come as texts, because flags and environment mean the same.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from headroom.core.quantity import QuantityError, parse_quantity

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
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class PlaceholderProfile(StrEnum):
    """For whom placeholders ask: Cluster Autoscaler overlooks those below its cutoff."""

    KARPENTER = "karpenter"
    CLUSTER_AUTOSCALER = "clusterAutoscaler"


@dataclass(frozen=True, slots=True)
class Texts:
    """The flags as written; None where one was not given."""

    enabled: str | None = None
    pod_limit: str | None = None
    node_limit: str | None = None
    threshold: str | None = None
    profile: str | None = None
    requests: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What the flags mean.

    `requests` is what one placeholder asks for, `namespace` where they live; empty: the
    operator's own.
    """

    enabled: bool = False
    pod_limit: int = 5000
    node_limit: int = 15000
    threshold: float = 0.8
    profile: PlaceholderProfile = PlaceholderProfile.KARPENTER
    requests: tuple[tuple[str, str], ...] = (("cpu", "500m"), ("memory", "512Mi"))
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class BadOption:
    """Which flag is wrong, and how."""

    flag: str
    message: str

    def __str__(self) -> str:
        return f"{self.flag}: {self.message}"


def read_options(texts: Texts) -> Options | BadOption:
    """Read the flags; the first that is wrong is told."""
    usual = Options()
    enabled = _flag(texts.enabled)
    if isinstance(enabled, BadOption):
        return enabled
    pods = _count(POD_LIMIT, texts.pod_limit, usual.pod_limit)
    if isinstance(pods, BadOption):
        return pods
    nodes = _count(NODE_LIMIT, texts.node_limit, usual.node_limit)
    if isinstance(nodes, BadOption):
        return nodes
    threshold = _part(texts.threshold, usual.threshold)
    if isinstance(threshold, BadOption):
        return threshold
    profile = _profile(texts.profile)
    if isinstance(profile, BadOption):
        return profile
    requests = _requests(texts.requests, usual.requests)
    if isinstance(requests, BadOption):
        return requests
    namespace = texts.namespace or ""
    if namespace and not _NAMESPACE.fullmatch(namespace):
        return BadOption(NAMESPACE, f"{namespace!r} is no name of a namespace")
    return Options(enabled, pods, nodes, threshold, profile, requests, namespace)


def _flag(text: str | None) -> bool | BadOption:
    """Read a boolean as Go's flags do."""
    if text is None or text in _FALSE:
        return False
    return True if text in _TRUE else BadOption(ENABLE, f"{text!r} is neither true nor false")


def _requests(
    text: str | None, usual: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...] | BadOption:
    if text is None:
        return usual
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, amount = (each.strip() for each in part.partition("="))
        if not equals or not name:
            return BadOption(REQUESTS, f"{part.strip()!r} is not like cpu=500m")
        if name in found:
            return BadOption(REQUESTS, f"{name} is there twice")
        try:
            parse_quantity(amount)
        except QuantityError as error:
            return BadOption(REQUESTS, f"{name}: {error}")
        found[name] = amount
    return tuple(found.items())


def _count(flag: str, text: str | None, usual: int) -> int | BadOption:
    if text is None:
        return usual
    try:
        number = int(text)
    except ValueError:
        return BadOption(flag, f"{text!r} is no whole number")
    if not 0 <= number <= _MOST:
        return BadOption(flag, f"{number} is out of range; it may be 0 to {_MOST}")
    return number


def _part(text: str | None, usual: float) -> float | BadOption:
    if text is None:
        return usual
    try:
        number = float(text)
    except ValueError:
        return BadOption(THRESHOLD, f"{text!r} is no number")
    if math.isnan(number) or not _LEAST_THRESHOLD <= number <= 1:
        return BadOption(THRESHOLD, f"{text} is out of range; it may be {_LEAST_THRESHOLD} to 1")
    return number


def _profile(text: str | None) -> PlaceholderProfile | BadOption:
    if text is None:
        return PlaceholderProfile.KARPENTER
    if text not in tuple(PlaceholderProfile):
        return BadOption(PROFILE, f"{text!r} is none of {', '.join(PlaceholderProfile)}")
    return PlaceholderProfile(text)
