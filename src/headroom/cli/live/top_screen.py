"""`headroom top -w`: bars of all nodes, drawn again when an object or the window size changes."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import replace

from headroom.cli.live.table_watch import worlds
from headroom.cli.output import put
from headroom.cli.playback.screen import fitting_glyphs
from headroom.cli.source import Where, World
from headroom.cli.views.bars import Look, top_lines
from headroom.dashboard.page_state import filled
from headroom.dashboard.view import view_of

LOOK_S = 0.25


async def follow_top(where: Where, look: Look) -> None:
    """Draw until Ctrl-C: on a terminal in place, in a pipe one picture after each change."""
    look = replace(look, glyphs=fitting_glyphs())
    if sys.stdout.isatty():
        await _on_terminal(worlds(where), look)
        return
    async for world in worlds(where):
        put("\n".join([*drawn(world, look), ""]))
        sys.stdout.flush()


async def _on_terminal(news: AsyncIterator[World], look: Look) -> None:
    from rich.live import Live
    from rich.text import Text

    from headroom.cli.output import console

    newest: list[World] = []
    reading = asyncio.create_task(_read(news, newest))
    seen: tuple[object, ...] = ()
    with Live(console=console(), auto_refresh=False, screen=True) as live:
        try:
            while not reading.done():
                size = shutil.get_terminal_size()
                now = (id(newest[0]) if newest else 0, size)
                if newest and now != seen:
                    seen = now
                    fitted = replace(look, width=size.columns, height=size.lines)
                    live.update(Text("\n".join(drawn(newest[0], fitted))), refresh=True)
                await asyncio.sleep(LOOK_S)
            reading.result()
        finally:
            reading.cancel()


async def _read(news: AsyncIterator[World], newest: list[World]) -> None:
    async for world in news:
        newest[:] = [world]


def drawn(world: World, look: Look) -> list[str]:
    """Draw the world as text."""
    return top_lines(filled(view_of(world)).sections(), look)
