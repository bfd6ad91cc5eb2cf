"""The dialect's one Headroom: what it says, how it is read, and what its guardians look like."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headroom.core.actions import CreateGuardian
from headroom.core.demand.followers import Followed, FollowerSlot, Following
from headroom.core.derived_names import named_after
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.objects import Key
from headroom.core.sizes.follow import Follow
from headroom.dialects.schedulinggate import SCHEDULING_GATE
from headroom.dialects.schedulinggate.decoder import wanted_labels
from headroom.dialects.schedulinggate.names import DRIVER, GATE, MARKS
from headroom.dialects.schedulinggate.objects import headroom_object
from headroom.wire.guardians import guardian_json
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import HEADROOMS
from headroom.wire.schema.validation import validate
from tests.builders import NOON, pod, resources

CODECS = KindCodecs([SCHEDULING_GATE])
UID = "2a1d7271-dc3a-416f-8b22-4eccba5c1373"


def read(codecs: KindCodecs = CODECS, **metadata: Any) -> Headroom:
    made = headroom_object()
    made["metadata"] = {**made["metadata"], "uid": "u", **metadata}
    thing = codecs.thing_from(HEADROOMS, made)
    assert isinstance(thing, Headroom)
    return thing


def guardian(headroom: Headroom, *slots: FollowerSlot) -> dict[str, Any]:
    """The first guardian of an owner that needs these slots, as it is sent."""
    owner = replace(pod("workload"), uid=UID, key=Key("shop", "workload"))
    followed = (Followed(owner, Following(slots)),)
    wished = wish(headroom, SizeView(ActiveWindow(headroom.size), followed=followed), NOON)
    hold = wished.slots[0]
    return guardian_json(CreateGuardian(hold.guardian, hold, hold.template.pod.requests))


def test_the_object_is_one_that_the_schema_allows() -> None:
    assert validate(headroom_object(), "Headroom", NATIVE.catalogue()) == []
    assert read().problems == ()


def test_it_follows_the_gate_in_every_namespace_with_the_drivers_marks() -> None:
    size = read().size
    assert isinstance(size, Follow)
    assert (size.gate, size.everywhere, size.marks) == (GATE, True, MARKS)


def test_without_the_dialect_it_follows_nobody_of_other_namespaces() -> None:
    size = read(NATIVE).size
    assert isinstance(size, Follow)
    assert (size.everywhere, size.marks) == (False, None)


def test_a_headroom_elsewhere_is_read_as_ever() -> None:
    assert read(namespace="shop") == read(NATIVE, namespace="shop")


def test_names_are_those_that_the_driver_gives() -> None:
    known = "hr-f050b11ab3ce10843f3404c1f46407320ed07ab7b35f9ba40c3792e2"
    assert named_after("hr-", UID, "test-vol") == known
    assert guardian(read(), FollowerSlot("test-vol"))["metadata"]["name"] == known


def test_a_guardian_has_the_drivers_labels_and_class_and_never_preempts() -> None:
    made = guardian(read(), FollowerSlot("test-vol"))
    assert made["metadata"]["namespace"] == "mount-s3"
    assert made["metadata"]["labels"][f"{DRIVER}/headroom-for-pod"] == UID
    assert made["metadata"]["labels"][f"{DRIVER}/headroom-for-volume"] == "test-vol"
    assert made["spec"]["priorityClassName"] == "mount-s3-headroom"
    assert made["spec"]["preemptionPolicy"] == "Never"
    assert made["spec"]["tolerations"] == [{"operator": "Exists"}]
    assert made["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert "resources" not in made["spec"]["containers"][0]


def test_a_guardian_is_next_to_its_owner_and_does_not_carry_the_owners_label() -> None:
    made = guardian(read(), FollowerSlot("test-vol"))
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    assert made["spec"]["affinity"]["podAffinity"][required] == [
        {
            "labelSelector": {
                "matchExpressions": [{"key": MARKS.owner, "operator": "In", "values": [UID]}]
            },
            "namespaces": ["shop"],
            "topologyKey": "kubernetes.io/hostname",
        }
    ]
    assert MARKS.owner not in made["metadata"]["labels"]


def test_a_guardian_asks_for_what_its_volume_says() -> None:
    made = guardian(read(), FollowerSlot("test-vol", resources(cpu="250m", memory="1Gi")))
    asked = made["spec"]["containers"][0]["resources"]["requests"]
    assert asked == {"cpu": "250m", "memory": "1Gi"}


def test_a_volume_name_that_no_label_could_hold_is_hashed() -> None:
    made = guardian(read(), FollowerSlot("v" * 200))
    assert len(made["metadata"]["labels"][f"{DRIVER}/headroom-for-volume"]) <= 63
    assert len(made["metadata"]["name"]) == 59


def test_labels_of_the_object_are_on_its_guardians_but_the_drivers_win() -> None:
    headroom = read(labels={"team": "data", f"{DRIVER}/headroom-for-pod": "mine"})
    labels = guardian(headroom, FollowerSlot("test-vol"))["metadata"]["labels"]
    assert (labels["team"], labels[f"{DRIVER}/headroom-for-pod"]) == ("data", UID)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, ()),
        ({"team": "data"}, (("team", "data"),)),
        ({"b": "1", "a": "2"}, (("a", "2"), ("b", "1"))),
        ({f"{DRIVER}/x": "y", "team": "data"}, (("team", "data"),)),
        ({"headroom.dev/role": "latch"}, ()),
        ({"not a key": "x"}, ()),
        ({"team": "not a value!"}, ()),
    ],
)
def test_labels_that_no_guardian_could_carry_are_left_out(
    given: dict[str, str], wanted: tuple[tuple[str, str], ...]
) -> None:
    assert wanted_labels(given) == wanted


def test_the_classes_are_the_drivers() -> None:
    classes = {
        made["metadata"]["name"]: (made["value"], made.get("preemptionPolicy"))
        for made in CODECS.classes()
    }
    assert classes == {
        "mount-s3-critical": (1000000000, "Never"),
        "mount-s3-preempting-critical": (1000000000, "PreemptLowerPriority"),
        "mount-s3-headroom": (-1000, "Never"),
    }
