"""Convert resource lists (`{"cpu": "500m", "memory": "1Gi"}`) to whole numbers by name, and back.

The same few texts occur thousands of times, so each is parsed once. `quantity` knows the syntax of
a quantity, `resources` is the resulting vector, and `requests` adds amounts up to the requests of a
pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache

from headroom.core.quantity import (
    LONGEST_REMEMBERED,
    Format,
    Quantity,
    QuantityError,
    parse_quantity,
)
from headroom.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

_MILLI = -3
_LONGEST_NAME = 320  # a domain and a name, as Kubernetes allows them
_LONGEST_LIST = 2000  # Longer lists are read anew each time: memory is not theirs to fill.
Written = str | int | float  # JSON has quantities as texts and as numbers


def amount(name: str, text: str) -> int:
    """Count a resource in whole units: CPU in thousandths, anything else in its own unit.

    QuantityError says what is wrong, also with a quantity that the API server lets nobody ask for:
    a negative one, or a part of something that comes whole.
    """
    short = len(text) <= LONGEST_REMEMBERED and len(name) <= _LONGEST_NAME
    return _remembered(name, text) if short else _amount(name, text)


def _amount(name: str, text: str) -> int:
    quantity = parse_quantity(text)
    if quantity.unscaled < 0:
        raise QuantityError(f"{_shown(text)} must be greater than or equal to 0")
    if _comes_whole(name) and quantity.milli_value() % 1000 and not quantity.huge:
        raise QuantityError(f"{_shown(text)} must be an integer")
    return quantity.milli_value() if name == CPU else quantity.value()


_remembered = lru_cache(maxsize=8192)(_amount)


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_REMEMBERED else f"{text[:LONGEST_REMEMBERED]}…"


def _comes_whole(name: str) -> bool:
    """Whether only whole numbers are let in: pods, and resources of other domains."""
    return name == PODS or ("/" in name and "kubernetes.io/" not in name)


def parse_resources(written: Mapping[str, Written]) -> Resources:
    """Read a resource list as the API server would; QuantityError names the resource."""
    spelled = _spelled(written)
    size = sum(len(name) + len(text) for name, text in spelled)
    return _parse_once(spelled) if size <= _LONGEST_LIST else _parse(spelled)


def _spelled(written: Mapping[str, Written]) -> tuple[tuple[str, str], ...]:
    """Write numbers out as JSON does, because the API server reads them as text as well."""
    return tuple(
        [(name, one if type(one) is str else _spell(one)) for name, one in written.items()]
    )


def _spell(number: Written) -> str:
    # In JSON a truth value is spelled true, which is not a quantity; in Python it counts as 1.
    return str(number).lower() if isinstance(number, bool) else str(number)


def _parse(spelled: tuple[tuple[str, str], ...]) -> Resources:
    amounts = {}
    for name, text in spelled:
        try:
            amounts[name] = amount(name, text)
        except QuantityError as error:
            raise QuantityError(f"{name}: {error}") from error
    return Resources(amounts)


_parse_once = lru_cache(maxsize=4096)(_parse)


def format_amount(name: str, units: int) -> str:
    """Print what `amount` counted, in the canonical form usual for the resource."""
    if name == CPU:
        return Quantity(units, _MILLI).canonical()
    if name in (MEMORY, EPHEMERAL_STORAGE) or name.startswith("hugepages-"):
        return Quantity(units, format=Format.BINARY_SI).canonical()
    return Quantity(units).canonical()


def format_resources(resources: Resources) -> dict[str, str]:
    """Print a vector as a resource list, in the order of its names."""
    return {name: format_amount(name, resources[name]) for name in sorted(resources)}


def format_span(span: timedelta) -> str:
    """Print a length of time as people write it, and as it is read again: 24h, 5h1m, 90s."""
    hours, rest = divmod(int(span.total_seconds()), 3600)
    minutes, seconds = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"
