"""The features of one cluster: its version and what it serves, requested once.

If the API server lists a resource, that decides; other features follow from its version. If a
cluster hides its lists, only the version counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from headroom.kube.client import Client
from headroom.kube.errors import KubeError, NoSuchKind, RequestForbidden
from headroom.kube.versions import FEATURES, Feature, Version, read_version, trouble_with
from headroom.wire.kinds import Resource


@dataclass(frozen=True, slots=True)
class Abilities:
    """A cluster's version, and for each feature whether the cluster has it."""

    kubernetes: str
    features: tuple[tuple[Feature, bool], ...]

    @property
    def version(self) -> Version | None:
        return read_version(self.kubernetes)

    @property
    def trouble(self) -> str:
        """Why this version is not supported; empty if it is."""
        return trouble_with(self.version)

    def named(self, has: bool) -> list[str]:
        """The names of the features that the cluster has, or lacks."""
        return [feature.name for feature, there in self.features if there is has]


class _Resource(msgspec.Struct):
    name: str = ""


class _Listed(msgspec.Struct):
    resources: list[_Resource] = []


async def abilities(client: Client, kubernetes: str) -> Abilities:
    """Detect the features of the cluster with this version."""
    version = read_version(kubernetes)
    lists: dict[str, frozenset[str] | None] = {}
    found = []
    for feature in FEATURES:
        there = version is not None and version >= feature.since
        if feature.served is not None:
            path, resource = feature.served
            if path not in lists:
                lists[path] = await _listed(client, path)
            names = lists[path]
            there = there if names is None else resource in names
        found.append((feature, there))
    return Abilities(kubernetes, tuple(found))


async def serves(client: Client, kind: Resource) -> bool:
    """Whether a kind is served; False without an answer: a later request reports why."""
    try:
        names = await _listed(client, kind.root)
    except KubeError:
        return False
    return names is not None and kind.plural in names


async def _listed(client: Client, path: str) -> frozenset[str] | None:
    """The names of the resources below a path; None if the cluster does not list them."""
    try:
        body = await client.get(path, f"look at what is served under {path}")
        return frozenset(item.name for item in msgspec.json.decode(body, type=_Listed).resources)
    except (RequestForbidden, NoSuchKind, msgspec.MsgspecError):
        return None
