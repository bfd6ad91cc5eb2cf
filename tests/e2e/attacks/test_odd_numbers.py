"""Numbers, digits and dates that nobody means: they hurt their own object and nobody else.

Each is made by a tenant under its own rights, while a bystander's handovers go on.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headroom.wire.kinds import PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import headroom, pod, requests

pytestmark = pytest.mark.e2e
NOWHERE = "no-such-node"
TINY = {"pods": "20"}


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    dialects = ("koordinator", "korder", "capacitybuffer")
    flags = [part for name in dialects for part in ("--dialect", name)]
    with stage_of(attacked_plane, tmp_path_factory, *flags) as stage:
        yield stage
        assert '"contained"' not in stage.operator.log(10_000)  # Foreseen, not only survived.


def asking(name: str, node: str, *amounts: dict[str, str]) -> Json:
    """A pod on a node of its own choice, with a container for each list of amounts."""
    made = pod(name, nodeName=node)
    made["spec"]["containers"] = [
        {**requests("1m"), "name": f"c{number}", "resources": {"requests": amount}}
        for number, amount in enumerate(amounts)
    ]
    return made


def test_pods_that_ask_for_more_than_numbers_can_say_hurt_nobody(stage: Stage) -> None:
    mallory = stage.tenant("mallory-sums", headroom=False, quota=TINY)
    huge = {"ephemeral-storage": "9e18"}
    with stage.unhurt():
        mallory.create(
            asking("sum", NOWHERE, huge, huge),
            asking("memory", NOWHERE, {"memory": "8Ei"}, {"memory": "9223372036854775807"}),
            asking("cpu", NOWHERE, {"cpu": "9e18"}, {"cpu": "1n"}),
            asking("endless", NOWHERE, {"memory": "9" * 5000}),
            asking("exponent", NOWHERE, {"memory": "9e100"}),
            asking("zeros", NOWHERE, {"cpu": "0" * 5000 + "1"}),
            asking("fraction", NOWHERE, {"cpu": "0." + "0" * 5000 + "1"}),
        )


def test_a_number_of_thousands_of_digits_in_an_annotation_hurts_nobody(stage: Stage) -> None:
    mallory = stage.tenant("mallory-digits", quota=TINY)
    gate = "example.com/wait"
    wish = headroom(
        "follows", cpu="10m", size={"follow": {"gate": gate, "fromAnnotation": "slots"}}
    )
    more = {"nodeSelector": {"pool": "commons"}, "schedulingGates": [{"name": gate}]}
    with stage.unhurt():
        mallory.create(wish)
        for name, digits in (("many", "9" * 5000), ("zeros", "0" * 5000 + "1"), ("odd", "٣" * 9)):
            mallory.create(pod(name, cpu="1m", app="web", annotations={"slots": digits}, **more))
        until(
            "it is told which pods cannot be followed",
            lambda: mallory.condition("Headroom", "follows").get("reason") == "CannotFollow",
        )
    until("a number that can be read is followed", lambda: "zeros" in unbound(mallory))


def unbound(tenant: Tenant) -> list[str]:
    """The tenant's pods that no gate keeps any more."""
    pods = tenant.api.items(PODS.path(tenant.name))
    return [each["metadata"]["name"] for each in pods if not each["spec"].get("schedulingGates")]


def order(name: str, **spec: object) -> Json:
    template = {"spec": {"duration": "24h", "resources": {"requests": {"cpu": "10m"}}}}
    return {
        "apiVersion": "core.korder.dev/v1alpha1",
        "kind": "Order",
        "metadata": {"name": name},
        "spec": {"replicas": 1, "template": template, **spec},
    }


def test_an_order_for_the_end_of_all_time_hurts_nobody(stage: Stage) -> None:
    mallory = stage.tenant("mallory-times", quota=TINY)
    end = {"duration": "24h", "startTime": "9999-12-31T23:59:59Z"}
    template = {"spec": {**end, "resources": {"requests": {"cpu": "10m"}}}}
    with stage.unhurt():
        mallory.create(order("end-of-time", template=template))
        mallory.create(order("fine"))
    until(
        "another order of that tenant is served",
        lambda: (mallory.get("Order", "fine").get("status") or {}).get("availableReplicas") == 1,
        seconds=60,
    )
