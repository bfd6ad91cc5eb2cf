"""The size of a Headroom from its JSON, and the small readers that its other parts share.

Sizes that this version does not serve are read too, so that the Headroom can say which.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Raw

from headroom.core.headrooms import (
    NOTHING,
    Adaptive,
    Follow,
    Percent,
    PerNode,
    Replicas,
    Size,
    Utilization,
)
from headroom.wire.durations import parse_duration
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader, spelling

MOST_SLOTS = 100_000
_PATH = "spec.size"
_NOT_SERVED = "is not served yet by this version; use replicas, percent or perNode"


class _Size(JsonObject):
    replicas: Raw = ABSENT
    percent: Raw = ABSENT
    per_node: Raw = ABSENT
    utilization: Raw = ABSENT
    follow: Raw = ABSENT
    adaptive: Raw = ABSENT


class _PerNode(JsonObject):
    slots: Raw = ABSENT
    percent: Raw = ABSENT


class _Utilization(JsonObject):
    threshold: float | None = None


class _Follow(JsonObject):
    gate: str | None = None


class _Adaptive(JsonObject):
    start_within: Raw = ABSENT
    ratio: float | None = None


_read_size = Reader(_Size)
_read_per_node = Reader(_PerNode)
_read_utilization = Reader(_Utilization)
_read_follow = Reader(_Follow)
_read_adaptive = Reader(_Adaptive)
_read_number = Reader(int)
_read_duration: Reader[str | int] = Reader(str | int)  # type: ignore[arg-type]  # a union is no type


def size_of(raw: Raw, findings: Findings) -> Size:
    """Read `spec.size`, taking down what is wrong; nothing, where it cannot be made out."""
    size = findings.read(_read_size, raw, _PATH)
    if size is None:
        if not spelling(raw):
            findings.add(_PATH, "is missing: it says how many slots to keep")
        return NOTHING
    parts = {
        "replicas": size.replicas,
        "percent": size.percent,
        "perNode": size.per_node,
        "utilization": size.utilization,
        "follow": size.follow,
        "adaptive": size.adaptive,
    }
    given = [name for name, part in parts.items() if spelling(part)]
    if len(given) != 1:
        told = f"has {' and '.join(given)}" if given else "is empty"
        findings.add(_PATH, f"{told}; exactly one of {', '.join(parts)} is needed")
        return NOTHING
    (name,) = given
    return _sized(name, parts[name], findings)


def _sized(name: str, raw: Raw, findings: Findings) -> Size:
    path = f"{_PATH}.{name}"
    match name:
        case "replicas":
            return Replicas(number_at(raw, path, findings, 0, MOST_SLOTS) or 0)
        case "percent":
            return Percent(number_at(raw, path, findings, 0, 1000) or 0)
        case "perNode":
            return _per_node(raw, path, findings)
    findings.add(path, _NOT_SERVED)
    return _not_served(name, raw, path, findings)


def _per_node(raw: Raw, path: str, findings: Findings) -> Size:
    given = findings.read(_read_per_node, raw, path)
    if given is None:
        return NOTHING
    has_slots, has_percent = bool(spelling(given.slots)), bool(spelling(given.percent))
    if has_slots == has_percent:
        told = "has both" if has_slots else "has neither"
        findings.add(path, f"{told} slots and percent; exactly one of them is needed")
        return NOTHING
    if has_percent:
        return PerNode(percent=number_at(given.percent, f"{path}.percent", findings, 1, 100) or 1)
    return PerNode(slots=number_at(given.slots, f"{path}.slots", findings, 1, 110) or 1)


def _not_served(name: str, raw: Raw, path: str, findings: Findings) -> Size:
    if name == "utilization" and (level := findings.read(_read_utilization, raw, path)):
        return Utilization(_permille(level.threshold))
    if name == "follow" and (follow := findings.read(_read_follow, raw, path)):
        return Follow(follow.gate or "")
    if name == "adaptive" and (promise := findings.read(_read_adaptive, raw, path)):
        within = duration_at(promise.start_within, f"{path}.startWithin", findings)
        return Adaptive(within or timedelta(), _permille(promise.ratio))
    return NOTHING


def _permille(part: float | None) -> int:
    return round((part or 0) * 1000)


def number_at(raw: Raw, path: str, findings: Findings, least: int, most: int) -> int | None:
    """Read a whole number; None when it is absent, or wrong and taken down."""
    number = findings.read(_read_number, raw, path)
    if number is not None and not least <= number <= most:
        findings.add(path, f"{number} is out of range; it may be {least} to {most}")
        return None
    return number


def duration_at(raw: Raw, path: str, findings: Findings) -> timedelta | None:
    """Read a duration that is not negative; None when it is absent, or wrong and taken down."""
    written = findings.read(_read_duration, raw, path)
    if isinstance(written, int) and written != 0:
        findings.add(path, f"{written} has no unit; write for example {written}s")
        return None
    text = str(written) if written is not None else None
    duration = findings.parse(parse_duration, text, path)
    if duration is not None and duration < timedelta():
        findings.add(path, "must not be negative")
        return None
    return duration
