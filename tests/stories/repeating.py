"""The same work again and again, cut one write later each time, on one cluster or the other.

`killing` tells how one such story goes; here it is told at every write there is, for two seeds and
both orders of writes that go together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import pytest

from testbed.controlplane import ControlPlane
from tests.samples import stride
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import LONGEST_WORK, Step, Work, cpu_on_node, nothing, play, rivals_in
from tests.stories.real import RealWorld
from tests.stories.world import World

SEEDS = range(2)
Ends = Callable[[World, bool], bool]


@dataclass
class Worlds:
    """One world after the other; real nodes stay, everything else is taken away in between."""

    plane: ControlPlane | None
    now: EmbeddedWorld | RealWorld | None = None

    @property
    def ways(self) -> list[tuple[int, bool]]:
        """Seeds, and whether writes that go together go backwards; real clusters have no seed."""
        if self.plane is not None:
            return [(0, False)]
        return [(seed, bool(seed % 2)) for seed in SEEDS]

    def fresh(self, seed: int) -> World:
        if isinstance(self.now, RealWorld):
            self.now.clear()
            return self.now
        self.close()
        self.now = EmbeddedWorld(seed) if self.plane is None else RealWorld(self.plane)
        return self.now

    def close(self) -> None:
        if self.now is not None:
            self.now.close()
        self.now = None


def told_of(
    works: Iterable[Work], *real: str, slowly: tuple[str, ...] = ()
) -> pytest.MarkDecorator:
    """Tell of all these works on the embedded cluster, and of those named on a real one too.

    Those told `slowly` wait for the occasion on which there is time for a real cluster.
    """
    many = list(works)
    cases = [
        pytest.param(
            work,
            "embedded",
            id=f"{work}-embedded",
            marks=[pytest.mark.e2e] if work.name in slowly else [],
        )
        for work in many
    ]
    cases += [
        pytest.param(work, "real", id=f"{work}-real", marks=pytest.mark.e2e)
        for work in many
        if work.name in real
    ]
    return pytest.mark.parametrize(("work", "worlds"), cases, indirect=["worlds"])


def good_or_lost(world: World, cut: bool, ends: Ends) -> bool:
    return bool(rivals_in(world)) or ends(world, cut)


def at_every_write(worlds: Worlds, work: Work, ends: Ends, meanwhile: Step = nothing) -> None:
    """Kill after one write, after two, and so on, until the work was done before the cut came.

    Where time is short not at every write, and at others for each seed.
    """
    for number, (seed, backwards) in enumerate(worlds.ways):
        for writes in range(1 + number * (stride() > 1), LONGEST_WORK, stride()):
            world = worlds.fresh(seed)
            cut = play(world, work, writes, backwards, meanwhile)
            how = f"cut after write {writes}, seed {seed}, backwards {backwards}"
            world.until(f"the end is good ({how})", partial(good_or_lost, world, cut, ends))
            assert not rivals_in(world), f"{how}\n{world.picture()}"
            assert cpu_on_node(world) <= work.cpu, f"{how}\n{world.picture()}"
            if not cut:
                assert writes > 1, "there was nothing to cut"
                break
        else:
            raise AssertionError("the work never came to its end")
