"""What a headroom depends on follows from its size and its slots."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.headrooms.dependencies import Cause, On, causes
from headroom.core.headrooms.headrooms import NODE_CHUNK
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.kind import Size
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from headroom.core.sizes.utilization import Utilization
from headroom.dialects.capacitybuffer.rules.size import BufferSize
from tests.builders import NAMESPACE
from tests.core.headroom_builder import WEB, headroom


@pytest.mark.parametrize(
    ("size", "found"),
    [
        (Replicas(3), []),
        (Percent(50), [(NAMESPACE, WEB)]),
        (PerNode(1), [On.NODES]),
        (Utilization(800), [On.LOAD, (On.QUOTAS, NAMESPACE)]),
        (Utilization(800).looking_ahead(), [On.LOAD, (On.QUOTAS, NAMESPACE), On.WORKLOADS]),
        (Adaptive(timedelta(seconds=2), 0.99), [On.ARRIVALS]),
        (BufferSize(replicas=1), [(On.SHARED_QUOTAS, NAMESPACE)]),
    ],
)
def test_a_size_says_what_it_depends_on(size: Size, found: list[Cause]) -> None:
    assert list(causes(headroom(size))) == found


def test_slots_as_large_as_a_node_depend_on_nodes_and_daemon_sets() -> None:
    made = headroom()
    chunked = replace(made, slot=replace(made.slot, chunk=NODE_CHUNK))
    assert list(causes(chunked)) == [On.NODES, On.DAEMON_SETS]
