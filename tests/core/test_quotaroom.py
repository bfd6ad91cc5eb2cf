"""How many pods a namespace's quotas let in, our own usage taken out."""

from __future__ import annotations

import pytest

from headroom.core.demand.resource_quotas import (
    QuotaAllowance,
    ResourceQuota,
    ScopeRule,
    Want,
    allowance,
    charges,
    in_turn,
    tightest,
)
from headroom.core.objects import LabelSelector, Placement, PodAffinity, PodTerm
from headroom.core.resources import Resources
from tests.builders import pod, resources

CORE = resources(cpu=1)
TEAM = ResourceQuota("team", {"cpu": 5_000})


def shares(
    quota: ResourceQuota, *wanted: int, ours: Resources | None = None
) -> list[QuotaAllowance]:
    return [*in_turn([Want(count, CORE, [quota]) for count in wanted], ours or Resources())]


def test_what_one_gets_the_next_lacks() -> None:
    assert shares(TEAM, 2, 4) == [QuotaAllowance(2), QuotaAllowance(3, ("team",))]
    assert shares(TEAM, 4, 4) == [QuotaAllowance(4), QuotaAllowance(1, ("team",))]
    assert shares(ResourceQuota("team", {"cpu": 10_000}), 4, 4) == [
        QuotaAllowance(4),
        QuotaAllowance(4),
    ]
    assert shares(TEAM, 9, 4) == [QuotaAllowance(5, ("team",)), QuotaAllowance(0, ("team",))]


def test_what_others_use_is_gone() -> None:
    quota = ResourceQuota("team", {"cpu": 10_000}, {"cpu": 8_000})
    assert allowance(5, CORE, [quota]) == QuotaAllowance(2, ("team",))


def test_what_we_use_ourselves_is_not() -> None:
    quota = ResourceQuota("team", {"cpu": 10_000, "pods": 10}, {"cpu": 8_000, "pods": 8})
    ours = Resources({"cpu": 5_000, "pods": 5})
    assert allowance(9, CORE, [quota], ours) == QuotaAllowance(7, ("team",))
    assert shares(quota, 3, 9, ours=ours) == [QuotaAllowance(3), QuotaAllowance(4, ("team",))]


def test_a_quota_that_is_overdrawn_lets_nothing_in() -> None:
    quota = ResourceQuota("team", {"cpu": 2_000}, {"cpu": 8_000})
    assert allowance(1, CORE, [quota]) == QuotaAllowance(0, ("team",))


def test_every_quota_that_limits_is_named() -> None:
    quotas = [
        ResourceQuota("b", {"requests.cpu": 3_000}),
        ResourceQuota("a", {"pods": 2}),
        ResourceQuota("c", {"cpu": 9_000}),
    ]
    assert allowance(4, CORE, quotas) == QuotaAllowance(2, ("a", "b"))


@pytest.mark.parametrize("name", ["limits.cpu", "services", "configmaps", "requests.storage"])
def test_what_a_chunk_does_not_use_limits_nothing(name: str) -> None:
    assert allowance(4, CORE, [ResourceQuota("q", {name: 0})]) == QuotaAllowance(4)


def test_devices_are_counted_by_their_requests() -> None:
    chunk = resources(cpu=1, **{"nvidia.com/gpu": 2})
    quota = ResourceQuota("q", {"requests.nvidia.com/gpu": 5})
    assert allowance(4, chunk, [quota]) == QuotaAllowance(2, ("q",))


def scoped(name: str, operator: str = "Exists", *values: str) -> ResourceQuota:
    return ResourceQuota("q", {"pods": 1}, scopes=(ScopeRule(name, operator, values),))


def test_scopes_choose_the_pods_that_a_quota_charges() -> None:
    plain, light = pod("x", cpu=1), pod("y", more={"nvidia.com/gpu": 1})
    assert charges(ResourceQuota("q"), plain)
    assert charges(scoped("NotTerminating"), plain)
    assert not charges(scoped("Terminating"), plain)
    assert charges(scoped("NotBestEffort"), plain)
    assert charges(scoped("BestEffort"), light)
    assert not charges(scoped("BestEffort"), plain)
    assert not charges(scoped("SomethingNew"), plain)


def test_the_scope_of_priority_classes_goes_by_our_own_class() -> None:
    mine = "headroom-preemptible"
    assert charges(scoped("PriorityClass", "In", mine, "other"), pod("x"), mine)
    assert not charges(scoped("PriorityClass", "In", "other"), pod("x"), mine)
    assert charges(scoped("PriorityClass", "NotIn", "other"), pod("x"), mine)
    assert charges(scoped("PriorityClass", "Exists"), pod("x"), mine)
    assert not charges(scoped("PriorityClass", "DoesNotExist"), pod("x"), mine)
    assert not charges(scoped("PriorityClass", "Between"), pod("x"), mine)


def test_affinity_to_other_namespaces_is_a_scope() -> None:
    far = PodTerm(LabelSelector(), "kubernetes.io/hostname", namespaces=("other",))
    near = PodTerm(LabelSelector(), "kubernetes.io/hostname")
    scope = scoped("CrossNamespacePodAffinity")
    both, local = PodAffinity(required=(near, far)), PodAffinity(required=(near,))
    assert charges(scope, pod("x", placement=Placement(pod_affinity=both)))
    assert charges(scope, pod("x", placement=Placement(pod_anti_affinity=both)))
    assert not charges(scope, pod("x", placement=Placement(pod_affinity=local)))


def test_the_quota_that_allows_the_fewest_is_told_with_its_resource_and_numbers() -> None:
    team = ResourceQuota("team", {"requests.cpu": 5_000, "pods": 9}, {"requests.cpu": 4_500})
    found = tightest(CORE, [ResourceQuota("wide", {"cpu": 99_000}), team], resources(cpu=1))
    assert found is not None
    words = "quota team allows 1 of 3 slots: requests.cpu 5, others use 3500m, a slot 1"
    assert found.allows(3) == words
    assert tightest(CORE, [ResourceQuota("q", {"services": 1})]) is None
