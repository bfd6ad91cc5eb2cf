"""What the page shows of a cluster, from objects to rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus, Slot, Window
from headroom.core.holds import Hold, HoldStatus, PodTemplate
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
)
from headroom.core.objects import Key, Node, Parent, Pod
from headroom.core.resources import Resources
from headroom.core.sizes.replicas import NOTHING
from headroom.dashboard.page_state import MOST_WAITING, Book, filled
from headroom.dashboard.prices import PRICE_KEY, Prices, parse_prices
from headroom.dashboard.schedules import windows
from headroom.dashboard.timeline import Sample, Timeline, from_journal
from headroom.dashboard.view import ClusterView

NOW = datetime(2027, 1, 4, 12, 0, tzinfo=UTC)
GI = 2**30


def pod(name: str, node: str = "", cpu: int = 1000, namespace: str = "shop", **more: Any) -> Pod:
    role = more.pop("role", "")
    labels = {ROLE_LABEL: str(role)} if role else {}
    annotations = {PARENT_ANNOTATION: f"Hold/{namespace}/x"} if role else {}
    if more.pop("claimed", False):
        annotations = {CLAIMED_ANNOTATION: f"Hold/{namespace}/x", CLAIMED_UID_ANNOTATION: "u"}
    fresh = Pod(
        Key(namespace, name),
        uid=name,
        node=node,
        labels=labels,
        annotations=annotations,
        phase="Running" if node else "Pending",
        requests=Resources({"cpu": cpu, "memory": GI}),
    )
    return replace(fresh, **more)


def node(name: str, **labels: str) -> Node:
    return Node(
        name, labels=labels, allocatable=Resources({"cpu": 4000, "memory": 16 * GI, "pods": 110})
    )


def view(nodes: list[Node], pods: list[Pod], **more: Any) -> ClusterView:
    holds: list[Hold] = more.get("holds", [])
    headrooms: list[Headroom] = more.get("headrooms", [])
    return ClusterView(
        NOW,
        {each.name: each for each in nodes},
        {each.key: each for each in pods},
        {str(each.parent): each for each in holds},
        {each.parent.whole: each for each in headrooms},
    )


def test_a_node_shows_what_is_used_claimed_and_held_and_leaves_latches_out() -> None:
    there = [
        pod("web", "a"),
        pod("owner", "a", claimed=True),
        pod("guard", "a", role=ROLE_GUARDIAN),
        pod("latch", "a", role=ROLE_LATCH),
        pod("done", "a", phase="Succeeded"),
    ]
    row = filled(view([node("a")], there)).sections()["nodes"]["a"]
    assert (row["used"]["cpu"], row["claimed"]["cpu"], row["held"]["cpu"]) == (1000, 1000, 1000)
    assert row["pods"] == 3


def test_a_book_told_bit_by_bit_is_the_book_of_everything() -> None:
    nodes = [node("a"), node("b")]
    first = view(nodes, [pod("web", "a"), pod("guard", "b", role=ROLE_GUARDIAN), pod("late")])
    book = filled(first)
    then = view(
        nodes[:1],
        [pod("web", "a", cpu=2000), pod("late", "a", claimed=True), pod("new", namespace="web")],
    )
    book.take_pods(then, {**first.pods, **then.pods})
    book.take_nodes(("b",))
    book.settle(then)
    assert book.sections() == filled(then).sections()
    assert [row["name"] for row in book.pods_on(then, "a")] == ["late", "web"]


def test_what_did_not_change_keeps_the_same_row() -> None:
    there = view([node("a"), node("b")], [pod("web", "a")])
    book = filled(there)
    before = book.sections()["nodes"]
    book.take_pods(there, there.pods)
    book.take_nodes(there.nodes)
    book.settle(there)
    assert all(book.sections()["nodes"][name] is row for name, row in before.items())


def test_waiting_pods_say_why_and_guardians_for_whom() -> None:
    there = view(
        [],
        [
            pod("gated", gates=("example.com/quota",)),
            pod("short", unschedulable_message="0/3 nodes are available"),
            pod("guard", role=ROLE_GUARDIAN),
            pod("leaving", deleted=NOW),
        ],
    )
    waiting = filled(there).sections()["waiting"]
    assert set(waiting) == {"shop/gated", "shop/short", "shop/guard"}
    assert waiting["shop/gated"]["reason"] == "it is gated by example.com/quota"
    assert waiting["shop/short"]["reason"] == "0/3 nodes are available"
    assert waiting["shop/guard"]["guardian"] == "Hold/shop/x"


def test_waiting_pods_are_bounded_and_the_rest_is_counted() -> None:
    many = [pod(f"p{number:05}") for number in range(MOST_WAITING + 7)]
    sections = filled(view([], many)).sections()
    assert (len(sections["waiting"]), sections["more_waiting"]) == (MOST_WAITING, 7)


def test_objects_are_shown_by_their_status_and_slots_are_not_objects() -> None:
    parent = Parent("headroom.dev/v1alpha1", "Headroom", "shop", "burst")
    status = HeadroomStatus(desired=5, held=3, pending=2, claimed=9, misses=1)
    headroom = Headroom(
        parent, Slot(), NOTHING, status=status, schedule=(Window("0 13 * * *", timedelta(hours=1)),)
    )
    template = PodTemplate(Pod(Key("shop", "")))
    hold = Hold(
        Parent("headroom.dev/v1alpha1", "Hold", "shop", "one"),
        template,
        status=HoldStatus(phase="Available"),
    )
    slot = replace(hold, parent=replace(parent, slot="0"))
    rows = filled(view([], [], headrooms=[headroom], holds=[hold, slot])).sections()["objects"]
    assert set(rows) == {"Headroom/shop/burst", "Hold/shop/one"}
    burst = rows["Headroom/shop/burst"]
    assert [burst[name] for name in ("wanted", "held", "waiting", "claimed", "misses")] == [
        5,
        3,
        2,
        9,
        1,
    ]
    assert burst["next"] == "2027-01-04T13:00:00Z"
    assert rows["Hold/shop/one"]["held"] == 1


def test_held_room_costs_its_share_of_the_nodes_price() -> None:
    nodes = [node("a", **{"karpenter.sh/nodepool": "gold"}), node("b", **{PRICE_KEY: "8"})]
    there = [
        pod("one", "a", role=ROLE_GUARDIAN),
        pod("two", "b", role=ROLE_GUARDIAN, namespace="web"),
        pod("app", "b"),
    ]
    cost = filled(view(nodes, there), Prices(parse_prices(["gold=2,*=1"]))).sections()["cost"]
    assert cost["pools"] == {"gold": 0.5, "no pool": 2.0}
    assert cost["namespaces"] == {"shop": 0.5, "web": 2.0}
    assert (cost["unit"], cost["total"]) == ("price", 2.5)


def test_without_prices_held_room_is_told_in_cpu_hours() -> None:
    cost = filled(view([node("a")], [pod("g", "a", role=ROLE_GUARDIAN, cpu=2500)])).cost()
    assert (cost["unit"], cost["total"], cost["namespaces"]) == ("cpu", 2.5, {"shop": 2.5})


@pytest.mark.parametrize("text", ["gold", "gold=", "gold=-1", "gold=nan", "=2", "gold=1e99"])
def test_a_price_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not POOL=PRICE"):
        parse_prices([text])


def test_windows_are_those_that_a_span_sees_with_their_lead_time() -> None:
    parent = Parent("headroom.dev/v1alpha1", "Headroom", "shop", "burst")
    lunch = Window("0 12 * * *", timedelta(hours=2), lead_time=timedelta(minutes=30))
    broken = Window("never", timedelta(hours=2))
    headroom = Headroom(parent, Slot(), NOTHING, schedule=(lunch, broken))
    found = windows([headroom], NOW + timedelta(hours=1), NOW + timedelta(hours=25))
    assert [each["opens"] for each in found] == ["2027-01-04T11:30:00Z", "2027-01-05T11:30:00Z"]
    assert found[0]["ends"] == "2027-01-04T14:00:00Z"


def test_a_schedule_of_every_minute_does_not_fill_the_page() -> None:
    parent = Parent("headroom.dev/v1alpha1", "Headroom", "shop", "burst")
    always = Headroom(
        parent, Slot(), NOTHING, schedule=(Window("* * * * *", timedelta(minutes=1)),)
    )
    assert len(windows([always], NOW, NOW + timedelta(days=1))) <= 100


def test_a_timeline_keeps_its_length_and_stays_bounded() -> None:
    timeline = Timeline(most=10)
    for second in range(1000):
        timeline.add(NOW + timedelta(seconds=second), Sample(second, 0, 0, 0, 0))
    rows = timeline.section()
    assert len(rows) <= 10
    assert list(rows.values())[-1][0] == 999
    assert list(rows) == sorted(rows)


def test_the_journal_of_a_result_becomes_its_timeline() -> None:
    journal: list[dict[str, Any]] = [
        {"at": 0, "what": "pod_created", "object": "Pod/a/g", "role": "guardian"},
        {"at": 1, "what": "headroom_held", "object": "Headroom/a/h", "held": 1, "desired": 2},
        {"at": 1.5, "what": "pod_bound", "object": "Pod/a/g"},
        {"at": 2, "what": "pod_created", "object": "Pod/a/owner"},
        {"at": 3, "what": "pod_claimed", "object": "Pod/a/owner"},
        {"at": 4, "what": "pod_deleted", "object": "Pod/a/g"},
        {"at": 4, "what": "pod_bound", "object": "Pod/a/owner"},
        {"at": 5, "what": "headroom_missed", "object": "Headroom/a/h", "misses": 3},
        {"at": 5, "what": "headroom_promise", "object": "Headroom/a/h", "owners": 9, "late": 2},
        {"at": 6, "what": "headroom_missed", "object": "Headroom/a/odd", "misses": "many"},
        {"at": 7, "what": "headroom_deleted", "object": "Headroom/a/h"},
        {"at": "never", "what": "pod_bound"},
    ]
    rows = list(from_journal(journal, NOW).section().values())
    assert rows == [
        [0, 0, 0, 0, 0, 0, 0],
        [2, 1, 0, 0, 0, 0, 0],
        [2, 1, 0, 1, 0, 0, 0],
        [2, 1, 0, 1, 0, 0, 0],
        [2, 0, 1, 0, 0, 0, 0],
        [2, 0, 1, 0, 3, 9, 2],
        [2, 0, 1, 0, 3, 9, 2],
        [0, 0, 1, 0, 0, 0, 0],
    ]


def test_an_empty_book_shows_nothing() -> None:
    sections = Book().sections()
    assert sections["nodes"] == sections["objects"] == sections["waiting"] == {}
    assert sections["cost"]["total"] == 0
