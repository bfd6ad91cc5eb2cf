"""A fence as it is sent: born on its node, asking for nothing, and against every stranger."""

from __future__ import annotations

from headroom.core.actions import CreateFence
from headroom.core.fences import fencing
from headroom.core.names import LOCKED_CLASS
from headroom.core.objects import Key
from headroom.wire.objects.holds import hold_from
from headroom.wire.objects.pods import pod_from
from headroom.wire.render import render

TOLERATION = {"key": "gpu", "operator": "Exists", "effect": "NoExecute"}
HOLD = hold_from(
    {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": {"name": "nightly", "namespace": "ml", "uid": "uid-nightly"},
        "spec": {
            "template": {"spec": {"containers": [{"name": "main"}], "tolerations": [TOLERATION]}},
            "owners": [{"object": {"name": "train"}}],
        },
    }
)


def body() -> dict[str, object]:
    made = render(CreateFence(Key("ml", "fence-a"), HOLD, "a")).body
    assert isinstance(made, dict)
    return made


def test_it_reads_back_as_what_the_rules_count_with() -> None:
    fence = pod_from(body())
    assert fence.placement == fencing(HOLD)
    assert not any(fence.requests.values())
    assert (fence.node, fence.gates) == ("a", ())


def test_it_tolerates_what_its_hold_does_and_no_more() -> None:
    spec = body()["spec"]
    assert isinstance(spec, dict)
    assert spec["tolerations"] == [TOLERATION]


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
