"""The examples on a real control plane: the same files, the same flags, the same expectations.

The clock of a real cluster cannot be turned: windows are opened at once, and steps that are hours
away are left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.cli.dialects import NAMES, chosen
from headroom.sim.scenarios import model
from headroom.sim.scenarios.expectations import unmet
from headroom.sim.scenarios.loader import load_scenario
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import NODES
from testbed.controlplane import ControlPlane, KubectlFailed
from testbed.nodes import fake_node
from tests import examples
from tests.e2e.installing import until
from tests.e2e.test_cli import headroom

pytestmark = pytest.mark.e2e
SOON = 3600.0
OURS = "headrooms,holds"
FOREIGN = "reservations,orders,tickets,capacitybuffers"
PLAIN = "deployments,jobs,podtemplates,persistentvolumeclaims,persistentvolumes,pods"


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane whose nodes and pods kwok keeps, with our kinds and those of all dialects."""
    with ControlPlane.start(tmp_path_factory.mktemp("examples"), kwok=True) as plane:
        dialects = [word for name in NAMES for word in ("--dialect", name)]
        printed = headroom(plane.kubeconfig, "install", "--dry-run=client", *dialects)
        assert printed.returncode == 0, printed.stderr
        for kind in ("CustomResourceDefinition", "Namespace", "PriorityClass"):
            plane.kubectl("apply", "--server-side", "-f", "-", input=_only(kind, printed.stdout))
        yield plane


def _only(kind: str, text: str) -> str:
    return "---\n".join(part for part in text.split("---\n") if f"\nkind: {kind}\n" in f"\n{part}")


@pytest.mark.parametrize("name", examples.names())
def test_an_example_comes_out_the_same_on_a_real_cluster(
    plane: ControlPlane, name: str, tmp_path: Path
) -> None:
    flags = examples.flags_of(name)
    codecs = chosen([word for word in flags if word in NAMES])
    scenario = load_scenario(examples.files_of(name), codecs)
    nodes = _nodes(plane, scenario)
    command = [sys.executable, "-m", "headroom", "run", *flags]
    log = tmp_path / "operator.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            env={**os.environ, "KUBECONFIG": str(plane.kubeconfig)},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as operator,
    ):
        try:
            assert operator.stdout is not None
            assert operator.stdout.readline() == "ready\n", log.read_text()
            _apply(plane, *scenario.objects)
            for step in scenario.steps:
                if step.at <= SOON:
                    _do(plane, step, codecs)
        finally:
            operator.terminate()
            operator.wait(30)
            _clear(plane, nodes)


def _nodes(plane: ControlPlane, scenario: model.Scenario) -> list[str]:
    names = []
    for pool in scenario.pools:
        for index in range(pool.count):
            node = fake_node(pool.node_name(index), dict(pool.capacity), dict(pool.labels))
            node["spec"] = {"taints": [dict(taint) for taint in pool.taints]}
            plane.api.create(NODES.path(), node)
            names.append(pool.node_name(index))
    plane.wait_nodes_ready(len(names), names=names)
    return names


def _apply(plane: ControlPlane, *objects: Any) -> None:
    """Apply objects as a person would, their windows opened."""
    items = [_opened(dict(item)) for item in objects]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    plane.kubectl("apply", "-f", "-", input=json.dumps(listed))


def _opened(item: dict[str, Any]) -> dict[str, Any]:
    if item["kind"] != "Headroom" or "schedule" not in item["spec"]:
        return item
    windows = [{**each, "start": "* * * * *"} for each in item["spec"]["schedule"]]
    return {**item, "spec": {**item["spec"], "schedule": windows}}


def _do(plane: ControlPlane, step: model.Step, codecs: KindCodecs) -> None:
    match step.act:
        case model.Apply(objects):
            _apply(plane, *objects)
        case model.Patch(target, patch):
            change = json.dumps(patch)
            where = ("-n", target.namespace) if target.namespace else ()
            plane.kubectl("patch", target.kind, target.name, *where, "--type=merge", "-p", change)
        case model.Expect() as expect:
            until(f"{step.line}: {expect}", lambda: not unmet(expect, _all(plane, expect, codecs)))
        case other:
            raise AssertionError(f"examples have no such step on a real cluster: {other}")


def _all(plane: ControlPlane, expect: model.Expect, codecs: KindCodecs) -> list[dict[str, Any]]:
    """The objects of a kind, those apart that are about to go."""
    plural = next((kind.plural for kind in codecs.foreign if kind.kind == expect.kind), expect.kind)
    items = json.loads(plane.kubectl("get", plural, "-A", "-o", "json"))["items"]
    return [item for item in items if "deletionTimestamp" not in item["metadata"]]


def _clear(plane: ControlPlane, nodes: list[str]) -> None:
    """Take away what an example left; finalizers of a dialect whose operator is gone, too."""
    for kinds in (OURS, FOREIGN, PLAIN):
        for item in json.loads(plane.kubectl("get", kinds, "-A", "-o", "json"))["items"]:
            where = [item["kind"], item["metadata"]["name"]]
            if item["metadata"].get("namespace"):
                where += ["-n", item["metadata"]["namespace"]]
            if item["metadata"].get("finalizers"):
                empty = '{"metadata": {"finalizers": null}}'
                with contextlib.suppress(KubectlFailed):  # Garbage collection may be faster.
                    plane.kubectl("patch", *where, "--type=merge", "-p", empty)
            plane.kubectl("delete", *where, "--ignore-not-found", "--force", "--wait=false")
    plane.remove_nodes(nodes)

    def pods_are_gone() -> bool:
        return not json.loads(plane.kubectl("get", "pods", "-A", "-o", "json"))["items"]

    until("every pod is gone", pods_are_gone)
