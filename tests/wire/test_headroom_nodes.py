"""Since when a node is not ready: what lets a size per node tell a blink from an outage."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headroom.wire.objects.nodes import node_from

SINCE = "2027-01-04T08:00:00Z"


def node(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "status": {"conditions": list(conditions)}}


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_tells_since_when_it_is_not_ready(status: str) -> None:
    read = node_from(node({"type": "Ready", "status": status, "lastTransitionTime": SINCE}))
    assert (read.ready, read.unready_since) == (False, datetime(2027, 1, 4, 8, tzinfo=UTC))


@pytest.mark.parametrize(
    "conditions",
    [
        (),
        ({"type": "Ready", "status": "True", "lastTransitionTime": SINCE},),
        ({"type": "Ready", "status": "False"},),
        ({"type": "DiskPressure", "status": "False", "lastTransitionTime": SINCE},),
    ],
)
def test_a_node_that_is_ready_or_does_not_say_has_no_such_time(
    conditions: tuple[dict[str, Any], ...],
) -> None:
    assert node_from(node(*conditions)).unready_since is None


def test_a_heartbeat_changes_nothing() -> None:
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": SINCE}
    first, second = ({**ready, "lastHeartbeatTime": f"2027-01-04T08:0{n}:00Z"} for n in (1, 2))
    assert node_from(node(first)) == node_from(node(second))
