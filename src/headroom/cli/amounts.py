"""Amounts of resources as people read them in a table: 0.5 cores, 4Gi.

For tables only: a rounded number is easier to compare. What is written into objects goes through
`core.quantity`, which is exact.
"""

from __future__ import annotations

from headroom.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY

CORE = 1000
STEP = 1024
SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
BYTES = frozenset({MEMORY, EPHEMERAL_STORAGE})


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
