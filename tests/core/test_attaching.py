"""How many volumes a node can attach: by driver, each volume once."""

from __future__ import annotations

import pytest

from headroom.core.demand.attach_limits import are_too_many, attachments
from headroom.core.demand.volumes import NodeDrivers, Storage, StorageClass, Volume, VolumeClaim
from headroom.core.objects import Key, Pod

DISK, SHARE = "disk.example.com", "share.example.com"


def storage(limits: dict[str, int]) -> Storage:
    """Claims one, two (disks), share (of another driver), and late, which waits for its pod."""
    drivers = {"one": DISK, "two": DISK, "share": SHARE}
    claims = {
        Key("x", name): VolumeClaim(Key("x", name), f"pv-{name}", bound=True) for name in drivers
    }
    claims[Key("x", "late")] = VolumeClaim(Key("x", "late"), storage_class="late")
    volumes = {
        f"pv-{name}": Volume(f"pv-{name}", driver, claim=Key("x", name))
        for name, driver in drivers.items()
    }
    classes = {"late": StorageClass("late", DISK, waits_for_pod=True)}
    return Storage(claims, volumes, classes, {"a": NodeDrivers("a", limits)})


def pod(name: str, *claims: str) -> Pod:
    return Pod(Key("x", name), claims=claims)


@pytest.mark.parametrize(
    ("wanted", "there", "limits", "short"),
    [
        (["two"], ["one"], {DISK: 1}, True),
        (["two"], ["one"], {DISK: 2}, False),
        (["one"], ["one"], {DISK: 1}, False),
        (["share"], ["one"], {DISK: 1}, False),
        (["late"], ["one"], {DISK: 1}, True),
        (["one"], [], {DISK: 0}, True),
        (["one", "two"], [], {DISK: 1}, True),
        (["two"], ["one"], {}, False),
        (["gone"], ["one"], {DISK: 1}, False),
    ],
)
def test_volumes_of_a_driver_are_counted_once_each(
    wanted: list[str], there: list[str], limits: dict[str, int], short: bool
) -> None:
    known = storage(limits)
    asked = attachments(pod("new", *wanted), known)
    assert are_too_many(asked, [pod("old", *there)], "a", known) is short


def test_a_node_whose_drivers_tell_nothing_attaches_any_number() -> None:
    known = storage({DISK: 0})
    assert not are_too_many(attachments(pod("new", "one"), known), [], "b", known)
