"""The real API server as ground: no scheduler, no controllers, so that nothing moves but us."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Coroutine
from typing import Any

from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster
from headroom.kube.kubeconfig import find_access
from headroom.wire.crds import crds
from headroom.wire.kinds import CLAIM_INDEXES, HEADROOMS, HOLDS, PRIORITY_CLASSES, Resource
from headroom.wire.manifests import priority_classes
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.contract.ground import Json
from tests.patience import deadline_after, keep_waiting

CRDS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False
)
OURS = (HOLDS, HEADROOMS, CLAIM_INDEXES)
STORY_SECONDS = 60.0
_numbers = itertools.count()


def install(plane: ControlPlane) -> None:
    """Bring our kinds and priority classes, and wait until the kinds are served."""
    for crd in crds():
        plane.api.ensure(CRDS.path(), crd)
    for item in priority_classes():
        plane.api.ensure(PRIORITY_CLASSES.path(), item)
    deadline = deadline_after(STORY_SECONDS)
    while not all(_is_served(plane, resource) for resource in OURS):
        keep_waiting(deadline, "our kinds are served")
        time.sleep(0.05)


def _is_served(plane: ControlPlane, resource: Resource) -> bool:
    try:
        plane.api.get(resource.path())
    except ApiFailure:
        return False
    return True


class KubeGround:
    """A namespace of a real API server, and a KubeCluster that reaches it."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._cluster: KubeCluster | None = None
        self.namespace = f"contract-{next(_numbers)}"
        plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": self.namespace}})

    @property
    def cluster(self) -> KubeCluster:
        if self._cluster is None:
            access = find_access(str(self._plane.kubeconfig))
            self._cluster = KubeCluster(Client(access))
        return self._cluster

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        async def bounded() -> None:
            try:
                async with asyncio.timeout(STORY_SECONDS):
                    await story
            finally:
                await self.cluster.close()

        asyncio.run(bounded())

    async def make(self, resource: Resource, manifest: Json) -> str:
        path = resource.path(self.namespace)
        made = self._plane.api.create(path, manifest)
        return str(made["metadata"]["uid"])

    async def look(self, resource: Resource, name: str) -> Json | None:
        path = resource.path(self.namespace, name)
        try:
            return self._plane.api.get(path)
        except ApiFailure as failure:
            if failure.status == 404:
                return None
            raise

    async def remove(self, resource: Resource, name: str) -> None:
        path = resource.path(self.namespace, name)
        self._plane.api.delete(path, {"gracePeriodSeconds": 0})
