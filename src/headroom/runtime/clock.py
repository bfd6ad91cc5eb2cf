"""The clock of a live operator: the machine's own. `sim` has a virtual one behind the same port."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime


class WallClock:
    """Real time, aware, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
