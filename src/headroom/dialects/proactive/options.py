"""The four flags and what they may be; a value that makes no sense is refused with its flag.

The proposal checked nothing: a threshold that cannot be read was quietly the default. Here a bad
value ends the start. Values come as texts, because flags and environment mean the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

ENABLE = "--enable-proactive-scaleup"
POD_LIMIT = "--pod-injection-limit"
NODE_LIMIT = "--node-limit"
THRESHOLD = "--proactive-scaleup-threshold"
PROFILE = "--proactive-scaleup-profile"

_MOST = 2**31 - 1
_LEAST_THRESHOLD = 0.001


class Profile(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Options:
    enabled: bool = False
    pod_limit: int = 5000
    node_limit: int = 15000
    threshold: float = 0.8
    profile: Profile = Profile.KARPENTER


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
    return Options(enabled, pods, nodes, threshold, profile)


def _flag(text: str | None) -> bool | BadOption:
    if text is None or text == "false":
        return False
    return True if text == "true" else BadOption(ENABLE, f"{text!r} is neither true nor false")


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


def _profile(text: str | None) -> Profile | BadOption:
    if text is None:
        return Profile.KARPENTER
    if text not in tuple(Profile):
        return BadOption(PROFILE, f"{text!r} is none of {', '.join(Profile)}")
    return Profile(text)
