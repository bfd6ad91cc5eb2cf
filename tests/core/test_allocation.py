"""allocatePolicy: the worked examples of Koordinator's accounting, without its overselling.

A node of 10 CPU with 2 CPU of other pods, unless said otherwise. What strangers may have is what
is left when the guardian (`room_to_keep`) stands beside all owners.
"""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.allocation import (
    counted,
    kept_beside,
    policy_refusal,
    ports_beside,
    reported_use,
    room_to_keep,
    used_up,
)
from headroom.core.holds import Hold, Terms
from headroom.core.objects import HostPort, Placement, Pod, Wish
from headroom.core.resources import EMPTY, Resources
from tests.builders import Amount, hold, pod, resources

NODE = resources(cpu=10)
OTHERS = resources(cpu=2)
NEEDY = Wish(needs_hold=True)
POLICIES = ("", "Aligned", "Restricted")


def shared(cpu: Amount = 4, memory: Amount = 0, policy: str = "Aligned", **terms: Any) -> Hold:
    return hold("r", cpu, memory, allocate_once=False, allocate_policy=policy, terms=Terms(**terms))


def owners(*cpus: int) -> list[Pod]:
    return [pod(f"owner-{index}", cpu) for index, cpu in enumerate(cpus)]


def free(kept: Hold, users: list[Pod]) -> Resources:
    """What a stranger finds on the node."""
    used = OTHERS + room_to_keep(kept, users)
    for user in users:
        used = used + user.requests
    return NODE - used


def test_what_an_owner_takes_is_no_longer_kept_and_strangers_gain_nothing() -> None:
    kept = shared(cpu=4)
    assert free(kept, []) == resources(cpu=4)
    assert room_to_keep(kept, owners(2)) == resources(cpu=2)
    assert free(kept, owners(2)) == resources(cpu=4)


@pytest.mark.parametrize("policy", ["", "Aligned"])
def test_an_owner_larger_than_the_hold_takes_the_rest_from_the_node(policy: str) -> None:
    kept = shared(cpu=4, policy=policy)
    assert policy_refusal(kept, owners(2), pod("second", cpu=5)) is None
    assert room_to_keep(kept, owners(2, 5)) == EMPTY
    assert used_up(kept, owners(2, 5)) == resources(cpu=4)


@pytest.mark.parametrize("policy", ["", "Aligned"])
def test_strangers_are_never_sold_what_owners_took_beyond_the_hold(policy: str) -> None:
    """Koordinator shows a stranger 4 free CPUs here and books 13 on 10."""
    assert free(shared(cpu=4, policy=policy), owners(2, 5)) == resources(cpu=1)


def test_restricted_refuses_what_the_hold_has_not_with_all_numbers() -> None:
    kept = shared(cpu=4, policy="Restricted")
    why = policy_refusal(kept, owners(2), pod("second", cpu=5))
    assert why == "Insufficient cpu: requested 5, used 2, capacity 4"
    assert policy_refusal(kept, owners(2), pod("second", cpu=2)) is None


def test_restricted_counts_memory_as_it_counts_cpu() -> None:
    kept = shared(cpu=4, memory="8Gi", policy="Restricted")
    users = [pod("a", 2, "2Gi"), pod("b", 2, "2Gi"), pod("c", 0, "3Gi")]
    for number, user in enumerate(users):
        assert policy_refusal(kept, users[:number], user) is None
    assert reported_use(kept, users) == resources(cpu=4, memory="7Gi")
    why = policy_refusal(kept, users, pod("d", 0, "2Gi"))
    assert why == "Insufficient memory: requested 2Gi, used 7Gi, capacity 8Gi"
    assert policy_refusal(kept, users, pod("e", 0, "1Gi")) is None


def test_aligned_lets_the_same_owners_all_in() -> None:
    kept = shared(cpu=4, memory="8Gi", tells_all=True)
    users = [pod("a", 2, "2Gi"), pod("b", 2, "2Gi"), pod("c", 0, "3Gi"), pod("d", 0, "2Gi")]
    assert policy_refusal(kept, users[:3], users[3]) is None
    assert reported_use(kept, users) == resources(cpu=4, memory="9Gi")


def test_a_status_that_does_not_tell_all_stops_at_what_the_hold_has() -> None:
    users = owners(2, 5)
    assert reported_use(shared(cpu=4), users) == resources(cpu=4)
    assert reported_use(shared(cpu=4, tells_all=True), users) == resources(cpu=7)


