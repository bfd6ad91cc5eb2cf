"""`headroom demo` in a pipe: the same picture every time, and it goes as it is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headroom.cli.playback.stories import STORIES
from tests.cli.commands import headroom

Golden = Callable[[str, str], None]


@pytest.mark.parametrize("story", [story.name for story in STORIES])
def test_every_story_goes_as_it_is_told(
    capsys: pytest.CaptureFixture[str], golden: Golden, story: str
) -> None:
    finished = headroom(capsys, "demo", story)
    assert finished.code == 0, finished.err
    golden(f"demo/{story}.txt", finished.out)
    assert finished.err.splitlines()[-1].startswith("next: ")


def test_the_owner_starts_at_once_and_its_twin_waits_for_a_node(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = headroom(capsys, "demo").out.splitlines()
    owner, twin, thief = (line for line in lines if line.endswith(("general-2", "burst-0")))
    assert owner.startswith("checkout")
    assert " 0.0" in owner
    assert " 90." in twin
    assert thief.startswith("thief")


def test_the_stories_are_listed_with_what_they_show(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "demo", "--list")
    assert [line.split()[0] for line in finished.out.splitlines()[1:]] == [
        story.name for story in STORIES
    ]


def test_an_unknown_story_is_misuse_and_names_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    finished = headroom(capsys, "demo", "nope")
    assert (finished.code, finished.out) == (2, "")
    assert "thief" in finished.err
