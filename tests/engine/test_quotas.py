"""The books of quotas: who gets room, who waits, who is looked at again, and what is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from headroom.core.actions import SetFinalizers, Tell, Unavailable, WriteQuotaStatus
from headroom.core.headrooms.slot_values import Chronicle, Membership
from headroom.core.holds import HoldStatus, Problem
from headroom.core.objects import Condition, LabelSelector, Requirement
from headroom.dialects.korder.rules.hours import parse_hours
from headroom.dialects.korder.rules.limits import Ceiling, QuotaShare, Scope, TimeWindow
from headroom.engine import quotas
from tests.builders import NOON
from tests.engine.quota_builder import HOUR, Desk, order, quota, ticket
from tests.subjects import subject

TEAM_A = LabelSelector((Requirement("team", "In", ("a",)),))
BY_NAMESPACE = Scope("NamespaceSelector", selector=TEAM_A)
BY_LABEL = Scope("ObjectSelector", selector=TEAM_A)
SHOP_ONLY = Scope("NamespaceList", ("shop",))


def test_what_is_reserved_adds_up_over_all_tickets() -> None:
    desk = Desk(quota(cpu=10))
    assert desk.wants(*(ticket(str(number)) for number in range(6))) == [True] * 5 + [False]
    assert desk.used() == {"tickets": 5, "reserved.cpu": 10_000}


def test_three_times_a_tenth_of_a_core_are_three_tenths() -> None:
    desk = Desk(quota(cpu=1))
    tenths = [ticket(str(number), "100m") for number in range(11)]
    assert desk.wants(*tenths) == [True] * 10 + [False]
    assert desk.used()["reserved.cpu"] == 1000


def test_the_one_that_is_refused_hears_which_quota_which_field_and_the_numbers() -> None:
    desk = Desk(quota("other", cpu=100, scope=SHOP_ONLY), quota(cpu=3))
    desk.wants(ticket("a"))
    assert desk.why(ticket("b")) == (
        "Quota team: spec.hard[reserved.cpu]: used 2, wanted 2 more, at most 3"
    )


def test_every_quota_that_applies_must_have_room() -> None:
    desk = Desk(quota(cpu=10), quota("shop", cpu=2, scope=SHOP_ONLY))
    assert desk.wants(ticket("a"), ticket("b"), ticket("c", namespace="mill")) == [
        True,
        False,
        True,
    ]
    assert desk.used()["tickets"] == 2
    assert desk.used("shop")["tickets"] == 1


def test_asking_twice_counts_once() -> None:
    desk = Desk(quota(cpu=2))
    assert desk.wants(ticket("a"), ticket("a")) == [True, True]
    assert desk.used()["tickets"] == 1


def test_extended_resources_count() -> None:
    gpus = replace(quota(), hard=Ceiling({"reserved.nvidia.com/gpu": 1}))
    desk = Desk(gpus)
    gpu = {"nvidia.com/gpu": 1, "ephemeral-storage": "5Gi"}
    assert desk.wants(ticket("a", more=gpu), ticket("b", more=gpu)) == [True, False]
    assert desk.used()["reserved.ephemeral-storage"] == 5 * 2**30


def test_namespaces_are_found_by_their_labels_and_as_these_change() -> None:
    desk = Desk(quota(cpu=2, scope=BY_NAMESPACE))
    assert desk.wants(ticket("a"), ticket("b")) == [True, True]
    desk.label("shop", {"team": "a"})
    assert desk.used()["reserved.cpu"] == 4000
    assert desk.wants(ticket("c")) == [False]
    desk.label("shop", {"team": "b"})
    assert desk.used() == {}
    assert desk.wants(ticket("c")) == [True]


def test_a_namespace_that_is_gone_leaves_nothing_behind() -> None:
    desk = Desk(quota(cpu=2, scope=BY_NAMESPACE))
    desk.label("shop", {"team": "a"})
    desk.wants(ticket("a"))
    desk.namespaces.clear()
    quotas.relabelled(desk.ledger)
    quotas.lose(desk.ledger, ticket("a").parent)
    assert desk.used() == {}


def test_objects_are_found_by_their_own_labels() -> None:
    desk = Desk(quota(cpu=2, orders=0, scope=BY_LABEL))
    ours = {"team": "a"}
    assert desk.wants(ticket("a", labels=ours), ticket("b", labels=ours), ticket("c")) == [
        True,
        False,
        True,
    ]
    assert desk.wants(order("x", labels=ours), order("y")) == [False, True]


def test_a_ticket_that_is_relabelled_counts_elsewhere() -> None:
    desk = Desk(quota(cpu=2, scope=BY_LABEL))
    desk.wants(ticket("a", labels={"team": "a"}))
    quotas.see_hold(desk.ledger, ticket("a", labels={"team": "b"}))
    assert desk.used() == {}


def test_a_namespace_gets_its_share_and_no_more() -> None:
    share = QuotaShare("shop", Ceiling({"reserved.cpu": 2000}))
    desk = Desk(replace(quota(cpu=10), shares=(share,)))
    assert desk.wants(ticket("a"), ticket("b"), ticket("c", namespace="mill")) == [
        True,
        False,
        True,
    ]
    assert desk.why(ticket("b")) == (
        "Quota team: spec.allocation[shop].limits[reserved.cpu]: used 2, wanted 2 more, at most 2"
    )


def test_a_ticket_may_not_last_longer_than_the_quota_says() -> None:
    desk = Desk(quota(longest=HOUR))
    assert desk.wants(ticket("a"), ticket("b", duration=2 * HOUR)) == [True, False]


def test_a_ticket_without_a_tenure_lasts_its_ttl() -> None:
    desk = Desk(quota(longest=HOUR))
    assert desk.wants(
        ticket("a", duration=None, ttl=HOUR), ticket("b", duration=None, ttl=None)
    ) == [True, False]


def test_orders_take_seats_the_oldest_first() -> None:
    desk = Desk(quota(orders=1))
    young = order("a", created=NOON + HOUR)
    old = order("b", created=NOON)
    for each in (young, old):
        desk.order(each)
    assert desk.wants(young, old) == [False, True]
    quotas.lose(desk.ledger, old.parent)
    assert desk.wants(young) == [True]


def test_an_order_that_is_deleted_gives_its_seat_back_at_once() -> None:
    desk = Desk(quota(orders=1))
    assert desk.wants(order("a"), order("b")) == [True, False]
    desk.order(order("a", deleted=NOON))
    assert desk.wants(order("b")) == [True]


def test_a_slot_on_every_node_counts_every_node() -> None:
    desk = Desk(quota(cpu=10))
    slots = [ticket(f"agent-node-{number}") for number in range(9)]
    assert desk.wants(*slots).count(True) == 5


def test_a_ticket_whose_time_is_over_does_not_count() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), ticket("b"))
    quotas.see_hold(desk.ledger, ticket("a", phase="Failed"))
    assert desk.used() == {}
    assert desk.wants(ticket("b")) == [True]


def test_a_claimed_ticket_counts_until_its_pod_has_ended() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"))
    quotas.see_hold(desk.ledger, ticket("a", phase="Succeeded"))
    assert desk.wants(ticket("b")) == [False]


def test_what_was_never_made_takes_no_room() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"))
    quotas.lose(desk.ledger, ticket("a").parent)
    assert desk.wants(ticket("b")) == [True]


def test_who_was_refused_is_looked_at_when_room_appears() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), ticket("b"), ticket("c"))
    desk.woken()
    quotas.lose(desk.ledger, ticket("a").parent)
    assert desk.woken() == ["hold Ticket/shop/b", "hold Ticket/shop/c"]
    assert desk.wants(ticket("b"), ticket("c")) == [True, False]
    quotas.lose(desk.ledger, ticket("b").parent)
    assert desk.woken() == ["hold Ticket/shop/c"]


def test_who_no_longer_asks_is_not_looked_at() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), ticket("b"))
    quotas.asks_anew(desk.ledger, subject("hold Ticket/shop/b"))
    desk.woken()
    quotas.lose(desk.ledger, ticket("a").parent)
    assert desk.woken() == []
    assert desk.condition("Exceeded").status == "False"


def test_a_larger_quota_lets_those_in_who_wait() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), ticket("b"))
    desk.woken()
    quotas.see_quota(desk.ledger, quota(cpu=4, generation=2))
    assert desk.woken() == ["hold Ticket/shop/b"]
    assert desk.wants(ticket("b")) == [True]


def test_without_its_quota_nobody_waits() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), ticket("b"))
    desk.woken()
    quotas.lose_quota(desk.ledger, quota().parent)
    assert desk.woken() == ["hold Ticket/shop/b"]
    assert desk.wants(ticket("b")) == [True]


def test_a_new_quota_counts_what_stands_and_takes_nothing_away() -> None:
    desk = Desk()
    desk.wants(*(ticket(str(number)) for number in range(3)))
    quotas.see_quota(desk.ledger, quota(cpu=4))
    assert desk.used()["reserved.cpu"] == 6000
    assert desk.condition("Exceeded").reason == "Exceeded"
    assert desk.wants(ticket("0"), ticket("9")) == [True, False]


def test_what_stood_before_we_came_counts_without_being_asked() -> None:
    desk = Desk(quota(cpu=100))
    begun = HoldStatus("Pending", chronicle=Chronicle(activated=NOON))
    member = Membership(order("o").parent, "0")
    quotas.see_hold(desk.ledger, replace(ticket("begun"), status=begun))
    quotas.see_hold(desk.ledger, ticket("held", phase="Available"))
    quotas.see_hold(desk.ledger, ticket("slot", member=member))
    quotas.see_hold(desk.ledger, ticket("new"))
    quotas.see_hold(desk.ledger, ticket("waits", phase="Pending"))
    assert desk.used()["tickets"] == 3
    quotas.stands(desk.ledger, ticket("waits", phase="Pending"))
    assert desk.used()["tickets"] == 4


def test_other_peoples_objects_are_never_counted() -> None:
    desk = Desk(quota(orders=0, tickets=0))
    native = "headroom.dev/v1alpha1"
    held = ticket("a", version=native, phase="Available")
    quotas.see_hold(desk.ledger, held)
    quotas.stands(desk.ledger, held)
    desk.order(order("b", version=native))
    assert desk.wants(held, order("b", version=native), ticket("c", version="x/v1")) == [True] * 3
    assert desk.used() == {}


def test_a_window_lets_more_in_when_it_opens_and_is_named_while_it_is_open() -> None:
    night = datetime(2027, 1, 4, 8, 59, tzinfo=UTC)
    office = TimeWindow("office", parse_hours("0 9-17 * * *"), Fraction(2))
    desk = Desk(replace(quota(cpu=2), windows=(office,)))
    desk.now = night
    assert desk.wants(ticket("a"), ticket("b")) == [True, False]
    assert desk.status().window == ""
    desk.woken()
    opens = night + timedelta(minutes=1)
    assert desk.agenda.wake_at() == opens
    desk.now = opens
    assert desk.status().window == "office"
    assert desk.woken() == ["hold Ticket/shop/b"]
    assert desk.wants(ticket("b")) == [True]
    assert desk.status().hard.amounts == {"reserved.cpu": 4000}
    desk.now = datetime(2027, 1, 4, 18, tzinfo=UTC)
    assert desk.status().window == ""
    assert desk.condition("Exceeded").reason == "Exceeded"
    assert desk.wants(ticket("a"), ticket("b"), ticket("c")) == [True, True, False]


def test_a_window_wakes_those_who_wait_also_if_somebody_asked_before() -> None:
    office = TimeWindow("office", parse_hours("0 9-17 * * *"), Fraction(2))
    desk = Desk(replace(quota(cpu=2), windows=(office,)))
    desk.now = datetime(2027, 1, 4, 8, 59, tzinfo=UTC)
    desk.wants(ticket("a"), ticket("b"))
    desk.status()
    desk.woken()
    desk.now = datetime(2027, 1, 4, 9, tzinfo=UTC)
    assert desk.wants(ticket("small", 1)) == [True]
    desk.status()
    assert desk.woken() == ["hold Ticket/shop/b"]


def test_a_second_quota_for_the_cluster_is_not_in_force_and_says_so() -> None:
    desk = Desk(quota("new", cpu=0, created=NOON + HOUR), quota("old", cpu=2))
    assert desk.wants(ticket("a")) == [True]
    told = desk.condition("Enforced", "new")
    assert (told.status, told.reason) == ("False", "AnotherInForce")
    assert "old" in told.message
    assert desk.condition("Enforced", "old").status == "True"
    quotas.lose_quota(desk.ledger, quota("old").parent)
    assert desk.wants(ticket("b")) == [False]
    assert desk.condition("Enforced", "new").status == "True"


def test_a_quota_that_cannot_be_read_limits_nothing_and_says_so() -> None:
    wrong = Problem("spec.scope.namespaces", "is empty")
    desk = Desk(quota(cpu=0, problems=(wrong,)))
    assert desk.wants(ticket("a")) == [True]
    told = desk.condition("Ready")
    assert (told.status, told.reason, told.message) == (
        "False",
        "InvalidSpec",
        "spec.scope.namespaces: is empty",
    )
    assert desk.condition("Enforced").status == "False"


def test_what_is_odd_is_told_once_in_a_condition_and_an_event() -> None:
    desk = Desk(quota(cpu=1, warnings=(Problem("spec.hard[pods]", "is not counted"),)))
    write, *told = desk.actions()
    assert [(each.type, each.reason, each.message) for each in told if isinstance(each, Tell)] == [
        ("Warning", "Warned", "spec.hard[pods]: is not counted")
    ]
    assert isinstance(write, WriteQuotaStatus)
    desk.take(write)
    assert desk.condition("Ready").reason == "Warned"
    assert desk.condition("Enforced").status == "True"
    desk.wants(ticket("a", 1))
    desk.now += HOUR
    assert [each for each in desk.actions() if isinstance(each, Tell)] == []


def test_exceeded_names_who_waits_and_goes_back() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), *(ticket(name) for name in "bcdef"))
    told = desk.condition("Exceeded")
    assert (told.status, told.reason) == ("True", "Waiting")
    assert told.message.startswith("Ticket/shop/b: Quota team: spec.hard[reserved.cpu]: used 2")
    assert told.message.endswith("; and 2 more")
    for name in "bcdef":
        quotas.asks_anew(desk.ledger, subject(f"hold Ticket/shop/{name}"))
    told = desk.condition("Exceeded")
    assert (told.status, told.reason) == ("False", "WithinLimits")


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), ticket("b"))
    before = desk.condition("Exceeded").since
    desk.wants(ticket("c"))
    assert desk.condition("Exceeded").since == before


def test_usage_is_shown_at_once_but_many_changes_share_a_write() -> None:
    desk = Desk(quota(cpu=100))
    (first,) = desk.actions()
    assert isinstance(first, WriteQuotaStatus)
    desk.take(first)
    desk.wants(ticket("a"))
    assert desk.actions() == []
    desk.wants(ticket("b"))
    desk.agenda.take(desk.now)
    due = desk.agenda.wake_at()
    assert due is not None
    assert due - desk.now <= timedelta(seconds=1)
    desk.now = due
    assert desk.agenda.take(desk.now) == (subject("quota team"),)
    (second,) = desk.actions()
    assert isinstance(second, WriteQuotaStatus)
    assert second.status.used["tickets"] == 2


def test_a_status_that_did_not_get_through_is_written_again() -> None:
    desk = Desk(quota(cpu=100))
    (first,) = desk.actions()
    assert isinstance(first, WriteQuotaStatus)
    desk.writer.failed(first, Unavailable("timed out"), desk.now)
    desk.now += timedelta(seconds=1)
    assert [type(each) for each in desk.actions()] == [WriteQuotaStatus]


def test_a_foreign_word_in_the_status_is_put_right() -> None:
    desk = Desk(quota(cpu=2))
    right = desk.status()
    stale = replace(right, conditions=(Condition("Exceeded", "True", "Exceeded"),))
    desk.see(quota(cpu=2, status=stale))
    assert desk.status().conditions[0].type == "Ready"


def test_a_deleted_quota_is_freed_of_what_its_old_controller_left() -> None:
    deleted = quota(cpu=2, deleted=NOON, freed=("other",), version="7")
    desk = Desk(deleted)
    assert desk.wants(ticket("a", 9)) == [True]
    assert desk.actions() == [SetFinalizers(deleted.parent, "7", ("other",))]
    assert desk.actions() == []


def test_a_namesake_made_anew_starts_with_its_own_page() -> None:
    desk = Desk(quota(cpu=2))
    desk.wants(ticket("a"), ticket("b"))
    quotas.see_quota(desk.ledger, quota(cpu=4, uid="another"))
    assert desk.wants(ticket("b")) == [True]
    assert desk.used()["tickets"] == 2


def test_a_ticket_that_counts_is_not_counted_anew_when_it_asks_for_more() -> None:
    desk = Desk(quota(cpu=3))
    assert desk.why(ticket("t", 1)) is None
    assert desk.why(ticket("t", 9)) is None
    assert desk.status("team").used["reserved.cpu"] == 1000
