"""The flags of `simulate` that show a run as a page or as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Serve = Annotated[
    str,
    typer.Option(
        "--serve",
        metavar="HOST:PORT",
        help="Show the run as a page while it runs, with pause, speed and a time slider.",
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write the run as one self-contained page."),
]
Svg = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Write the timeline of the run as a picture."),
]
JournalFile = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="FILE",
        help="Write the journal and old events there as they come, not into the result.",
    ),
]


@dataclass(frozen=True, slots=True)
class ShownFlags:
    """How to show a run, besides its result; `journal` is the file for its journal."""

    serve: str = ""
    html: Path | None = None
    svg: Path | None = None
    journal: Path | None = None

    @property
    def wanted(self) -> bool:
        return bool(self.serve or self.html or self.svg)


NOT_SHOWN = ShownFlags()
