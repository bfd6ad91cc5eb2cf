"""Show a story: live on a terminal, or as a few frames of text in a pipe.

On a terminal the picture is redrawn while the virtual clock runs, and pauses after each scene so
that the user can read. In a pipe, and with --fast, there are no pauses.
"""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from headroom.cli.output import put
from headroom.cli.playback.view import ASCII, BLOCKS, Glyphs, Picture, coloured, plain
from headroom.terminal_text import one_line

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

FRAME_S = 0.08
SCENE_FRAMES = 20
READING_S = 2.6
LETTERS_PER_S = 28
PIPE_WIDTH = 88


class Screen(Protocol):
    """Shows moments of a story; `frames` is how many frames it wants between two scenes."""

    frames: int

    def flow(self, at: float, text: str, shown: Picture) -> None:
        """Show a frame between two scenes."""
        ...

    def scene(self, at: float, text: str, shown: Picture) -> None:
        """Show a scene."""
        ...


class PipeScreen:
    """Plain text, one frame for each scene."""

    frames = 1

    def __init__(self, glyphs: Glyphs | None = None) -> None:
        self._glyphs = glyphs or fitting_glyphs()

    def flow(self, at: float, text: str, shown: Picture) -> None:
        return

    def scene(self, at: float, text: str, shown: Picture) -> None:
        head = f"{clock(at)}  "
        put(textwrap.fill(text, PIPE_WIDTH, initial_indent=head, subsequent_indent=" " * len(head)))
        put("")
        put("\n".join(f"  {line}" for line in plain(shown, self._glyphs)))
        put("")


class LiveScreen:
    """A terminal with a moving picture."""

    def __init__(self, live: Live, glyphs: Glyphs, hurry: bool) -> None:
        self.frames = 1 if hurry else SCENE_FRAMES
        self._hurry = hurry
        self._colours = not live.console.no_color
        self._glyphs = glyphs
        self._live = live

    def flow(self, at: float, text: str, shown: Picture) -> None:
        self._draw(at, text, shown)
        self._wait(FRAME_S)

    def scene(self, at: float, text: str, shown: Picture) -> None:
        """Keep the scene above the picture, so that the whole story can be read at the end."""
        self._draw(at, text, shown)
        self._wait(max(READING_S, len(text) / LETTERS_PER_S))
        self._live.console.print(self._frame(at, text, shown))

    def _draw(self, at: float, text: str, shown: Picture) -> None:
        self._live.update(self._frame(at, text, shown), refresh=True)

    def _frame(self, at: float, text: str, shown: Picture) -> Text:
        from rich.text import Text

        head = Text()
        head.append(f" {clock(at)} ", style="reverse bold")
        head.append(f"  {one_line(text)}\n\n", style="bold")
        if self._colours:
            head.append_text(coloured(shown, self._glyphs))
        else:
            head.append("\n".join(plain(shown, self._glyphs)))
        head.append("\n")
        return head

    def _wait(self, seconds: float) -> None:
        if not self._hurry:
            time.sleep(seconds)


def clock(at: float) -> str:
    """Format virtual seconds since the start as a stopwatch does."""
    minutes, seconds = divmod(int(at), 60)
    if minutes < 60:
        return f"{minutes}:{seconds:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def fitting_glyphs() -> Glyphs:
    """Block characters if stdout can encode them."""
    try:
        "█▓░│…".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ASCII
    return BLOCKS


@contextmanager
def open_screen(hurry: bool) -> Iterator[Screen]:
    """The screen for stdout: a terminal or a pipe."""
    if not sys.stdout.isatty():
        yield PipeScreen()
        return
    from rich.live import Live

    from headroom.cli.output import console

    glyphs = fitting_glyphs()  # Before rich replaces stdout.
    with Live(console=console(), auto_refresh=False, transient=True) as live:
        yield LiveScreen(live, glyphs, hurry)
