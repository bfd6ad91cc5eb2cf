"""`explain order/NAME` answers the questions of korder's own guide: no tickets? uneven? slow?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import headroom

SCENARIO = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: orders}
spec:
  start: "2027-01-04T06:00:00Z"
  until: 5m
  pools:
    - {name: work, count: 3, cpu: "4", memory: 8Gi, labels: {os: linux}}
    - {name: gpu, count: 1, cpu: "4", memory: 8Gi, labels: {os: linux},
       taints: [{key: gpu, effect: NoExecute}]}
    - {name: old, count: 1, cpu: "4", memory: 8Gi}
"""
ORDER = """
---
apiVersion: core.korder.dev/v1alpha1
kind: Order
metadata: {{name: {name}, namespace: default}}
spec:
  {spec}
  template:
    spec: {{duration: 2h, resources: {{requests: {{cpu: {cpu}}}}}, nodeSelector: {{os: linux}}}}
"""
QUOTA = """
---
apiVersion: core.korder.dev/v1alpha1
kind: Quota
metadata: {name: small}
spec: {scope: {type: Cluster}, hard: {tickets: "2"}}
"""


def order(name: str, spec: str, cpu: str = "100m") -> str:
    return ORDER.format(name=name, spec=spec, cpu=cpu)


def simulated(capsys: pytest.CaptureFixture[str], folder: Path, *parts: str) -> str:
    scenario, result = folder / "orders.yaml", folder / "result.json"
    scenario.write_text(SCENARIO + "".join(parts))
    flags = ("--dialect", "korder", "--allow-invalid", "-o", "json")
    done = headroom(capsys, "simulate", str(scenario), *flags)
    assert done.code == 0, done.err
    result.write_text(done.out)
    return str(result)


def answers(capsys: pytest.CaptureFixture[str], file: str, name: str) -> dict[str, str]:
    done = headroom(capsys, "explain", f"order/{name}", "-o", "json", "--from", file)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    return {"": told["summary"], **{fact["topic"]: fact["text"] for fact in told["facts"]}}


def test_an_order_on_every_node_says_which_rule_left_which_nodes_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = simulated(capsys, tmp_path, order("infra", "daemonSet: true"))
    told = answers(capsys, file, "infra")
    assert told[""] == "order default/infra wants 3 slots and has 3."
    assert told["no tickets?"] == "no: 3 are wanted, and all were created"
    assert told["uneven?"] == (
        "no: each of 3 eligible nodes has its ticket; 2 of 5 nodes left out: "
        "1 with a taint that the slot does not tolerate, 1 without the right labels"
    )
    assert told["slow?"] == "no: no guardian waits for room"
    alone = headroom(capsys, "explain", "order/infra", "--node", "gpu-0", "--from", file)
    assert "has the taint gpu:NoExecute, which the slot does not tolerate" in alone.out


def test_tickets_that_were_renewed_are_held_all_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    strategy = '{type: Recurring, schedule: "2 * * * *", refreshPolicy: Always}'
    file = simulated(capsys, tmp_path, order("fresh", f"daemonSet: true\n  strategy: {strategy}"))
    told = answers(capsys, file, "fresh")
    assert told[""] == "order default/fresh wants 3 slots and has 3."


