"""A fence as it is sent: born on its node, asking for nothing, and against every stranger."""

from __future__ import annotations

from headroom.core.actions import CreateFence
from headroom.core.fences import FENCING
from headroom.core.names import LOCKED_CLASS
from headroom.core.objects import Key, Parent
from headroom.wire.decode import pod_from
from headroom.wire.render import render

PARENT = Parent("headroom.dev/v1alpha1", "Hold", "ml", "nightly", "uid-nightly")


def body() -> dict[str, object]:
    made = render(CreateFence(Key("ml", "fence-a"), PARENT, "a")).body
    assert isinstance(made, dict)
    return made


def test_it_reads_back_as_what_the_rules_count_with() -> None:
    fence = pod_from(body())
    assert fence.placement == FENCING
    assert not any(fence.requests.values())
    assert (fence.node, fence.gates) == ("a", ())


def test_it_belongs_to_the_hold_that_has_owners_there() -> None:
    fence = pod_from(body())
    assert [owner.uid for owner in fence.owners] == ["uid-nightly"]
    assert fence.labels["headroom.dev/role"] == "fence"


def test_it_is_as_important_as_a_guardian() -> None:
    spec = body()["spec"]
    assert isinstance(spec, dict)
    assert spec["priorityClassName"] == LOCKED_CLASS
    assert spec["preemptionPolicy"] == "Never"
    assert spec["terminationGracePeriodSeconds"] == 0
