"""Which workloads are likeliest to grow, and how slots are divided among them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.headrooms.announced_pods import first_pod
from headroom.core.headrooms.candidates import candidates
from headroom.core.headrooms.headrooms import Auto, Headroom, Slot, Workload, WorkloadRef
from headroom.core.headrooms.shapes import (
    ChosenWorkload,
    ShapeCandidate,
    divided,
    in_scope,
    owner_of,
    ranked,
    shape_name,
)
from headroom.core.holds import ControllerMatch, PodTemplate
from headroom.core.objects import Key, LabelSelector, OwnerReference, Parent, Pod, Requirement
from headroom.core.owners import has_right, judged
from headroom.core.sizes.replicas import NOTHING

NOW = datetime(2027, 1, 4, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=30)
ROOM = Headroom(
    Parent("headroom.dev/v1alpha1", "Headroom", "shop", "ready"), Slot(auto=Auto()), NOTHING
)
MAKERS = (("Deployment", "u-web"), ("ReplicaSet", "u-forged"))


def workload(name: str, replicas: int = 1, kind: str = "Deployment", **more: Any) -> Workload:
    group = "batch/v1" if kind == "Job" else "apps/v1"
    template = PodTemplate(Pod(Key("shop", "")))
    made = Workload(WorkloadRef(group, kind, name), "shop", replicas, template, uid=f"u-{name}")
    labels = {"app": name}
    return replace(made, created=OLD, pod_labels=labels, selector=labels, **more)


def names(chosen: tuple[ChosenWorkload, ...]) -> list[str]:
    return [each.workload.ref.name for each in chosen]


def some(*growths: int) -> list[ChosenWorkload]:
    return [ChosenWorkload(workload(chr(97 + at)), much, "") for at, much in enumerate(growths)]


def test_what_is_about_to_come_outweighs_size() -> None:
    big, coming = (
        ShapeCandidate(workload("big", 50)),
        ShapeCandidate(workload("small", 1), coming=2),
    )
    assert names(ranked([big, coming], 2, (), NOW)) == ["small", "big"]


def test_pods_made_in_the_last_hour_count_more_than_those_of_the_day() -> None:
    hour, day = NOW - timedelta(minutes=30), NOW - timedelta(hours=20)
    lately = ShapeCandidate(workload("lately"), made=(hour, hour))
    earlier = ShapeCandidate(workload("earlier"), made=(day,) * 10)
    long_ago = ShapeCandidate(workload("long-ago"), made=(OLD,) * 50)
    assert names(ranked([long_ago, earlier, lately], 3, (), NOW)) == [
        "lately",
        "earlier",
        "long-ago",
    ]


def test_room_above_counts_up_to_as_much_again() -> None:
    roomy, vast = (
        ShapeCandidate(workload("a", 4), room=4),
        ShapeCandidate(workload("b", 4), room=4000),
    )
    first, second = ranked([roomy, vast], 2, (), NOW)
    assert first.growth == second.growth


def test_equals_are_ranked_by_name_whatever_the_order() -> None:
    pair = [ShapeCandidate(workload("b")), ShapeCandidate(workload("a"))]
    assert names(ranked(pair, 1, (), NOW)) == names(ranked(pair[::-1], 1, (), NOW)) == ["a"]


def test_what_was_chosen_stays_until_another_is_a_quarter_ahead() -> None:
    held, other = ShapeCandidate(workload("held", 20)), ShapeCandidate(workload("other", 24))
    before = [shape_name(held.workload)]
    assert names(ranked([held, other], 1, before, NOW)) == ["held"]
    ahead = ShapeCandidate(workload("other", 26))
    assert names(ranked([held, ahead], 1, before, NOW)) == ["other"]


def test_a_workload_without_pods_is_not_chosen() -> None:
    assert ranked([ShapeCandidate(workload("none", 0))], 5, (), NOW) == ()


def test_a_running_job_grows_no_more() -> None:
    assert ranked([ShapeCandidate(workload("sum", 9, "Job"))], 5, (), NOW) == ()
    suspended = ShapeCandidate(workload("sum", 9, "Job"), coming=9)
    assert names(ranked([suspended], 5, (), NOW)) == ["sum"]


def test_why_a_workload_was_chosen_is_told() -> None:
    (chosen,) = ranked([ShapeCandidate(workload("web", 3), coming=2, room=7)], 1, (), NOW)
    assert chosen.why == (
        "2.33 pods expected: 2 to be made, 7 more allowed by its autoscaler, 3 wanted"
    )


def test_every_chosen_workload_gets_a_slot_first_then_by_growth() -> None:
    assert divided(10, some(6000, 1000, 1000), {}) == (6, 2, 2)
    assert divided(2, some(6000, 1000, 1000), {}) == (1, 1, 0)
    assert divided(0, some(6000, 1000), {}) == (0, 0)
    assert divided(5, (), {}) == ()


def test_a_small_change_of_growth_moves_no_slot() -> None:
    chosen = some(5000, 4000)
    had = dict(zip([each.name for each in chosen], divided(9, chosen, {}), strict=True))
    assert divided(9, some(4500, 4400), had) == divided(9, chosen, {})
    assert divided(9, some(1000, 9000), had) == (2, 7)


def test_one_slot_more_is_one_more_for_one_of_them() -> None:
    chosen = some(5000, 4000, 3000)
    before = divided(9, chosen, {})
    had = dict(zip([each.name for each in chosen], before, strict=True))
    after = divided(10, chosen, had)
    assert sorted(now - then for now, then in zip(after, before, strict=True)) == [0, 0, 1]


@given(
    st.integers(0, 200),
    st.lists(st.integers(1, 10**6), min_size=1, max_size=20),
    st.lists(st.integers(0, 300), min_size=20, max_size=20),
)
def test_all_slots_are_given_out_and_none_twice(
    total: int, growths: list[int], had: list[int]
) -> None:
    chosen = some(*growths)
    kept = {each.name: count for each, count in zip(chosen, had, strict=False)}
    slots = divided(total, chosen, kept)
    assert sum(slots) == total
    assert min(slots) >= (1 if total >= len(chosen) else 0)
    again = dict(zip([each.name for each in chosen], slots, strict=True))
    assert divided(total, chosen, again) == slots


def test_pods_of_a_replicaset_speak_for_its_deployment_but_not_its_first_ones() -> None:
    web = workload("web")
    made_by = workload("web-1", kind="ReplicaSet", controller="u-web")
    owner = OwnerReference("apps/v1", "ReplicaSet", "web-1", "u-web-1", True)
    waiting = Pod(Key("shop", "web-1-a"), owners=(owner,))
    times = {("shop", "u-web-1"): (OLD + timedelta(minutes=1), NOW)}
    (found,) = candidates(
        [web], [web, made_by], [waiting], lambda maker: times.get(maker, ()), lambda _: ()
    )
    assert (found.waiting, found.made) == (1, (NOW,))


def test_owner_references_of_another_namespace_say_nothing_of_a_workload() -> None:
    web = workload("web")
    forged = replace(workload("forged", kind="ReplicaSet", controller="u-web"), namespace="mallory")
    owners = [OwnerReference("apps/v1", kind, "x", uid, True) for kind, uid in MAKERS]
    pods = [Pod(Key("mallory", owner.uid), owners=(owner,)) for owner in owners]
    times = {("mallory", uid): (NOW,) for _, uid in MAKERS}
    (found,) = candidates(
        [web], [web, forged], pods, lambda maker: times.get(maker, ()), lambda _: ()
    )
    assert (found.waiting, found.made) == (0, ())


def test_the_scope_is_the_own_namespace_unless_others_are_selected() -> None:
    away = replace(workload("web"), namespace="other")
    assert in_scope(ROOM, Auto(), workload("web"), {})
    assert not in_scope(ROOM, Auto(), away, {})
    picked = Auto(namespaces=LabelSelector((Requirement("team", "In", ("a",)),)))
    assert in_scope(ROOM, picked, away, {"team": "a"})
    assert not in_scope(ROOM, picked, away, {"team": "b"})
    assert not in_scope(ROOM, Auto(kinds=("StatefulSet",)), workload("web"), {})


def test_a_deployment_that_says_nothing_of_its_pods_is_not_chosen() -> None:
    """Else its owner rule would mean every pod of the namespace."""
    nameless = replace(workload("web"), selector={}, pod_labels={})
    assert not in_scope(ROOM, Auto(), nameless, {})


def test_owners_are_the_pods_of_the_chosen_workload_alone() -> None:
    away = replace(workload("web"), namespace="other")
    dressed = replace(ROOM, owners=(owner_of(ROOM, away),))
    stranger = Pod(Key("shop", "x"), labels={"app": "web"})
    assert has_right(dressed, first_pod(away), across_namespaces=True)
    assert not has_right(dressed, first_pod(away), across_namespaces=False)
    assert not has_right(dressed, replace(stranger, key=Key("third", "x")), True)
    kept = owner_of(ROOM, workload("db", kind="StatefulSet"))
    assert kept.controller == ControllerMatch("apps/v1", "StatefulSet", "db")


def test_other_namespaces_need_the_operators_leave() -> None:
    everywhere = replace(ROOM, slot=Slot(auto=Auto(namespaces=LabelSelector(()))))
    (problem,) = judged(everywhere, across_namespaces=False).problems
    assert problem.path == "spec.slot.auto.scope.namespaceSelector"
    assert judged(everywhere, across_namespaces=True).problems == ()
