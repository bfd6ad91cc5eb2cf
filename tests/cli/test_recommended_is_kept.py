"""What `recommend` recommends, played on the embedded cluster, keeps the promise it makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.cli.commands import headroom

PROMISE = 0.9
TRAIN = 3600
WORLD = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: kept}
spec:
  until: 35m
  pools:
    - {name: base, count: 2, cpu: "4", memory: 16Gi}
    - {name: burst, count: 0, max: 30, cpu: "4", memory: 16Gi, bootDelay: 45s}
  autoscaler: {enabled: true, scaleDownAfter: 5m}
  arrivals:
    - trace: jobs.csv
      skip: 1h
      template:
        metadata: {labels: {app: jobs}}
        spec:
          schedulingGates: [{name: headroom.dev/claim}]
          containers: [{name: main, resources: {requests: {cpu: "1", memory: 1Gi}}}]
"""


def in_groups(second: float, chance: Random) -> tuple[float, int]:
    """Pods by chance, some in small groups."""
    return second + chance.expovariate(1 / 25.0), chance.choice((1, 1, 1, 1, 3))


def rising_and_falling(second: float, chance: Random) -> tuple[float, int]:
    """Three times as many in one half of each twenty minutes as in the other."""
    gap = 15.0 if second % 1200 < 600 else 45.0
    return second + chance.expovariate(1 / gap), 1


def all_at_once(second: float, chance: Random) -> tuple[float, int]:
    """Four pods each five minutes, on the minute, and single ones in between."""
    upcoming, alone = (second // 300 + 1) * 300, second + chance.expovariate(1 / 60.0)
    return (upcoming, 4) if upcoming <= alone else (alone, 1)


Kind = Callable[[float, Random], tuple[float, int]]


def trace(folder: Path, kind: Kind) -> Path:
    """Ninety minutes and more of pods that run five minutes each."""
    chance, second, lines = Random(8), 0.0, ["second,pods,cpu,memory,duration"]
    while second < TRAIN + 1800:
        second, pods = kind(second, chance)
        lines.append(f"{second:.0f},{pods},1,1Gi,5m")
    path = folder / "jobs.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.mark.e2e
@pytest.mark.parametrize("kind", [in_groups, rising_and_falling, all_at_once])
@pytest.mark.parametrize("policy", ["static", "adaptive"])
def test_the_recommended_headroom_keeps_its_promise_in_a_simulation(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, policy: str, kind: Kind
) -> None:
    path = trace(tmp_path, kind)
    asked = ("--promise", str(PROMISE), "--lead-time", "65s", "--policy", policy)
    flags = ("--train-until", str(TRAIN), "--name", "jobs", "-l", "app=jobs", "-o", "json")
    answer = headroom(capsys, "recommend", "--trace", str(path), *asked, *flags)
    assert answer.code == 0, answer.err
    recommended = json.loads(answer.out)["recommended"]
    (tmp_path / "world.yaml").write_text(WORLD)
    (tmp_path / "made.yaml").write_text(json.dumps(recommended))
    files = [str(tmp_path / name) for name in ("world.yaml", "made.yaml")]
    compared = headroom(
        capsys, "compare", *files, "--promise", str(PROMISE), "--start", START, "-o", "json"
    )
    assert compared.code == 0, compared.err
    without, with_it = json.loads(compared.out)["configurations"]
    assert with_it["promise"]["kept"], with_it
    assert without["promise"]["achieved"] < with_it["promise"]["achieved"]


START = "2027-01-04T01:00:00Z"  # The second hour of the trace is the second of the day.
