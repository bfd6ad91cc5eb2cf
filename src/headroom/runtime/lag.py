"""Measure how late the event loop is: a blocked loop delays watches, writes and probes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

EVERY_S = 1.0


async def measure_lag(note: Callable[[float], None]) -> None:
    """Sleep for a second again and again, and report how late the loop was."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + EVERY_S
        await asyncio.sleep(EVERY_S)
        note(max(0.0, loop.time() - due))
