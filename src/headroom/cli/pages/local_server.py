"""Serve a page on this machine until Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

from headroom.cli.errors import Misuse, parsed
from headroom.cli.live.signals import stopping_on_signals
from headroom.cli.output import put, say
from headroom.dashboard.access import Local, is_loopback
from headroom.dashboard.hub import Hub, PictureFeed
from headroom.dashboard.pages import Clockwork, Pages
from headroom.limited_server import LimitedServer
from headroom.runtime.http import Address


def local_address(flag: str, text: str) -> Address:
    """Parse an address of this machine; raise Misuse for one that other machines can reach."""
    address = parsed(flag, Address.parse, text)
    if not is_loopback(address.host):
        raise Misuse(
            f"{flag} {text}: this page has no login, so it is served to this machine only",
            "use 127.0.0.1:PORT, and an SSH tunnel from elsewhere",
        )
    return address


async def serve_page(
    feed: PictureFeed,
    address: Address,
    clockwork: Clockwork | None = None,
    started: Callable[[], None] | None = None,
    pace: float = 1.0,
) -> None:
    """Serve a page, print its address, and return after Ctrl-C."""
    hub = Hub(feed, lambda trouble: say(f"note: the snapshot could not be built: {trouble}"), pace)
    app = web.Application()
    Pages(hub, Local(), clockwork).mount(app)
    server = LimitedServer(app)
    try:
        taken = Address(*await server.start(address.host, address.port))
    except OSError as trouble:
        raise Misuse(f"cannot listen on {address}: {trouble.strerror or trouble}") from trouble
    stop = asyncio.Event()
    try:
        with stopping_on_signals(stop.set):
            put(f"http://{taken}/")
            say("open it in a browser; Ctrl-C ends it")
            if started is not None:
                started()
            await stop.wait()
    finally:
        await server.stop()
