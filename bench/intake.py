"""What the operator does with all pods and nodes at its start, stage by stage, without a cluster.

The lines of a watch are made beforehand. Then they are decoded, told to a mirror and observed by
the engine, as in `headroom run`; then the same pods are listed again, read in full (as before
decision 0087) and by versions. CPU of this process, which a busy machine changes little.

    python -m bench.intake [--nodes 1000] [--pods 10000] [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import os
import pstats
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench.field import memory_mb
from bench.lab import Json
from bench.stock import bound_pods, made_nodes
from headroom.core.objects import Key
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.kube.list_diff import KnownObjects
from headroom.ports import Event, Synced, Thing
from headroom.wire.decode import decode_watch, listed_identity
from headroom.wire.kinds import NODES, PODS, Resource

FUNCTIONS = 25  # that a profile shows


@dataclass
class Intake:
    """An engine with its mirrors, and what each stage took."""

    engine: Engine = field(default_factory=lambda: Engine(Policy()))
    mirrors: dict[Resource, KnownObjects] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def stage(self, name: str, objects: int, act: Callable[[], None]) -> None:
        began = time.process_time()
        act()
        spent = time.process_time() - began
        memory = memory_mb(os.getpid())["now"]
        each = spent / objects * 1e6
        self.lines.append(f"{name:<34}{spent:>8.2f} s{each:>8.1f} µs{memory:>8.0f} MB")

    def take_in(self, resource: Resource, lines: list[bytes], now: datetime) -> None:
        """The first list of a kind."""
        mirror = self.mirrors[resource] = KnownObjects()
        count, plural = len(lines), resource.plural
        read: list[Thing] = []
        told: list[Event] = []
        self.stage(
            f"{plural} decoded",
            count,
            lambda: read.extend(_decoded(resource, each) for each in lines),
        )
        mirror.begin()
        self.stage(
            f"{plural} mirrored",
            count,
            lambda: told.extend(e for t in read for e in mirror.update(t)),
        )
        mirror.finish()

        def observe() -> None:
            for event in told:
                self.engine.observe(event, now)

        self.stage(f"{plural} observed", count, observe)

    def plan(self, now: datetime) -> None:
        self.engine.observe(Synced(), now)
        self.engine.plan(now)

    def again(self, resource: Resource, lines: list[bytes], by_versions: bool) -> None:
        """The same list once more."""
        mirror = self.mirrors[resource]
        mirror.begin()
        for line in lines:
            found = listed_identity(line) if by_versions else None
            if found and mirror.has_version(
                Key(found.namespace, found.name), found.uid, found.version
            ):
                mirror.mark_listed(Key(found.namespace, found.name))
            elif mirror.update(_decoded(resource, line)):
                raise RuntimeError("nothing has changed, and something was told")
        mirror.finish()


def _decoded(resource: Resource, line: bytes) -> Thing:
    thing = decode_watch(resource, line).thing
    if thing is None:
        raise RuntimeError(f"cannot be read: {line[:200]!r}")
    return thing


def watch_lines(objects: Iterable[tuple[str, Json]]) -> list[bytes]:
    """What an API server would send for these objects."""
    made = []
    for version, (_, body) in enumerate(objects, 1):
        metadata = {**body["metadata"], "resourceVersion": str(version)}
        event = {"type": "ADDED", "object": {**body, "metadata": metadata}}
        made.append(json.dumps(event, separators=(",", ":")).encode())
    return made


def collect() -> None:
    """As when the first list is complete."""
    gc.collect()
    gc.freeze()


def measure(nodes: list[bytes], pods: list[bytes]) -> list[str]:
    here, now = Intake(), datetime.now(UTC)
    here.take_in(NODES, nodes, now)
    here.take_in(PODS, pods, now)
    count = len(pods)
    here.stage("planned", count, lambda: here.plan(now))
    here.stage("garbage collected", count, collect)
    here.stage("pods again, read in full", count, lambda: here.again(PODS, pods, False))
    here.stage("pods again, by versions", count, lambda: here.again(PODS, pods, True))
    return here.lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    nodes = watch_lines(made_nodes(options.nodes))
    pods = watch_lines(bound_pods(options.pods, options.nodes))
    size = sum(map(len, (*nodes, *pods))) / 1e6
    profile = cProfile.Profile(time.process_time) if options.profile else None
    lines = profile.runcall(measure, nodes, pods) if profile else measure(nodes, pods)
    print(f"{len(nodes):,} nodes, {len(pods):,} pods, {size:.0f} MB of JSON, kept meanwhile")
    print(f"{'STAGE':<34}{'CPU':>10}{'EACH':>11}{'MEMORY':>11}")
    print("\n".join(lines))
    if profile:
        pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(FUNCTIONS)


if __name__ == "__main__":
    main()
