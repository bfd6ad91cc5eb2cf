"""Subjects: values by which the engine finds things, with a text for logs."""

from __future__ import annotations

from headroom.core.objects import Key, Parent
from headroom.core.subjects import (
    Subject,
    Topic,
    fence_subject,
    headroom_subject,
    hold_subject,
    kept_hold_subject,
    node_subject,
    pod_subject,
)

POD = Key("shop", "web")
SLOT = Parent("headroom.dev/v1alpha1", "Headroom", "shop", "h", "uid", slot="3")


def test_a_subject_knows_the_namespace_whose_turn_it_takes() -> None:
    assert pod_subject(POD).namespace == "shop"
    assert hold_subject(SLOT).namespace == "shop"
    assert headroom_subject(SLOT).namespace == "shop"
    assert node_subject("a").namespace == fence_subject("a").namespace == ""


def test_a_subject_of_a_pod_leads_back_to_the_pod() -> None:
    assert pod_subject(POD).key == pod_subject(POD, Topic.FOLLOW).key == POD


def test_the_identity_on_a_pod_of_ours_names_the_same_hold() -> None:
    assert kept_hold_subject(str(SLOT)) == hold_subject(SLOT)
    reservation = Parent("scheduling.koordinator.sh/v1alpha1", "Reservation", "", "r")
    assert kept_hold_subject(str(reservation)) == hold_subject(reservation)


def test_subjects_read_and_sort_as_their_texts() -> None:
    told = [
        "fence a",
        "headroom Headroom/shop/h",
        "hold Headroom/shop/h#3",
        "node a",
        "pod shop-a/web",
        "pod shop/web",
    ]
    subjects = [
        pod_subject(POD),
        pod_subject(Key("shop-a", "web")),
        node_subject("a"),
        hold_subject(SLOT),
        headroom_subject(SLOT),
        fence_subject("a"),
    ]
    assert list(map(str, sorted(subjects))) == told == sorted(map(str, subjects))
    assert str(Subject(Topic.DOORS, "")) == "doors"
