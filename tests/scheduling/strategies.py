"""Small random clusters for Hypothesis: few names and values, so that things meet."""

from __future__ import annotations

from hypothesis import strategies as st

from headroom.core.objects import (
    HostPort,
    Key,
    LabelSelector,
    Node,
    NodeAffinity,
    NodeTerm,
    Placement,
    Pod,
    PodAffinity,
    PodTerm,
    PreferredNodeTerm,
    PreferredPodTerm,
    Requirement,
    Taint,
    Toleration,
    TopologySpread,
)
from headroom.core.resources import Resources
from tests.scheduling.build import HOSTNAME, NOON, ZONE

NODE_NAMES = ("n0", "n1", "n2", "n3", "n4")
labels = st.dictionaries(st.sampled_from(("app", "tier")), st.sampled_from(("x", "y")), max_size=2)
topology_keys = st.sampled_from((HOSTNAME, ZONE, "rack"))
effects = st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule"))


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    found = draw(st.dictionaries(st.sampled_from((ZONE, "rack", "disk")), st.sampled_from("12")))
    if draw(st.integers(0, 9)):
        found[HOSTNAME] = name
    amounts = {
        "cpu": draw(st.integers(0, 8)),
        "memory": draw(st.integers(0, 8)),
        "pods": draw(st.integers(0, 5)),
        "example.com/gpu": draw(st.integers(0, 2)),
    }
    return Node(
        name,
        labels=found,
        taints=tuple(draw(st.lists(taints, max_size=2))),
        unschedulable=draw(st.integers(0, 7)) == 0,
        allocatable=Resources(amounts),
    )


taints = st.builds(Taint, st.sampled_from(("t", "u")), st.sampled_from(("", "1")), effects)
tolerations = st.builds(
    Toleration,
    st.sampled_from(("t", "u")),
    st.sampled_from(("Equal", "Exists")),
    st.sampled_from(("", "1")),
    st.sampled_from(("", "NoSchedule", "PreferNoSchedule")),
)
requirements = st.builds(
    Requirement,
    st.sampled_from(("app", "tier")),
    st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")),
    st.sampled_from((("x",), ("x", "y"))),
)
selectors = st.builds(LabelSelector, st.lists(requirements, max_size=2).map(tuple))
node_requirements = st.builds(
    Requirement,
    st.sampled_from((ZONE, "disk")),
    st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")),
    st.just(("1",)),
)
node_terms = st.builds(NodeTerm, st.lists(node_requirements, max_size=2).map(tuple))
node_affinities = st.builds(
    NodeAffinity,
    st.none() | st.lists(node_terms, max_size=2).map(tuple),
    st.lists(st.builds(PreferredNodeTerm, st.integers(1, 9), node_terms), max_size=2).map(tuple),
)
pod_terms = st.builds(
    PodTerm,
    st.none() | selectors,
    topology_keys,
    st.sampled_from(((), ("a",), ("a", "b"))),
    st.none() | st.just(LabelSelector((Requirement("team", "In", ("x",)),))),
)
pod_affinities = st.builds(
    PodAffinity,
    st.lists(pod_terms, max_size=2).map(tuple),
    st.lists(st.builds(PreferredPodTerm, st.integers(1, 9), pod_terms), max_size=1).map(tuple),
)
spreads = st.builds(
    TopologySpread,
    st.integers(1, 2),
    topology_keys,
    st.sampled_from(("DoNotSchedule", "ScheduleAnyway")),
    st.none() | selectors,
    st.none() | st.integers(1, 3),
    st.sampled_from(("Honor", "Ignore")),
    st.sampled_from(("Honor", "Ignore")),
    st.sampled_from(((), ("app",))),
)
host_ports = st.builds(
    HostPort,
    st.sampled_from((80, 81)),
    st.sampled_from(("TCP", "UDP")),
    st.sampled_from(("0.0.0.0", "10.0.0.1")),
)


placements = st.builds(
    Placement,
    st.sampled_from(((), (), (("disk", "1"),))),
    st.just(NodeAffinity()) | node_affinities,
    st.just(PodAffinity()) | pod_affinities,
    st.just(PodAffinity()) | pod_affinities,
    st.just(()) | st.lists(spreads, max_size=2).map(tuple),
    st.lists(tolerations, max_size=2).map(tuple),
    st.just(()) | st.lists(host_ports, max_size=2).map(tuple),
)


@st.composite
def pods(draw: st.DrawFn, name: str) -> Pod:
    amounts = {
        "cpu": draw(st.integers(0, 3)),
        "memory": draw(st.integers(0, 3)),
        "example.com/gpu": draw(st.sampled_from((0, 0, 0, 1))),
    }
    return Pod(
        Key(draw(st.sampled_from("ab")), name),
        labels=draw(labels),
        priority=draw(st.integers(0, 2)),
        deleted=draw(st.sampled_from((None, None, None, NOON))),
        requests=Resources(amounts),
        placement=draw(placements),
    )
