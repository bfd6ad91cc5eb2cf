"""Format amounts of resources for tables: 0.5 cores, 4Gi, one column for each resource.

Only tables use this: a rounded number is easier to compare. Amounts in objects are formatted by
`core.quantity`, which is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headroom.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

CORE = 1000
STEP = 1024
SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
BYTES = frozenset({MEMORY, EPHEMERAL_STORAGE})
ALWAYS = (CPU, MEMORY)


def cores(amount: int) -> str:
    """Format thousandths of a core: 2, 0.5."""
    return f"{amount / CORE:g}"


def size(amount: int) -> str:
    """Format bytes with the largest suffix that gives at least one: 4Gi, 1.5Gi."""
    scaled = float(abs(amount))
    rank = 0
    while scaled >= STEP and rank < len(SUFFIXES) - 1:
        scaled /= STEP
        rank += 1
    sign = "-" if amount < 0 else ""
    return f"{sign}{scaled:.4g}{SUFFIXES[rank]}" if rank else f"{amount}"


def shown(resource: str, amount: int) -> str:
    """Format an amount of any resource."""
    if resource == CPU:
        return cores(amount)
    return size(amount) if resource in BYTES or resource.startswith("hugepages-") else str(amount)


def in_play(asked: Iterable[Resources], offered: Iterable[Resources] = ()) -> tuple[str, ...]:
    """The resources that a table has columns for: CPU, memory, then the others by name.

    The others are those that any pod requests, and devices (with a domain in their name) that a
    node offers. Every node offers storage and huge pages, so these have a column only if requested.
    """
    others = {name for amounts in asked for name in amounts}
    others |= {name for amounts in offered for name in amounts if "/" in name}
    return (*ALWAYS, *sorted(others - {*ALWAYS, PODS}))


def headings(resources: Sequence[str]) -> tuple[str, ...]:
    """A heading for each resource: CPU, MEMORY, NVIDIA.COM/GPU."""
    return tuple(name.upper() for name in resources)


def cells(amounts: Resources, resources: Sequence[str]) -> list[str]:
    """One cell for each resource; empty if the amount is zero."""
    return [shown(name, amounts[name]) if amounts[name] else "" for name in resources]


def hundredths(part: int, whole: int) -> int:
    """A share in whole hundredths, rounded to the nearest; 0 of nothing."""
    return (200 * part + whole) // (2 * whole) if whole else 0


def told(amounts: Resources) -> str:
    """Amounts of resources in one phrase: `cpu 0.5, memory 512Mi`."""
    return ", ".join(f"{name} {shown(name, amounts[name])}" for name in sorted(amounts))
