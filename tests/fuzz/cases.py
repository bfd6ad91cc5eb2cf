"""One case by its number: which object, how it is made odd, which way it goes.

Time and memory of a case are bounded: a case that takes longer than `HANG_S`, or more memory than
there is room for, is a finding like an exception that nobody foresaw.
"""

from __future__ import annotations

import contextlib
import io
import signal
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

from headroom.cli.embedded import embedded_operator
from headroom.errors import HeadroomError
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.scenarios.schema import with_scenarios
from tests.fuzz import routes, worlds
from tests.fuzz.basics import Json
from tests.fuzz.mutation import mutated
from tests.fuzz.routes import CATALOGUE, CODECS, Route
from tests.fuzz.samples import OBJECTS, POD, SCENARIO

HANG_S = 60
SLOW_CPU_S = 10.0
HORIZON_S = 120.0
SCENARIO_CATALOGUE = with_scenarios(CATALOGUE)


@dataclass(frozen=True)
class Finding:
    """What a case came to: `contained` hurt its own object only."""

    case: int
    route: str
    kind: str
    problem: str

    @property
    def contained(self) -> bool:
        return self.problem.startswith("contained: ")


@dataclass(frozen=True)
class Way:
    """A route, how often it is taken, and the objects that take it."""

    name: str
    weight: int
    go: Route
    objects: tuple[Json, ...] = tuple(OBJECTS)


class Hang(BaseException):
    """A case takes too long; no net for ordinary exceptions may catch this."""


def scenario(rng: Random, thing: Json, folder: Path) -> str:
    """Play an odd scenario, as far as it can be read."""
    text = routes.as_text(rng, thing)
    try:
        found = load_scenario([routes.FILE], CODECS, read=lambda _: text)
    except HeadroomError as answer:
        return "" if answer.exit_code == 2 and answer.message.strip() else f"said: {answer}"
    if (found.until or 0.0) > HORIZON_S or sum(pool.count for pool in found.pools) > 50:
        return ""  # Sound, and long or large: no case for a run of many.
    try:
        run_scenario(found, embedded_operator, codecs=CODECS)
    except HeadroomError as answer:
        if answer.exit_code not in (1, 2):
            raise
    return ""


# Of some kinds we only write, or check what manifests say; nobody decodes or decides about them.
DECODED = tuple(each for each in OBJECTS if routes.is_decoded(each))
WAYS = (
    Way("read", 909, routes.read, DECODED),
    Way("manifest", 40, routes.manifest),
    Way("decided", 30, worlds.decided, DECODED),
    Way("told", 3, routes.told),
    Way("shown", 2, routes.shown, DECODED),
    Way("review", 10, routes.review, (POD,)),
    Way("scenario", 4, scenario, (SCENARIO,)),
    Way("lived", 2, worlds.lived),
)


def run_case(
    case: int, folder: Path, only: str = "", kind: str = ""
) -> tuple[str, str, Finding | None]:
    """Run one case by one of the routes in `only`; its route, its kind, and what was found."""
    rng = Random(case)
    way, sort, odd = _drawn(rng, only, kind)
    problem = _problem(way, rng, odd, folder)
    found = Finding(case, way.name, sort, problem) if problem else None
    return way.name, sort, found


def odd_object(case: int, only: str = "", kind: str = "") -> Json:
    """The object of a case, to look at."""
    return _drawn(Random(case), only, kind)[2]


def _drawn(rng: Random, only: str, kind: str) -> tuple[Way, str, Json]:
    """Which way, which kind, which odd object; `only` are names of routes with commas between."""
    wanted = only.split(",") if only else []
    ways = [way for way in WAYS if not wanted or way.name in wanted]
    way = rng.choices(ways, [each.weight for each in ways])[0]
    objects = [each for each in way.objects if not kind or each["kind"] == kind] or way.objects
    thing = rng.choice(objects)
    catalogue = SCENARIO_CATALOGUE if thing["kind"] == "Scenario" else CATALOGUE
    return way, thing["kind"], mutated(rng, thing, catalogue, OBJECTS)


def _problem(way: Way, rng: Random, odd: Json, folder: Path) -> str:
    began = time.process_time()
    try:
        with _bounded(), contextlib.redirect_stderr(io.StringIO()):
            problem = way.go(rng, odd, folder)
    except Hang:
        return f"no end within {HANG_S} s of CPU"
    except Exception as error:  # Whatever leaves a route is what we look for.
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        return f"escaped: {type(error).__name__}: {str(error)[:200]} ({place})"
    took = time.process_time() - began
    if not problem and took > SLOW_CPU_S:
        return f"slow: {took:.1f} s of CPU"
    return problem


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, HANG_S)  # CPU time: others may need the machine too.
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
