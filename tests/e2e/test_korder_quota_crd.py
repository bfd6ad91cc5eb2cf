"""The real API server takes korder's Quota, fills in what is left out, and refuses bad ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.core.quotas.quota import Account
from headroom.dialects.korder.quotas import decode_quota
from headroom.dialects.korder.quotaschema import quota_definition
from headroom.dialects.korder.quotastatus import status_json
from headroom.dialects.korder.rules.limits import QuotaBounds
from headroom.dialects.korder.rules.quota_status import status_of
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.builders import NOON
from tests.dialects.korder.quota_cases import ODD, REFUSED, SOUND, Case
from tests.e2e.installing import install

pytestmark = pytest.mark.e2e
QUOTAS = "/apis/core.korder.dev/v1alpha1/quotas"


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane, with the kind Quota."""
    install(control_plane, [quota_definition()])
    yield control_plane
    control_plane.kubectl("delete", "quotas.core.korder.dev", "--all", "--ignore-not-found")


def judged(plane: ControlPlane, case: Case) -> dict[str, Any]:
    """Have the API server judge a Quota as kubectl would ask it to, without keeping it."""
    return plane.api.create(f"{QUOTAS}?dryRun=All&fieldValidation=Strict", case.quota())


@pytest.mark.parametrize("case", [*SOUND, *ODD], ids=lambda case: case.name)
def test_a_quota_that_korder_takes_is_taken(plane: ControlPlane, case: Case) -> None:
    assert judged(plane, case)["metadata"]["name"] == case.name


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_a_quota_that_korder_refuses_is_refused(plane: ControlPlane, case: Case) -> None:
    with pytest.raises(ApiFailure) as refused:
        judged(plane, case)
    assert case.blames.partition("[")[0] in str(refused.value)
    assert case.says in str(refused.value)


def test_what_is_left_out_gets_korders_defaults(plane: ControlPlane) -> None:
    made = decode_quota.plain(judged(plane, Case("defaults", {"scope": {}, "hard": None})))
    assert made.scope.kind == "Cluster"
    assert made.hard.amounts["tickets"] == 1000


def test_the_type_of_a_scope_stays(plane: ControlPlane) -> None:
    plane.api.create(QUOTAS, Case("stays", {}).quota())
    scope = {"type": "NamespaceList", "namespaces": ["shop"]}
    with pytest.raises(ApiFailure, match="cannot be changed"):
        plane.api.patch(f"{QUOTAS}/stays", {"spec": {"scope": scope}})
    plane.api.patch(f"{QUOTAS}/stays", {"spec": {"hard": {"tickets": 11}}})


def test_the_status_that_we_write_is_the_one_that_is_shown(plane: ControlPlane) -> None:
    limits = {"tickets": 3, "reserved.cpu": "10500m", "max-duration": "24h"}
    quota = decode_quota.plain(plane.api.create(QUOTAS, Case("shown", {"hard": limits}).quota()))
    status = status_of(quota, QuotaBounds(quota.hard, window="office"), Account(), NOON)
    plane.api.patch(f"{QUOTAS}/shown/status", {"status": status_json(status)})
    assert decode_quota.plain(plane.api.get(f"{QUOTAS}/shown")).status == status
