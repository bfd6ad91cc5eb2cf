"""What holds of every pod's effective requests."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.requests import ContainerNeed, PodNeed, effective_requests, nonzero_requests
from headroom.core.resources import EMPTY, Resources
from tests.samples import examples

_AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "example.com/gpu"]), st.integers(min_value=0, max_value=50)
)
_TOLD = st.none() | _AMOUNTS
_CONTAINERS = st.builds(
    ContainerNeed,
    requests=_AMOUNTS,
    limits=_AMOUNTS,
    actual=_TOLD,
    allocated=_TOLD,
)
_INIT_CONTAINERS = st.builds(replace, _CONTAINERS, sidecar=st.booleans())
_PODS = st.builds(
    PodNeed,
    containers=st.lists(_CONTAINERS, min_size=1, max_size=3).map(tuple),
    init_containers=st.lists(_INIT_CONTAINERS, max_size=3).map(tuple),
    overhead=_AMOUNTS,
    infeasible=st.booleans(),
)


def total(containers: tuple[ContainerNeed, ...]) -> Resources:
    """What containers ask for while they run side by side."""
    return effective_requests(PodNeed(containers=containers))


@given(_PODS)
@examples(60)
def test_a_pod_never_needs_less_than_its_containers(pod: PodNeed) -> None:
    alone = PodNeed(containers=pod.containers, infeasible=pod.infeasible)
    assert effective_requests(alone).fits_in(effective_requests(pod))


@given(_PODS)
@examples(60)
def test_the_order_of_containers_is_no_matter(pod: PodNeed) -> None:
    turned = replace(pod, containers=tuple(reversed(pod.containers)))
    assert effective_requests(turned) == effective_requests(pod)
    assert nonzero_requests(turned) == nonzero_requests(pod)


@given(_PODS, _CONTAINERS)
@examples(60)
def test_one_container_more_never_makes_a_pod_smaller(pod: PodNeed, more: ContainerNeed) -> None:
    larger = replace(pod, containers=(*pod.containers, more))
    assert effective_requests(pod).fits_in(effective_requests(larger))


@given(_PODS, _AMOUNTS)
@examples(60)
def test_overhead_is_added_exactly(pod: PodNeed, overhead: dict[str, int]) -> None:
    bare = replace(pod, overhead=EMPTY)
    with_overhead = replace(pod, overhead=overhead)
    assert effective_requests(with_overhead) == effective_requests(bare) + Resources(overhead)


@given(_PODS)
@examples(60)
def test_scoring_never_counts_less_than_is_asked_for(pod: PodNeed) -> None:
    assert effective_requests(pod).fits_in(nonzero_requests(pod))


@given(st.lists(_AMOUNTS, min_size=1, max_size=4))
@examples(60)
def test_sidecars_alone_add_up_like_containers(asked: list[dict[str, int]]) -> None:
    containers = tuple(ContainerNeed(requests=one) for one in asked)
    sidecars = tuple(ContainerNeed(requests=one, sidecar=True) for one in asked)
    assert effective_requests(PodNeed(init_containers=sidecars)) == total(containers)


@given(st.lists(_AMOUNTS, min_size=1, max_size=4))
@examples(60)
def test_plain_init_containers_need_their_largest(asked: list[dict[str, int]]) -> None:
    largest = EMPTY
    for one in asked:
        largest = largest.largest(Resources(one))
    pod = PodNeed(init_containers=tuple(ContainerNeed(requests=one) for one in asked))
    assert effective_requests(pod) == largest


@given(_PODS, st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(1, 50), min_size=1))
@examples(60)
def test_pod_level_requests_decide_for_their_names(pod: PodNeed, asked: dict[str, int]) -> None:
    found = effective_requests(replace(pod, pod_requests=asked))
    usual = effective_requests(pod)
    overhead = Resources(pod.overhead)
    for name in ("cpu", "memory", "example.com/gpu"):
        assert found[name] == (asked[name] + overhead[name] if name in asked else usual[name])
