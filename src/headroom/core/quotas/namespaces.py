"""Limits of a namespace: how much its holds and slots may keep together, and which kinds.

An administrator writes them on the Namespace, in one line such as
`slots=10, cpu=8, nvidia.com/gpu=2, locked=no, priority=0, preAllocation=no`. What is not named is
unlimited, except `preempt=N`: only with it may slots preempt pods of a priority below N to come
back (`reclaim: Preempt`). A malformed line allows nothing new. Existing room is never taken away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from headroom.core.amounts import amount, format_amount
from headroom.core.holds import LOCKED, Hold
from headroom.core.names import LIMITS_ANNOTATION, LOCKED_PRIORITY, PREEMPTIBLE_PRIORITY
from headroom.core.quantity import QuantityError
from headroom.core.resources import EMPTY, Resources
from headroom.core.selector_validation import label_key_refusal

SLOTS, LOCKED_WORD, PRIORITY, PRE_ALLOCATION = "slots", "locked", "priority", "preAllocation"
PREEMPT = "preempt"
FLAG = "--namespace-limits"
_YES = {"yes": True, "true": True, "no": False, "false": False}
_LARGEST = 2**31 - 1  # what a priority may be at most
LONGEST = 8_192  # characters of a line: it is remembered, and an annotation may have 256 KiB


class LimitsError(ValueError):
    """A line of limits that cannot be read; the text says which part of it and why."""


@dataclass(frozen=True, slots=True)
class NamespaceLimits:
    """`source` is where the limits are written, in words."""

    slots: int | None = None
    resources: tuple[tuple[str, int], ...] = ()
    locked: bool = True
    priority: int | None = None
    pre_allocation: bool = True
    preempt: int | None = None  # the only one that allows: see `core.eviction.reclaim`
    source: str = ""


NO_LIMITS = NamespaceLimits()


@dataclass(frozen=True, slots=True)
class Usage:
    """What the holds of a namespace have, or are about to get."""

    slots: int = 0
    resources: Resources = EMPTY


@lru_cache(maxsize=1024)
def parse_limits(text: str, source: str = FLAG) -> NamespaceLimits:
    """Read a line of limits; LimitsError says what of it is wrong."""
    if len(text) > LONGEST:
        raise LimitsError(f"it has {len(text)} characters; {LONGEST} are the most")
    limits = NamespaceLimits(source=source)
    seen: dict[str, None] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not name or not value:
            raise LimitsError(f"{part!r} is not NAME=VALUE, as in slots=10")
        if name in seen:
            raise LimitsError(f"{name} is there twice")
        seen[name] = None
        limits = _with(limits, name, value)
    return limits


def refusal(limits: NamespaceLimits, hold: Hold, used: Usage) -> str | None:
    """Which limit forbids that this hold gets a guardian, in words; None if none does."""
    where = f"limits of namespace {hold.home} ({limits.source})"
    if hold.mode == LOCKED and not limits.locked:
        return f"{where}: locked=no allows only Preemptible slots"
    if limits.priority is not None and _priority(hold) > limits.priority:
        return f"{where}: priority={limits.priority}, and its guardian has {_priority(hold)}"
    if hold.pre_allocation and not limits.pre_allocation:
        return f"{where}: preAllocation=no"
    if limits.slots is not None and used.slots >= limits.slots:
        return f"{where}: slots={limits.slots}, of which {used.slots} are in use"
    wanted = hold.template.pod.requests
    for name, most in limits.resources:
        if wanted[name] and used.resources[name] + wanted[name] > most:
            told = [
                format_amount(name, each) for each in (most, used.resources[name], wanted[name])
            ]
            return f"{where}: {name}={told[0]}, of which {told[1]} is in use; it asks for {told[2]}"
    return None


def written(text: str, default: NamespaceLimits) -> NamespaceLimits | LimitsError:
    """The limits of a namespace that has this annotation; without one the default."""
    if not text.strip():
        return default
    try:
        return parse_limits(text, f"annotation {LIMITS_ANNOTATION}")
    except LimitsError as error:
        return error


def misread(namespace: str, error: LimitsError) -> str:
    """The message if the limits of a namespace cannot be parsed."""
    return f"the limits of namespace {namespace} ({LIMITS_ANNOTATION}) are not right: {error}"


def _with(limits: NamespaceLimits, name: str, value: str) -> NamespaceLimits:
    match name:
        case "slots":
            return replace(limits, slots=_number(name, value, 0))
        case "priority":
            return replace(limits, priority=_number(name, value, -_LARGEST))
        case "preempt":
            return replace(limits, preempt=_number(name, value, -_LARGEST))
        case "locked":
            return replace(limits, locked=_yes(name, value))
        case "preAllocation":
            return replace(limits, pre_allocation=_yes(name, value))
    if label_key_refusal(name) is not None:
        raise LimitsError(
            f"{name!r} is neither {SLOTS}, {LOCKED_WORD}, {PRIORITY}, "
            f"{PRE_ALLOCATION}, {PREEMPT} nor the name of a resource"
        )
    try:
        most = amount(name, value)
    except QuantityError as error:
        raise LimitsError(f"{name}: {error}") from error
    return replace(limits, resources=(*limits.resources, (name, most)))


def _number(name: str, value: str, least: int) -> int:
    digits = value.removeprefix("-")
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 10:
        raise LimitsError(f"{name}: {value!r} is not an integer")
    if not least <= int(value) <= _LARGEST:
        raise LimitsError(f"{name}: {value} is not between {least} and {_LARGEST}")
    return int(value)


def _yes(name: str, value: str) -> bool:
    if value.lower() not in _YES:
        raise LimitsError(f"{name}: {value!r} is neither yes nor no")
    return _YES[value.lower()]


def _priority(hold: Hold) -> int:
    """The priority of a hold's guardian; classes that a dialect brings are for placeholders."""
    own = LOCKED_PRIORITY if hold.mode == LOCKED else PREEMPTIBLE_PRIORITY
    return PREEMPTIBLE_PRIORITY if hold.template.priority_class else own