def test_tickets_that_wait_are_told_since_when_and_in_the_schedulers_words(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = simulated(capsys, tmp_path, order("many", "replicas: 5", cpu='"3"'))
    told = answers(capsys, file, "many")
    assert told["slow?"].startswith(
        "2 guardians wait for room, the oldest since Mon 2027-01-04 06:00 (5m ago); "
        "of 2 the scheduler says: 0/5 nodes are available: "
    )
    assert told["uneven?"].startswith("placed by kube-scheduler: work-0 1, work-1 1, work-2 1; ")


def test_a_quota_in_the_way_is_named_with_its_numbers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = simulated(capsys, tmp_path, QUOTA, order("many", "replicas: 5"))
    told = answers(capsys, file, "many")
    assert told["no tickets?"] == (
        "3 not made: Quota small: spec.hard[tickets]: used 2, wanted 1 more, at most 2"
    )
    assert told[""] == "order default/many wants 5 slots and has 2: 3 missing."


def test_the_oldest_orders_count_first_against_a_quota(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one = QUOTA.replace("tickets:", "orders:").replace('"2"', '"1"')
    parts = (one, order("first", "replicas: 1"), order("second", "replicas: 1"))
    file = simulated(capsys, tmp_path, *parts)
    assert answers(capsys, file, "first")["no tickets?"] == "no: 1 are wanted, and all were created"
    assert answers(capsys, file, "second")["no tickets?"] == (
        "1 not made: Quota small: spec.hard[orders]: used 1, wanted 1 more, at most 1"
    )


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            'strategy: {type: Scheduled, schedule: "0 12 * * *"}',
            "outside its schedule: the next tick of 0 12 * * * is Mon 2027-01-04 12:00 (in 5h55m)",
        ),
        ("paused: true", "Paused: spec.paused: nothing is held anew and nothing is given back"),
        ("replicas: 0", "spec.replicas is 0"),
        (
            "refreshPolicy: Never\n  strategy: {type: OneTime, refreshPolicy: Always}",
            "InvalidSpec: spec.refreshPolicy: Never disagrees with spec.strategy.refreshPolicy",
        ),
    ],
)
def test_an_order_without_tickets_says_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, spec: str, says: str
) -> None:
    file = tmp_path / "order.yaml"
    clock = {"kind": "Result", "end": "2027-01-04T06:05:00Z"}
    (tmp_path / "clock.json").write_text(json.dumps(clock))
    file.write_text(order("none", spec))
    done = headroom(
        capsys,
        "explain",
        "order/none",
        "--from",
        str(file),
        "--from",
        str(tmp_path / "clock.json"),
    )
    assert done.code == 0
    assert says in done.out


def test_no_eligible_node_at_all_is_a_reason_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "order.yaml"
    file.write_text(
        order("none", "daemonSet: true")
        + "---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
        + "status: {conditions: [{type: Ready, status: 'True'}]}\n"
    )
    done = headroom(capsys, "explain", "order/none", "--from", str(file))
    assert "no node is eligible: 1 of 1 nodes left out: 1 without the right labels" in done.out


def test_orders_and_tickets_are_listed_and_planned(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = simulated(capsys, tmp_path, order("infra", "daemonSet: true"))
    orders = headroom(capsys, "get", "orders", "--from", file).out.splitlines()
    assert orders[0].split()[:5] == ["NAMESPACE", "NAME", "STRATEGY", "DESIRED", "AVAILABLE"]
    assert orders[1].split()[:5] == ["default", "infra", "-", "3", "3"]
    tickets = headroom(capsys, "get", "tickets", "--from", file).out
    assert tickets.split()[:5] == ["NAMESPACE", "NAME", "PHASE", "CLAIMED-BY", "AGE"]
    assert [line.split()[1:3] for line in tickets.splitlines()[1:]] == [
        [f"infra-work-{number}", "Ready"] for number in range(3)
    ]
    wide = headroom(capsys, "get", "tickets", "-o", "wide", "--from", file).out.splitlines()
    assert wide[0].split()[5:] == ["NODE", "GUARDIAN-POD", "EXPIRATION", "CPU", "MEMORY"]
    assert wide[1].split()[5] == "work-0"
    more = tmp_path / "more.yaml"
    more.write_text(order("infra", "replicas: 9", cpu='"2"'))
    plan = headroom(capsys, "plan", str(more), "--from", file)
    assert "order default/infra: 9 slots wanted" in plan.out
    told = headroom(capsys, "explain", "ticket/infra-work-0", "--from", file)
    assert told.out.startswith("ticket default/infra-work-0 is held on work-0, until 2027-01-04T08")
