"""Count the functions that one owner passes on its way through door 2, in a run.

A hold is held on the embedded cluster, and an owner that names our scheduler is created. From the
event that shows the owner to the write that binds it, this records every function of `core`,
`scheduling` and `engine` that the engine calls with the owner among its arguments: as a pod, by
name, or as a claim.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import headroom
from headroom.core.actions import Bind
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence
from headroom.core.policy import Policy
from headroom.core.subjects import Subject, pod_subject
from headroom.engine.engine import Engine
from headroom.ports import Seen
from headroom.runtime.operator import Operator
from headroom.sim.api.values import Json
from headroom.sim.cluster import SimCluster
from headroom.sim.world import SimWorld

SOURCE = Path(headroom.__file__).parent
PACKAGES = ("core", "engine", "scheduling")
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110"}
NEEDS = {"requests": {"cpu": "1"}}
SPEC = {"containers": [{"name": "main", "image": "app", "resources": NEEDS}]}
NODE: Json = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"capacity": ROOM, "allocatable": ROOM},
}
HOLD: Json = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Hold",
    "metadata": {"name": "h", "namespace": "default"},
    "spec": {
        "template": {"spec": SPEC},
        "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
    },
}
KEY = Key("default", "owner")
ENTRANCES = frozenset(
    entrance.__code__ for entrance in (Engine.observe, Engine.plan, Engine.settle, Engine.finish)
)
OWNER: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "owner", "namespace": "default", "labels": {"app": "web"}},
    "spec": {**SPEC, "schedulerName": "headroom-scheduler"},
}


@cache
def passage() -> tuple[str, ...]:
    """The functions as `module:name`, in the order in which they are first called."""
    with SimWorld() as world:
        world.apply(NODE)
        world.apply(HOLD)
        world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))
        world.run_for(10)
        recorder = Recorder()
        sys.setprofile(recorder)
        try:
            world.apply(OWNER)
            world.run_for(1)
        finally:
            sys.setprofile(None)
    if not recorder.bound:
        raise RuntimeError("the owner was not bound: the way of an owner cannot be counted")
    return tuple(recorder.passed)


class Recorder:
    """A profile function: records the engine's functions that are called with the owner."""

    def __init__(self) -> None:
        self.passed: dict[str, None] = {}
        self.bound = False
        self._inside = 0  # The simulated cluster uses the same packages, and is not counted.

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "return" and code in ENTRANCES:
            self._inside -= 1
        if event != "call" or self.bound:
            return
        if code in ENTRANCES:
            self._inside += 1
        elif code is SimCluster.perform.__code__:
            self.bound = isinstance(frame.f_locals["action"], Bind)
        name = _name(code) if self._inside else ""
        if name and any(map(_is_about, frame.f_locals.values())):
            self.passed[name] = None


def _is_about(value: object) -> bool:
    """Whether an argument is the owner, or names it."""
    match value:
        case Key():
            return value == KEY
        case Pod(key=key) | Seen(thing=Pod(key=key)) | Bind(key=key):
            return key == KEY
        case Subject():
            return value == pod_subject(KEY)
        case Sequence(subjects=subjects):
            return pod_subject(KEY) in subjects
        case tuple() | list():
            return any(map(_is_about, value))
    return False


def _name(code: CodeType) -> str:
    """A function of ours by module and name; nothing for others, and for parts of a function."""
    path = Path(code.co_filename)
    if code.co_name.startswith("<") or not path.is_relative_to(SOURCE):
        return ""
    module = path.relative_to(SOURCE)
    return f"{module.with_suffix('')}:{code.co_qualname}" if module.parts[0] in PACKAGES else ""
