"""`headroom view`: shows a dump, a simulation's result or manifests as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headroom.cli.options import Dialects, option
from headroom.cli.pages.prices import PoolLabel, Price, PriceFile, read_prices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headroom.cli.pages.feeds import FileFeed
    from headroom.dashboard.prices import Prices

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="A dump, a result or manifests; - for stdin.")
]
Listen = Annotated[
    str, option("--http", "Serve the page here. [default: a free local port]", "HOST:PORT")
]
Html = Annotated[Path | None, option("--html", "Write the page into a file instead.", "FILE")]


def view(
    files: Files,
    http: Listen = "127.0.0.1:0",
    html: Html = None,
    dialect: Dialects = None,
    price: Price = None,
    price_file: PriceFile = None,
    pool_label: PoolLabel = "",
) -> None:
    """Show a dump or a simulation's result as a page in the browser."""
    import asyncio

    from headroom.cli.pages.local_server import local_address, serve_page

    address = local_address("--http", http)
    feed = file_feed(files, dialect or (), read_prices(price, price_file, pool_label))
    if html is not None:
        from headroom.cli.pages.page_files import page_of, write_page

        write_page(html, page_of(feed))
        return
    asyncio.run(serve_page(feed, address))


def file_feed(files: Sequence[Path], dialects: Sequence[str], prices: Prices) -> FileFeed:
    """The data of files; the journal of a result becomes its timeline."""
    from headroom.cli.pages.feeds import FileFeed
    from headroom.cli.source import Where, documents_in, read_world
    from headroom.dashboard.timeline import Timeline, from_journal
    from headroom.wire.times import parse_time

    documents = documents_in(files)
    world = read_world(Where(documents=tuple(documents), dialects=tuple(dialects)))
    timeline: Timeline | None = None
    for each in documents:
        journal, start = each.data.get("journal"), each.data.get("start")
        if each.data.get("kind") == "Result" and isinstance(journal, list) and start:
            entries = [entry for entry in journal if isinstance(entry, dict)]
            timeline = from_journal(entries, parse_time(str(start)), world.now)
    name = ", ".join(str(path) for path in files)
    return FileFeed(world, name, prices, timeline)
