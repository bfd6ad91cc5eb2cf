"""Orders as headrooms: sizes, schedules, refresh policies, and what their tickets are made from."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.headrooms.windows import ActiveWindow, active, judged
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.replicas import Replicas
from headroom.engine.cron import calendar
from tests.dialects.korder.things import order, read_order, refusals

NOON = datetime(2027, 1, 4, 12, 0, 30, tzinfo=UTC)
RECURRING = {"type": "Recurring", "schedule": "0 */6 * * *"}
SCHEDULED = {"type": "Scheduled", "schedule": "0 2 * * *"}


def template(**spec: Any) -> dict[str, Any]:
    return {"spec": {"resources": {"requests": {"cpu": "1"}}, **spec}}


def problems(headroom: Headroom) -> list[str]:
    return [str(problem) for problem in headroom.problems]


def test_the_number_of_tickets_is_one_unless_it_is_said() -> None:
    assert read_order(order()).size == Replicas(1)
    assert read_order(order(replicas=0)).size == Replicas(0)
    assert read_order(order(replicas=5)).size == Replicas(5)


def test_daemon_set_means_one_on_each_node_whatever_the_replicas() -> None:
    assert read_order(order(daemonSet=True, replicas=7)).size == PerNode(1)
    assert read_order(order(daemonSet=False, replicas=7)).size == Replicas(7)


def test_an_order_without_a_strategy_is_kept_always() -> None:
    assert read_order(order()).schedule == ()
    assert read_order(order(strategy={"type": "OneTime"})).schedule == ()


def test_a_scheduled_order_is_on_from_its_tick_for_as_long_as_a_ticket_lasts() -> None:
    headroom = read_order(order(strategy=SCHEDULED, template=template(duration="20h")))
    tick = datetime(2027, 1, 4, 2, tzinfo=UTC)
    assert active(headroom, tick - timedelta(seconds=1), calendar) == active(
        headroom, tick - timedelta(hours=1), calendar
    )
    found = active(headroom, tick, calendar)
    assert found == ActiveWindow(Replicas(1), tick, tick + timedelta(hours=20))
    assert active(headroom, tick + timedelta(hours=21), calendar) is None


def test_a_recurring_order_is_always_on_and_its_policy_says_what_a_tick_renews() -> None:
    tick = datetime(2027, 1, 4, 12, tzinfo=UTC)
    for policy in ("Always", "OnClaim", "Never"):
        headroom = read_order(order(strategy={**RECURRING, "refreshPolicy": policy}))
        found = active(headroom, NOON, calendar)
        assert found is not None
        assert (headroom.refill, found.started_at) == (policy, tick)


def test_the_time_zone_of_the_window_is_that_of_the_schedule() -> None:
    shape = template(window={"timeZone": "Europe/Zurich"})
    headroom = read_order(order(strategy=SCHEDULED, template=shape))
    found = active(headroom, datetime(2027, 1, 4, 1, 30, tzinfo=UTC), calendar)
    assert found is not None
    assert found.started_at == datetime(2027, 1, 4, 1, tzinfo=UTC)


@pytest.mark.parametrize("policy", ["Always", "OnClaim", "Never"])
def test_a_refresh_policy_may_stand_in_either_place(policy: str) -> None:
    one = {"type": "OneTime", "refreshPolicy": policy}
    assert read_order(order(strategy=one)).refill == policy
    assert read_order(order(refreshPolicy=policy)).refill == policy
    both = order(strategy=one, refreshPolicy=policy)
    assert read_order(both).refill == policy
    assert refusals(both) == []


def test_a_refresh_policy_that_nobody_wrote_is_on_claim() -> None:
    assert read_order(order()).refill == "OnClaim"


def test_a_duration_may_stand_in_either_place() -> None:
    for shape in (template(duration="90m"), template(window={"duration": "1h30m"})):
        headroom = read_order(order(strategy=SCHEDULED, template=shape))
        assert headroom.schedule[0].duration == timedelta(minutes=90)


def test_places_that_disagree_are_refused_with_the_field_named() -> None:
    policies = order(strategy={"type": "OneTime", "refreshPolicy": "Never"}, refreshPolicy="Always")
    durations = order(template=template(duration="1h", window={"duration": "2h"}))
    starts = order(
        template=template(
            startTime="2027-01-04T08:00:00Z", window={"startTime": "2027-01-04T08:00:00+01:00"}
        )
    )
    for thing, field in (
        (policies, "spec.refreshPolicy"),
        (durations, "spec.template.spec.duration"),
        (starts, "spec.template.spec.startTime"),
    ):
        assert [text for text in refusals(thing) if text.startswith(f"{field}: ")], field
        assert [text for text in problems(read_order(thing)) if text.startswith(f"{field}: ")]


def test_places_that_agree_in_other_words_are_taken() -> None:
    thing = order(
        template=template(
            duration="60m",
            startTime="2027-01-04T08:00:00Z",
            window={
                "duration": "1h",
                "startTime": "2027-01-04T09:00:00",
                "timeZone": "Europe/Rome",
            },
        )
    )
    assert refusals(thing) == []
    assert problems(read_order(thing)) == []


@pytest.mark.parametrize(
    ("strategy", "field"),
    [
        ({"type": "OneTime", "schedule": "0 2 * * *"}, "spec.strategy.schedule"),
        ({"type": "Scheduled"}, "spec.strategy.schedule"),
        ({"type": "Recurring", "schedule": ""}, "spec.strategy.schedule"),
        ({"type": "Recurring", "schedule": "0 2 * *"}, "spec.strategy.schedule"),
        ({"type": "Recurring", "schedule": "61 * * * *"}, "spec.strategy.schedule"),
        ({"type": "Recurring", "schedule": "every day"}, "spec.strategy.schedule"),
        ({"type": "Sometimes"}, "spec.strategy.type"),
        ({"schedule": "0 2 * * *"}, "spec.strategy.type"),
    ],
    ids=str,
)
def test_a_strategy_that_makes_no_sense_is_refused(strategy: dict[str, str], field: str) -> None:
    assert [text for text in refusals(order(strategy=strategy)) if text.startswith(field)]


@pytest.mark.parametrize(
    "cron",
    [
        "0 */6 * * *",
        "*/15 9-17 * * 1-5",
        "0 0 * * 0",
        "1-5,10 * * * *",
        "0 9 * JAN-MAR mon",
        "0 0 1-31/2 * *",
        "@daily",
    ],
)
def test_every_cron_that_korder_reads_is_taken_and_more(cron: str) -> None:
    thing = order(strategy={"type": "Recurring", "schedule": cron})
    assert refusals(thing) == []
    assert problems(judged(read_order(thing), calendar)) == []


def test_a_cron_that_never_fires_is_told_with_the_field_that_has_it() -> None:
    thing = order(strategy={"type": "Recurring", "schedule": "0 0 31 2 *"})
    told = problems(judged(read_order(thing), calendar))
    assert len(told) == 1
    assert told[0].startswith("spec.strategy.schedule: '0 0 31 2 *' never fires")


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"duration": "0s"}, "duration"),
        ({"duration": "-1h"}, "duration"),
        ({"duration": "1 day"}, "duration"),
        ({"window": {"duration": "0"}}, "window.duration"),
        ({"window": {"startTime": "tomorrow"}}, "window.startTime"),
        ({"startTime": "tomorrow"}, "startTime"),
        ({"lifecycle": {"ttlSecondsAfterFinished": -1}}, "lifecycle.ttlSecondsAfterFinished"),
        ({"lifecycle": {"cleanupPolicy": "Archive"}}, "lifecycle.cleanupPolicy"),
        ({"resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}}, "resources"),
        ({"resources": {"requests": {"cpu": "-1"}}}, "resources.requests"),
    ],
    ids=str,
)
def test_a_template_that_makes_no_sense_is_refused(spec: dict[str, Any], field: str) -> None:
    thing = order(template={"spec": spec})
    assert [text for text in refusals(thing) if text.startswith(f"spec.template.spec.{field}")]


def test_a_time_zone_that_nobody_knows_is_told() -> None:
    headroom = read_order(order(template=template(window={"timeZone": "Middle/Earth"})))
    assert problems(headroom) == [
        "spec.template.spec.window.timeZone: 'Middle/Earth' is not a time zone; "
        "write for example UTC or Europe/Zurich"
    ]


def test_an_empty_selector_and_negative_numbers_are_refused() -> None:
    assert refusals(order(selector={})) == ["spec.selector: an empty selector; leave it out"]
    assert refusals(order(selector={"matchLabels": {"app": "web"}})) == []
    assert [text for text in refusals(order(replicas=-1)) if text.startswith("spec.replicas")]
    assert [text for text in refusals(order(minReadySeconds=-1)) if "spec.minReadySeconds" in text]


def test_labels_that_no_ticket_could_carry_are_told() -> None:
    shape = {"metadata": {"labels": {"app": "two words"}}, "spec": {}}
    told = problems(read_order(order(template=shape)))
    assert len(told) == 1
    assert told[0].startswith("spec.template.metadata.labels: 'two words' is not a label value")


def test_an_order_without_a_template_says_so() -> None:
    headroom = read_order({"metadata": {"name": "web"}, "spec": {}})
    assert problems(headroom) == ["spec.template.spec: is missing: it describes the tickets"]


def test_no_ticket_is_made_any_more_when_those_with_a_set_start_are_over() -> None:
    shape = template(duration="2h", window={"startTime": "2027-01-04T08:00:00Z"})
    assert read_order(order(template=shape)).closes == datetime(2027, 1, 4, 10, tzinfo=UTC)
    assert read_order(order()).closes is None


def test_a_changed_template_is_another_revision_however_it_is_spelled() -> None:
    first = read_order(order(template=template(duration="1h", nodeSelector={"a": "1", "b": "2"})))
    same = read_order(order(template=template(nodeSelector={"b": "2", "a": "1"}, duration="1h")))
    other = read_order(order(template=template(duration="2h")))
    labelled = read_order(order(template={**template(duration="1h"), "metadata": {"labels": {}}}))
    revisions = [
        headroom.slot_objects.revision
        for headroom in (first, same, other, labelled)
        if headroom.slot_objects is not None
    ]
    assert revisions[0] == revisions[1] != revisions[2] != revisions[3]


def test_tickets_are_made_from_all_of_the_template() -> None:
    shape = {
        "metadata": {"labels": {"app": "web"}, "annotations": {"korder.dev/ticket-group": "g"}},
        "spec": {"duration": "1h", "priorityClassName": "high", "tolerations": [{"key": "x"}]},
    }
    objects = read_order(order(template=shape)).slot_objects
    assert objects is not None
    assert json.loads(objects.raw) == shape


def test_what_an_order_says_of_itself_is_kept() -> None:
    thing = order(paused=True)
    thing["metadata"]["finalizers"] = ["example.com/other", "korder.dev/order-finalizer"]
    thing["metadata"]["deletionTimestamp"] = "2027-01-04T12:00:00Z"
    thing["metadata"]["resourceVersion"] = "7"
    headroom = read_order(thing)
    assert headroom.paused
    assert headroom.finalizer == "korder.dev/order-finalizer"
    assert headroom.finalizers == ("example.com/other", "korder.dev/order-finalizer")
    assert headroom.deleted == datetime(2027, 1, 4, 12, tzinfo=UTC)
    assert (headroom.generation, headroom.version) == (2, "7")


def test_a_status_that_makes_no_sense_counts_as_none() -> None:
    assert read_order({**order(), "status": {"replicas": "many"}}).status == HeadroomStatus()
