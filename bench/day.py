"""The cost of a simulated day: pods of a trace arrive and end, the autoscaler grows and shrinks.

    python -m bench.day [--nodes N] [--pods N] [--minutes SHORTEST LONGEST] [--days N] [--seed N]

Runs `headroom simulate` in its own process and prints its CPU time, CPU time for each pod, memory,
and the hash of the result: the same files and seed give the same bytes before and after a change.
Pods arrive around noon and run for two to six hours; a tenth of the nodes always exists, and a
Headroom keeps twenty slots. A node has room for eight pods: with more than about 20 pods for each
node and day, pods wait for hours, unless they run for a shorter time (`--minutes`). With `--days`,
the pods are divided among so many days, and the journal is written to disk during the run, so that
memory stays bounded.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

DAY = 86_400
SCENARIO = """\
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {{name: day}}
spec:
  until: {hours}h
  pools: [{{name: general, count: {least}, max: {most}, cpu: "16", memory: 64Gi, bootDelay: 60s}}]
  autoscaler: {{enabled: true}}
  arrivals:
    - trace: trace.csv
      name: job
      template:
        metadata: {{labels: {{app: job}}}}
        spec: {{containers: [{{name: main, image: job, resources: {{requests: {shape}}}}}]}}
  steps:
    - at: 0s
      objects:
        - apiVersion: headroom.dev/v1alpha1
          kind: Headroom
          metadata: {{name: reserve}}
          spec:
            slot: {{template: {{resources: {{requests: {shape}}}}}}}
            size: {{replicas: 20}}
            owners: [{{labelSelector: {{matchLabels: {{app: ci}}}}}}]
"""
SHAPE = '{cpu: "2", memory: 4Gi}'


Minutes = tuple[int, int]
LONG: Minutes = (120, 360)


def write_day(folder: Path, nodes: int, pods: int, minutes: Minutes = LONG, days: int = 1) -> Path:
    """Write a trace and the scenario that uses it; pods run for so many minutes."""
    chance = Random(1)
    seconds = sorted(
        DAY * (pod % days) + int(min(DAY - 1, max(0, chance.gauss(DAY / 2, DAY / 6))))
        for pod in range(pods)
    )
    shortest, longest = (60 * each for each in minutes)
    rows = [f"{second},1,{chance.randrange(shortest, longest)}\n" for second in seconds]
    (folder / "trace.csv").write_text("".join(("second,pods,duration\n", *rows)))
    scenario = folder / "scenario.yaml"
    least, hours = max(1, nodes // 10), 24 * days
    scenario.write_text(SCENARIO.format(hours=hours, least=least, most=nodes, shape=SHAPE))
    return scenario


def main() -> None:
    """Simulate the day and print its cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=1_200)
    parser.add_argument("--minutes", type=int, nargs=2, default=LONG)
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, minutes = Path(place), tuple(options.minutes)
        scenario = write_day(folder, options.nodes, options.pods, minutes, options.days)
        command = [sys.executable, "-m", "headroom", "simulate", str(scenario)]
        command += ["--seed", str(options.seed), "-o", "json"]
        if options.days > 1:
            command += ["--journal", str(folder / "journal")]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    sys.stdout.write(
        f"{options.nodes} nodes, {options.pods} pods: {cpu:.1f} s of CPU,"
        f" {cpu / options.pods * 1e3:.2f} ms a pod, {used.ru_maxrss / 1024:.0f} MB;"
        f" result {hashlib.sha256(done.stdout).hexdigest()[:16]}\n"
    )


if __name__ == "__main__":
    main()
