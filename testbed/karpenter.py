"""Karpenter beside a control plane: a real autoscaler whose machines are kwok's fake nodes.

`Karpenter.start(plane)` needs a control plane that runs kwok. A machine takes `boot_delay_s` from
Karpenter's order until its Node object appears. `machines` has the manifests and the shapes to
choose from. Its CustomResourceDefinitions come from the module that it is built from, and are kept
in the cache beside the binary. What Karpenter does with our pods is in docs/internals/karpenter.md.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Self

from testbed.api import ApiFailure, Json
from testbed.binaries import BinariesUnavailable, provide
from testbed.cache import cache_root, fill
from testbed.components import http_probe
from testbed.controlplane import ControlPlane
from testbed.gobuild import BuildFailed, module_directory, say
from testbed.golang import GoUnavailable, find_go
from testbed.machines import NODE_CLASS, SMALL, MachineType, machines_file, node_class, node_pool
from testbed.processes import Component
from testbed.recipes import KARPENTER

NAME = "karpenter"
_POOLS = "/apis/karpenter.sh/v1/nodepools"
_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
_CLASSES = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_CRD_FOLDERS = ("kwok/charts/crds", "kwok/apis/crds")
_POLL_S = 0.1
_CLEAR_S = 60.0


@dataclass(frozen=True)
class Fleet:
    """What Karpenter may order, and how quickly it removes it."""

    machines: Sequence[MachineType] = SMALL
    boot_delay_s: int = 5
    consolidate_after_s: int = 5
    cpu_limit: str | None = None
    when_empty_only: bool = False


def karpenter_binary() -> Path:
    """Return the program, building it if need be; BinariesUnavailable says how to get it."""
    return provide([KARPENTER]) / NAME


class Karpenter:
    """A running Karpenter with one NodePool; get one from `start`, end it with `stop`."""

    def __init__(self, plane: ControlPlane, fleet: Fleet) -> None:
        self._plane = plane
        self.fleet = fleet

    @classmethod
    def start(
        cls, plane: ControlPlane, fleet: Fleet | None = None, *, buffers: bool = False
    ) -> Self:
        """Install its definitions, start it and give it a NodePool.

        With `buffers` it serves CapacityBuffers itself, which it does not by default.
        """
        here = cls(plane, fleet or Fleet())
        binary = karpenter_binary()
        plane.kubectl("apply", "--server-side", "-f", str(_definitions()))
        here._wait(here._is_served, "its definitions are not served")
        plane.run(here._component(binary, buffers))
        plane.api.create(_CLASSES, node_class(here.fleet.boot_delay_s))
        here.offer()
        return here

    def offer(self) -> None:
        """Create the NodePool, so that it can order machines; `clear` deletes it."""
        self._plane.api.create(_POOLS, node_pool(NODE_CLASS, self.fleet))

    def stop(self) -> None:
        """Remove every machine, then end the program: its finalizers would wait for it."""
        self.clear()
        self._plane.stop_component(NAME)
        _forget(self._plane, f"{_CLASSES}/{NODE_CLASS}")

    def clear(self) -> None:
        """Delete the NodePools and wait until their machines are gone."""
        for pool in self._plane.api.items(_POOLS):
            _forget(self._plane, f"{_POOLS}/{pool['metadata']['name']}")
        self._wait(lambda: not self.claims() and not self.nodes(), "machines are still there")

    def kill(self) -> None:
        """End the program at once, as a crash would."""
        self._plane.kill(NAME)

    @property
    def log(self) -> Path:
        return self._plane.log(NAME)

    def nodes(self) -> list[Json]:
        """The existing nodes that it created, by name."""
        found = self._plane.api.items("/api/v1/nodes?labelSelector=karpenter.sh/nodepool")
        return sorted(found, key=lambda node: str(node["metadata"]["name"]))

    def claims(self) -> list[Json]:
        """The machines that it ordered, existing or not, by name."""
        found = self._plane.api.items(_CLAIMS)
        return sorted(found, key=lambda claim: str(claim["metadata"]["name"]))

    def _component(self, binary: Path, buffers: bool) -> Component:
        site = self._plane.site
        health = site.ports.take()
        shapes = site.workdir / "karpenter-machines.json"
        shapes.write_text(json.dumps(machines_file(self.fleet.machines), indent=2))
        environment = {
            "KUBECONFIG": str(self._plane.kubeconfig),
            "DISABLE_LEADER_ELECTION": "true",
            "METRICS_PORT": str(site.ports.take()),
            "HEALTH_PROBE_PORT": str(health),
            "KARPENTER_SERVICE": NAME,
            "SYSTEM_NAMESPACE": "kube-system",
            "INSTANCE_TYPES_FILE_PATH": str(shapes),
            # It waits so long for more pods before it orders; the defaults are 1 s and 10 s.
            "BATCH_IDLE_DURATION": "500ms",
            "BATCH_MAX_DURATION": "2s",
            "FEATURE_GATES": f"CapacityBuffer={'true' if buffers else 'false'}",
        }
        ready = http_probe(health, "/readyz", tls=False)
        return Component(NAME, [str(binary)], site.log(NAME), ready, environment)

    def _is_served(self) -> bool:
        try:
            for path in (_POOLS, _CLAIMS, _CLASSES):
                self._plane.api.get(path)
        except ApiFailure:
            return False
        return True

    def _wait(self, reached: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + _CLEAR_S
        while not reached():
            if time.monotonic() > deadline:
                raise TimeoutError(f"Karpenter: {otherwise} after {_CLEAR_S:g} s")
            time.sleep(_POLL_S)


def _forget(plane: ControlPlane, path: str) -> None:
    try:
        plane.api.delete(path)
    except ApiFailure as failure:
        if failure.status != HTTPStatus.NOT_FOUND:
            raise


def _definitions() -> Path:
    """Return a directory with its definitions, taken once from the module's own folders."""
    place = cache_root() / f"{NAME}-crds-{KARPENTER.version}-{KARPENTER.digest()}"
    try:
        return fill(place, _copy_definitions, lambda: None)
    except (GoUnavailable, BuildFailed, OSError) as trouble:
        raise BinariesUnavailable(f"Karpenter's definitions: {trouble}") from trouble


def _copy_definitions(target: Path) -> None:
    sources = module_directory(find_go(say), KARPENTER, "sigs.k8s.io/karpenter")
    for folder in _CRD_FOLDERS:
        for file in sorted((sources / folder).glob("*.yaml")):
            shutil.copyfile(file, target / file.name)
