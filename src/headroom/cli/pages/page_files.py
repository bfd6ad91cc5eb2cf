"""Write pages and pictures into files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headroom.cli.files import write_file
from headroom.cli.output import say
from headroom.cli.pages.feeds import FileFeed
from headroom.dashboard.document import FORMAT, Document
from headroom.dashboard.standalone import standalone

MOST_EXPLAINED = 300
MOST_NODES = 1000


def page_of(
    feed: FileFeed, frames: Sequence[Document] = (), control: Document | None = None
) -> str:
    """One self-contained page; the details of nodes and rows are calculated in advance."""
    snapshot: dict[str, Any] = {"format": FORMAT, "hidden": [], "revision": 1, **feed.whole()}
    if control is not None:
        snapshot["control"] = control
    names = list(snapshot["nodes"])[:MOST_NODES]
    waiting = [f"Pod/{name}" for name in snapshot["waiting"]]
    wanted = [*sorted(snapshot["objects"]), *sorted(waiting)][:MOST_EXPLAINED]
    return standalone(
        {
            "snapshot": snapshot,
            "node": {
                name: {"node": name, "pods": feed.pods_of(name), "hidden": 0} for name in names
            },
            "explain": {
                each: told for each in wanted if (told := feed.explain_now(each)) is not None
            },
            "frames": list(frames),
        }
    )


def write_page(path: Path, text: str) -> None:
    """Write a page or a picture into a file, and say so."""
    write_file(path, text)
    say(f"written: {path}")
