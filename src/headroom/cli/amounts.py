"""Amounts of resources as people read them in a table: 0.5 cores, 4Gi, and a column for each.

For tables only: a rounded number is easier to compare. What is written into objects goes through
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
    """Write thousandths of a core: 2, 0.5."""
    return f"{amount / CORE:g}"


def size(amount: int) -> str:
    """Write bytes with the largest suffix that leaves at least one: 4Gi, 1.5Gi."""
    scaled = float(abs(amount))
    rank = 0
    while scaled >= STEP and rank < len(SUFFIXES) - 1:
        scaled /= STEP
        rank += 1
    sign = "-" if amount < 0 else ""
    return f"{sign}{scaled:.4g}{SUFFIXES[rank]}" if rank else f"{amount}"


def shown(resource: str, amount: int) -> str:
    """Write an amount of any resource."""
    if resource == CPU:
        return cores(amount)
    return size(amount) if resource in BYTES or resource.startswith("hugepages-") else str(amount)


def in_play(asked: Iterable[Resources], offered: Iterable[Resources] = ()) -> tuple[str, ...]:
    """The resources that a table has columns for: CPU, memory, then the others by name.

    The others are those that anybody asks for, and devices (a domain is in their name) that a node
    offers. Every node offers storage and huge pages: those are shown when they are asked for.
    """
    others = {name for amounts in asked for name in amounts}
    others |= {name for amounts in offered for name in amounts if "/" in name}
    return (*ALWAYS, *sorted(others - {*ALWAYS, PODS}))


def headings(resources: Sequence[str]) -> tuple[str, ...]:
    """A heading for each resource: CPU, MEMORY, NVIDIA.COM/GPU."""
    return tuple(name.upper() for name in resources)


def cells(amounts: Resources, resources: Sequence[str]) -> list[str]:
    """A cell for each resource, empty where there is nothing of it."""
    return [shown(name, amounts[name]) if amounts[name] else "" for name in resources]


def told(amounts: Resources) -> str:
    """Amounts of resources in one phrase: `cpu 0.5, memory 512Mi`."""
    return ", ".join(f"{name} {shown(name, amounts[name])}" for name in sorted(amounts))
