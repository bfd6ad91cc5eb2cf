"""Who we may be on a real API server, and what is said when we are nobody there."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from headroom.core.actions import DeletePod, Denied, Unavailable
from headroom.core.objects import Key
from headroom.kube.access import Access, User
from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster, connect
from headroom.kube.errors import CannotReach, KubeError, RequestForbidden, Unauthorized
from headroom.kube.kubeconfig import find_access
from headroom.kube.watch_scope import WatchScope, WatchTuning
from headroom.wire.kinds import PODS
from testbed.controlplane import ControlPlane

pytestmark = pytest.mark.e2e

HASTY = WatchTuning(first_backoff=0.01, longest_backoff=0.05)


def trouble_of_watching(access: Access) -> KubeError:
    """Watch pods as somebody who may not."""

    async def story() -> KubeError:
        cluster = KubeCluster(Client(access), (WatchScope(PODS),), HASTY)
        try:
            async with aclosing(cluster.watch()) as stream:
                async for event in stream:
                    raise AssertionError(f"told {event}")
        except KubeError as error:
            return error
        finally:
            await cluster.close()
        raise AssertionError("the watch ended")

    return asyncio.run(asyncio.wait_for(story(), 30))


def version_by(kubeconfig: Path) -> str:
    async def story() -> str:
        cluster = connect(str(kubeconfig))
        try:
            return await cluster.probe()
        finally:
            await cluster.close()

    return asyncio.run(asyncio.wait_for(story(), 30))


def test_a_token_a_certificate_and_a_service_account_are_accepted(
    control_plane: ControlPlane,
) -> None:
    by_certificate = control_plane.kubeconfig_for("ann", ("system:masters",))
    by_account = control_plane.service_account_kubeconfig("default", "reader")
    for kubeconfig in (control_plane.kubeconfig, by_certificate, by_account):
        assert version_by(kubeconfig).startswith("v1.36.")


def test_a_token_without_rights_is_told_which_right_is_missing(control_plane: ControlPlane) -> None:
    error = trouble_of_watching(find_access(str(control_plane.kubeconfig_for("ann"))))
    assert isinstance(error, RequestForbidden)
    assert 'User "ann" cannot watch resource "pods"' in error.message
    assert "RBAC" in error.hint
    assert error.exit_code == 3


def test_a_write_without_rights_is_denied(control_plane: ControlPlane) -> None:
    async def story() -> None:
        cluster = connect(str(control_plane.kubeconfig_for("ann")))
        outcome = await cluster.perform(DeletePod(Key("default", "a"), "uid"))
        await cluster.close()
        assert isinstance(outcome, Denied)
        assert 'User "ann" cannot delete resource "pods"' in outcome.message

    asyncio.run(asyncio.wait_for(story(), 30))


def test_a_token_nobody_knows_is_told_as_such(control_plane: ControlPlane) -> None:
    access = find_access(str(control_plane.kubeconfig))
    error = trouble_of_watching(replace(access, user=User(token="nonsense")))
    assert isinstance(error, Unauthorized)
    assert "does not accept our credentials" in error.message
    assert str(control_plane.kubeconfig) in error.message


def test_an_authority_that_is_not_the_servers_is_told(control_plane: ControlPlane) -> None:
    access = find_access(str(control_plane.kubeconfig))
    wrong = replace(access, endpoint=replace(access.endpoint, ca=None))

    async def story() -> None:
        cluster = KubeCluster(Client(wrong))
        with pytest.raises(CannotReach, match="its certificate is not trusted"):
            await cluster.probe()
        outcome = await cluster.perform(DeletePod(Key("default", "a"), "uid"))
        await cluster.close()
        assert isinstance(outcome, Unavailable)

    asyncio.run(asyncio.wait_for(story(), 30))