def test_what_the_hold_has_not_at_all_comes_from_the_node() -> None:
    kept = shared(cpu=4, policy="Restricted")
    user = pod("a", 4, "1Gi")
    assert policy_refusal(kept, [], user) is None
    assert reported_use(kept, [user]) == resources(cpu=4)


def test_a_hold_may_limit_how_many_owners_it_has() -> None:
    kept = shared(cpu=7, policy="Restricted", most_owners=2, withheld=resources(cpu=1))
    assert policy_refusal(kept, owners(1), pod("b", cpu=1)) is None
    why = policy_refusal(kept, owners(1, 1), pod("c", cpu=1))
    assert why == "Too many pods: 2 of 2 owners are there"


def test_what_is_withheld_is_for_nobody() -> None:
    kept = shared(cpu=6, policy="Restricted", withheld=resources(cpu=2))
    why = policy_refusal(kept, [], pod("a", cpu=6))
    assert why == "Insufficient cpu: requested 6, used 0, capacity 4"
    assert room_to_keep(kept, owners(4)) == resources(cpu=2)
    assert kept_beside(kept, resources(cpu=6), resources(cpu=4)) == resources(cpu=2)


def test_what_is_withheld_stays_held_also_from_an_aligned_owner() -> None:
    kept = shared(cpu=6, withheld=resources(cpu=2))
    assert policy_refusal(kept, [], pod("a", cpu=6)) is None
    assert room_to_keep(kept, owners(6)) == resources(cpu=2)
    assert kept_beside(kept, resources(cpu=6), resources(cpu=6)) == resources(cpu=2)


def test_what_is_not_counted_stays_locked_and_is_told_all_the_same() -> None:
    kept = shared(cpu=4, memory="8Gi", policy="Restricted", counted=("cpu",))
    users = [pod("a", 2, "9Gi")]
    assert policy_refusal(kept, [], users[0]) is None
    assert room_to_keep(kept, users) == resources(cpu=2, memory="8Gi")
    assert reported_use(kept, users) == resources(cpu=2, memory="8Gi")
    beside = kept_beside(kept, resources(cpu=4, memory="8Gi"), users[0].requests)
    assert beside == resources(cpu=2, memory="8Gi")


@pytest.mark.parametrize(
    ("policy", "named", "names"),
    [
        ("Restricted", (), {"cpu", "memory"}),
        ("Restricted", ("cpu",), {"cpu"}),
        ("Restricted", ("cpu", "example.com/gpu"), {"cpu"}),
        ("Restricted", ("example.com/gpu",), {"cpu", "memory"}),
        ("Aligned", ("cpu",), {"cpu", "memory"}),
    ],
)
def test_named_resources_are_the_only_ones_counted_unless_the_hold_has_none_of_them(
    policy: str, named: tuple[str, ...], names: set[str]
) -> None:
    assert counted(shared(cpu=4, memory="8Gi", policy=policy, counted=named)) == names


@pytest.mark.parametrize("policy", POLICIES)
def test_a_hold_with_nothing_of_what_the_pod_asks_for_is_passed_over(policy: str) -> None:
    kept, other = shared(cpu=6, policy=policy), pod("a", more={"example.com/batch": 1})
    assert policy_refusal(kept, [], other) == "it has nothing of what the pod asks for"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_pod_that_needs_a_hold_may_have_one_for_the_nodes_sake(policy: str) -> None:
    other = pod("a", more={"example.com/batch": 1}, wish=NEEDY)
    assert policy_refusal(shared(cpu=6, policy=policy), [], other) is None


def test_a_hold_for_one_keeps_nothing_beside_its_owner() -> None:
    once = hold("r", cpu=4, allocate_policy="Aligned")
    assert kept_beside(once, resources(cpu=4), resources(cpu=1)) == EMPTY


@pytest.mark.parametrize(("guardian", "asked", "kept"), [(4, 1, 3), (4, 4, 0), (2, 5, 0)])
def test_of_a_hold_for_many_the_rest_is_kept(guardian: int, asked: int, kept: int) -> None:
    left = kept_beside(shared(cpu=4), resources(cpu=guardian), resources(cpu=asked))
    assert left == resources(cpu=kept)


def test_each_host_port_is_given_once() -> None:
    web, dns = HostPort(80), HostPort(53, "UDP")
    user = pod("p", placement=Placement(ports=(HostPort(53), HostPort(80, ip="10.0.0.1"))))
    assert ports_beside((web, dns), [user]) == (dns,)
