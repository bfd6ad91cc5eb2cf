"""A story is told scene by scene, and ends in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from headroom.cli.playback.play import PodWait, play, summary, waits
from headroom.cli.playback.screen import PipeScreen, clock
from headroom.cli.playback.stories import STORIES, Scene, Story, find_story
from headroom.cli.playback.view import ASCII, Picture

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {
        "allocatable": {"cpu": "4"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
STORY = Story("x", "a title", (Scene(10, "first"), Scene(30, "second")), (("x", "it"),), "go on")


class Stage:
    """A theatre with one empty node; it remembers how its time passed."""

    def __init__(self) -> None:
        self.moments: list[float] = []

    def run_to(self, moment: float) -> None:
        self.moments.append(moment)

    def objects(self, kind: str) -> Sequence[Mapping[str, Any]]:
        return [NODE] if kind == "Node" else []


class Slow(PipeScreen):
    """A screen that wants to see time flow, and keeps what it saw."""

    frames = 4

    def __init__(self) -> None:
        super().__init__(ASCII)
        self.seen: list[float] = []

    def flow(self, at: float, text: str, shown: Picture) -> None:
        self.seen.append(at)


def test_a_pipe_sees_the_scenes_and_nothing_between(capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage()
    play(STORY, stage, PipeScreen(ASCII))
    assert stage.moments == [10, 30]
    out = capsys.readouterr().out
    assert out.startswith("0:10  first\n\n  a  |")
    assert "0:30  second" in out


def test_a_terminal_sees_time_flow_between_the_scenes() -> None:
    stage, screen = Stage(), Slow()
    play(STORY, stage, screen)
    assert screen.seen == [2.5, 5, 7.5, 15, 20, 25]
    assert stage.moments == sorted(stage.moments)


def test_a_wait_is_from_created_to_bound() -> None:
    journal = [
        {"at": 30.0, "what": "pod_created", "object": "Pod/default/x"},
        {"at": 30.25, "what": "pod_bound", "object": "Pod/default/x", "node": "a"},
    ]
    assert waits(STORY, journal) == [PodWait("x", "it", 0.25, "a")]


def test_who_never_got_a_node_still_waits_in_the_summary() -> None:
    found = waits(STORY, [{"at": 1.0, "what": "pod_created", "object": "Pod/default/x"}])
    assert summary(found).splitlines()[1].split() == ["x", "it", "still", "waits", "-"]


def test_the_stopwatch_shows_minutes_and_seconds_and_hours_if_need_be() -> None:
    assert [clock(at) for at in (0, 9.9, 61, 600)] == ["0:00", "0:09", "1:01", "10:00"]
    assert clock(36605) == "10:10:05"


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_every_story_has_its_file_and_its_scenes_in_order(story: Story) -> None:
    assert story.file.is_file()
    times = [scene.at for scene in story.scenes]
    assert times == sorted(times)
    assert find_story(story.name) is story


def test_the_first_story_is_told_when_none_is_named() -> None:
    assert find_story("") is STORIES[0]
    assert find_story("nope") is None
