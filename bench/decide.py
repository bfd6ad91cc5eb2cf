"""How long it takes to choose a node for a pod, in clusters of different sizes.

    python -m bench.decide [--nodes N ...] [--pods K] [-o table|json] [--rows FILE]

Each chosen pod is counted on its node before the next is tried, as a scheduler does. PLAIN asks
for eight resources; SPREAD keeps zones even and hosts apart (hard constraints and anti-affinity);
PROMISED is plain, with pods nominated to a hundredth of the nodes. FILTER is the filtering alone,
ADD what it costs to count one pod. Medians of single pods, in microseconds of CPU time.

Baseline (2 shared cores, Python 3.11, numpy 2.4), in the order of the columns:
1,000 nodes 30, 187, 325, 286, 7; 5,000 nodes 57, 283, 576, 623, 7;
15,000 nodes 84, 419, 915, 1364, 7.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median
from time import process_time

from bench import rows
from headroom.core.objects import (
    Key,
    LabelSelector,
    Node,
    Placement,
    Pod,
    PodAffinity,
    PodTerm,
    Requirement,
    TopologySpread,
)
from headroom.core.resources import Resources
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import feasible
from headroom.scheduling.state import ClusterState

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
EXTENDED = tuple(f"example.com/device-{letter}" for letter in "abcde")
ROOM = Resources(
    {"cpu": 64_000, "memory": 256 * 2**30, "pods": 110, **dict.fromkeys(EXTENDED, 1000)}
)
ASKED = Resources({"cpu": 500, "memory": 2**30, **dict.fromkeys(EXTENDED, 1)})
WEB = LabelSelector((Requirement("app", "In", ("web",)),))
APART = Placement(
    spread=(TopologySpread(1, ZONE, "DoNotSchedule", WEB),),
    pod_anti_affinity=PodAffinity(required=(PodTerm(WEB, HOSTNAME),)),
)
DECISIONS = ("plain", "spread", "promised")
Row = dict[str, float]


def cluster(nodes: int) -> ClusterState:
    """Make a cluster of equal nodes in three zones, ten other pods on each."""
    state = ClusterState()
    for index in range(nodes):
        name = f"node-{index:05}"
        labels = {HOSTNAME: name, ZONE: f"zone-{index % 3}"}
        state.set_node(Node(name, labels=labels, allocatable=ROOM))
        for number in range(10):
            labels = {"app": f"other-{(index + number) % 50}"}
            state.add_pod(Pod(Key("default", f"{name}-{number}"), labels=labels), name)
    return state


def measure(nodes: int, pods: int) -> Row:
    """Choose for `pods` pods of each kind and give the medians in microseconds."""
    plain = Pod(Key("default", ""), labels={"app": "plain"}, requests=ASKED)
    spread = replace(plain, labels={"app": "web"}, placement=APART)
    state = cluster(nodes)
    row: Row = {"nodes": nodes}
    row["filter"] = _median(pods, lambda _: feasible(plain, state))
    row["plain"] = _choose_many(state, plain, pods)
    row["spread"] = _choose_many(state, spread, min(pods, nodes // 2))
    for index in range(nodes // 100):
        promised = replace(plain, key=Key("default", f"promised-{index}"))
        state.nominate(promised, f"node-{index:05}")
    row["promised"] = _choose_many(state, plain, pods)
    added = [replace(plain, key=Key("default", f"added-{index}")) for index in range(pods)]
    row["add"] = _median(pods, lambda index: state.add_pod(added[index], "node-00000"))
    return row


def _choose_many(state: ClusterState, shape: Pod, pods: int) -> float:
    start = 0
    spent = []
    for index in range(pods + 1):
        pod = replace(shape, key=Key("default", f"{shape.labels['app']}-{index}"))
        begun = process_time()
        found = choose(pod, state, start)
        spent.append(process_time() - begun)
        if not isinstance(found, ChosenNode):
            raise SystemExit(f"bench decide: pod {index} found no node: {found.message}")
        start = found.next_start
        state.add_pod(pod, found.node)
    # The first pod of a shape asks every node; the others only see what has changed.
    return 1e6 * median(spent[1:])


def _median(times: int, act: Callable[[int], object]) -> float:
    spent = []
    for index in range(times):
        begun = process_time()
        act(index)
        spent.append(process_time() - begun)
    return 1e6 * median(spent)


def table(rows: Sequence[Row]) -> str:
    """Lay the rows out, in whole microseconds."""
    columns = ("filter", "plain", "spread", "promised", "add")
    lines = [f"{'NODES':>7}" + "".join(f"{name.upper():>10}" for name in columns)]
    for row in rows:
        cells = "".join(f"{row[name]:>7.0f} us" for name in columns)
        lines.append(f"{row['nodes']:>7.0f}{cells}")
    return "\n".join(lines)


def page_rows(found: Sequence[Row], pods: int) -> Iterator[rows.Row]:
    """The dearest kind of decision in the largest cluster, beside the smallest one."""
    least, most = (pick(found, key=lambda row: row["nodes"]) for pick in (min, max))
    scale = f"{most['nodes']:,.0f} nodes, the dearest kind, median of {pods} pods"
    small = f"{least['nodes']:,.0f} nodes"
    measured, beside = (max(row[kind] for kind in DECISIONS) / 1000 for row in (most, least))
    yield rows.Row("one decision", measured, "ms", small, beside, rows.Aim(5.0), scale)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench decide", description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 5_000, 15_000])
    parser.add_argument("--pods", type=int, default=300)
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    rows.add_option(parser)
    given = parser.parse_args(arguments)
    found = [measure(nodes, given.pods) for nodes in given.nodes]
    print(json.dumps(found) if given.output == "json" else table(found))
    rows.write(given.rows, page_rows(found, given.pods))
    return 0


if __name__ == "__main__":
    sys.exit(main())
