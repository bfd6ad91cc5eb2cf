"""An operator whose machine is ten minutes off: holds and gates last by the server's time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from headroom.wire.kinds import CLAIM_INDEXES, HOLDS, NAMESPACES, PODS
from testbed.controlplane import ControlPlane
from tests.e2e.installing import until
from tests.stories.operating import ThreadedOperator
from tests.stories.things import GATE, hold, pod
from tests.versions import needs

pytestmark = pytest.mark.e2e
NOW = {"gracePeriodSeconds": 0}


@contextmanager
def skewed(plane: ControlPlane, minutes: int) -> Iterator[ThreadedOperator]:
    def wall() -> datetime:
        return datetime.now(UTC) + timedelta(minutes=minutes)

    operator = ThreadedOperator(plane.kubeconfig, {}, wall=wall)
    try:
        yield operator
    finally:
        operator.kill()


@needs("mutating-policy")
@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_clock_ten_minutes_off_neither_ends_holds_nor_gates_for_longer(
    attacked_plane: ControlPlane, minutes: int
) -> None:
    api, shop = attacked_plane.api, f"skewed-{abs(minutes)}-{'ahead' if minutes > 0 else 'behind'}"
    labels = {"headroom.dev/claims": "enabled"}
    api.create(NAMESPACES.path(), {"metadata": {"name": shop, "labels": labels}})

    def gates() -> list[str]:
        asked = pod("nobody", app=shop, namespace=shop)
        made = api.create(f"{PODS.path(shop)}?dryRun=All", asked)
        return [gate["name"] for gate in made["spec"].get("schedulingGates", ())]

    def phase(path: str) -> str:
        return str((api.get(path).get("status") or {}).get("phase"))

    with skewed(attacked_plane, minutes):
        made = hold("short", cpu="10m", app=shop, namespace=shop, ttl="5m")
        api.create(HOLDS.path(shop), made)
        until("it is held", lambda: phase(HOLDS.path(shop, "short")) == "Available", seconds=60)
        until("pods are gated", lambda: gates() == [GATE], seconds=60)
        index = api.items(CLAIM_INDEXES.path(shop))[0]
        fresh_until = datetime.fromisoformat(index["spec"]["freshUntil"])
        assert abs(fresh_until - datetime.now(UTC)) < timedelta(seconds=30)
        api.create(PODS.path(shop), pod("owner", cpu="10m", app=shop, namespace=shop))
        until("the owner runs", lambda: phase(PODS.path(shop, "owner")) == "Running", seconds=60)
        claimed = api.get(PODS.path(shop, "owner"))["metadata"]["annotations"]
        assert claimed["headroom.dev/claimed"] == f"Hold/{shop}/short"
        api.create(HOLDS.path(shop), hold("next", cpu="10m", app=shop, namespace=shop, ttl="5m"))
        until("the next one too", lambda: phase(HOLDS.path(shop, "next")) == "Available")
    until("nobody is gated for one that is gone", lambda: gates() == [], seconds=60)
    for path in (PODS.path(shop, "owner"), NAMESPACES.path(name=shop)):
        api.delete(path, NOW)
