"""The cost of one slot on one node in the engine alone, until its guardian runs.

There is no cluster and no connection: the engine receives nodes and a Headroom, its actions succeed
at once, and each guardian is then reported three more times (created, bound, running), as by a
watch, a few at a time. The result is CPU time in microseconds a slot; what grows with the number of
nodes here would grow on any machine.

    python -m bench.slots [--nodes 1000,5000,15000] [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import process_time

import msgspec

from bench.field import headroom
from bench.lab import Json
from headroom.core.actions import Action, CreateGuardian, Done, Outcome
from headroom.core.plan import Plan
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Seen, Synced
from headroom.wire.decode import decode_thing
from headroom.wire.kinds import HEADROOMS, NODES, PODS, Resource
from headroom.wire.render import render
from testbed.nodes import fake_node

CAPACITY = {"cpu": "16", "memory": "64Gi", "pods": "110"}
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
STAMP = "2026-01-01T00:00:00Z"
AT_ONCE = 8  # So many pods a watch tells between two plans, about, while slots are made.
STEP = timedelta(milliseconds=10)
BOUND = {"type": "PodScheduled", "status": "True", "lastTransitionTime": STAMP}
PARTS = ("first plan", "render", "settle", "observe", "plan")


class Play:
    """An engine that receives the events of a cluster; counts the CPU time of each call."""

    def __init__(self, nodes: int, profile: cProfile.Profile | None) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._profile = profile
        self._now = BEGAN
        self._engine = Engine(Policy(namespace="headroom-system"))
        self._pods: list[Json] = []
        self._versions = 0
        for number in range(nodes):
            self._tell(NODES, fake_node(f"node-{number}", CAPACITY, {}))
        self._engine.observe(Synced(), self._now)
        self._engine.plan(self._now)

    def run(self) -> int:
        """Request a slot on every node and run it to the end; return the created slots.

        A Headroom creates only so many guardians before the first of them have a node
        (`Policy.slots_ahead`). So they are bound in groups, until no more are created.
        """
        self._tell(HEADROOMS, headroom("everywhere"))
        self._carry_out(self._planned("first plan"))
        done = 0
        while done < len(self._pods):
            group = self._pods[done:]
            done = len(self._pods)
            self._run_group(group)
        return done

    def _run_group(self, group: list[Json]) -> None:
        self._all_seen(group)
        for pod in group:
            terms = pod["spec"]["affinity"]["nodeAffinity"]
            required = terms["requiredDuringSchedulingIgnoredDuringExecution"]
            (field,) = required["nodeSelectorTerms"][0]["matchFields"]
            pod["spec"]["nodeName"] = field["values"][0]
            pod["status"]["conditions"] = [BOUND]
        self._all_seen(group)
        for pod in group:
            pod["status"]["phase"] = "Running"
        self._all_seen(group)

    def _all_seen(self, group: list[Json]) -> None:
        for first in range(0, len(group), AT_ONCE):
            self._now += STEP
            for pod in group[first : first + AT_ONCE]:
                self._tell(PODS, pod)
            self._carry_out(self._planned("plan"))

    def _planned(self, part: str) -> Plan:
        with self._counted(part):
            return self._engine.plan(self._now)

    def _carry_out(self, plan: Plan) -> None:
        for sequence in plan.sequences:
            for action in (action for step in sequence.steps for action in step):
                outcome = self._perform(action)
                with self._counted("settle"):
                    self._engine.settle(action, outcome, self._now)
            with self._counted("settle"):
                self._engine.finish(sequence, True, self._now)

    def _perform(self, action: Action) -> Outcome:
        if not isinstance(action, CreateGuardian):
            return Done()
        with self._counted("render"):
            write = render(action)
        pod: Json = msgspec.json.decode(msgspec.json.encode(write.body))
        pod["metadata"].setdefault("namespace", "default")
        pod["status"] = {"phase": "Pending"}
        self._pods.append(pod)
        return Done(uid=self._uid(PODS, pod))

    def _tell(self, resource: Resource, body: Json) -> None:
        """Report an object to the engine; decoding is not counted."""
        self._versions += 1
        body["metadata"] |= {
            "uid": self._uid(resource, body),
            "resourceVersion": str(self._versions),
            "creationTimestamp": STAMP,
            "generation": 1,
        }
        event = Seen(decode_thing(resource, msgspec.json.encode(body)))
        with self._counted("observe" if resource == PODS else "told"):
            self._engine.observe(event, self._now)

    def _uid(self, resource: Resource, body: Json) -> str:
        return f"{resource.kind}-{body['metadata']['name']}"

    @contextmanager
    def _counted(self, part: str) -> Iterator[None]:
        began = process_time()
        if self._profile:
            self._profile.enable()
        yield
        if self._profile:
            self._profile.disable()
        self.spent[part] += process_time() - began


def table(rows: list[tuple[int, dict[str, float]]]) -> str:
    lines = [f"{'NODES':>7}" + "".join(f"{part.upper():>12}" for part in (*PARTS, "all"))]
    for nodes, cost in rows:
        figures = [cost[part] for part in PARTS]
        cells = "".join(f"{figure:>9.0f} us" for figure in (*figures, sum(figures)))
        lines.append(f"{nodes:>7}{cells}")
    return "\n".join(lines)


def measure(nodes: int, profile: cProfile.Profile | None = None) -> dict[str, float]:
    """Microseconds a slot, by part."""
    play = Play(nodes, profile)
    gc.collect()
    gc.freeze()  # As the operator does once it knows the cluster.
    made = play.run()
    gc.unfreeze()
    if made != nodes:
        raise SystemExit(f"bench slots: {made} slots were made on {nodes} nodes")
    return {part: play.spent[part] * 1e6 / nodes for part in PARTS}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench slots", description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", default="1000,5000,15000")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    given = parser.parse_args(arguments)
    profile = cProfile.Profile() if given.profile else None
    print(table([(nodes, measure(nodes, profile)) for nodes in map(int, given.nodes.split(","))]))
    if profile:
        pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
