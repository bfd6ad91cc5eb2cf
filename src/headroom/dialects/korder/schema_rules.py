"""Rules between the fields of an Order or a Ticket: korder's refusals, in CEL.

Korder checks most of them in webhooks, at creation only. Rules about changes compare with the
stored object (`oldSelf`), so only an API server can check them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headroom.core.quantity import milli_of
from headroom.dialects.korder.patterns import CRON, parse_start
from headroom.wire.durations import parse_duration
from headroom.wire.schema.notation import SchemaRule
from headroom.wire.schema.structural import DURATION_PATTERN, cel_at_most
from headroom.wire.schema.terms import lacks, longer_than_zero, rule
from headroom.wire.times import parse_time

Given = Mapping[str, Any]

TOO_LARGE = "a request is larger than its limit"
_NO_TIME = "must be longer than 0; without it, a ticket lasts 24h"


_LASTS = rule(lacks("duration") | longer_than_zero("duration"), _NO_TIME, at="duration")


def _durations_agree(spec: Given) -> bool:
    window = spec.get("window") or {}
    if spec.get("duration") is None or window.get("duration") is None:
        return True
    return parse_duration(spec["duration"]) == parse_duration(window["duration"])


def _starts_agree(spec: Given) -> bool:
    window = spec.get("window") or {}
    if spec.get("startTime") is None or not window.get("startTime"):
        return True
    try:
        start = parse_start(window["startTime"], window.get("timeZone") or "")
    except ValueError:
        return True  # The decoder reports what is wrong with it.
    return start == parse_time(spec["startTime"])


def above_limits(resources: Given) -> list[str]:
    """The resources whose request is larger than the limit; all amounts are valid."""
    limits = resources.get("limits") or {}
    return [
        name
        for name, asked in (resources.get("requests") or {}).items()
        if name in limits and milli_of(asked) > milli_of(limits[name])
    ]


_OFFSET = "(Z|[+-][0-9]{2}:[0-9]{2})$"
_WINDOW = "has(self.window) && has(self.window"

_TICKET_RULES = (
    _LASTS,
    SchemaRule(
        f"!(has(self.duration) && {_WINDOW}.duration)) || "
        f"!self.duration.matches('{DURATION_PATTERN}') || "
        f"!self.window.duration.matches('{DURATION_PATTERN}') || "
        "duration(self.duration) == duration(self.window.duration)",
        "duration and window.duration disagree; write only one of them",
        _durations_agree,
        at="duration",
    ),
    SchemaRule(
        f"!(has(self.startTime) && {_WINDOW}.startTime)) || self.window.startTime == '' || "
        f"!self.window.startTime.matches('{_OFFSET}') || "
        "timestamp(self.window.startTime) == self.startTime",
        "startTime and window.startTime disagree; write only one of them",
        _starts_agree,
        at="startTime",
    ),
)

_TYPE = "(has({0}.strategy) ? {0}.strategy.type : 'OneTime')"

RULES: dict[str, tuple[SchemaRule, ...]] = {
    "OrderSpec": (
        SchemaRule(
            "!has(self.refreshPolicy) || !has(self.strategy) || "
            "!has(self.strategy.refreshPolicy) || "
            "self.refreshPolicy == self.strategy.refreshPolicy",
            "refreshPolicy and strategy.refreshPolicy disagree; write only one of them",
            lambda spec: (
                spec.get("refreshPolicy") is None
                or (spec.get("strategy") or {}).get("refreshPolicy") is None
                or spec["refreshPolicy"] == spec["strategy"]["refreshPolicy"]
            ),
            at="refreshPolicy",
        ),
        SchemaRule(
            f"{_TYPE.format('self')} == {_TYPE.format('oldSelf')}",
            "the type of a strategy cannot be changed; create another Order",
            lambda _: True,
            at="strategy",
        ),
    ),
    "OrderStrategy": (
        SchemaRule(
            f"!has(self.schedule) || self.schedule.matches('{CRON}')",
            "not a cron expression: five fields (minute, hour, day of month, month, day of week) "
            "are needed, or a name such as @daily",
            lambda strategy: re.search(CRON, strategy.get("schedule", "")) is not None,
            at="schedule",
        ),
        SchemaRule(
            "(self.type == 'OneTime') == (!has(self.schedule) || self.schedule == '')",
            "Scheduled and Recurring need a schedule, OneTime takes none",
            lambda strategy: (strategy["type"] == "OneTime") == (not strategy.get("schedule")),
            at="schedule",
        ),
    ),
    "OrderSelector": (
        SchemaRule(
            "(has(self.matchLabels) && size(self.matchLabels) > 0) || "
            "(has(self.matchExpressions) && size(self.matchExpressions) > 0)",
            "an empty selector; leave it out",
            lambda selector: bool(selector.get("matchLabels") or selector.get("matchExpressions")),
        ),
    ),
    "TicketTemplateSpec": _TICKET_RULES,
    "TicketSpec": (
        *_TICKET_RULES,
        SchemaRule(
            "!has(oldSelf.nodeName) || oldSelf.nodeName == '' || "
            "(has(self.nodeName) && self.nodeName == oldSelf.nodeName)",
            "the node of a ticket cannot be changed; create another Ticket",
            lambda _: True,
            at="nodeName",
        ),
    ),
    "TicketWindow": (_LASTS,),
    "TicketResources": (
        SchemaRule(
            "!has(self.requests) || !has(self.limits) || "
            + cel_at_most("self.requests", "self.limits"),
            TOO_LARGE,
            lambda resources: not above_limits(resources),
            at="requests",
        ),
    ),
}
