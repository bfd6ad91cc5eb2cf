"""Holds with a tenure: when their clock begins, when it ends, and when their object goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headroom.core.derived_names import object_of
from headroom.core.headrooms.slot_values import Chronicle, SlotObjects
from headroom.core.holds import Hold, HoldStatus, PodTemplate
from headroom.core.objects import Key, Parent, Pod
from headroom.dialects.korder.rules.tenure import TicketTenure
from headroom.dialects.korder.rules.ticket_times import (
    activated_at,
    chronicle_of,
    cleanup_at,
    ends_at,
    has_left,
)

NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
GUARDIAN = Pod(Key("shop", "korder-guardian-web-0"), created=NOON)
TICKET = Hold(
    Parent("core.korder.dev/v1alpha1", "Ticket", "shop", "web-0"),
    PodTemplate(Pod(Key("shop", ""))),
    tenure=TicketTenure(HOUR, cleanup=timedelta(seconds=10)),
)


def with_status(
    hold: Hold,
    phase: str,
    activated: datetime | None = None,
    ends: datetime | None = None,
    ended: datetime | None = None,
) -> Hold:
    moments = Chronicle(activated, ends, ended=ended)
    return replace(hold, status=HoldStatus(phase, chronicle=moments))


def test_the_clock_begins_with_the_first_guardian() -> None:
    assert activated_at(TICKET, None) is None
    assert ends_at(TICKET) is None
    assert activated_at(TICKET, GUARDIAN) == NOON
    assert ends_at(TICKET, GUARDIAN) == NOON + HOUR


def test_a_guardian_that_is_made_again_does_not_begin_the_clock_anew() -> None:
    later = replace(GUARDIAN, created=NOON + timedelta(minutes=30))
    ticket = with_status(TICKET, "Pending", activated=NOON)
    assert ends_at(ticket, later) == NOON + HOUR


def test_a_hold_with_a_start_ends_with_its_window_whether_or_not_it_stood() -> None:
    ticket = replace(TICKET, starts=NOON - timedelta(minutes=5))
    assert activated_at(ticket, None) is None
    assert activated_at(ticket, GUARDIAN) == ticket.starts
    assert ends_at(ticket) == ends_at(ticket, GUARDIAN) == NOON + timedelta(minutes=55)


def test_a_renewal_begins_the_clock_anew() -> None:
    due = NOON + timedelta(minutes=30)
    ticket = replace(
        with_status(TICKET, "Available", activated=NOON),
        fresh_since=due + timedelta(microseconds=7),
    )
    assert ends_at(ticket, GUARDIAN) == due + HOUR
    renewed = replace(GUARDIAN, created=due)
    assert activated_at(ticket, renewed) == due
    told = chronicle_of(ticket, renewed, "Available", due)
    assert told is not None
    assert (told.activated, told.ends) == (due, due + HOUR)


def test_a_renewal_is_told_only_when_its_guardian_is_there() -> None:
    ticket = replace(
        with_status(TICKET, "Available", activated=NOON, ends=NOON + HOUR),
        fresh_since=NOON + timedelta(minutes=30),
    )
    told = chronicle_of(ticket, GUARDIAN, "Available", NOON + timedelta(minutes=31))
    assert told is not None
    assert (told.activated, told.ends) == (NOON, NOON + HOUR)


def test_a_start_of_the_schedule_before_its_time_changes_nothing() -> None:
    ticket = replace(TICKET, fresh_since=NOON - HOUR)
    assert activated_at(ticket, None) is None
    assert ends_at(ticket, GUARDIAN) == NOON + HOUR


def test_the_chronicle_is_the_same_when_it_is_asked_for_again() -> None:
    now = NOON + timedelta(minutes=1, microseconds=3)
    first = chronicle_of(TICKET, GUARDIAN, "Available", now)
    assert first == Chronicle(NOON, NOON + HOUR, guardian="korder-guardian-web-0")
    ticket = replace(TICKET, status=HoldStatus("Available", chronicle=first))
    assert chronicle_of(ticket, GUARDIAN, "Available", now + HOUR / 2) == first


def test_a_claim_is_noted_once_and_the_guardian_is_named_no_more() -> None:
    ticket = with_status(TICKET, "Available", activated=NOON, ends=NOON + HOUR)
    at = NOON + timedelta(minutes=5)
    claimed = chronicle_of(ticket, GUARDIAN, "Succeeded", at)
    assert claimed == Chronicle(NOON, NOON + HOUR, claimed=at)
    ticket = replace(ticket, status=HoldStatus("Succeeded", chronicle=claimed))
    assert chronicle_of(ticket, None, "Succeeded", at + HOUR) == claimed
    ended = chronicle_of(ticket, None, "Failed", at + HOUR)
    assert ended == Chronicle(NOON, NOON + HOUR, claimed=at, ended=at + HOUR)


def test_a_hold_without_a_tenure_has_no_moments() -> None:
    plain = replace(TICKET, tenure=None)
    assert chronicle_of(plain, GUARDIAN, "Available", NOON) is None
    assert ends_at(plain, GUARDIAN) is None
    assert not has_left(plain, ())


def test_a_claimed_hold_is_over_when_its_pod_has_ended_or_is_gone() -> None:
    ticket = with_status(TICKET, "Succeeded")
    running = Pod(Key("shop", "p"), phase="Running")
    assert not has_left(ticket, [running])
    assert has_left(ticket, [replace(running, phase="Succeeded")])
    assert has_left(ticket, [])


def test_the_object_goes_when_its_time_after_the_end_is_over() -> None:
    over = with_status(TICKET, "Failed", ended=NOON)
    assert cleanup_at(over, timedelta(seconds=10)) == NOON + timedelta(seconds=10)
    assert cleanup_at(over, timedelta()) == NOON
    assert cleanup_at(over, None) is None
    assert cleanup_at(with_status(TICKET, "Succeeded", ended=NOON), HOUR) is None


def test_names_of_slot_objects_derive_from_the_slot_and_fit_into_a_label() -> None:
    kind = SlotObjects("core.korder.dev/v1alpha1", "Ticket")
    order = Parent("core.korder.dev/v1alpha1", "Order", "shop", "web")
    assert object_of(kind, order, "3") == Parent(kind.api_version, "Ticket", "shop", "web-3")
    assert object_of(kind, order, "node-a/1").name == "web-node-a-1"
    long = replace(order, name="w" * 80)
    names = {object_of(kind, long, str(n)).name for n in range(100)}
    assert len(names) == 100
    assert all(len(name) <= 63 for name in names)
