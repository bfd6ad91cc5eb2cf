"""The picture of a cluster: who sits where, what is held, who waits."""

from __future__ import annotations

import pytest

from headroom.cli.playback.view import ASCII, Picture, PieceUse, coloured, picture, plain
from headroom.core.names import CLAIMED_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL, ROLE_LATCH
from headroom.core.objects import Pod
from tests.builders import node, pod


def web(name: str, on: str, cpu: int = 2) -> Pod:
    return pod(name, cpu=cpu, node=on, labels={"app": "web"})


def guardian(on: str, cpu: int = 2) -> Pod:
    return pod(f"guardian-{on}", cpu=cpu, node=on, labels={ROLE_LABEL: ROLE_GUARDIAN})


def small_cluster() -> Picture:
    owner = pod(
        "checkout",
        cpu=1,
        node="b",
        labels={"app": "checkout"},
        annotations={CLAIMED_ANNOTATION: "x"},
    )
    return picture(
        [node("b"), node("a")],
        [web("web-1", "a"), web("web-0", "b"), guardian("a"), owner, pod("thief", cpu="1500m")],
    )


def test_a_picture_reads_without_colours() -> None:
    assert plain(small_cluster(), ASCII, width=24) == [
        "a  |web########|held=======|  4 cpu",
        "b  |web########|chec…|     |  4 cpu",
        "## used 4   @@ claimed 1   == held 2   free 1",
        "waiting: thief (1.5 cpu)",
    ]


def test_the_coloured_picture_says_the_same() -> None:
    text = coloured(small_cluster(), width=24).plain
    assert "held 2" in text
    assert "waiting: thief (1.5 cpu)" in text


def test_nothing_is_lost_between_used_held_and_free() -> None:
    shown = small_cluster()
    assert [shown.total(use) for use in PieceUse] == [4000, 1000, 2000, 1000]


@pytest.mark.parametrize("width", [8, 11, 24, 48, 80])
def test_every_bar_of_equal_nodes_is_equally_long(width: int) -> None:
    nodes = [node("a"), node("b"), node("c")]
    pods = [web("w1", "a", 1), web("w2", "a", 3), guardian("b", 1), web("w3", "b", 1)]
    bars = plain(picture(nodes, pods), width=width)[:3]
    assert len({len(line) for line in bars}) == 1


def test_a_larger_node_has_a_longer_bar() -> None:
    small, large = plain(picture([node("a", cpu=4), node("b", cpu=8)], []), width=40)[:2]
    assert len(small) < len(large)


def test_pods_that_ended_and_latches_that_wait_are_not_shown() -> None:
    ended = pod("done", cpu=2, node="a", phase="Succeeded")
    latch = pod("latch", cpu=2, labels={ROLE_LABEL: ROLE_LATCH})
    shown = picture([node("a")], [ended, latch])
    assert shown.total(PieceUse.FREE) == 4000
    assert shown.waiting == ()


def test_a_cluster_without_nodes_is_a_picture_too() -> None:
    assert plain(picture([], [pod("x", cpu=1)])) == ["", "waiting: x (1 cpu)"]


def test_room_promised_to_a_nominated_pod_is_shown_as_held_for_it() -> None:
    owner = pod("checkout", cpu=2, nominated="a")
    shown = picture([node("a")], [owner])
    assert plain(shown, ASCII, width=24)[0] == "a  |for checko…|           |  4 cpu"
    assert shown.waiting == ("checkout (2 cpu)",)
