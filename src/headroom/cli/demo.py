"""`headroom demo`: runs a story on the embedded cluster, with fast time and the real operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headroom.cli.completion import complete_story
from headroom.cli.errors import Misuse, NegativeAnswer
from headroom.cli.options import option
from headroom.cli.output import columns, put, say
from headroom.cli.playback.stories import STORIES, Story, find_story

if TYPE_CHECKING:
    from headroom.sim.scenarios.play import Play


def demo(
    story: Annotated[
        str, typer.Argument(help="Which story; see --list.", autocompletion=complete_story)
    ] = "",
    list_stories: Annotated[bool, option("--list", "Name the stories.")] = False,
    fast: Annotated[bool, option("--fast", "Do not wait between scenes.")] = False,
) -> None:
    """Play a story on the embedded cluster; nothing else is needed."""
    if list_stories:
        put(columns(("STORY", "WHAT IT SHOWS"), [(each.name, each.title) for each in STORIES]))
        return
    chosen = find_story(story)
    if chosen is None:
        names = ", ".join(each.name for each in STORIES)
        raise Misuse(f"there is no story {story!r}", f"there are: {names}")
    _tell(chosen, fast)


def _tell(story: Story, fast: bool) -> None:
    from headroom.cli.embedded import embedded_operator
    from headroom.cli.playback.play import play
    from headroom.cli.playback.screen import open_screen
    from headroom.sim.scenarios.loader import load_scenario
    from headroom.sim.scenarios.play import Play

    say(f"{story.name}: {story.title}\n")
    running = Play(load_scenario([story.file]), embedded_operator)
    try:
        with open_screen(fast) as screen:
            play(story, running, screen)
        _sum_up(story, running)
    finally:
        running.close()


def _sum_up(story: Story, running: Play) -> None:
    """Print the numbers of the story and what to try next; raise an error if it went wrong."""
    from headroom.cli.playback.play import moral, summary, waits

    result = running.finish()
    found = waits(story, running.journal.entries)
    put(summary(found))
    put("")
    put(story.lesson or moral(found))
    numbers = result.summary
    broken = len(result.violations)
    put(f"claims {numbers['claims']}, misses {numbers['misses']}, promises broken {broken}")
    if not result.ok:
        told = "; ".join([*result.failures, *result.violations])
        raise NegativeAnswer(f"the story failed: {told}")
    say(f"\nnext: {story.next_step}")
