"""How late the loop is: whoever blocks it delays watches, writes and probes alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

EVERY_S = 1.0


async def measure_lag(note: Callable[[float], None]) -> None:
    """Ask the loop to come back in a second, for ever, and tell by how much it was late."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + EVERY_S
        await asyncio.sleep(EVERY_S)
        note(max(0.0, loop.time() - due))
