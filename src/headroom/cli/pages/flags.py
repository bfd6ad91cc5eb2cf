"""The flags of `simulate` that show a run as a page or as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from headroom.cli.options import option

Serve = Annotated[
    str,
    option(
        "--serve",
        "Show the run as a page while it runs, with pause, speed and a time slider.",
        "HOST:PORT",
    ),
]
Html = Annotated[Path | None, option("--html", "Write the run as one self-contained page.", "FILE")]
Svg = Annotated[Path | None, option("--svg", "Write the timeline of the run as a picture.", "FILE")]
JournalFile = Annotated[
    Path | None,
    option(
        "--journal",
        "Write the journal and old events there as they come, not into the result.",
        "FILE",
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
