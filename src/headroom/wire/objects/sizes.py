"""The size of a Headroom from its JSON, and the small readers that its other parts share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from msgspec import Raw

from headroom.core.demand.followers import DEADLINE, FixedCount, FromAnnotation, PerVolume
from headroom.core.demand.followers import (
    MOST_SLOTS as MOST_FOLLOWERS,
)
from headroom.core.promise.report import MEMORY
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.follow import Follow
from headroom.core.sizes.kind import Size
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.pernode import PerNode
from headroom.core.sizes.replicas import NOTHING, Replicas
from headroom.core.sizes.utilization import Utilization
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader, spelling

MOST_PARTS = 1e6  # A part of a whole is below one; far more is no number to count with.
MOST_SLOTS = 100_000
LEAST_PART = 0.001
_PATH = "spec.size"
LONGEST_MEMORY = timedelta(days=90)


class _PerNode(JsonObject):
    slots: Raw = ABSENT
    percent: Raw = ABSENT


class _Utilization(JsonObject):
    threshold: Raw = ABSENT


class _Follow(JsonObject):
    gate: Raw = ABSENT
    slots: Raw = ABSENT
    per_volume: Raw = ABSENT
    from_annotation: Raw = ABSENT
    deadline: Raw = ABSENT


class _PerVolume(JsonObject):
    driver: Raw = ABSENT
    requests: Raw = ABSENT
    limits: Raw = ABSENT


class _Adaptive(JsonObject):
    start_within: Raw = ABSENT
    ratio: Raw = ABSENT
    min: Raw = ABSENT
    max: Raw = ABSENT
    memory: Raw = ABSENT
    release_after: Raw = ABSENT


_read_size = Reader(dict[str, Raw])
_read_per_node = Reader(_PerNode)
_read_utilization = Reader(_Utilization)
_read_follow = Reader(_Follow)
_read_per_volume = Reader(_PerVolume)
_read_texts = Reader(dict[str, str])
_read_adaptive = Reader(_Adaptive)
_read_part = Reader(float)


def size_of(raw: Raw, findings: Findings) -> Size:
    """Read `spec.size`, taking down what is wrong; nothing, where it cannot be made out."""
    size = findings.read(_read_size, raw, _PATH)
    if size is None:
        if not spelling(raw):
            findings.add(_PATH, "is missing: it defines how many slots to hold")
        return NOTHING
    given = [name for name in _SIZES if spelling(size.get(name, ABSENT))]
    if len(given) != 1:
        told = f"has {' and '.join(given)}" if given else "is empty"
        findings.add(_PATH, f"{told}; exactly one of {', '.join(_SIZES)} is needed")
        return NOTHING
    (name,) = given
    return _SIZES[name](size[name], f"{_PATH}.{name}", findings)


def _replicas(raw: Raw, path: str, findings: Findings) -> Size:
    return Replicas(findings.number(raw, path, 0, MOST_SLOTS) or 0)


def _percent(raw: Raw, path: str, findings: Findings) -> Size:
    return Percent(findings.number(raw, path, 0, 1000) or 0)


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
        return PerNode(percent=findings.number(given.percent, f"{path}.percent", 1, 100) or 1)
    return PerNode(slots=findings.number(given.slots, f"{path}.slots", 1, 110) or 1)


def _follow(raw: Raw, path: str, findings: Findings) -> Size:
    given = findings.read(_read_follow, raw, path)
    if given is None:
        return NOTHING
    deadline = findings.duration(given.deadline, f"{path}.deadline")
    if deadline == timedelta():
        findings.add(f"{path}.deadline", "must be longer than 0: otherwise no slot is ever made")
    return Follow(
        gate=_text_at(given.gate, f"{path}.gate", findings),
        slots=_followers(given, path, findings),
        deadline=DEADLINE if deadline is None else deadline,
    )


def _followers(
    given: _Follow, path: str, findings: Findings
) -> FixedCount | PerVolume | FromAnnotation:
    """How many slots for each pod; one, where nothing is said."""
    parts = {
        "slots": given.slots,
        "perVolume": given.per_volume,
        "fromAnnotation": given.from_annotation,
    }
    named = [name for name, part in parts.items() if spelling(part)]
    if len(named) > 1:
        findings.add(path, f"has {' and '.join(named)}; one of them says how many slots")
        return FixedCount()
    match named:
        case ["slots"]:
            count = findings.number(given.slots, f"{path}.slots", 1, MOST_FOLLOWERS)
            return FixedCount(count or 1)
        case ["perVolume"]:
            return _per_volume(given.per_volume, f"{path}.perVolume", findings)
        case ["fromAnnotation"]:
            place = f"{path}.fromAnnotation"
            return FromAnnotation(_text_at(given.from_annotation, place, findings))
    return FixedCount()


def _per_volume(raw: Raw, path: str, findings: Findings) -> FixedCount | PerVolume:
    given = findings.read(_read_per_volume, raw, path)
    if given is None:
        return FixedCount()
    requests = findings.read(_read_texts, given.requests, f"{path}.requests") or {}
    limits = findings.read(_read_texts, given.limits, f"{path}.limits") or {}
    return PerVolume(
        driver=_text_at(given.driver, f"{path}.driver", findings),
        requests=tuple(sorted(requests.items())),
        limits=tuple(sorted(limits.items())),
    )


def _text_at(raw: Raw, path: str, findings: Findings) -> str:
    if not spelling(raw):
        findings.add(path, "is missing")
        return ""
    text = findings.text(raw, path)
    if text == "":
        findings.add(path, "is empty")
    return text or ""


def _utilization(raw: Raw, path: str, findings: Findings) -> Size:
    given = findings.read(_read_utilization, raw, path)
    if given is None:
        return NOTHING
    place = f"{path}.threshold"
    if not spelling(given.threshold):
        findings.add(place, "is missing: the part of the capacity that may be asked for")
        return NOTHING
    threshold = findings.read(_read_part, given.threshold, place)
    if threshold is None:
        return NOTHING
    if not LEAST_PART <= threshold <= 1:
        findings.add(place, f"{threshold} is out of range; it may be {LEAST_PART} to 1")
        return NOTHING
    return Utilization(_permille(threshold))


def _adaptive(raw: Raw, path: str, findings: Findings) -> Size:
    given = findings.read(_read_adaptive, raw, path)
    if given is None:
        return NOTHING
    least = findings.number(given.min, f"{path}.min", 0, MOST_SLOTS) or 0
    most = findings.number(given.max, f"{path}.max", 0, MOST_SLOTS)
    if most is not None and most < least:
        findings.add(f"{path}.max", f"{most} is less than min, which is {least}")
    memory = findings.duration(given.memory, f"{path}.memory")
    if memory is not None and not timedelta(hours=1) <= memory <= LONGEST_MEMORY:
        findings.add(f"{path}.memory", "is out of range; it may be 1h to 90 days (2160h)")
    return Adaptive(
        start_within=_start_within(given.start_within, f"{path}.startWithin", findings),
        ratio=_ratio(given.ratio, f"{path}.ratio", findings),
        least=least,
        most=most,
        memory=MEMORY if memory is None else memory,
        release_after=findings.duration(given.release_after, f"{path}.releaseAfter"),
    )


def _start_within(raw: Raw, path: str, findings: Findings) -> timedelta:
    if not spelling(raw):
        findings.add(path, "is missing: how soon a pod should start, such as 2s")
        return timedelta()
    within = findings.duration(raw, path)
    if within == timedelta():
        findings.add(path, "must be longer than 0; write for example 2s")
    return within or timedelta()


def _ratio(raw: Raw, path: str, findings: Findings) -> float:
    if not spelling(raw):
        findings.add(path, "is missing: the part of the pods that should, such as 0.99")
        return 0.0
    ratio = findings.read(_read_part, raw, path)
    if ratio is not None and not 0.0 < ratio < 1.0:
        told = "no headroom keeps a promise to all" if ratio == 1.0 else "it is a part of the pods"
        findings.add(path, f"{ratio:g} is out of range; {told}: more than 0, less than 1")
    return ratio or 0.0


_SIZES: dict[str, Callable[[Raw, str, Findings], Size]] = {
    "replicas": _replicas,
    "percent": _percent,
    "perNode": _per_node,
    "utilization": _utilization,
    "follow": _follow,
    "adaptive": _adaptive,
}
"""Every field of `spec.size`, with its decoder."""


def _permille(part: float | None) -> int:
    return round(min(max(part or 0, -MOST_PARTS), MOST_PARTS) * 1000)
