"""Two candidates for one Lease on the real API server; the first is cut off."""

from __future__ import annotations

import asyncio

import pytest

from headroom.kube.client import Client
from headroom.kube.kubeconfig import find_access
from headroom.kube.lease import KubeLease, LeaseTuning
from testbed.controlplane import ControlPlane
from tests.e2e.relay import Relay

pytestmark = pytest.mark.e2e

SHORT = LeaseTuning(duration=3, deadline=1.5, period=0.2)


def lease_of(client: Client, name: str, identity: str) -> KubeLease:
    return KubeLease(client, name, "default", identity, SHORT)


def test_the_second_leads_only_after_the_first_knows_that_it_lost(
    control_plane: ControlPlane,
) -> None:
    async def story() -> None:
        access = find_access(str(control_plane.kubeconfig))
        async with Relay(access) as relay:
            near, far = Client(access), Client(relay.access)
            first, second = lease_of(far, "contested", "a"), lease_of(near, "contested", "b")
            await first.acquire()
            waiting = asyncio.create_task(second.acquire())
            lost = asyncio.create_task(first.lost())
            await asyncio.sleep(2 * SHORT.period)
            assert (first.leading, waiting.done()) == (True, False)
            relay.freeze()
            done, _ = await asyncio.wait((waiting, lost), return_when=asyncio.FIRST_COMPLETED)
            assert done == {lost}
            assert not first.leading
            await waiting
            assert second.leading
            await second.release()
            await first.release()
            await near.close()
            await far.close()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_a_released_lease_passes_on_without_waiting(control_plane: ControlPlane) -> None:
    async def story() -> None:
        client = Client(find_access(str(control_plane.kubeconfig)))
        first, second = lease_of(client, "released", "a"), lease_of(client, "released", "b")
        await first.acquire()
        await first.release()
        await first.lost()
        started = asyncio.get_running_loop().time()
        await second.acquire()
        assert asyncio.get_running_loop().time() - started < SHORT.duration
        path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/released"
        spec = control_plane.api.get(path)["spec"]
        assert spec["holderIdentity"] == "b"
        assert spec["leaseTransitions"] == 1
        await second.release()
        await client.close()

    asyncio.run(asyncio.wait_for(story(), 60))
