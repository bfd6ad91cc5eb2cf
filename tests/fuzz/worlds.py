"""An odd object beside a bystander: decided about by an engine, or in a whole embedded cluster."""

from __future__ import annotations

import contextlib
import copy
import re
from pathlib import Path
from random import Random
from typing import Any

from headroom.core.actions import Action, Outcome
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster, Thing
from headroom.runtime.operator import Operator
from headroom.sim.errors import ApiError
from headroom.sim.scenarios.invariants import Invariants
from headroom.sim.world import SimWorld
from headroom.wire.errors import DecodeError
from headroom.wire.schema.validation import type_of, validate
from tests.builders import hold, node, pod
from tests.engine.play import Play
from tests.fuzz.basics import Json, meta, requests
from tests.fuzz.routes import CATALOGUE, CODECS, Found, resource_of
from tests.fuzz.samples import DEPLOYMENT, NAMESPACE, POD_TEMPLATE
from tests.fuzz.wishes import ADAPTIVE, AUTO
from tests.stories import things

GRACE_S = 30.0
MOST_REPAIRS = 6
_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")


def decided(rng: Random, thing: Json, folder: Path) -> Found:
    """Let an engine decide about it, render what it does, and hand over the bystander's hold."""
    resource = resource_of(thing)
    if resource is None:
        return ""
    metadata = thing.get("metadata")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        return ""  # No API server has an object without a name.
    try:
        odd = CODECS.thing_from(resource, thing)
    except DecodeError:
        return ""
    play = Play(node("quiet", labels={"pool": "bystander"}), node("a"))
    broken: list[str] = []

    def rendered(action: Action) -> Outcome | None:
        try:
            CODECS.render(action)
        except Exception as error:  # Whatever it is: it is what we look for.
            broken.append(f"render {type(action).__name__}: {type(error).__name__}: {error}")
        return None

    play.answer = rendered
    play.put(hold("bystander"), *_beside(thing), odd)
    play.run(5)
    play.put(pod("owner", gates=("headroom.dev/claim",), labels={"app": "web"}))
    play.run(GRACE_S)
    for contained in play.engine.quarantine.news:
        return f"contained: {contained}"
    if broken:
        return f"contained: {broken[0]}"
    return "" if play.pod("owner").node else "the bystander's owner was not placed"


def _beside(thing: Json) -> list[Thing]:
    """Sound objects for which it matters what the odd one says."""
    named = thing.get("kind"), str(thing.get("metadata", {}).get("name"))
    others = [each for each in (ADAPTIVE, AUTO, DEPLOYMENT) if _named(each) != named]
    return [
        CODECS.thing_from(resource, each)
        for each in others
        if (resource := resource_of(each)) is not None
    ]


def _named(thing: Json) -> tuple[str, str]:
    return thing["kind"], thing["metadata"]["name"]


def lived(rng: Random, thing: Json, folder: Path) -> Found:
    """Put it into a cluster with an operator; the bystander's handover must still succeed."""
    world = SimWorld(seed=rng.randrange(100), codecs=CODECS)
    world.may_contain = True
    invariants = Invariants(world.store, world.clock)

    def operator(cluster: Cluster, clock: Clock) -> Operator:
        return Operator(cluster, clock, Engine(Policy(scheduler_names=CODECS.schedulers)))

    try:
        for name in ("a", "quiet"):
            room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
            labels = {"zone": name, "pool": name}
            world.apply(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": name, "labels": labels},
                    "status": {"capacity": room, "allocatable": room},
                }
            )
        pinned = {"nodeSelector": {"pool": "quiet"}}
        world.apply(things.hold("bystander", 1, "calm", template=pinned))
        world.start_operator(operator)
        for each in (NAMESPACE, DEPLOYMENT, POD_TEMPLATE, _owner_of_slots()):
            _tried(world, each)
        world.run_for(3)
        _tried(world, thing)
        world.run_for(5)
        world.apply(things.pod("owner", 1, "calm", gated=True, **pinned))
        ran = world.run_until(lambda: _runs(world, "owner"), GRACE_S, step=0.1)
        if rng.random() < 0.3:
            _ended(world, thing)
            world.run_for(5)
        if world.contained():
            return f"contained: {world.contained()[0]}"
        if not ran:
            return "the bystander's owner does not run"
        return f"violated: {invariants.violations[0]}" if invariants.violations else ""
    finally:
        world.close()


def _owner_of_slots() -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta("web-0", labels={"app": "web"}),
        "spec": {"containers": [{"name": "main", "image": "app", "resources": requests("100m")}]},
    }


def _tried(world: SimWorld, thing: Json) -> None:
    """Apply it as a user would: what the API server refuses never gets in.

    One that is refused is tried again without what was refused, so that the rest of its oddities is
    lived with.
    """
    try:
        taken = acceptable(thing)
    except (TypeError, RecursionError):
        return
    if taken is not None:
        with contextlib.suppress(ApiError):
            world.apply(taken)


def acceptable(thing: Json) -> Json | None:
    """The object as far as its schema allows it; None if too little would be left."""
    struct = type_of(thing, CATALOGUE)
    if not isinstance(struct, str):
        return None
    for _ in range(MOST_REPAIRS):
        problems = validate(thing, struct, CATALOGUE)
        if not problems:
            return thing
        thing = copy.deepcopy(thing)
        for path in sorted({problem.path for problem in problems}, reverse=True):
            _drop(thing, _STEP.findall(path))
    return None


def _drop(thing: Any, steps: list[str]) -> None:
    """Take out the part at a path; if there is none, what it is missing from."""
    trail: list[tuple[Any, Any]] = []
    for step in steps:
        key = int(step[1:-1]) if step.startswith("[") else step
        there = isinstance(thing, dict) and key in thing
        there = there or (isinstance(thing, list) and isinstance(key, int) and key < len(thing))
        if not there:
            break
        trail.append((thing, key))
        thing = thing[key]
    if trail:
        holder, key = trail[-1]
        del holder[key]


def _ended(world: SimWorld, thing: Json) -> None:
    metadata = thing.get("metadata")
    if isinstance(metadata, dict):
        place = (str(metadata.get("namespace", "")), str(metadata.get("name")))
        with contextlib.suppress(ApiError, KeyError):
            world.delete(str(thing["kind"]), *place)


def _runs(world: SimWorld, name: str) -> bool:
    found = world.get("Pod", "default", name)
    return found is not None and found.get("status", {}).get("phase") == "Running"
