"""Where a story is shown: live on a terminal, or as a few frames of text in a pipe.

On a terminal time flows: the picture is redrawn while the virtual clock runs, and stands still for
a moment after each scene so that one can read. In a pipe, and with --fast, nothing waits.
"""

from __future__ import annotations

import sys
import textwrap
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from headroom.cli.output import put
from headroom.cli.playing.view import ASCII, BLOCKS, Glyphs, Picture, coloured, plain
from headroom.escaping import one_line

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

FRAME_S = 0.08
SCENE_FRAMES = 20
READING_S = 2.6
LETTERS_PER_S = 28
PIPE_WIDTH = 88


class Screen(Protocol):
    """Shows moments of a story; `frames` is how finely it wants to see time pass."""

    frames: int

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def flow(self, at: float, text: str, shown: Picture) -> None:
        """Show time passing."""
        ...

    def scene(self, at: float, text: str, shown: Picture) -> None:
        """Show a moment to remember."""
        ...


class PipeScreen:
    """Plain text, one frame a scene."""

    frames = 1

    def __init__(self, glyphs: Glyphs | None = None) -> None:
        self._glyphs = glyphs or fitting_glyphs()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return

    def flow(self, at: float, text: str, shown: Picture) -> None:
        return

    def scene(self, at: float, text: str, shown: Picture) -> None:
        head = f"{clock(at)}  "
        put(textwrap.fill(text, PIPE_WIDTH, initial_indent=head, subsequent_indent=" " * len(head)))
        put("")
        put("\n".join(f"  {line}" for line in plain(shown, self._glyphs)))
        put("")


class LiveScreen:
    """A terminal: the picture moves."""

    def __init__(self, hurry: bool) -> None:
        self.frames = 1 if hurry else SCENE_FRAMES
        self._hurry = hurry
        self._colours = True
        self._glyphs = BLOCKS
        self._live: Live | None = None

    def __enter__(self) -> Self:
        from rich.live import Live

        from headroom.cli.output import console

        self._glyphs = fitting_glyphs()  # Before rich stands before stdout and hides what it is.
        terminal = console()
        self._colours = not terminal.no_color
        self._live = Live(console=terminal, auto_refresh=False, transient=True)
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def flow(self, at: float, text: str, shown: Picture) -> None:
        self._draw(at, text, shown)
        self._wait(FRAME_S)

    def scene(self, at: float, text: str, shown: Picture) -> None:
        """Leave the scene standing above, so that the whole story can be read in the end."""
        self._draw(at, text, shown)
        self._wait(max(READING_S, len(text) / LETTERS_PER_S))
        if self._live is not None:
            self._live.console.print(self._frame(at, text, shown))

    def _draw(self, at: float, text: str, shown: Picture) -> None:
        if self._live is not None:
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
    """Virtual seconds since the start, as a stopwatch shows them."""
    minutes, seconds = divmod(int(at), 60)
    if minutes < 60:
        return f"{minutes}:{seconds:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def fitting_glyphs() -> Glyphs:
    """Blocks where stdout can carry them."""
    try:
        "█▓░│…".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ASCII
    return BLOCKS


def open_screen(hurry: bool) -> Screen:
    """The screen that fits stdout."""
    return LiveScreen(hurry) if sys.stdout.isatty() else PipeScreen()
