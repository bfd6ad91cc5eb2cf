"""The size of a Headroom from its JSON, and the small readers that its other parts share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from headroom.core.demand.followers import DEADLINE, FixedCount, FromAnnotation, PerVolume
from headroom.core.demand.followers import (
    MOST_SLOTS as MOST_FOLLOWERS,
)
from headroom.core.promise.report import MEMORY
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.follow import Follow
from headroom.core.sizes.kind import Size
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import NOTHING, Replicas
from headroom.core.sizes.utilization import Utilization
from headroom.wire.objects.findings import Fields
from headroom.wire.objects.reader import Reader

MOST_PARTS = 1e6  # A part of a whole is below one; far more is no number to count with.
MOST_SLOTS = 100_000
LEAST_PART = 0.001
LONGEST_MEMORY = timedelta(days=90)
_read_texts = Reader(dict[str, str])
_read_part = Reader(float)


def size_of(spec: Fields) -> Size:
    """Read `spec.size`, taking down what is wrong; nothing, where it cannot be made out."""
    size = spec.part("size")
    if not size.given:
        if not spec.has("size"):
            spec.add("size", "is missing: it defines how many slots to hold")
        return NOTHING
    given = [*size.present(_SIZES)]
    if len(given) != 1:
        told = f"has {' and '.join(given)}" if given else "is empty"
        spec.add("size", f"{told}; exactly one of {', '.join(_SIZES)} is needed")
        return NOTHING
    (name,) = given
    return _SIZES[name](size, name)


def _replicas(size: Fields, name: str) -> Size:
    return Replicas(size.number(name, 0, MOST_SLOTS) or 0)


def _percent(size: Fields, name: str) -> Size:
    return Percent(size.number(name, 0, 1000) or 0)


def _per_node(size: Fields, name: str) -> Size:
    given = size.part(name)
    if not given.given:
        return NOTHING
    has_slots, has_percent = given.has("slots"), given.has("percent")
    if has_slots == has_percent:
        told = "has both" if has_slots else "has neither"
        size.add(name, f"{told} slots and percent; exactly one of them is needed")
        return NOTHING
    if has_percent:
        return PerNode(percent=given.number("percent", 1, 100) or 1)
    return PerNode(slots=given.number("slots", 1, 110) or 1)


def _follow(size: Fields, name: str) -> Size:
    given = size.part(name)
    if not given.given:
        return NOTHING
    deadline = given.duration("deadline")
    if deadline == timedelta():
        given.add("deadline", "must be longer than 0: otherwise no slot is ever made")
    return Follow(
        gate=_required_text(given, "gate"),
        slots=_followers(given),
        deadline=DEADLINE if deadline is None else deadline,
    )


def _followers(given: Fields) -> FixedCount | PerVolume | FromAnnotation:
    """How many slots for each pod; one, where nothing is said."""
    named = [*given.present(("slots", "perVolume", "fromAnnotation"))]
    if len(named) > 1:
        told = f"has {' and '.join(named)}; one of them says how many slots"
        given.findings.add(given.path, told)
        return FixedCount()
    match named:
        case ["slots"]:
            return FixedCount(given.number("slots", 1, MOST_FOLLOWERS) or 1)
        case ["perVolume"]:
            return _per_volume(given.part("perVolume"))
        case ["fromAnnotation"]:
            return FromAnnotation(_required_text(given, "fromAnnotation"))
    return FixedCount()


def _per_volume(given: Fields) -> FixedCount | PerVolume:
    if not given.given:
        return FixedCount()
    requests = given.read(_read_texts, "requests") or {}
    limits = given.read(_read_texts, "limits") or {}
    return PerVolume(
        driver=_required_text(given, "driver"),
        requests=tuple(sorted(requests.items())),
        limits=tuple(sorted(limits.items())),
    )


def _required_text(given: Fields, name: str) -> str:
    if not given.has(name):
        given.add(name, "is missing")
        return ""
    text = given.text(name)
    if text == "":
        given.add(name, "is empty")
    return text or ""


def _utilization(size: Fields, name: str) -> Size:
    given, field = size.part(name), "threshold"
    if not given.given:
        return NOTHING
    if not given.has(field):
        given.add(field, "is missing: the part of the capacity that may be asked for")
        return NOTHING
    threshold = given.read(_read_part, field)
    if threshold is None:
        return NOTHING
    if not LEAST_PART <= threshold <= 1:
        given.add(field, f"{threshold} is out of range; it may be {LEAST_PART} to 1")
        return NOTHING
    return Utilization(_permille(threshold))


def _adaptive(size: Fields, name: str) -> Size:
    given = size.part(name)
    if not given.given:
        return NOTHING
    least = given.number("min", 0, MOST_SLOTS) or 0
    most = given.number("max", 0, MOST_SLOTS)
    if most is not None and most < least:
        given.add("max", f"{most} is less than min, which is {least}")
    memory = given.duration("memory")
    if memory is not None and not timedelta(hours=1) <= memory <= LONGEST_MEMORY:
        given.add("memory", "is out of range; it may be 1h to 90 days (2160h)")
    return Adaptive(
        start_within=_start_within(given, "startWithin"),
        ratio=_ratio(given, "ratio"),
        least=least,
        most=most,
        memory=MEMORY if memory is None else memory,
        release_after=given.duration("releaseAfter"),
    )


def _start_within(given: Fields, name: str) -> timedelta:
    if not given.has(name):
        given.add(name, "is missing: how soon a pod should start, such as 2s")
        return timedelta()
    within = given.duration(name)
    if within == timedelta():
        given.add(name, "must be longer than 0; write for example 2s")
    return within or timedelta()


def _ratio(given: Fields, name: str) -> float:
    if not given.has(name):
        given.add(name, "is missing: the part of the pods that should, such as 0.99")
        return 0.0
    ratio = given.read(_read_part, name)
    if ratio is not None and not 0.0 < ratio < 1.0:
        told = "no headroom keeps a promise to all" if ratio == 1.0 else "it is a part of the pods"
        given.add(name, f"{ratio:g} is out of range; {told}: more than 0, less than 1")
    return ratio or 0.0


_SIZES: dict[str, Callable[[Fields, str], Size]] = {
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
