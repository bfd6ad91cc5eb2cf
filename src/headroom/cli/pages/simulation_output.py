"""Show a simulation: serve it while it runs, or write it into files at its end."""

from __future__ import annotations

import asyncio

from headroom.cli.errors import Misuse
from headroom.cli.formats.progress import waiting
from headroom.cli.output import say
from headroom.cli.pages.feeds import FileFeed
from headroom.cli.pages.flags import ShownFlags
from headroom.cli.pages.local_server import local_address, serve_page
from headroom.cli.pages.page_files import page_of, write_page
from headroom.cli.pages.plots import timeline_svg
from headroom.cli.pages.simulation import PictureRecorder, PlannedRun, Simulation, recorded
from headroom.dashboard.snapshot import SIMULATION
from headroom.dashboard.timeline import from_journal
from headroom.sim.scenarios.report import Result

PAGE_PACE_S = 0.5


def show(run: PlannedRun, shown: ShownFlags) -> Result | None:
    """Serve a run or write it into files; return its result, unless it was stopped early."""
    if shown.serve:
        if shown.html or shown.svg:
            raise Misuse("--serve shows a run while it runs; --html and --svg when it is over")
        return _served(run, shown.serve)
    with waiting("playing the simulation"):
        result, recorder = recorded(run)
    feed = _feed(run, recorder, result)
    if shown.html is not None:
        end = recorder.frames.end
        control = {"paused": True, "speed": 0, "speeds": [], "elapsed": end, "end": end}
        frames = recorder.frames.changes()
        write_page(shown.html, page_of(feed, frames, {**control, "done": True}))
    if shown.svg is not None:
        write_page(shown.svg, timeline_svg(feed.whole()))
    return result


def _feed(run: PlannedRun, recorder: PictureRecorder, result: Result) -> FileFeed:
    """The end of a run, with its whole timeline."""
    if recorder.world is None:
        raise Misuse("the simulation has no state to show")
    timeline = from_journal(result.journal, run.scenario.start, recorder.world.now)
    name = run.scenario.name
    return FileFeed(recorder.world, name, run.prices, timeline, run.policy, kind=SIMULATION)


def _served(run: PlannedRun, where: str) -> Result | None:
    address = local_address("--serve", where)
    simulation = Simulation(run)
    asyncio.run(serve_page(simulation, address, simulation, simulation.start, PAGE_PACE_S))
    result = simulation.stop()
    if result is None:
        say("stopped before the simulation was complete; there is no result")
    return result
