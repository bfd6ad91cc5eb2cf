"""Run a story: advance virtual time from scene to scene, show each, and print a summary.

It knows the cluster only as a `Theatre`, so that a test can use a small one. `demo` connects it to
the embedded cluster and the real operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from headroom.cli.output import columns
from headroom.cli.playback.screen import Screen
from headroom.cli.playback.stories import Story
from headroom.cli.playback.view import Picture, picture
from headroom.core.objects import Node, Pod
from headroom.wire.decode import thing_from
from headroom.wire.kinds import NODES, PODS, Resource

Json = Mapping[str, Any]


class Theatre(Protocol):
    """A cluster with a virtual clock."""

    def run_to(self, moment: float) -> None: ...

    def objects(self, kind: str) -> Sequence[Json]: ...


@dataclass(frozen=True, slots=True)
class PodWait:
    """How long a pod waited for its node; None: it has none."""

    pod: str
    who: str
    seconds: float | None
    node: str = ""


def play(story: Story, theatre: Theatre, screen: Screen) -> None:
    """Show every scene, and between them as many frames as the screen wants."""
    begun = 0.0
    for scene in story.scenes:
        for frame in range(1, screen.frames):
            moment = begun + (scene.at - begun) * frame / screen.frames
            theatre.run_to(moment)
            screen.flow(moment, scene.text, see(theatre))
        theatre.run_to(scene.at)
        screen.scene(scene.at, scene.text, see(theatre))
        begun = scene.at


def see(theatre: Theatre) -> Picture:
    """A picture of the cluster as it is now."""
    nodes = [item for item in _decoded(theatre, NODES) if isinstance(item, Node)]
    pods = [item for item in _decoded(theatre, PODS) if isinstance(item, Pod)]
    return picture([node for node in nodes if node.ready], pods)


def _decoded(theatre: Theatre, resource: Resource) -> list[object]:
    return [thing_from(resource, item) for item in theatre.objects(resource.kind)]


def waits(story: Story, journal: Sequence[Json]) -> list[PodWait]:
    """How long each pod of the cast waited, from creation to bind."""
    made = {entry["object"]: entry["at"] for entry in journal if entry["what"] == "pod_created"}
    bound = {entry["object"]: entry for entry in journal if entry["what"] == "pod_bound"}
    found = []
    for pod, who in story.cast:
        name = f"Pod/default/{pod}"
        seat = bound.get(name)
        seconds = seat["at"] - made[name] if seat is not None and name in made else None
        found.append(PodWait(pod, who, seconds, seat["node"] if seat is not None else ""))
    return found


def summary(found: Sequence[PodWait]) -> str:
    """The cast with their waiting times, as a table."""
    rows = [
        (
            each.pod,
            each.who,
            f"{each.seconds:.2f} s" if each.seconds is not None else "still waits",
            each.node,
        )
        for each in found
    ]
    return columns(("POD", "WHO", "WAITED", "NODE"), rows)


def moral(found: Sequence[PodWait]) -> str:
    """Compare the first pod of the cast with the second, in one sentence."""
    first, second = found[0], found[1]
    if first.seconds is None:
        return f"{first.pod} still waits."
    if second.seconds is None:
        return f"{first.pod} waited {first.seconds:.2f} s; {second.pod} still waits."
    sooner = second.seconds - first.seconds
    if sooner < 1:
        return f"Both waited less than a second for {first.node}."
    return f"{first.pod} waited {first.seconds:.2f} s, and {second.pod} {sooner:.0f} s longer."
